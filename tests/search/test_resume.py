"""A search with a journal loses nothing; run as a script, this file is processes that share one."""

import json
import os
import shutil
import signal
import sys
import time
import warnings
from pathlib import Path

import joblib
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from journal_stumps import (
    LOG,
    SECONDS,
    TRUSTED,
    Stump,
    X,
    Y,
    finished_in,
    fits,
    fork,
    stump_search,
    told,
    told_by_script,
)
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    OptunaSearchLZO,
    RandomizedSearchLZO,
)
from leavezero.augment import CopulaAugmenter, GaussianAugmenter
from leavezero.engine import Checkpoint, summarize_journal
from leavezero.engine._digest import digest
from leavezero.search import BaseSearchLZO

GRID = {"column": [0, 1, 2, 3], "cut": [0.2, 0.4, 0.6, 0.8]}
N_CANDIDATES = 16


ANYTHING = [{"a", "b", "c"}, DecisionTreeClassifier(class_weight={0: 1.0}), {"x": 1, "y": "z"}]


def search(checkpoint=None, *, grid=GRID, **params):
    """Return a search over stumps, not yet fitted."""
    return stump_search(grid, journal, **params)


# What follows runs in processes of its own.


def share(folder):
    """Let two processes work with one journal."""
    path, log = folder / "shared.sqlite", folder / "shared.log"
    os.environ |= {LOG: str(log), SECONDS: "0.02"}

    def work(name):
        fitted = search(path).fit(X, Y)
        (folder / name).write_text(json.dumps([told(fitted), fitted.fit_counts_["candidate"]]))

    children = [fork(lambda name=name: work(name)) for name in ("first", "second")]
    codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
    found = [json.loads((folder / name).read_text()) for name in ("first", "second")]
    return {"codes": codes, "found": found, "fits": fits(log)}


def take_over(folder):
    """Kill a process in the middle of a long fit while another waits for that candidate."""
    path, log = folder / "dead.sqlite", folder / "dead.log"
    grid = {"column": [0], "cut": [0.5]}
    os.environ |= {LOG: str(log), SECONDS: "60"}
    sleeper = fork(lambda: search(path, grid=grid).fit(X, Y))
    while not fits(log):
        time.sleep(0.01)
    n_in_work = summarize_journal(path).n_in_work
    os.environ[SECONDS] = "0"
    waiting = fork(lambda: search(path, grid=grid).fit(X, Y))
    time.sleep(0.5)
    n_before = len(fits(log))
    os.kill(sleeper, signal.SIGKILL)
    os.waitpid(sleeper, 0)
    code = os.waitstatus_to_exitcode(os.waitpid(waiting, 0)[1])
    return {"in_work": n_in_work, "before": n_before, "after": len(fits(log)), "code": code}


def full_disk(folder):
    """Let the file grow no further, as a full disk would, and then let it."""
    import resource

    path = folder / "full.sqlite"

    def limited():
        resource.setrlimit(resource.RLIMIT_FSIZE, (150_000, 150_000))
        try:
            search(path, n_replicates=60).fit(X, Y)
        except OSError as error:
            (folder / "said").write_text(f"{type(error).__name__} {error}")

    os.waitpid(fork(limited), 0)
    n_finished = len(finished_in(path))
    last = search(path, n_replicates=60).fit(X, Y)
    same = told(last) == told(search(n_replicates=60).fit(X, Y))
    return {"said": (folder / "said").read_text(), "n_finished": n_finished, "same": same}


if __name__ == "__main__":
    import skops.io  # noqa: F401 - before the processes part

    what, where = sys.argv[1], Path(sys.argv[2])
    works = {
        "share": lambda: share(where),
        "take over": lambda: take_over(where),
        "full disk": lambda: full_disk(where),
        "digest": lambda: digest(ANYTHING),
    }
    answers = {name: works[name]() for name in what.split(",")}
    print(json.dumps(answers))
    sys.exit()


@pytest.fixture(scope="module")
def told_by_processes(tmp_path_factory):
    """Return what processes that shared a journal, or had no room for it, left behind."""
    pytest.importorskip("skops")
    folder = tmp_path_factory.mktemp("processes")
    return told_by_script(__file__, "share,take over,full disk,digest", folder, timeout=120)


