"""A linear support vector machine of two classes, solved by an interior point method.

The dual problem is to minimize a'ZZ'a / 2 - sum(a) over 0 <= a <= c with y'a = 0, where a row of Z
is a row of X times its sign y. A step of Newton's method on its relaxed conditions of optimality
is a system with as many unknowns as there are columns, whatever the number of rows (Ferris and
Munson 2002), predicted and corrected as Mehrotra (1992) does. Some twenty steps are enough for any
penalty, where LIBSVM, which moves two rows at a time, needs the more steps the larger it is.
"""

from functools import partial

import numpy as np
from scipy import linalg

from leavezero._typing import Floats
from leavezero.families._plane import Plane, stopped_at

STEPS = 60
CLOSE = 1e-4  # gap of primal and dual, relative to the objective, from which on to look for the end
DONE = 1e-2  # of the tolerance
AT_BORDER = 1e-3  # distance over price; far less at a border, far more inside
BACK = 0.995  # of the way to a border
JITTER = 1e-13  # relative; a system that has hardly an inverse needs it
TINY = 1e-300


def solve_linear(rows: Floats, signs: Floats, bounds: Floats, tol: float) -> Plane | None:
    """Return a machine that LIBSVM would stop at too, and better; None if none was reached.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    signs : array of shape (n_rows,)
        1.0 and -1.0, both.
    bounds : array of shape (n_rows,)
        The penalty of each row, positive.
    tol : float
        By how much the conditions of optimality may be missed.
    """
    centered = rows - rows.mean(axis=0)  # moves the intercept, and nothing else
    scale = max(float(np.einsum("ij,ij->", centered, centered)) / len(rows), TINY)
    point = _Point(centered / np.sqrt(scale), signs, bounds * scale)

    def product(coefs: Floats) -> Floats:
        return np.asarray(rows @ (coefs @ rows))

    best = None
    for _ in range(STEPS):
        if point.close:
            found = stopped_at(signs, bounds, point.shares() * bounds, product)
            best = found if best is None or found.violation < best.violation else best
            if best.violation < DONE * tol:
                break
        if not point.step():
            break
    return best if best is not None and best.violation <= tol else None


class _Point:
    """Multipliers, their room below the bounds, the prices of both borders, and the plane."""

    def __init__(self, rows: Floats, signs: Floats, bounds: Floats) -> None:
        self.lines = np.column_stack([rows, np.ones(len(rows))]) * signs[:, None]
        self.bounds = bounds
        self.held = 0.5 * bounds
        self.low, self.high = np.ones(len(bounds)), np.ones(len(bounds))  # of zero, of the bound
        self.plane = np.zeros(self.lines.shape[1])  # the intercept is its last entry
        self._look()

    @property
    def close(self) -> bool:
        """Whether the border that each multiplier belongs to can be told."""
        normal = self.plane[:-1]
        worth = abs(float(self.held.sum() - 0.5 * normal @ normal))
        return self.gap < CLOSE * max(worth, TINY)

    def shares(self) -> Floats:
        """Return the multipliers as shares of their bounds; 0 and 1 are exact."""
        near = AT_BORDER * np.minimum(self.bounds, 1.0)
        shares = np.where(self.held < near * self.low, 0.0, self.held / self.bounds)
        return np.where(self.room < near * self.high, 1.0, shares)

    def step(self) -> bool:
        """Go on; tell whether that was possible."""
        weights = 1.0 / (self.low / self.held + self.high / self.room)
        weighted = self.lines * weights[:, None]
        factor = _factor(weighted.T @ self.lines)
        if factor is None:
            return False
        move = partial(self._move, factor, weights, weighted)
        held, low, high, _ = move(0.0, 0.0, 0.0)
        reach = self._reach(held, low, high)
        ahead = (self.held + reach * held) @ (self.low + reach * low)
        ahead += (self.room - reach * held) @ (self.high + reach * high)
        middle = self.gap / (2 * len(weights)) * float(ahead / self.gap) ** 3
        held, low, high, plane = move(middle, held * low, -held * high)
        reach = BACK * self._reach(held, low, high)
        self.held = np.clip(self.held + reach * held, 1e-15 * self.bounds, self.bounds)
        self.low, self.high = self.low + reach * low, self.high + reach * high
        self.plane = self.plane + reach * plane
        self._look()
        return bool(np.isfinite(self.gap))

    def _look(self) -> None:
        """Take stock of what is missing."""
        self.room = np.maximum(self.bounds - self.held, 1e-15 * self.bounds)
        sums = self.held @ self.lines
        self.plane[:-1], self.excess = sums[:-1], float(sums[-1])
        self.off = self.lines @ self.plane - 1.0 - self.low + self.high
        self.gap = float(self.held @ self.low + self.room @ self.high)

    def _move(
        self,
        factor: Floats,
        weights: Floats,
        weighted: Floats,
        middle: float,
        bent_low: Floats | float,
        bent_high: Floats | float,
    ) -> tuple[Floats, Floats, Floats, Floats]:
        """Return the change of multipliers, of both prices and of the plane.

        Products of price and distance go to ``middle``, less what the prediction bends them by.
        """
        low = (middle - bent_low) / self.held - self.low
        high = (middle - bent_high) / self.room - self.high
        push = low - high - self.off
        target = push @ weighted
        target[-1] += self.excess
        plane = linalg.cho_solve((factor, True), target, check_finite=False)
        held = weights * (push - self.lines @ plane)
        low -= self.low / self.held * held
        high += self.high / self.room * held
        return held, low, high, plane

    def _reach(self, held: Floats, low: Floats, high: Floats) -> float:
        """Return how much of a move may be made until it meets a border; 1 is all of it."""
        ways = (held / self.held, -held / self.room, low / self.low, high / self.high)
        closest = min(float(way.min()) for way in ways)
        return 1.0 if closest >= -1.0 else -1.0 / closest


def _factor(system: Floats) -> Floats | None:
    """Return the triangle of the system with one added to all but the intercept's entry."""
    at = np.arange(len(system))
    diagonal = np.diagonal(system).copy()
    added = np.append(np.ones(len(system) - 1), 0.0)
    for jitter in (0.0, JITTER, 1e3 * JITTER):
        system[at, at] = diagonal + added + jitter * diagonal
        factor, failed = linalg.lapack.dpotrf(system, lower=True)
        if not failed:
            return np.asarray(factor)
    return None
