"""Logistic regressions of many penalties, solved together by Newton's method."""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from leavezero._typing import Bools, Floats, Ints
from leavezero.families._newton_many import Pairs, steady_inverses

STEPS = 50
HALVINGS = 20
CLOSER = 0.01  # of the tolerance at which a solver may stop


@dataclass(frozen=True, eq=False)
class Solutions:
    """Coefficients, a line a penalty, the steps they took, and which of them are solutions."""

    coefs: Floats
    n_steps: Ints
    solved: Bools


def solve_logistic(
    pairs: Pairs, codes: Ints, weights: Floats, penalties: Floats, tol: float
) -> Solutions:
    """Minimize sum_i w_i l(x_i'b, y_i) + b'Pb/2, l the logistic loss, for each line of penalties.

    The steps end where no slope of the mean loss exceeds a hundredth of ``tol``. A step is halved
    until the objective falls.
    """
    rows, total = pairs.rows, float(weights.sum())
    coefs = np.zeros_like(penalties)
    n_steps, solved = np.zeros(len(coefs), dtype=np.int32), np.zeros(len(coefs), dtype=bool)
    left = np.arange(len(coefs))
    scores: Floats = np.zeros((len(rows), len(coefs)))
    for _ in range(STEPS):
        chances, own = expit(scores), penalties[left]
        slopes = ((chances - codes[:, None]) * weights[:, None]).T @ rows + own * coefs[left]
        done = np.abs(slopes).max(axis=1) <= CLOSER * tol * total
        solved[left[done]] = True
        left, slopes, scores, chances = (
            left[~done],
            slopes[~done],
            scores[:, ~done],
            chances[:, ~done],
        )
        if len(left) == 0:
            break
        curvatures = weights[:, None] * chances * (1.0 - chances)
        inverses = steady_inverses(pairs.hessians(curvatures), penalties[left])
        if inverses is None:
            break
        steps = -(inverses @ slopes[:, :, None])[:, :, 0]
        sizes, scores = _falling(rows, codes, weights, penalties[left], coefs[left], steps, scores)
        coefs[left] += sizes[:, None] * steps
        n_steps[left] += 1
        left, scores = left[sizes > 0.0], scores[:, sizes > 0.0]
    return Solutions(coefs, n_steps, solved)


def _falling(
    rows: Floats,
    codes: Ints,
    weights: Floats,
    penalties: Floats,
    coefs: Floats,
    steps: Floats,
    scores: Floats,
) -> tuple[Floats, Floats]:
    """Return how much of each step makes the objective fall, 0 for none, and the scores there."""

    def objective(at: Floats, scored: Floats, own: Floats) -> Floats:
        losses = np.logaddexp(0.0, scored) - codes[:, None] * scored
        return weights @ losses + 0.5 * np.sum(own * at**2, axis=1)

    moves = rows @ steps.T
    before = objective(coefs, scores, penalties)
    slack = 1e-12 * np.abs(before)  # near the minimum only rounding differs
    sizes = np.ones(len(coefs))
    wrong = np.arange(len(coefs))
    for _ in range(HALVINGS):
        here = sizes[wrong]
        at = coefs[wrong] + here[:, None] * steps[wrong]
        now = objective(at, scores[:, wrong] + here * moves[:, wrong], penalties[wrong])
        wrong = wrong[~(now <= before[wrong] + slack[wrong])]
        if len(wrong) == 0:
            break
        sizes[wrong] /= 2.0
    sizes[wrong] = 0.0
    return sizes, scores + sizes * moves
