"""Histogram boosting along ``max_iter``: the model with most iterations is fitted once."""

from collections.abc import Hashable, Mapping
from itertools import islice
from typing import Any

from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._ensemble_prefix import staged_predictions
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    copy_fitted_attributes,
    fit_plainly,
    is_count,
    is_seed,
    params_key,
)


class HistBoosting(JointFit):
    """HistGradientBoostingClassifier and HistGradientBoostingRegressor along ``max_iter``.

    Given a seed, k iterations are the first k of any larger number. This includes early stopping:
    the split into training and validation rows and the iteration at which a fit stops do not
    depend on ``max_iter``. scikit-learn has no public way to truncate a fitted model, so models
    with fewer iterations are provisional; their predictions equal those of plain fits.
    """

    name = "histogram boosting"
    estimator_types = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
    along = "max_iter"

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
                kind = _FIRST_ITERATIONS[type(largest)]
                models.append(kind(largest, int(estimator.max_iter)))
                continue
            if estimator is not largest:  # as large, or the fit stopped before this size
                copy_fitted_attributes(largest, estimator)
            models.append(estimator)
        provisional = tuple(isinstance(model, FirstIterations) for model in models)
        return JointlyFitted(models, shared=largest, provisional=provisional)

    def predict(self, fitted: JointlyFitted, X: Table) -> list[Mapping[str, AnyArray]]:
        """Return predictions from one pass through the iterations of the largest model."""
        return staged_predictions(fitted.shared, [model.n_iter_ for model in fitted.models], X)


class FirstIterations(BaseEstimator):
    """The first iterations of a fitted histogram boosting model, as a model that only predicts."""

    def __init__(self, model: Any, max_iter: int) -> None:
        self.model = model
        self.max_iter = max_iter

    @property
    def n_iter_(self) -> int:
        """The number of iterations."""
        return self.max_iter

    @property
    def n_features_in_(self) -> int:
        """The number of columns."""
        return self.model.n_features_in_

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, X: Table, y: AnyArray) -> Any:
        """Raise an error; scikit-learn requires the method in the last step of a pipeline."""
        raise NotImplementedError("FirstIterations only predicts; fit a plain estimator instead.")

    def predict(self, X: Table) -> AnyArray:
        """Return labels, or the values of a regression."""
        return self._last_stage(self.model.staged_predict(X))

    def _last_stage(self, stages: Any) -> AnyArray:
        return next(islice(stages, self.max_iter - 1, None))


class FirstIterationsClassifier(ClassifierMixin, FirstIterations):
    """The first iterations of a classifier."""

    @property
    def classes_(self) -> AnyArray:
        """The classes."""
        return self.model.classes_

    def predict_proba(self, X: Table) -> Floats:
        """Return the probability of each class."""
        return self._last_stage(self.model.staged_predict_proba(X))

    def decision_function(self, X: Table) -> Floats:
        """Return the sums over the iterations."""
        return self._last_stage(self.model.staged_decision_function(X))


class FirstIterationsRegressor(RegressorMixin, FirstIterations):
    """The first iterations of a regressor."""


_FIRST_ITERATIONS = {
    HistGradientBoostingClassifier: FirstIterationsClassifier,
    HistGradientBoostingRegressor: FirstIterationsRegressor,
}
