"""Augmenters for training data of which only some rows have a label."""

import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier

from leavezero._random import integer_seed, seed_sequence, stream, with_seed
from leavezero._tables import Featurizer, plain, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, RandomState, Table
from leavezero.augment._augmenter import (
    BaseAugmenter,
    Target,
    ValidationSet,
    fit_clone,
    takes_unlabeled,
)

UNKNOWN = -1  # the code of a row without a label
N_NEIGHBORS = 7


class _PartlyLabeledAugmenter(BaseAugmenter):
    """Base class of augmenters for a target with a marker of rows without a label."""

    unlabeled: Any

    def _encode_target(self, y: AnyArray) -> Target:
        """Return the target of the labeled rows."""
        owner, labels = type(self).__name__, np.asarray(y)
        self._labeled = labeled_rows(labels, self.unlabeled, owner)
        target = Target.of(labels[self._labeled], owner)
        if target.kind != "classes":
            raise ValueError(f"{owner} requires one column of classes as y.")
        return target


class LabeledOnly(_PartlyLabeledAugmenter):
    """Generate the validation set from the labeled rows only.

    Parameters
    ----------
    augmenter : augmenter
        Generates the rows.
    unlabeled : object, default=-1
        The value in y of rows without a label.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the augmenter.

    Attributes
    ----------
    augmenter_ : augmenter
        The fitted augmenter.
    n_fits_ : int
        The number of models that were fitted to label or weight rows.

    Examples
    --------
    >>> from leavezero.augment import LabeledOnly, LabelInvariantMixup
    >>> X, y = [[0.0], [1.0], [9.0], [10.0], [5.0]], [0, 0, 1, 1, -1]
    >>> validation_set = LabeledOnly(LabelInvariantMixup()).fit(X, y).sample(4, random_state=0)
    >>> sorted(set(validation_set.y.tolist())), bool((validation_set.source_rows == 4).any())
    ([0, 1], False)
    """

    def __init__(
        self, augmenter: Any, unlabeled: Any = -1, random_state: RandomState = None
    ) -> None:
        self.augmenter = augmenter
        self.unlabeled = unlabeled
        self.random_state = random_state

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        rows = np.flatnonzero(self._labeled)
        seed = integer_seed(seed_sequence(self.random_state), "augmenter")
        X = take_rows(X if hasattr(X, "shape") else np.asarray(X), rows)
        weight = None if weight is None else weight[rows]
        groups = None if groups is None else groups[rows]
        self.augmenter_ = fit_clone(
            self.augmenter, X, np.asarray(y)[rows], weight, groups, seed=seed
        )
        self.n_fits_ = getattr(self.augmenter_, "n_fits_", 0)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = self.augmenter_.sample(n_samples, stream(root, "rows"))
        if sample.source_rows is None:
            return sample
        sources = np.flatnonzero(self._labeled)[sample.source_rows]
        return replace(sample, source_rows=np.where(sample.source_rows < 0, -1, sources))


