"""Votes of neighbours for rows."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints


@dataclass(frozen=True)
class Ballot:
    """Who votes for whom: ``voters`` (given rows) for ``rows``, with ``weights``."""

    rows: Ints
    voters: Ints
    weights: Floats
    n_rows: int

    def totals(self, values: Floats | None = None) -> Floats:
        """Return the sum of the votes for each row, each times the voter's value."""
        weights = self.weights if values is None else self.weights * values[self.voters]
        totals = np.bincount(self.rows, weights, minlength=self.n_rows)
        return np.asarray(totals, dtype=np.float64)

    def by_class(self, codes: Ints, n_classes: int) -> Floats:
        """Return the votes for each row and class."""
        cells = self.rows * n_classes + codes[self.voters]
        votes = np.bincount(cells, self.weights, minlength=self.n_rows * n_classes)
        return np.asarray(votes, dtype=np.float64).reshape(self.n_rows, n_classes)


def ballot_of(model: Any, distances: AnyArray, neighbors: AnyArray) -> Ballot:
    """Return the votes of the neighbours that were found at these distances."""
    n_rows = len(neighbors)
    sizes = [len(row) for row in neighbors] if neighbors.dtype == object else neighbors.shape[1]
    rows = np.repeat(np.arange(n_rows), sizes)
    if callable(model.weights):
        weights: Floats = _flat(np.asarray(model.weights(distances))).astype(np.float64)
    elif model.weights == "distance":
        weights = _inverse(_flat(distances), rows, n_rows)
    else:
        weights = np.ones(len(rows))
    return Ballot(rows, _flat(neighbors).astype(np.intp), weights, n_rows)


def _flat(table: AnyArray) -> AnyArray:
    """Return all cells of a matrix, or of an array of arrays of several lengths."""
    return np.concatenate(table) if table.dtype == object else table.ravel()


def _inverse(distances: Floats, rows: Ints, n_rows: int) -> Floats:
    """Return votes of 1 / distance; where some are at distance 0, only they vote."""
    with np.errstate(divide="ignore"):
        votes = 1.0 / distances.astype(np.float64)
    endless = np.isinf(votes)
    decided = np.zeros(n_rows, dtype=bool)
    decided[rows[endless]] = True
    return np.where(decided[rows], endless, votes)
