"""Linear machines by an interior point method."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from leavezero.families._interior import solve_linear

SEEDS = st.integers(0, 2**31)


def machine(seed, n_rows=60, n_columns=4, overlap=1.0):
    """Return rows and signs of two classes, both of them there."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_columns)) * rng.uniform(0.1, 10.0, n_columns)
    rows += rng.normal(size=n_columns) * 10.0
    signal = (rows - rows.mean(axis=0)) @ (1.0 / rows.std(axis=0))
    signs = np.where(signal + overlap * rng.normal(size=n_rows) > 0.0, 1.0, -1.0)
    signs[:2] = 1.0, -1.0
    return rows, signs, rng.uniform(0.2, 3.0, n_rows)


def worth(rows, signs, multipliers):
    """Return the dual objective: the less, the better."""
    normal = (signs * multipliers) @ rows
    return 0.5 * normal @ normal - multipliers.sum()


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, power=st.integers(-10, 7), overlap=st.sampled_from([0.0, 0.3, 2.0]))
def test_the_optimum_is_reached(seed, power, overlap):
    """The solution is feasible, optimal to the tolerance, and no worse than LIBSVM's."""
    rows, signs, weights = machine(seed, overlap=overlap)
    bounds = 2.0**power * weights
    found = solve_linear(rows, signs, bounds, 1e-3)
    assert found is not None
    assert found.violation <= 1e-3
    assert np.all((found.multipliers >= 0.0) & (found.multipliers <= bounds))
    assert abs(found.multipliers @ signs) < 1e-9 * bounds.max()
    plain = SVC(kernel="linear", C=2.0**power, tol=1e-5).fit(rows, signs, sample_weight=weights)
    theirs = np.zeros(len(signs))
    theirs[plain.support_] = np.abs(plain.dual_coef_[0])
    best = worth(rows, signs, theirs)
    assert worth(rows, signs, found.multipliers) <= best + 1e-5 * abs(best)


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, power=st.integers(-6, 3))
def test_scores_are_those_of_libsvm(seed, power):
    """With a small tolerance both have the same plane."""
    rows, signs, weights = machine(seed)
    rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
    found = solve_linear(rows, signs, 2.0**power * weights, 1e-6)
    plain = SVC(kernel="linear", C=2.0**power, tol=1e-6).fit(rows, signs, sample_weight=weights)
    scores = rows @ ((signs * found.multipliers) @ rows) + found.intercept
    np.testing.assert_allclose(scores, plain.decision_function(rows), atol=1e-4)


def test_the_intercept_without_free_rows():
    """Where every row is at its bound, the intercept is in the middle of what is optimal."""
    rows = np.array([[-1.0], [-0.5], [0.5], [1.0]])
    signs = np.array([-1.0, -1.0, 1.0, 1.0])
    found = solve_linear(rows, signs, np.full(4, 0.01), 1e-3)
    plain = SVC(kernel="linear", C=0.01).fit(rows, signs)
    assert np.array_equal(found.multipliers, np.full(4, 0.01))
    assert found.intercept == pytest.approx(plain.intercept_[0], abs=1e-12)


def test_what_is_not_reached_is_not_told():
    """A tolerance beyond rounding is no solution, rather than a poor one."""
    rows, signs, weights = machine(0)
    assert solve_linear(rows * 1e8, signs, 1e8 * weights, 1e-14) is None


def test_rows_that_are_all_the_same():
    """Rows without any spread have multipliers too, and no direction."""
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    found = solve_linear(np.ones((4, 2)), signs, np.ones(4), 1e-3)
    assert found is not None
    assert np.allclose((signs * found.multipliers) @ np.ones((4, 2)), 0.0)
