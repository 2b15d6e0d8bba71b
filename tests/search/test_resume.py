"""Searches that resume from a checkpoint."""

import random
import signal
import sqlite3
import sys
import tempfile
import warnings
from typing import ClassVar

import joblib
import numpy as np
import optuna
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    CandidateSearchLZO,
    Checkpoint,
    GridSearchLZO,
    HalvingGridSearchLZO,
    OptunaSearchLZO,
    RandomizedSearchLZO,
)
from leavezero.augment import CopulaAugmenter, GaussianAugmenter
from leavezero.evaluation import resolve_rule
from leavezero.exceptions import CandidateFailedWarning
from leavezero.execution import OpenCheckpoint, summarize_checkpoint

X, y = load_iris(return_X_y=True)
FEW = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 0}
GRID = {"column": [0, 1, 2, 3], "quantile": [0.2, 0.4, 0.6, 0.8]}


class Stump(ClassifierMixin, BaseEstimator):
    """A split of one column at a quantile; all fits are listed in ``fits``."""

    fits: ClassVar = []
    interrupt_at: ClassVar = None

    def __init__(self, column=0, quantile=0.5):
        self.column = column
        self.quantile = quantile

    def fit(self, X, y):
        self.fits.append((self.column, self.quantile))
        if len(self.fits) == self.interrupt_at:
            signal.raise_signal(signal.SIGINT)
        if self.quantile < 0:
            raise ValueError("negative quantile")
        self.classes_ = np.unique(y)
        self.split_ = np.quantile(X[:, self.column], self.quantile)
        upper = X[:, self.column] > self.split_
        self.labels_ = [np.bincount(y[upper == side], minlength=3).argmax() for side in (0, 1)]
        return self

    def predict(self, X):
        return self.classes_[np.take(self.labels_, (X[:, self.column] > self.split_).astype(int))]


@pytest.fixture(autouse=True)
def _interruptible():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture
def fits():
    Stump.fits.clear()
    return Stump.fits


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.sqlite"


def stump_search(checkpoint=None, grid=GRID, **params):
    return GridSearchLZO(Stump(), grid, checkpoint=checkpoint, **FEW | params)


def results(search):
    """Return what must not depend on a checkpoint, in a form that is compared bit by bit."""
    table = {
        name: [repr(value) for value in column]
        for name, column in search.cv_results_.items()
        if not name.endswith("_time")
    }
    return [table, search.best_index_, repr(search.best_score_)]


@pytest.fixture(scope="module")
def reference():
    return results(stump_search().fit(X, y))


def test_finished_search_is_not_repeated(path, fits, reference):
    """Only the best candidate is fitted again, since models are not stored."""
    first = stump_search(path).fit(X, y)
    assert first.fit_counts_ == {"candidate": 16, "auxiliary": 0, "cv": 15, "refit": 0}
    again = stump_search(Checkpoint(path)).fit(X, y)
    assert again.fit_counts_ == {"candidate": 0, "auxiliary": 0, "cv": 0, "refit": 1}
    assert results(first) == results(again) == reference
    np.testing.assert_array_equal(first.predict(X), again.predict(X))
    assert len(fits) == 16 + 15 + 1
    assert fits[-1] == tuple(again.best_params_.values())
    np.testing.assert_array_equal(
        first.cv_results_["mean_fit_time"], again.cv_results_["mean_fit_time"]
    )
    table_only = stump_search(path, refit=False, cv_finalists=0).fit(X, y)
    assert table_only.n_fits_ == 0


def test_interrupted_search_resumes(path, fits, reference, monkeypatch):
    monkeypatch.setattr(Stump, "interrupt_at", 7)
    search = stump_search(path)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert len(search.cv_results_["params"]) == len(summarize_checkpoint(path).results) == 6
    assert search.predict(X).shape == y.shape  # by the best of the finished candidates
    finished = set(fits[:6])
    fits.clear()
    monkeypatch.setattr(Stump, "interrupt_at", None)
    resumed = stump_search(path).fit(X, y)
    assert resumed.fit_counts_["candidate"] == 10
    best = tuple(resumed.best_params_.values())
    assert [fit for fit in fits if fit in finished] == [best] * resumed.fit_counts_["refit"]
    assert results(resumed) == reference


