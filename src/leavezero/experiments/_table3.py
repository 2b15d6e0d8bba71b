"""The paper's Table 3: C of a linear SVM, by folds and by leave-zero-out."""

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from leavezero._random import integer_seed, seed_sequence
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.datasets import load
from leavezero.experiments._table3_ways import (
    AUTO,
    AUTO_10,
    FOLDS,
    FOLDS_LARGEST,
    MIXUP,
    MIXUP_10,
    SHIFTED,
    SHIFTED_10,
    Choosing,
    choose,
)

MAX_ITER = 1_000_000
MAX_ITER_UNSCALED = 200_000
TEST_SHARE = 0.3


@dataclass(frozen=True)
class Table3:
    """The description of the runs behind Table 3; calling it with a key does one run.

    A run is one draw of V, and of the folds, on one split of one data set: every way chooses C on
    the training rows, and the model it hands back is judged by the test rows. The first split is
    drawn on several times, so that the spread over draws of V can be told from that over splits.

    Parameters
    ----------
    data : tuple of str
        The names of the data sets.
    repeats : int, default=100
        Random splits of each, 70 % of the rows for training.
    draws : int, default=10
        Draws of V on the first split.
    scaled : bool, default=True
        Whether columns are standardised, by the training rows. The published code does not.
    published : bool, default=False
        Whether to do as the published code does, not as the paper says: the first half of every
        class trains, always the same; C goes up to 2^15; ties go to the largest C; V lies between
        nearest neighbors, and its labels are shifted by one class. ``repeats`` is ignored then.
    max_iter : int, default=1_000_000
        The solver's limit; fits that reach it are counted.
    seed : int, default=0
        Of splits, folds and V.
    directory : str or None, default=None
        Where the files of the data sets are; not part of the protocol.

    Examples
    --------
    >>> from leavezero.experiments import Table3
    >>> table = Table3(("iris",), repeats=2, draws=1)
    >>> table.keys()
    [{'data': 'iris', 'split': 0, 'draw': 0}, {'data': 'iris', 'split': 1, 'draw': 0}]
    >>> run = table(table.keys()[0])
    >>> run["n_train"], run["n_test"]
    (105, 45)
    """

    data: tuple[str, ...]
    repeats: int = 100
    draws: int = 10
    scaled: bool = True
    published: bool = False
    max_iter: int = MAX_ITER
    seed: int = 0
    directory: str | None = None

    @property
    def ways(self) -> tuple[str, ...]:
        """The ways that are compared; folds come first."""
        if self.published:
            return FOLDS_LARGEST, SHIFTED, SHIFTED_10
        return FOLDS, MIXUP, MIXUP_10, AUTO, AUTO_10

    @property
    def powers(self) -> range:
        """The values of C, as powers of two."""
        return range(-5, 16 if self.published else 6)

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share, as plain values; data sets and repeats may be added."""
        return {
            "study": "table 3",
            "model": "SVC(kernel='linear')",
            "powers of C": list(self.powers),
            "ways": list(self.ways),
            "training rows": "first half of each class" if self.published else "random 70 %",
            "scaled": self.scaled,
            "max_iter": self.max_iter,
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another; first splits come first."""
        splits = 1 if self.published else self.repeats
        runs = [(split, 0) for split in range(splits)]
        runs += [(0, draw) for draw in range(1, self.draws)]
        return [
            {"data": name, "split": split, "draw": draw}
            for split, draw in runs
            for name in self.data
        ]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: each way's accuracy on the test rows, its C, and what it cost."""
        started = time.perf_counter()
        given = load(key["data"], self.directory)
        with threadpool_limits(limits=1):
            train, test = self._rows(given.y, key["split"])
            X_train, X_test = self._features(given.X, train, test)
            seed = integer_seed(seed_sequence(self.seed), "draw", key["split"], key["draw"])
            choosing = Choosing(X_train, given.y[train], self.powers, self.max_iter, seed)
            ways = {way: _judged(way, choosing, X_test, given.y[test]) for way in self.ways}
        return {
            "ways": ways,
            "source": Path(given.source).name,
            "n_train": len(train),
            "n_test": len(test),
            "wall_seconds": round(time.perf_counter() - started, 3),
        }

    def _rows(self, y: AnyArray, split: int) -> tuple[Ints, Ints]:
        """Return the rows for training and for testing."""
        if self.published:
            return first_halves(y)
        seed = integer_seed(seed_sequence(self.seed), "split", split)
        train, test = train_test_split(np.arange(len(y)), test_size=TEST_SHARE, random_state=seed)
        return train, test

    def _features(self, X: Any, train: Ints, test: Ints) -> tuple[Floats, Floats]:
        X = np.asarray(X, dtype=float)
        if not self.scaled:
            return X[train], X[test]
        scaler = StandardScaler().fit(X[train])
        return scaler.transform(X[train]), scaler.transform(X[test])


def first_halves(y: AnyArray) -> tuple[Ints, Ints]:
    """Return the first half of every class, rounded up, and the rest.

    Examples
    --------
    >>> import numpy as np
    >>> first_halves(np.array([0, 1, 0, 1, 0]))
    (array([0, 1, 2]), array([3, 4]))
    """
    first = np.zeros(len(y), dtype=bool)
    for label in np.unique(y):
        rows = np.flatnonzero(y == label)
        first[rows[: -(-len(rows) // 2)]] = True
    return np.flatnonzero(first), np.flatnonzero(~first)


def _judged(way: str, given: Choosing, X_test: Floats, y_test: AnyArray) -> dict[str, Any]:
    chosen = choose(way, given)
    return {
        "accuracy": round(float(chosen.model.score(X_test, y_test)), 6),
        "power": chosen.power,
        "seconds": round(chosen.seconds, 4),
        "unconverged": chosen.unconverged,
    }
