"""scikit-learn's callbacks, printed progress, logging, and interrupts."""

import logging
import re
import subprocess
import sys
from importlib.util import find_spec

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning

TASK = "candidate-split-evaluation"  # scikit-learn's name


@pytest.fixture
def recorder():
    """Return a class of callbacks that record their calls and may request to stop."""
    if find_spec("sklearn.callback") is None:
        pytest.skip("callbacks require scikit-learn 1.9")

    class Recorder:
        def __init__(self, stop_after=None):
            self.calls, self.stop_after = [], stop_after

        def _record(self, hook, estimator, context, metadata=None, fitted=None):
            self.calls.append((hook, estimator, context.task_name, metadata, fitted))

        def count(self, hook):
            return sum(call[0] == hook for call in self.calls)

        def setup(self, estimator, context):
            self._record("setup", estimator, context)

        def teardown(self, estimator, context):
            self._record("teardown", estimator, context)

        def on_fit_task_begin(
            self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
        ):
            self._record("begin", estimator, context, metadata)

        def on_fit_task_end(
            self, estimator, context, *, X=None, y=None, metadata=None, fitted_estimator=None
        ):
            self._record("end", estimator, context, metadata, fitted_estimator)
            return self.stop_after is not None and self.count("end") >= self.stop_after

    return Recorder


@pytest.mark.parametrize("refit", [True, False])
def test_callbacks_are_called_for_the_search_and_each_candidate(data, make_search, recorder, refit):
    callback, weight = recorder(), np.arange(1.0, 41.0)
    search = make_search(LogisticRegression(), {"C": [0.1, 1, 10]}, refit=refit)
    search.set_callbacks(callback).fit(*data, sample_weight=weight)
    assert callback.count("setup") == callback.count("teardown") == 1
    n_tasks = 2 + refit + search.fit_counts_["candidate"]
    assert callback.count("begin") == callback.count("end") == n_tasks
    assert all(estimator is search for _, estimator, *_ in callback.calls)
    metadata = [c[3] for c in callback.calls if c[0] in ("begin", "end") and c[2] != "search"]
    assert all(np.array_equal(one["sample_weight"], weight) for one in metadata)


def test_callbacks_receive_a_search_that_predicts(data, grid_search, recorder):
    callback = recorder()
    search = grid_search(SVC(), {"C": [0.01, 1, 100]}).set_callbacks(callback).fit(*data)
    fitted = [c[4] for c in callback.calls if c[0] == "end" and c[2] == TASK]
    assert len(fitted) == 3
    assert fitted[-1].best_params_ == search.best_params_
    np.testing.assert_array_equal(fitted[-1].predict(data[0]), search.predict(data[0]))


def test_callbacks_are_called_for_failed_candidates(data, grid_search, recorder):
    callback = recorder()
    search = grid_search(LinearSVC(), {"C": [-1, 1]}).set_callbacks(callback)
    with pytest.warns(CandidateFailedWarning, match="1 of 2"):
        search.fit(*data)
    assert callback.count("begin") == callback.count("end") == 5
    callback = recorder()
    with pytest.raises(AllCandidatesFailedError):
        grid_search(LinearSVC(), {"C": [-1]}).set_callbacks(callback).fit(*data)
    assert callback.count("setup") == callback.count("teardown") == 1


def test_callback_that_requests_to_stop(data, grid_search, recorder):
    search = grid_search(SVC(), {"C": [0.1, 1, 10, 100]}).set_callbacks(recorder(stop_after=2))
    search.fit(*data)
    assert len(search.cv_results_["params"]) == search.fit_counts_["candidate"] == 2
    assert search.predict(data[0]).shape == (40,)


def test_callback_that_requests_to_stop_also_prevents_folds(data, grid_search, recorder):
    search = grid_search(DecisionTreeClassifier(), {"max_depth": [1, 2, 3, 4]}, loo="auto")
    assert search.fit(*data).fit_counts_["cv"] > 0
    search.set_callbacks(recorder(stop_after=2)).fit(*data)
    assert search.fit_counts_ == {"candidate": 2, "auxiliary": 0, "cv": 0, "refit": 0}


def test_callbacks_of_scikit_learn(data, grid_search, recorder):
    from sklearn.callback import ProgressBar, ScoringMonitor

    monitor = ScoringMonitor(scoring="accuracy")
    search = grid_search(SVC(), {"C": [0.1, 1.0]})
    search.set_callbacks(ProgressBar(max_propagation_depth=0), monitor).fit(*data)
    scores = [row["accuracy"] for row in monitor.get_logs().data]
    assert len(scores) == 2
    assert min(scores) > 0.7


