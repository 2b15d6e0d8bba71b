"""Stumps that note their fits, a search over them, and processes: what tests of journals share."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter
from leavezero.engine import Checkpoint, summarize_journal

X, Y = load_iris(return_X_y=True)
LOG, SECONDS = "LEAVEZERO_TEST_LOG", "LEAVEZERO_TEST_SECONDS"


class Stump(ClassifierMixin, BaseEstimator):
    """Looks at one column; notes every fit in a file, and may take its time."""

    def __init__(self, column=0, cut=0.5):
        self.column = column
        self.cut = cut

    def fit(self, X, y):
        if LOG in os.environ:
            with open(os.environ[LOG], "a") as log:
                log.write(f"{self.column} {self.cut}\n")
        time.sleep(float(os.environ.get(SECONDS, 0)))
        if self.cut < 0:
            raise ValueError("a cut below nothing")
        self.classes_ = np.unique(y)
        self.at_ = np.quantile(X[:, self.column], self.cut)
        self.lower_ = np.bincount(y[X[:, self.column] <= self.at_], minlength=3).argmax()
        self.upper_ = np.bincount(y[X[:, self.column] > self.at_], minlength=3).argmax()
        return self

    def predict(self, X):
        lower = np.asarray(X)[:, self.column] <= self.at_
        return np.where(lower, self.classes_[self.lower_], self.classes_[self.upper_])


TRUSTED = (f"{Stump.__module__}.Stump",)


def stump_search(grid, checkpoint=None, **params):
    """Return a search over stumps, not yet fitted."""
    given = {"augmenter": GaussianAugmenter(), "n_replicates": 3, "random_state": 0} | params
    where = None if journal is None else Checkpoint(journal, trusted=TRUSTED)
    return GridSearchLZO(Stump(), grid, checkpoint=where, **given)


def told(fitted):
    """Return all that must not depend on a journal, in a form that compares bit by bit."""
    table = {
        name: [repr(value) for value in column]
        for name, column in fitted.cv_results_.items()
        if not name.endswith("_time")
    }
    answers = fitted.best_estimator_.predict(X).tolist()
    return [table, int(fitted.best_index_), repr(fitted.best_score_), answers]


def fits(log):
    """Return which fits were made, in order."""
    return log.read_text().splitlines() if log.exists() else []


def finished_in(path):
    """Return the finished candidates of a journal that may not exist yet."""
    try:
        summary = summarize_journal(path)
    except ValueError:  # killed before there was a table
        return set()
    found = [eval(one.params) for one in summary.finished]
    return {f"{params['column']} {params['cut']}" for params in found}


def fork(work):
    """Run something in a child, which has imported all it needs, and return its number."""
    child = os.fork()
    if child:
        return child
    try:
        work()
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)


def told_by_script(script, what, folder, timeout):
    """Return what a file that is run as a script prints of its scenarios."""
    if not hasattr(os, "fork") or not Path("/proc/self/stat").exists():
        pytest.skip("needs Linux")
    done = subprocess.run(
        [sys.executable, script, what, str(folder)],
        capture_output=True,
        text=True,
        timeout=timeout,
        env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
