"""Newton steps of many models over the same rows at once.

With P the products of each two columns, a line a row, all Hessians X'diag(w)X are one product P'w,
and all forms x'Mx another one, PM: no model asks for the rows again.
"""

import numpy as np

from leavezero._typing import Bools, Floats
from leavezero.families._newton import CLOSEST, JITTER, Step

MOST_CELLS = 2**22  # of products: 32 MiB
STEADY = 1e-5  # of the largest pivot; below, the products' rounding could be seen


class Pairs:
    """The products of each two columns of some rows.

    Examples
    --------
    >>> import numpy as np
    >>> pairs = Pairs(np.array([[1.0, 2.0], [0.0, 1.0]]))
    >>> pairs.hessians(np.array([[1.0], [3.0]]))[0]
    array([[1., 2.],
           [2., 7.]])
    """

    def __init__(self, rows: Floats) -> None:
        self.rows = rows
        self._one, self._other = np.triu_indices(rows.shape[1])
        columns = np.ascontiguousarray(rows.T)
        self._products = np.empty((len(self._one), len(rows)))
        start = 0
        for at, column in enumerate(columns):
            end = start + len(columns) - at
            np.multiply(column, columns[at:], out=self._products[start:end])
            start = end

    @staticmethod
    def fit_into_memory(n_rows: int, n_columns: int) -> bool:
        """Tell whether the products are few enough to be kept."""
        return n_rows * n_columns * (n_columns + 1) // 2 <= MOST_CELLS

    def hessians(self, weights: Floats) -> Floats:
        """Return X'diag(w)X for each column of weights."""
        n_columns = self.rows.shape[1]
        found = np.empty((weights.shape[1], n_columns, n_columns))
        halves = (self._products @ weights).T
        found[:, self._one, self._other] = found[:, self._other, self._one] = halves
        return found

    def forms(self, matrices: Floats) -> Floats:
        """Return x'Mx for each row x and each symmetric matrix M, a column a matrix."""
        twice = np.where(self._one == self._other, 1.0, 2.0)
        return ((matrices[:, self._one, self._other] * twice) @ self._products).T


def leave_out_many(
    pairs: Pairs,
    scores: Floats,
    first: Floats,
    second: Floats,
    penalties: Floats,
    gradients: Floats | None = None,
    pulls: Floats | None = None,
    shares: Floats | None = None,
    used: Bools | None = None,
) -> list[Step] | None:
    """Return ``leave_out`` for each model, or None where only a step by itself is safe.

    ``scores``, ``first`` and ``second`` have a column a model, ``second`` a single one where it is
    the same for all; the others have a line a model. ``used`` tells which columns a model uses.
    """
    hessians = np.broadcast_to(pairs.hessians(second), (len(penalties), *2 * penalties.shape[1:]))
    inverses = steady_inverses(hessians, penalties, used)
    if inverses is None:
        return None
    own = pairs.forms(inverses)
    moves, leverages = own * first, own * second
    if pulls is not None and shares is not None:
        moves += shares[:, None] * (pairs.rows @ _times(inverses, pulls).T)
    found = scores + moves / np.maximum(1.0 - leverages, CLOSEST)
    decrements = np.zeros(len(penalties))
    if gradients is not None:
        decrements = np.sum(gradients * _times(inverses, gradients), axis=1)
    return [Step(*parts) for parts in zip(found.T, leverages.T, decrements.tolist(), strict=True)]


def steady_inverses(
    hessians: Floats, penalties: Floats, used: Bools | None = None
) -> Floats | None:
    """Return the inverses with the penalties; None if one of them is hardly to be had.

    Columns that are not used have zeros in the inverse.
    """
    at = np.arange(hessians.shape[1])
    both = np.array(True) if used is None else used[:, :, None] & used[:, None]
    whole = np.where(both, hessians, 0.0)
    whole[:, at, at] += penalties
    sizes = np.maximum(whole[:, at, at].mean(axis=1), 1e-300)[:, None]
    whole[:, at, at] += JITTER * sizes
    if used is not None:
        whole[:, at, at] = np.where(used, whole[:, at, at], sizes)
    try:
        pivots = np.linalg.cholesky(whole)[:, at, at]
    except np.linalg.LinAlgError:
        return None
    if np.any(pivots.min(axis=1) < STEADY * pivots.max(axis=1)):
        return None
    return np.where(both, np.linalg.inv(whole), 0.0)


def _times(matrices: Floats, vectors: Floats) -> Floats:
    return (matrices @ vectors[:, :, None])[:, :, 0]
