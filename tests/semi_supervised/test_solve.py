"""The solution is the published one, and a minimum."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from leavezero.semi_supervised import Setting, decompose, solve
from leavezero.semi_supervised._decompose import approximate
from leavezero.semi_supervised._kernels import Kernel
from leavezero.semi_supervised._solve import (
    class_scale,
    given_values,
    labeled_rows,
    probabilities,
    solve_labeled,
)

seeds = st.integers(0, 10**6)
classes = st.integers(1, 4)
widths = st.sampled_from([0.3, 0.7, 1.5])
gammas = st.sampled_from([0.0, 1e-7, 1e-3, 0.1, 10.0])
offsets = st.sampled_from([1e-6, 1e-4, 1e-2])


class Direct:
    """The objective F(A) as published (Niu et al. 2013), its gradient and its minimizer."""

    def __init__(self, kernel, rows, codes, gamma, offset):
        self.n, self.l = len(kernel), len(rows)
        self.c = int(max(codes)) + 1
        self.gamma, self.lam = gamma, gamma * self.c / self.n + offset
        values, vectors = np.linalg.eigh(kernel)
        kept = values > self.n * np.finfo(float).eps * values[-1]
        vectors, roots = vectors[:, kept], np.sqrt(values[kept])
        self.root, self.inverse_root = vectors * roots @ vectors.T, vectors / roots @ vectors.T
        degrees = kernel.sum(axis=1)
        self.thin = 1.0 / np.sqrt(degrees)[:, None]
        self.M = self.thin * kernel * self.thin.T
        self.T = (self.thin * self.root)[:, rows]
        self.Y = np.eye(self.c)[codes]

    def objective(self, A):
        fit = self.T.T @ A
        return (
            -np.sum(self.Y * fit) / self.l
            + np.sum(fit**2) / (2 * self.l)
            - self.gamma * self.c / (2 * self.n) * np.sum(A * (self.M @ A))
            + self.lam / 2 * np.sum(A**2)
        )

    def gradient(self, A):
        fit = self.T @ (self.T.T @ A - self.Y) / self.l
        return fit - self.gamma * self.c / self.n * self.M @ A + self.lam * A

    def minimizer(self):
        matrix = (
            self.n * self.T @ self.T.T
            + self.lam * self.n * self.l * np.eye(self.n)
            - self.gamma * self.l * self.c * self.M
        )
        return self.n * np.linalg.solve(matrix, self.T @ self.Y)

    def coef(self, A):
        """Return beta, with which the kernel gives the values, before any scaling."""
        return self.inverse_root @ (self.thin * A)

    def from_coef(self, beta):
        """Return the A that has this beta."""
        return (self.root @ beta) / self.thin


def gaussian(rows, width):
    """Return exp(-d^2 / (2 w^2)) between rows."""
    squares = ((rows[:, None] - rows) ** 2).sum(axis=2)
    return np.exp(-squares / (2 * width**2))


def problem(seed, n_classes, n_rows=30):
    """Return random rows, and labels of some, every class among them."""
    rng = np.random.default_rng(seed)
    n_labeled = int(rng.integers(n_classes, n_rows + 1))
    rows = rng.permutation(n_rows)[:n_labeled]
    codes = np.concatenate([np.arange(n_classes), rng.integers(n_classes, size=n_labeled)])
    return rng.normal(size=(n_rows, 2)), rows, codes[:n_labeled]


@given(seeds, classes, widths, gammas, offsets)
def test_equals_the_published_closed_form(seed, n_classes, width, gamma, offset):
    """Small systems after two decompositions give the coefficients of one large system."""
    X, rows, codes = problem(seed, n_classes)
    kernel = gaussian(X, width)
    (solution,) = solve(decompose(kernel), rows, codes, [Setting(gamma, offset)])
    direct = Direct(kernel, rows, codes, gamma, offset)
    values = kernel @ direct.coef(direct.minimizer())
    assert_allclose(kernel @ (solution.coef / solution.scale), values, atol=1e-6)
    new = np.exp(-((X[:5, None] + 0.1 - X) ** 2).sum(axis=2) / (2 * width**2))
    expected = new @ direct.coef(direct.minimizer())
    assert_allclose(new @ (solution.coef / solution.scale), expected, atol=1e-6)


@given(seeds, classes, widths, gammas, offsets)
def test_gradient_is_zero_and_every_step_leads_up(seed, n_classes, width, gamma, offset):
    """By finite differences of the objective itself."""
    X, rows, codes = problem(seed, n_classes, n_rows=12)
    kernel = gaussian(X, width)
    (solution,) = solve(decompose(kernel), rows, codes, [Setting(gamma, offset)])
    direct = Direct(kernel, rows, codes, gamma, offset)
    A = direct.from_coef(solution.coef / solution.scale)
    here, step = direct.objective(A), 1e-4
    rng = np.random.default_rng(seed)
    for _ in range(5):
        way = rng.normal(size=A.shape)
        way /= np.linalg.norm(way)
        up, down = direct.objective(A + step * way), direct.objective(A - step * way)
        assert abs(up - down) / (2 * step) < 1e-7
        assert min(up, down) > here
        finite = (direct.objective(way + step * way) - direct.objective(way - step * way)) / 2
        assert finite / step == pytest.approx(np.sum(direct.gradient(way) * way), abs=1e-6)


@given(seeds, widths, gammas, offsets)
def test_order_of_classes_does_not_matter(seed, width, gamma, offset):
    """Numbering the classes differently permutes the columns."""
    X, rows, codes = problem(seed, 3)
    order = np.random.default_rng(seed).permutation(3)
    decomposition = decompose(gaussian(X, width))
    (first,) = solve(decomposition, rows, codes, [Setting(gamma, offset)])
    (second,) = solve(decomposition, rows, order[codes], [Setting(gamma, offset)])
    scale = np.abs(first.coef).max()
    assert_allclose(second.coef[:, order] / scale, first.coef / scale, atol=1e-8)


@given(seeds, classes)
def test_many_labels_by_the_other_system(seed, n_classes):
    """Where labels outnumber the rank, Woodbury's identity gives the same solution."""
    rng = np.random.default_rng(seed)
    features = rng.uniform(size=(25, 4))
    codes = np.arange(20) % n_classes
    kernel = features @ features.T
    (solution,) = solve(decompose(kernel), np.arange(20), codes, [Setting(0.1, 1e-3)])
    direct = Direct(kernel, np.arange(20), codes, 0.1, 1e-3)
    expected = kernel @ direct.coef(direct.minimizer())
    assert_allclose(kernel @ (solution.coef / solution.scale), expected, atol=1e-6)


