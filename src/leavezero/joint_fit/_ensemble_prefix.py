"""Ensembles that differ in their number of members or iterations: the largest is fitted once.

Given a seed, an ensemble of k members is the first k members of any larger one, also with early
stopping: the iteration at which a fit stops does not depend on how many were allowed.
"""

from collections.abc import Hashable
from itertools import islice
from typing import Any

import numpy as np
from sklearn import ensemble
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.utils import check_array

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    Predictions,
    copy_fitted_attributes,
    fit_plainly,
    is_count,
    is_seed,
    params_key,
    predict_in_blocks,
)

FORESTS = (
    ensemble.RandomForestClassifier,
    ensemble.RandomForestRegressor,
    ensemble.ExtraTreesClassifier,
    ensemble.ExtraTreesRegressor,
)
BAGGING = (ensemble.BaggingClassifier, ensemble.BaggingRegressor)
BOOSTING = (
    ensemble.GradientBoostingClassifier,
    ensemble.GradientBoostingRegressor,
    ensemble.AdaBoostClassifier,
    ensemble.AdaBoostRegressor,
)
PER_MEMBER = (
    "estimators_",
    "estimators_features_",
    "estimator_weights_",
    "estimator_errors_",
    "train_score_",
    "oob_improvement_",
    "oob_scores_",
    "_seeds",  # of bagging, which has no public attribute to set estimators_samples_ by
)


class EnsemblePrefix(JointFit):
    """Forests, bagging, gradient boosting and AdaBoost along ``n_estimators``.

    Models equal plain fits bit for bit and share the members. Predictions equal theirs bit for bit
    if ``n_jobs`` is 1 (with threads, the order of the sum is not fixed).
    """

    name = "ensemble prefix"
    estimator_types = (*FORESTS, *BAGGING, *BOOSTING)
    along = "n_estimators"
    one_model = True

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the number of members."""
        # An out-of-bag score would have to be computed for each size.
        extra = getattr(estimator, "oob_score", False) or getattr(estimator, "warm_start", False)
        if extra or not is_seed(estimator.random_state) or not is_count(estimator.n_estimators):
            return None
        return params_key(estimator, self.along)

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit the largest ensemble; the others consist of its first members."""
        largest = fit_plainly(max(estimators, key=self.order), X, y, sample_weight)
        for estimator in estimators:
            if estimator is not largest:
                _copy_first_members(largest, estimator)
        return JointlyFitted(estimators, shared=largest)

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return predictions from one pass through the members of the largest ensemble."""
        largest = fitted.shared
        sizes = [len(model.estimators_) for model in fitted.models]
        if type(largest) is ensemble.AdaBoostClassifier:
            return staged_predictions(largest, sizes, X, method)
        # GradientBoosting passes through all trees at once in compiled code, and AdaBoostRegressor
        # takes a median over all members for each size: neither is faster by stages.
        if type(largest) in BOOSTING or getattr(largest, "n_outputs_", 1) > 1:
            return None
        if method not in ("predict", "predict_proba"):
            return None
        averages = predict_in_blocks(lambda rows: _averages(largest, sizes, rows), X)
        if method == "predict_proba" or not hasattr(largest, "classes_"):
            return averages
        return [largest.classes_.take(average.argmax(axis=1)) for average in averages]


def staged_predictions(model: Any, sizes: list[int], X: Table, method: str) -> Predictions | None:
    """Return the predictions of the first members of a boosted model, for each number of them."""
    staged = getattr(model, f"staged_{method}", None)
    if staged is None:
        return None

    def predict_block(rows: Table) -> list[AnyArray]:
        stages = islice(staged(rows), max(sizes))
        found = {
            size: np.array(values)  # the next stage may update the array
            for size, values in enumerate(stages, start=1)
            if size in sizes
        }
        return [found[size] for size in sizes]

    return predict_in_blocks(predict_block, X)


def _copy_first_members(largest: Any, estimator: Any) -> None:
    """Give an ensemble the first members of a larger one."""
    size = estimator.n_estimators
    learned = vars(largest)
    first = {name: learned[name][:size].copy() for name in PER_MEMBER if name in learned}
    if "n_estimators_" in learned:  # of gradient boosting
        first["n_estimators_"] = len(first["estimators_"])
    if "oob_score_" in learned:
        first["oob_score_"] = first["oob_scores_"][-1]
    copy_fitted_attributes(largest, estimator, **first)


def _averages(model: Any, sizes: list[int], X: Table) -> list[Floats]:
    """Return the mean over the first members for each size, summed in the order of the members."""
    dtype = np.float32 if type(model) in FORESTS else None  # as trees take it
    rows = check_array(X, accept_sparse="csr", dtype=dtype, ensure_all_finite=False)
    total: Any = 0.0
    found = {}
    for index in range(max(sizes)):
        total = total + member_values(model, index, rows)
        if index + 1 in sizes:
            found[index + 1] = total / (index + 1)
    return [found[size] for size in sizes]


def member_values(model: Any, index: int, rows: Any) -> Floats:
    """Return one member's probabilities, with a column per class of the ensemble, or values."""
    member = model.estimators_[index]
    method = "predict_proba" if hasattr(model, "classes_") else "predict"
    if type(model) in FORESTS:
        return np.asarray(getattr(member, method)(rows, check_input=index == 0))
    columns = rows[:, model.estimators_features_[index]]
    if method == "predict":
        return np.asarray(member.predict(columns))
    n_classes = len(model.classes_)  # members are fitted to class indices
    if not hasattr(member, "predict_proba"):
        return np.asarray(np.eye(n_classes)[np.asarray(member.predict(columns), dtype=np.intp)])
    values = np.zeros((rows.shape[0], n_classes))
    values[:, np.asarray(member.classes_, dtype=np.intp)] = member.predict_proba(columns)
    return values


