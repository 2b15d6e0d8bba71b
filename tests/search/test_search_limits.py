"""timeout, time_budget and memory_limit of searches, and candidates whose process dies.

Every pool of worker processes takes seconds to start, so that few searches serve all tests.
"""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ShuffleSplit
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    leave_zero_out_curve,
    leave_zero_out_predict,
    leave_zero_out_score,
    leave_zero_out_validate,
)
from leavezero.augment import GaussianAugmenter
from leavezero.evaluation import _evaluate
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning
from leavezero.execution import TaskEnded, summarize_checkpoint
from leavezero.execution._process_pool import cloudpickle

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="reads the memory in use from /proc"
)
# Workers cannot import a module that pytest has found by its path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, y = load_iris(return_X_y=True)
FEW = {
    "augmenter": GaussianAugmenter(),
    "n_replicates": 2,
    "cv_finalists": 0,
    "random_state": 0,
}
QUANTILES = np.linspace(0.05, 0.95, 20).round(3).tolist()
FAULTS = {
    "sleeps": "exceeded timeout=1.5 seconds and was ended",
    "allocates": "exceeded memory_limit=150000000 bytes and was ended",
    "crashes": "its process was ended by signal SIGSEGV, twice",
    "interrupts": "KeyboardInterrupt",
    "exits": "SystemExit: 3",
    "locks": "The result cannot be pickled",
    "fails": "ValueError: cannot be fitted",
    "memory": "MemoryError: all of it",
    "recursion": "RecursionError: maximum recursion depth exceeded",
    "unscored": "ValueError: cannot be scored",
}
LIMITS = {"timeout": 1.5, "memory_limit": "150MB"}


class Stump(ClassifierMixin, BaseEstimator):
    """A split of one column, or a fault."""

    def __init__(self, quantile=0.5, fault=None, seconds=0.0, marker=None):
        self.quantile = quantile
        self.fault = fault
        self.seconds = seconds
        self.marker = marker

    def fit(self, X, y):
        time.sleep(self.seconds)
        self.classes_ = np.unique(y)
        self.split_ = np.quantile(X[:, 2], self.quantile)
        match self.fault:
            case "sleeps":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
                sum(range(10**14))  # without releasing the lock of the interpreter
            case "memory":
                raise MemoryError("all of it")
            case "recursion":
                return self.fit(X, y)
            case "sleeps in folds" if len(y) < 150:
                time.sleep(1000)
            case "allocates":
                arrays = []
                while True:
                    arrays.append(np.ones(10**6))
            case "crashes":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "interrupts":
                raise KeyboardInterrupt
            case "exits":
                sys.exit(3)
            case "locks":
                self.lock_ = threading.Lock()
            case "fails":
                raise ValueError("cannot be fitted")
            case "dies once" if not Path(self.marker).exists():
                Path(self.marker).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            case "writes":
                X[:] = 0.0
        return self

    def predict(self, X):
        return self.classes_[(np.asarray(X)[:, 2] > self.split_).astype(int) * 2]

    def score(self, X, y):
        if self.fault == "unscored":
            raise ValueError("cannot be scored")
        return super().score(X, y)


def search_of(grid, **params):
    return GridSearchLZO(Stump(), grid, **FEW | params)


def scores(search, rows=slice(None)):
    """Return the scores of some candidates in a form that is compared bit by bit."""
    names = [f"split{r}_test_score" for r in range(2)] + ["mean_test_score"]
    return {name: [repr(value) for value in search.cv_results_[name][rows]] for name in names}


@pytest.fixture(scope="module")
def reference():
    return search_of({"quantile": QUANTILES}).fit(X, y)


def test_each_fault_costs_one_candidate(reference, tmp_path):
    """Also in a joint fit, whose other candidates are then fitted one by one.

    Neither a candidate that changes its data nor one whose process is killed once matters.
    """
    marker = str(tmp_path / "marker")
    alone = [
        {"fault": sorted(FAULTS)},
        {"fault": ["writes"]},
        {"quantile": QUANTILES},
        {"fault": ["dies once"], "quantile": QUANTILES[:1], "marker": [marker]},
    ]
    slow = {"stump__quantile": QUANTILES[:3], "stump__seconds": [0.6]}
    pipeline = make_pipeline(StandardScaler(), Stump())
    candidates = {
        "alone": (Stump(), alone),
        "joint": (pipeline, slow),
        "fault": (pipeline, [slow, {"stump__fault": ["sleeps"]}]),
    }
    search = CandidateSearchLZO(candidates, n_jobs=2, error_score=-1.0, **LIMITS, **FEW)
    with pytest.warns(CandidateFailedWarning) as warned:
        search.fit(X, y)
    assert "10 of 39 candidates of CandidateSearchLZO failed" in str(warned[0].message)
    assert Path(marker).exists()
    n_faults = len(FAULTS)
    assert list(search.failures_) == [*range(n_faults), 38]
    for row, fault in enumerate([*sorted(FAULTS), "sleeps"]):
        assert FAULTS[fault] in search.failures_[row if row < n_faults else 38]
    assert set(search.cv_results_["mean_test_score"][:n_faults]) == {-1.0}
    assert scores(search, slice(n_faults + 1, 31)) == scores(reference)
    assert scores(search, slice(31, 32)) == scores(reference, slice(1))
    assert search.best_score_ == reference.best_score_
    joint = [task.candidates for task in search.tasks_ if task.method == "pipeline prefix"]
    assert sorted(joint) == [(32, 33, 34), (35, 36, 37, 38)]
    # A joint fit has as much time as its candidates: this one was not repeated one by one.
    assert len(set(search.cv_results_["mean_fit_time"][32:35])) == 1
    plain = GridSearchLZO(pipeline, {"stump__quantile": QUANTILES[:3]}, **FEW).fit(X, y)
    for rows in (slice(32, 35), slice(35, 38)):
        assert scores(search, rows) == scores(plain)


