"""Decision values without each row by one Newton step from the fit on all rows.

The objective is sum_i l_i(x_i'b) + b'Pb/2 with a diagonal P. Without row i its gradient at the
fitted b is -x_i l_i', because the whole gradient is zero there, and its Hessian is
H - l_i'' x_i x_i'. One Newton step and the Sherman-Morrison formula give (Rad and Maleki 2020,
equation 6; Beirami et al. 2017) x_i'b + a_i l_i' / (1 - a_i l_i'') with a_i = x_i' H^-1 x_i. It is
exact for a quadratic loss. a_i l_i'' is the leverage of the row.
"""

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from leavezero._typing import AnyArray, Floats
from leavezero.leave_one_out._loo_method import (
    MAX_CELLS,
    TOO_LARGE,
    LOOPredictions,
    OneTargetMethod,
    TrainingData,
    mismatch_error,
    to_dense,
)

MIN_FLOPS = 2e10  # about a second; less is never too expensive
MAX_COST = 100.0  # operations relative to a fit's, whose products take about 10 times longer each
JITTER = 1e-12  # relative; changes only singular matrices
MIN_REMAINDER = 1e-6  # lower bound of 1 - leverage
BLOCK = 2048  # rows that are made dense at the same time

# Limits of one step, measured against refits of many data sets: they cover the settings in which
# the score of the step differs from that of refits by more than its standard error.
MAX_LEVERAGE = 0.98
MAX_LEVERAGE_SEPARATED = 0.7  # if the model makes no error on its training rows
MAX_DECREMENT = 0.01  # per coefficient; rows of another sample give about 1
MAX_EXCESS = 10.0  # times the solver's own tolerance


@dataclass(frozen=True, eq=False)
class NewtonStep:
    """Result of one Newton step."""

    scores: Floats  # linear predictors without each row
    leverages: Floats  # 1: the row alone determines its score
    decrement: float  # twice the gain of one more step on all rows


class NewtonMethod(OneTargetMethod):
    """Base class of methods that take one Newton step."""

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        predictions: dict[str, AnyArray] = {}
        reason = self._unavailable_reason(model, data)
        if reason is None:
            predictions, reason = self._step(model, data)
        return LOOPredictions("approximate", predictions, unreliable=reason)

    def _unavailable_reason(self, model: Any, data: TrainingData) -> str | None:
        return size_reason(model, data.X)

    @abstractmethod
    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        """Return predictions by method, and why they are unreliable."""


def size_reason(model: Any, X: Any, n_scores: int = 1) -> str | None:
    """Return why the Newton system of a fitted model is too large; None if it is not."""
    n_rows, side = X.shape[0], min(X.shape) * n_scores
    if max(n_rows * min(X.shape), side * side * (1 if n_scores == 1 else 3)) > MAX_CELLS:
        return TOO_LARGE
    # Hessian and leverages; for several scores also the eigenvalues of a block per row.
    n_flops = 2.0 * n_rows * side**2 + (25.0 * n_rows * n_scores**3 if n_scores > 1 else 0.0)
    n_entries = X.nnz if sparse.issparse(X) else X.size
    fit_flops = 4.0 * n_entries * n_scores * float(np.sum(model.n_iter_))
    if getattr(model, "solver", None) == "newton-cholesky":  # forms the Hessian in each iteration
        fit_flops = n_flops
    if n_flops > max(MIN_FLOPS, MAX_COST * fit_flops):
        return "the Newton step would take longer than several fits"
    return None


def rotate_to_square(X: Any, coef: Floats) -> tuple[Floats, Floats]:
    """Return wide rows with as many columns as their rank, and coefficients for them.

    All inner products and scores are kept, which leaves a squared penalty unchanged: the new
    columns are the pivoted Cholesky factor of XX'.
    """
    factor, order, rank, _ = linalg.lapack.dpstrf(to_dense(X @ X.T), lower=1)
    order, factor = order - 1, np.tril(factor)[:, :rank]
    rotated = np.empty_like(factor)
    rotated[order] = factor
    scores = np.asarray(X @ coef.T)[order[:rank]]
    solved = linalg.solve_triangular(factor[:rank], scores, lower=True, check_finite=False)
    return rotated, np.asarray(solved).T


def newton_columns(
    model: Any, X: Any, coefs: Floats, penalty: float, liblinear: bool = False
) -> tuple[Any, Floats, Floats]:
    """Return X, coefficients by score and penalties, with the intercept if the model has one.

    There are at most as many other columns as rows. For liblinear the intercept is the coefficient
    of a constant column and is penalized.
    """
    if X.shape[1] > X.shape[0]:
        X, coefs = rotate_to_square(X, coefs)
    penalties = np.full(X.shape[1], float(penalty))
    if not model.fit_intercept:
        return X, coefs, penalties
    constant = float(model.intercept_scaling) if liblinear else 1.0
    intercepts = np.atleast_1d(model.intercept_)[:, None] / constant
    penalties = np.append(penalties, penalty if liblinear else 0.0)
    return append_constant(X, constant), np.hstack([coefs, intercepts]), penalties


