"""Penalized least squares, decomposed: what its fit says of each row with and without it."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import linalg, sparse

from leavezero._typing import Bools, Floats
from leavezero.families._fitted_to import dense_columns

NO_ROOM, LITTLE_ROOM = 1e-13, 1e-7  # of 1 - h_i: the row decides alone; rounding would decide


@dataclass(frozen=True, eq=False)
class Problem:
    """Centred and weighted least squares, decomposed: Z = U diag(s) V'.

    ``targets`` are as given, ``centred`` minus their mean and times the roots of the weights,
    ``coordinates`` U' times those, ``squares`` those of U, ``penalties`` one a target. ``free`` and
    ``rest`` are the parts of 1 - h and of the residuals that no penalty makes; a row that
    ``decides`` a direction alone has none.
    """

    left: Floats
    values: Floats
    targets: Floats
    centred: Floats
    coordinates: Floats
    roots: Floats
    penalties: Floats
    squares: Floats
    decides: Bools
    free: Floats
    rest: Floats

    @classmethod
    def of(cls, model: Any, rows: Any, targets: Floats, weights: Floats) -> "Problem":
        """Return the decomposition of what the model solves."""
        if sparse.issparse(rows):
            rows, _ = dense_columns(rows, np.zeros((0, rows.shape[1])))
        roots = np.sqrt(weights)
        own = np.zeros(len(rows))
        middle: Any = 0.0
        level: Any = 0.0
        if model.fit_intercept:
            own = weights / weights.sum()
            middle, level = own @ rows, own @ targets
        centred = roots[:, None] * (targets - level)
        left, values, _ = linalg.svd(roots[:, None] * (rows - middle), full_matrices=False)
        rank = _rank(model, values)
        left, values = left[:, :rank], values[:rank]
        coordinates, squares = left.T @ centred, left**2
        free = 1.0 - own - squares.sum(axis=1)
        decides = free < NO_ROOM
        free = np.where(decides, 0.0, free)
        rest = np.where(decides[:, None], 0.0, centred - left @ coordinates)
        penalties = penalties_of(model, targets.shape[1])
        parts = (squares, decides, free, rest)
        return cls(left, values, targets, centred, coordinates, roots, penalties, *parts)

    def penalized(self, *models: Any) -> "Problem":
        """Return the problem with the penalties of other models, one after the other.

        Several models of one target have a column each in all that depends on penalties.
        """
        n_targets = self.targets.shape[1]
        found = [penalties_of(model, n_targets) for model in models]
        return replace(self, penalties=np.concatenate(found))

    def residuals(self) -> tuple[Floats, Floats]:
        """Return r and 1 - h, both weighted.

        What a penalty p takes from direction j is p / (s_j^2 + p). A row that alone decides a
        direction has no other part; without a penalty its limit for p to 0 is the fit of least
        norm without the row, p / s_j^2, where p cancels.
        """
        values = self.values[:, None] ** 2
        taken = self.penalties / (values + self.penalties)
        residuals = self.rest + self.left @ (taken * self.coordinates)
        room = self.free[:, None] + self.squares @ taken
        limit = self.decides[:, None] & (self.penalties == 0)
        if not limit.any():
            return residuals, room
        residuals = np.where(limit, self.left @ (self.coordinates / values), residuals)
        return residuals, np.where(limit, self.squares @ (1.0 / values), room)

    def fitted(self) -> Floats:
        """Return what the fit on all rows says about them; without weight, 0."""
        taken = self.penalties / (self.values[:, None] ** 2 + self.penalties)
        residuals = self.centred - self.left @ ((1.0 - taken) * self.coordinates)
        return self.targets - residuals / np.where(self.roots == 0, np.inf, self.roots)[:, None]

    def left_out(self, said: Floats) -> tuple[Floats, Bools]:
        """Return predictions without each row, and which are known; ``said`` is with the row."""
        residuals, room = self.residuals()
        used = self.roots > 0
        known = (self.free == 0)[:, None] | (room > LITTLE_ROOM)
        with np.errstate(divide="ignore", invalid="ignore"):
            without = self.targets - residuals / room / self.roots[:, None]
        scores = np.where(used[:, None], without, said)  # a row without weight was never seen
        return np.where(known, scores, 0.0), known | ~used[:, None]


def penalties_of(model: Any, n_targets: int) -> Floats:
    """Return a model's penalty for each target."""
    alpha = np.asarray(getattr(model, "alpha", 0.0), dtype=np.float64).ravel()
    return np.full(n_targets, alpha[0]) if len(alpha) == 1 else alpha


def _rank(model: Any, values: Floats) -> int:
    """Return how many directions the solver keeps."""
    if hasattr(model, "rank_"):
        return int(model.rank_)
    # Centred rows have a direction too many, the intercept's; a penalty leaves nothing of it.
    penalized = bool(np.any(np.asarray(getattr(model, "alpha", 0.0)) > 0))
    least = (1e-12 if penalized else 1e-7) * values.max(initial=0.0)
    return int((values > least).sum())
