"""Rounds of successive halving: who goes on, with how many resources, on which rows."""

from collections.abc import Sequence
from math import ceil, floor, log

import numpy as np

from leavezero._random import stream
from leavezero._typing import AnyArray, Ints
from leavezero.engine import Candidate, Planner, Record, Trial

ROWS = "n_samples"


class HalvingStrategy:
    """Rounds in which the best share of the candidates goes on with more resources.

    The last round has the most resources: all rows, where rows are the resource. The rows of a
    round are among those of the next.
    """

    def __init__(
        self,
        planner: Planner,
        *,
        factor: float,
        resource: str,
        resources: Sequence[int],
        order: Ints,
    ) -> None:
        self._planner = planner
        self._factor = factor
        self._resource = resource
        self._order = order  # rows of the data; a round takes the first ones
        self.resources = list(resources)
        self.sizes: list[int] = []
        self._survivors = planner.candidates
        self._row = 0
        n_candidates, self.n_trials = len(self._survivors), 0
        for _ in self.resources:
            self.n_trials += n_candidates
            n_candidates = ceil(n_candidates / factor)

    def ask(self) -> Sequence[Trial]:
        """Return the survivors with the resources of the next round."""
        round_ = len(self.sizes)
        if round_ == len(self.resources):
            return []
        self.sizes.append(len(self._survivors))
        trials = [
            self._trial(candidate, round_, self._row + at)
            for at, candidate in enumerate(self._survivors)
        ]
        self._row += len(trials)
        return trials

    def tell(self, records: Sequence[Record]) -> None:
        """Keep the best share; ties go to the first in canonical order."""
        n_kept = ceil(len(records) / self._factor)
        scores = [-np.inf if np.isnan(r.main_score) else r.main_score for r in records]
        order = sorted(range(len(records)), key=lambda at: (-scores[at], self._survivors[at].key))
        self._survivors = [self._survivors[at] for at in sorted(order[:n_kept])]

    def _trial(self, candidate: Candidate, round_: int, row: int) -> Trial:
        amount, last = self.resources[round_], round_ == len(self.resources) - 1
        columns = {"iter": round_, "n_resources": amount}
        if self._resource == ROWS:
            rows = None if last else np.sort(self._order[:amount])
            return Trial(candidate, row, rows=rows, may_win=last, round=round_, columns=columns)
        named = {self._resource: amount}
        settings, params = {**candidate.settings, **named}, {**candidate.params, **named}
        richer = Planner("a round").candidate(candidate.estimator, settings, params)
        return Trial(richer, row, may_win=last, round=round_, columns=columns)


def schedule(
    n_candidates: int, factor: float, smallest: int, most: int, exhaust: bool
) -> list[int]:
    """Return the resources of each round; the last has the most.

    As many rounds as leave one round's share of candidates for the last, unless the resources
    are used up before.
    """
    smallest = min(smallest, most)
    needed = 1 + floor(log(max(1, n_candidates), factor) + 1e-9)
    possible = 1 + floor(log(most / smallest, factor) + 1e-9)
    n_rounds = max(1, min(needed, possible))
    if exhaust:
        smallest = max(smallest, int(most / factor ** (n_rounds - 1)))
    return [min(most, int(smallest * factor**at)) for at in range(n_rounds - 1)] + [most]


def stratified_order(target: AnyArray, classes: bool, root: np.random.SeedSequence) -> Ints:
    """Return rows in a random order in which every beginning has each class by its share."""
    rng = stream(root, "halving")
    shuffled = rng.permutation(len(target))
    if not classes or target.ndim > 1:
        return shuffled
    place = np.empty(len(target))
    for label in np.unique(target):
        rows = shuffled[target[shuffled] == label]
        place[rows] = (np.arange(len(rows)) + 0.5) / len(rows)
    return shuffled[np.argsort(place[shuffled], kind="stable")]
