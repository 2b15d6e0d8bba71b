"""Generalized linear models: approximate leave-one-out by one Newton step."""

from typing import Any

import numpy as np
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor

from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._doubts import doubt_leverage, doubt_solution
from leavezero.families._fitted_to import (
    TOO_LARGE,
    fitted_numbers,
    fitted_rows,
    fitted_weights,
    step_columns,
    too_large,
    with_constant,
)
from leavezero.families._newton import leave_out

LEAP = 1.0  # on the log scale: a row whose absence moves its mean by a factor e


class GLMFamily(Family):
    """Poisson, gamma and Tweedie regression with a log or identity link."""

    name = "generalized linear model"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is one of scikit-learn's itself, not a subclass."""
        return type(estimator) in (PoissonRegressor, GammaRegressor, TweedieRegressor)

    def refuses(self, estimator: Any) -> str | None:
        """Return None: every setting is covered."""
        return None

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return predictions, each as if the row were not seen."""
        rows = fitted_rows(model, X)
        targets = fitted_numbers(model, y, rows.shape[0])
        weights = fitted_weights(sample_weight, rows.shape[0])
        if too_large(rows.shape[0], rows.shape[1]):
            return Unseen("approximate", {}, doubt=TOO_LARGE)
        scores, doubt = _step(model, rows, targets, weights)
        means = np.exp(scores) if _log_link(model) else scores
        return Unseen("approximate", {"predict": means}, doubt=doubt)


def _power(model: Any) -> float:
    return {PoissonRegressor: 1.0, GammaRegressor: 2.0}.get(type(model)) or float(model.power)


def _log_link(model: Any) -> bool:
    if type(model) is not TweedieRegressor or model.link == "log":
        return True
    return bool(model.link == "auto" and model.power > 0)


def _step(model: Any, rows: Any, targets: Floats, weights: Floats) -> tuple[Floats, str | None]:
    """Return the scores without each row, and the doubt.

    The objective is a mean over the rows plus alpha |b|^2 / 2, so a row takes its share of the
    penalty with it.
    """
    columns, (coef,) = step_columns(rows, model.coef_[None], model.alpha > 0)
    total, n_rows = float(weights.sum()), columns.shape[0]
    pull = model.alpha * coef
    strength = model.alpha * total
    penalties = np.full(len(coef), strength * (1.0 - 1.0 / n_rows))
    if model.fit_intercept:
        columns, coef = with_constant(columns, 1.0), np.append(coef, model.intercept_)
        penalties, pull = np.append(penalties, 0.0), np.append(pull, 0.0)
    scores = columns @ coef
    first, second = _slopes(_power(model), _log_link(model), scores, targets)
    gradient = (weights * first) @ columns + total * pull
    step = leave_out(
        columns, scores, weights * first, weights * second, penalties, gradient, pull, weights
    )
    excess = float(np.abs(gradient).max(initial=0.0)) / (total * max(model.tol, 1e-8))
    # in units of the spread of the slopes: a deviance has no unit of its own
    noise = float(np.mean(first**2)) / max(float(np.mean(second)), 1e-300) or 1.0
    doubt = doubt_solution(model, step.decrement / noise, len(coef), excess)
    return step.scores, doubt or _doubt(model, step.scores - scores, step.leverages)


def _slopes(power: float, log: bool, scores: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """Return two derivatives of half the Tweedie deviance in the scores.

    Its slope in the mean m is (m - y) / m^p, p the power. Where the second is not positive, far
    from the data, its expectation stands in.
    """
    means = np.exp(scores) if log else scores
    if log:
        first = (means - targets) * means ** (1.0 - power)
        expected = means ** (2.0 - power)
        second = (2.0 - power) * expected - (1.0 - power) * targets * means ** (1.0 - power)
    else:
        first = (means - targets) * means**-power
        expected = means**-power
        second = expected - power * (means - targets) * means ** (-power - 1.0)
    return first, np.where(second > 0.0, second, expected)


def _doubt(model: Any, moves: Floats, leverages: Floats) -> str | None:
    if _log_link(model) and np.abs(moves).max(initial=0.0) > LEAP:
        return "the absence of a row moves its mean by more than the factor e"
    return doubt_leverage(leverages, False)


FAMILIES = (GLMFamily(),)