@given(seeds, classes, widths)
def test_values_have_the_prior_as_mean(seed, n_classes, width):
    """In all rows together, after scaling, and the values at given rows are the kernel's."""
    X, rows, codes = problem(seed, n_classes)
    kernel = gaussian(X, width)
    decomposition = decompose(kernel)
    settings = [Setting(), Setting(prior="uniform"), Setting(prior=np.arange(n_classes) + 1.0)]
    solutions = solve(decomposition, rows, codes, settings)
    for solution, values in zip(solutions, given_values(decomposition, solutions), strict=True):
        assert_allclose(values, kernel @ solution.coef, atol=1e-6)
        if np.all((kernel @ solution.coef / solution.scale).mean(axis=0) > 1e-3):
            assert_allclose(values.mean(axis=0), solution.prior, atol=1e-6)


def test_rank_is_that_of_the_kernel():
    """Identical rows are one direction, not many that rounding fills."""
    X = np.repeat(np.random.default_rng(0).normal(size=(5, 2)), 6, axis=0)
    decomposition = decompose(gaussian(X, 1.0))
    assert decomposition.values.shape == (5,)
    assert decomposition.spectrum[-1] == pytest.approx(1.0)


def test_all_rows_as_landmarks_are_exact(rng):
    """The approximation by as many landmarks as rows is the kernel itself."""
    X = rng.normal(size=(40, 2))
    rows, codes = np.arange(8), np.arange(8) % 2
    kernel = Kernel("rbf", 0.5)
    whole = approximate(kernel, X, np.arange(40), rng)
    vectors = kernel.between(X[rows], X) @ (whole.basis / np.sqrt(whole.values))
    labeled = labeled_rows(whole, vectors)
    (found,) = solve_labeled(whole, labeled, codes, 2, [Setting()])
    (exact,) = solve(decompose(gaussian(X, 0.5)), rows, codes, [Setting()])
    matrix = gaussian(X, 0.5)
    assert_allclose(matrix @ found.coef, matrix @ exact.coef, atol=1e-6)


def test_an_approximation_is_refused_by_solve(rng):
    """Its labelled rows are not among its landmarks."""
    half = approximate(Kernel("rbf"), rng.normal(size=(6, 2)), np.arange(3), rng)
    with pytest.raises(ValueError, match="decomposition of solve must be exact"):
        solve(half, [0, 1], [0, 1], [Setting()])


def test_a_class_without_mass_is_scaled_by_its_labelled_rows():
    """A mean of values at or below zero would turn them round."""
    values = np.array([[0.5, 0.2], [-0.1, 0.4]])
    scale = class_scale(np.array([-3.0, 2.0]), values, np.array([0.5, 0.5]), 10)
    assert_allclose(scale, [10 * 0.5 / (10 * 0.25), 10 * 0.5 / 2.0])
    nothing = class_scale(np.zeros(1), np.zeros((2, 1)), np.ones(1), 10)
    assert_allclose(nothing, [1.0])


def test_far_from_everything_the_prior_is_left():
    """Without a positive value there is no evidence for any class."""
    prior = np.array([0.3, 0.7])
    found = probabilities(np.array([[0.0, -1.0], [0.2, 0.6]]), prior)
    assert_allclose(found, [prior, [0.25, 0.75]], atol=1e-7)


@pytest.mark.parametrize(
    ("matrix", "words"),
    [
        (np.ones((2, 3)), "must be a square kernel matrix"),
        (np.array([[1.0, 0.2], [0.4, 1.0]]), "must be symmetric"),
        (np.array([[1.0, -0.2], [-0.2, 1.0]]), "must not be negative"),
        (np.array([[0.0, 1.0], [1.0, 0.0]]), "must be positive semi-definite"),
        (np.zeros((2, 2)), "must have entries above 0"),
        (np.array([[1.0, np.nan], [np.nan, 1.0]]), "must give finite numbers"),
    ],
)
def test_a_matrix_that_is_no_kernel_is_refused(matrix, words):
    """With words that say which property it lacks."""
    with pytest.raises(ValueError, match=words):
        decompose(matrix)