def test_error_score_raise(monkeypatch):
    def ended(function, shared, tasks, **options):  # without worker processes
        yield 0, TaskEnded("timeout", 0.5)

    monkeypatch.setattr(_evaluate, "run_tasks", ended)
    search = search_of({"quantile": [0.5]}, error_score="raise", timeout=0.5)
    with pytest.raises(TimeoutError, match=r"{'quantile': 0.5}: exceeded timeout=0.5 seconds"):
        search.fit(X, y)


def test_time_budget_and_checkpoint(tmp_path, reference):
    """The best of the finished candidates is selected; the same call resumes without a budget."""
    path = tmp_path / "search.sqlite"
    grid = {"quantile": QUANTILES, "seconds": [0.2]}
    search = search_of(grid, time_budget=1.5, checkpoint=path, cv_finalists=2)
    with pytest.warns(CandidateFailedWarning) as warned:
        search.fit(X, y)
    messages = " ".join(str(one.message) for one in warned)
    n_left = len(search.failures_)
    assert 0 < n_left < 20
    assert f"{n_left} of 20 candidates of GridSearchLZO were not evaluated within" in messages
    assert "time_budget of GridSearchLZO was spent when 0 candidates were cross-val" in messages
    assert set(search.failures_.values()) == {"was not finished within time_budget=1.5 seconds"}
    assert search.fit_counts_["candidate"] == 20 - n_left
    assert search.fit_counts_["cv"] == 0
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])
    assert len(summarize_checkpoint(path).results) == 20 - n_left
    resumed = search_of(grid, checkpoint=path).fit(X, y)
    assert resumed.fit_counts_["candidate"] == n_left
    assert scores(resumed) == scores(reference)


def test_time_budget_and_timeout_of_folds():
    """Fits that are not finished are not counted, and their candidates have no fold score."""
    grid = {"quantile": QUANTILES[8:11], "seconds": [0.4]}
    search = search_of(grid, time_budget=2.2, cv_finalists="all")
    with pytest.warns(CandidateFailedWarning, match="time_budget of GridSearchLZO was spent when"):
        search.fit(X, y)
    assert search.fit_counts_["candidate"] == 3
    assert search.fit_counts_["cv"] < 15
    slow_folds = search_of({"fault": [None, "sleeps in folds"]}, timeout=1.5, cv_finalists="all")
    slow_folds.set_params(cv=ShuffleSplit(1, random_state=0)).fit(X, y)
    assert np.isfinite(slow_folds.cv_results_["mean_cv_score"]).tolist() == [True, False]
    assert slow_folds.fit_counts_["cv"] == 2


def test_time_budget_without_a_finished_candidate_raises():
    search = search_of({"quantile": [0.4, 0.5]}, time_budget=1e-9)
    message = "No candidate of GridSearchLZO was finished within time_budget"
    with pytest.raises(AllCandidatesFailedError, match=message):
        search.fit(X, y)


def test_results_with_limits_equal_those_without():
    """Candidates receive the frame with its categories."""
    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=pd.Categorical([1, 2, 3] * 50))
    models = {
        "svm": SVC(),
        "knn": (KNeighborsClassifier(), {"n_neighbors": [1, 5]}),
        "forest": RandomForestClassifier(5),
        "logistic": LogisticRegression(max_iter=500),
    }
    limits = {"timeout": 600, "time_budget": 600, "memory_limit": "4GB"}
    plain, limited = (
        CandidateSearchLZO(models, **FEW | {"augmenter": "auto"} | more).fit(frame, y)
        for more in ({}, limits)
    )
    assert scores(limited) == scores(plain)
    assert limited.feature_names_in_.tolist() == list("abcde")
    np.testing.assert_array_equal(limited.predict(frame), plain.predict(frame))


@pytest.mark.parametrize(
    "function",
    [leave_zero_out_score, leave_zero_out_validate, leave_zero_out_predict, leave_zero_out_curve],
)
@pytest.mark.parametrize("limit", ["timeout", "memory_limit"])
def test_functions_have_limits(function, limit):
    curve = {"param_name": "quantile", "param_range": [0.5]}
    params = {limit: -1} | (curve if function is leave_zero_out_curve else {})
    with pytest.raises(ValueError, match=f"{limit} of GridSearchLZO must be None"):
        function(Stump(), X, y, **params)


def test_limits_require_processes_of_this_machine():
    class ElsewhereBackend(joblib.parallel.ThreadingBackend):
        """In the role of a cluster."""

    joblib.register_parallel_backend("elsewhere", ElsewhereBackend)
    with (
        joblib.parallel_config(backend="elsewhere"),
        pytest.raises(ValueError, match="joblib's active backend is ElsewhereBackend"),
    ):
        search_of({"quantile": [0.5]}, timeout=1).fit(X, y)
