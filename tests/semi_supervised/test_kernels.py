"""Kernels in blocks, and the width from the data."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from leavezero.semi_supervised import SMIRClassifier, _kernels
from leavezero.semi_supervised._decompose import _degrees
from leavezero.semi_supervised._kernels import Kernel, median_distance, square


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_blocks_do_not_change_the_gaussian_kernel(form, rng, monkeypatch):
    """Dense or sparse, in one piece or row by row."""
    monkeypatch.setattr(_kernels, "BLOCK_CELLS", 7)
    X = rng.normal(size=(12, 3)) * (rng.random((12, 3)) < 0.5)
    expected = rbf_kernel(X, gamma=0.5 / 0.8**2)
    assert_allclose(square(Kernel("rbf", 0.8), form(X)), expected, atol=1e-12)


def wide(n_rows, n_columns, rng):
    """Return a sparse matrix with ten entries a row."""
    columns = rng.integers(n_columns, size=10 * n_rows)
    entries = (np.ones(10 * n_rows), columns, np.arange(0, 10 * n_rows + 1, 10))
    return sparse.csr_array(entries, shape=(n_rows, n_columns))


def peak_memory(work):
    """Return the largest number of bytes that a function holds at a time."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak


def test_sparse_rows_are_never_made_dense(rng):
    """300 rows of 200,000 columns would be 480 MB."""
    X = wide(300, 200_000, rng)
    y = np.where(np.arange(300) < 20, np.arange(300) % 2, -1)
    assert peak_memory(lambda: SMIRClassifier().fit(X, y).predict(X)) < 50e6


def test_the_whole_kernel_of_many_rows_is_never_made(rng, monkeypatch):
    """With landmarks it is summed in blocks; of 3,000 rows it would be 72 MB."""
    monkeypatch.setattr(_kernels, "BLOCK_CELLS", 2**16)
    monkeypatch.setattr(_kernels, "MEDIAN_ROWS", 300)
    X = wide(3_000, 1_000, rng)
    y = np.where(np.arange(3_000) < 20, np.arange(3_000) % 2, -1)
    model = SMIRClassifier(n_components=50, random_state=0)
    assert peak_memory(lambda: model.fit(X, y).predict(X)) < 15e6


def test_median_distance():
    """Of pairs of different rows; of the positive ones if most are zero; 1 without any."""
    assert median_distance(np.array([[0.0], [1.0], [3.0]])) == 2.0
    assert median_distance(np.array([[0.0]] * 9 + [[4.0]])) == 4.0
    assert median_distance(np.zeros((5, 2))) == 1.0
    assert median_distance(np.zeros((1, 2))) == 1.0


def test_median_distance_of_many_rows_is_that_of_some(rng, monkeypatch):
    """Evenly spaced, so that nothing is drawn."""
    X = rng.normal(size=(400, 3))
    whole = median_distance(X)
    monkeypatch.setattr(_kernels, "MEDIAN_ROWS", 100)
    assert median_distance(X) == median_distance(X[::4])
    assert median_distance(X) == pytest.approx(whole, rel=0.1)


def test_row_sums_from_some_rows(rng, monkeypatch):
    """Each row's own entry counts once, the others as often as there are rows."""
    X = rng.normal(size=(500, 2))
    kernel = Kernel("rbf", 0.5)
    exact = _degrees(kernel, X, rng)
    assert_allclose(exact, square(kernel, X).sum(axis=1))
    monkeypatch.setattr("leavezero.semi_supervised._decompose.DEGREE_ROWS", 250)
    for rows, measure in ((X, kernel), (square(kernel, X), Kernel("precomputed"))):
        estimate = _degrees(measure, rows, np.random.default_rng(0))
        assert np.abs(estimate / exact - 1).mean() < 0.1
        assert estimate.min() >= 1.0


def test_a_callable_must_return_a_matrix():
    """With a row and a column for each row."""
    with pytest.raises(ValueError, match=r"\(3, 3\) was expected, got \(3,\)"):
        square(Kernel(lambda A, B: np.ones(len(A))), np.zeros((3, 2)))
