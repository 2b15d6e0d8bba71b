"""The paper's Table 5: a setting of SMIR, by folds and by leave-zero-out."""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from leavezero._random import integer_seed, seed_sequence, stream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.datasets import load, load_splits
from leavezero.experiments._table5_ways import (
    GAMMAS,
    OFFSETS,
    SETTINGS,
    WIDTHS,
    Judging,
    Setting,
    chosen,
    codes_of,
)
from leavezero.semi_supervised import predict_proba_many

SAMPLED_ROWS = 500
TEST_SHARE = 0.2
LABELED_SHARE = 0.1
BOOK_SPLITS = 12


@dataclass(frozen=True)
class Table5:
    """The description of the runs behind Table 5; calling it with a key does one run.

    A run fits all 125 settings once, each to all its training rows. Every way then chooses one,
    which is judged by rows whose label nobody was given.

    Parameters
    ----------
    data : tuple of str
        The names of the data sets.
    repeats : int, default=100
        Random samples of each, or splits of the book, of which there are twelve.
    n_labels : 10, 100 or None, default=None
        None is the protocol of SMIR's authors: 500 rows are sampled (all where there are fewer), a
        fifth of them tests, and a tenth of the rest has a label; at random, drawn again until
        every class has one. A number is that of the book's splits, in which all rows train and
        those without a label test.
    seed : int, default=0
        Of samples, folds and V.

    Examples
    --------
    >>> from leavezero.experiments import Table5
    >>> Table5(("bci", "usps"), repeats=1).keys()
    [{'data': 'bci', 'split': 0}, {'data': 'usps', 'split': 0}]
    >>> len(Table5(("bci",), n_labels=10).keys())
    12
    """

    data: tuple[str, ...]
    repeats: int = 100
    n_labels: int | None = None
    seed: int = 0

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share, as plain values; data sets and repeats may be added."""
        book = f"the book's splits with {self.n_labels} labels"
        return {
            "study": "table 5",
            "model": "SMIRClassifier()",
            "widths": [round(width, 6) for width in WIDTHS],
            "gammas": list(GAMMAS),
            "offsets": list(OFFSETS),
            "rows": "500 sampled, 80 % train, 10 % of them labelled" if not self.n_labels else book,
            "seed": self.seed,
        }

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another; first splits come first."""
        splits = self.repeats if self.n_labels is None else min(self.repeats, BOOK_SPLITS)
        return [{"data": name, "split": split} for split in range(splits) for name in self.data]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: the test error of each way's setting, and that of the best."""
        started = time.process_time()
        given = load(key["data"])
        with threadpool_limits(limits=1), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of models that label rows
            X, y, test = self._rows(key["data"], given.X, given.y, key["split"])
            seed = integer_seed(seed_sequence(self.seed), "ways", key["split"])
            result = run_ways(X, y, test, seed, full=self.n_labels is None)
        return {**result, "cpu_seconds": round(time.process_time() - started, 2)}

    def _rows(
        self, name: str, X: Table, y: AnyArray, split: int
    ) -> tuple[Table, Ints, tuple[Table, Ints]]:
        """Return training rows, their labels with -1 where there is none, and test rows."""
        if self.n_labels is not None:
            splits = load_splits(name, self.n_labels)
            codes, few = codes_of(y, splits.labeled[split])
            rest = splits.unlabeled[split]
            return X, few, (take_rows(X, rest), codes[rest])
        train, test, labeled = sampled_rows(y, self.seed, split)
        codes, few = codes_of(y, labeled)
        return take_rows(X, train), few[train], (take_rows(X, test), codes[test])


def sampled_rows(y: AnyArray, seed: int, split: int) -> tuple[Ints, Ints, Ints]:
    """Return the rows that train, those that test, and the labelled ones among the first.

    Examples
    --------
    >>> train, test, labeled = sampled_rows(np.arange(1500) % 2, 0, 0)
    >>> len(train), len(test), len(labeled)
    (400, 100, 40)
    """
    rng = stream(seed_sequence(seed), "sample", split)
    rows = rng.permutation(len(y))[:SAMPLED_ROWS]
    n_test = round(TEST_SHARE * len(rows))
    train, test = rows[n_test:], rows[:n_test]
    n_classes = len(np.unique(y))
    while True:
        labeled = rng.choice(train, round(LABELED_SHARE * len(train)), replace=False)
        if len(np.unique(y[labeled])) == n_classes:
            return train, test, labeled


def run_ways(
    X: Table,
    y: Ints,
    test: tuple[Table, Ints],
    seed: int,
    *,
    full: bool,
    settings: tuple[Setting, ...] = SETTINGS,
) -> dict[str, Any]:
    """Return the test error of the setting that each way chooses, and the oracle's.

    ``full`` also draws m = 10 n rows by mix-up, and fits folds without their rows.
    """
    judging = Judging(X, y, seed, 10 if full else 1, drops=full, settings=settings)
    errors = errors_of(judging, test)
    ways = {}
    for way, scores in judging.scores().items():
        at = chosen(way, scores, settings)
        setting = settings[at]
        ways[way] = {
            "error": round(float(errors[at]), 6),
            "setting": [round(setting.width, 4), setting.gamma, setting.offset],
        }
    counts = np.bincount(y[y >= 0])
    return {
        "ways": ways,
        "oracle": round(float(errors.min()), 6),
        "n_train": len(y),
        "n_test": len(test[1]),
        "n_labels": int(counts.sum()),
        "least_labels": int(counts.min()),
    }


def errors_of(judging: Judging, test: tuple[Table, Ints]) -> Floats:
    """Return the share of test rows that each setting gets wrong."""
    rows, truth = test
    said = predict_proba_many(judging.models, rows)
    return np.array([np.mean(scores.argmax(axis=1) != truth) for scores in said])
