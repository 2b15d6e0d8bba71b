"""The interface of augmenters: base classes, the validation set, and the encoded target."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier
from sklearn.utils.validation import (
    check_consistent_length,
    check_is_fitted,
    column_or_1d,
    validate_data,
)

from leavezero._random import random_rows, seed_sequence, stream, with_seed
from leavezero._tables import (
    TableCodec,
    count_rows,
    is_pandas,
    is_polars,
    is_text,
    plain,
    stack_rows,
    take_rows,
)
from leavezero._typing import AnyArray, Bools, Floats, Ints, RandomState, Table
from leavezero._warnings import warn_caller
from leavezero.exceptions import SmallClassWarning

_SEMI_SUPERVISED = (LabelPropagation, LabelSpreading, SelfTrainingClassifier)
MAX_FLOAT_CLASSES = 20
ALTERNATIVES = {  # by what some augmenters do not support
    "missing values": "CopulaAugmenter",
    "non-numeric columns": "CopulaAugmenter",
    "sparse matrices": "LabelInvariantMixup",
    "text": "TextAugmenter",
    "regression targets": "CopulaAugmenter",
    "several outputs": "LabelInvariantMixup",
}


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Rows on which candidates are scored, generated from the training data by an augmenter.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        The features, in the container and with the dtypes of the training data.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        The target.
    sample_weight : array of shape (n_rows,) or None, default=None
        The weight of each row; None for equal weights.
    source_rows : array of shape (n_rows, n_sources) or None, default=None
        The training rows that each row was generated from; unused places are -1.
    component : array of shape (n_rows,) or None, default=None
        The index of the augmenter of a union that generated each row. Scores are averaged over
        components.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ValidationSet
    >>> len(ValidationSet(np.zeros((3, 2)), np.array(["a", "b", "a"])))
    3
    """

    X: Table
    y: AnyArray
    sample_weight: Floats | None = None
    source_rows: Ints | None = None
    component: Ints | None = None

    def __post_init__(self) -> None:
        n_rows = count_rows(self.X)
        for name, value in vars(self).items():
            if name != "X" and value is not None and len(value) != n_rows:
                raise ValueError(
                    f"{name} of ValidationSet has {len(value)} rows and X has {n_rows}. "
                    "They must have the same number of rows."
                )

    def __len__(self) -> int:
        return count_rows(self.X)

    def take(self, rows: slice | Ints) -> "ValidationSet":
        """Return some rows."""
        taken: dict[str, Any] = {"X": take_rows(self.X, rows)}
        for name, value in vars(self).items():
            if name != "X":
                taken[name] = None if value is None else value[rows]
        return ValidationSet(**taken)

    def source_means(self, values: AnyArray) -> Floats:
        """Return for each row the mean of a training-row value over its source rows; 1 if none."""
        if self.source_rows is None:
            return np.ones(len(self))
        used = self.source_rows >= 0
        sources = np.asarray(values, dtype=np.float64)[self.source_rows]
        count = used.sum(axis=1)
        means = np.where(used, sources, 0.0).sum(axis=1) / np.maximum(count, 1)
        return np.where(count > 0, means, 1.0)

    @staticmethod
    def concatenate(parts: "Sequence[ValidationSet]") -> "ValidationSet":
        """Concatenate validation sets of one augmenter."""
        fields: dict[str, Any] = {}
        for name, first in vars(parts[0]).items():
            values = [getattr(part, name) for part in parts]
            fields[name] = None if first is None else stack_rows(values)
        return ValidationSet(**fields)


