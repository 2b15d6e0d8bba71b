"""The nearest other rows of each row, by Euclidean distances.

Distances in single precision rule out nearly all pairs. What rounding can have done to them is
bounded, and only the pairs that may be neighbours then are measured again, in double precision.
"""

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints

CELLS = 2**17  # pairs at once: their distances stay near the processor
GROUP = 16  # columns whose nearest stands for all of them
EPSILON = float(np.finfo(np.float32).eps)
LONGEST, BEYOND = 1e30, 1e38  # squared lengths that single precision holds, and one beyond all
CROWDED = 8  # times the neighbours asked for: so many candidates are too many


def nearest_others(rows: Floats, n_neighbors: int) -> tuple[Floats, Ints] | None:
    """Return distances and numbers of each row's nearest others, the nearest first.

    Of equally distant ones the first count. None if there are not so many others, or if rounding
    leaves too many candidates, as where a few rows are far away from all others.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.families._nearest import nearest_others
    >>> distances, numbers = nearest_others(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> distances.ravel().tolist(), numbers.ravel().tolist()
    ([1.0, 1.0, 2.0], [1, 0, 1])
    """
    centered = rows - rows.mean(axis=0)
    lengths = np.einsum("ij,ij->i", centered, centered)
    if n_neighbors >= len(rows) or not lengths.max() < LONGEST:
        return None
    pairs = _screen(centered, lengths, n_neighbors)
    return None if pairs is None else _nearest(rows, *pairs, n_neighbors)


def _screen(centered: Floats, lengths: Floats, n_neighbors: int) -> tuple[Ints, Ints] | None:
    """Return pairs of rows, in order, with the nearest of each among them; None if too many."""
    n_rows = len(centered)
    group = min(max(n_rows // (8 * n_neighbors), 1), GROUP)
    first, second = _factors(centered, lengths, -(-n_rows // group) * group)
    slack = _slack(lengths, centered.shape[1])
    size = max(CELLS // len(second), 1)
    block = np.empty((min(size, n_rows), len(second)), dtype=np.float32)
    pairs = []
    for start in range(0, n_rows, size):
        part = slice(start, start + size)
        squares = np.matmul(first[part], second.T, out=block[: len(first[part])])
        np.fill_diagonal(squares[:, start:], np.inf)
        lines, others = _candidates(squares, slack[part], n_neighbors, group)
        if len(lines) > CROWDED * (n_neighbors + 1) * len(squares):
            return None
        pairs.append((start + lines) * n_rows + others)
    return np.divmod(np.sort(np.concatenate(pairs)), n_rows)


def _factors(centered: Floats, lengths: Floats, width: int) -> tuple[AnyArray, AnyArray]:
    """Return matrices whose product holds |x|^2 - 2 xz + |z|^2, with columns that are far away."""
    n_rows, n_columns = centered.shape
    first = np.ones((n_rows, n_columns + 2), dtype=np.float32)
    first[:, :-2], first[:, -2] = centered, lengths
    second = np.zeros((width, n_columns + 2), dtype=np.float32)
    second[:n_rows, :-2] = centered
    second[:n_rows, :-2] *= -2.0
    second[:n_rows, -2] = 1.0
    second[:n_rows, -1], second[n_rows:, -1] = lengths, BEYOND
    return first, second


def _slack(lengths: Floats, n_columns: int) -> Floats:
    """Return by how much two squared distances of each row may be wrong, in sum.

    A sum of d + 2 products is wrong by less than d + 2 times the unit roundoff, half of EPSILON,
    times the sum of their sizes, here at most 2 (|x|^2 + |z|^2); four more are for rounded factors.
    """
    slack = 2.0 * (n_columns + 6) * EPSILON * (lengths + lengths.max())
    return np.asarray(slack, dtype=np.float32)


def _candidates(
    squares: AnyArray, slack: Floats, n_neighbors: int, group: int
) -> tuple[Ints, Ints]:
    """Return pairs of lines and columns with the nearest of each line among them.

    The nearest of enough groups are a bound, and only groups that reach it are looked at again.
    """
    table = squares.reshape(len(squares), group, -1)
    nearest = table.min(axis=1)
    limits = np.partition(nearest, n_neighbors - 1, axis=1)[:, n_neighbors - 1] + slack
    lines, groups = np.divmod(np.flatnonzero(nearest <= limits[:, None]), nearest.shape[1])
    inside = np.flatnonzero(table[lines, :, groups] <= limits[lines, None])
    hits, members = np.divmod(inside, group)
    return lines[hits], members * nearest.shape[1] + groups[hits]


def _nearest(rows: Floats, which: Ints, others: Ints, n_neighbors: int) -> tuple[Floats, Ints]:
    """Return the nearest of the candidates of each row, measured in double precision."""
    counts = np.bincount(which)
    places = np.arange(len(which)) - np.repeat(np.cumsum(counts) - counts, counts)
    distances = np.full((len(rows), counts.max()), np.inf)
    distances[which, places] = _measured(rows, which, others)
    numbers = np.zeros(distances.shape, dtype=np.intp)
    numbers[which, places] = others
    lines = np.arange(len(rows))[:, None]
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    return distances[lines, order], numbers[lines, order]


def _measured(rows: Floats, which: Ints, others: Ints) -> Floats:
    """Return the distances between rows and others, some at a time."""
    squares = np.empty(len(which))
    size = max(CELLS // (8 * rows.shape[1]), 1)
    for part in (slice(start, start + size) for start in range(0, len(which), size)):
        gaps = rows.take(which[part], axis=0)
        gaps -= rows.take(others[part], axis=0)
        np.einsum("ij,ij->i", gaps, gaps, out=squares[part])
    return np.sqrt(squares)
