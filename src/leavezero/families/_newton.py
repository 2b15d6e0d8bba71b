"""One Newton step from a fit on all rows to the fit without one of them.

The objective is sum_i l_i(x_i'b) + b'Pb/2, P diagonal. Without row i its gradient at the fitted b
is -x_i l_i', because the whole gradient is zero there, and its Hessian is H - l_i'' x_i x_i'. One
Newton step and the Sherman-Morrison formula give the new score of the row (Rad and Maleki 2020,
equation 6; Beirami et al. 2017): x_i'b + a_i l_i' / (1 - a_i l_i''), a_i = x_i' H^-1 x_i. For a
quadratic loss it is exact.
"""

from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from leavezero._typing import Floats
from leavezero.families._tall import solve_tall
from leavezero.families._wide import Products, products_of, solve_wide, steps_by_products

JITTER = 1e-12  # relative; only a matrix that has no inverse notices
CLOSEST = 1e-6  # of 1 - leverage


@dataclass(frozen=True, eq=False)
class Step:
    """The scores without each row, and what tells how far to believe them.

    ``scores`` are the rows' scores, each without the row; ``leverages`` the share of each row's
    curvature in its own score (1: the row alone decides); ``decrement`` what one more Newton step
    on all rows would gain, twice (0 at a solution).
    """

    scores: Floats
    leverages: Floats
    decrement: float


def leave_out(
    rows: Any,
    scores: Floats,
    first: Floats,
    second: Floats,
    penalties: Floats,
    gradient: Floats,
    pull: Floats | None = None,
    shares: Floats | None = None,
    products: Products | None = None,
) -> Step:
    """Return the step for a loss of one score a row.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
        With the column of the intercept at the end, if there is one; sparse only as
        ``_fitted_to.step_columns`` returns them.
    scores, first, second : array of shape (n_rows,)
        x_i'b, and l_i and its two derivatives there, weights included.
    penalties : array of shape (n_columns,)
        The diagonal of P.
    gradient : array of shape (n_columns,)
        Of the objective on all rows at b; zero but for what the solver left.
    pull : array of shape (n_columns,), optional
        Gradient of the penalty that leaves together with a row of share 1, where an objective is
        a mean over the rows; ``shares`` says how much of it goes with each row.
    products : callable, optional
        Returns ``_wide.products_of`` the rows, for several steps that share them.
    """
    if steps_by_products(rows.shape, penalties):
        known = products_of(rows) if products is None else products()
        own, pulled, decrement = solve_wide(known, second, penalties, rows, gradient, pull)
    else:
        own, pulled, decrement = _solve(rows, second, penalties, gradient, pull)
    move = own * first
    if pulled is not None and shares is not None:
        move = move + shares * (rows @ pulled)
    leverages = own * second
    gain = move / np.maximum(1.0 - leverages, CLOSEST)
    return Step(scores + gain, leverages, decrement)


def _hessian(rows: Floats, second: Floats) -> Floats:
    """Return the curvature of the loss; of roots only one half is computed."""
    if np.any(second < 0):
        return (rows * second[:, None]).T @ rows
    weighted = rows * np.sqrt(second)[:, None]
    return weighted.T @ weighted


def _solve(
    rows: Any, second: Floats, penalties: Floats, gradient: Floats, pull: Floats | None
) -> tuple[Floats, Floats | None, float]:
    """Return x'H^-1 x for each row x, H^-1 times the pull, and g'H^-1 g."""
    if sparse.issparse(rows):
        with suppress(linalg.LinAlgError):
            return solve_tall(rows, second, penalties, gradient, pull)
        rows = rows.toarray()
    hessian = _hessian(rows, second)
    at = np.arange(len(hessian))
    hessian[at, at] += penalties
    hessian[at, at] += JITTER * max(float(np.trace(hessian)) / len(hessian), 1e-300)
    try:
        lower = linalg.cholesky(hessian, lower=True, check_finite=False)
    except linalg.LinAlgError:  # a curvature below zero, far from the solution
        inverse = linalg.pinvh(hessian)
        own = np.einsum("ij,ij->i", rows @ inverse, rows)
        return own, None if pull is None else inverse @ pull, float(gradient @ inverse @ gradient)
    halves = linalg.solve_triangular(lower, rows.T, lower=True, check_finite=False)
    half = linalg.solve_triangular(lower, gradient, lower=True, check_finite=False)
    pulled = None
    if pull is not None:
        pulled = linalg.cho_solve((lower, True), pull, check_finite=False)
    return np.einsum("ij,ij->j", halves, halves), pulled, float(half @ half)
