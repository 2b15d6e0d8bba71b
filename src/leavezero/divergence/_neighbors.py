"""A divergence by nearest neighbours, to check others by where columns are few."""

from collections.abc import Sequence

import numpy as np
from scipy.spatial import cKDTree
from scipy.special import digamma

from leavezero._typing import Floats
from leavezero.divergence._folds import Fold
from leavezero.divergence._samples import Features

MAX_COLUMNS = 5
_N_NEIGHBORS = 5
_LEAST_DISTINCT = 0.9  # the share of rows that occur once; ties have no neighbours at a distance


def neighbor_check(features: Features, folds: Sequence[Fold]) -> float | None:
    """Return the divergence between each part and what was drawn for the other parts, on average.

    A drawn row is never compared with rows that it leans on.
    """
    found = [
        neighbor_divergence(
            features.compact[fold.test.given],
            features.compact[fold.train.drawn],
            np.random.default_rng(at),
        )
        for at, fold in enumerate(folds)
    ]
    known = [value for value in found if value is not None]
    return float(np.mean(known)) if len(known) == len(found) else None


def neighbor_divergence(given: Floats, drawn: Floats, rng: np.random.Generator) -> float | None:
    """Return the mutual information of rows and the sample they are from (Ross 2014).

    With N rows, as many from either sample, k neighbours, and m_i rows of any sample within the
    distance of row i to its k-th neighbour in its own sample, it is
    ``psi(N) + psi(k) - psi(N / 2) - mean psi(m_i)``. None for more than five columns, for rows
    that repeat and for too few.
    """
    size = min(len(given), len(drawn))
    if given.shape[1] > MAX_COLUMNS or size <= 2 * _N_NEIGHBORS:
        return None
    sides = [side[rng.permutation(len(side))[:size]] for side in (given, drawn)]
    if any(len(np.unique(side, axis=0)) < _LEAST_DISTINCT * size for side in sides):
        return None
    rows = np.concatenate(sides)
    radii = np.concatenate([_radii(side) for side in sides])
    around = cKDTree(rows).query_ball_point(rows, radii, p=np.inf, return_length=True)
    value = digamma(2 * size) + digamma(_N_NEIGHBORS) - digamma(size)
    return float(value - digamma(around).mean())


def _radii(rows: Floats) -> Floats:
    """Return each row's distance to its k-th neighbour, a hair less so that it is not counted."""
    distances = cKDTree(rows).query(rows, k=_N_NEIGHBORS + 1, p=np.inf)[0][:, -1]
    return np.nextafter(distances, 0.0)
