"""Augmenters that add something to the rows that another one draws."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from leavezero._random import integer_seed, seed_sequence, with_seed
from leavezero._tables import Featurizer
from leavezero._typing import AnyArray, RandomState, Table
from leavezero.augment._base import BaseAugmenter
from leavezero.augment._target import Target


class AroundAugmenter(BaseAugmenter):
    """Base of augmenters that wrap another one: labels, weights, references for its rows.

    A subclass has the parameters ``augmenter`` and ``random_state``, and learns what it adds in
    :meth:`_learn`.

    Examples
    --------
    >>> from leavezero.augment import AroundAugmenter, TeacherLabeled
    >>> issubclass(TeacherLabeled, AroundAugmenter)
    True
    """

    augmenter: Any
    random_state: RandomState

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Fit the wrapped augmenter to the data, and learn what is added to its rows.

        Parameters
        ----------
        X : array, frame, sparse matrix or sequence of strings
            The features, as far as the wrapped augmenter takes them.
        y : array of shape (n_samples,) or (n_samples, n_outputs)
            The classes, or numbers.
        sample_weight : array of shape (n_samples,) or None
            Passed to the wrapped augmenter.
        groups : array of shape (n_samples,) or None
            Passed to the wrapped augmenter; what is learned here respects them too.

        Returns
        -------
        self
        """
        self._check_parameters()
        root = seed_sequence(self.random_state)
        seeded = with_seed(clone(self.augmenter), integer_seed(root, "augmenter"))
        self.augmenter_ = fit_augmenter(seeded, X, y, sample_weight, groups)
        target = Target.of(y, type(self).__name__)
        if target.kind == "classes":
            self.classes_: AnyArray = np.asarray(target.labels)
        self._featurizer = Featurizer().fit(X)
        codes = None if groups is None else np.asarray(groups)
        n_fits = self._learn(X, target, codes, root)
        self.n_fits_ = n_fits + getattr(self.augmenter_, "n_fits_", 0)
        return self

    @abstractmethod
    def _learn(
        self,
        X: Table,
        target: Target,
        groups: AnyArray | None,
        root: np.random.SeedSequence,
    ) -> int:
        """Learn what is added to the rows; return the number of models fitted."""


def fit_augmenter(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    sample_weight: AnyArray | None = None,
    groups: AnyArray | None = None,
) -> Any:
    """Fit an augmenter, and pass weights and groups only where there are any."""
    given = {"sample_weight": sample_weight, "groups": groups}
    return augmenter.fit(X, y, **{k: v for k, v in given.items() if v is not None})
