"""New rows drawn from given ones of which only some have a label."""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from leavezero._random import integer_seed, seed_sequence, stream, with_seed
from leavezero._tables import Featurizer, plain, take_rows
from leavezero._typing import AnyArray, Bools, Floats, RandomState, Table
from leavezero.augment._around import fit_augmenter
from leavezero.augment._base import BaseAugmenter
from leavezero.augment._labelers import (
    UNKNOWN,
    as_dense_or_csr,
    default_labelers,
    mean_opinion,
    with_marginal,
)
from leavezero.augment._validation_set import ValidationSet


class PseudoLabeled(BaseAugmenter):
    """Draw V from labelled rows and from rows that other models have labelled.

    Where a label is not known, a pseudo label stands in for it (Li et al. 2020, Remark 1): the
    most probable class by the mean word of a few ordinary models, none of which should be a
    candidate. Labelled rows keep their label. How sure the models are becomes the weight of a
    row: of a new row the mean of its origins', or, where the augmenter knows none, the weight by
    which it learns.

    Parameters
    ----------
    augmenter : augmenter
        What draws the rows, from all rows with their labels or pseudo labels.
    labeler : "auto", "spreading", "self-training", "neighbors", estimator or list, default="auto"
        Who labels: label spreading over the seven nearest neighbours, self-training with logistic
        regression, the nearest labelled row, or classifiers with ``predict_proba``, whose mean is
        taken. "auto" is all three. Estimators that learn from rows marked -1 see all rows, others
        the labelled ones.
    prior : "labeled" or array of shape (n_classes,), default="labeled"
        The share of each class among V's rows: that of the labelled rows, or as given, in the
        order of the sorted classes.
    unlabeled : object, default=-1
        What marks a row without a label in y.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the labelers and the augmenter.

    Attributes
    ----------
    augmenter_ : augmenter
        What draws the rows, fitted.
    pseudo_labels_ : array of shape (n_samples,)
        The label of each given row, pseudo where it had none.
    confidence_ : array of shape (n_samples,)
        The probability of that label; 1 where it was given.
    pseudo_share_ : float
        How much of the given rows' weight has a pseudo label.
    teachers_, shares_ : list of estimators and array
        Who labelled the rows, and how much the word of each counts.
    classes_ : array of shape (n_classes,)
        The classes of labelled rows, sorted.
    n_fits_ : int
        The number of models fitted.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from leavezero.augment import LabelInvariantMixup, PseudoLabeled
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> few = np.where(np.arange(200) < 10, y, -1)
    >>> augmenter = PseudoLabeled(LabelInvariantMixup(), random_state=0).fit(X, few)
    >>> bool(np.mean(augmenter.pseudo_labels_ == y) > 0.8), len(augmenter.sample(50, 0))
    (True, 50)
    """

    def __init__(
        self,
        augmenter: Any,
        labeler: Any = "auto",
        prior: Any = "labeled",
        unlabeled: Any = -1,
        random_state: RandomState = None,
    ) -> None:
        self.augmenter = augmenter
        self.labeler = labeler
        self.prior = prior
        self.unlabeled = unlabeled
        self.random_state = random_state

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Label the rows, and fit the augmenter to all of them.

        Parameters
        ----------
        X : array, frame, sparse matrix or sequence of strings
            The features, as far as the augmenter takes them.
        y : array of shape (n_samples,)
            The classes, and the marker in rows without one.
        sample_weight : array of shape (n_samples,) or None
            Multiplied with the confidence.
        groups : array of shape (n_samples,) or None
            Passed to the augmenter.

        Returns
        -------
        self
        """
        root = seed_sequence(self.random_state)
        target = np.asarray(y)
        known = labeled_rows(target, self.unlabeled, "PseudoLabeled")
        self.classes_: AnyArray = np.unique(target[known])
        self._shares = self._prior(target[known])
        labelers = self.teachers_ = self._labelers(len(target))
        self.shares_ = np.full(len(labelers), 1.0 / len(labelers))
        posterior = self._posterior(X, target, known, labelers, root)
        codes = posterior.argmax(axis=1)
        self.pseudo_labels_ = self.classes_[codes]
        self.confidence_ = posterior[np.arange(len(codes)), codes]
        self.pseudo_share_ = float(self.confidence_[~known].sum() / self.confidence_.sum())
        self._fit_inner(X, sample_weight, groups, root)
        self.n_fits_ = getattr(self.augmenter_, "n_fits_", 0) + (
            0 if known.all() else len(labelers)
        )
        return self

    def _posterior(
        self,
        X: Table,
        target: AnyArray,
        known: Bools,
        labelers: list[Any],
        root: np.random.SeedSequence,
    ) -> Floats:
        """Return class probabilities of all rows: certain where a label was given."""
        codes = np.full(len(target), UNKNOWN)
        codes[known] = np.searchsorted(self.classes_, target[known])
        posterior = np.zeros((len(target), len(self.classes_)))
        if not known.all():
            features = as_dense_or_csr(Featurizer().fit(X).transform(X))
            said = mean_opinion(
                labelers, features, codes, len(self.classes_), integer_seed(root, "labelers")
            )
            posterior[~known] = with_marginal(said[~known], self._shares)
        posterior[known] = np.eye(len(self.classes_))[codes[known]]
        return posterior

    def _fit_inner(
        self,
        X: Table,
        sample_weight: AnyArray | None,
        groups: AnyArray | None,
        root: np.random.SeedSequence,
    ) -> None:
        """Fit the augmenter; one whose rows have no origins learns by weight."""
        seeded = with_seed(clone(self.augmenter), integer_seed(root, "augmenter"))
        given = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        fitted = fit_augmenter(seeded, X, self.pseudo_labels_, given, groups)
        self._by_origin = fitted.sample(1, stream(root, "glance")).origins is not None
        if not self._by_origin and np.any(self.confidence_ < 1.0):
            weights = self.confidence_ if given is None else self.confidence_ * given
            fitted = fit_augmenter(seeded, X, self.pseudo_labels_, weights, groups)
        self.augmenter_ = fitted

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        drawn = self.augmenter_.sample(n_samples, stream(root, "rows"))
        weights = np.ones(n_samples) if drawn.sample_weight is None else drawn.sample_weight
        if self._by_origin and drawn.origins is not None:
            weights = weights * drawn.origin_means(self.confidence_)
        codes = np.searchsorted(self.classes_, drawn.y)
        totals = np.bincount(codes, weights, minlength=len(self.classes_))
        factors = np.where(totals > 0, self._shares / np.where(totals > 0, totals, 1.0), 0.0)
        return replace(drawn, sample_weight=weights * factors[codes] * n_samples)

    def _labelers(self, n_rows: int) -> list[Any]:
        known = default_labelers(n_rows)
        chosen = self.labeler
        if isinstance(chosen, str):
            if chosen == "auto":
                return list(known.values())
            if chosen in known:
                return [known[chosen]]
        elif isinstance(chosen, list | tuple) and chosen:
            return list(chosen)
        elif hasattr(chosen, "fit") and hasattr(chosen, "predict_proba"):
            return [chosen]
        raise ValueError(
            f'labeler of PseudoLabeled must be "auto", one of {", ".join(map(repr, known))}, or a '
            f"classifier with predict_proba, got {chosen!r}."
        )

    def _prior(self, labels: AnyArray) -> Floats:
        """Return the share of each class."""
        if isinstance(self.prior, str) and self.prior == "labeled":
            return np.unique(labels, return_counts=True)[1] / len(labels)
        shares = np.asarray(self.prior, dtype=np.float64) if np.ndim(self.prior) == 1 else None
        if shares is None or len(shares) != len(self.classes_) or np.any(shares <= 0):
            raise ValueError(
                f'prior of PseudoLabeled must be "labeled" or {len(self.classes_)} positive shares '
                f"in the order of the classes {self.classes_.tolist()}, got {self.prior!r}."
            )
        return np.asarray(shares / shares.sum())


class LabeledOnly(BaseAugmenter):
    """Draw V from the labelled rows alone.

    Parameters
    ----------
    augmenter : augmenter
        What draws the rows.
    unlabeled : object, default=-1
        What marks a row without a label in y.
    random_state : int, RandomState, Generator or None, default=None
        Seeds the augmenter.

    Attributes
    ----------
    augmenter_ : augmenter
        What draws the rows, fitted to the labelled ones.
    classes_ : array of shape (n_classes,)
        Their classes, sorted.
    n_fits_ : int
        The number of models that the augmenter fitted.

    Examples
    --------
    >>> from leavezero.augment import LabeledOnly, LabelInvariantMixup
    >>> X, y = [[0.0], [1.0], [9.0], [10.0], [5.0]], [0, 0, 1, 1, -1]
    >>> V = LabeledOnly(LabelInvariantMixup()).fit(X, y).sample(4, random_state=0)
    >>> sorted(set(V.y.tolist())), bool((V.origins == 4).any())
    ([0, 1], False)
    """

    def __init__(
        self, augmenter: Any, unlabeled: Any = -1, random_state: RandomState = None
    ) -> None:
        self.augmenter = augmenter
        self.unlabeled = unlabeled
        self.random_state = random_state

    def fit(
        self,
        X: Table,
        y: AnyArray,
        *,
        sample_weight: AnyArray | None = None,
        groups: AnyArray | None = None,
    ) -> Self:
        """Fit the augmenter to the labelled rows; the parameters are those of any augmenter."""
        root = seed_sequence(self.random_state)
        target = np.asarray(y)
        self._rows = np.flatnonzero(labeled_rows(target, self.unlabeled, "LabeledOnly"))
        weights, own = (
            None if part is None else np.asarray(part)[self._rows]
            for part in (sample_weight, groups)
        )
        seeded = with_seed(clone(self.augmenter), integer_seed(root, "augmenter"))
        table = X if hasattr(X, "shape") else np.asarray(X)
        self.augmenter_ = fit_augmenter(
            seeded, take_rows(table, self._rows), target[self._rows], weights, own
        )
        self.classes_: AnyArray = np.unique(target[self._rows])
        self.n_fits_ = getattr(self.augmenter_, "n_fits_", 0)
        return self

    def _draw(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        drawn = self.augmenter_.sample(n_samples, stream(root, "rows"))
        if drawn.origins is None:
            return drawn
        return replace(drawn, origins=np.where(drawn.origins < 0, -1, self._rows[drawn.origins]))


def labeled_rows(target: AnyArray, unlabeled: Any, owner: str) -> Bools:
    """Return which rows have a label; raise if none has, or all have the same.

    Parameters
    ----------
    target : array of shape (n_samples,)
        The labels, and the marker where there is none.
    unlabeled : object
        The marker of a row without a label.
    owner : str
        Who asks, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import labeled_rows
    >>> labeled_rows(np.array([0, -1, 1]), -1, "a search")
    array([ True, False,  True])
    """
    known = np.asarray([not _is(plain(value), unlabeled) for value in target], dtype=bool)
    check_labels(target[known], unlabeled, owner)
    return known


def _is(value: Any, marker: Any) -> bool:
    """Tell whether a value is the marker, which may be NaN, equal to nothing."""
    return bool(value == marker or (value != value and marker != marker))


def check_labels(labels: AnyArray, unlabeled: Any, owner: str) -> None:
    """Raise if the labels of the rows that have one are none, or all the same.

    Parameters
    ----------
    labels : array of shape (n_labels,)
        The labels, without the marker.
    unlabeled : object
        The marker of a row without a label, for messages.
    owner : str
        Who asks, for messages.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import check_labels
    >>> check_labels(np.array([0, 1]), -1, "a search")
    """
    if len(labels) == 0:
        raise ValueError(
            f"y given to {owner} has no labelled row: all are {unlabeled!r}. Label at least one "
            "row of each class."
        )
    if len(np.unique(labels)) < 2:
        raise ValueError(
            f"The labelled rows given to {owner} have one class only, {plain(labels[0])!r}. "
            "Label rows of at least two classes."
        )
