"""Limits, and workers that die: one candidate is lost, and no other; with real processes."""

import os
import random
import signal
import sys
import threading
import time
import warnings
from pathlib import Path
from types import SimpleNamespace

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    OptunaSearchLZO,
    RandomizedSearchLZO,
    leave_zero_out_curve,
    leave_zero_out_predict,
    leave_zero_out_score,
)
from leavezero.augment import GaussianAugmenter
from leavezero.engine import _workers, summarize_journal
from leavezero.engine._workers_cargo import cloudpickle
from leavezero.engine._workers_handles import LostError, Nursery
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning
from leavezero.leave_one_out import Family
from leavezero.leave_one_out import _registry as registry

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="looks at processes as Linux shows them"
)
# Workers cannot import a module that pytest has found by its path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X, Y = load_iris(return_X_y=True)
HEALTHY = {"cut": np.linspace(0.05, 0.95, 20).round(3).tolist()}
FAULTS = {
    "sleeps": "TimeoutError: it took longer than timeout=1.5 seconds, and its process was ended.",
    "allocates": "MemoryError: it took more memory than memory_limit=150000000 bytes, and its",
    "exits": "RuntimeError: its process ended by itself with the exit code 1, the second time.",
    "crashes": "RuntimeError: its process was ended by the signal SIGSEGV, the second time.",
    "interrupts": "KeyboardInterrupt",
    "leaves": "SystemExit: 3",
    "fails": "ValueError: it cannot be fitted",
    "unscored": "ValueError: it cannot be scored",
}
LIMITS = {"timeout": 1.5, "memory_limit": "150MB"}


class Stump(ClassifierMixin, BaseEstimator):
    """Looks at one column, or does something that no model should."""

    def __init__(self, cut=0.5, how="well", seconds=0.0):
        self.cut = cut
        self.how = how
        self.seconds = seconds

    def fit(self, X, y):
        time.sleep(self.seconds)
        self._misbehave(X)
        self.classes_ = np.unique(y)
        self.at_ = np.quantile(X[:, 2], self.cut)
        self.lower_ = np.bincount(y[X[:, 2] <= self.at_], minlength=3).argmax()
        self.upper_ = np.bincount(y[X[:, 2] > self.at_], minlength=3).argmax()
        return self

    def _misbehave(self, X):
        if self.how == "sleeps":
            time.sleep(1000)
        if self.how == "allocates":
            held = []
            while True:
                held.append(np.ones(10**6))
        if self.how == "exits":
            os._exit(1)
        if self.how == "crashes":
            os.kill(os.getpid(), signal.SIGSEGV)
        if self.how == "interrupts":
            raise KeyboardInterrupt
        if self.how == "leaves":
            sys.exit(3)
        if self.how == "fails":
            raise ValueError("it cannot be fitted")
        if self.how == "stays":
            self.lock_ = threading.Lock()
        if self.how == "writes":
            X[:] = 0.0

    def predict(self, X):
        lower = np.asarray(X)[:, 2] <= self.at_
        return np.where(lower, self.classes_[self.lower_], self.classes_[self.upper_])


def hits(model, X, y):
    if model.how == "unscored":
        raise ValueError("it cannot be scored")
    return float(np.mean(model.predict(X) == y))


def search(grid, **params):
    """Return a search over stumps, not yet fitted."""
    given = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 0}
    return GridSearchLZO(Stump(), grid, **given | {"scoring": hits} | params)


def told(fitted, rows=slice(None)):
    """Return the results of some candidates in a form that compares bit by bit."""
    return {
        name: [repr(value) for value in np.asarray(column)[rows]]
        for name, column in fitted.cv_results_.items()
        if "_test_" in name and "rank" not in name and "low" not in name and "high" not in name
    }


@pytest.fixture(scope="module")
def reference():
    """Return the search over the healthy ones alone, in this process."""
    return search(HEALTHY).fit(X, Y)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("fault", sorted(FAULTS))
