"""Label generated rows by models that were not fitted to their source rows."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold
from sklearn.multioutput import MultiOutputRegressor
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline

from leavezero._random import integer_seed, stream, with_seed
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment._augmenter import AugmenterWrapper, ValidationSet, is_count, some_rows

MAX_ROWS = 2_000  # for fitting the label models


class SoftLabeled(AugmenterWrapper):
    """Label an augmenter's rows by cross-fitted models.

    A row that keeps the label of its source rows rewards models for memorizing it. Here each
    generated row gets the class probabilities of a few cheap label models that were not fitted to
    its source rows, and scores use them as soft labels. Candidates of the same type as a label
    model are favored a little.

    Parameters
    ----------
    augmenter : augmenter
        Generates the rows.
    label_models : "auto" or list of estimators, default="auto"
        Classifiers with ``predict_proba``, or regressors. "auto": cheap models of different types.
    n_folds : int, default=5
        The number of folds of the cross-fitting.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the folds, the label models and the augmenter.

    Attributes
    ----------
    label_models_, label_weights_ : list of estimators and array
        The label models, not fitted, and their weights: mixture weights of maximum held-out
        likelihood for classes, by held-out squared error for regression.

    Notes
    -----
    If the source rows of a row are in several folds, it gets the mean over the models of these
    folds. The hard labels ``y`` are sampled from the probabilities. For a regression target, y is
    the prediction plus the residual of a random held-out row. Label models are fitted to at most
    2,000 training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from leavezero.augment import LabelInvariantMixup, SoftLabeled
    >>> X, y = load_iris(return_X_y=True)
    >>> augmenter = SoftLabeled(LabelInvariantMixup(), random_state=0).fit(X, y)
    >>> augmenter.sample(5, random_state=0).class_probabilities.shape
    (5, 3)
    """

    def __init__(
        self,
        augmenter: Any,
        label_models: Any = "auto",
        n_folds: int = 5,
        random_state: RandomState = None,
    ) -> None:
        self.augmenter = augmenter
        self.label_models = label_models
        self.n_folds = n_folds
        self.random_state = random_state

    def _check_parameters(self) -> None:
        self._require("n_folds", is_count(self.n_folds, least=2), "be an int of at least 2")
        models = self.label_models
        is_list = isinstance(models, list | tuple) and len(models) > 0
        is_valid = is_list or models == "auto"
        self._require("label_models", is_valid, 'be "auto" or a list of estimators')

    def _fit_models(self, X: Table, groups: Ints | None, root: np.random.SeedSequence) -> int:
        if self._target.kind == "combinations":
            raise ValueError(
                "SoftLabeled does not support several outputs of classes. Use LabelInvariantMixup."
            )
        features, n_rows = self._featurizer.transform(X), len(self._target)
        self._fitted_rows = some_rows(n_rows, MAX_ROWS, stream(root, "label model rows"))
        target = self._target.take(self._fitted_rows)
        self._fitted_classes, codes = np.unique(target.codes, return_inverse=True)
        chosen = self.label_models
        if isinstance(chosen, str):
            n_targets = 0 if target.numbers is None else target.numbers.shape[1]
            shape = len(target), features.shape[1]
            chosen = default_label_models(n_targets, sparse.issparse(features), *shape)
        self.label_models_ = list(chosen)
        groups = None if groups is None else groups[self._fitted_rows]
        seed = integer_seed(root, "label models")
        folds = make_folds(codes, target.numbers, self.n_folds, groups, seed)
        self._cross_fitted = CrossFitted.of(
            self.label_models_, features[self._fitted_rows], codes, target.numbers, folds, seed
        )
        self.label_weights_ = self._cross_fitted.weights
        return sum(map(len, self._cross_fitted.models))

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        sample = self.augmenter_.sample(n_samples, stream(root, "rows"))
        sources = sample.source_rows
        if sources is not None:  # as positions among the rows that the label models were fitted to
            position = np.full(len(self._target) + 1, -1)  # the last place is for -1 itself
            position[self._fitted_rows] = np.arange(len(self._fitted_rows))
            sources = position[sources]
        predicted = self._cross_fitted.predict(self._featurizer.transform(sample.X), sources)
        rng = stream(root, "labels")
        residuals = self._cross_fitted.residuals
        if residuals is not None:
            numbers = predicted + residuals[rng.integers(len(residuals), size=n_samples)]
            return replace(sample, y=self._target.decode(None, numbers), class_probabilities=None)
        labels = self.classes_
        probabilities = np.zeros((n_samples, len(labels)))
        probabilities[:, self._fitted_classes] = predicted / predicted.sum(axis=1, keepdims=True)
        y = labels[sample_labels(probabilities, rng)]
        return replace(sample, y=y, class_probabilities=probabilities)


@dataclass(frozen=True, eq=False)
class CrossFitted:
    """Label models, each fitted once per fold to the rows outside of it."""

    models: list[list[Any]]  # [m][f] is label model m without the rows of fold f
    weights: Floats  # of the label models
    folds: Ints  # of the training rows
    n_classes: int  # 0 for regression
    residuals: Floats | None = None  # of held-out rows, for regression

    @classmethod
    def of(
        cls,
        label_models: list[Any],
        features: Any,
        codes: Ints,
        numbers: Floats | None,
        folds: Ints,
        seed: int,
    ) -> "CrossFitted":
        """Cross-fit label models, and weight them by their held-out predictions."""
        n_classes = 0 if numbers is not None else int(codes.max()) + 1
        width = n_classes if numbers is None else numbers.shape[1]
        target: AnyArray = codes if numbers is None else numbers
        target = target[:, 0] if numbers is not None and width == 1 else target
        models: list[list[Any]] = []
        held_out = np.empty((len(label_models), len(codes), width))
        for label_model, predicted in zip(label_models, held_out, strict=True):
            models.append([])
            for fold in range(int(folds.max()) + 1):
                inside = folds != fold
                model = with_seed(clone(label_model), seed)
                with _no_warnings():
                    model.fit(features[inside], target[inside])
                predicted[~inside] = _predict(model, features[~inside], n_classes)
                models[-1].append(model)
        if numbers is None:
            return cls(models, classifier_weights(held_out, codes), folds, n_classes)
        weights = regressor_weights(held_out, numbers)
        residuals = numbers - np.tensordot(weights, held_out, axes=1)
        return cls(models, weights, folds, 0, residuals)

    def predict(self, features: Any, source_rows: Ints | None) -> Floats:
        """Return the weighted mean prediction of the models that left out a source row, or all."""
        n_rows, n_folds = features.shape[0], len(self.models[0])
        used = np.ones((n_rows, n_folds), dtype=bool)
        if source_rows is not None:
            known = source_rows >= 0
            rows = np.broadcast_to(np.arange(n_rows)[:, None], source_rows.shape)
            used[:] = False
            used[rows[known], self.folds[source_rows[known]]] = True
            used[~known.any(axis=1)] = True
        width = self.n_classes if self.residuals is None else self.residuals.shape[1]
        total = np.zeros((n_rows, width))
        for fold in range(n_folds):
            rows = np.flatnonzero(used[:, fold])
            if len(rows):
                predicted = [
                    weight * _predict(models[fold], features[rows], self.n_classes)
                    for weight, models in zip(self.weights, self.models, strict=True)
                ]
                total[rows] += np.sum(predicted, axis=0) / used[rows].sum(axis=1, keepdims=True)
        return total


def default_label_models(n_targets: int, is_sparse: bool, n_rows: int, n_columns: int) -> list[Any]:
    """Return cheap models of different types; ``n_targets`` is 0 for classes."""
    n_neighbors = int(np.clip(round(np.sqrt(n_rows) / 2), 3, 15))
    kernel = Nystroem(gamma=1.0 / n_columns, n_components=min(100, max(10, n_rows // 3)))
    if n_targets:
        boosting = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=8)
        regressors = [
            RidgeCV(np.logspace(-2, 4, 7)),
            KNeighborsRegressor(n_neighbors, weights="distance"),
            make_pipeline(kernel, RidgeCV(np.logspace(-3, 2, 6))),
            ExtraTreesRegressor(60, min_samples_leaf=2),
            MultiOutputRegressor(boosting) if n_targets > 1 else boosting,
        ]
        return regressors[:2] if is_sparse else regressors
    if is_sparse:
        return [
            LogisticRegression(C=1.0, max_iter=200),
            LogisticRegression(C=30.0, max_iter=200),
            KNeighborsClassifier(n_neighbors, weights="distance"),
            BernoulliNB(),
        ]
    return [
        LogisticRegression(C=0.3, max_iter=200),
        LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto"),
        KNeighborsClassifier(n_neighbors, weights="distance"),
        make_pipeline(kernel, LogisticRegression(C=10.0, max_iter=200)),
        ExtraTreesClassifier(60, min_samples_leaf=2),
        HistGradientBoostingClassifier(max_iter=30, max_leaf_nodes=8, min_samples_leaf=10),
        GaussianNB(var_smoothing=1e-2),
    ]


def classifier_weights(held_out: Floats, codes: Ints, n_rounds: int = 100) -> Floats:
    """Return the mixture weights of maximum held-out likelihood, by EM with fixed components."""
    # Hardly regularized: an equal mixture would be smoother and favor smooth candidates.
    likelihood = held_out[:, np.arange(len(codes)), codes]
    weights = np.full(len(held_out), 1.0 / len(held_out))
    for _ in range(n_rounds):
        joint = weights[:, None] * likelihood
        counts = (joint / joint.sum(axis=0)).sum(axis=1) + 0.01
        weights = counts / counts.sum()
    return weights


def regressor_weights(held_out: Floats, numbers: Floats) -> Floats:
    """Return weights in proportion to the inverse square of the held-out squared error."""
    errors = np.mean((held_out - numbers) ** 2, axis=(1, 2)) + 1e-300
    weights = (errors.min() / errors) ** 2
    return weights / weights.sum()


def sample_labels(probabilities: Floats, rng: np.random.Generator) -> Ints:
    """Sample one class per row from its class probabilities."""
    steps = np.cumsum(probabilities, axis=1)
    marks = rng.random((len(probabilities), 1)) * steps[:, -1:]
    return np.minimum((marks > steps).sum(axis=1), probabilities.shape[1] - 1)


def make_folds(
    codes: Ints, numbers: Floats | None, n_folds: int, groups: Ints | None, seed: int
) -> Ints:
    """Return the fold of each row: whole groups, or stratified by class."""
    folds = np.zeros(len(codes), dtype=np.intp)
    n_groups = 0 if groups is None else len(np.unique(groups))
    fewest = int(np.bincount(codes).min())  # rows of a class
    splitter: Any = KFold(min(n_folds, len(codes)), shuffle=True, random_state=seed)
    if n_groups >= 2:
        splitter = GroupKFold(min(n_folds, n_groups))
    elif numbers is None and fewest >= 2:
        splitter = StratifiedKFold(min(n_folds, fewest), shuffle=True, random_state=seed)
    for fold, (_, rows) in enumerate(splitter.split(folds, codes, groups)):
        folds[rows] = fold
    return folds


def _predict(model: Any, features: Any, n_classes: int) -> Floats:
    """Return the probabilities of all classes, also of those that a fold lacks, or numbers."""
    with _no_warnings():
        if not n_classes:
            numbers = np.asarray(model.predict(features), dtype=np.float64)
            return numbers.reshape(features.shape[0], -1)
        known = np.nan_to_num(model.predict_proba(features))
    probabilities = np.zeros((features.shape[0], n_classes))
    probabilities[:, model.classes_] = known
    probabilities += 1e-3 / n_classes  # avoids zero likelihoods
    return probabilities / probabilities.sum(axis=1, keepdims=True)


@contextmanager
def _no_warnings() -> Iterator[None]:
    """Suppress the warnings of models that the user did not choose; poor ones get small weights."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield
