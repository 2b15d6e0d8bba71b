"""The solution minimizes the objective of Niu et al. (2013) and equals their closed form."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from leavezero.semi_supervised._smir_kernels import Kernel
from leavezero.semi_supervised._smir_solver import (
    SMIRParams,
    class_scale,
    decompose,
    decompose_nystrom,
    solve,
)

seeds = st.integers(0, 10**6)
classes = st.integers(1, 4)
widths = st.sampled_from([0.3, 0.7, 1.5])
gammas = st.sampled_from([0.0, 1e-7, 1e-3, 0.1, 10.0])
offsets = st.sampled_from([1e-6, 1e-4, 1e-2])


class Published:
    """The objective F(A) as published, and its minimizer; symbols as in the module's docstring."""

    def __init__(self, K, rows, codes, gamma, offset):
        self.n, self.l = len(K), len(rows)
        self.c = int(max(codes)) + 1
        self.gamma, self.lam = gamma, gamma * self.c / self.n + offset
        e, U = np.linalg.eigh(K)
        kept = e > self.n * np.finfo(float).eps * e[-1]
        U, roots = U[:, kept], np.sqrt(e[kept])
        self.K_root, self.K_inverse_root = U * roots @ U.T, U / roots @ U.T
        self.D_inverse_root = 1.0 / np.sqrt(K.sum(axis=1))[:, None]
        self.M = self.D_inverse_root * K * self.D_inverse_root.T
        self.T = (self.D_inverse_root * self.K_root)[:, rows]
        self.Y = np.eye(self.c)[codes]

    def objective(self, A):
        fit = self.T.T @ A
        return (
            -np.sum(self.Y * fit) / self.l
            + np.sum(fit**2) / (2 * self.l)
            - self.gamma * self.c / (2 * self.n) * np.sum(A * (self.M @ A))
            + self.lam / 2 * np.sum(A**2)
        )

    def beta(self):
        """Return the closed form of the coefficients, before scaling."""
        matrix = (
            self.n * self.T @ self.T.T
            + self.lam * self.n * self.l * np.eye(self.n)
            - self.gamma * self.l * self.c * self.M
        )
        A = self.n * np.linalg.solve(matrix, self.T @ self.Y)
        return self.K_inverse_root @ (self.D_inverse_root * A)


def gaussian(X, width, Z=None):
    return rbf_kernel(X, Z, gamma=0.5 / width**2)


def problem(seed, n_classes, n_rows=30):
    """Return random rows, and labels of some with all classes."""
    rng = np.random.default_rng(seed)
    n_labeled = int(rng.integers(n_classes, n_rows + 1))
    rows = rng.permutation(n_rows)[:n_labeled]
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_labeled)])
    return rng.normal(size=(n_rows, 2)), rows, codes[:n_labeled]


def solve_matrix(K, rows, codes, *params):
    """Return solutions for a kernel matrix."""
    decomposition = decompose(K)
    labeled = decomposition.labeled_rows(Kernel("precomputed"), K, slice(None), rows)
    return solve(decomposition, labeled, codes, int(max(codes)) + 1, params)


@given(seeds, classes, widths, gammas, offsets)
def test_equals_the_published_closed_form(seed, n_classes, width, gamma, offset):
    """Values at training rows and at new rows."""
    X, rows, codes = problem(seed, n_classes)
    K = gaussian(X, width)
    (solution,) = solve_matrix(K, rows, codes, SMIRParams(gamma, offset))
    beta = Published(K, rows, codes, gamma, offset).beta()
    for kernel in (K, gaussian(X[:5] + 0.1, width, X)):
        assert_allclose(kernel @ (solution.coef / solution.scale), kernel @ beta, atol=1e-6)


@given(seeds, classes, widths, gammas, offsets)
def test_minimizes_the_published_objective(seed, n_classes, width, gamma, offset):
    """By finite differences: the gradient is zero, and the objective grows in all directions."""
    X, rows, codes = problem(seed, n_classes, n_rows=12)
    K = gaussian(X, width)
    (solution,) = solve_matrix(K, rows, codes, SMIRParams(gamma, offset))
    published = Published(K, rows, codes, gamma, offset)
    A = published.K_root @ (solution.coef / solution.scale) / published.D_inverse_root
    minimum, step = published.objective(A), 1e-4
    rng = np.random.default_rng(seed)
    for _ in range(5):
        direction = rng.normal(size=A.shape)
        direction *= step / np.linalg.norm(direction)
        ahead, behind = published.objective(A + direction), published.objective(A - direction)
        assert abs(ahead - behind) / (2 * step) < 1e-7
        assert min(ahead, behind) > minimum


@given(seeds, classes)
def test_more_labels_than_the_rank_of_the_kernel(seed, n_classes):
    """The Woodbury identity gives the same solution."""
    features = np.random.default_rng(seed).uniform(size=(25, 4))
    K, rows, codes = features @ features.T, np.arange(20), np.arange(20) % n_classes
    (solution,) = solve_matrix(K, rows, codes, SMIRParams(0.1, 1e-3))
    expected = K @ Published(K, rows, codes, 0.1, 1e-3).beta()
    assert_allclose(K @ (solution.coef / solution.scale), expected, atol=1e-6)


@given(seeds, classes, widths)
def test_mean_values_are_the_prior(seed, n_classes, width):
    """For each kind of prior, and values from coordinates equal those from coefficients."""
    X, rows, codes = problem(seed, n_classes)
    K = gaussian(X, width)
    priors = ("empirical", "uniform", np.arange(n_classes) + 1.0)
    solutions = solve_matrix(K, rows, codes, *(SMIRParams(prior=prior) for prior in priors))
    for solution, values in zip(solutions, decompose(K).values(solutions), strict=True):
        assert_allclose(values, K @ solution.coef, atol=1e-6)
        if np.all((values / solution.scale).mean(axis=0) > 1e-3):
            assert_allclose(values.mean(axis=0), solution.prior, atol=1e-6)


def test_rank_with_duplicate_rows(rng):
    """Eigenvalues that are rounding errors are dropped; the largest of P is 1."""
    X = np.repeat(rng.normal(size=(5, 2)), 6, axis=0)
    decomposition = decompose(gaussian(X, 1.0))
    assert decomposition.eigenvalues.shape == (5,)
    assert decomposition.spectrum[-1] == pytest.approx(1.0)


def test_nystrom_with_all_rows_is_exact(rng):
    """With as many landmarks as rows the approximation is the kernel matrix."""
    X, rows, codes = rng.normal(size=(40, 2)), np.arange(8), np.arange(8) % 2
    K, kernel = gaussian(X, 0.5), Kernel("rbf", 0.5)
    nystrom = decompose_nystrom(kernel, X, np.arange(40), rng)
    labeled = nystrom.labeled_rows(kernel, X, X, rows)
    (found,) = solve(nystrom, labeled, codes, 2, [SMIRParams()])
    (exact,) = solve_matrix(K, rows, codes, SMIRParams())
    assert_allclose(K @ found.coef, K @ exact.coef, atol=1e-6)


def test_scale_of_a_class_with_negative_sum():
    """The values at labeled rows replace the sum."""
    values = np.array([[0.5, 0.2], [-0.1, 0.4]])
    scale = class_scale(np.array([-3.0, 2.0]), values, np.array([0.5, 0.5]), 10)
    assert_allclose(scale, [10 * 0.5 / (10 * 0.25), 10 * 0.5 / 2.0])
    assert_allclose(class_scale(np.zeros(1), np.zeros((2, 1)), np.ones(1), 10), [1.0])
