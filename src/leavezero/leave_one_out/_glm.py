"""Generalized linear models: approximate leave-one-out by one Newton step."""

from typing import Any

import numpy as np
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

from leavezero._typing import AnyArray, Floats, Table
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod, LOOPredictions
from leavezero.leave_one_out._newton import (
    append_constant,
    convergence_reason,
    leverage_reason,
    newton_step,
    rotate_to_square,
    size_reason,
)
from leavezero.leave_one_out._training_data import row_weights, target_values, training_rows

MAX_LOG_CHANGE = 1.0  # a row whose absence changes its mean by a factor e


class GLMMethod(LeaveOneOutMethod):
    """Poisson, gamma and Tweedie regression with a log or identity link."""

    name = "generalized linear model"
    estimator_types = (PoissonRegressor, GammaRegressor, TweedieRegressor)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        rows = training_rows(model, X)
        targets = target_values(model, y, rows.shape[0])
        weights = row_weights(sample_weight, rows.shape[0])
        reason = size_reason(model, rows)
        if reason is not None:
            return LOOPredictions("approximate", {}, unreliable=reason)
        scores, reason = _loo_scores(model, rows, targets, weights)
        means = np.exp(scores) if _has_log_link(model) else scores
        return LOOPredictions("approximate", {"predict": means}, unreliable=reason)


def _power(model: Any) -> float:
    return {PoissonRegressor: 1.0, GammaRegressor: 2.0}.get(type(model)) or float(model.power)


def _has_log_link(model: Any) -> bool:
    if type(model) is not TweedieRegressor or model.link == "log":
        return True
    return bool(model.link == "auto" and model.power > 0)


def _loo_scores(model: Any, X: Any, targets: Floats, weights: Floats) -> tuple[Floats, str | None]:
    """Return the linear predictors without each row, and why they are unreliable.

    The objective is a weighted mean over the rows plus alpha |b|^2 / 2, so that each row left out
    takes its share of the penalty with it.
    """
    coef = model.coef_
    if not model.alpha > 0:
        X, (coef,) = rotate_to_square(X, coef[None])
    total, n_rows = float(weights.sum()), X.shape[0]
    penalty_gradient = model.alpha * coef
    penalties = np.full(len(coef), model.alpha * total * (1.0 - 1.0 / n_rows))
    if model.fit_intercept:
        X, coef = append_constant(X, 1.0), np.append(coef, model.intercept_)
        penalties, penalty_gradient = np.append(penalties, 0.0), np.append(penalty_gradient, 0.0)
    scores = X @ coef
    slopes, curvatures = _derivatives(_power(model), _has_log_link(model), scores, targets)
    gradient = (weights * slopes) @ X + total * penalty_gradient
    step = newton_step(
        X,
        scores,
        weights * slopes,
        weights * curvatures,
        penalties,
        gradient,
        penalty_gradient,
        weights,
    )
    excess = float(np.abs(gradient).max(initial=0.0)) / (total * max(model.tol, 1e-8))
    # The decrement in units of the slopes' variance, because a deviance has no unit of its own.
    noise = float(np.mean(slopes**2)) / max(float(np.mean(curvatures)), 1e-300) or 1.0
    reason = convergence_reason(model, step.decrement / noise, len(coef), excess)
    changes = np.abs(step.scores - scores).max(initial=0.0)
    if reason is None and _has_log_link(model) and changes > MAX_LOG_CHANGE:
        reason = "leaving out a row changes its predicted mean by more than the factor e"
    return step.scores, reason or leverage_reason(step.leverages, False)


def _derivatives(
    power: float, log_link: bool, scores: Floats, targets: Floats
) -> tuple[Floats, Floats]:
    """Return two derivatives of half the Tweedie deviance with respect to the scores.

    The derivative with respect to the mean m is (m - y) / m^p, p the power. Where the second one is
    not positive, far from the data, its expectation is used.
    """
    means = np.exp(scores) if log_link else scores
    if log_link:
        slopes = (means - targets) * means ** (1.0 - power)
        expected = means ** (2.0 - power)
        curvatures = (2.0 - power) * expected - (1.0 - power) * targets * means ** (1.0 - power)
    else:
        slopes = (means - targets) * means**-power
        expected = means**-power
        curvatures = expected - power * (means - targets) * means ** (-power - 1.0)
    return slopes, np.where(curvatures > 0.0, curvatures, expected)


METHODS = (GLMMethod(),)
