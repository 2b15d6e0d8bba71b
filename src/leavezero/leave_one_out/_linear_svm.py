"""LinearSVC and LinearSVR with a squared loss: approximate leave-one-out by one Newton step."""

from typing import Any

import numpy as np
from sklearn.svm import LinearSVC, LinearSVR

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.leave_one_out._newton import (
    NewtonMethod,
    convergence_reason,
    leverage_reason,
    newton_columns,
    newton_step,
)
from leavezero.leave_one_out._training_data import TrainingData, class_weighted

SQUARED = ("squared_hinge", "squared_epsilon_insensitive")
NO_CURVATURE = "this loss has no second derivative, and liblinear returns no dual coefficients"


class LinearSVCMethod(NewtonMethod):
    """LinearSVC with the squared hinge loss, one class against the rest."""

    name = "linear support vector classifier"
    estimator_types = (LinearSVC,)

    def unsupported_reason(self, estimator: Any) -> str | None:
        """Return why the loss, the penalty or the multi-class scheme is not supported."""
        if estimator.penalty != "l2":
            return "one Newton step requires a smooth penalty, got penalty='l1'"
        if estimator.multi_class != "ovr":
            return f"multi_class={estimator.multi_class!r} has one loss for all classes"
        if estimator.loss not in SQUARED:
            return f"{NO_CURVATURE}; SVC(kernel='linear') is supported"
        return None

    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        weights = model.C * class_weighted(model, data)
        X, coefs, _ = newton_columns(model, data.X, model.coef_, 1.0, liblinear=True)
        fitted = np.asarray(X @ coefs.T)
        separated = bool(np.all(_predicted_codes(fitted) == data.y))
        scores = np.empty_like(fitted)
        reasons = []
        for k, coef in enumerate(coefs):
            signs = np.where(data.y == (k if len(coefs) > 1 else 1), 1.0, -1.0)
            errors = -signs * np.maximum(1.0 - signs * fitted[:, k], 0.0)
            scores[:, k], reason = _squared_loss_step(
                model, X, coef, errors, weights, float(weights.sum()), separated
            )
            reasons.append(reason)
        predictions = {
            "predict": model.classes_[_predicted_codes(scores)],
            "decision_function": scores if len(coefs) > 1 else scores[:, 0],
        }
        return predictions, next(filter(None, reasons), None)


class LinearSVRMethod(NewtonMethod):
    """LinearSVR with the squared epsilon-insensitive loss."""

    name = "linear support vector regression"
    estimator_types = (LinearSVR,)

    def unsupported_reason(self, estimator: Any) -> str | None:
        """Return why the loss is not supported."""
        if estimator.loss in SQUARED:
            return None
        return f"{NO_CURVATURE}; SVR(kernel='linear') is supported"

    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        weights = model.C * data.weights
        X, (coef,), _ = newton_columns(model, data.X, model.coef_[None], 1.0, liblinear=True)
        residuals = X @ coef - data.y
        errors = np.sign(residuals) * np.maximum(np.abs(residuals) - model.epsilon, 0.0)
        at_zero = float(weights @ np.maximum(np.abs(data.y) - model.epsilon, 0.0) ** 2)
        scores, reason = _squared_loss_step(model, X, coef, errors, weights, at_zero, False)
        return {"predict": scores}, reason


def _squared_loss_step(
    model: Any,
    X: Any,
    coef: Floats,
    errors: Floats,
    weights: Floats,
    objective_at_zero: float,
    separated: bool,
) -> tuple[Floats, str | None]:
    """Return the scores without each row, and why they are unreliable.

    The objective is sum_i w_i e_i^2 + |b|^2 / 2, e the errors beyond the margin or the tube. The
    decrement is relative to it, because this loss has no unit of its own. liblinear may stop far
    above the minimum, but not above the objective of zero coefficients: then the rows are others.
    """
    slopes, curvatures = 2.0 * weights * errors, 2.0 * weights * (errors != 0.0)
    gradient = slopes @ X + coef
    step = newton_step(X, X @ coef, slopes, curvatures, np.ones(X.shape[1]), gradient)
    objective = float(weights @ errors**2 + coef @ coef / 2.0)
    excess = np.inf if objective > objective_at_zero else 0.0
    decrement = step.decrement / max(objective, 1e-300)
    reason = convergence_reason(model, decrement, excess)
    return step.scores, reason or leverage_reason(step.leverages, separated)


def _predicted_codes(scores: Floats) -> Ints:
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))