@pytest.fixture(scope="module")
def reference():
    """Return what the search tells without a journal."""
    return told(search().fit(X, Y))


@pytest.fixture
def log(tmp_path, monkeypatch):
    """Return the file in which every fit is noted."""
    monkeypatch.setenv(LOG, str(tmp_path / "log"))
    return tmp_path / "log"


def test_two_processes_share_the_work(told_by_processes, reference):
    """Each candidate is fitted by one of them, and both know all of it in the end."""
    seen = told_by_processes["share"]
    assert seen["codes"] == [0, 0]
    assert len(seen["fits"]) == len(set(seen["fits"])) == N_CANDIDATES
    assert sum(n_fits for _, n_fits in seen["found"]) == N_CANDIDATES
    for one, _ in seen["found"]:
        assert one == json.loads(json.dumps(reference))


def test_the_candidate_of_a_dead_process_is_taken_over(told_by_processes):
    """While it lives the other waits; when it is dead the other begins."""
    seen = told_by_processes["take over"]
    assert seen == {"in_work": 1, "before": 1, "after": 2, "code": 0}


def test_a_disk_without_room_is_said_and_costs_nothing_finished(told_by_processes):
    """The error names the file, and the same call goes on when there is room."""
    seen = told_by_processes["full disk"]
    assert seen["said"].startswith("OSError")
    assert "give the same call again: " in seen["said"]
    assert 0 < seen["n_finished"] < N_CANDIDATES
    assert seen["same"]


def test_a_digest_is_the_same_in_every_process(told_by_processes):
    """Whatever the order of a set of strings is there."""
    assert told_by_processes["digest"] == digest(ANYTHING)


def test_the_same_call_again_fits_nothing(tmp_path, log, reference):
    """All candidates and the winner come from the file."""
    pytest.importorskip("skops")
    path = tmp_path / "search.sqlite"
    first = search(path).fit(X, Y)
    again = search(path).fit(X, Y)
    assert told(first) == told(again) == reference
    assert (first.n_fits_, again.n_fits_, len(fits(log))) == (N_CANDIDATES, 0, N_CANDIDATES)
    np.testing.assert_array_equal(
        first.cv_results_["mean_fit_time"], again.cv_results_["mean_fit_time"]
    )


def test_candidates_may_be_added(tmp_path):
    """Those that are known are not fitted again, also where a fixed parameter is now searched."""
    pytest.importorskip("skops")
    path = tmp_path / "search.sqlite"
    search(path, grid={"cut": [0.2, 0.4]}).fit(X, Y)
    wider = {"cut": [0.2, 0.4, 0.6], "column": [0, 1]}
    more = search(path, grid=wider).fit(X, Y)
    assert more.fit_counts_["candidate"] == 4
    assert told(more) == told(search(grid=wider).fit(X, Y))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_is_fitted_together_is_known_together(tmp_path, n_jobs):
    """Neighbours share their distances: a group that grew is fitted again, as a whole."""
    pytest.importorskip("skops")
    path, params = tmp_path / "search.sqlite", {"random_state": 0, "n_jobs": n_jobs}
    params |= {"augmenter": GaussianAugmenter(), "n_replicates": 2}
    small = {"n_neighbors": [1, 5], "weights": ["uniform", "distance"]}
    large = {"n_neighbors": [1, 5, 9], "weights": ["uniform", "distance"]}
    with joblib.parallel_config(backend="threading"):
        for grid in (small, small, large, large):
            plain = GridSearchLZO(KNeighborsClassifier(), grid, **params).fit(X, Y)
            kept = GridSearchLZO(KNeighborsClassifier(), grid, checkpoint=path, **params).fit(X, Y)
            assert told(kept) == told(plain)
    assert kept.n_fits_ == 0


def test_candidates_that_failed_are_known_too(tmp_path, log):
    """With their traceback; error_score="raise" fits them again, and raises."""
    path, grid = tmp_path / "search.sqlite", {"cut": [-1.0, 0.5]}
    for _ in range(2):
        with pytest.warns(Warning, match="a cut below nothing"):
            search(path, grid=grid).fit(X, Y)
    assert fits(log).count("0 -1.0") == 1
    with pytest.raises(ValueError, match="a cut below nothing"):
        search(path, grid=grid, error_score="raise").fit(X, Y)