def test_search_that_was_interrupted_in_a_fold_resumes(path, fits, reference, monkeypatch):
    """With the folds that were finished; the interrupted search predicts."""
    monkeypatch.setattr(Stump, "interrupt_at", 20)
    search = stump_search(path)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert search.fit_counts_ == {"candidate": 16, "auxiliary": 0, "cv": 0, "refit": 0}
    assert search.predict(X).shape == y.shape
    monkeypatch.setattr(Stump, "interrupt_at", None)
    resumed = stump_search(path).fit(X, y)
    assert resumed.fit_counts_ == {"candidate": 0, "auxiliary": 0, "cv": 12, "refit": 1}
    assert results(resumed) == reference


class InterruptedOnce(GaussianAugmenter):
    """Sends the signal of Ctrl-C while rows are generated."""

    def sample(self, *args, **params):
        signal.raise_signal(signal.SIGINT)
        return super().sample(*args, **params)


class InterruptedRule(type(resolve_rule("best", "a search"))):
    """Sends the signal of Ctrl-C in the selection, perhaps several times."""

    def __init__(self, n_signals=1):
        self.n_signals = n_signals

    def choose(self, *args):
        for _ in range(self.n_signals):
            signal.raise_signal(signal.SIGINT)
        return super().choose(*args)


def test_search_that_was_interrupted_while_generating(path, reference):
    """Nothing is finished, and nothing is left."""
    search = stump_search(path, augmenter=InterruptedOnce())
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert not hasattr(search, "cv_results_")
    assert list(path.parent.iterdir()) == []
    assert results(stump_search(path).fit(X, y)) == reference


def test_search_that_was_interrupted_in_the_selection(reference):
    """It is finished nevertheless, and then the interrupt is raised."""
    handler = signal.getsignal(signal.SIGINT)
    search = stump_search(select=InterruptedRule())
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert signal.getsignal(signal.SIGINT) is handler
    assert results(search) == reference
    assert search.predict(X).shape == y.shape
    twice = stump_search(select=InterruptedRule(2))
    with pytest.raises(KeyboardInterrupt):  # the second signal does not wait
        twice.fit(X, y)
    assert not hasattr(twice, "cv_results_")
    assert signal.getsignal(signal.SIGINT) is handler


def test_search_that_was_interrupted_in_the_refit(path, fits, reference, monkeypatch):
    """Only ``best_estimator_`` is missing."""
    stump_search(path).fit(X, y)  # models are not stored
    monkeypatch.setattr(Stump, "interrupt_at", len(fits) + 1)
    search = stump_search(path)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    assert results(search) == reference
    assert not hasattr(search, "best_estimator_")


# Python drops an interrupt in the finalizer of a generator and prints it.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.slow
def test_interrupt_in_any_function(path):
    """Of whatever package; what is saved is part of the result, and the same call resumes."""
    grid = {"column": [0, 1, 2, 3], "quantile": [0.2, 0.4]}
    expected, n_calls, at = results(stump_search(grid=grid).fit(X, y)), 0, -1

    def interrupt(frame, event, argument):
        nonlocal n_calls
        n_calls += event == "call"
        if n_calls == at:
            sys.setprofile(None)
            signal.raise_signal(signal.SIGINT)

    def fit(path):
        nonlocal n_calls
        n_calls, search = 0, stump_search(path, grid)
        sys.setprofile(interrupt)
        try:
            return search.fit(X, y)
        except KeyboardInterrupt:
            return search
        finally:
            sys.setprofile(None)

    fit(path)
    n_saved = []
    for at in np.linspace(1, 0.99 * n_calls, 100).astype(int):
        own = path.with_name(f"{at}.sqlite")
        search = fit(own)
        n_saved.append(len(summarize_checkpoint(own).results) if own.exists() else 0)
        if n_saved[-1]:
            assert search.predict(X).shape == y.shape
            assert len(search.cv_results_["params"]) >= min(n_saved[-1], 8)
        assert results(stump_search(own, grid).fit(X, y)) == expected
    assert min(n_saved) == 0
    assert max(n_saved) > 8  # candidates and folds


