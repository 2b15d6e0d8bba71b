"""Lasso and elastic net: leave-one-out on the columns that are in use."""

import warnings
from dataclasses import dataclass
from functools import cache, partial
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, enet_path

from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Asked, Family, Unseen
from leavezero.families._doubts import doubt_leverage
from leavezero.families._fitted_to import (
    TOO_LARGE,
    fitted_numbers,
    fitted_rows,
    fitted_weights,
    other_rows,
    too_large,
)
from leavezero.families._newton import Step, leave_out
from leavezero.families._newton_many import Pairs, leave_out_many
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
        return _alone(model, _Given.of(model, X, y, sample_weight))

    def unseen_many(
        self, models: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Asked]:
        """Return calls that share the steps of all models, where the columns are few."""
        given = _Given.of(models[0], X, y, sample_weight)
        n_rows, n_columns = given.rows.shape
        few = not sparse.issparse(given.rows) and Pairs.fit_into_memory(n_rows, n_columns + 1)
        if not few or len(models) == 1:
            return [partial(_alone, model, given) for model in models]
        shared = cache(partial(_steps, models, given))

        def ask(at: int, model: Any) -> Unseen:
            known = shared()
            if known is None:
                return _alone(model, given)
            scores, step = known[0][:, at], known[1][at]
            _check_solution(model, given, scores)
            doubt = _doubt(model, int(np.count_nonzero(model.coef_)), n_rows, step.leverages)
            return Unseen("approximate", {"predict": step.scores}, doubt=doubt)

        return [partial(ask, at, model) for at, model in enumerate(models)]

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
    columns, wanted = np.asfortranarray(roots[:, None] * (rows - middle)), roots * (y - level)
    tall = len(rows) > rows.shape[1]
    alphas = np.unique([float(one.alpha) for one in others])[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the plain fit will say so itself
        _, coefs, gaps, steps = enet_path(
            columns,
            wanted,
            l1_ratio=_l1_ratio(first),
            alphas=alphas,
            precompute=columns.T @ columns if tall else False,
            Xy=columns.T @ wanted if tall else None,
            check_input=False,  # else the products are checked again for every penalty
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


@dataclass(frozen=True, eq=False)
class _Given:
    """What models were fitted to, in one normal form; ``sizes`` are those of a column's slope."""

    rows: Any
    targets: Floats
    weights: Floats
    shares: Floats
    sizes: Floats

    @classmethod
    def of(cls, model: Any, X: Table, y: AnyArray, sample_weight: Any) -> "_Given":
        rows = fitted_rows(model, X)
        targets = fitted_numbers(model, y, rows.shape[0])
        weights = fitted_weights(sample_weight, rows.shape[0])
        shares = weights / weights.sum()
        spread = float(np.sqrt(shares @ (targets - shares @ targets) ** 2))
        sizes = spread * np.sqrt(np.asarray(shares @ _squares(rows)))
        return cls(rows, targets, weights, shares, sizes)


def _alone(model: Any, given: _Given) -> Unseen:
    """Return what a model says of unseen rows, from the columns that it uses."""
    rows, used = given.rows, np.flatnonzero(model.coef_)
    if too_large(rows.shape[0], len(used)):
        return Unseen("approximate", {}, doubt=TOO_LARGE)
    scores = np.asarray(rows @ model.coef_ + model.intercept_)
    _check_solution(model, given, scores)
    part = rows[:, used]
    columns = np.asarray(part.toarray() if hasattr(part, "toarray") else part)
    step = _step(model, columns, model.coef_[used], scores, given)
    doubt = _doubt(model, len(used), rows.shape[0], step.leverages)
    return Unseen("approximate", {"predict": step.scores}, doubt=doubt)


def _check_solution(model: Any, given: _Given, scores: Floats) -> None:
    """Refuse rows on which a column or the intercept breaks the conditions of a minimum by far.

    No column's |x'r| / sum w may exceed alpha l1_ratio. The solver's tolerance is relative to the
    targets, and so is ours. The intercept comes from means: only rounding parts it from zero.
    """
    misses = given.shares * (scores - given.targets)
    ridge = model.alpha * (1.0 - _l1_ratio(model))
    slopes = np.asarray(misses @ given.rows) + ridge * model.coef_
    excess = (-slopes if model.positive else np.abs(slopes)) - model.alpha * _l1_ratio(model)
    stopped = int(np.max(model.n_iter_)) >= model.max_iter
    if not stopped and np.any(excess > max(SLOPE, SLACK * model.tol) * given.sizes + 1e-12):
        raise other_rows(model, "its coefficients do not minimize the loss on them")
    size = 1.0 + np.abs(given.targets).max()
    if model.fit_intercept and abs(float(misses.sum())) > 1e-7 * size:
        raise other_rows(model, "its residuals do not have mean zero on them")


def _squares(rows: Any) -> Any:
    return rows.multiply(rows) if hasattr(rows, "multiply") else rows * rows


def _step(model: Any, columns: Floats, coef: Floats, scores: Floats, given: _Given) -> Step:
    weights = given.weights
    penalty, pull = _penalty_and_pull(model, coef, given)
    penalties = np.full(len(coef), penalty)
    if model.fit_intercept:
        columns = np.hstack([columns, np.ones((len(columns), 1))])
        penalties, pull = np.append(penalties, 0.0), np.append(pull, 0.0)
    if not columns.shape[1]:
        return Step(scores, np.zeros(len(scores)), 0.0)
    first = weights * (scores - given.targets)
    gradient = np.zeros(columns.shape[1])
    return leave_out(columns, scores, first, weights, penalties, gradient, pull, weights)


def _steps(models: list[Any], given: _Given) -> tuple[Floats, list[Step]] | None:
    """Return what all models say of the rows, and their steps; None where each takes its own.

    A column that a model does not use has its own place in the Hessian, and moves nothing.
    """
    columns, weights = given.rows, given.weights
    coefs = np.array([model.coef_ for model in models])
    scores = columns @ coefs.T + np.array([model.intercept_ for model in models])
    found = [_penalty_and_pull(model, model.coef_, given) for model in models]
    penalties = np.array([np.full(coefs.shape[1], penalty) for penalty, _ in found])
    pulls = np.array([pull for _, pull in found])
    used = coefs != 0.0
    if models[0].fit_intercept:
        columns = np.hstack([columns, np.ones((len(columns), 1))])
        nothing, always = np.zeros((len(models), 1)), np.ones((len(models), 1), dtype=bool)
        penalties, pulls = np.hstack([penalties, nothing]), np.hstack([pulls, nothing])
        used = np.hstack([used, always])
    second = weights[:, None]
    first = second * (scores - given.targets[:, None])
    steps = leave_out_many(
        Pairs(columns), scores, first, second, penalties, None, pulls, weights, used
    )
    return None if steps is None else (scores, steps)


def _penalty_and_pull(model: Any, coef: Floats, given: _Given) -> tuple[float, Floats]:
    """Return the penalty of each column without a row, and what a row's share of it pulls."""
    ridge = model.alpha * (1.0 - _l1_ratio(model))
    pull = model.alpha * _l1_ratio(model) * np.sign(coef) + ridge * coef
    # every fit without a row has the ridge of the other rows; the mean weight stands for each
    return ridge * float(given.weights.sum()) * (1.0 - 1.0 / len(given.weights)), pull


def _doubt(model: Any, n_used: int, n_rows: int, leverages: Floats) -> str | None:
    if int(np.max(model.n_iter_)) >= model.max_iter:
        return "the solver has not converged"
    if n_used > FULL * n_rows:
        return f"{n_used} columns are in use for {n_rows} rows, and others would be without a row"
    return doubt_leverage(leverages, False)


FAMILIES = (SparseLinearFamily(),)
