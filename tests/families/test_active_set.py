"""Machines on a kernel matrix by active sets."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_moons
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC

from leavezero.families import _active_set
from leavezero.families._active_set import solve_kernel

SEEDS = st.integers(0, 2**31)


def machine(seed, n_rows=80, n_columns=3, gamma=0.3, copies=0):
    """Return a kernel and signs of two classes, both of them there; some rows may be copies."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(n_rows, n_columns))
    signs = np.where(rows[:, 0] + rng.normal(size=n_rows) > 0.0, 1.0, -1.0)
    if copies:
        rows[-copies:] = rows[:copies]
    signs[:2] = 1.0, -1.0
    return rbf_kernel(rows, gamma=gamma), signs, rng.uniform(0.2, 3.0, n_rows)


def libsvm(kernel, signs, penalty, weights, tol=1e-3):
    """Return the multipliers of a plain fit."""
    plain = SVC(kernel="precomputed", C=penalty, tol=tol).fit(kernel, signs, weights)
    multipliers = np.zeros(len(signs))
    multipliers[plain.support_] = np.abs(plain.dual_coef_[0])
    return multipliers, plain


def worth(kernel, signs, multipliers):
    """Return the dual objective: the less, the better."""
    coefs = signs * multipliers
    return 0.5 * coefs @ kernel @ coefs - multipliers.sum()


@settings(max_examples=60, deadline=None)
@given(
    seed=SEEDS,
    power=st.integers(-4, 12),
    gamma=st.sampled_from([1e-3, 0.03, 0.3, 3.0]),
    n_columns=st.sampled_from([1, 3, 20]),
    copies=st.sampled_from([0, 30]),
    begin=st.sampled_from(["nothing", "bounds", "a smaller penalty"]),
)
def test_the_optimum_is_reached(seed, power, gamma, n_columns, copies, begin):
    """The solution is feasible, optimal to the tolerance, and no worse than LIBSVM's."""
    kernel, signs, weights = machine(seed, 80, n_columns, gamma, copies)
    penalty = 2.0**power
    bounds = penalty * weights
    start = np.zeros(len(signs))
    if begin == "bounds":
        start[:] = np.inf
    elif begin == "a smaller penalty":
        before, _ = libsvm(kernel, signs, 0.1 * penalty, weights)
        start = np.where(before >= 0.1 * bounds, np.inf, before)
    found = solve_kernel(kernel, signs, bounds, start, 1e-3)
    assert found is not None
    assert found.violation <= 1e-3
    assert np.all((found.multipliers >= 0.0) & (found.multipliers <= bounds))
    assert abs(found.multipliers @ signs) < 1e-9 * bounds.sum()
    theirs = worth(kernel, signs, libsvm(kernel, signs, penalty, weights)[0])
    slack = 1e-3 * bounds.sum()  # by which a machine within the tolerance may miss the optimum
    assert worth(kernel, signs, found.multipliers) <= theirs + slack


@settings(max_examples=20, deadline=None)
@given(seed=SEEDS, power=st.integers(-4, 4))
def test_scores_are_those_of_libsvm(seed, power):
    """With a small tolerance both have the same scores."""
    kernel, signs, weights = machine(seed)
    found = solve_kernel(kernel, signs, 2.0**power * weights, np.zeros(len(signs)), 1e-6)
    _, plain = libsvm(kernel, signs, 2.0**power, weights, 1e-6)
    scores = kernel @ (signs * found.multipliers) + found.intercept
    np.testing.assert_allclose(scores, plain.decision_function(kernel), atol=1e-3)


def test_bold_steps_that_go_round_in_circles(monkeypatch):
    """On a kernel with hardly an inverse only the careful way arrives, and it is taken."""
    rows, labels = make_moons(300, noise=0.3, random_state=0)
    kernel, signs = rbf_kernel(rows, gamma=0.5), 2.0 * labels - 1.0
    before, _ = libsvm(kernel, signs, 10.0, np.ones(300))
    start = np.where(before >= 10.0, np.inf, before)
    bounds, asked = np.full(300, 1000.0), []
    settles = _active_set._settles

    def told(point, widths, tol, bold):
        asked.append((bold, settles(point, widths, tol, bold)))
        return asked[-1][1]

    monkeypatch.setattr(_active_set, "_settles", told)
    found = solve_kernel(kernel, signs, bounds, start, 1e-3)
    assert asked == [(True, False), (False, True)]
    assert found.violation <= 1e-3


def test_what_is_not_reached_is_not_told(monkeypatch):
    """Too few rounds, and kernels that are none, give no machine rather than a poor one."""
    kernel, signs, weights = machine(0)
    assert solve_kernel(-kernel, signs, weights, np.zeros(80), 1e-3) is None
    monkeypatch.setattr(_active_set, "ROUNDS", 1)
    assert solve_kernel(kernel, signs, 100.0 * weights, np.zeros(80), 1e-3) is None


def test_rows_that_are_all_the_same():
    """Rows that no kernel tells apart have multipliers too, and no scores."""
    signs = np.array([1.0, -1.0, 1.0, -1.0])
    found = solve_kernel(np.ones((4, 4)), signs, np.ones(4), np.zeros(4), 1e-3)
    assert found is not None
    assert signs @ found.multipliers == pytest.approx(0.0, abs=1e-9)