@dataclass(frozen=True, eq=False)
class Target:
    """An encoded target."""

    kind: str  # "classes", "combinations" (several outputs of classes), "numbers" (regression)
    codes: Ints  # positions in the labels; 0 for regression
    labels: AnyArray | None = None  # distinct classes or combinations
    numbers: Floats | None = None  # columns of a regression target
    dtype: Any = None
    n_outputs: int = 0  # 0 for a one-dimensional y

    @classmethod
    def of(cls, y: AnyArray, owner: str) -> "Target":
        """Encode y: floats are regression, except for integers with at most 20 distinct values."""
        if y is None:
            raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
        several = getattr(y, "ndim", 1) == 2 and y.shape[1] > 1
        values = y if several else column_or_1d(y, warn=True)
        values = values.to_numpy() if hasattr(values, "to_numpy") else np.asarray(values)
        if values.dtype.kind == "f" and not np.isfinite(values).all():
            raise ValueError(
                f"Input y contains NaN or infinity: {owner} requires a finite target. Drop these "
                "rows; rows without a label need a semi-supervised search."
            )
        if is_regression(values):
            numbers = values.astype(np.float64).reshape(len(values), -1)
            n_outputs = values.shape[1] if values.ndim == 2 else 0
            codes = np.zeros(len(values), dtype=np.intp)
            return cls("numbers", codes, None, numbers, values.dtype, n_outputs)
        if values.ndim == 2:
            labels, codes = np.unique(values, axis=0, return_inverse=True)
            return cls("combinations", codes.ravel(), labels, None, values.dtype, values.shape[1])
        labels, codes = np.unique(values, return_inverse=True)
        return cls("classes", codes, labels, None, values.dtype)

    def __len__(self) -> int:
        return len(self.codes)

    def take(self, rows: Ints) -> "Target":
        """Return the target of some rows."""
        numbers = None if self.numbers is None else self.numbers[rows]
        return replace(self, codes=self.codes[rows], numbers=numbers)

    def decode(self, codes: Any, numbers: Any) -> AnyArray:
        """Return codes or numbers in the format of y; numbers are clipped to their bounds."""
        if self.labels is not None:
            return self.labels[codes]
        assert self.numbers is not None
        numbers = np.clip(numbers, *natural_bounds(self.numbers))
        return (numbers if self.n_outputs else numbers[:, 0]).astype(self.dtype)

    def name(self, code: int) -> str:
        """Return a class as a string for messages."""
        assert self.labels is not None
        label = self.labels[code]
        return repr(plain(label) if np.ndim(label) == 0 else label.tolist())


def is_regression(values: AnyArray) -> bool:
    """Return True for floats with fractions or more than 20 distinct values."""
    if values.dtype.kind != "f":
        return False
    return bool(np.any(values != np.rint(values))) or len(np.unique(values)) > MAX_FLOAT_CLASSES


def natural_bounds(columns: Floats) -> tuple[Floats, Floats]:
    """Return the lower and upper bounds that generated values of columns must respect.

    A column without negative values is bounded below by its minimum, one without positive values
    above by its maximum, and proportions (values from 0 to 1) below and above.
    """
    least, most = np.fmin.reduce(columns, axis=0), np.fmax.reduce(columns, axis=0)
    proportions = (least >= 0) & (most <= 1)
    low = np.where(least >= 0, least, -np.inf)
    return low, np.where(proportions | (most <= 0), most, np.inf)


