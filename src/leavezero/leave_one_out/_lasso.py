"""Lasso and elastic net: approximate leave-one-out on the columns with nonzero coefficients.

As long as leaving out a row changes no coefficient to or from zero, the objective is quadratic on
these columns, and one Newton step gives the minimum without the row (Rad and Maleki 2020, section
2.2). scikit-learn's objective is a mean over the rows, sum_i w_i r_i^2 / (2 sum w) + penalty:
without a row the penalty weighs more against the rest, which the step takes into account.
"""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.linear_model import ElasticNet, Lasso

from leavezero._typing import Floats, Ints
from leavezero.leave_one_out._loo_method import LOOPredictions
from leavezero.leave_one_out._newton import (
    NewtonStep,
    append_constant,
    leverage_reason,
    newton_step,
)
from leavezero.leave_one_out._training_data import (
    MAX_CELLS,
    TOO_LARGE,
    OneTargetMethod,
    TrainingData,
    mismatch_error,
    to_dense,
)

MAX_CORRELATION, MAX_EXCESS = 0.02, 10.0  # of residuals; times the solver's tolerance
MAX_COLUMNS = 0.5  # with nonzero coefficients, per row


class LassoMethod(OneTargetMethod):
    """Lasso and ElasticNet."""

    name = "lasso"
    estimator_types = (Lasso, ElasticNet)

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        n_rows, used = len(data.y), np.flatnonzero(model.coef_)
        if max(n_rows, len(used)) * len(used) > MAX_CELLS:
            return LOOPredictions("approximate", {}, unreliable=TOO_LARGE)
        scores = np.asarray(data.X @ model.coef_ + model.intercept_)
        _check_optimality(model, data, scores - data.y)
        step = _step(model, data, used, scores)
        reason = leverage_reason(step.leverages, False)
        if len(used) > MAX_COLUMNS * n_rows:
            reason = (
                f"{len(used)} coefficients are nonzero for {n_rows} rows, and others would be "
                "without a row"
            )
        if int(np.max(model.n_iter_)) >= model.max_iter:
            reason = "the solver has not converged"
        return LOOPredictions("approximate", {"predict": step.scores}, unreliable=reason)


def _penalties(model: Any) -> tuple[float, float]:
    """Return the weights of the l1 norm and of half the squared l2 norm."""
    l1_ratio = 1.0 if type(model) is Lasso else float(model.l1_ratio)
    return model.alpha * l1_ratio, model.alpha * (1.0 - l1_ratio)


def _check_optimality(model: Any, data: TrainingData, errors: Floats) -> None:
    """Raise if a column or the intercept violates the optimality conditions by far.

    No column's |x'r| / sum w may exceed the l1 penalty. The solver's tolerance is relative to the
    targets, and so is ours. The intercept comes from means and is exact up to rounding.
    """
    X, targets, shares = data.X, data.y, data.weights / data.weights.sum()
    l1, l2 = _penalties(model)
    gradient = np.asarray((shares * errors) @ X) + l2 * model.coef_
    excess = (-gradient if model.positive else np.abs(gradient)) - l1
    spread = float(np.sqrt(shares @ (targets - shares @ targets) ** 2))
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    scale = spread * np.sqrt(np.asarray(shares @ squares))
    limit = max(MAX_CORRELATION, MAX_EXCESS * model.tol) * scale + 1e-12
    if int(np.max(model.n_iter_)) < model.max_iter and np.any(excess > limit):
        raise mismatch_error(model, "its coefficients do not minimize the loss on them")
    largest = 1.0 + np.abs(targets).max()
    if model.fit_intercept and abs(float(shares @ errors)) > 1e-7 * largest:
        raise mismatch_error(model, "its residuals do not have mean zero on them")


def _step(model: Any, data: TrainingData, used: Ints, scores: Floats) -> NewtonStep:
    """Take the Newton step on the columns with nonzero coefficients."""
    l1, l2 = _penalties(model)
    weights, coef = data.weights, model.coef_[used]
    X, n_columns = to_dense(data.X[:, used]), len(used) + int(model.fit_intercept)
    X = append_constant(X, 1.0) if model.fit_intercept else X
    if not n_columns:
        return NewtonStep(scores, np.zeros(len(scores)), 0.0)
    gradient, penalties, penalty_gradient = np.zeros((3, n_columns))
    # The l2 penalty of the other rows; the mean weight is used for each row left out.
    penalties[: len(used)] = l2 * float(weights.sum()) * (1.0 - 1.0 / len(weights))
    penalty_gradient[: len(used)] = l1 * np.sign(coef) + l2 * coef
    slopes = weights * (scores - data.y)
    return newton_step(X, scores, slopes, weights, penalties, gradient, penalty_gradient, weights)
