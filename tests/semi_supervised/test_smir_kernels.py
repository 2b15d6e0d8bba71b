"""Kernel matrices in blocks, their row sums, and the median distance."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.metrics.pairwise import rbf_kernel

from leavezero.semi_supervised import SMIRClassifier, _smir_kernels
from leavezero.semi_supervised._smir_kernels import Kernel, median_distance


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, sparse.csr_array])
def test_blocks_do_not_change_the_gaussian_kernel(container, rng, monkeypatch):
    """Dense or sparse, row by row."""
    monkeypatch.setattr(_smir_kernels, "MAX_BLOCK_SIZE", 7)
    X = rng.normal(size=(12, 3)) * (rng.random((12, 3)) < 0.5)
    expected = rbf_kernel(X, gamma=0.5 / 0.8**2)
    assert_allclose(Kernel("rbf", 0.8).matrix(container(X)), expected, atol=1e-12)


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "n_components", "limit"),
    [
        (300, 200_000, None, 50e6),  # X as a dense array: 480 MB
        (3_000, 1_000, 50, 15e6),  # the kernel matrix: 72 MB
    ],
)
def test_peak_memory(n_rows, n_columns, n_components, limit, rng, monkeypatch):
    """Neither sparse X nor, with landmarks, the kernel matrix is ever stored as a dense array."""
    monkeypatch.setattr(_smir_kernels, "MAX_BLOCK_SIZE", 2**16)
    monkeypatch.setattr(_smir_kernels, "MAX_MEDIAN_ROWS", 300)
    columns, ends = rng.integers(n_columns, size=10 * n_rows), np.arange(0, 10 * n_rows + 1, 10)
    X = sparse.csr_array((np.ones(10 * n_rows), columns, ends), shape=(n_rows, n_columns))
    y = np.where(np.arange(n_rows) < 20, np.arange(n_rows) % 2, -1)
    tracemalloc.start()
    SMIRClassifier(n_components=n_components, random_state=0).fit(X, y).predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < limit


def test_median_distance(rng, monkeypatch):
    """Of positive distances if most are zero, 1 without any; of evenly spaced rows if many."""
    assert median_distance(np.array([[0.0], [1.0], [3.0]])) == 2.0
    assert median_distance(np.array([[0.0]] * 9 + [[4.0]])) == 4.0
    assert median_distance(np.zeros((5, 2))) == median_distance(np.zeros((1, 2))) == 1.0
    X = rng.normal(size=(400, 3))
    exact = median_distance(X)
    monkeypatch.setattr(_smir_kernels, "MAX_MEDIAN_ROWS", 100)
    assert median_distance(X) == median_distance(X[::4]) == pytest.approx(exact, rel=0.1)


def test_estimated_row_sums(rng, monkeypatch):
    """Row sums from half of the columns are close to the exact ones."""
    X, kernel = rng.normal(size=(500, 2)), Kernel("rbf", 0.5)
    matrix = kernel.matrix(X)
    exact = matrix.sum(axis=1)
    assert_allclose(kernel.degrees(X, rng), exact)
    monkeypatch.setattr(_smir_kernels, "MAX_DEGREE_ROWS", 250)
    for table, one in ((X, kernel), (matrix, Kernel("precomputed"))):
        estimate = one.degrees(table, np.random.default_rng(0))
        assert np.abs(estimate / exact - 1).mean() < 0.1
        assert estimate.min() >= 1.0


def test_callable_must_return_a_matrix():
    """Of finite numbers, with one row and one column per row of X."""
    with pytest.raises(ValueError, match=r"shape \(3, 3\), got \(3,\)"):
        Kernel(lambda A, B: np.ones(len(A))).matrix(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="must be finite, got NaN"):
        Kernel(lambda A, B: np.full((3, 3), np.nan)).matrix(np.zeros((3, 2)))