def test_one_fault_costs_one_candidate(fault, n_jobs, reference):
    """The reason stands with it, and the others are what they were."""
    grid = [{"cut": HEALTHY["cut"][:3]}, {"how": [fault]}, {"cut": HEALTHY["cut"][3:6]}]
    model = search(grid, n_jobs=n_jobs, **LIMITS)
    with pytest.warns(CandidateFailedWarning, match="GridSearchLZO"):
        model.fit(X, Y)
    assert list(model.failures_) == [3]
    assert FAULTS[fault] in model.failures_[3]
    assert told(model, [0, 1, 2, 4, 5, 6]) == told(reference, slice(6))
    assert np.isnan(model.cv_results_["mean_test_score"][3])


def test_all_faults_together_cost_no_healthy_one(reference):
    """Twenty of them, among which the best is found."""
    model = search([{"how": sorted(FAULTS)}, HEALTHY], n_jobs=2, error_score=-1.0, **LIMITS)
    with pytest.warns(CandidateFailedWarning):
        model.fit(X, Y)
    n_faults = len(FAULTS)
    assert told(model, slice(n_faults, None)) == told(reference)
    assert model.best_params_ == reference.best_params_
    assert repr(model.best_score_) == repr(reference.best_score_)
    for row, how in enumerate(sorted(FAULTS)):
        assert FAULTS[how] in model.failures_[row]
    assert set(model.cv_results_["mean_test_score"][:n_faults]) == {-1.0}


def test_a_model_that_cannot_travel_is_said():
    """It holds something that has no copy in another process."""
    model = search({"how": ["stays", "well"]}, select="vote", timeout=600)
    with pytest.warns(CandidateFailedWarning, match="The fitted model cannot be sent back"):
        model.fit(X, Y)
    assert list(model.failures_) == [0]


@pytest.mark.parametrize("fault", ["sleeps", "allocates", "exits"])
def test_a_fault_alone_is_an_error(fault):
    """With its reason."""
    with pytest.raises(AllCandidatesFailedError, match=r"All 1 candidates of GridSearchLZO fail"):
        search({"how": [fault]}, **LIMITS).fit(X, Y)


@pytest.mark.parametrize(
    ("fault", "kind"),
    [
        ("sleeps", TimeoutError),
        ("allocates", MemoryError),
        ("exits", RuntimeError),
        ("interrupts", RuntimeError),
        ("fails", ValueError),
        ("unscored", ValueError),
    ],
)
def test_an_error_is_raised_where_that_is_wanted(fault, kind):
    """Of a kind that tells the limit; what a candidate raised comes with its traceback."""
    model = search({"how": [fault, "well"]}, error_score="raise", **LIMITS)
    with pytest.raises(kind) as caught:
        model.fit(X, Y)
    said = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert FAULTS[fault] in said


def models():
    """Yield searches whose results must not depend on where they run."""
    yield SVC(), {"C": [0.1, 1.0, 10.0]}
    yield KNeighborsClassifier(), {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]}
    yield RandomForestClassifier(5), {"max_depth": [2, 4]}
    yield HistGradientBoostingClassifier(max_iter=5), {"max_depth": [2, 4]}
    yield LogisticRegression(max_iter=500), {"C": [0.1, 1.0]}


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_results_do_not_depend_on_workers(n_jobs):
    """Bit for bit, the winner's answers included."""
    for model, grid in models():
        params = {"augmenter": GaussianAugmenter(), "random_state": 0}
        plain = GridSearchLZO(model, grid, **params).fit(X, Y)
        own = GridSearchLZO(model, grid, timeout=600, n_jobs=n_jobs, **params).fit(X, Y)
        assert told(own) == told(plain)
        assert own.best_params_ == plain.best_params_
        for one in ("predict", "predict_proba", "decision_function"):
            if hasattr(plain.best_estimator_, one):
                found = [getattr(s.best_estimator_, one)(X) for s in (own, plain)]
                np.testing.assert_array_equal(*found)


