"""What neighbours say of rows: one count of votes for models that ask more or fewer of them."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from leavezero._typing import AnyArray, Bools, Floats, Ints
from leavezero.families._ballot import ballot_of

CLOSE = 1e-10  # of the votes: classes that differ by less may have the same
Said = tuple[dict[str, AnyArray], Bools]  # answers by method, and where rounding may decide them


def counts(model: Any) -> bool:
    """Tell whether every neighbour has one vote, so that sums are not rounded."""
    return model.weights is None or (isinstance(model.weights, str) and model.weights == "uniform")


def polled(
    models: Sequence[Any], distances: Floats, neighbors: Ints, targets: AnyArray
) -> list[Said]:
    """Return what k-NN models say of rows whose neighbours were found, the nearest first.

    Targets of the given rows are codes of classes, or numbers.
    """
    said: dict[int, Said] = {}
    poll = _labels if is_classifier(models[0]) else _means
    for alike in (True, False):
        some = {at: model for at, model in enumerate(models) if counts(model) is alike}
        known = {at: model for at, model in some.items() if not callable(model.weights)}
        if known:
            most = max(model.n_neighbors for model in known.values())
            votes = None if alike else _inverse(distances[:, :most])
            answers = poll(list(known.values()), votes, neighbors[:, :most], targets)
            said |= dict(zip(known, answers, strict=True))
        for at in some.keys() - known.keys():
            said[at] = _by_function(some[at], distances, neighbors, targets)
    return [said[at] for at in range(len(models))]


def _inverse(distances: Floats) -> Floats:
    """Return votes of 1 / distance; where the nearest is at distance 0, only its like vote."""
    with np.errstate(divide="ignore"):
        votes = 1.0 / distances.astype(np.float64)
    endless = np.isinf(votes)
    return np.where(endless[:, :1], endless, votes)


class Tally:
    """Votes for the classes of each row, counted neighbour by neighbour, none of them negative.

    Among classes with the same votes the first leads.
    """

    def __init__(self, n_rows: int, n_classes: int) -> None:
        self.votes = np.zeros((n_rows, n_classes))
        self.totals = np.zeros(n_rows)
        self.leaders = np.zeros(n_rows, dtype=np.intp)
        self._first, self._second = np.zeros(n_rows), np.zeros(n_rows)
        self._starts = n_classes * np.arange(n_rows)

    def count(self, codes: Ints, weights: Floats | float) -> None:
        """Add the vote of one neighbour of each row."""
        cells = self._starts + codes
        new = self.votes.take(cells) + weights
        self.votes.ravel()[cells] = new
        self.totals += weights
        passed = np.where(codes == self.leaders, 0.0, np.minimum(self._first, new))
        np.maximum(self._second, passed, out=self._second)
        level = (new == self._first) & (codes < self.leaders)
        np.copyto(self.leaders, codes, where=(new > self._first) | level)
        np.maximum(self._first, new, out=self._first)

    def close(self) -> Bools:
        """Tell where the order in which votes are added may decide between two classes."""
        return np.asarray(~(self._first - self._second > CLOSE * self._first))


def _labels(
    models: list[Any], weights: Floats | None, neighbors: Ints, codes: AnyArray
) -> list[Said]:
    """Return labels and probabilities of models that weigh votes alike, in one count."""
    tally = Tally(len(neighbors), len(models[0].classes_))
    surely = np.zeros(len(neighbors), dtype=bool)
    said: dict[int, Said] = {}
    for at, voters in enumerate(np.ascontiguousarray(neighbors.T)):
        tally.count(codes[voters], 1.0 if weights is None else weights[:, at])
        for number, model in enumerate(models):
            if model.n_neighbors == at + 1:
                answers = _answers(model, tally.leaders, tally.votes, tally.totals)
                said[number] = answers, surely if weights is None else tally.close()
    return [said[number] for number in range(len(models))]


def _answers(model: Any, leaders: Ints, votes: Floats, totals: Floats) -> dict[str, AnyArray]:
    with np.errstate(invalid="ignore"):  # no votes at all: the model itself raises
        shares = votes / totals[:, None]
    return {"predict": model.classes_.take(leaders), "predict_proba": shares}


def _means(
    models: list[Any], weights: Floats | None, neighbors: Ints, targets: AnyArray
) -> list[Said]:
    """Return means of regressors that weigh votes alike."""
    values, surely = targets[neighbors], np.zeros(len(neighbors), dtype=bool)
    parts = [slice(model.n_neighbors) for model in models]
    if weights is None:
        return [({"predict": values[:, part].mean(axis=1)}, surely) for part in parts]
    return [({"predict": _mean(weights[:, part], values[:, part])}, surely) for part in parts]


def _mean(weights: Floats, values: AnyArray) -> Floats:
    totals = weights.sum(axis=1)
    if values.ndim == 2:
        return np.asarray((values * weights).sum(axis=1) / totals)
    return np.asarray((values * weights[:, :, None]).sum(axis=1) / totals[:, None])


def _by_function(model: Any, distances: Floats, neighbors: Ints, targets: AnyArray) -> Said:
    """Return what a model says whose votes are any function of all distances of a row."""
    near, k = neighbors[:, : model.n_neighbors], model.n_neighbors
    ballot = ballot_of(model, distances[:, :k].copy(), near)
    if not is_classifier(model):
        means = _mean(ballot.weights.reshape(near.shape), targets[near])
        return {"predict": means}, np.zeros(len(near), dtype=bool)
    votes = ballot.by_class(targets, len(model.classes_))
    second, first = np.partition(np.pad(votes, ((0, 0), (1, 0))), -2, axis=1)[:, -2:].T
    close = np.asarray(~(first - second > CLOSE * np.abs(first)))
    return _answers(model, votes.argmax(axis=1), votes, votes.sum(axis=1)), close
