"""Tables of any container: rows, encoding as numeric arrays, and features for auxiliary models."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from itertools import pairwise
from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder, StandardScaler

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table


def is_pandas(X: Table) -> bool:
    """Return True for a pandas frame or series, without importing pandas."""
    return hasattr(X, "iloc")


def is_polars(X: Table) -> bool:
    """Return True for a polars frame or series, without importing polars."""
    return type(X).__module__.partition(".")[0] == "polars"


def is_text(X: Table) -> bool:
    """Return True for a sequence of documents: one string per row."""
    if getattr(X, "ndim", 1) != 1 or sparse.issparse(X) or hasattr(X, "columns"):
        return False
    return hasattr(X, "__len__") and len(X) > 0 and all(isinstance(row, str) for row in X)


def has_columns(X: Table) -> bool:
    """Return True for text and for tables; False for dicts, lists of unequal lengths and the like.

    Examples
    --------
    >>> has_columns([[1, 2], [3, 4]]), has_columns([{"a": 1}, {"b": 2}]), has_columns([[1], [2, 3]])
    (True, False, False)
    """
    if is_text(X):
        return True
    try:
        return len(X.shape if hasattr(X, "shape") else np.asarray(X).shape) > 1
    except ValueError:  # unequal lengths
        return False


def count_rows(X: Table) -> int:
    """Return the number of rows of a table or array-like."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Table, rows: slice | Ints) -> Table:
    """Return some rows, without a copy if possible."""
    if is_pandas(X):
        return X.iloc[rows]
    if isinstance(X, list | tuple) and not isinstance(rows, slice):
        return [X[row] for row in rows]
    if sparse.issparse(X) and X.format not in ("csr", "csc", "lil"):
        return X.tocsr()[rows]  # the other formats do not support indexing
    if hasattr(X, "column_names"):  # a table of pyarrow
        return X.take(np.arange(len(X))[rows])
    return X[rows] if hasattr(X, "shape") or isinstance(X, list | tuple) else np.asarray(X)[rows]


def stack_rows(parts: Sequence[Table]) -> Table:
    """Concatenate tables of one format."""
    first = parts[0]
    if is_pandas(first):
        import pandas as pd  # installed, since X is a frame

        return pd.concat(parts, ignore_index=True)
    if is_polars(first):
        import polars as pl  # installed, since X is a frame

        return pl.concat(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, list):
        return [row for part in parts for row in part]
    return np.concatenate(parts)


def plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python value, for messages."""
    return value.item() if isinstance(value, np.generic) else value


MAX_CODES = 20  # distinct values of an integer column that holds codes
ROWS_PER_CODE = 5  # mean number of rows per code, at least
FIRST_ROWS = 1_000  # enough rows to see that most columns have more distinct values


class ColumnKind(Enum):
    """The meaning of the numbers of an encoded column."""

    NUMBER = "number"
    INTEGER = "integer"
    CATEGORY = "category"
    TIME = "time"


@dataclass(frozen=True)
class Column:
    """How one column is encoded; missing values are NaN.

    A category is encoded as its position in ``values``, the sorted distinct values. For integers,
    ``values`` are the distinct values if these are few, frequent and not consecutive: codes.
    """

    kind: ColumnKind
    dtype: Any
    values: AnyArray | None = None


@dataclass(frozen=True)
class TableCodec:
    """Encode a table as numbers, and decode numbers as such a table.

    Every column becomes one column of float64. A sparse matrix stays sparse.
    """

    container: str
    columns: tuple[Column, ...]
    template: Any = None

    @classmethod
    def of(cls, X: Table, *, integer_floats: bool = False) -> "TableCodec":
        """Read the columns; with ``integer_floats``, floats without fractions are integers."""
        try:
            return cls._of(X, integer_floats)
        except TypeError as error:
            raise TypeError(f"X must contain numbers, text or times: {error}") from error

    @classmethod
    def _of(cls, X: Table, integer_floats: bool) -> "TableCodec":
        if is_pandas(X) or is_polars(X) or (not sparse.issparse(X) and X.dtype.kind == "O"):
            columns = tuple(_read_column(column, integer_floats) for column in _split_columns(X))
            container = "pandas" if is_pandas(X) else "polars" if is_polars(X) else "objects"
            return cls(container, columns, None if container == "objects" else X[:0])
        integer = X.dtype.kind in "iub"
        if sparse.issparse(X):
            column = Column(ColumnKind.INTEGER if integer else ColumnKind.NUMBER, X.dtype)
            return cls("sparse", (column,) * X.shape[1])
        cells = X.astype(np.float64, copy=False)
        columns = tuple(_read_numbers(c, X.dtype, integer, integer_floats) for c in cells.T)
        return cls("array", columns)

    @cached_property
    def categorical(self) -> Bools:
        """Mask of the columns that hold categories."""
        return self._is(ColumnKind.CATEGORY)

    @cached_property
    def integer(self) -> Bools:
        """Mask of the columns that hold integers only."""
        return self._is(ColumnKind.INTEGER)

    @property
    def is_mixed(self) -> bool:
        """Whether any column is not numeric."""
        return any(c.kind in (ColumnKind.CATEGORY, ColumnKind.TIME) for c in self.columns)

    def encode(self, X: Table) -> Any:
        """Return a table of this format as an array, or as a sparse matrix if X is one."""
        if self.container in ("array", "sparse"):
            return X.astype(np.float64, copy=False)
        pairs = zip(_split_columns(X), self.columns, strict=True)
        return np.column_stack([_encode_column(cells, column) for cells, column in pairs])

    def decode(self, numbers: Any, rng: np.random.Generator | None) -> Table:
        """Return numbers as a table of this format.

        Integers are rounded at random, up with the probability of their fraction, which keeps
        their mean and leaves no value outside the range of the values it lies between; codes are
        rounded to one of the two nearest codes. Without integer columns no rng is needed.
        """
        if self.container == "sparse":
            return self._decode_sparse(numbers, rng)
        numbers = self._rounded(numbers, rng)
        if self.container == "array":
            dtype = self.columns[0].dtype
            return _clip(numbers, dtype).astype(dtype, copy=False)
        pairs = list(zip(numbers.T, self.columns, strict=True))
        if self.container == "objects":
            return np.column_stack([_decode_objects(*pair) for pair in pairs])
        if self.container == "polars":
            names = zip(self.template.columns, pairs, strict=True)
            return type(self.template)([_decode_polars(name, *pair) for name, pair in names])
        import pandas as pd  # installed, since X was a frame

        frame = pd.concat([_decode_pandas(*pair) for pair in pairs], axis=1)
        frame.columns = self.template.columns
        return frame

    def _rounded(self, numbers: Floats, rng: np.random.Generator | None) -> Floats:
        if not self.integer.any():
            return numbers
        assert rng is not None
        numbers = numbers.copy()
        uniforms = rng.random((len(numbers), self.integer.sum()))
        for i, uniform in zip(np.flatnonzero(self.integer), uniforms.T, strict=True):
            numbers[:, i] = _round(numbers[:, i], self.columns[i], uniform)
        return numbers

    def _decode_sparse(self, numbers: Any, rng: np.random.Generator | None) -> Any:
        matrix, dtype = numbers.tocsr(), self.columns[0].dtype
        if self.integer.any():
            assert rng is not None
            matrix = matrix.copy()
            matrix.data = _clip(np.floor(matrix.data + rng.random(len(matrix.data))), dtype)
            matrix.eliminate_zeros()
        return matrix.astype(dtype, copy=False)

    def _is(self, kind: ColumnKind) -> Bools:
        return np.array([column.kind is kind for column in self.columns])


def _read_numbers(numbers: Floats, dtype: Any, integer: bool, integer_floats: bool) -> Column:
    if not integer and not (integer_floats and _are_integers(numbers)):
        return Column(ColumnKind.NUMBER, dtype)
    present = numbers[~np.isnan(numbers)]
    most = min(MAX_CODES, len(present) // ROWS_PER_CODE)
    many = len(np.unique(present[:FIRST_ROWS])) > most
    values = present[:0] if many else np.unique(present)
    skips_values = len(values) > 1 and values[-1] - values[0] >= len(values)
    codes = values if skips_values and len(values) <= most else None
    return Column(ColumnKind.INTEGER, dtype, codes)


def _are_integers(numbers: Floats) -> bool:
    """Return whether no number has a fraction; the first rows decide in most columns."""
    blocks = (numbers[:FIRST_ROWS], numbers[FIRST_ROWS:])
    return not any(np.any((block != np.rint(block)) & ~np.isnan(block)) for block in blocks)


def _round(numbers: Floats, column: Column, uniform: Floats) -> Floats:
    """Round to one of the two nearest integers, or codes, with probability by distance."""
    if column.values is None:
        return np.floor(numbers + uniform)
    upper = np.clip(np.searchsorted(column.values, numbers), 1, len(column.values) - 1)
    low, high = column.values[upper - 1], column.values[upper]
    rounded = np.where(numbers - low > uniform * (high - low), high, low)
    return np.where(np.isnan(numbers), np.nan, rounded)


def _clip(numbers: Floats, dtype: Any) -> Floats:
    """Clip numbers to the range of a NumPy integer type; other types have none."""
    if np.dtype(dtype).kind not in "iu":
        return numbers
    info = np.iinfo(dtype)
    high = float(info.max)
    if int(high) > info.max:  # float64 rounds the largest 64-bit integers up, beyond their type
        high = float(np.nextafter(high, 0.0))
    return np.clip(numbers, float(info.min), high)


def _split_columns(X: Table) -> list[Any]:
    """Return the columns of a frame as series, or those of an array of objects as arrays."""
    if is_pandas(X):
        return [X.iloc[:, i] for i in range(X.shape[1])]
    return X.get_columns() if is_polars(X) else list(X.T)


def _read_column(cells: Any, integer_floats: bool) -> Column:
    kind, dtype = _column_kind(cells), cells.dtype
    if kind is ColumnKind.TIME:
        return Column(kind, dtype)
    if kind is ColumnKind.CATEGORY:
        present = [cell for cell, absent in _values(cells) if not absent]
        return Column(kind, dtype, _sorted_values(present))
    return _read_numbers(_floats(cells, kind), dtype, kind is ColumnKind.INTEGER, integer_floats)


def _encode_column(cells: Any, column: Column) -> Floats:
    if column.values is None or column.kind is not ColumnKind.CATEGORY:
        return _floats(cells, column.kind)
    position = {value: float(i) for i, value in enumerate(column.values)}
    return np.array([np.nan if absent else position[cell] for cell, absent in _values(cells)])


def _column_kind(cells: Any) -> ColumnKind:
    """Return the kind of a column, by its dtype or, for an array of objects, by its values."""
    if is_polars(cells):
        if cells.dtype.is_temporal():
            return ColumnKind.TIME
        if not cells.dtype.is_numeric():
            return ColumnKind.CATEGORY
        return ColumnKind.INTEGER if cells.dtype.is_integer() else ColumnKind.NUMBER
    kinds = {"f": ColumnKind.NUMBER, "i": ColumnKind.INTEGER, "u": ColumnKind.INTEGER}
    kinds |= dict.fromkeys("mM", ColumnKind.TIME)
    if is_pandas(cells):
        is_date = str(cells.dtype).startswith(("date32", "date64"))  # of Arrow, without NumPy type
        return ColumnKind.CATEGORY if is_date else kinds.get(cells.dtype.kind, ColumnKind.CATEGORY)
    present = cells[~_is_missing(cells)]
    try:
        present.astype(np.float64)
    except (OverflowError, TypeError, ValueError):
        return ColumnKind.CATEGORY
    is_integer = all(isinstance(cell, Integral) for cell in present)
    return ColumnKind.INTEGER if is_integer else ColumnKind.NUMBER


def _floats(cells: Any, kind: ColumnKind) -> Floats:
    """Return numbers, and times as their number of ticks; missing values are NaN."""
    if is_polars(cells):
        import polars as pl  # installed, since X was a frame

        numbers = cells.to_physical() if kind is ColumnKind.TIME else cells
        return np.asarray(numbers.cast(pl.Float64).fill_null(np.nan).to_numpy())
    missing = _is_missing(cells)
    if kind is ColumnKind.TIME:  # the base of a dtype has no time zone
        ticks = cells.to_numpy(dtype=_time_dtype(cells.dtype)).view(np.int64)
        return np.where(missing, np.nan, ticks.astype(np.float64))
    if is_pandas(cells):
        return np.asarray(cells.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.where(missing, np.nan, cells).astype(np.float64)


def _time_dtype(dtype: Any) -> Any:
    """Return NumPy's type of times of a pandas series, without the time zone."""
    return dtype.numpy_dtype if hasattr(dtype, "numpy_dtype") else dtype.base


