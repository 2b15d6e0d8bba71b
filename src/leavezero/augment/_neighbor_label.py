"""New rows near a given one, with the label of another."""

from typing import Any, ClassVar

import numpy as np

from leavezero._random import stream
from leavezero._typing import Ints
from leavezero.augment._base import Draw, TableAugmenter
from leavezero.augment._mixup import _ANYTHING, check_n_neighbors, mix, nearest_rows
from leavezero.augment._strata import quotas
from leavezero.augment._target import Target


class NeighborLabelAugmenter(TableAugmenter):
    """Put a new row near a given one, and give it the label of one of that row's neighbours.

    A row's own label is never copied to a place where a model has memorised it: 1-nearest-
    neighbour scores what neighbours agree on, not 1. The price is that V's labels are noisier
    than the data's, so that scores are too low and smooth models are favoured.

    Parameters
    ----------
    n_neighbors : int, default=3
        The label comes from a given row; the new row lies near one of so many nearest rows of it,
        of any class, never near the row itself.

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As for :class:`LabelInvariantMixup`.

    Notes
    -----
    The rows that give their label are drawn with the shares that the classes have, so that the
    label marginal is kept exactly. The new row lies up to half-way between the neighbour and
    one of the neighbour's own neighbours. Neighbours are of the same group where groups are given.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import NeighborLabelAugmenter
    >>> X = np.array([[0.0], [1.0], [2.0], [10.0], [11.0], [12.0]])
    >>> V = NeighborLabelAugmenter(1).fit(X, [0, 0, 0, 1, 1, 1]).sample(6, random_state=0)
    >>> bool(np.all((V.X[:, 0] > 5) == (V.y == 1)))
    True
    """

    takes: ClassVar[frozenset[str]] = _ANYTHING

    def __init__(self, n_neighbors: int = 3) -> None:
        self.n_neighbors = n_neighbors

    def _check_parameters(self) -> None:
        check_n_neighbors(self.n_neighbors, type(self).__name__)

    def _fit(self, values: Any, target: Target, groups: Ints | None) -> None:
        if len(target) < 2:
            raise ValueError(
                "NeighborLabelAugmenter needs at least two rows, got 1 sample. "
                "Use LabelInvariantMixup."
            )
        assert self._codec is not None
        categories = self._codec.categories
        self._values, self._given, self._categories = values, target, categories
        if groups is None:
            self._nearest = nearest_rows(values, self.n_neighbors, categories)
            return
        # Every row has as many places as the largest group fills; a lone row is its own neighbour.
        self._nearest = np.tile(np.arange(len(target))[:, None], self.n_neighbors)
        for group in np.unique(groups):
            members = np.flatnonzero(groups == group)
            if len(members) > 1:
                found = members[nearest_rows(values[members], self.n_neighbors, categories)]
                places = np.arange(self.n_neighbors) % found.shape[1]
                self._nearest[members] = found[:, places]

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> Draw:
        rng = stream(root, "rows")
        codes = self._given.codes
        present, counts = np.unique(codes, return_counts=True)
        givers = []
        for code, size in zip(present, quotas(counts, n_samples), strict=True):
            members = np.flatnonzero(codes == code)
            givers.append(members[rng.integers(len(members), size=size)])
        giver = np.concatenate(givers)[stream(root, "order").permutation(n_samples)]
        place = self._one_near(giver, rng)
        partner = self._one_near(place, rng)
        weight = rng.uniform(0.5, 1.0, size=(n_samples, 1))
        values = mix(self._values[place], self._values[partner], weight, rng, self._categories)
        numbers = None if self._given.numbers is None else self._given.numbers[giver]
        return Draw(values, codes[giver], numbers, np.column_stack([place, partner, giver]))

    def _one_near(self, rows: Ints, rng: np.random.Generator) -> Ints:
        return self._nearest[rows, rng.integers(self._nearest.shape[1], size=len(rows))]