def test_an_interrupt_leaves_a_journal_that_goes_on(tmp_path, reference):
    """What was finished before control-C is not fitted again."""
    path = tmp_path / "search.sqlite"

    def interrupted(model, rows, labels):
        interrupted.n_left -= 1
        if interrupted.n_left == 0:
            raise KeyboardInterrupt
        return float((model.predict(rows) == labels).mean())

    interrupted.n_left = 20
    first = search(path, scoring=interrupted)
    with pytest.raises(KeyboardInterrupt):
        first.fit(X, Y)
    n_known = len(summarize_journal(path).finished)
    assert n_known == 6
    assert summarize_journal(path).n_in_work == 0
    second = search(path, scoring=interrupted).fit(X, Y)
    assert second.fit_counts_["candidate"] == N_CANDIDATES - n_known


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"random_state": 1}, "random_state was 0 and is 1"),
        ({"scoring": "f1_macro"}, "scoring was the default of each model and is f1_macro"),
        ({"n_replicates": 4}, "the validation set was of 450 rows in 3 replicates and is of 600"),
        ({"augmenter": CopulaAugmenter()}, r"augmenter was GaussianAugmenter\(\) and is Copula"),
        ({"return_train_score": True}, "return_train_score was False and is True"),
        ({"loo": "only"}, "unseen was V is drawn and is no V is drawn"),
    ],
)
def test_another_search_is_refused_with_what_differs(tmp_path, change, said):
    """The error names the parameter, what it was, and what it is."""
    path = tmp_path / "search.sqlite"
    tree = DecisionTreeClassifier()
    params = {"augmenter": GaussianAugmenter(), "n_replicates": 3, "random_state": 0}
    grid = {"max_depth": [1, 2]}
    GridSearchLZO(tree, grid, checkpoint=path, **params).fit(X, Y)
    with pytest.raises(ValueError, match=f"belongs to another search: {said}"):
        GridSearchLZO(tree, grid, checkpoint=path, **params | change).fit(X, Y)


def test_other_data_weights_and_estimators_are_refused(tmp_path):
    """Each by its own name."""
    path, params = tmp_path / "search.sqlite", {"n_replicates": 2, "random_state": 0}
    params |= {"augmenter": GaussianAugmenter()}
    weights = np.linspace(1, 2, len(Y))

    def fit(model, rows=X, labels=Y, **given):
        grid = {"logisticregression__C": [1.0]}
        model = make_pipeline(StandardScaler(), model)
        GridSearchLZO(model, grid, checkpoint=path, **params).fit(rows, labels, **given)

    given = {"logisticregression__sample_weight": weights}
    fit(LogisticRegression(), **given)
    with pytest.raises(ValueError, match=r"search: X has other values \(of shape \(150, 4\), as"):
        fit(LogisticRegression(), rows=X + 1e-12, **given)
    with pytest.raises(ValueError, match="search: y has other values"):
        fit(LogisticRegression(), labels=Y[::-1], **given)
    with pytest.raises(ValueError, match="search: logisticregression__sample_weight has other"):
        fit(LogisticRegression(), logisticregression__sample_weight=weights[::-1])
    with pytest.raises(ValueError, match=r"__tol of estimator was 0\.0001 and is 0\.1"):
        fit(LogisticRegression(tol=0.1), **given)


def test_a_changed_scorer_is_another_search(tmp_path):
    """Functions are known by their code and by what they close over."""

    def scorer(share):
        return lambda model, rows, labels: share * float((model.predict(rows) == labels).mean())

    search(tmp_path / "a", scoring=scorer(1.0)).fit(X, Y)
    search(tmp_path / "a", scoring=scorer(1.0)).fit(X, Y)
    with pytest.raises(ValueError, match="scoring has other values"):
        search(tmp_path / "a", scoring=scorer(0.5)).fit(X, Y)


def test_another_version_is_another_search(tmp_path, monkeypatch):
    """Its numbers may differ in the last digit."""
    import leavezero.engine._journal_identity as own

    search(tmp_path / "a").fit(X, Y)
    monkeypatch.setattr(own, "__version__", "99.0")
    with pytest.raises(ValueError, match=r"the version of leavezero was .* and is 99\.0\. Name"):
        search(tmp_path / "a").fit(X, Y)


