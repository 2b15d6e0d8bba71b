"""Base classes of augmenters that generate the rows of a table as numbers, per class."""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.utils.validation import validate_data

from leavezero._random import stream
from leavezero._tables import TableCodec, is_pandas, is_polars, is_text, stack_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero._warnings import warn_caller
from leavezero.augment._augmenter import BaseAugmenter, Target, ValidationSet, clip, natural_bounds
from leavezero.exceptions import SmallClassWarning

ALTERNATIVES = {  # by what some augmenters do not support
    "missing values": "CopulaAugmenter",
    "non-numeric columns": "CopulaAugmenter",
    "sparse matrices": "LabelInvariantMixup",
    "text": "TextAugmenter",
    "regression targets": "CopulaAugmenter",
    "several outputs": "LabelInvariantMixup",
}


@dataclass(frozen=True, eq=False)
class TableSample:
    """Generated rows as numbers, before they are decoded."""

    values: Any
    codes: Ints | None = None  # positions in the labels of the target
    numbers: Floats | None = None  # regression targets
    source_rows: Ints | None = None


class TableAugmenter(BaseAugmenter):
    """Base class of augmenters that work on a table encoded as numbers.

    A subclass implements :meth:`_fit_table` and :meth:`_sample_table`. The class attribute
    ``takes`` names what it supports in addition to complete numeric tables with classes: "missing
    values", "non-numeric columns", "sparse matrices", "regression targets", "several outputs",
    "text" or "text only". Generated rows have the container, dtypes and labels of the data.

    Examples
    --------
    >>> from leavezero.augment import GaussianAugmenter, TableAugmenter
    >>> issubclass(GaussianAugmenter, TableAugmenter)
    True
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    mixes_rows: ClassVar[bool] = False  # True: a generated row lies between rows of one group

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        values, self._codec = self._read_table(X)
        self._check_supported(values)
        dense = self._codec is not None and not sparse.issparse(values)
        self._bounds = natural_bounds(values) if dense else None
        target = self._target
        self._rows = None if weight is None else weighted_rows(weight)
        if self._rows is not None:
            values, target = values[self._rows], target.take(self._rows)
            groups = None if groups is None else groups[self._rows]
        self._fit_table(values, target, groups)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = self._sample_table(n_samples, root)
        source_rows = sample.source_rows
        if source_rows is not None and self._rows is not None:
            source_rows = self._rows[source_rows]
        X = sample.values if self._bounds is None else clip(sample.values, self._bounds)
        if self._codec is not None:
            rounding = stream(root, "rounding") if self._codec.integer.any() else None
            X = self._codec.decode(X, rounding)
        y = self._target.decode(sample.codes, sample.numbers)
        return ValidationSet(X, y, source_rows=source_rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "missing values" in self.takes
        tags.input_tags.sparse = "sparse matrices" in self.takes
        return tags

    @abstractmethod
    def _fit_table(self, values: Any, target: Target, groups: Ints | None) -> None:
        """Learn from encoded rows, the target and integer group codes."""

    @abstractmethod
    def _sample_table(self, n_samples: int, root: np.random.SeedSequence) -> TableSample:
        """Generate encoded rows."""

    def _read_table(self, X: Table) -> tuple[Any, TableCodec | None]:
        """Return X encoded as numbers with its codec, or an array of documents and None."""
        if is_text(X):
            return np.asarray(X, dtype=object), None
        if is_polars(X) or (is_pandas(X) and any(d.kind not in "iuf" for d in X.dtypes)):
            validate_data(self, X, skip_check_array=True)
            return self._encoded(X)
        try:
            checked = validate_data(self, X, ensure_all_finite=False, accept_sparse="csr")
        except ValueError:
            objects = np.asarray(X, dtype=object)  # without dimensions for a sparse matrix
            if objects.ndim != 2 or not any(isinstance(cell, str) for cell in objects.ravel()):
                raise
            self.n_features_in_ = objects.shape[1]
            return self._encoded(objects)
        return self._encoded(X if is_pandas(X) else checked)

    def _encoded(self, X: Table) -> tuple[Any, TableCodec]:
        # Mix-up of floats without a fraction is the paper's: points on the segment, not rounded.
        codec = TableCodec.of(X, integer_floats=not self.mixes_rows)
        return codec.encode(X), codec

    def _check_supported(self, values: Any) -> None:
        """Raise a ValueError if the data contain what this augmenter does not support."""
        owner, codec = type(self).__name__, self._codec
        cells = values.data if sparse.issparse(values) else values
        if codec is not None and np.isinf(cells).any():
            raise ValueError(
                f"X given to {owner} contains infinity. Replace it by large numbers or by NaN."
            )
        found = {
            "text": codec is None,
            "sparse matrices": sparse.issparse(values),
            "non-numeric columns": codec is not None and codec.is_mixed,
            "missing values": codec is not None and np.isnan(cells).any(),
            "regression targets": self._target.kind == "numbers",
            "several outputs": self._target.kind == "combinations",
        }
        for what, present in found.items():
            if present and what not in self.takes:
                prefix = "Input X contains NaN: " if what == "missing values" else ""
                raise ValueError(
                    f"{prefix}{owner} does not support {what}. Use {ALTERNATIVES[what]}."
                )
        if codec is not None and "text only" in self.takes:
            raise ValueError(
                f"{owner} requires a sequence of strings, got a table with {values.shape[1]} "
                "columns. Use LabelInvariantMixup for numbers."
            )


@dataclass(frozen=True, eq=False)
class ClassRows:
    """The training rows of one class, or of one class within one group.

    For a regression target there is one class, and the last columns are the target.

    Parameters
    ----------
    name, code : str and int
        The class, for messages (empty for regression), and its position in the sorted classes.
    rows : array of int
        The positions of its rows in the training data.
    values : array or sparse matrix
        At most ``max_rows`` encoded rows; None after ``fit`` if ``keeps_rows`` is False.
    categorical : array of bool
        Mask of the columns that hold positions of categories.
    n_targets : int
        The number of last columns that are regression targets.

    Examples
    --------
    >>> from leavezero.augment import ClassRows
    >>> len(ClassRows("'a'", 0, rows=[2, 5], values=[[0.1], [0.3]], categorical=[False]))
    2
    """

    name: str
    code: int
    rows: Ints
    values: Any
    categorical: Bools
    n_targets: int = 0

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class ClassSample:
    """Generated rows of one class; ``source_rows`` are positions among the rows of the class.

    Examples
    --------
    >>> from leavezero.augment import ClassSample
    >>> ClassSample(values=[[0.2]], source_rows=[[0, 1]]).values
    [[0.2]]
    """

    values: Any
    source_rows: Ints | None = None


class ClassConditionalAugmenter(TableAugmenter):
    """Base class of augmenters that generate each class separately and keep the label marginal.

    The number of generated rows per class is its share of the training rows, rounded by largest
    remainder (Li et al. 2020: an augmentation should keep the label marginal). Combinations of
    several outputs are classes; a regression target is one class. A subclass implements
    :meth:`_fit_class` and :meth:`_sample_class`; each class has its own random stream.

    Examples
    --------
    >>> from leavezero.augment import ClassConditionalAugmenter, LabelInvariantMixup
    >>> issubclass(LabelInvariantMixup, ClassConditionalAugmenter)
    True
    """

    min_rows: ClassVar[int] = 1  # of a class; smaller ones are copied, with a warning
    max_rows: ClassVar[int | None] = None  # per class, for fitting; None for all
    keeps_rows: ClassVar[bool] = True  # False if sampling does not need the training rows

    def _fit_table(self, values: Any, target: Target, groups: Ints | None) -> None:
        codes = target.codes
        if groups is not None and self.mixes_rows:
            codes = codes * (int(groups.max()) + 1) + groups  # one code per class and group
        self._n_targets = 0 if target.numbers is None else target.numbers.shape[1]
        if target.numbers is not None and sparse.issparse(values):
            values = sparse.hstack([values, target.numbers], format="csr")
        elif target.numbers is not None:
            values = np.hstack([values, target.numbers])
        categorical = np.zeros(self._n_targets, dtype=bool)
        if self._codec is not None:
            categorical = np.append(self._codec.categorical, categorical)
        order = np.argsort(codes, kind="stable")
        self._classes, self._fitted = [], []
        for rows in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
            code = int(target.codes[rows[0]])
            name = "" if target.labels is None else target.name(code)
            some = some_rows(len(rows), self.max_rows, np.random.default_rng(0))
            known = values[rows[some]]
            one = ClassRows(name, code, rows, known, categorical, self._n_targets)
            if len(one) < self.min_rows:
                self._warn_small(one)
            self._fitted.append(self._fit_class(one))
            self._classes.append(one if self.keeps_rows else replace(one, values=None))

    def _sample_table(self, n_samples: int, root: np.random.SeedSequence) -> TableSample:
        sizes = quotas(np.array([len(one) for one in self._classes]), n_samples)
        samples = [
            self._sample_class(one, self._fitted[i], int(sizes[i]), stream(root, "stratum", i))
            for i, one in enumerate(self._classes)
        ]
        order = stream(root, "order").permutation(n_samples)
        values = stack_rows([sample.values for sample in samples])[order]
        codes = np.repeat([one.code for one in self._classes], sizes)[order]
        source_rows = None
        if all(sample.source_rows is not None for sample in samples):
            source_rows = np.concatenate(
                [c.rows[s.source_rows] for c, s in zip(self._classes, samples, strict=True)]
            )[order]
        if not self._n_targets:
            return TableSample(values, codes=codes, source_rows=source_rows)
        features, numbers = values[:, : -self._n_targets], values[:, -self._n_targets :]
        numbers = numbers.toarray() if sparse.issparse(numbers) else numbers
        return TableSample(features, numbers=numbers, source_rows=source_rows)

    def _warn_small(self, one: ClassRows) -> None:
        which = f"Class {one.name}" if one.name else "The training data"
        count = "a single row" if len(one) == 1 else f"{len(one)} rows"
        rows = "document" if self._codec is None else "row"
        rows = f"{rows} is" if len(one) == 1 else f"{rows}s are"
        warn_caller(
            f"{which} has {count}, and {type(self).__name__} requires {self.min_rows}: its {rows} "
            "copied. The score of this class will be too good.",
            SmallClassWarning,
        )

    @abstractmethod
    def _fit_class(self, one: ClassRows) -> Any:
        """Learn from the training rows of one class; return what sampling needs."""

    @abstractmethod
    def _sample_class(
        self, one: ClassRows, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        """Generate rows of one class."""


def quotas(counts: Ints, total: int) -> Ints:
    """Split a total in proportion to counts, rounded by largest remainder; ties: larger count."""
    products = [int(count) * total for count in counts]  # Python ints do not overflow
    n_rows = int(sum(counts))
    shares = np.array([product // n_rows for product in products])
    remainders = np.array([product % n_rows for product in products])
    first = np.lexsort((np.arange(len(counts)), -counts, -remainders))
    shares[first[: total - int(shares.sum())]] += 1
    return shares


def weighted_rows(weights: Floats) -> Ints:
    """Return rows in proportion to their weights, by systematic resampling without randomness."""
    n_rows = len(weights)
    marks = (np.arange(n_rows) + 0.5) / n_rows * weights.sum()
    return np.searchsorted(np.cumsum(weights), marks).clip(max=n_rows - 1)


def some_rows(n_rows: int, limit: int | None, rng: np.random.Generator) -> Ints:
    """Return the positions of all rows, or of ``limit`` random ones if there are more."""
    if limit is None or n_rows <= limit:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=limit, replace=False))
