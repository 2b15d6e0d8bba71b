"""Encode and decode tables; features of tables."""

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
    """Return a table with every kind of column, and missing values."""
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


def test_a_pandas_frame_is_decoded_unchanged(people, rng):
    codec = TableCodec.of(people)
    back = codec.decode(codec.encode(people), rng)
    pd.testing.assert_frame_equal(back, people)


def test_time_zones_and_units_are_kept(rng):
    frame = pd.DataFrame({"t": pd.date_range("2020-01-01", periods=3, tz="Europe/Berlin")})
    codec = TableCodec.of(frame)
    pd.testing.assert_frame_equal(codec.decode(codec.encode(frame), rng), frame, check_freq=False)


def test_a_polars_frame_is_decoded_unchanged(rng):
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


def test_an_object_array_is_decoded_unchanged(rng):
    X = np.array([["a", 1.5], ["b", 2.5], [np.nan, 3.5]], dtype=object)
    codec = TableCodec.of(X)
    back = codec.decode(codec.encode(X), rng)
    assert back[:2].tolist() == X[:2].tolist()
    assert np.isnan(back[2, 0])


def test_values_that_cannot_be_compared_are_categories(rng):
    X = np.array([["a", 1.0], [1, 2.0], ["a", 3.0]], dtype=object)
    codec = TableCodec.of(X)
    assert codec.decode(codec.encode(X), rng)[:, 0].tolist() == ["a", 1, "a"]


def test_rounding_keeps_the_mean(rng):
    rounded = TableCodec.of(np.zeros((1, 1), dtype=int)).decode(np.full((20_000, 1), 0.3), rng)
    assert rounded.dtype.kind == "i"
    assert rounded.mean() == pytest.approx(0.3, abs=0.015)


def test_a_column_with_a_fraction_in_any_row_has_no_integers():
    """The first rows do not decide alone, and missing values count as neither."""
    columns = np.array([[np.nan, np.nan], *[[1.0, 1.0]] * 5_000, [2.0, 2.5]])
    assert TableCodec.of(columns, integer_floats=True).integer.tolist() == [True, False]


def test_a_sparse_matrix_of_integers_stays_one(rng):
    X = sparse.csr_matrix(np.array([[0, 2], [3, 0]]))
    back = TableCodec.of(X).decode(sparse.csr_matrix([[0.0, 2.5]]), rng)
    assert back.dtype == X.dtype
    assert back.toarray()[0, 1] in (2, 3)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, list, sparse.csr_matrix])
def test_rows_are_counted_taken_and_stacked(make):
    X = make([[1.0], [2.0], [3.0]])
    assert count_rows(X) == 3
    part = stack_rows([take_rows(X, slice(1, 2)), take_rows(X, np.array([0, 2]))])
    dense = part.toarray() if sparse.issparse(part) else np.asarray(part)
    assert dense.ravel().tolist() == [2, 1, 3]


def test_text_is_a_sequence_of_strings():
    assert is_text(["a b", "c"])
    assert is_text(pd.Series(["a", "b"]))
    assert not is_text(np.array([["a", "b"]]))
    assert not is_text([1.0, 2.0])


def test_features_are_complete_and_standardized(people):
    """Missing values are imputed and flagged, categories are one-hot."""
    features = Featurizer().fit(people).transform(people)
    assert np.isfinite(features).all()
    assert abs(features[:, 0].mean()) < 1e-12
    assert features.shape[1] > people.shape[1]


def test_the_number_of_features_does_not_depend_on_the_rows(people):
    fitted = Featurizer().fit(people)
    assert fitted.transform(people.iloc[[1]]).shape[1] == fitted.transform(people).shape[1]


@pytest.mark.parametrize("X", [["a b", "b c"], sparse.csr_matrix([[1.0, 0], [0, 2.0]])])
def test_text_and_sparse_matrices_have_sparse_features(X):
    assert sparse.issparse(Featurizer().fit(X).transform(X))


def test_a_table_of_categories_only_has_features():
    frame = pd.DataFrame({"a": ["x", "y", "x"]})
    assert Featurizer().fit(frame).transform(frame).shape == (3, 2)


@pytest.mark.parametrize("dtype", ["Int8", "UInt64", "Int64"])
def test_integers_of_polars_do_not_overflow(dtype, rng):
    pl = pytest.importorskip("polars", reason="pip install polars")
    frame = pl.DataFrame({"a": pl.Series([1, 2, None], dtype=getattr(pl, dtype))})
    codec = TableCodec.of(frame)
    new = codec.decode(np.array([[1e30], [np.nan], [1.0]]), rng)["a"]
    assert new.dtype == frame["a"].dtype
    assert new[0] > 100
    assert new[1] is None


def test_nullable_integers_and_times_do_not_overflow(rng):
    frame = pd.DataFrame({"n": pd.array([1, None], "Int64"), "t": pd.to_datetime(["2001", None])})
    new = TableCodec.of(frame).decode(np.array([[1e30, 1e30], [np.nan, np.nan]]), rng)
    assert new["n"][0] > 2**62
    assert new["t"][0].year > 2200
    assert new.iloc[1].isna().all()
