"""The nearest of the given rows are found as by measuring every distance."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.distance import cdist
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from leavezero.families import _nearest, family_of
from leavezero.families._nearest import nearest, nearest_others
from leavezero.testing._families import leave_one_out


def check(rows, n_neighbors):
    """Compare with all distances in double precision, a row's own endless."""
    distances = cdist(rows, rows)
    np.fill_diagonal(distances, np.inf)
    compare(*nearest_others(rows, n_neighbors), distances, n_neighbors)


def compare(found, numbers, distances, n_neighbors):
    expected = np.sort(distances, axis=1)[:, :n_neighbors]
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(distances, numbers, axis=1), found, rtol=1e-12)
    assert all(len(set(line)) == n_neighbors for line in numbers.tolist())


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(2, 300),
    n_columns=st.integers(1, 40),
    share=st.floats(0.0, 1.0),
    offset=st.sampled_from([0.0, 1e4, -1e8]),
    scale=st.sampled_from([1e-9, 1.0, 1e6]),
)
def test_neighbors_are_those_of_all_distances(seed, n_rows, n_columns, share, offset, scale):
    """Any number of rows, columns and neighbours, far from zero, small and large."""
    rows = np.random.default_rng(seed).normal(size=(n_rows, n_columns)) * scale + offset
    check(rows, 1 + int(share * (n_rows - 2)))


@given(
    seed=st.integers(0, 10_000),
    n_rows=st.integers(0, 60),
    n_given=st.integers(1, 300),
    n_columns=st.integers(1, 40),
    share=st.floats(0.0, 1.0),
    offset=st.sampled_from([0.0, 1e4]),
    coarse=st.booleans(),
)
def test_the_nearest_of_other_rows(seed, n_rows, n_given, n_columns, share, offset, coarse):
    """Rows that are not the given ones, some of them copies, have the nearest of all distances."""
    rng = np.random.default_rng(seed)
    given, rows = (rng.normal(size=(n, n_columns)) + offset for n in (n_given, n_rows))
    if coarse:
        given, rows = np.round(given), np.round(rows)
    rows[: n_rows // 4] = given[rng.integers(n_given, size=n_rows // 4)]
    n_neighbors = 1 + int(share * (n_given - 1))
    found = nearest(rows, given, n_neighbors)
    if found is not None:  # too many may be equally near
        compare(*found, cdist(rows, given), n_neighbors)
    assert found is not None or coarse


def test_of_equally_distant_rows_the_first_count():
    """Copies of a row are neighbours in the order in which they were given."""
    given = np.repeat([[0.0], [5.0]], 4, axis=0)
    assert nearest(np.array([[4.0]]), given, 3)[1].tolist() == [[4, 5, 6]]


@settings(max_examples=20)
@given(seed=st.integers(0, 10_000), n_values=st.integers(2, 6))
def test_equal_distances_and_copies(seed, n_values):
    """Among whole numbers many rows are equally far away, and some are copies."""
    rows = np.random.default_rng(seed).integers(0, n_values, size=(90, 5)).astype(float)
    found = nearest_others(rows, 3)
    if found is not None:  # too many may be equally near
        check(rows, 3)


def test_a_row_far_away_from_all_others():
    """Rounding at its size hides the other distances: there is no answer, or the right one."""
    rows = np.random.default_rng(0).normal(size=(200, 3))
    rows[7] = 30.0
    check(rows, 4)
    rows[7] = 1e9
    assert nearest_others(rows, 4) is None


def test_rows_that_single_precision_cannot_hold():
    """Squares beyond its range, and no others to choose from, have no answer."""
    rows = np.random.default_rng(0).normal(size=(10, 2))
    assert nearest_others(rows * 1e20, 2) is None
    assert nearest_others(rows, 10) is None
    assert nearest(rows * 1e20, rows, 2) is None
    assert nearest(rows, rows[:1], 2) is None
    assert nearest(np.full((1, 2), np.nan), rows, 2) is None


def test_blocks_are_joined(monkeypatch):
    """Rows are taken some at a time; their number changes nothing."""
    rows = np.random.default_rng(1).normal(size=(70, 18))
    distances, numbers = nearest_others(rows, 5)
    monkeypatch.setattr(_nearest, "CELLS", 300)
    again = nearest_others(rows, 5)
    np.testing.assert_array_equal(distances, again[0])
    np.testing.assert_array_equal(numbers, again[1])


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(3),
        KNeighborsClassifier(4, weights="distance", algorithm="brute"),
        KNeighborsRegressor(3, weights="distance"),
        KNeighborsRegressor(2, metric="cosine"),
        KNeighborsRegressor(2, metric_params={"w": np.linspace(0.1, 2.0, 17)}),
    ],
)
@pytest.mark.parametrize("offset", [0.0, 1e4])
def test_wide_tables_equal_brute_force(estimator, offset):
    """Models that measure every distance answer as a fit without the row."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 17))
    y = np.array(["a", "b", "c"])[rng.integers(0, 3, size=40)]
    if isinstance(estimator, KNeighborsRegressor):
        y = X[:, 0] + rng.normal(size=40)
    X = X + offset
    unseen = family_of(estimator).unseen(estimator.fit(X, y), X, y)
    right, _ = leave_one_out(estimator, X, y, None, list(unseen.responses))
    for method, said in unseen.responses.items():
        if said.dtype.kind == "f":
            np.testing.assert_allclose(said, right[method], rtol=1e-6, atol=1e-8)
        else:
            np.testing.assert_array_equal(said, right[method])