def test_candidates_can_be_added(path):
    """Also if a fixed parameter becomes part of the grid."""
    stump_search(path, {"quantile": [0.2, 0.4]}).fit(X, y)
    grid = {"quantile": [0.2, 0.4, 0.6], "column": [0, 1]}
    more = stump_search(path, grid).fit(X, y)
    assert more.fit_counts_["candidate"] == 4
    assert results(more) == results(stump_search(grid=grid).fit(X, y))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_joint_fits_with_a_checkpoint(path, n_jobs):
    small = {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]}
    large = {"n_neighbors": [1, 5, 9], "weights": ["uniform", "distance"]}
    with joblib.parallel_config(backend="threading", n_jobs=n_jobs):
        for grid, n_fits in ((small, 4), (small, 0), (large, 2), (large, 0)):
            plain = GridSearchLZO(KNeighborsClassifier(), grid, **FEW).fit(X, y)
            search = GridSearchLZO(KNeighborsClassifier(), grid, checkpoint=path, **FEW).fit(X, y)
            assert results(search) == results(plain)
            assert search.fit_counts_["candidate"] == n_fits


@pytest.mark.parametrize(
    ("model", "grid", "target", "params"),
    [
        (LogisticRegression(max_iter=1000), {"C": [0.1, 1]}, np.array(["a", "b", "c"])[y], {}),
        (LogisticRegression(max_iter=1000), {"C": [0.1, 1]}, y, {"scoring": "neg_log_loss"}),
        (RandomForestClassifier(5), {"max_depth": [1, 3]}, y, {"return_train_score": True}),
        (Ridge(), {"alpha": [0.1, 1]}, X[:, 0] * 2.0, {"augmenter": "auto"}),
        (Ridge(), {"alpha": [0.1, 1]}, X[:, :2] * 2.0, {"augmenter": "auto"}),
        (
            DecisionTreeClassifier(),
            {"max_depth": [1, 3]},
            y,
            {"scoring": ["accuracy", "f1_macro"], "refit": "f1_macro", "cv_finalists": 2},
        ),
    ],
    ids=["labels", "probabilities", "train", "regression", "outputs", "metrics"],
)
def test_kinds_of_results(path, model, grid, target, params):
    params = FEW | params
    plain = GridSearchLZO(model, grid, **params).fit(X, target)
    for _ in range(2):
        search = GridSearchLZO(model, grid, checkpoint=path, **params).fit(X, target)
        assert results(search) == results(plain)
        assert search.selection_ == plain.selection_
    assert search.fit_counts_["candidate"] == 0
    predictions = [one.predict(X) for one in (search, plain)]
    if target.dtype.kind == "f":  # a joint fit may differ from a plain one in the last digit
        np.testing.assert_allclose(*predictions)
    else:
        np.testing.assert_array_equal(*predictions)


def test_failed_candidates_are_stored(path, fits):
    """They are fitted again only if errors are raised."""
    grid = {"quantile": [-1.0, 0.5]}
    for _ in range(2):
        with pytest.warns(CandidateFailedWarning, match="negative quantile"):
            stump_search(path, grid).fit(X, y)
    assert fits.count((0, -1.0)) == 1
    with pytest.raises(ValueError, match="negative quantile"):
        stump_search(path, grid, error_score="raise").fit(X, y)


@pytest.mark.parametrize(
    "search",
    [
        RandomizedSearchLZO(DecisionTreeClassifier(), {"max_depth": range(1, 7)}, n_iter=4),
        HalvingGridSearchLZO(DecisionTreeClassifier(), {"max_depth": range(1, 7)}),
        CandidateSearchLZO(
            {"tree": (DecisionTreeClassifier(), {"max_depth": [1, 2]}), "k": KNeighborsClassifier()}
        ),
        OptunaSearchLZO(Stump(), {"quantile": [0.2, 0.4], "column": [0, 1, 2]}, n_trials=5),
    ],
    ids=lambda search: type(search).__name__,
)
def test_every_search_resumes(search, path):
    plain = results(search.set_params(**FEW).fit(X, y))
    search.set_params(checkpoint=str(path))
    for is_resumed in (False, True):
        assert results(search.fit(X, y)) == plain
        assert (search.fit_counts_["candidate"] == 0) == is_resumed


def test_optuna_search_with_more_trials(path):
    space = {"quantile": optuna.distributions.FloatDistribution(0.1, 0.9), "column": [0, 1, 2]}
    first, more, plain = (
        OptunaSearchLZO(Stump(), space, n_trials=n, checkpoint=checkpoint, **FEW).fit(X, y)
        for n, checkpoint in ((4, path), (8, path), (8, None))
    )
    assert results(more) == results(plain)
    n_fits = [search.fit_counts_["candidate"] for search in (plain, first, more)]
    assert n_fits[2] == n_fits[0] - n_fits[1]
    search = OptunaSearchLZO(Stump(), space, checkpoint=path, storage="sqlite://", **FEW)
    with pytest.raises(ValueError, match="checkpoint of OptunaSearchLZO must be None if storage"):
        search.fit(X, y)


