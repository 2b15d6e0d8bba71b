"""Base classes of all augmenters, and of augmenters that wrap another one."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from leavezero._random import integer_seed, seed_sequence, with_seed
from leavezero._tables import Featurizer, count_rows
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._target_encoding import Target
from leavezero.augment._validation_set import ValidationSet


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
        """Learn from the training data how to generate rows.

        Parameters
        ----------
        X : array, frame, sparse matrix or sequence of strings
            The features, of a kind that the augmenter supports.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The target.
        sample_weight : array of shape (n_samples,) or None
            Rows are generated from a training row in proportion to its weight.
        groups : array of shape (n_samples,) or None
            Rows of different groups are never mixed.

        Returns
        -------
        self
        """
        self._check_parameters()
        self._target = self._encode_target(y)
        check_consistent_length(X, y, groups)
        owner, weight = type(self).__name__, None
        if not self.takes_metadata and (sample_weight is not None or groups is not None):
            raise ValueError(f"{owner} supports neither sample_weight nor groups.")
        if sample_weight is not None:
            weight = _check_weights(sample_weight, count_rows(y), owner)
        codes = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
        if self._target.kind == "classes":
            self.classes_: AnyArray = np.asarray(self._target.labels)
        self.n_rows_ = count_rows(X)
        self._fit(X, y, weight, codes)
        return self

    def sample(self, n_samples: int, random_state: RandomState = None) -> ValidationSet:
        """Generate a validation set.

        Parameters
        ----------
        n_samples : int
            The number of rows.
        random_state : int, RandomState, Generator or None
            Pass an int for reproducible rows.

        Returns
        -------
        ValidationSet
        """
        check_is_fitted(self)
        if not isinstance(n_samples, Integral) or isinstance(n_samples, bool) or n_samples < 1:
            raise ValueError(
                f"n_samples of {type(self).__name__}.sample must be a positive int, "
                f"got {n_samples!r}."
            )
        return self._sample(int(n_samples), seed_sequence(random_state))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check_parameters(self) -> None:
        """Raise a ValueError if a constructor parameter is invalid."""

    def _encode_target(self, y: AnyArray) -> Target:
        """Return the encoded target."""
        return Target.of(y, type(self).__name__)

    @abstractmethod
    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        """Learn from checked data; ``groups`` are integer codes."""

    @abstractmethod
    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        """Generate rows, using one random stream of the root per purpose."""


class AugmenterWrapper(BaseAugmenter):
    """Base class of augmenters that add labels, weights or predictions to another one's rows.

    A subclass has the parameters ``augmenter`` and ``random_state``, and implements
    :meth:`_fit_models`, with ``self._featurizer`` and ``self._target``, and :meth:`_sample`.

    Attributes
    ----------
    augmenter_ : augmenter
        The fitted augmenter.
    n_fits_ : int
        The number of fitted models.

    Examples
    --------
    >>> from leavezero.augment import AugmenterWrapper, SoftLabeled
    >>> issubclass(SoftLabeled, AugmenterWrapper)
    True
    """

    augmenter: Any
    random_state: RandomState

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        root = seed_sequence(self.random_state)
        seed = integer_seed(root, "augmenter")
        self.augmenter_ = fit_clone(self.augmenter, X, y, weight, groups, seed=seed)
        self._featurizer = Featurizer().fit(X)
        n_fits = self._fit_models(X, groups, root)
        self.n_fits_ = n_fits + getattr(self.augmenter_, "n_fits_", 0)

    @abstractmethod
    def _fit_models(self, X: Table, groups: Ints | None, root: np.random.SeedSequence) -> int:
        """Fit the models of this wrapper and return their number."""


def fit_clone(
    augmenter: Any, X: Table, y: AnyArray, weight: Any = None, groups: Any = None, *, seed: Any
) -> Any:
    """Fit a seeded clone of an augmenter; pass weights and groups only if there are any."""
    copy = clone(augmenter) if seed is None else with_seed(clone(augmenter), seed)
    metadata = {"sample_weight": weight, "groups": groups}
    return copy.fit(X, y, **{k: v for k, v in metadata.items() if v is not None})


def _check_weights(sample_weight: AnyArray, n_rows: int, owner: str) -> Floats:
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ValueError(
            f"sample_weight of {owner} must be {n_rows} finite numbers of at least 0, "
            f"got an array of shape {weights.shape}."
        )
    if weights.sum() == 0:
        raise ValueError(
            "Sample weights must contain at least one non-zero number: sample_weight of "
            f"{owner} is 0 for every row."
        )
    return weights
