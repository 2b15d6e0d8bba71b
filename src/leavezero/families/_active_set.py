"""A support vector machine of two classes on a kernel matrix, solved by active sets.

The dual problem is to minimize a'Qa / 2 - sum(a) over 0 <= a <= c with y'a = 0, where Q is the
kernel times the signs y of both rows. Once it is known which multipliers a are free, at zero and
at their bound c, a linear system gives the free ones. Those that leave their borders, and rows
whose margins do not fit, change sides, all at once (Hintermueller, Ito and Kunisch 2002): some ten
systems are enough for any penalty, where LIBSVM takes the more steps the larger it is.

Where the kernel has hardly an inverse, sides would change for ever. So margins are soft at first:
Q + w / c has its free vectors within w of the margin, and w falls to the tolerance. If that is not
enough, a step ends where the loss along it is least; it is convex, and its slope is always known.
"""

from collections.abc import Sequence

import numpy as np
from scipy import linalg

from leavezero._typing import Bools, Floats, Ints
from leavezero.families._plane import Plane, stopped_at

BOLD, CAREFUL = (0.1, 0.01), (0.3, 0.06, 0.012, 0.0025)  # widths of the margin, before the last one
LAST_WIDTH, LAST_SLACK = 0.25, 0.05  # of the tolerance; two rows miss it twice
POLISH, POLISH_ROUNDS = 1e-4, 2  # a width, of the tolerance
SLACK = 0.1  # of the width
UNSETTLED = 0.02  # of the rows, which may still change sides when the width falls
PATIENCE = 4  # rounds without fewer changes, after which boldness ends
ROUNDS = 120
GATHERED = 64  # rows of the kernel
BISECTIONS, LEVEL = 20, 0.05  # of a step; the slope at its end, of that at its beginning
FEW_CHANGED = 6  # times as many rows as change: then they cost less than all
LEVELS = 60  # bisections for an intercept where no row is free


def solve_kernel(
    kernel: Floats, signs: Floats, bounds: Floats, start: Floats, tol: float
) -> Plane | None:
    """Return a machine that LIBSVM would stop at too; None if none was reached.

    Parameters
    ----------
    kernel : array of shape (n_rows, n_rows)
        Positive semidefinite.
    signs : array of shape (n_rows,)
        1.0 and -1.0, both.
    bounds : array of shape (n_rows,)
        The penalty of each row, positive.
    start : array of shape (n_rows,)
        Multipliers to begin at; infinite ones begin at their bound.
    tol : float
        By how much the conditions of optimality may be missed.
    """
    for bold, widths in ((True, BOLD), (False, CAREFUL)):
        point = _Point(kernel, signs, bounds, start)
        if _settles(point, [width for width in widths if width > tol], tol, bold):
            found = _polished(point, tol)
            if found.violation <= tol:
                return found
    return None


def _polished(point: "_Point", tol: float) -> Plane:
    """Return the machine, with hardly any width left in its margin if it stands without."""
    found = point.plane()
    if found.violation > tol:
        return found
    _changed_until(point, POLISH * tol, LAST_SLACK * tol, 0, POLISH_ROUNDS, bold=True)
    without = point.plane()
    return without if without.violation < found.violation else found


def _settles(point: "_Point", widths: Sequence[float], tol: float, bold: bool) -> bool:
    """Let rows change sides until none wants to at the last width; tell whether that came."""
    rounds = ROUNDS
    for width in widths:
        enough = int(UNSETTLED * len(point.signs))
        rounds = _changed_until(point, width, SLACK * width, enough, rounds, bold)
    return _changed_until(point, LAST_WIDTH * tol, LAST_SLACK * tol, 0, rounds, bold) > 0


def _changed_until(
    point: "_Point", width: float, slack: float, enough: int, rounds: int, bold: bool
) -> int:
    """Go on until few enough rows change sides; return how many rounds are left, 0 for failure."""
    fewest, waited = len(point.signs) + 1, 0
    while rounds > 0:
        rounds -= 1
        if not point.solve(width):
            return 0
        n_changed = point.step(width, slack, bold)
        if n_changed is None:
            continue
        if n_changed <= enough:
            return rounds
        waited = 0 if n_changed < fewest else waited + 1
        fewest = min(fewest, n_changed)
        if bold and waited == PATIENCE:
            return 0
    return 0


