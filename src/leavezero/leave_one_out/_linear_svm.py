"""LinearSVC and LinearSVR with a squared loss: approximate leave-one-out by one Newton step."""

from typing import Any

import numpy as np
from sklearn.svm import LinearSVC, LinearSVR

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod, LOOPredictions
from leavezero.leave_one_out._newton import (
    append_constant,
    convergence_reason,
    leverage_reason,
    newton_step,
    size_reason,
)
from leavezero.leave_one_out._training_data import (
    class_codes,
    class_weighted,
    row_weights,
    target_values,
    training_rows,
)

SQUARED = ("squared_hinge", "squared_epsilon_insensitive")
NO_CURVATURE = "this loss has no second derivative, and liblinear returns no dual coefficients"


class LinearSVCMethod(LeaveOneOutMethod):
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

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        rows = training_rows(model, X)
        codes = class_codes(model, y, rows.shape[0])
        weights = model.C * class_weighted(model, codes, sample_weight)
        reason = size_reason(model, rows)
        if reason is not None:
            return LOOPredictions("approximate", {}, unreliable=reason)
        columns, coefs = _with_intercept(model, rows)
        fitted = np.asarray(columns @ coefs.T)
        separated = bool(np.all(_predicted_codes(fitted) == codes))
        scores = np.empty_like(fitted)
        reasons = []
        for k, coef in enumerate(coefs):
            signs = np.where(codes == (k if len(coefs) > 1 else 1), 1.0, -1.0)
            errors = -signs * np.maximum(1.0 - signs * fitted[:, k], 0.0)
            scores[:, k], reason = _squared_loss_step(
                model, columns, coef, errors, weights, float(weights.sum()), separated
            )
            reasons.append(reason)
        predictions = {
            "predict": model.classes_[_predicted_codes(scores)],
            "decision_function": scores if len(coefs) > 1 else scores[:, 0],
        }
        reason = next(filter(None, reasons), None)
        return LOOPredictions("approximate", predictions, unreliable=reason)


class LinearSVRMethod(LeaveOneOutMethod):
    """LinearSVR with the squared epsilon-insensitive loss."""

    name = "linear support vector regression"
    estimator_types = (LinearSVR,)

    def unsupported_reason(self, estimator: Any) -> str | None:
        """Return why the loss is not supported."""
        if estimator.loss in SQUARED:
            return None
        return f"{NO_CURVATURE}; SVR(kernel='linear') is supported"

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        rows = training_rows(model, X)
        targets = target_values(model, y, rows.shape[0])
        weights = model.C * row_weights(sample_weight, rows.shape[0])
        reason = size_reason(model, rows)
        if reason is not None:
            return LOOPredictions("approximate", {}, unreliable=reason)
        columns, (coef,) = _with_intercept(model, rows)
        residuals = columns @ coef - targets
        errors = np.sign(residuals) * np.maximum(np.abs(residuals) - model.epsilon, 0.0)
        at_zero = float(weights @ np.maximum(np.abs(targets) - model.epsilon, 0.0) ** 2)
        scores, reason = _squared_loss_step(model, columns, coef, errors, weights, at_zero, False)
        return LOOPredictions("approximate", {"predict": scores}, unreliable=reason)


def _with_intercept(model: Any, X: Any) -> tuple[Any, Floats]:
    """Return X and coefficients with the intercept, which liblinear penalizes like the others."""
    coefs = np.atleast_2d(model.coef_)
    if not model.fit_intercept:
        return X, coefs
    constant = float(model.intercept_scaling)
    intercepts = np.atleast_1d(model.intercept_)[:, None] / constant
    return append_constant(X, constant), np.hstack([coefs, intercepts])


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
    reason = convergence_reason(model, decrement, 1, excess)
    return step.scores, reason or leverage_reason(step.leverages, separated)


def _predicted_codes(scores: Floats) -> Ints:
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


METHODS = (LinearSVCMethod(), LinearSVRMethod())
