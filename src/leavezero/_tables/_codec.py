"""A whole table to one matrix of numbers, and back."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._tables._columns import (
    Column,
    ColumnKind,
    decode_objects,
    decode_pandas,
    decode_polars,
    encode_objects,
    encode_pandas,
    encode_polars,
    read_numbers,
    read_objects,
    read_pandas,
    read_polars,
    rounded,
)
from leavezero._tables._rows import is_pandas, is_polars
from leavezero._typing import Bools, Floats, Table


@dataclass(frozen=True)
class TableCodec:
    """What is needed to write a table as numbers and to give numbers back as such a table.

    Every column becomes one column of float64, a missing cell NaN, a category its position
    among the values that occur. A sparse matrix stays sparse.

    Examples
    --------
    >>> import numpy as np
    >>> codec = TableCodec.of(np.array([[1, 2], [3, 4]]))
    >>> codec.decode(np.array([[2.0, 3.0]]), np.random.default_rng(0))
    array([[2, 3]])
    """

    container: str
    columns: tuple[Column, ...]
    template: Any = None

    @classmethod
    def of(cls, X: Table, *, whole_floats: bool = False) -> "TableCodec":
        """Learn how a frame, a checked array or a sparse matrix is written as numbers.

        ``whole_floats`` is whether floats without a fraction count as whole numbers.
        """
        if is_pandas(X):
            columns = tuple(read_pandas(X.iloc[:, at], whole_floats) for at in range(X.shape[1]))
            return cls("pandas", columns, X.iloc[:0])
        if is_polars(X):
            columns = tuple(read_polars(X[name], whole_floats) for name in X.columns)
            return cls("polars", columns, X.clear())
        if not sparse.issparse(X) and X.dtype.kind == "O":
            columns = tuple(read_objects(X[:, at], whole_floats) for at in range(X.shape[1]))
            return cls("objects", columns)
        whole = X.dtype.kind in "iub"
        if sparse.issparse(X):
            column = Column(ColumnKind.WHOLE if whole else ColumnKind.NUMBER, X.dtype)
            return cls("sparse", (column,) * X.shape[1])
        lines = X.astype(np.float64, copy=False).T
        columns = tuple(read_numbers(line, X.dtype, whole, whole_floats) for line in lines)
        return cls("array", columns)

    @cached_property
    def categories(self) -> Bools:
        """Columns whose numbers are names."""
        return self._are(ColumnKind.CATEGORY)

    @cached_property
    def whole(self) -> Bools:
        """Columns that hold whole numbers only."""
        return self._are(ColumnKind.WHOLE)

    @property
    def is_mixed(self) -> bool:
        """Whether any column holds something else than numbers."""
        return any(c.kind in (ColumnKind.CATEGORY, ColumnKind.TIME) for c in self.columns)

    def encode(self, X: Table) -> Any:
        """Return a table of this format as numbers: a matrix, or a sparse one where X is."""
        if self.container == "pandas":
            cells = [encode_pandas(X.iloc[:, at], c) for at, c in enumerate(self.columns)]
        elif self.container == "polars":
            cells = [
                encode_polars(X[name], c) for name, c in zip(X.columns, self.columns, strict=True)
            ]
        elif self.container == "objects":
            cells = [encode_objects(X[:, at], c) for at, c in enumerate(self.columns)]
        else:
            return X.astype(np.float64, copy=False)
        return np.column_stack(cells)

    def decode(self, numbers: Any, rng: np.random.Generator | None) -> Table:
        """Return numbers as a table of this format.

        Whole numbers are rounded at random, up as often as their fraction says, so that their
        mean is kept and no value leaves the range of its parents; a few numbers with gaps between
        them are codes, and stay the given ones. Without any whole numbers no rng is needed.
        """
        if self.container == "sparse":
            return self._decode_sparse(numbers, rng)
        numbers = self._rounded(numbers, rng)
        if self.container == "array":
            return numbers.astype(self.columns[0].dtype, copy=False)
        if self.container == "objects":
            cells = [decode_objects(numbers[:, at], c) for at, c in enumerate(self.columns)]
            return np.column_stack(cells)
        if self.container == "polars":
            names = self.template.columns
            return type(self.template)(
                [
                    decode_polars(name, numbers[:, at], c)
                    for at, (name, c) in enumerate(zip(names, self.columns, strict=True))
                ]
            )
        import pandas as pd  # installed: the user brought a frame

        series = [decode_pandas(numbers[:, at], c) for at, c in enumerate(self.columns)]
        frame = pd.concat(series, axis=1)
        frame.columns = self.template.columns
        return frame

    def _rounded(self, numbers: Floats, rng: np.random.Generator | None) -> Floats:
        whole = self.whole
        if not whole.any():
            return numbers
        assert rng is not None
        numbers = numbers.copy()
        chances = rng.random((len(numbers), whole.sum()))
        for at, chance in zip(np.flatnonzero(whole), chances.T, strict=True):
            numbers[:, at] = rounded(numbers[:, at], self.columns[at], chance)
        return numbers

    def _decode_sparse(self, numbers: Any, rng: np.random.Generator | None) -> Any:
        matrix = numbers.tocsr()
        if self.whole.any():
            assert rng is not None
            matrix = matrix.copy()
            matrix.data = np.floor(matrix.data + rng.random(len(matrix.data)))
            matrix.eliminate_zeros()
        return matrix.astype(self.columns[0].dtype, copy=False)

    def _are(self, kind: ColumnKind) -> Bools:
        return np.array([column.kind is kind for column in self.columns])
