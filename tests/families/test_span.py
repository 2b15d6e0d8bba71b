"""The arithmetic of the span rule, on kernels that a person could invert."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR

from leavezero.families import _span, _svm_kernel, family_of
from leavezero.families._span import Others, bounded_relief, free_of, reachable, span_of


def some_rows(seed, n_rows=12):
    return np.random.default_rng(seed).normal(size=(n_rows, 3))


def bordered(kernel):
    """Return the inverse of a kernel bordered by ones."""
    n_rows = len(kernel)
    whole = np.ones((n_rows + 1, n_rows + 1))
    whole[:n_rows, :n_rows], whole[-1, -1] = kernel, 0.0
    return np.linalg.inv(whole)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000))
def test_spans_are_those_of_the_bordered_inverse(seed):
    """Of the free vectors by its diagonal, of the others by what it leaves of their kernel."""
    kernel = rbf_kernel(some_rows(seed), gamma=0.7)
    own, between = kernel[:7, :7], kernel[:7, 7:]
    inverse = bordered(own)
    free = free_of(own.copy())
    others = Others(np.ones(5), np.ones(5), np.ones(5))
    span = span_of(free, np.asfortranarray(between), others)
    np.testing.assert_allclose(free.squares, 1.0 / np.diag(inverse)[:-1], rtol=1e-5)
    edge = np.vstack([between, np.ones(5)])
    left = 1.0 - np.einsum("ij,ij->j", edge, inverse @ edge)
    np.testing.assert_allclose(span.squares, left, atol=1e-6)


def test_a_kernel_that_is_not_positive():
    """Its positive part is inverted, whatever the failed factorization has overwritten."""
    kernel = np.array([[1.0, 2.0, 0.5], [2.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    values, vectors = np.linalg.eigh(kernel)
    kept = values > 0
    expected = vectors[:, kept] / values[kept] @ vectors[:, kept].T
    free = free_of(kernel.copy())
    assert not free.lower
    np.testing.assert_allclose(free.half.T @ free.half, expected, atol=1e-8)
    span = span_of(free, np.ones((3, 0)), Others(*np.ones((3, 0))))
    assert span.squares.shape == (0,)


def test_a_machine_without_other_rows():
    """Nothing but free vectors leaves nothing to look at."""
    free = free_of(rbf_kernel(some_rows(0, 4), gamma=0.7))
    span = span_of(free, np.ones((4, 0), order="F"), Others(*np.ones((3, 0))))
    assert span.squares.shape == (0,)


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), coef=st.floats(0.01, 10.0))
def test_rows_out_of_reach_give_no_relief(seed, coef):
    """The largest relief is the same whether all rows are looked at or those within reach."""
    rng = np.random.default_rng(seed)
    kernel = rbf_kernel(some_rows(seed, 30), gamma=0.3)
    limits = rng.uniform(0.0, 1.0, size=(2, 22))
    others = Others(np.ones(22), *np.where(rng.random(22) < 0.5, [limits[0]] * 2, np.inf))
    span = span_of(free_of(kernel[:8, :8].copy()), np.asfortranarray(kernel[:8, 8:]), others)
    which, coefs = np.array([0, 5, 9]), coef * np.array([1.0, -1.0, 0.5])
    everyone, near = np.arange(22), reachable(span, others, which, coefs)
    reliefs = [
        bounded_relief(span, others, which, coefs, part, kernel[8:, 8:][which][:, part])
        for part in (everyone, near)
    ]
    np.testing.assert_allclose(reliefs[0], reliefs[1], rtol=1e-12)


@pytest.mark.parametrize(
    "estimator", [SVC(), SVC(C=3.0), SVC(gamma=0.5), SVC(C=1e3, gamma=1e-3), SVR(C=2.0), SVR(C=1e3)]
)
def test_single_precision_moves_no_score_that_matters(monkeypatch, estimator):
    """Answers in single precision are those in double precision up to LIBSVM's own tolerance."""
    X, y = make_classification(300, 12, n_informative=6, flip_y=0.1, random_state=2)
    model = estimator.fit(X, y)
    method = "decision_function" if isinstance(estimator, SVC) else "predict"
    said = family_of(model).unseen(model, X, y)
    monkeypatch.setattr(_span, "STEADY", 0.0)
    others = family_of(model).unseen(model, X, y)
    monkeypatch.setattr(_svm_kernel, "SMALL", -1.0)
    exact = family_of(model).unseen(model, X, y)
    np.testing.assert_allclose(said.responses[method], others.responses[method], atol=1e-5)
    np.testing.assert_allclose(said.responses[method], exact.responses[method], atol=1e-4)
    assert said.doubt == exact.doubt


def test_single_precision_is_used_where_it_is_steady():
    """Distinct rows and a small penalty bear it, near copies among the free vectors do not."""
    rows = some_rows(0, 6)
    assert free_of(rbf_kernel(rows, gamma=1.0)).steady(np.ones(6))
    assert not free_of(rbf_kernel(rows, gamma=1.0)).steady(np.full(6, 1e3))
    rows[1] = rows[0] + 1e-3
    assert not free_of(rbf_kernel(rows, gamma=1.0)).steady(np.ones(6))