class PseudoLabeled(_PartlyLabeledAugmenter):
    """Generate the validation set from labeled rows and from rows with pseudo labels.

    The pseudo label of a row is its most probable class (Li et al. 2020, Remark 1), by the mean of
    a few label models, which should not be candidates. Generated rows are weighted by the mean
    probability of the labels of their source rows; an augmenter without source rows is fitted with
    these weights.

    Parameters
    ----------
    augmenter : augmenter
        Generates the rows, from all rows with their labels or pseudo labels.
    labeler : "auto", "spreading", "self-training", "neighbors", estimator or list, default="auto"
        The label models: label spreading over the seven nearest neighbors, self-training with
        logistic regression, the nearest labeled row (all three for "auto"), or classifiers.
    prior : "labeled" or array of shape (n_classes,), default="labeled"
        The share of each class in the validation set, in the order of the sorted classes.
    unlabeled : object, default=-1
        The value in y of rows without a label.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the label models and of the augmenter.

    Attributes
    ----------
    pseudo_labels_, confidence_ : arrays of shape (n_samples,)
        The label or pseudo label of each training row, and its probability.
    pseudo_share_ : float
        The share of the rows' weight that has a pseudo label.
    label_models_, label_weights_ : list of estimators and array
        The label models, not fitted, and their weights.
    augmenter_, n_fits_
        As of :class:`LabeledOnly`.

    Examples
    --------
    >>> from leavezero.augment import LabelInvariantMixup, PseudoLabeled
    >>> X, y = [[0.0], [1.0], [2.0], [9.0], [10.0], [11.0]], [0, -1, -1, 1, -1, -1]
    >>> PseudoLabeled(LabelInvariantMixup(), "neighbors").fit(X, y).pseudo_labels_
    array([0, 0, 0, 1, 1, 1])
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

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        root = seed_sequence(self.random_state)
        self._shares = self._class_shares()
        self.label_models_ = self._resolve_labelers(len(self._labeled))
        self.label_weights_ = np.full(len(self.label_models_), 1.0 / len(self.label_models_))
        probabilities = self._class_probabilities(X, integer_seed(root, "labelers"))
        codes = probabilities.argmax(axis=1)
        self.pseudo_labels_ = self.classes_[codes]
        self.confidence_ = probabilities[np.arange(len(codes)), codes]
        pseudo = self.confidence_[~self._labeled].sum()
        self.pseudo_share_ = float(pseudo / self.confidence_.sum())
        fit = partial(fit_clone, self.augmenter, X, self.pseudo_labels_, groups=groups)
        seed = integer_seed(root, "augmenter")
        self.augmenter_ = fit(weight=weight, seed=seed)
        probe = self.augmenter_.sample(1, stream(root, "probe"))
        self._has_sources = probe.source_rows is not None
        if not self._has_sources and np.any(self.confidence_ < 1.0):
            weight = self.confidence_ * (1.0 if weight is None else weight)
            self.augmenter_ = fit(weight=weight, seed=seed)
        n_labelers = 0 if self._labeled.all() else len(self.label_models_)
        self.n_fits_ = getattr(self.augmenter_, "n_fits_", 0) + n_labelers

    def _class_probabilities(self, X: Table, seed: int) -> Floats:
        """Return the class probabilities of all rows: 0 and 1 for labeled rows."""
        known, n_classes = self._labeled, len(self.classes_)
        codes = np.full(len(known), UNKNOWN)
        codes[known] = self._target.codes
        probabilities = np.zeros((len(known), n_classes))
        if not known.all():
            features = Featurizer().fit(X).transform(X)
            features = features.tocsr() if sparse.issparse(features) else features
            predicted = mean_probabilities(self.label_models_, features, codes, n_classes, seed)
            probabilities[~known] = with_marginal(predicted[~known], self._shares)
        probabilities[known] = np.eye(n_classes)[codes[known]]
        return probabilities

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = self.augmenter_.sample(n_samples, stream(root, "rows"))
        weights = np.ones(n_samples) if sample.sample_weight is None else sample.sample_weight
        if self._has_sources:
            weights = weights * sample.source_means(self.confidence_)
        codes = np.searchsorted(self.classes_, sample.y)
        totals = np.bincount(codes, weights, minlength=len(self.classes_))
        factors = np.where(totals > 0, self._shares / np.where(totals > 0, totals, 1.0), 0.0)
        return replace(sample, sample_weight=weights * factors[codes] * n_samples)

    def _resolve_labelers(self, n_rows: int) -> list[Any]:
        chosen, known = self.labeler, default_labelers(n_rows)
        if isinstance(chosen, str) and chosen in (*known, "auto"):
            return list(known.values()) if chosen == "auto" else [known[chosen]]
        if isinstance(chosen, list | tuple) and chosen:
            return list(chosen)
        names = ", ".join(map(repr, known))
        is_classifier = hasattr(chosen, "fit") and hasattr(chosen, "predict_proba")
        requirement = f'be "auto", one of {names}, or a classifier with predict_proba'
        self._require("labeler", is_classifier, requirement)
        return [chosen]

    def _class_shares(self) -> Floats:
        if isinstance(self.prior, str) and self.prior == "labeled":
            return np.bincount(self._target.codes) / len(self._target)
        shares, classes = np.asarray(self.prior), self.classes_.tolist()
        is_valid = shares.shape == (len(classes),) and all(share > 0 for share in shares)
        which = f"{len(classes)} positive shares in the order of the classes {classes}"
        self._require("prior", is_valid, f'be "labeled" or {which}')
        return np.asarray(shares / shares.sum())


def default_labelers(n_rows: int) -> dict[str, Any]:
    """Return label models of different types by name."""
    n_neighbors = min(N_NEIGHBORS, max(1, n_rows - 1))
    return {
        "spreading": LabelSpreading(kernel="knn", n_neighbors=n_neighbors, alpha=0.8, max_iter=100),
        "self-training": SelfTrainingClassifier(LogisticRegression(max_iter=200)),
        "neighbors": KNeighborsClassifier(1),
    }


def mean_probabilities(
    labelers: Sequence[Any], features: Any, codes: Ints, n_classes: int, seed: int
) -> Floats:
    """Fit the label models and return the mean of their class probabilities."""
    return np.mean([_probabilities(m, features, codes, n_classes, seed) for m in labelers], axis=0)


def _probabilities(labeler: Any, features: Any, codes: Ints, n_classes: int, seed: int) -> Floats:
    model = with_seed(clone(labeler), seed)
    known = codes != UNKNOWN
    rows = np.arange(len(codes)) if takes_unlabeled(model) else np.flatnonzero(known)
    if isinstance(model, KNeighborsClassifier):
        model.set_params(n_neighbors=min(model.n_neighbors, int(known.sum())))
    probabilities = np.zeros((len(codes), n_classes))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the user did not choose these models
        model.fit(features[rows], codes[rows])
        probabilities[:, model.classes_] = np.nan_to_num(model.predict_proba(features))
    # Label propagation gives zeros to parts of the graph without any labeled row.
    probabilities[probabilities.sum(axis=1) <= 0] = 1.0 / n_classes
    return probabilities / probabilities.sum(axis=1, keepdims=True)


def with_marginal(probabilities: Floats, shares: Floats, n_rounds: int = 50) -> Floats:
    """Return class probabilities whose mean over rows is the given share of each class.

    Columns are scaled and rows normalized in turn (iterative proportional fitting), which keeps
    the order of rows within a class.
    """
    scaled = np.maximum(probabilities, 1e-6)
    for _ in range(n_rounds):
        scaled = scaled * (shares / scaled.mean(axis=0))
        scaled = scaled / scaled.sum(axis=1, keepdims=True)
    return scaled


def labeled_rows(target: AnyArray, unlabeled: Any, owner: str) -> Bools:
    """Return a mask of the labeled rows; raise a ValueError unless they have two classes."""
    if unlabeled != unlabeled:  # NaN
        known = np.array([value == value for value in target], dtype=bool)
    else:
        known = np.array([plain(value) != unlabeled for value in target], dtype=bool)
    check_labels(target[known], unlabeled, owner)
    return known


def check_labels(labels: AnyArray, unlabeled: Any, owner: str) -> None:
    """Raise a ValueError unless labels, without the marker, have at least two classes."""
    if len(labels) == 0:
        raise ValueError(
            f"y given to {owner} has no labeled row: all are {unlabeled!r}. Label at least one "
            "row of each class."
        )
    if len(np.unique(labels)) < 2:
        raise ValueError(
            f"The labeled rows given to {owner} have one class only, {plain(labels[0])!r}. "
            "Label rows of at least two classes."
        )
