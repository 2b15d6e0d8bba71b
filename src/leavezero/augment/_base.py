"""The face that all augmenters share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from leavezero._random import seed_sequence, stream
from leavezero._tables import TableCodec, is_pandas, is_polars, is_text
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._borders import Borders
from leavezero.augment._target import Target
from leavezero.augment._validation_set import ValidationSet

_ALTERNATIVES = {
    "missing cells": "CopulaAugmenter",
    "columns that are not numbers": "CopulaAugmenter",
    "a sparse matrix": "LabelInvariantMixup",
    "text": "TextAugmenter",
    "numbers as y": "CopulaAugmenter",
    "several outputs": "LabelInvariantMixup",
}


class BaseAugmenter(BaseEstimator, ABC):
    """Base of everything that draws a validation set from data.

    A subclass stores its parameters in ``__init__``, learns in :meth:`fit` and draws in
    :meth:`_draw`; this class checks what :meth:`sample` is asked for. Whoever works on plain
    numbers inherits from :class:`TableAugmenter` instead.

    Examples
    --------
    >>> from leavezero.augment import BaseAugmenter, LabelInvariantMixup
    >>> issubclass(LabelInvariantMixup, BaseAugmenter)
    True
    """

    @abstractmethod
    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Learn from the data what new rows look like."""

    def sample(self, n_samples: int, random_state: RandomState = None) -> ValidationSet:
        """Draw a validation set.

        Parameters
        ----------
        n_samples : int
            The number of new rows.
        random_state : int, RandomState, Generator or None
            An int for rows that repeat.

        Returns
        -------
        ValidationSet
        """
        if not any(name.endswith("_") for name in vars(self)):
            check_is_fitted(self)  # which takes its time
        if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
            raise ValueError(
                f"n_samples of {type(self).__name__}.sample must be a positive int, "
                f"got {n_samples!r}. Use the number of given rows for a set of the same size."
            )
        return self._draw(int(n_samples), seed_sequence(random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        """Raise if a constructor parameter is not allowed."""

    @abstractmethod
    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        """Draw new rows; every purpose takes its own stream of the root."""


@dataclass(frozen=True, eq=False)
class Draw:
    """New rows as plain numbers, before they get the user's container and labels back.

    ``codes`` are positions in the target's labels, or ``numbers`` its columns; ``origins`` are
    positions of given rows.
    """

    values: Any
    codes: Ints | None = None
    numbers: Floats | None = None
    origins: Ints | None = None


class TableAugmenter(BaseAugmenter):
    """Base of augmenters that work on a table written as numbers.

    A subclass implements :meth:`_fit` and :meth:`_sample`, and says in ``takes`` what its tables
    and targets may hold beyond complete numbers and classes. This class checks what comes in and
    gives back the container, the dtypes and the labels that the user brought.

    Examples
    --------
    >>> from leavezero.augment import GaussianAugmenter, TableAugmenter
    >>> issubclass(GaussianAugmenter, TableAugmenter)
    True
    """

    takes: ClassVar[frozenset[str]] = frozenset()
    mixes_rows: ClassVar[bool] = False  # new ones lie between given ones, of one group each

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Learn from the data what new rows look like.

        Parameters
        ----------
        X : array, frame, sparse matrix or sequence of strings
            The features, as far as this augmenter takes them.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The classes, or numbers.
        sample_weight : array of shape (n_samples,) or None
            How often each row counts: new rows come from a row as often as its weight says.
        groups : array of shape (n_samples,) or None
            Rows of different groups are never mixed.

        Returns
        -------
        self
        """
        self._check_parameters()
        owner = type(self).__name__
        if y is None:
            Target.of(y, owner)
        values, self._codec = self._read_table(X)
        target = Target.of(y, owner)
        check_consistent_length(values, target.codes)
        self._refuse(values, target)
        self._target = target
        self._borders = None
        if self._codec is not None and not sparse.issparse(values):
            self._borders = Borders.of(values)
        if target.kind == "classes":
            self.classes_ = target.labels
        self.n_rows_ = len(target)
        self._rows = weighted_rows(sample_weight, len(target), owner)
        codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        if codes is not None:
            check_consistent_length(values, codes)
        if self._rows is not None:
            values, target = values[self._rows], target.take(self._rows)
            codes = None if codes is None else codes[self._rows]
        self._fit(values, target, codes)
        return self

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        draw = self._sample(n_samples, root)
        origins = draw.origins
        if origins is not None and self._rows is not None:
            origins = self._rows[origins]
        X = draw.values
        if self._borders is not None:
            X = self._borders.kept(X)
        if self._codec is not None:
            rounding = stream(root, "rounding") if self._codec.whole.any() else None
            X = self._codec.decode(X, rounding)
        return ValidationSet(X, self._target.restore(draw.codes, draw.numbers), origins=origins)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = "missing cells" in self.takes
        tags.input_tags.sparse = "a sparse matrix" in self.takes
        return tags

    @abstractmethod
    def _fit(self, values: Any, target: Target, groups: Ints | None) -> None:
        """Learn from a matrix, a target and the codes of groups."""

    @abstractmethod
    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> Draw:
        """Draw new rows as numbers."""

    def _read_table(self, X: Table) -> tuple[Any, TableCodec | None]:
        """Return X as numbers with the way back, or documents as they are."""
        if is_text(X):
            return np.asarray(X, dtype=object), None
        if is_polars(X) or (is_pandas(X) and not _all_numbers(X)):
            validate_data(self, X, skip_check_array=True)
            codec = self._codec_of(X)
            return codec.encode(X), codec
        try:
            checked = validate_data(
                self, X, dtype="numeric", ensure_all_finite=False, accept_sparse="csr"
            )
        except ValueError:
            objects = np.asarray(X, dtype=object) if not sparse.issparse(X) else None
            if objects is None or objects.ndim != 2 or not _holds_strings(objects):
                raise
            self.n_features_in_ = objects.shape[1]
            codec = self._codec_of(objects)
            return codec.encode(objects), codec
        codec = self._codec_of(X if is_pandas(X) else checked)
        return (codec.encode(X) if is_pandas(X) else codec.encode(checked)), codec

    def _codec_of(self, X: Table) -> TableCodec:
        """Return how X is written as numbers: what lies between floats need not be whole."""
        return TableCodec.of(X, whole_floats=not self.mixes_rows)

    def _refuse(self, values: Any, target: Target) -> None:
        """Raise one sentence if the data hold what this augmenter cannot take."""
        owner = type(self).__name__
        cells = values.data if sparse.issparse(values) else values
        if self._codec is not None and np.isinf(cells).any():
            raise ValueError(
                f"X given to {owner} contains infinity. "
                "Replace infinite cells by large numbers or by NaN."
            )
        found = {
            "text": self._codec is None,
            "a sparse matrix": sparse.issparse(values),
            "columns that are not numbers": self._codec is not None and self._codec.is_mixed,
            "missing cells": self._codec is not None and np.isnan(cells).any(),
            "numbers as y": target.kind == "numbers",
            "several outputs": target.kind == "combinations",
        }
        for what, there in found.items():
            if there and what not in self.takes:
                hint = f"Input X contains NaN: {owner}" if what == "missing cells" else owner
                raise ValueError(f"{hint} does not take {what}. Use {_ALTERNATIVES[what]}.")
        if self._codec is not None and "text only" in self.takes:
            raise ValueError(
                f"{owner} takes a sequence of strings, got {type(values).__name__} with "
                f"{values.shape[1]} columns. Use LabelInvariantMixup for numbers."
            )


def weighted_rows(weights: AnyArray | None, n_rows: int, owner: str) -> Ints | None:
    """Return rows repeated as often as their weight says, n_rows in all; None without weights.

    Systematic resampling: no chance is involved.

    Examples
    --------
    >>> weighted_rows([1, 0, 3], 3, "an augmenter")
    array([0, 2, 2])
    """
    if weights is None:
        return None
    shares = np.asarray(weights, dtype=np.float64)
    if shares.shape != (n_rows,) or not np.isfinite(shares).all() or (shares < 0).any():
        raise ValueError(
            f"sample_weight of {owner} must be {n_rows} finite numbers of at least 0, "
            f"got shape {shares.shape}. Give one weight for each row."
        )
    if shares.sum() == 0:
        raise ValueError(
            "Sample weights must contain at least one non-zero number: sample_weight of "
            f"{owner} is 0 for every row."
        )
    marks = (np.arange(n_rows) + 0.5) / n_rows * shares.sum()
    return np.searchsorted(np.cumsum(shares), marks).clip(max=n_rows - 1)


def _all_numbers(frame: Any) -> bool:
    return all(
        getattr(dtype, "kind", "O") in "iuf" and not hasattr(dtype, "categories")
        for dtype in frame.dtypes
    )


def _holds_strings(objects: AnyArray) -> bool:
    return any(isinstance(cell, str) for cell in objects.ravel())
