"""The ways of choosing C that Table 3 compares."""

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.svm import SVC

from leavezero._typing import AnyArray, Floats
from leavezero.augment import LabelInvariantMixup, NeighborMixup
from leavezero.search import GridSearchLZO

FOLDS = "10-fold CV"
FOLDS_LARGEST = "10-fold CV, largest C"
MIXUP = "mix-up, m = n"
MIXUP_10 = "mix-up, m = 10 n"
AUTO = "auto, m = n"
AUTO_10 = "auto, m = 10 n"
SHIFTED = "shifted labels, m = n"
SHIFTED_10 = "shifted labels, m = 10 n"
N_FOLDS = 10


@dataclass(frozen=True, eq=False)
class Choosing:
    """What every way is given: training rows, the values of C, a limit and a seed."""

    X: Floats
    y: AnyArray
    powers: Sequence[int]  # of two, increasing
    max_iter: int
    seed: int

    @property
    def model(self) -> SVC:
        """The model of the table."""
        return SVC(kernel="linear", max_iter=self.max_iter)

    @property
    def grid(self) -> dict[str, list[float]]:
        """The values of C."""
        return {"C": [2.0**power for power in self.powers]}


@dataclass(frozen=True, eq=False)
class Chosen:
    """A model trained on all training rows, what it cost, and how many fits did not converge."""

    model: Any
    seconds: float
    unconverged: int

    @property
    def power(self) -> int:
        """The binary logarithm of the chosen C."""
        return int(np.log2(self.model.C))


def choose(way: str, given: Choosing) -> Chosen:
    """Let one way choose, and take the time that the processor spent on it."""
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        started = time.process_time()
        model = WAYS[way](given)
        seconds = time.process_time() - started
    failures = sum(issubclass(one.category, ConvergenceWarning) for one in heard)
    return Chosen(model, seconds, failures)


def _by_folds(given: Choosing, refit: Any = True) -> Any:
    folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=given.seed)
    search = GridSearchCV(given.model, given.grid, cv=folds, refit=refit)
    return search.fit(given.X, given.y).best_estimator_


def _by_mixup(given: Choosing, n_replicates: int) -> Any:
    """Choose as the paper's Algorithms 1 and 2 do."""
    search = GridSearchLZO(
        given.model,
        given.grid,
        augmenter=LabelInvariantMixup(alpha=1.0),
        n_replicates=n_replicates,
        unseen="off",
        random_state=given.seed,
    )
    return search.fit(given.X, given.y).best_estimator_


def _by_default(given: Choosing, n_replicates: int) -> Any:
    search = GridSearchLZO(
        given.model, given.grid, n_replicates=n_replicates, random_state=given.seed
    )
    return search.fit(given.X, given.y).best_estimator_


def _by_folds_largest(given: Choosing) -> Any:
    return _by_folds(given, refit=lambda table: _last_best(table["mean_test_score"]))


def _by_shifted_labels(given: Choosing, n_replicates: int) -> Any:
    """Choose as the published code does, its slip included; never a way to choose.

    A row of V lies between a row and its nearest neighbour of the class, and has the next class's
    label, so that a model is praised for taking one class for another; the last class's rows
    match nothing. Neighbors are found on standardised columns, in the published code on raw ones.
    """
    classes, codes = np.unique(given.y, return_inverse=True)
    V = NeighborMixup().fit(given.X, codes).sample(n_replicates * len(codes), given.seed)
    models = [given.model.set_params(C=C).fit(given.X, given.y) for C in given.grid["C"]]
    answers = [np.searchsorted(classes, model.predict(V.X)) for model in models]
    return models[_last_best([np.mean(answer == V.y + 1) for answer in answers])]


def _last_best(scores: Any) -> int:
    """Return the last of the best: ties go to the largest C."""
    return int(np.flatnonzero(np.asarray(scores) == np.max(scores))[-1])


WAYS: dict[str, Callable[[Choosing], Any]] = {
    FOLDS: _by_folds,
    MIXUP: lambda given: _by_mixup(given, 1),
    MIXUP_10: lambda given: _by_mixup(given, 10),
    AUTO: lambda given: _by_default(given, 1),
    AUTO_10: lambda given: _by_default(given, 10),
    FOLDS_LARGEST: _by_folds_largest,
    SHIFTED: lambda given: _by_shifted_labels(given, 1),
    SHIFTED_10: lambda given: _by_shifted_labels(given, 10),
}