def test_frames_reach_workers():
    """With their columns and categories."""
    import pandas as pd

    frame = pd.DataFrame(X, columns=list("abcd")).assign(e=pd.Categorical(["x", "y", "z"] * 50))
    model = HistGradientBoostingClassifier(max_iter=3, categorical_features="from_dtype")
    params = {"random_state": 0, "n_replicates": 2}
    plain = GridSearchLZO(model, {"max_depth": [2]}, **params).fit(frame, Y)
    own = GridSearchLZO(model, {"max_depth": [2]}, timeout=600, **params).fit(frame, Y)
    assert told(own) == told(plain)
    assert own.feature_names_in_.tolist() == list("abcde")


def test_what_a_candidate_writes_no_other_reads(reference):
    """Each task sees the data as they were given."""
    given = X.copy()
    model = search([{"how": ["writes"]}, {"cut": HEALTHY["cut"][:6]}], **LIMITS).fit(given, Y)
    assert told(model, slice(1, None)) == told(reference, slice(6))
    np.testing.assert_array_equal(given, X)


def test_without_limits_no_process_is_made(monkeypatch):
    """The default, also with a journal and one worker."""
    monkeypatch.setattr(_workers, "take_nursery", None)
    assert search({"cut": [0.5]}).fit(X, Y).n_fits_ == 1


def test_workers_that_cannot_be_started_are_said(monkeypatch):
    """After a second try."""

    class Nowhere:
        def fork(self, data):
            raise LostError("it is gone")

        def close(self):
            pass

    monkeypatch.setattr(_workers, "take_nursery", Nowhere)
    with pytest.raises(RuntimeError, match="No worker could be started: the process that forks"):
        search({"cut": [0.5]}, timeout=600).fit(X, Y)