def test_callbacks_reach_candidates_that_support_them(data, grid_search, recorder):
    """The path of a task is that in scikit-learn's searches: search, candidate, iteration."""
    from sklearn.callback import ScoringMonitor

    if not hasattr(LogisticRegression, "set_callbacks"):
        pytest.skip("no callbacks of LogisticRegression")
    monitor = ScoringMonitor(scoring="accuracy")
    model = LogisticRegression(max_iter=50).set_callbacks(monitor)
    grid_search(model, {"C": [0.1, 1.0]}, loo="auto", cv_finalists=2).fit(*data)
    iterations = [row for row in monitor.get_logs().data if row["task_name"] != "fit"]
    assert {row["task_id_path"][:3] for row in iterations} == {(0, 0, 0), (0, 0, 1)}
    assert {len(row["task_id_path"]) for row in iterations} == {4}


@pytest.mark.parametrize(
    ("verbose", "expected"),
    [
        (0, r"\A\Z"),
        (1, r"(?s)\AGridSearchLZO: augmenter [^:]*, because [^:]*\.\n\Z"),
        (2, r"GridSearchLZO: 2 of at most 2, {'C': 1.0}: score 0\.\d+, \S+ s\n\Z"),
        (3, r"score: \[0\.\d+ +0\.\d+ *\]"),
    ],
)
def test_printed_and_logged_progress(data, grid_search, capsys, caplog, verbose, expected):
    search = grid_search(SVC(), {"C": [0.1, 1.0]}, verbose=verbose, augmenter="auto")
    with caplog.at_level(logging.DEBUG, "leavezero"):
        search.fit(*data)
    assert re.search(expected, capsys.readouterr().out)
    assert "GridSearchLZO: augmenter" in caplog.text
    assert "1 of at most 2" in caplog.text


def test_printed_number_of_fits_on_folds(data, grid_search, capsys):
    tree, grid = DecisionTreeClassifier(), {"max_depth": [1, 2]}
    search = grid_search(tree, grid, loo="auto", verbose=1).fit(*data)
    assert capsys.readouterr().out == "GridSearchLZO: 2 candidates cross-validated, 10 fits.\n"
    assert search.fit_counts_["cv"] == 10


INTERRUPTED = """
import os, pathlib, signal, sys, threading, time
import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from leavezero import GridSearchLZO, HalvingGridSearchLZO, LabelInvariantMixup

signal.signal(signal.SIGINT, signal.default_int_handler)  # shells ignore it in the background

class Slow(ClassifierMixin, BaseEstimator):
    def __init__(self, number=0, folder=None):
        self.number = number
        self.folder = folder
    def fit(self, X, y):
        while self.number >= 3:
            pathlib.Path(self.folder, str(self.number)).touch()
            time.sleep(0.05)
        self.classes_ = np.unique(y)
        return self
    def predict(self, X):
        return np.full(len(X), self.classes_[0])
    def score(self, X, y):
        return float(self.number)

def interrupt(folder, n_jobs):  # once the other candidates are finished and all workers are busy
    while len(list(folder.iterdir())) < n_jobs:
        time.sleep(0.05)
    time.sleep(n_jobs - 1)  # for results on their way from a worker
    os.kill(os.getpid(), signal.SIGINT)

X, y = np.random.default_rng(0).normal(size=(40, 2)), np.tile([0, 1], 20)
for cls, n_jobs in ((GridSearchLZO, 1), (HalvingGridSearchLZO, 1), (GridSearchLZO, 2)):
    folder = pathlib.Path(sys.argv[1], f"{cls.__name__}{n_jobs}")
    folder.mkdir()
    few = {"augmenter": LabelInvariantMixup(), "n_replicates": 2, "random_state": 0}
    search = cls(Slow(folder=folder), {"number": range(5)}, n_jobs=n_jobs, **few)
    threading.Thread(target=interrupt, args=[folder, n_jobs], daemon=True).start()
    try:
        search.fit(X, y)
    except KeyboardInterrupt:
        done = [params["number"] for params in search.cv_results_["params"]]
        print(done, search.best_params_, len(search.predict(X)), search.fit_counts_["candidate"])
"""


def test_interrupt_keeps_finished_candidates(tmp_path):
    """The best of them predicts, and KeyboardInterrupt is raised.

    In the first iteration of halving, candidates were fitted to a part of the rows.
    """
    script = tmp_path / "script.py"
    script.write_text(INTERRUPTED)
    command = [sys.executable, str(script), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.stdout == "[0, 1, 2] {'number': 2} 40 3\n" * 3, done.stderr