def _values(cells: Any) -> Iterator[tuple[Any, bool]]:
    """Return each value of a column, and whether it is missing."""
    values = cells.to_list() if is_polars(cells) else cells.tolist()
    return zip(values, _is_missing(cells), strict=True)


def _is_missing(cells: Any) -> Bools:
    if is_polars(cells):
        return np.asarray(cells.is_null().to_numpy())
    if is_pandas(cells):
        return np.asarray(cells.isna().to_numpy())
    return np.array([cell is None or cell != cell for cell in cells], dtype=bool)


def _decode_pandas(numbers: Floats, column: Column) -> Any:
    import pandas as pd  # installed, since X was a frame

    missing = np.isnan(numbers)
    if column.kind is ColumnKind.CATEGORY:
        return pd.Series(_values_at(numbers, missing, column, absent=None), dtype=column.dtype)
    if column.kind is ColumnKind.TIME:
        ticks = _clip(np.rint(np.nan_to_num(numbers)), np.int64).astype(np.int64)
        ticks[missing] = np.iinfo(np.int64).min  # NaT
        times = pd.Series(ticks.view(_time_dtype(column.dtype)))
        zone = getattr(column.dtype, "tz", None)
        if zone is None:
            return times.astype(column.dtype)
        return times.dt.tz_localize("UTC").dt.tz_convert(zone)
    if column.kind is ColumnKind.INTEGER:
        numbers = _clip(numbers, getattr(column.dtype, "numpy_dtype", column.dtype))
    return pd.Series(numbers).astype(column.dtype)


def _decode_polars(name: str, numbers: Floats, column: Column) -> Any:
    import polars as pl  # installed, since X was a frame

    missing = np.isnan(numbers)
    if column.kind is ColumnKind.CATEGORY:
        values = _values_at(numbers, missing, column, absent=None)
        return pl.Series(name, values.tolist(), dtype=column.dtype)
    series = pl.Series(name, np.where(missing, 0.0, numbers))
    if column.dtype.is_integer() or column.dtype.is_temporal():
        physical = pl.Series([], dtype=column.dtype).to_physical()
        series = pl.Series(name, _clip(np.rint(series.to_numpy()), physical.to_numpy().dtype))
        series = series.cast(physical.dtype)
    series = series.cast(column.dtype)
    kept = pl.when(pl.Series(~missing)).then(pl.col(name)).otherwise(None).alias(name)
    return series.to_frame().select(kept)[name]


def _decode_objects(numbers: Floats, column: Column) -> AnyArray:
    if column.kind is ColumnKind.CATEGORY:
        return _values_at(numbers, np.isnan(numbers), column, absent=np.nan)
    cells = numbers.astype(object)
    if column.kind is ColumnKind.INTEGER:
        cells[~np.isnan(numbers)] = [int(number) for number in numbers[~np.isnan(numbers)]]
    return cells