def test_workers_settle_where_the_user_is(tmp_path, monkeypatch):
    """Folder, environment and configuration are those of the moment."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LEAVEZERO_TEST_WORD", "heard")

    def scorer(model, X, y):
        Path("seen").write_text(os.environ["LEAVEZERO_TEST_WORD"])
        warnings.warn("silent", UserWarning, stacklevel=1)
        return 1.0

    model = search({"cut": [0.5]}, timeout=600, scoring=scorer)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        assert model.fit(X, Y).best_score_ == 1.0
    assert (tmp_path / "seen").read_text() == "heard"
    with pytest.raises(AllCandidatesFailedError, match="UserWarning: silent"):
        model.fit(X, Y)  # here warnings are errors


def finished_some(fit):
    """Return what a fit gives with the first budget in which anything is finished."""
    search({"cut": [0.5]}, timeout=600).fit(X, Y)  # what forks is there
    for budget in (2.5, 10.0, 40.0):  # seconds; a slow machine needs more to begin
        try:
            return fit(budget)
        except AllCandidatesFailedError as error:
            if "before its time_budget was spent" not in str(error):
                raise
    raise AssertionError("Nothing was finished with any budget.")


def test_the_time_of_a_search_ends():
    """What was finished is judged, the best of it chosen, and the rest recorded."""

    def fit(budget):
        grid = {"cut": np.linspace(0.1, 0.9, 400), "seconds": [budget / 50]}
        return search(grid, time_budget=budget, n_jobs=2).fit(X, Y)

    with pytest.warns(CandidateFailedWarning, match="not judged, because its time_budget was"):
        model = finished_some(fit)
    n_judged = 400 - len(model.failures_)
    assert 0 < n_judged < 400
    assert set(model.failures_.values()) == {"time budget spent"}
    assert model.fit_counts_["candidate"] == n_judged
    assert model.best_score_ == np.nanmax(model.cv_results_["mean_test_score"])
    assert model.best_index_ not in model.failures_


def test_the_start_of_workers_is_not_taken_from_the_time(monkeypatch):
    """Here it takes longer than the whole search may."""
    own = Nursery.fork

    def fit(budget):
        def late(self, data):
            time.sleep(1.2 * budget)
            return own(self, data)

        with monkeypatch.context() as patch:
            patch.setattr(Nursery, "fork", late)
            return search({"cut": [0.3, 0.5]}, time_budget=budget).fit(X, Y)

    assert finished_some(fit).failures_ == {}


def test_a_budget_without_a_finished_candidate_is_an_error():
    """And ends what sleeps."""
    model = search({"how": ["sleeps"], "cut": [0.4, 0.5]}, time_budget=0.3)
    with pytest.raises(
        AllCandidatesFailedError,
        match="No candidate of GridSearchLZO was finished before its time_budget was spent: 0 fai",
    ):
        model.fit(X, Y)


def test_no_folds_where_the_time_is_spent():
    """The best is chosen without them, and that is said."""
    grid = [{"cut": [0.3, 0.5]}, {"how": ["sleeps"]}]

    def fit(budget):
        return search(grid, time_budget=budget, cv_finalists=2, n_jobs=2).fit(X, Y)

    with pytest.warns(CandidateFailedWarning) as heard:
        model = finished_some(fit)
    assert any("spent before the folds of confirm" in str(one.message) for one in heard)
    assert model.fit_counts_["cv_finalists"] == 0
    assert model.best_params_["cut"] in (0.3, 0.5)


def test_halving_that_runs_out_of_time_hands_back_its_best():
    """Of the last round that anything was finished in."""
    grid = {"cut": HEALTHY["cut"][:9], "seconds": [0.0]}
    params = {"augmenter": GaussianAugmenter(), "random_state": 0}

    def fit(budget):
        return HalvingGridSearchLZO(LateStump(), grid, time_budget=budget, **params).fit(X, Y)

    with pytest.warns(CandidateFailedWarning, match="not judged"):
        model = finished_some(fit)
    assert model.cv_results_["iter"][model.best_index_] == 0
    assert hasattr(model, "best_estimator_")


class LateStump(Stump):
    """Sleeps where it is given all rows."""

    def fit(self, X, y):
        if len(X) == 150:
            time.sleep(1000)
        return super().fit(X, y)


def test_every_search_has_limits():
    """And the functions where they apply."""
    params = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 0}
    params |= {"timeout": 600, "memory_limit": "4GB"}
    cuts = {"cut": [0.2, 0.4, 0.6]}
    CandidateSearchLZO({"stump": (Stump(), cuts)}, **params, time_budget=600).fit(X, Y)
    RandomizedSearchLZO(Stump(), cuts, n_iter=2, **params, time_budget=600).fit(X, Y)
    assert leave_zero_out_score(Stump(), X, Y, **params).shape == (2,)
    assert len(leave_zero_out_predict(Stump(), X, Y, **params)[0]) == 300
    curve = {"param_name": "cut", "param_range": [0.2, 0.4]}
    assert leave_zero_out_curve(Stump(), X, Y, **curve, **params)[0].shape == (2, 2)


def test_optuna_hears_of_those_that_were_ended():
    """They count as failed in the study, pass by pass too."""
    optuna = pytest.importorskip("optuna")
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    params = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 0}
    space = {"how": ["well", "sleeps"], "cut": [0.2, 0.5]}
    model = OptunaSearchLZO(Stump(), space, n_trials=6, timeout=1, n_jobs=2, **params)
    with pytest.warns(CandidateFailedWarning, match="TimeoutError"):
        model.fit(X, Y)
    states = {trial.state.name for trial in model.study_.trials}
    assert states == {"COMPLETE", "FAIL"}
    passes = {"pruner": optuna.pruners.MedianPruner(), "n_passes": 2, "n_trials": 2}
    own = OptunaSearchLZO(SGDClassifier(), {"alpha": [0.1, 0.2]}, timeout=600, **passes, **params)
    plain = OptunaSearchLZO(SGDClassifier(), {"alpha": [0.1, 0.2]}, **passes, **params)
    assert told(own.fit(X, Y)) == told(plain.fit(X, Y))


class Together(Family):
    """Fits stumps together; those of a kind that should not be, badly."""

    name = "stumps"

    def covers(self, estimator):
        return type(estimator).__name__ == "Stump"

    def shares(self, estimator):
        return "all"

    def fit_many(self, models, X, y, sample_weight=None):
        for model in models:
            model.fit(X, y)


@pytest.fixture
def together(monkeypatch):
    """Make all stumps one group."""
    monkeypatch.setattr(registry, "_FAMILIES", [Together(), *registry._FAMILIES])


@pytest.mark.parametrize("fault", ["sleeps", "allocates", "exits", "interrupts"])
def test_only_the_guilty_one_of_a_group_is_lost(fault, together, reference):
    """The others are tried one by one."""
    limits = {"timeout": 0.4, "memory_limit": "150MB"}
    grid = [{"cut": HEALTHY["cut"][:3]}, {"how": [fault]}]
    model = search(grid, loo=False, **limits)
    with pytest.warns(CandidateFailedWarning):
        model.fit(X, Y)
    assert list(model.failures_) == [3]
    assert told(model, slice(3)) == told(reference, slice(3))


def test_a_group_has_as_much_time_as_its_members(together):
    """Together longer than one of them may take."""
    model = search({"cut": [0.3, 0.5, 0.6], "seconds": [0.4]}, loo=False, timeout=1.0)
    assert model.fit(X, Y).failures_ == {}


@pytest.mark.parametrize("one_group", [False, True])
def test_an_answer_that_took_too_long_is_not_taken(one_group, request, monkeypatch):
    """Though nobody looked at the clock of the main process meanwhile, as while it was stopped."""
    if one_group:
        request.getfixturevalue("together")
    monkeypatch.setattr(_workers, "time", SimpleNamespace(monotonic=lambda: 0.0))
    model = search({"seconds": [0.0, 2.0]}, loo=False, timeout=0.9)
    with pytest.warns(CandidateFailedWarning):
        model.fit(X, Y)
    assert list(model.failures_) == [1]
    assert "TimeoutError: it took longer than timeout=0.9 seconds" in model.failures_[1]
    assert model.cv_results_["mean_fit_time"][1] >= 2.0


def test_limits_and_a_cluster_exclude_each_other():
    """Processes elsewhere cannot be ended from here."""

    class ElsewhereBackend(joblib.parallel.ThreadingBackend):
        """Stands in for one of many machines."""

    joblib.register_parallel_backend("elsewhere", ElsewhereBackend)
    with (
        joblib.parallel_config(backend="elsewhere"),
        pytest.raises(ValueError, match="and joblib's backend is ElsewhereBackend"),
    ):
        search({"cut": [0.5]}, timeout=1).fit(X, Y)


def children_of(pid):
    """Return the processes that a process began and that live."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            if int(fields[1]) == pid and fields[0] not in "ZX":
                found.append(int(entry.name))
    return found


