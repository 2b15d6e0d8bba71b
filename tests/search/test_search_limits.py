"""timeout, time_budget and memory_limit of searches, and candidates whose process dies.

Every pool of worker processes takes seconds to start, so that few searches serve all tests.
"""

import ctypes
import os
import re
import signal
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

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
from leavezero.exceptions import CandidateFailedWarning, TimeBudgetError
from leavezero.execution import TaskEnded, summarize_checkpoint
from leavezero.execution._process_pool import MARK, _marked_processes, cloudpickle
from leavezero.search import _base

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
TIMED_OUT = "exceeded timeout=1 seconds and was ended"
FAULTS = {
    "sleeps": TIMED_OUT,
    "ignores SIGTERM": TIMED_OUT,
    "starts grandchildren": TIMED_OUT,
    "prints": TIMED_OUT,
    "holds the GIL": TIMED_OUT,
    "runs nested workers": TIMED_OUT,
    "does all of these": TIMED_OUT,
    "allocates": "exceeded memory_limit=150000000 bytes and was ended",
    "crashes": "its process was ended by signal SIGSEGV, twice",
    "exits": "its process ended with exit code 3, twice",
    "SystemExit": "SystemExit: 3",
    "KeyboardInterrupt": "KeyboardInterrupt",
    "MemoryError": "MemoryError: all of it",
    "RecursionError": "RecursionError: maximum recursion depth exceeded",
    "locks": "The result cannot be pickled",
    "fails": "ValueError: cannot be fitted",
    "unscored": "ValueError: cannot be scored",
}
# Faults that end the worker take a second each, so that one candidate has several of them.
TOGETHER = sorted(set(FAULTS) - {n for n in FAULTS if FAULTS[n] == TIMED_OUT} - {"exits"})
TOGETHER += ["does all of these"]
LIMITS = {"timeout": 1.0, "memory_limit": "150MB"}


class Stump(ClassifierMixin, BaseEstimator):
    """A split of one column, or a fault; each process notes its number in the folder."""

    def __init__(self, quantile=0.5, fault=None, seconds=0.0, folder=None):
        self.quantile = quantile
        self.fault = fault
        self.seconds = seconds
        self.folder = folder

    def fit(self, X, y):
        if self.folder is not None:
            Path(self.folder, str(os.getpid())).touch()
        time.sleep(self.seconds)
        self.classes_ = np.unique(y)
        self.split_ = np.quantile(X[:, 2], self.quantile)
        if self.fault == "does all of these":
            for fault in ("ignores SIGTERM", "starts grandchildren", "prints"):
                self.misbehave(fault, X, y, is_last=False)
        self.misbehave(self.fault, X, y)
        return self

    def misbehave(self, fault, X, y, is_last=True):
        match fault:
            case "ignores SIGTERM":
                signal.signal(signal.SIGTERM, signal.SIG_IGN)
            case "starts grandchildren":
                shell = "exec 2>&-; sleep 1000 & sleep 1000"  # without its message "Killed"
                os.posix_spawnp("sh", ["sh", "-c", shell], os.environ, setsid=True)
            case "prints":
                print("a line", flush=True)
                while is_last:
                    print("a line", flush=True)
            case "holds the GIL" | "does all of these":
                sum(range(10**14))
            case "runs nested workers":
                nested = Parallel(2, max_nbytes=1, batch_size=1, pre_dispatch=2)
                nested(delayed(np.sum)(np.ones(10**6)) for _ in range(10**6))
            case "sleeps in a fold" if len(y) == 150 or np.array_equal(X[0], [5.1, 3.5, 1.4, 0.2]):
                return
            case "allocates":
                arrays = []
                while True:
                    arrays.append(np.ones(10**6))
            case "crashes":
                ctypes.string_at(0)
            case "exits":
                os._exit(3)
            case "SystemExit":
                sys.exit(3)
            case "KeyboardInterrupt":
                raise KeyboardInterrupt
            case "MemoryError":
                raise MemoryError("all of it")
            case "RecursionError":
                self.misbehave(fault, X, y)
            case "locks":
                self.lock_ = threading.Lock()
            case "fails":
                raise ValueError("cannot be fitted")
            case "exits once" if not Path(self.folder, "exited").exists():
                Path(self.folder, "exited").touch()
                os._exit(3)
            case "writes":
                X[:] = 0.0
        if is_last and (fault == "sleeps in a fold" or FAULTS.get(fault) == TIMED_OUT):
            time.sleep(1000)

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


@pytest.fixture
def folder(tmp_path, monkeypatch, capfd):
    """Return a folder for the numbers of processes; assert that searches have left nothing else."""
    temporary, folder, mark = tmp_path / "temporary", tmp_path / "folder", uuid.uuid4().hex
    temporary.mkdir()
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.delenv("JOBLIB_TEMP_FOLDER", raising=False)
    monkeypatch.setenv(MARK, mark)  # which all descendants inherit
    yield folder
    assert _marked_processes(mark, None) == set()
    assert list(temporary.iterdir()) == []
    workers = [path.name for path in folder.iterdir() if path.name.isdigit()]
    assert workers
    shared = [path.name for path in Path("/dev/shm").iterdir()]
    assert not [name for name in shared if set(re.split("[-_]", name)) & set(workers)]
    out, err = capfd.readouterr()
    assert set(out.splitlines()) <= {"a line"}
    assert err == ""


