"""The face that all augmenters share."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from numbers import Integral
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from leavezero._random import seed_sequence, stream
from leavezero._tables import TableFormat
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._validation_set import ValidationSet


@dataclass(frozen=True)
class Draw:
    """New rows as plain arrays, before they get the user's container and labels back.

    ``codes`` are positions in the sorted classes, ``origins`` positions of given rows.
    """

    values: Floats
    codes: Ints
    origins: Ints


class BaseAugmenter(BaseEstimator, ABC):
    """Base of everything that draws a validation set from data.

    A subclass stores its parameters in ``__init__`` and implements :meth:`_check_parameters`,
    :meth:`_fit` and :meth:`_sample` on plain arrays. This class checks what comes in and gives
    back the container, the dtypes and the labels that the user brought.

    Examples
    --------
    >>> from leavezero.augment import BaseAugmenter, LabelInvariantMixup
    >>> issubclass(LabelInvariantMixup, BaseAugmenter)
    True
    """

    def fit(self, X: Table, y: AnyArray) -> Self:
        """Learn from the data what new rows look like.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Numbers; missing cells are NaN.
        y : array of shape (n_samples,)
            The class of each row.

        Returns
        -------
        self
        """
        self._check_parameters()
        values, target = validate_data(self, X, y, dtype="numeric", ensure_all_finite=False)
        check_classification_targets(target)
        if values.dtype.kind == "f" and np.isinf(values).any():
            raise ValueError(
                f"X given to {type(self).__name__} contains infinity. "
                "Replace infinite cells by large numbers or by NaN."
            )
        self.classes_, codes = np.unique(target, return_inverse=True)
        self._format = TableFormat.of(X if hasattr(X, "iloc") else values)
        self._fit(values.astype(np.float64, copy=False), codes)
        return self

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
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
            raise ValueError(
                f"n_samples of {type(self).__name__}.sample must be a positive int, "
                f"got {n_samples!r}. Use the number of given rows for a set of the same size."
            )
        root = seed_sequence(random_state)
        draw = self._sample(int(n_samples), root)
        return ValidationSet(
            X=self._format.restore(draw.values, stream(root, "rounding")),
            y=self.classes_[draw.codes],
            origins=draw.origins,
        )

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        return tags

    def _check_parameters(self) -> None:
        """Raise if a constructor parameter is not allowed."""

    @abstractmethod
    def _fit(self, values: Floats, codes: Ints) -> None:
        """Learn from a matrix and from class codes 0, 1, ..."""

    @abstractmethod
    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> Draw:
        """Draw new rows as plain arrays."""


class ClassConditionalAugmenter(BaseAugmenter):
    """Base of augmenters that draw each class by itself and keep the label marginal.

    The number of new rows of each class is its share of the given rows, rounded by largest
    remainder (Li et al. 2020, first rule for an augmentation). A subclass implements
    :meth:`_fit_class` and :meth:`_sample_class`; each class draws from its own random stream.

    Examples
    --------
    >>> from leavezero.augment import ClassConditionalAugmenter, LabelInvariantMixup
    >>> issubclass(LabelInvariantMixup, ClassConditionalAugmenter)
    True
    """

    def _fit(self, values: Floats, codes: Ints) -> None:
        self._members = [np.flatnonzero(codes == code) for code in range(len(self.classes_))]
        for code, members in enumerate(self._members):
            self._fit_class(code, values[members])

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> Draw:
        sizes = quotas(np.array([len(members) for members in self._members]), n_samples)
        draws = [
            self._sample_class(code, int(size), stream(root, "class", code))
            for code, size in enumerate(sizes)
        ]
        order = stream(root, "order").permutation(n_samples)
        codes = np.repeat(np.arange(len(sizes)), sizes)
        origins = [
            members[draw.origins] for members, draw in zip(self._members, draws, strict=True)
        ]
        return Draw(
            np.concatenate([draw.values for draw in draws])[order],
            codes[order],
            np.concatenate(origins)[order],
        )

    @abstractmethod
    def _fit_class(self, code: int, values: Floats) -> None:
        """Learn from the given rows of one class."""

    @abstractmethod
    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> "ClassDraw":
        """Draw new rows of one class; origins are positions among the rows of the class."""


@dataclass(frozen=True)
class ClassDraw:
    """New rows of one class."""

    values: Floats
    origins: Ints


def quotas(counts: Ints, total: int) -> Ints:
    """Split a total in proportion to counts, rounded by largest remainder.

    Ties of remainders go to the larger class, then to the first.

    Examples
    --------
    >>> import numpy as np
    >>> quotas(np.array([3, 3, 1]), 10)
    array([4, 4, 2])
    """
    exact = [int(count) * total for count in counts]  # Python ints: no overflow, no rounding
    whole = int(sum(counts))
    shares = np.array([product // whole for product in exact])
    remainders = np.array([product % whole for product in exact])
    first = np.lexsort((np.arange(len(counts)), -counts, -remainders))
    shares[first[: total - int(shares.sum())]] += 1
    return shares