def nurseries():
    """Return the processes of this one that fork workers."""
    return [p for p in children_of(os.getpid()) if "_workers_nursery" in command_line(p)]


def command_line(pid):
    """Return how a process was begun; nothing of one that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text()
    except OSError:
        return ""


class Killer(threading.Thread):
    """Kills workers at random moments, and now and then what forks them."""

    def __init__(self, seed, *, forks=False):
        super().__init__(daemon=True)
        self.moments = random.Random(seed)
        self.forks = forks
        self.most = 4 if forks else 12  # however slow the machine, most candidates are left alone
        self.ended = threading.Event()
        self.n_killed = 0

    def run(self):
        while not self.ended.wait(self.moments.uniform(0.02, 0.15)):
            targets = [w for n in nurseries() for w in children_of(n)]
            if self.forks and targets and self.moments.random() < 0.3:
                targets = nurseries()
            if targets:
                try:
                    os.kill(self.moments.choice(targets), signal.SIGKILL)
                except ProcessLookupError:
                    continue
                self.n_killed += 1
                if self.n_killed == self.most:
                    return

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


@pytest.mark.parametrize(
    ("seed", "forks"), [(0, False), (1, False), pytest.param(2, True, marks=pytest.mark.slow)]
)
def test_killed_workers_cost_nothing_that_is_not_said(seed, forks, tmp_path):
    """Signal 9 at random moments: each candidate is what it was, or recorded as failed."""
    grid = {"cut": np.linspace(0.1, 0.9, 40), "seconds": [0.04]}
    plain = search({"cut": grid["cut"]}).fit(X, Y)
    where = {"checkpoint": tmp_path / "search.sqlite"} if seed == 1 else {"timeout": 600}
    with Killer(seed, forks=forks) as killer, warnings.catch_warnings():
        warnings.simplefilter("ignore", CandidateFailedWarning)
        model = search(grid, n_jobs=2, **where).fit(X, Y)
    assert killer.n_killed > 2
    well = [row for row in range(40) if row not in model.failures_]
    assert len(well) > 20
    assert told(model, well) == told(plain, well)
    for reason in model.failures_.values():
        assert "the second time" in reason


def test_a_candidate_that_died_once_is_well(tmp_path):
    """Its worker was killed by somebody else: nothing shows in the end."""
    mark = tmp_path / "died"

    def scorer(model, X, y):
        if model.cut == 0.5 and not mark.exists():
            mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return hits(model, X, y)

    cuts = {"cut": [0.3, 0.5, 0.6]}
    model = search(cuts, n_jobs=2, timeout=600, scoring=scorer).fit(X, Y)
    assert mark.exists()
    assert model.failures_ == {}
    assert told(model) == told(search(cuts).fit(X, Y))


def test_a_journal_with_several_workers_survives_their_death(tmp_path):
    """No limit is needed, and a candidate that died is not tried by the next call."""
    path = tmp_path / "search.sqlite"
    grid = {"how": ["well", "exits"]}
    for n_fits in (2, 0):
        model = search(grid, n_jobs=2, checkpoint=path)
        with pytest.warns(CandidateFailedWarning, match="ended by itself with the exit code 1"):
            model.fit(X, Y)
        assert model.fit_counts_["candidate"] == n_fits
        assert list(model.failures_) == [1]


def test_a_wider_limit_tries_again(tmp_path):
    """What a journal knows to have gone over a limit counts for that limit and narrower ones."""
    path, grid = tmp_path / "search.sqlite", {"seconds": [0.0, 1.0]}
    for timeout, n_fits, n_failed in ((0.3, 2, 1), (0.2, 0, 1), (30, 1, 0), (0.3, 0, 0)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", CandidateFailedWarning)
            model = search(grid, checkpoint=path, timeout=timeout).fit(X, Y)
        assert (model.fit_counts_["candidate"], len(model.failures_)) == (n_fits, n_failed)


def test_what_was_not_judged_is_by_the_next_call(tmp_path, reference):
    """A journal holds no word of a candidate whose time did not come."""

    def fit(budget):
        grid, path = HEALTHY | {"seconds": [budget / 10]}, tmp_path / f"{budget}.sqlite"
        return search(grid, checkpoint=path, time_budget=budget).fit(X, Y)

    with pytest.warns(CandidateFailedWarning, match="were not judged"):
        first = finished_some(fit)
    grid, path = first.param_grid, first.journal
    n_known = len(summarize_journal(path).finished)
    assert 0 < n_known == 20 - len(first.failures_)
    second = search(grid, checkpoint=path, timeout=600, n_jobs=2).fit(X, Y)
    assert second.fit_counts_["candidate"] == 20 - n_known
    assert told(second) == told(reference)


def test_what_a_candidate_began_ends_with_it(tmp_path):
    """Processes of its own too."""
    mark = tmp_path / "began"

    class Parent(Stump):
        def fit(self, X, y):
            import subprocess

            child = subprocess.Popen(["sleep", "1000"])
            mark.write_text(str(child.pid))
            time.sleep(1000)

    params = {"augmenter": GaussianAugmenter(), "random_state": 0}
    for timeout in (0.5, 4, 32):  # a slow machine needs a while to begin it
        model = GridSearchLZO(Parent(), {"cut": [0.5]}, timeout=timeout, **params)
        with pytest.raises(AllCandidatesFailedError, match="TimeoutError"):
            model.fit(X, Y)
        if mark.exists() and mark.read_text():
            break
    child, until = int(mark.read_text()), time.monotonic() + 120
    while command_line(child) and time.monotonic() < until:
        time.sleep(0.05)
    assert not command_line(child)