def test_a_journal_needs_a_seed(tmp_path):
    """Another draw of V would be another search."""
    for random_state in (None, np.random.RandomState(0)):
        with pytest.raises(ValueError, match="random_state of GridSearchLZO must be an int where"):
            search(tmp_path / "a", random_state=random_state).fit(X, Y)


def test_a_journal_is_a_path():
    """Anything else is refused before any fit."""
    model = GridSearchLZO(Stump(), GRID, checkpoint=3, random_state=0)
    with pytest.raises(ValueError, match="journal of GridSearchLZO must be None, the path of a"):
        model.fit(X, Y)


def test_a_file_of_something_else_is_refused(tmp_path):
    """It is left as it was, text or database."""
    import sqlite3

    text, other = tmp_path / "notes.txt", tmp_path / "other.sqlite"
    text.write_text("Dear diary, " * 500)
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE mine (a)")
    connection.close()
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(ValueError, match=f"The file '{path}' is no journal of leavezero"):
            search(path).fit(X, Y)
        assert path.read_bytes() == before


@pytest.mark.parametrize("folder", ["nowhere", "/proc"])
def test_a_folder_that_cannot_be_written_is_said(tmp_path, folder):
    """Before any fit; not even root may write to /proc."""
    if folder == "/proc" and not Path(folder).exists():
        pytest.skip("needs Linux")
    with pytest.raises(PermissionError, match="Name a file in a folder that exists and may be"):
        search(tmp_path / folder / "search.sqlite").fit(X, Y)


@pytest.fixture(scope="module")
def whole_journal(tmp_path_factory):
    """Return the bytes of a finished journal, and of one whose log is not folded in yet."""
    folder = tmp_path_factory.mktemp("whole")
    path = folder / "search.sqlite"
    search(path, grid={"column": [0, 1, 2], "cut": [0.3, 0.5]}).fit(X, Y)
    import sqlite3

    copied = folder / "copy.sqlite"
    other = sqlite3.connect(path)
    other.execute("SELECT * FROM records").fetchone()  # keeps the log from being folded in
    search(path).fit(X, Y)
    for end in ("", "-wal"):
        shutil.copy(f"{path}{end}", f"{copied}{end}")
    other.close()
    return {
        "folded": {"": path.read_bytes()},
        "open": {end: Path(f"{copied}{end}").read_bytes() for end in ("", "-wal")},
    }


@settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_a_damaged_journal_never_gives_a_wrong_result(whole_journal, reference, tmp_path, data):
    """Cut off, or with flipped bits: an error, or the reference's result."""
    files = dict(whole_journal[data.draw(st.sampled_from(["folded", "open"]))])
    end = data.draw(st.sampled_from(sorted(files)))
    content = bytearray(files[end])
    if data.draw(st.booleans()):
        del content[data.draw(st.integers(0, len(content) - 1)) :]
    else:
        places = st.integers(0, 8 * len(content) - 1)
        for place in data.draw(st.lists(places, min_size=1, max_size=50)):
            content[place // 8] ^= 1 << place % 8
    path = tmp_path / "damaged.sqlite"
    for old in tmp_path.glob("damaged*"):
        old.unlink()
    for name, own in (files | {end: bytes(content)}).items():
        Path(f"{path}{name}").write_bytes(own)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            found = told(search(path).fit(X, Y))
        except (ValueError, OSError) as error:
            found = str(error)
    assert found == reference or str(path) in found


def test_a_damaged_record_is_fitted_again_with_a_warning(tmp_path, reference):
    """The others are not."""
    import sqlite3

    pytest.importorskip("skops")
    path = tmp_path / "search.sqlite"
    search(path).fit(X, Y)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE records SET params = params || ' ' WHERE rowid = 3")
    connection.close()
    assert summarize_journal(path).n_damaged == 1
    with pytest.warns(UserWarning, match="is damaged: a record of .* does not match its seal"):
        mended = search(path).fit(X, Y)
    assert told(mended) == reference
    assert mended.fit_counts_["candidate"] == 1


def test_a_winner_that_is_not_trusted_is_fitted_again(tmp_path, reference):
    """The fit is counted, and the model is the same."""
    path = tmp_path / "search.sqlite"
    plain = {"augmenter": GaussianAugmenter(), "n_replicates": 3, "random_state": 0}
    for n_again in (0, 1):
        fitted = GridSearchLZO(Stump(), GRID, checkpoint=str(path), **plain).fit(X, Y)
        assert fitted.fit_counts_.get("again", 0) == n_again
        assert told(fitted) == reference
    notes = {one.model for one in summarize_journal(path).finished}
    assert any("not trusted" in str(note) or "not installed" in str(note) for note in notes)


def test_without_skops_the_winner_is_fitted_again(tmp_path, monkeypatch):
    """Everything else is read."""
    import leavezero.engine._journal_models as models

    monkeypatch.setattr(models, "find_spec", lambda name: None)
    path = tmp_path / "search.sqlite"
    params = {"augmenter": GaussianAugmenter(), "checkpoint": path, "random_state": 0}
    grid = {"max_depth": [1, 2, 3]}
    first = GridSearchLZO(DecisionTreeClassifier(), grid, **params).fit(X, Y)
    again = GridSearchLZO(DecisionTreeClassifier(), grid, **params).fit(X, Y)
    assert again.fit_counts_ == {"candidate": 0, "teacher": 0, "cv_finalists": 0, "again": 1}
    assert told(first) == told(again)
    assert {one.model for one in summarize_journal(path).finished} == {"skops is not installed"}


def test_a_stored_forest_is_the_forest(tmp_path):
    """Its trees are on the list of what may be read."""
    pytest.importorskip("skops")
    params = {"augmenter": GaussianAugmenter(), "random_state": 0, "checkpoint": tmp_path / "a"}
    grid = {"n_estimators": [3, 9]}
    first = GridSearchLZO(RandomForestClassifier(), grid, **params).fit(X, Y)
    again = GridSearchLZO(RandomForestClassifier(), grid, **params).fit(X, Y)
    assert again.n_fits_ == 0
    one, other = (fitted.best_estimator_.predict_proba(X) for fitted in (first, again))
    np.testing.assert_array_equal(one, other)


def searches():
    """Yield every kind of search that keeps a journal."""
    params = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 0}
    tree, depths = DecisionTreeClassifier(), {"max_depth": [1, 2, 3, 4, 5, 6]}
    yield RandomizedSearchLZO(tree, depths, n_iter=4, **params)
    yield HalvingGridSearchLZO(tree, depths, **params)
    yield CandidateSearchLZO({"tree": (tree, depths), "near": KNeighborsClassifier()}, **params)


@pytest.mark.parametrize("model", list(searches()), ids=lambda model: type(model).__name__)
def test_every_search_goes_on(model: BaseSearchLZO, tmp_path):
    """Without another fit, with the same end."""
    pytest.importorskip("skops")
    plain = told(model.fit(X, Y))
    model.set_params(checkpoint=str(tmp_path / "search.sqlite"))
    assert told(model.fit(X, Y)) == plain
    assert told(model.fit(X, Y)) == plain
    assert model.fit_counts_["candidate"] == 0


def test_proposals_of_optuna_are_repeated_from_the_seed(tmp_path):
    """Its own storage, or a pruner, and a journal exclude each other."""
    optuna = pytest.importorskip("optuna")
    pytest.importorskip("skops")
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {"cut": optuna.distributions.FloatDistribution(0.1, 0.9), "column": [0, 1, 2, 3]}
    params = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 0}
    where = Checkpoint(tmp_path / "search.sqlite", trusted=TRUSTED)
    first = OptunaSearchLZO(Stump(), space, n_trials=4, checkpoint=where, **params).fit(X, Y)
    more = OptunaSearchLZO(Stump(), space, n_trials=8, checkpoint=where, **params).fit(X, Y)
    plain = OptunaSearchLZO(Stump(), space, n_trials=8, **params).fit(X, Y)
    assert told(more) == told(plain)
    assert more.fit_counts_["candidate"] == plain.n_fits_ - first.n_fits_
    for more in ({"pruner": optuna.pruners.NopPruner()}, {"storage": "sqlite://"}):
        refused = OptunaSearchLZO(Stump(), space, checkpoint=where, **more, **params)
        with pytest.raises(ValueError, match="journal of OptunaSearchLZO must be None where"):
            refused.fit(X, Y)
