import dataclasses
import functools
import os
import sqlite3
import time
from collections import OrderedDict

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_iris
from sklearn.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    VotingClassifier,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, LinearSVC

from leavezero.engine import Candidate, Record, Sight, Trial, Verdict
from leavezero.engine import _journal_models as models
from leavezero.engine._digest import digest
from leavezero.engine._journal_claims import STALE, Claimant
from leavezero.engine._journal_identity import Part, _estimators, differences
from leavezero.engine._journal_records import decode, encode
from leavezero.engine._journal_store import DamagedError, Row, Store
from leavezero.semi_supervised import SMIRClassifier

X, Y = load_iris(return_X_y=True)
TRIAL = Trial(Candidate({"C": 1}, (), None, {}), 0)

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
values = st.recursive(
    plain, lambda own: st.lists(own) | st.dictionaries(st.text(), own), max_leaves=4
)


@given(values)
def test_equal_content_has_one_digest(value):
    """Also as a copy, with its entries in another order."""
    copied = value
    if isinstance(value, dict):
        copied = OrderedDict(reversed(value.items()))
    assert digest(copied) == digest(value)


@given(st.lists(plain, max_size=4), st.lists(plain, max_size=4))
def test_different_content_has_different_digests(one, other):
    """By type, by value, and by where one entry ends and the next begins."""
    same = repr(one) == repr(other)
    assert (digest(one) == digest(other)) == same


@given(arrays.arrays(st.sampled_from(["f8", "f4", "i2", "U3", "M8[s]"]), (3, 2)))
def test_arrays_count_by_bytes_dtype_and_shape(array):
    """One changed entry is another array, and so is another shape."""
    assert digest(array) == digest(array.copy())
    assert digest(array) != digest(array.reshape(2, 3))
    assert digest(array) != digest(array.astype(object))