# Checkpoints that do not fit


@pytest.mark.parametrize(
    ("params", "differences"),
    [
        ({"random_state": 1}, ["random_state", "validation set"]),
        ({"scoring": "f1_macro"}, ["scoring"]),
        ({"n_replicates": 4}, ["validation set"]),
        ({"augmenter": CopulaAugmenter()}, ["validation set"]),
        ({"return_train_score": True}, ["return_train_score"]),
        ({"loo": "only"}, ["loo", "validation set"]),
    ],
)
def test_checkpoint_of_other_parameters_raises(path, params, differences):
    model, grid = KNeighborsClassifier(), {"n_neighbors": [1, 5]}
    GridSearchLZO(model, grid, checkpoint=path, **FEW).fit(X, y)
    message = rf"belongs to another call\. These differ: {', '.join(differences)}\."
    with pytest.raises(ValueError, match=message):
        GridSearchLZO(model, grid, checkpoint=path, **FEW | params).fit(X, y)


def test_checkpoint_of_other_data_raises(path):
    weight = np.linspace(1, 2, len(y))

    def fit(X=X, y=y, weight=weight, **params):
        search = GridSearchLZO(LogisticRegression(max_iter=1000), {}, checkpoint=path, **FEW)
        search.fit(X, y, sample_weight=weight, **params)

    fit()
    for data, name in (
        ({"X": X + 1e-12}, "X,"),
        ({"y": y[::-1]}, "y,"),
        ({"weight": weight[::-1]}, "parameters of fit,"),
        ({"weight": None}, "parameters of fit"),
        ({"groups": np.arange(len(y))}, "groups,"),
    ):
        with pytest.raises(ValueError, match=f"These differ: {name}"):
            fit(**data)


def test_checkpoint_of_another_scorer_raises(path):
    """Functions are compared by their code and their closure."""

    def scorer(factor):
        return lambda model, X, y: factor * float(np.mean(model.predict(X) == y))

    stump_search(path, scoring=scorer(1.0)).fit(X, y)
    assert stump_search(path, scoring=scorer(1.0)).fit(X, y).fit_counts_["candidate"] == 0
    with pytest.raises(ValueError, match=r"These differ: scoring\."):
        stump_search(path, scoring=scorer(0.5)).fit(X, y)


def test_checkpoint_of_another_version_raises(path, monkeypatch):
    from leavezero.evaluation import _checkpointed_results

    stump_search(path).fit(X, y)
    monkeypatch.setattr(_checkpointed_results, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"version of leavezero \(was .*, is 99\.0\)"):
        stump_search(path).fit(X, y)


@pytest.mark.parametrize("random_state", [None, np.random.RandomState(0)])
def test_checkpoint_requires_a_seed(path, random_state):
    with pytest.raises(
        ValueError, match="random_state of GridSearchLZO must be an int if there is"
    ):
        stump_search(path, random_state=random_state).fit(X, y)


def test_other_file_raises_and_is_not_changed(path, fits):
    path.write_text("a text " * 500)
    with pytest.raises(ValueError, match="checkpoint"):
        stump_search(path).fit(X, y)
    assert path.read_text() == "a text " * 500
    assert fits == []


def test_damaged_result_is_computed_again(path, reference):
    stump_search(path).fit(X, y)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE results SET body = body || ' ' WHERE rowid = 3")
    connection.close()
    with pytest.warns(UserWarning, match="1 results in the checkpoint .* are damaged"):
        search = stump_search(path).fit(X, y)
    assert results(search) == reference
    assert search.fit_counts_["candidate"] == 1


@pytest.mark.parametrize("result", [None, "text", [], {}, {"loo": 5}, np.zeros(3)])
@pytest.mark.parametrize("error_score", [np.nan, "raise"])
def test_results_that_no_search_has_written_raise(path, result, error_score):
    """Somebody may have written them with a correct digest."""
    grid = {"quantile": [0.2]}
    stump_search(path, grid).fit(X, y)
    identity, keys = summarize_checkpoint(path).identity, summarize_checkpoint(path).results
    with OpenCheckpoint(path, identity, "a search") as checkpoint:
        checkpoint.save(dict.fromkeys(keys, result))
    with pytest.raises(ValueError, match="contains results that no search has written"):
        stump_search(path, grid, error_score=error_score).fit(X, y)


