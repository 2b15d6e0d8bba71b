"""Generalized linear models: approximate leave-one-out by one Newton step."""

from typing import Any

import numpy as np
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

from leavezero._typing import AnyArray, Floats
from leavezero.leave_one_out._newton import (
    NewtonMethod,
    convergence_reason,
    gradient_excess,
    leverage_reason,
    n_coefs,
    newton_columns,
    newton_step,
)
from leavezero.leave_one_out._training_data import TrainingData

MAX_LOG_CHANGE = 1.0  # a row whose absence changes its mean by a factor e


class GLMMethod(NewtonMethod):
    """Poisson, gamma and Tweedie regression with a log or identity link.

    The objective is a weighted mean over the rows plus alpha |b|^2 / 2, so that each row left out
    takes its share of the penalty with it.
    """

    name = "generalized linear model"
    estimator_types = (PoissonRegressor, GammaRegressor, TweedieRegressor)

    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        weights, total = data.weights, float(data.weights.sum())
        remaining_penalty = model.alpha * total * (1.0 - 1.0 / len(weights))
        X, (coef,), penalties = newton_columns(model, data.X, model.coef_[None], remaining_penalty)
        penalty_gradient = np.where(penalties > 0, model.alpha * coef, 0.0)
        scores = X @ coef
        log_link = _has_log_link(model)
        slopes, curvatures = _derivatives(_power(model), log_link, scores, data.y)
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
        excess = gradient_excess(model, gradient, total)
        # The decrement in units of the slopes' variance, because a deviance has no unit of its own.
        noise = float(np.mean(slopes**2)) / max(float(np.mean(curvatures)), 1e-300) or 1.0
        reason = convergence_reason(model, step.decrement / noise / n_coefs(model), excess)
        changes = np.abs(step.scores - scores).max(initial=0.0)
        if reason is None and log_link and changes > MAX_LOG_CHANGE:
            reason = "leaving out a row changes its predicted mean by more than the factor e"
        means = np.exp(step.scores) if log_link else step.scores
        return {"predict": means}, reason or leverage_reason(step.leverages, False)


def _power(model: Any) -> float:
    return {PoissonRegressor: 1.0, GammaRegressor: 2.0}.get(type(model)) or float(model.power)


def _has_log_link(model: Any) -> bool:
    if type(model) is not TweedieRegressor or model.link == "log":
        return True
    return bool(model.link == "auto" and model.power > 0)


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