class BaseAugmenter(BaseEstimator, ABC):
    """Base class of all augmenters.

    A subclass stores its parameters in ``__init__`` and implements :meth:`_fit` and
    :meth:`_sample`. To generate numeric rows per class, use :class:`ClassConditionalAugmenter`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The sorted classes; only for a target that is one column of classes.
    n_rows_ : int
        The number of training rows.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import BaseAugmenter, ValidationSet
    >>> class Bootstrap(BaseAugmenter):
    ...     def _fit(self, X, y, weight, groups):
    ...         self.X_, self.y_ = X, y
    ...     def _sample(self, n_samples, root):
    ...         rows = np.random.default_rng(root).integers(len(self.y_), size=n_samples)
    ...         return ValidationSet(self.X_[rows], self.y_[rows], source_rows=rows[:, None])
    >>> fitted = Bootstrap().fit(np.eye(4), np.array([0, 0, 1, 1]))
    >>> fitted.sample(3, random_state=0).X.shape
    (3, 4)
    """

    takes_metadata: ClassVar[bool] = True  # False: fit rejects sample_weight and groups

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Learn from the training data how to generate rows, and return self.

        Parameters
        ----------
        X : array, frame, sparse matrix or sequence of strings
            The features, of a kind that the augmenter supports.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        sample_weight : array of shape (n_samples,) or None, default=None
            Rows are generated from a training row in proportion to its weight.
        groups : array of shape (n_samples,) or None, default=None
            Rows of different groups are never mixed.
        """
        self._check_parameters()
        self._target = self._encode_target(y)
        check_consistent_length(X, y, groups)
        owner = type(self).__name__
        if not self.takes_metadata and (sample_weight is not None or groups is not None):
            raise ValueError(f"{owner} supports neither sample_weight nor groups.")
        weight = _check_weights(sample_weight, count_rows(y), owner)
        codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        if self._target.kind == "classes":
            self.classes_: AnyArray = np.asarray(self._target.labels)
        self.n_rows_ = count_rows(X)
        self._fit(X, y, weight, codes)
        return self

    def sample(self, n_samples: int, random_state: RandomState = None) -> ValidationSet:
        """Return a generated :class:`ValidationSet`.

        Parameters
        ----------
        n_samples : int
            The number of rows.
        random_state : int, RandomState, Generator or None, default=None
            Pass an int for reproducible rows.
        """
        check_is_fitted(self)
        if not is_count(n_samples):
            owner = type(self).__name__
            raise ValueError(
                f"n_samples of {owner}.sample must be a positive int, got {n_samples!r}."
            )
        return self._sample(int(n_samples), seed_sequence(random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        """Raise a ValueError if a constructor parameter is invalid."""

    def _require(self, name: str, is_valid: bool, requirement: str) -> None:
        """Raise a ValueError unless a constructor parameter is valid."""
        if not is_valid:
            got = f"{getattr(self, name)!r}"
            raise ValueError(f"{name} of {type(self).__name__} must {requirement}, got {got}.")

    def _encode_target(self, y: AnyArray) -> Target:
        """Return the encoded target."""
        return Target.of(y, type(self).__name__)

    @abstractmethod
    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        """Learn from checked data; ``groups`` are integer codes."""

    @abstractmethod
    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        """Generate rows, using one random stream of the root per purpose."""


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
    n_targets : int, default=0
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
    """Generated rows of one class, returned by ``_sample_class``.

    Parameters
    ----------
    values : array or sparse matrix
        The rows, encoded as ``values`` of :class:`ClassRows`.
    source_rows : array of shape (n_rows, n_sources) or None, default=None
        The rows that each was generated from, as positions among the rows of the class.

    Examples
    --------
    >>> from leavezero.augment import ClassSample
    >>> ClassSample(values=[[0.2]], source_rows=[[0, 1]]).values
    [[0.2]]
    """

    values: Any
    source_rows: Ints | None = None


class ClassConditionalAugmenter(BaseAugmenter):
    """Base class of augmenters that generate each class separately and keep the label marginal.

    They work on a table encoded as numbers; generated rows have the container, dtypes and labels of
    the data. The class attribute ``takes`` names what is supported in addition to complete numeric
    tables with classes: "missing values", "non-numeric columns", "sparse matrices", "regression
    targets", "several outputs", "text" or "text only".

    The number of generated rows per class is its share of the training rows, rounded by largest
    remainder (Li et al. 2020: an augmentation should keep the label marginal). Combinations of
    several outputs are classes; a regression target is one class. A subclass implements
    :meth:`_fit_class` and :meth:`_sample_class`; each class has its own random stream.

    Attributes
    ----------
    classes_, n_rows_
        See :class:`BaseAugmenter`.
    n_features_in_ : int
        The number of columns.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ClassConditionalAugmenter, ClassSample
    >>> class IndependentColumns(ClassConditionalAugmenter):
    ...     def _fit_class(self, one):
    ...         return one.values.mean(axis=0), one.values.std(axis=0)
    ...     def _sample_class(self, one, fitted, n_samples, rng):
    ...         mean, deviation = fitted
    ...         return ClassSample(rng.normal(mean, deviation, size=(n_samples, len(mean))))
    >>> X = np.random.default_rng(0).normal(size=(20, 2))
    >>> rows = IndependentColumns().fit(X, np.repeat(["a", "b"], 10)).sample(4, random_state=0)
    >>> sorted(rows.y.tolist())
    ['a', 'a', 'b', 'b']
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    mixes_rows: ClassVar[bool] = False  # True: a generated row lies between rows of one group
    min_rows: ClassVar[int] = 1  # of a class; smaller ones are copied, with a warning
    max_rows: ClassVar[int | None] = None  # per class, for fitting; None for all
    keeps_rows: ClassVar[bool] = True  # False if sampling does not need the training rows

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
        self._fit_classes(values, target, groups)

    def _fit_classes(self, values: Any, target: Target, groups: Ints | None) -> None:
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
            some = random_rows(len(rows), self.max_rows, np.random.default_rng(0))
            known = values[rows[some]]
            one = ClassRows(name, code, rows, known, categorical, self._n_targets)
            self._fitted.append(self._fit_class(one))
            self._classes.append(one if self.keeps_rows else replace(one, values=None))
        self._target = replace(self._target, codes=np.arange(0))  # sampling does not need them
        small = [one for one in self._classes if len(one) < self.min_rows]
        if small:
            self._warn_small(small[0], len(small) - 1)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
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
            if self._rows is not None:
                source_rows = self._rows[source_rows]
        numbers = None  # of a regression target
        if self._n_targets:
            values, numbers = values[:, : -self._n_targets], values[:, -self._n_targets :]
            numbers = numbers.toarray() if sparse.issparse(numbers) else numbers
        X = values if self._bounds is None else np.clip(values, *self._bounds)
        if self._codec is not None:
            rounding = stream(root, "rounding") if self._codec.integer.any() else None
            X = self._codec.decode(X, rounding)
        return ValidationSet(X, self._target.decode(codes, numbers), source_rows=source_rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "missing values" in self.takes
        tags.input_tags.sparse = "sparse matrices" in self.takes
        return tags

    def _validated(self, X: Table) -> Any:
        try:
            return validate_data(self, X, ensure_all_finite=False, accept_sparse="csr")
        except (ArithmeticError, TypeError, ValueError) as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError
            name = type(self).__name__
            raise kind(f"X passed to {name} cannot be used: {error}") from error

    def _read_table(self, X: Table) -> tuple[Any, TableCodec | None]:
        """Return X encoded as numbers with its codec, or an array of documents and None."""
        if is_text(X):
            return np.asarray(X, dtype=object), None
        if is_polars(X) or (is_pandas(X) and any(d.kind not in "iuf" for d in X.dtypes)):
            validate_data(self, X, skip_check_array=True)
            return self._encoded(X)
        try:
            checked = self._validated(X)
        except ValueError:
            objects = np.asarray(X, dtype=object)  # without dimensions for a sparse matrix
            if objects.ndim != 2 or not any(isinstance(cell, str) for cell in objects.ravel()):
                raise
            self.n_features_in_ = objects.shape[1]
            return self._encoded(objects)
        # Encoders that were fitted to objects cannot transform numbers.
        is_object = isinstance(X, np.ndarray) and X.dtype.kind == "O"
        return self._encoded(X if is_pandas(X) or is_object else checked)

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

    def _warn_small(self, one: ClassRows, n_others: int) -> None:
        which = f"Class {one.name}" if one.name else "The training data"
        count = "a single row" if len(one) == 1 else f"{len(one)} rows"
        rows = "document" if self._codec is None else "row"
        rows = f"{rows} is" if len(one) == 1 else f"{rows}s are"
        others = f" The same holds for {n_others} other classes." if n_others else ""
        warn_caller(
            f"{which} has {count}, and {type(self).__name__} requires {self.min_rows}: its {rows} "
            f"copied. The score of this class will be too good.{others}",
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


def fit_clone(
    augmenter: Any, X: Table, y: AnyArray, weight: Any = None, groups: Any = None, *, seed: Any
) -> Any:
    """Fit a seeded clone of an augmenter; pass weights and groups only if there are any."""
    copy = clone(augmenter) if seed is None else with_seed(clone(augmenter), seed)
    metadata = {"sample_weight": weight, "groups": groups}
    return copy.fit(X, y, **{k: v for k, v in metadata.items() if v is not None})


def is_count(value: Any, least: int = 1) -> bool:
    """Return True for an integer that is not too small."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= least


def is_positive(value: Any) -> bool:
    """Return True for a positive finite number."""
    return isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf


def _check_weights(sample_weight: AnyArray | None, n_rows: int, owner: str) -> Floats | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            f"sample_weight of {owner} must be {n_rows} finite numbers of at least 0, "
            f"got an array of shape {weights.shape}."
        )
    if weights.sum() == 0:
        raise ValueError(
            f"Sample weights must contain at least one non-zero number: {owner} got only zeros."
        )
    return weights


def takes_unlabeled(estimator: Any) -> bool:
    """Return True if an estimator can be fitted to rows without a label."""
    return isinstance(estimator, _SEMI_SUPERVISED) or hasattr(estimator, "unlabeled")


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
