"""Leave-one-out of the baselines that ignore X: DummyClassifier and DummyRegressor."""

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.leave_one_out._loo_method import (
    LeaveOneOutMethod,
    LOOPredictions,
    check_statistic,
    class_codes,
    loo_class_totals,
    partial_predictions,
    row_weights,
    subtract,
    target_values,
)


class DummyMethod(LeaveOneOutMethod):
    """Exact leave-one-out of class frequencies and of the mean."""

    name = "dummy"
    estimator_types = (DummyClassifier, DummyRegressor)

    def unsupported_reason(self, estimator: Any) -> str | None:
        classifier = isinstance(estimator, DummyClassifier)
        supported = ("most_frequent", "prior") if classifier else ("mean",)
        if estimator.strategy in supported:
            return None
        return f"strategy must be {' or '.join(supported)}, got {estimator.strategy!r}"

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        weights = row_weights(sample_weight, count_rows(X))
        left = subtract(weights.sum(), weights)  # total weight without each row
        valid = left > 0
        if isinstance(model, DummyClassifier):
            predictions = _class_predictions(model, y, weights, np.where(valid, left, 1.0))
            return partial_predictions("exact", predictions, valid)
        values = target_values(model, y, len(weights))
        total = weights @ values
        check_statistic(model, "constant_", [[total / weights.sum()]])
        means = (total - weights * values) / np.where(valid, left, 1.0)
        return partial_predictions("exact", {"predict": means}, valid)


def _class_predictions(
    model: Any, y: AnyArray, weights: Floats, left: Floats
) -> dict[str, AnyArray]:
    codes, n_classes = class_codes(model, y, len(weights)), len(model.classes_)
    totals = np.bincount(codes, weights, minlength=n_classes)
    check_statistic(model, "class_prior_", totals / totals.sum())
    shares = loo_class_totals(codes, weights, n_classes) / left[:, None]
    best = shares.argmax(axis=1)
    probabilities = shares if model.strategy == "prior" else np.eye(n_classes)[best]
    return {"predict": model.classes_.take(best), "predict_proba": probabilities}