def _sorted_values(values: list[Any]) -> AnyArray:
    """Return the distinct values in an order that does not depend on the order of the rows."""
    values = list(dict.fromkeys(values))
    array = np.empty(len(values), dtype=object)
    try:
        array[:] = sorted(values)
    except TypeError:  # values of types that cannot be compared
        array[:] = sorted(values, key=lambda value: (type(value).__name__, repr(value)))
    return array


def _values_at(numbers: Floats, missing: Bools, column: Column, absent: Any) -> AnyArray:
    """Return the column's values at the given positions."""
    assert column.values is not None
    values = np.full(len(numbers), absent, dtype=object)
    values[~missing] = column.values[np.rint(numbers[~missing]).astype(np.intp)]
    return values


_MAX_CATEGORIES = 30  # per column; the rarer ones share one feature


class Featurizer:
    """Standardize numbers, one-hot encode categories, flag missing values; TF-IDF for text."""

    def fit(self, X: Table) -> Self:
        """Learn the columns of a table."""
        self._whole: Any = None  # the transformer of text or of a sparse matrix
        if is_text(X):
            self._whole = TfidfVectorizer(
                max_features=20_000, sublinear_tf=True, token_pattern=r"\S+"
            )
        elif sparse.issparse(X):
            self._whole = MaxAbsScaler().set_output(transform="default")
        if self._whole is not None:
            self._whole.fit(X)
            return self
        X = _as_matrix(X)
        self._codec = TableCodec.of(X)
        cells = self._codec.encode(X)
        self._categorical = self._codec.categorical
        if not self._categorical.all():
            imputer = SimpleImputer(strategy="median", add_indicator=True, keep_empty_features=True)
            self._scaler = make_pipeline(imputer, StandardScaler())
            self._scaler.fit(cells[:, ~self._categorical])
        if self._categorical.any():
            self._encoder = OneHotEncoder(
                handle_unknown="infrequent_if_exist",
                max_categories=_MAX_CATEGORIES,
                sparse_output=False,
            ).fit(self._categories(cells))
        return self

    def transform(self, X: Table) -> Any:
        """Return the features of rows of the same format."""
        if self._whole is not None:
            return self._whole.transform(X)
        cells = self._codec.encode(_as_matrix(X))
        parts: list[Floats] = []
        if not self._categorical.all():
            parts.append(self._scaler.transform(cells[:, ~self._categorical]))
        if self._categorical.any():
            one_hot = self._encoder.transform(self._categories(cells))
            parts.append(one_hot / np.sqrt(2))  # the distance of two categories is 1
        return np.hstack(parts)

    def _categories(self, cells: Floats) -> Floats:
        """Return positions of categories; a missing value is a category of its own."""
        return np.nan_to_num(cells[:, self._categorical], nan=-1.0)


def row_keys(X: Table) -> list[Any]:
    """Return a hashable value for each row; equal rows have equal ones.

    Examples
    --------
    >>> first, second, third = row_keys(np.array([["Ann", 1], ["Bob", 2], ["Ann", 1]], object))
    >>> first == third, first == second
    (True, False)
    """
    if is_text(X):
        return list(X)
    if sparse.issparse(X):
        rows = X.tocsr()
        ends = pairwise(rows.indptr)
        return [(rows.indices[a:b].tobytes(), rows.data[a:b].tobytes()) for a, b in ends]
    matrix = _as_matrix(X)
    cells = TableCodec.of(matrix).encode(matrix) + 0.0  # no negative zeros
    return [row.tobytes() for row in cells]


def _as_matrix(X: Table) -> Table:
    if is_pandas(X) or is_polars(X):
        return X
    matrix = np.asarray(X)
    return matrix.reshape(len(matrix), -1)