def append_constant(X: Any, constant: float = 1.0) -> Any:
    """Return X, dense or sparse, with a constant column at the end."""
    column = np.full((X.shape[0], 1), constant)
    return sparse.hstack([X, column], "csr") if sparse.issparse(X) else np.hstack([X, column])


def newton_step(
    X: Any,
    scores: Floats,
    slopes: Floats,
    curvatures: Floats,
    penalties: Floats,
    gradient: Floats,
    penalty_gradient: Floats | None = None,
    penalty_shares: Floats | float = 0.0,
) -> NewtonStep:
    """Return the scores without each row, for a loss of one score per row.

    ``scores``, ``slopes`` and ``curvatures`` are x_i'b, l_i' and l_i'' >= 0, weights included.
    ``penalties`` is the diagonal of P, and ``gradient`` that of the objective at b: zero but for
    the solver's tolerance. Where an objective is a mean over the rows, the penalty loses
    ``penalty_shares[i]`` times ``penalty_gradient`` when row i is left out.
    """
    inverse = _inverse_hessian(X, curvatures, penalties)
    own = np.empty(X.shape[0])  # x'H^-1 x
    for rows, block in _row_blocks(X):
        own[rows] = np.einsum("ij,ij->i", block @ inverse, block)
    moves = own * slopes
    if penalty_gradient is not None:
        moves = moves + penalty_shares * (X @ (inverse @ penalty_gradient))
    leverages = own * curvatures
    moves /= np.maximum(1.0 - leverages, MIN_REMAINDER)
    return NewtonStep(scores + moves, leverages, float(gradient @ inverse @ gradient))


def leverage_reason(leverages: Floats, separated: bool) -> str | None:
    """Return why leverages make one step unreliable; None if they do not."""
    highest = float(np.max(leverages, initial=0.0))
    if separated and highest > MAX_LEVERAGE_SEPARATED:
        return (
            "the model separates its training rows with so little regularization that single rows "
            f"determine it (leverage {highest:.2f})"
        )
    if highest > MAX_LEVERAGE:
        return f"a row determines its own fitted value (leverage {highest:.2f})"
    return None


def gradient_excess(model: Any, gradient: Floats, total_weight: float) -> float:
    """Return the root mean square of the gradient relative to the solver's tolerance for it."""
    length = float(np.linalg.norm(gradient)) / np.sqrt(n_coefs(model))
    return length / (total_weight * max(model.tol, 1e-8))


def n_coefs(model: Any) -> int:
    """Return the number of coefficients and intercepts."""
    return int(np.size(model.coef_) + np.size(model.intercept_))


def convergence_reason(model: Any, decrement: float, excess: float) -> str | None:
    """Return "the solver has not converged" or None; raise for rows of another fit.

    ``decrement`` per coefficient is about zero at a solution, and about one on rows of another
    sample, because the score statistic has a chi-squared distribution. ``excess`` is the gradient
    relative to the solver's stopping tolerance, 0 if it does not use the gradient. If it is large
    although the solver stopped by itself, the rows are others.
    """
    if decrement <= MAX_DECREMENT:
        return None
    stopped = int(np.max(getattr(model, "n_iter_", 0))) >= model.max_iter
    if excess > MAX_EXCESS and not stopped:
        raise mismatch_error(model, "its coefficients do not minimize the loss on them")
    return "the solver has not converged"


def _inverse_hessian(X: Any, curvatures: Floats, penalties: Floats) -> Floats:
    hessian, roots = np.diag(penalties.astype(np.float64)), np.sqrt(curvatures)
    for rows, block in _row_blocks(X):
        weighted = block * roots[rows, None]
        hessian += weighted.T @ weighted
    scale = max(float(np.trace(hessian)) / len(hessian), 1e-300)
    hessian[np.diag_indices_from(hessian)] += JITTER * scale
    try:
        return np.asarray(linalg.cho_solve(linalg.cho_factor(hessian), np.eye(len(hessian))))
    except linalg.LinAlgError:  # columns of very different scale
        return np.asarray(linalg.pinvh(hessian))


def _row_blocks(X: Any) -> Iterator[tuple[slice, Floats]]:
    for start in range(0, X.shape[0], BLOCK):
        rows = slice(start, start + BLOCK)
        yield rows, to_dense(X[rows])