@pytest.mark.parametrize(
    "faults",
    [
        *(pytest.param([fault], marks=pytest.mark.slow, id=fault) for fault in FAULTS),
        pytest.param(list(FAULTS), marks=pytest.mark.slow, id="all"),
    ],
)
def test_fault_among_healthy_candidates(reference, folder, faults):
    """It costs one candidate; no process, file or text is left."""
    grid = [{"fault": faults, "folder": [str(folder)]}, {"quantile": QUANTILES}]
    search = search_of(grid, n_jobs=2, **LIMITS)
    with pytest.warns(CandidateFailedWarning):
        search.fit(X, y)
    assert list(search.failures_) == list(range(len(faults)))
    for row, fault in enumerate(faults):
        assert FAULTS[fault] in search.failures_[row]
    assert scores(search, slice(len(faults), None)) == scores(reference)


def test_faults_together(reference, folder):
    """Each costs one candidate, also in a joint fit: its others are then fitted one by one.

    Neither a candidate that changes its data nor one whose process exits only once matters.
    """
    alone = [
        {"fault": TOGETHER, "folder": [str(folder)]},
        {"fault": ["writes"]},
        {"quantile": QUANTILES},
        {"fault": ["exits once"], "quantile": QUANTILES[:1], "folder": [str(folder)]},
    ]
    slow = {"stump__quantile": QUANTILES[:3], "stump__seconds": [0.4]}
    pipeline = make_pipeline(StandardScaler(), Stump())
    candidates = {
        "alone": (Stump(), alone),
        "joint": (pipeline, slow),
        "fault": (pipeline, [slow, {"stump__fault": ["KeyboardInterrupt"]}]),
    }
    search = CandidateSearchLZO(candidates, n_jobs=2, error_score=-1.0, **LIMITS, **FEW)
    with pytest.warns(CandidateFailedWarning) as warned:
        search.fit(X, y)
    n, m = len(TOGETHER), len(TOGETHER) + 1 + 20 + 1
    assert f"{n} of {m + 7} candidates of CandidateSearchLZO failed" in str(warned[0].message)
    assert (folder / "exited").exists()
    assert list(search.failures_) == [*range(n), m + 6]
    for row, fault in [*enumerate(TOGETHER), (m + 6, "KeyboardInterrupt")]:
        assert FAULTS[fault] in search.failures_[row]
    assert set(search.cv_results_["mean_test_score"][:n]) == {-1.0}
    assert scores(search, slice(n + 1, m - 1)) == scores(reference)
    assert scores(search, slice(m - 1, m)) == scores(reference, slice(1))
    assert search.best_score_ == reference.best_score_
    joint = [task.candidates for task in search.tasks_ if task.method == "pipeline prefix"]
    assert sorted(joint) == [(m, m + 1, m + 2), (m + 3, m + 4, m + 5, m + 6)]
    # A joint fit has as much time as its candidates: this one was not repeated one by one.
    assert len(set(search.cv_results_["mean_fit_time"][m : m + 3])) == 1
    plain = GridSearchLZO(pipeline, {"stump__quantile": QUANTILES[:3]}, **FEW).fit(X, y)
    for rows in (slice(m, m + 3), slice(m + 3, m + 6)):
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
    assert search.fit_counts_["cv"] < 10  # in the rest of the time budget
    assert search.best_score_ == np.nanmax(search.cv_results_["mean_test_score"])
    n_folds = search.fit_counts_["cv"]
    assert len(summarize_checkpoint(path).results) == 20 - n_left + n_folds
    resumed = search_of(grid, checkpoint=path).fit(X, y)
    assert resumed.fit_counts_["candidate"] == n_left
    assert scores(resumed) == scores(reference)


@pytest.mark.parametrize(
    ("model", "cv_finalists", "share"),
    [
        (SVC(), "auto", 1.0),  # has leave-one-out scores
        (SVC(), 2, 0.6),
        (DecisionTreeClassifier(), "auto", 0.6),
        (DecisionTreeClassifier(), 0, 1.0),
    ],
)
def test_folds_have_a_part_of_the_time_budget(monkeypatch, model, cv_finalists, share):
    def stop(run, strategy, models, *, limits, **options):
        raise RuntimeError(f"share {limits.share}")

    monkeypatch.setattr(_base, "evaluate", stop)
    search = GridSearchLZO(model, {"random_state": [1]}, time_budget=9, cv_finalists=cv_finalists)
    with pytest.raises(RuntimeError, match=f"share {share}"):
        search.fit(X, y)


def test_time_budget_and_timeout_of_folds():
    """Fits that are not finished are not counted, and their candidates have no fold score."""
    grid = {"quantile": QUANTILES[8:11], "seconds": [0.4]}
    search = search_of(grid, time_budget=4.0, cv_finalists="all")
    with pytest.warns(CandidateFailedWarning, match="time_budget of GridSearchLZO was spent when"):
        search.fit(X, y)
    assert search.fit_counts_["candidate"] == 3
    assert search.fit_counts_["cv"] < 15
    slow_folds = search_of({"fault": [None, "sleeps in a fold"]}, timeout=1.0, cv_finalists="all")
    slow_folds.set_params(cv=2).fit(X, y)
    assert np.isfinite(slow_folds.cv_results_["mean_cv_score"]).tolist() == [True, False]
    assert slow_folds.fit_counts_["cv"] == 4


def test_time_budget_without_a_finished_candidate_raises():
    search = search_of({"quantile": [0.4, 0.5]}, time_budget=1e-9)
    message = "No candidate of GridSearchLZO was finished within time_budget"
    with pytest.raises(TimeBudgetError, match=message):
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