@pytest.mark.parametrize("part", ["replicates", "fit_time"])
@pytest.mark.parametrize("value", [None, "text", np.array(["a", "b"]), np.zeros(2, dtype="M8[s]")])
def test_scores_that_are_no_numbers_raise(path, part, value):
    grid = {"quantile": [0.2]}
    stump_search(path, grid).fit(X, y)
    summary = summarize_checkpoint(path)
    for result in summary.results.values():
        scores = next(iter(result["scores"].values()))
        (scores if part in scores else result)[part] = value
    with OpenCheckpoint(path, summary.identity, "a search") as checkpoint:
        checkpoint.save(summary.results)
    with pytest.raises(ValueError, match="contains results that no search has written"):
        stump_search(path, grid).fit(X, y)


@pytest.mark.parametrize(
    "changes",
    [
        {"error": 5},
        {"scoring_errors": "text"},
        {"scoring_errors": {"score": ["a"]}},
        {"train_scores": {"score": None}},
        {"loo": {"scores": {}, "method": None, "note": {"a": 1}}},
    ],
)
def test_other_parts_of_a_wrong_type_raise(path, changes):
    grid = {"quantile": [0.2]}
    stump_search(path, grid).fit(X, y)
    summary = summarize_checkpoint(path)
    with OpenCheckpoint(path, summary.identity, "a search") as checkpoint:
        checkpoint.save({key: one | changes for key, one in summary.results.items()})
    with pytest.raises(ValueError, match="contains results that no search has written"):
        stump_search(path, grid).fit(X, y)


@pytest.mark.slow
def test_damaged_files_give_the_same_result_or_an_error(path, reference):
    """100 variations: truncated, zeroed blocks, changed bits."""
    stump_search(path).fit(X, y)
    content, moments = path.read_bytes(), random.Random(1)
    refusals, n_damaged = [], 0
    for number in range(100):
        damaged = bytearray(content)
        at = moments.randrange(1, len(content))
        if number % 4 == 0:
            del damaged[at:]
        elif number % 4 == 1:
            damaged[at : at + 600] = bytes(len(damaged[at : at + 600]))
        else:
            damaged[at] ^= 1 << moments.randrange(8)
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                search = stump_search(path).fit(X, y)
            except ValueError as error:
                refusals.append(str(error))
                continue
        n_damaged += search.fit_counts_["candidate"] > 0
        assert {"are damaged" in str(one.message) for one in caught} <= {True}
        assert results(search) == reference
    assert refusals
    assert all("checkpoint" in text for text in refusals)
    assert n_damaged


class LargeStump(Stump):
    """A split with 12 MB of parameters: eight models are more than a search keeps in memory."""

    def fit(self, X, y):
        self.memory_ = np.full(1_500_000, self.quantile)
        return super().fit(X, y)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_full_temporary_folder_costs_memory_and_nothing_else(caplog, monkeypatch, tmp_path):
    """A limit of the system for the size of files acts as a full disk, from the second model on."""
    import resource

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    grid = {"quantile": np.linspace(0.1, 0.8, 8).tolist()}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000_000, before[1]))
    try:
        search = GridSearchLZO(LargeStump(column=2), grid, cv_finalists=0, **FEW).fit(X, y)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert "could not be stored on disk" in caplog.text
    assert search.fit_counts_["refit"] == 0
    assert search.best_estimator_.memory_[0] == search.best_params_["quantile"]
    plain = stump_search(grid=grid | {"column": [2]}, cv_finalists=0).fit(X, y)
    assert repr(search.best_score_) == repr(plain.best_score_)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="has no such limit")
def test_search_continues_when_there_is_space_again(path, reference):
    """A limit of the system for the size of files acts as a full disk."""
    import resource

    stump_search(path, {"quantile": [0.2]}, cv_finalists=0).fit(X, y)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 8_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"cannot be read or written .* Saved results are safe"):
            stump_search(path).fit(X, y)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    n_saved = len(summarize_checkpoint(path).results)
    assert 1 < n_saved < 16
    search = stump_search(path).fit(X, y)
    assert search.fit_counts_["candidate"] == 16 - n_saved
    assert results(search) == reference
