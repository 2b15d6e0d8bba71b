"""Any table to numbers and back."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from leavezero._tables import (
    Featurizer,
    TableCodec,
    count_rows,
    is_text,
    stack_rows,
    take_rows,
)


@pytest.fixture
def people():
    """Return a table with every kind of column, and gaps."""
    return pd.DataFrame(
        {
            "age": [20, 30, 40, 50],
            "height": np.array([1.5, np.nan, 1.7, 1.8], dtype=np.float32),
            "town": ["Ulm", "Bonn", None, "Ulm"],
            "size": pd.Categorical(["S", "L", "M", None], ["S", "M", "L"], ordered=True),
            "member": [True, False, True, True],
            "born": pd.to_datetime(["2001-01-01", "1999-05-05", None, "1990-12-31"]),
            "visits": pd.array([1, None, 3, 4], dtype="Int64"),
        }
    )


def test_a_frame_is_the_same_after_the_way_to_numbers_and_back(people, rng):
    """Names, dtypes, categories and gaps survive."""
    codec = TableCodec.of(people)
    back = codec.decode(codec.encode(people), rng)
    pd.testing.assert_frame_equal(back, people)


def test_a_zone_survives(rng):
    """Times keep their zone and their unit."""
    frame = pd.DataFrame({"t": pd.date_range("2020-01-01", periods=3, tz="Europe/Berlin")})
    codec = TableCodec.of(frame)
    pd.testing.assert_frame_equal(codec.decode(codec.encode(frame), rng), frame, check_freq=False)


def test_a_polars_frame_is_the_same_after_the_way_to_numbers_and_back(rng):
    """Install polars to run it: it is no dependency of ours."""
    pl = pytest.importorskip("polars", reason="pip install polars")
    frame = pl.DataFrame(
        {
            "age": [20, None, 40],
            "height": [1.5, None, 1.7],
            "town": ["Ulm", "Bonn", None],
            "member": [True, False, None],
            "born": pl.Series([0, None, 365], dtype=pl.Int32).cast(pl.Date),
            "size": pl.Series(["S", "L", None], dtype=pl.Categorical),
        }
    )
    codec = TableCodec.of(frame)
    assert codec.decode(codec.encode(frame), rng).equals(frame)


def test_an_array_of_objects_is_the_same_after_the_way_to_numbers_and_back(rng):
    """Strings and numbers side by side."""
    X = np.array([["a", 1.5], ["b", 2.5], [np.nan, 3.5]], dtype=object)
    codec = TableCodec.of(X)
    back = codec.decode(codec.encode(X), rng)
    assert back[:2].tolist() == X[:2].tolist()
    assert np.isnan(back[2, 0])


def test_values_that_do_not_compare_are_categories(rng):
    """Mixed types in a column have some order, the same for any order of rows."""
    X = np.array([["a", 1.0], [1, 2.0], ["a", 3.0]], dtype=object)
    codec = TableCodec.of(X)
    assert codec.decode(codec.encode(X), rng)[:, 0].tolist() == ["a", 1, "a"]


def test_rounding_keeps_the_mean(rng):
    """A value of 0.3 becomes 1 in three of ten cells."""
    rounded = TableCodec.of(np.zeros((1, 1), dtype=int)).decode(np.full((20_000, 1), 0.3), rng)
    assert rounded.dtype.kind == "i"
    assert rounded.mean() == pytest.approx(0.3, abs=0.015)


def test_a_sparse_matrix_stays_sparse(rng):
    """Counts stay counts."""
    X = sparse.csr_matrix(np.array([[0, 2], [3, 0]]))
    back = TableCodec.of(X).decode(sparse.csr_matrix([[0.0, 2.5]]), rng)
    assert back.dtype == X.dtype
    assert back.toarray()[0, 1] in (2, 3)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, list, sparse.csr_matrix])
def test_rows_are_counted_taken_and_joined(make):
    """Arrays, frames, lists and sparse matrices alike."""
    X = make([[1.0], [2.0], [3.0]])
    assert count_rows(X) == 3
    part = stack_rows([take_rows(X, slice(1, 2)), take_rows(X, np.array([0, 2]))])
    dense = part.toarray() if sparse.issparse(part) else np.asarray(part)
    assert dense.ravel().tolist() == [2, 1, 3]


def test_text_is_a_sequence_of_strings():
    """A matrix of strings is a table."""
    assert is_text(["a b", "c"])
    assert is_text(pd.Series(["a", "b"]))
    assert not is_text(np.array([["a", "b"]]))
    assert not is_text([1.0, 2.0])


def test_features_are_complete_standardised_numbers(people):
    """Gaps are filled and flagged, categories are one-hot."""
    features = Featurizer().fit(people).transform(people)
    assert np.isfinite(features).all()
    assert abs(features[:, 0].mean()) < 1e-12
    assert features.shape[1] > people.shape[1]


def test_categories_of_new_rows_are_those_of_the_data(people):
    """One row keeps the width of the features."""
    fitted = Featurizer().fit(people)
    assert fitted.transform(people.iloc[[1]]).shape[1] == fitted.transform(people).shape[1]


@pytest.mark.parametrize("X", [["a b", "b c"], sparse.csr_matrix([[1.0, 0], [0, 2.0]])])
def test_text_and_sparse_matrices_have_sparse_features(X):
    """No dense copy is made."""
    assert sparse.issparse(Featurizer().fit(X).transform(X))


def test_a_table_of_categories_only_has_features():
    """There is nothing to standardise."""
    frame = pd.DataFrame({"a": ["x", "y", "x"]})
    assert Featurizer().fit(frame).transform(frame).shape == (3, 2)
