"""Lasso and elastic net: leave-one-out on the columns that are in use."""

import warnings
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, enet_path

from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._doubts import doubt_leverage
from leavezero.families._fitted_to import (
    TOO_LARGE,
    fitted_numbers,
    fitted_rows,
    fitted_weights,
    other_rows,
    too_large,
)
from leavezero.families._newton import leave_out
from leavezero.families._together import fit_each, fit_one, hand_on, linear_scores, settings_key

SLOPE, SLACK = 0.02, 10.0  # of a correlation; times the solver's tolerance
FULL = 0.5  # columns in use a row


class SparseLinearFamily(Family):
    """Lasso and ElasticNet, exactly as long as a row's absence changes no column in use.

    The objective is a mean over the rows, sum_i w_i r_i^2 / (2 sum w) + penalty: without a row the
    penalty weighs more against the rest, which the step takes in.
    """

    name = "lasso and elastic net"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a Lasso or ElasticNet itself, not a subclass."""
        return type(estimator) in (Lasso, ElasticNet)

    def refuses(self, estimator: Any) -> str | None:
        """Return why a setting is not covered."""
        return None

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return predictions, each as if the row were not seen."""
        rows = fitted_rows(model, X)
        targets = fitted_numbers(model, y, rows.shape[0])
        weights = fitted_weights(sample_weight, rows.shape[0])
        used = np.flatnonzero(model.coef_)
        if too_large(rows.shape[0], len(used)):
            return Unseen("approximate", {}, doubt=TOO_LARGE)
        scores = np.asarray(rows @ model.coef_ + model.intercept_)
        _check_solution(model, rows, weights, scores, targets)
        part = rows[:, used]
        columns = np.asarray(part.toarray() if hasattr(part, "toarray") else part)
        unseen, leverages = _step(model, columns, model.coef_[used], scores, targets, weights)
        doubt = _doubt(model, len(used), rows.shape[0], leverages)
        return Unseen("approximate", {"predict": unseen}, doubt=doubt)

    def shares(self, estimator: Any) -> Any:
        """Return all parameters but the penalty; random steps are left to plain fits."""
        alpha = estimator.alpha
        penalized = isinstance(alpha, Real) and 0 < float(alpha) < np.inf
        if not penalized or estimator.selection != "cyclic" or _l1_ratio(estimator) <= 0:
            return None
        return settings_key(estimator, "alpha")

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit the path from the largest penalty to the smallest, each to its own tolerance.

        Both this and the plain fit are within the solver's tolerance of the minimum; the number of
        iterations is that of a start nearby.
        """
        first = max(estimators, key=lambda one: float(one.alpha))
        others = [one for one in estimators if one is not first]
        fit_one(first, X, y, sample_weight)
        plain = sparse.issparse(X) or first.coef_.dtype != np.float64 or np.ndim(y) != 1
        if plain or int(np.max(first.n_iter_)) >= first.max_iter:
            fit_each(others, X, y, sample_weight)
            return
        _follow(
            first, others, fitted_rows(first, X), np.asarray(y, dtype=np.float64), sample_weight
        )
        fit_each([one for one in others if not hasattr(one, "coef_")], X, y, sample_weight)

    def respond_many(self, models: list[Any], X: Table) -> list[dict[str, AnyArray]] | None:
        """Return predictions from one product, up to rounding."""
        if models[0].coef_.ndim > 1:
            return None
        return [{"predict": scores[:, 0]} for scores in linear_scores(models, X)]


def _follow(first: Any, others: list[Any], rows: Floats, y: Floats, sample_weight: Any) -> None:
    """Hand on what the path finds for each penalty, but where it does not converge."""
    weights = fitted_weights(sample_weight, len(rows))
    shares = weights / weights.sum()
    middle, level = (shares @ rows, shares @ y) if first.fit_intercept else (0.0, 0.0)
    roots = np.sqrt(shares * len(rows))
    alphas = np.unique([float(one.alpha) for one in others])[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the plain fit will say so itself
        _, coefs, gaps, steps = enet_path(
            roots[:, None] * (rows - middle),
            roots * (y - level),
            l1_ratio=_l1_ratio(first),
            alphas=alphas,
            coef_init=first.coef_.copy(),  # it is written over
            return_n_iter=True,
            positive=first.positive,
            tol=first.tol,
            max_iter=first.max_iter,
        )
    for one in others:
        at = int(np.flatnonzero(alphas == float(one.alpha))[0])
        if steps[at] < one.max_iter:
            coef = coefs[:, at].copy()
            found = {"coef_": coef, "dual_gap_": gaps[at], "n_iter_": int(steps[at])}
            if one.fit_intercept:
                found["intercept_"] = level - middle @ coef
            hand_on(first, one, found)


def _l1_ratio(model: Any) -> float:
    return 1.0 if type(model) is Lasso else float(model.l1_ratio)


def _check_solution(model: Any, rows: Any, weights: Floats, scores: Floats, y: Floats) -> None:
    """Refuse rows on which a column or the intercept breaks the conditions of a minimum by far.

    No column's |x'r| / sum w may exceed alpha l1_ratio. The solver's tolerance is relative to the
    targets, and so is ours. The intercept comes from means: only rounding parts it from zero.
    """
    shares = weights / weights.sum()
    misses = shares * (scores - y)
    spread = float(np.sqrt(shares @ (y - shares @ y) ** 2))
    slopes = np.asarray(misses @ rows) + model.alpha * (1.0 - _l1_ratio(model)) * model.coef_
    excess = (-slopes if model.positive else np.abs(slopes)) - model.alpha * _l1_ratio(model)
    sizes = spread * np.sqrt(np.asarray(shares @ _squares(rows)))
    stopped = int(np.max(model.n_iter_)) >= model.max_iter
    if not stopped and np.any(excess > max(SLOPE, SLACK * model.tol) * sizes + 1e-12):
        raise other_rows(model, "its coefficients do not minimize the loss on them")
    if model.fit_intercept and abs(float(misses.sum())) > 1e-7 * (1.0 + np.abs(y).max()):
        raise other_rows(model, "its residuals do not have mean zero on them")


def _squares(rows: Any) -> Any:
    return rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows


def _step(
    model: Any, columns: Floats, coef: Floats, scores: Floats, targets: Floats, weights: Floats
) -> tuple[Floats, Floats]:
    total, n_rows = float(weights.sum()), len(columns)
    ridge = model.alpha * (1.0 - _l1_ratio(model))
    pull = model.alpha * _l1_ratio(model) * np.sign(coef) + ridge * coef
    # every fit without a row has the ridge of the other rows; the mean weight stands for each
    penalties = np.full(len(coef), ridge * total * (1.0 - 1.0 / n_rows))
    if model.fit_intercept:
        columns = np.hstack([columns, np.ones((n_rows, 1))])
        penalties, pull = np.append(penalties, 0.0), np.append(pull, 0.0)
    if not columns.shape[1]:
        return scores, np.zeros(n_rows)
    first = weights * (scores - targets)
    gradient = np.zeros(columns.shape[1])
    step = leave_out(columns, scores, first, weights, penalties, gradient, pull, weights)
    return step.scores, step.leverages


def _doubt(model: Any, n_used: int, n_rows: int, leverages: Floats) -> str | None:
    if int(np.max(model.n_iter_)) >= model.max_iter:
        return "the solver has not converged"
    if n_used > FULL * n_rows:
        return f"{n_used} columns are in use for {n_rows} rows, and others would be without a row"
    return doubt_leverage(leverages, False)


FAMILIES = (SparseLinearFamily(),)
