"""Digests: equal for equal content, different for everything else."""

import copy
import functools
from collections import OrderedDict
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC, LinearSVC

from leavezero.execution import data_seed, digest

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary()
values = st.recursive(
    scalars, lambda own: st.lists(own) | st.dictionaries(st.text(), own), max_leaves=4
)


@given(values)
def test_equal_content_has_one_digest(value):
    """Also as a copy with its entries in another order."""
    copied = OrderedDict(reversed(value.items())) if isinstance(value, dict) else value
    assert digest(copied) == digest(value)


@given(st.lists(scalars, max_size=4), st.lists(scalars, max_size=4))
def test_different_content_has_different_digests(one, other):
    """By type, by value, and by where one entry ends and the next begins."""
    assert (digest(one) == digest(other)) == (repr(one) == repr(other))


@given(arrays.arrays(st.sampled_from(["f8", "f4", "i2", "U3", "M8[s]"]), (3, 2)))
def test_arrays_count_by_bytes_dtype_and_shape(array):
    assert digest(array) == digest(array.copy())
    assert digest(array) != digest(array.reshape(2, 3))
    assert digest(array) != digest(array.astype(object))


@dataclass(frozen=True)
class Point:
    x: float


def times(factor):
    return lambda value: factor * value


def test_values_of_a_search_have_digests():
    """Each is the same as its copy, and not the same as one that differs a little."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"]), "c": ["u", None]})
    reordered = frame.assign(b=pd.Categorical(["x", "y"], categories=["y", "x"]))
    cases = [
        (frame, frame.copy(), frame.rename(columns={"a": "d"})),
        (frame, frame.copy(), frame.assign(b=pd.Categorical(["x", "x"]))),
        (frame, frame.copy(), reordered),
        (frame, frame.copy(), frame.set_axis([1, 0])),
        (frame["a"], frame["a"].copy(), frame["a"] + 1),
        (sparse.eye(3).tocsr(), sparse.eye(3).tocsr(), 2 * sparse.eye(3).tocsr()),
        (sparse.eye(3).tocoo(), sparse.eye(3).tocoo(), sparse.eye(4).tocoo()),
        (times(2), times(2), times(3)),
        (functools.partial(max, 1), functools.partial(max, 1), functools.partial(max, 2)),
        ({1, 2}, {2, 1}, {1, 3}),
        (SVC, SVC, LinearSVC),
        (make_pipeline(SVC()), make_pipeline(SVC()), make_pipeline(SVC(C=2))),
        (slice(1), slice(1), slice(2)),
        (Point(1.0), Point(1.0), Point(2.0)),
        (np.random.RandomState(0), np.random.RandomState(0), np.random.RandomState(1)),
        (np.datetime64(1, "ns"), np.datetime64(1, "ns"), np.datetime64(2, "ns")),
        (np.datetime64(1, "ns"), np.datetime64(1, "ns"), 1),
    ]
    for one, same, other in cases:
        assert digest(one) == digest(same)
        assert digest(one) != digest(other)


def test_polars_frames_have_digests():
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame({"a": [1.0, 2.0]})
    assert digest(frame) == digest(frame.clone()) != digest(frame.with_columns(b=1))


SIGN = 1


def helper(value):
    return SIGN * value if value else recursive(value)


def recursive(value):
    return helper(value)


def test_functions_count_with_the_constants_that_they_use(monkeypatch):
    """Also where a function of the same module uses them."""
    before = digest(recursive)
    assert digest(recursive) == before
    monkeypatch.setitem(globals(), "SIGN", -1)
    assert digest(recursive) != before


def test_values_without_a_digest_raise():
    endless = []
    endless.append(endless)
    with pytest.raises(ValueError, match="contains itself, so it has no digest"):
        digest(endless)
    with pytest.raises(ValueError, match="has no digest: it cannot be pickled"):
        digest(item for item in ())


# Seeds


TABLE = np.random.default_rng(0).normal(size=(50, 4))


@pytest.mark.parametrize(
    "X",
    [
        TABLE,
        pd.DataFrame(TABLE).assign(name=list("ab") * 25),
        sparse.coo_array(TABLE),
        ["some text"] * 50,
        np.zeros((50, 8, 8, 3)),
        np.zeros((50, 10_000)),
    ],
    ids=["array", "frame", "sparse", "texts", "images", "wide"],
)
def test_seed_of_data_is_repeatable_and_changes_with_the_target(X):
    y = np.arange(50)
    assert data_seed(X, y) == data_seed(copy.deepcopy(X), y.copy())
    assert data_seed(X, y) != data_seed(X, y + 1)


def test_seed_of_data_does_not_depend_on_layout_or_memory_map(tmp_path):
    np.save(tmp_path / "X.npy", TABLE)
    mapped, y = np.load(tmp_path / "X.npy", mmap_mode="r"), np.arange(50)
    assert data_seed(TABLE, y) == data_seed(np.asfortranarray(TABLE), y) == data_seed(mapped, y)


def test_seed_of_large_data_depends_on_their_number_of_rows():
    y = np.zeros(200_000)
    assert data_seed(y[:, None], y) != data_seed(y[:-1, None], y[:-1])


def test_seed_of_data_without_a_digest_is_that_of_their_shape():
    X, y = [(row for row in ()) for _ in range(5)], np.zeros(5)  # generators cannot be pickled
    assert data_seed(X, y) == data_seed(X[::-1], y)
    assert data_seed(X, y) != data_seed(X[:4], y[:4])
