"""Which rows of two samples teach a classifier, and which it is asked about."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from leavezero._typing import Ints


@dataclass(frozen=True, eq=False)
class Sides:
    """Positions of rows of the data (``given``) and of V (``drawn``) that belong together."""

    given: Ints
    drawn: Ints

    def fewest(self) -> int:
        """Return the number of rows of the smaller side."""
        return min(len(self.given), len(self.drawn))


@dataclass(frozen=True, eq=False)
class Fold:
    """One part to be asked about, and the rest to learn from.

    ``inner`` holds pairs of rows to learn from and rows to calibrate by, inside the rest.
    """

    train: Sides
    inner: tuple[tuple[Sides, Sides], ...]
    test: Sides

    def fewest(self) -> int:
        """Return the rows of the smallest side anywhere in the fold."""
        inner = [sides.fewest() for pair in self.inner for sides in pair]
        return min(self.train.fewest(), self.test.fewest(), *inner)


def parts_of(n_rows: int, n_parts: int, rng: np.random.Generator, strata: Ints) -> Ints:
    """Return the part of each row: as equal as can be, in every stratum and in all.

    Examples
    --------
    >>> strata = np.array([0, 0, 0, 0, 1, 1])
    >>> parts = parts_of(6, 2, np.random.default_rng(0), strata)
    >>> np.bincount(parts), np.bincount(parts[strata == 1])
    (array([3, 3]), array([1, 1]))
    """
    shuffled = rng.permutation(n_rows)
    order = shuffled[np.argsort(strata[shuffled], kind="stable")]
    parts = np.empty(n_rows, dtype=np.intp)
    parts[order] = np.arange(n_rows) % n_parts
    return parts


def nested_folds(n_parts: int, rows_of: Callable[[frozenset[int]], Sides]) -> list[Fold]:
    """Return a fold for each part; inside a fold each other part is held back in turn.

    ``rows_of`` tells the rows of a set of parts. Where V leans on the data, V's rows of a set of
    parts are drawn from those parts alone, so that nothing straddles a border.
    """
    folds = []
    everything = frozenset(range(n_parts))
    for part in range(n_parts):
        rest = everything - {part}
        inner = tuple((rows_of(rest - {held}), rows_of(frozenset({held}))) for held in sorted(rest))
        folds.append(Fold(rows_of(rest), inner, rows_of(frozenset({part}))))
    return folds


def sets_of_parts(n_parts: int) -> list[frozenset[int]]:
    """Return every set of parts that nested folds ask for."""
    seen: dict[frozenset[int], None] = {}

    def note(parts: frozenset[int]) -> Sides:
        seen[parts] = None
        return Sides(np.empty(0, dtype=np.intp), np.empty(0, dtype=np.intp))

    nested_folds(n_parts, note)
    return list(seen)


def restricted(folds: Sequence[Fold], keep: Callable[[Ints], Ints]) -> list[Fold]:
    """Return the folds with only the rows that ``keep`` lets through."""

    def only(sides: Sides) -> Sides:
        return Sides(keep(sides.given), keep(sides.drawn))

    return [
        Fold(only(f.train), tuple((only(a), only(b)) for a, b in f.inner), only(f.test))
        for f in folds
    ]