def test_frames_matrices_functions_and_estimators_have_digests():
    """What a search may be given is told from what differs a little."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"]), "c": ["u", None]})

    def times(factor):
        return lambda value: factor * value

    pairs = [
        (frame, frame.copy(), frame.rename(columns={"a": "d"})),
        (frame, frame.copy(), frame.assign(b=pd.Categorical(["x", "x"]))),
        (frame["a"], frame["a"].copy(), frame["a"] + 1),
        (sparse.eye(3).tocsr(), sparse.eye(3).tocsr(), 2 * sparse.eye(3).tocsr()),
        (sparse.eye(3).tocoo(), sparse.eye(3).tocoo(), sparse.eye(4).tocoo()),
        (times(2), times(2), times(3)),
        (functools.partial(max, 1), functools.partial(max, 1), functools.partial(max, 2)),
        ({1, 2}, {2, 1}, {1, 3}),
        (SVC, SVC, LinearSVC),
        (make_pipeline(SVC()), make_pipeline(SVC()), make_pipeline(SVC(C=2))),
        (slice(1), slice(1), slice(2)),
        (np.random.RandomState(0), np.random.RandomState(0), np.random.RandomState(1)),
    ]
    for one, same, other in pairs:
        assert digest(one) == digest(same)
        assert digest(one) != digest(other)


def test_what_has_no_digest_is_named():
    """It could not be told from another when the search goes on."""
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="holds itself, so that it has no digest"):
        digest(endless)
    with pytest.raises(ValueError, match="has no digest, so that it cannot be told from another"):
        digest(item for item in ())


numbers = arrays.arrays("f8", 3)
verdicts = st.builds(
    Verdict,
    numbers,
    st.none() | arrays.arrays("f4", 5),
    st.floats(),
    st.none() | arrays.arrays("i2", 4) | arrays.arrays("f4", (4, 2)),
)
by_name = st.dictionaries(st.text(), verdicts, max_size=3)


@given(
    st.builds(
        Record,
        st.just(TRIAL),
        by_name,
        st.dictionaries(st.text(), st.floats(), max_size=2),
        st.floats(0, 10),
        st.floats(0, 10),
        st.floats(),
        error=st.none() | st.text(),
        scoring_errors=st.dictionaries(st.text(), st.text(), max_size=2),
        sight=st.builds(Sight, by_name, st.none() | st.text(), st.none() | st.text()),
    )
)
def test_a_record_comes_back_bit_for_bit(record):
    """Numbers, arrays with their dtypes, words, and the order of the metrics."""
    back = decode(*encode(record), TRIAL)
    assert back.stored
    for one, other in ((record, back), (record.sight, back.sight)):
        assert list(one.verdicts) == list(other.verdicts)
        for name, verdict in one.verdicts.items():
            for field in dataclasses.fields(verdict):
                same = digest(getattr(verdict, field.name))
                assert digest(getattr(other.verdicts[name], field.name)) == same
    for name in ("train_scores", "fit_time", "score_time", "main_score", "error", "scoring_errors"):
        assert digest(getattr(record, name)) == digest(getattr(back, name))
    assert (record.sight.kind, record.sight.note) == (back.sight.kind, back.sight.note)


def test_a_record_holds_no_objects():
    """They would need pickle; names of metrics are strings."""
    odd = Record(TRIAL, {"score": Verdict(np.array([object()]))}, {}, 0.0, 0.0)
    with pytest.raises(ValueError, match="allow_pickle=False"):
        encode(odd)
    with pytest.raises(ValueError, match="metrics whose names are strings, got 3"):
        encode(Record(TRIAL, {3: Verdict(np.zeros(1))}, {}, 0.0, 0.0))


@pytest.fixture
def store(tmp_path):
    """Return an open journal file."""
    opened = Store(tmp_path / "search.sqlite")
    yield opened
    opened.close()


def test_a_task_belongs_to_one_claimant(store, tmp_path):
    """Until it is finished, let go of, or its claimant has ended."""
    first, second = Claimant.here(), Claimant.here()
    other = Store(tmp_path / "search.sqlite")
    assert store.claim("task", 1, first)
    assert not other.claim("task", 1, second)
    assert store.at_work() == 1
    first.leave()
    assert other.claim("task", 1, second)
    other.release(second)
    assert store.claim("task", 1, second)
    store.write("task", [Row("{}", b"a", b"b")], 2)
    assert not other.claim("task", 1, second)
    assert other.finished() == {"task": 1}
    assert store.at_work() == 0
    other.close()
    second.leave()


def test_a_claimant_elsewhere_is_known_by_its_heart():
    """On this host by its process: its number and when it began."""
    here = Claimant.here()
    now = time.time()
    assert here.is_alive(now)
    assert not dataclasses.replace(here, started="1").is_alive(now)
    elsewhere = dataclasses.replace(here, place="another host")
    assert elsewhere.is_alive(now)
    assert not elsewhere.is_alive(now - 2 * STALE)
    assert not elsewhere.is_alive(now + 2 * STALE)
    parent = dataclasses.replace(here, pid=os.getppid(), started="")
    assert parent.is_alive(0.0)
    here.leave()
    assert not here.is_alive(now)


def test_a_heart_beats(store):
    """The claim of a claimant that lives far away stays."""
    far = dataclasses.replace(Claimant.here(), place="another host")
    assert store.claim("task", 1, far)
    store.beat(far)
    assert store.at_work() == 1
    far.leave()


def test_only_the_best_models_stay(store):
    """A note stays for those that could not be kept."""
    for name, score in (("a", 0.5), ("b", 0.9), ("c", 0.7)):
        store.write(name, [Row("{}", b"", b"", score, name.encode())], 2)
    store.write("d", [Row("{}", b"", b"", 0.8, None, "too large")], 2)
    assert [store.model(name, 0) for name in "abcd"] == [None, b"b", b"c", None]
    assert store.worst_kept(2) == 0.7
    assert store.worst_kept(3) is None
    assert [(kept, note) for _, kept, note in store.overview()][-1] == (False, "too large")


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE records SET content = x'00'",
        "UPDATE records SET arrays = x'00'",
        "UPDATE records SET params = 'other'",
        "UPDATE records SET task = 'task', position = 1",
        "UPDATE records SET seal = 'other'",
    ],
)
def test_a_changed_row_does_not_match_its_seal(store, tmp_path, change):
    """SQLite itself would not notice."""
    store.write("task", [Row("{}", b"a", b"b")], 1)
    with sqlite3.connect(tmp_path / "search.sqlite") as connection:
        connection.execute(change)
    connection.close()
    with pytest.raises(DamagedError, match="does not match its seal"):
        store.read("task")


def test_a_damaged_model_is_not_read(store, tmp_path):
    """It is fitted again instead."""
    store.write("task", [Row("{}", b"a", b"b", 1.0, b"model")], 1)
    with sqlite3.connect(tmp_path / "search.sqlite") as connection:
        connection.execute("UPDATE models SET content = x'00'")
    connection.close()
    assert store.model("task", 0) is None


def test_a_damaged_part_is_said(store, tmp_path):
    """What search it was cannot be known then."""
    store.add_parts([("X", "digest", "shown")])
    assert store.parts() == {"X": ("digest", "shown")}
    with sqlite3.connect(tmp_path / "search.sqlite") as connection:
        connection.execute("UPDATE parts SET digest = 'other'")
    connection.close()
    with pytest.raises(ValueError, match="or it is damaged: what it says of its search does not"):
        store.parts()


def test_a_full_disk_is_said(store):
    """And what was written before stays."""
    store.write("first", [Row("{}", b"a", b"b")], 1)
    [(n_pages,)] = store._all("PRAGMA page_count")
    store._all(f"PRAGMA max_page_count = {n_pages}")
    with pytest.raises(OSError, match="The disk is full, and the journal cannot be written"):
        store.write("second", [Row("{}", b"a" * 100_000, b"b")], 1)
    assert store.finished() == {"first": 1}


def test_a_locked_file_is_said(store, tmp_path, monkeypatch):
    """After a while."""
    store._all("PRAGMA busy_timeout = 10")
    other = sqlite3.connect(tmp_path / "search.sqlite", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(TimeoutError, match="Another process has locked the journal"):
        store.forget("task")
    other.close()


def test_a_read_only_look_changes_nothing(store, tmp_path):
    """Neither while it is in use nor later."""
    path = tmp_path / "search.sqlite"
    store.write("task", [Row("{}", b"a", b"b")], 1)
    for _ in range(2):
        seen = Store(path, only_read=True)
        assert seen.finished() == {"task": 1}
        with pytest.raises(PermissionError):
            seen.forget("task")
        seen.close()
        store.close()


def test_a_class_as_a_parameter_is_shown_by_its_name():
    """Though ``np.float64``, a parameter of every OneHotEncoder, has a shape as arrays do."""
    members = {"one": make_pipeline(OneHotEncoder(), StandardScaler())}
    shown = {part.name: part.shown for part in _estimators(members, [])}
    assert shown["onehotencoder__dtype of one"] == "<class 'numpy.float64'>"


def test_parts_that_follow_are_named_last():
    """V differs where the seed does, and only the seed is said then."""
    parts = [Part("seed", "1", "1"), Part("V", "2", "rows", follows=True), Part("new", "3", "n")]
    known = {"seed": ("0", "0"), "V": ("0", "rows")}
    assert differences(parts, known) == ["seed was 0 and is 1"]
    found = differences(parts, known | {"seed": ("1", "1")})
    assert found == ["V has other values (rows, as before)"]
    assert differences(parts, {}) == []


FITTED = [
    RandomForestClassifier(3),
    ExtraTreesClassifier(3),
    GradientBoostingClassifier(n_estimators=2),
    HistGradientBoostingClassifier(max_iter=2),
    RandomForestRegressor(3),
    KNeighborsClassifier(algorithm="kd_tree"),
    KNeighborsClassifier(algorithm="ball_tree", p=1),
    KNeighborsClassifier(algorithm="kd_tree", p=3),
    SVC(),
    LinearSVC(),
    LogisticRegression(max_iter=1000),
    SGDClassifier(),
    GaussianNB(),
    MLPClassifier((3,), max_iter=2000, tol=0.1),
    GaussianProcessClassifier(),
    CalibratedClassifierCV(GaussianNB(), cv=2),
    CalibratedClassifierCV(GaussianNB(), cv=2, method="isotonic"),
    VotingClassifier([("a", GaussianNB()), ("b", RandomForestClassifier(2))]),
    make_pipeline(
        make_column_transformer(
            (StandardScaler(), [0, 1]), (OneHotEncoder(sparse_output=False), [3])
        ),
        HistGradientBoostingClassifier(max_iter=2),
    ),
    SMIRClassifier(),
]


@pytest.mark.parametrize("model", FITTED, ids=lambda model: type(model).__name__)
def test_models_of_scikit_learn_are_kept(model):
    """What skops does not trust by itself is on our list, and answers are the same bit for bit."""
    pytest.importorskip("skops")
    model.fit(X, Y)
    content, note = models.dumped(model, ())
    assert note is None
    back = models.loaded(content, ())
    np.testing.assert_array_equal(back.predict(X), model.predict(X))


class Foreign(GaussianNB):
    """A class that nobody has named."""


def test_a_foreign_type_is_neither_kept_nor_read():
    """Unless the user names it."""
    pytest.importorskip("skops")
    name = f"{Foreign.__module__}.Foreign"
    model = Foreign().fit(X, Y)
    content, note = models.dumped(model, ())
    assert content is None
    assert note == f"types that are not trusted: {name}"
    content, note = models.dumped(model, (name,))
    assert note is None
    assert models.loaded(content, ()) is None
    assert isinstance(models.loaded(content, (name,)), Foreign)


def test_what_is_no_model_of_skops_is_not_read():
    """Damage that its digest does not show, such as a stranger's, ends in another fit."""
    pytest.importorskip("skops")
    assert models.loaded(b"no archive", ()) is None


def test_writing_models_takes_a_small_share_of_the_time(monkeypatch):
    """What would cost more than that is fitted again if it wins."""
    pytest.importorskip("skops")
    monkeypatch.setattr(models, "ALLOWANCE", 1e-9)
    writer, model = models.Writer(()), GaussianNB().fit(X, Y)
    assert writer.write(model)[1] is None
    content, note = writer.write(model)
    assert content is None
    assert note == "writing models took too long beside the fits"
    writer.earn(1e6)
    assert writer.write(model)[1] is None


def test_a_model_that_is_too_large_is_not_kept(monkeypatch):
    """It is fitted again if it wins."""
    pytest.importorskip("skops")
    monkeypatch.setattr(models, "LARGEST", 10)
    content, note = models.dumped(GaussianNB().fit(X, Y), ())
    assert content is None
    assert note.startswith("it has ")
