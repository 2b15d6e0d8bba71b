"""The given rows that are nearest to each row, by Euclidean distances.

Distances in single precision rule out nearly all pairs. What rounding can have done to them is
bounded, and only the pairs that may be neighbours then are measured again, in double precision.
"""

from collections.abc import Iterator

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints

CELLS = 2**18  # pairs at once: their distances stay near the processor
GROUP = 16  # given rows whose nearest stands for all of them, at most
SPARE = 4  # times the neighbours asked for: so many groups leave few pairs to measure
EPSILON = float(np.finfo(np.float32).eps)
LONGEST, BEYOND = 1e30, 1e38  # squared lengths that single precision holds, and one beyond all
CROWDED = 8  # times the neighbours asked for: so many candidates are too many


def nearest(rows: Floats, given: Floats, n_neighbors: int) -> tuple[Floats, Ints] | None:
    """Return distances and numbers of the given rows nearest to each row, the nearest first.

    Of equally distant ones the first count. None if there are not so many, or if rounding leaves
    too many candidates, as where a few rows are far away from all others.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.families._nearest import nearest
    >>> distances, numbers = nearest(np.array([[2.5]]), np.array([[0.0], [1.0], [3.0]]), 2)
    >>> distances.tolist(), numbers.tolist()
    ([[0.5, 1.5]], [[2, 1]])
    """
    return None if n_neighbors > len(given) else _search(rows, given, n_neighbors)


def nearest_others(rows: Floats, n_neighbors: int) -> tuple[Floats, Ints] | None:
    """Return distances and numbers of each row's nearest others, as :func:`nearest` does.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.families._nearest import nearest_others
    >>> distances, numbers = nearest_others(np.array([[0.0], [1.0], [3.0]]), 1)
    >>> distances.ravel().tolist(), numbers.ravel().tolist()
    ([1.0, 1.0, 2.0], [1, 0, 1])
    """
    return None if n_neighbors >= len(rows) else _search(rows, rows, n_neighbors)


def _search(rows: Floats, given: Floats, n_neighbors: int) -> tuple[Floats, Ints] | None:
    """Return the nearest of each row; a row is no neighbour of itself where both are one array."""
    middle = given.mean(axis=0)
    asked, known = _Centered(rows - middle), _Centered(given - middle)
    if not max(asked.longest, known.longest) < LONGEST:
        return None
    found = np.empty((len(rows), n_neighbors)), np.empty((len(rows), n_neighbors), dtype=np.intp)
    group = min(max(len(given) // (SPARE * n_neighbors), 1), GROUP)
    slack = _slack(asked.lengths, known)
    for start, squares in _squares(asked, known, group):
        part = slice(start, start + len(squares))
        if rows is given:
            np.fill_diagonal(squares[:, start:], np.inf)
        lines, numbers = _candidates(squares, slack[part], n_neighbors, group)
        if len(lines) > CROWDED * (n_neighbors + 1) * len(squares):
            return None
        found[0][part], found[1][part] = _best(rows[part], given, lines, numbers, n_neighbors)
    return found


class _Centered:
    """Rows around the given ones' mean, their squared lengths, and the largest of these."""

    def __init__(self, rows: Floats) -> None:
        self.rows = rows
        self.lengths: Floats = np.einsum("ij,ij->i", rows, rows)
        self.longest = float(self.lengths.max(initial=0.0))


def _squares(asked: _Centered, known: _Centered, group: int) -> Iterator[tuple[int, AnyArray]]:
    """Yield |z|^2 - 2 xz for some rows x at a time and all given z, and columns far away.

    For one x it orders the z as their distances do. The columns fill the last group.
    """
    first, second = _factors(asked, known, -(-len(known.rows) // group) * group)
    size = max(CELLS // len(second), 1)
    block = np.empty((min(size, len(first)), len(second)), dtype=np.float32)
    for start in range(0, len(first), size):
        part = first[start : start + size]
        yield start, np.matmul(part, second.T, out=block[: len(part)])


def _factors(asked: _Centered, known: _Centered, width: int) -> tuple[AnyArray, AnyArray]:
    n_given, n_columns = known.rows.shape
    first = np.ones((len(asked.rows), n_columns + 1), dtype=np.float32)
    first[:, :-1] = asked.rows
    first[:, :-1] *= -2.0
    second = np.zeros((width, n_columns + 1), dtype=np.float32)
    second[:n_given, :-1] = known.rows
    second[:n_given, -1], second[n_given:, -1] = known.lengths, BEYOND
    return first, second


def _slack(lengths: Floats, known: _Centered) -> AnyArray:
    """Return by how much two values of a row may be wrong, in sum.

    A sum of d + 1 products is wrong by less than d + 1 times the unit roundoff, half of EPSILON,
    times the sum of their sizes, at most 2 (|x|^2 + |z|^2); five more are for rounded factors.
    """
    slack = 2.0 * (known.rows.shape[1] + 6) * EPSILON * (lengths + known.longest)
    return np.asarray(slack, dtype=np.float32)


def _candidates(
    squares: AnyArray, slack: AnyArray, n_neighbors: int, group: int
) -> tuple[Ints, Ints]:
    """Return pairs of lines and columns, in order, with the nearest of each line among them.

    The nearest of so many groups are so many columns, and the farthest of them is a bound.
    """
    closest = squares.reshape(len(squares), group, -1).min(axis=1)
    closest.partition(n_neighbors - 1, axis=1)
    limits = closest[:, n_neighbors - 1] + slack
    return np.divmod(np.flatnonzero(squares <= limits[:, None]), squares.shape[1])


def _best(
    rows: Floats, given: Floats, lines: Ints, numbers: Ints, n_neighbors: int
) -> tuple[Floats, Ints]:
    """Return the nearest of the candidates of each row, measured in double precision."""
    counts = np.bincount(lines, minlength=len(rows))
    filled = np.arange(counts.max()) < counts[:, None]
    distances, places = np.full(filled.shape, np.inf), np.zeros(filled.shape, dtype=np.intp)
    distances[filled], places[filled] = _measured(rows, given, lines, numbers), numbers
    order = np.argsort(distances, axis=1, kind="stable")[:, :n_neighbors]
    cells = order + filled.shape[1] * np.arange(len(rows))[:, None]
    return distances.take(cells), places.take(cells)


def _measured(rows: Floats, given: Floats, lines: Ints, numbers: Ints) -> Floats:
    """Return the distances of pairs, some at a time."""
    squares = np.empty(len(lines))
    size = max(CELLS // (2 * rows.shape[1]), 1)
    for part in (slice(start, start + size) for start in range(0, len(lines), size)):
        gaps = rows.take(lines[part], axis=0)
        gaps -= given.take(numbers[part], axis=0)
        np.einsum("ij,ij->i", gaps, gaps, out=squares[part])
    return np.sqrt(squares)