class _Point:
    """Multipliers, as signed coefficients, an intercept, and which of them are free or held."""

    def __init__(self, kernel: Floats, signs: Floats, bounds: Floats, start: Floats) -> None:
        self.kernel, self.signs, self.bounds = kernel, signs, bounds
        self.held: Bools = start >= bounds
        self.free: Bools = (start > 0.0) & ~self.held
        self.coefs = signs * np.clip(start, 0.0, bounds)
        self.scores = self.product(self.coefs)
        self._held_coefs: Floats = np.zeros(len(signs))
        self._held_scores: Floats = np.zeros(len(signs))
        levels = (signs - self.scores)[self.free if self.free.any() else slice(None)]
        self.intercept = float(np.median(levels))

    @property
    def misses(self) -> Floats:
        """How far each row is from its margin, on the wrong side."""
        return 1.0 - self.signs * (self.scores + self.intercept)

    def product(self, coefs: Floats) -> Floats:
        """Return the kernel times coefficients; half of the matrix is read."""
        return np.asarray(linalg.blas.dsymv(1.0, self.kernel.T, coefs, lower=True))

    def plane(self) -> Plane:
        """Return the machine of these multipliers, exact where they are not free."""
        free = np.where(self.free, np.clip(self.coefs * self.signs, 0.0, self.bounds), 0.0)
        multipliers = np.where(self.held, self.bounds, free)
        return stopped_at(self.signs, self.bounds, multipliers, self.product)

    def solve(self, width: float) -> bool:
        """Find where the free multipliers and the intercept want to be; tell if there is such."""
        free = self._free(width)
        coefs, scores = self._held_part()
        own, intercept = np.zeros(len(self.signs)), self.intercept
        if len(free):
            solution = self._solution(free, scores, width)
            if solution is None:
                return False
            missing, ones = solution
            intercept = float((coefs.sum() + missing.sum()) / ones.sum())
            own[free] = missing - intercept * ones
        self.move = coefs + own - self.coefs
        self.scores_move = scores + self.product(own) - self.scores
        self.intercept_move = intercept - self.intercept
        return bool(np.isfinite(intercept))

    def _solution(self, free: Ints, scores: Floats, width: float) -> tuple[Floats, Floats] | None:
        """Return what the free rows miss on their margins, and ones, over their soft kernel."""
        system, at = part_of(self.kernel, free), np.arange(len(free))
        system[at, at] += width / self.bounds[free]
        factor, failed = linalg.lapack.dpotrf(system.T, lower=True, clean=False, overwrite_a=True)
        if failed:
            return None
        sides = np.column_stack([self.signs[free] - scores[free], np.ones(len(free))])
        missing, ones = linalg.cho_solve((factor, True), sides, check_finite=False).T
        return missing, ones

    def _free(self, width: float) -> Ints:
        """Return the free rows; where there are none, those that a better intercept makes so."""
        if not self.free.any():
            self.intercept = self._level(width)
            self.free, self.held = self._sides(width)
        return np.flatnonzero(self.free)

    def _level(self, width: float) -> float:
        """Return the intercept that is best for the scores as they are."""
        low, high = float((self.signs - self.scores).min()), float((self.signs - self.scores).max())
        for _ in range(LEVELS):
            middle = 0.5 * (low + high)
            misses = 1.0 - self.signs * (self.scores + middle)
            rises = self.signs @ (self.bounds * np.clip(misses / width, 0.0, 1.0)) > 0.0
            low, high = (middle, high) if rises else (low, middle)
        return 0.5 * (low + high)

    def _sides(self, width: float) -> tuple[Bools, Bools]:
        """Return which rows are free and which held, by how far each is from its margin."""
        misses = self.misses
        return (misses > 0.0) & (misses < width), misses >= width

    def _held_part(self) -> tuple[Floats, Floats]:
        """Return coefficients and scores of the held rows alone, of which few change at a time."""
        coefs = np.where(self.held, self.signs * self.bounds, 0.0)
        change = coefs - self._held_coefs
        changed = np.flatnonzero(change)
        few = FEW_CHANGED * len(changed) < len(coefs)
        moved: Floats = (
            change[changed] @ self.kernel.take(changed, axis=0) if few else self.product(change)
        )
        self._held_coefs, self._held_scores = coefs, self._held_scores + moved
        return coefs, self._held_scores

    def step(self, width: float, slack: float, bold: bool) -> int | None:
        """Move, and let rows change sides; return how many did, or None if the way was cut."""
        reach = 1.0 if bold else self._reach(width)
        self.coefs = self.coefs + reach * self.move
        self.scores = self.scores + reach * self.scores_move
        self.intercept += reach * self.intercept_move
        if reach < 1.0:
            self.free, self.held = self._sides(width)
            return None
        misses, sizes = self.misses, self.coefs * self.signs
        below, above = self.free & (sizes < 0.0), self.free & (sizes > self.bounds)
        rise = ~self.free & ~self.held & (misses > slack)
        fall = self.held & (misses < width - slack)
        self.free = (self.free & ~below & ~above) | rise | fall
        self.held = (self.held & ~fall) | above
        return int(below.sum() + above.sum() + rise.sum() + fall.sum())

    def _reach(self, width: float) -> float:
        """Return where the loss of soft margins is least on the way, zero if it does not fall."""
        misses = self.misses
        turn = -self.signs * (self.scores_move + self.intercept_move)
        first, second = self.move @ self.scores, self.move @ self.scores_move

        def slope(reach: float) -> float:
            pulls = self.bounds * np.clip((misses + reach * turn) / width, 0.0, 1.0)
            return float(first + reach * second + pulls @ turn)

        begin, end = slope(0.0), slope(1.0)
        if begin >= 0.0:
            same = all(map(np.array_equal, self._sides(width), (self.free, self.held)))
            return 1.0 if same else 0.0
        if end <= LEVEL * abs(begin):
            return 1.0
        low, high = 0.0, 1.0
        for _ in range(BISECTIONS):
            middle = 0.5 * (low + high)
            low, high = (low, middle) if slope(middle) > 0.0 else (middle, high)
        return 0.5 * (low + high)


def part_of(kernel: Floats, which: Ints) -> Floats:
    """Return the kernel of some rows, gathered a few at a time: no copy of whole rows is held."""
    part = np.empty((len(which), len(which)))
    for start in range(0, len(which), GATHERED):
        rows = slice(start, start + GATHERED)
        np.take(kernel.take(which[rows], axis=0), which, axis=1, out=part[rows], mode="clip")
    return part