class HistBoosting(JointFit):
    """HistGradientBoostingClassifier and HistGradientBoostingRegressor along ``max_iter``.

    scikit-learn has no public way to truncate a fitted model, so models with fewer iterations are
    provisional; their predictions equal those of plain fits.
    """

    name = "histogram boosting"
    estimator_types = (
        ensemble.HistGradientBoostingClassifier,
        ensemble.HistGradientBoostingRegressor,
    )
    along = "max_iter"
    one_model = True

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the number of iterations."""
        if not is_seed(estimator.random_state) or not is_count(estimator.max_iter):
            return None
        return None if estimator.warm_start else params_key(estimator, self.along)

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit the model with most iterations; the others predict with its first ones."""
        largest = fit_plainly(max(estimators, key=self.order), X, y, sample_weight)
        models: list[Any] = []
        for estimator in estimators:
            if estimator.max_iter < largest.n_iter_:
                classifier = hasattr(largest, "classes_")
                first = FirstIterationsClassifier if classifier else FirstIterationsRegressor
                models.append(first(largest, int(estimator.max_iter)))
                continue
            if estimator is not largest:  # as large, or the fit stopped before this size
                copy_fitted_attributes(largest, estimator)
            models.append(estimator)
        provisional = tuple(isinstance(model, FirstIterations) for model in models)
        return JointlyFitted(models, shared=largest, provisional=provisional)

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return predictions from one pass through the iterations of the largest model."""
        sizes = [model.n_iter_ for model in fitted.models]
        return staged_predictions(fitted.shared, sizes, X, method)


class FirstIterations(BaseEstimator):
    """The first iterations of a fitted histogram boosting model, as a model that only predicts."""

    def __init__(self, model: Any, max_iter: int) -> None:
        self.model = model
        self.max_iter = max_iter

    @property
    def n_iter_(self) -> int:
        return self.max_iter

    @property
    def n_features_in_(self) -> int:
        return self.model.n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Table, y: AnyArray) -> Any:
        """Raise an error; scikit-learn requires the method in the last step of a pipeline."""
        raise NotImplementedError("FirstIterations only predicts; fit a plain estimator instead.")

    def predict(self, X: Table) -> AnyArray:
        return self._last_stage(self.model.staged_predict(X))

    def _last_stage(self, stages: Any) -> AnyArray:
        return next(islice(stages, self.max_iter - 1, None))


class FirstIterationsClassifier(ClassifierMixin, FirstIterations):
    """The first iterations of a classifier."""

    @property
    def classes_(self) -> AnyArray:
        return self.model.classes_

    def predict_proba(self, X: Table) -> Floats:
        return self._last_stage(self.model.staged_predict_proba(X))

    def decision_function(self, X: Table) -> Floats:
        return self._last_stage(self.model.staged_decision_function(X))


class FirstIterationsRegressor(RegressorMixin, FirstIterations):
    """The first iterations of a regressor."""


def type_name(model: Any) -> str:
    """Return the name of a model's class, also if the model has its first iterations only."""
    return type(model.model if isinstance(model, FirstIterations) else model).__name__
