"""The bound of the paper, as published and corrected."""

from math import inf

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from leavezero.diagnostics import (
    corollary_divergence,
    jensen_shannon_labels,
    joint_divergence,
    risk_bound,
)


@pytest.mark.parametrize("t", [0.05, 0.2, 0.5, 1.0])
def test_published_constant_is_too_small(t):
    """Two points, loss B on one of them: the true difference is B t."""
    p, q = [(1 + t) / 2, (1 - t) / 2], [(1 - t) / 2, (1 + t) / 2]
    divergence = joint_divergence(p, q, [0.0, 0.0])
    bound = risk_bound(divergence, n_validation=1000, dimension=2, loss_range=3.0)
    difference = 3.0 * t
    assert bound.shift_published < difference
    assert bound.shift >= difference - 1e-9
    assert bound.shift_tight == pytest.approx(difference, abs=1e-4)


@pytest.mark.parametrize(
    ("dimension", "m", "expected"),
    [(7, 500, 0.607), (21, 500, 0.923), (21, 1000, 0.696), (21, 10_000, 0.260), (231, 1000, 1.713)],
)
def test_sampling_term_of_the_paper(dimension, m, expected):
    bound = risk_bound(0.0, n_validation=m, dimension=dimension)
    assert bound.sampling == pytest.approx(expected, abs=5e-4)
    assert bound.sampling_published == bound.sampling


def test_published_corrected_and_tight_bound():
    bound = risk_bound(0.1537, n_validation=10_000, dimension=21)
    values = (bound.published, bound.corrected, bound.tight)
    assert values == pytest.approx((0.538, 0.815, 0.800), abs=1e-3)
    assert not bound.vacuous
    assert risk_bound(np.log(2), n_validation=10_000, dimension=21).vacuous


def test_more_generated_rows_do_not_reduce_the_bound():
    few, many = (
        risk_bound(0.0, n_validation=m, dimension=21, n_train=1000, generated=True)
        for m in (1000, 100_000)
    )
    assert few.n_effective == many.n_effective == 500
    assert few.tight == many.tight
    assert many.published < few.published


def test_loss_range_and_number_of_candidates():
    one = risk_bound(0.01, n_validation=5000, dimension=3)
    wide = risk_bound(0.01, n_validation=5000, dimension=3, loss_range=4.0)
    assert wide.tight == pytest.approx(4.0 * one.tight)
    assert wide.hold_out == pytest.approx(4.0 * one.hold_out)
    several = risk_bound(0.01, n_validation=5000, dimension=3, n_candidates=100)
    assert one.sampling < several.sampling < 2 * one.sampling


@pytest.mark.parametrize("dimension", [inf, None, 2000])
def test_bound_is_vacuous_for_large_and_unknown_dimensions(dimension):
    assert risk_bound(0.0, n_validation=1000, dimension=dimension).vacuous


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"n_validation": 0}, "n_validation of risk_bound must be an int of at least 1, got 0"),
        ({"delta": 1.5}, "delta of risk_bound must be between 0 and 1, got 1.5"),
        ({"loss_range": inf}, "loss_range of risk_bound must be positive and finite"),
        ({"dimension": -1}, "dimension of risk_bound must be positive or None, got -1"),
        ({"n_candidates": 2.5}, "n_candidates of risk_bound must be an int"),
        ({"divergence": -0.1}, "divergence of risk_bound must be at least 0 and finite"),
    ],
)
def test_invalid_parameters(changes, message):
    with pytest.raises(ValueError, match=message):
        risk_bound(**{"divergence": 0.0, "n_validation": 100, "dimension": 3} | changes)


def test_corollary_is_looser_than_the_theorem():
    p, q, by_class = [0.6, 0.4], [0.5, 0.5], [0.02, 0.05]
    corollary = risk_bound(corollary_divergence(p, q, by_class), n_validation=10_000, dimension=3)
    theorem = risk_bound(joint_divergence(p, q, by_class), n_validation=10_000, dimension=3)
    labels = jensen_shannon_labels([0, 0, 0, 1, 1], [0, 1])
    root = np.sqrt(0.6 * 0.02 + 0.4 * 0.05 + 0.5 * 0.02 + 0.5 * 0.05) + np.sqrt(labels)
    assert corollary.shift_published == pytest.approx(root / np.sqrt(2))
    assert theorem.shift_tight < corollary.shift_tight < corollary.shift
    no_overlap = corollary_divergence([1.0], [1.0], [0.69])
    assert risk_bound(no_overlap, n_validation=1000, dimension=3).shift_tight == 1.0


def divergence_of_densities(p, q):
    def integrand(x):
        a, b = p(x), q(x)
        return sum(v * np.log(2 * v / (a + b)) for v in (a, b) if v > 0) / 2

    return quad(integrand, -12, 12, limit=500)[0]


@pytest.mark.parametrize(
    ("mean", "scale"), [(1.0, 1.0), (1.0, 0.95), (0.9, 0.9), (1.4, 1.0), (1.0, 0.6)]
)
def test_bound_holds_in_simulation_for_all_thresholds(mean, scale):
    """Two normal classes on a line; the validation set is exact, shifted or too narrow.

    Half-lines of both directions have dimension 2. The errors of all thresholds on m rows are sums
    of multinomial counts, and the risk is known.
    """
    rng, m, cuts = np.random.default_rng(0), 100_000, np.linspace(-3, 3, 61)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    cells = [np.diff(norm.cdf(edges, sign * mean, scale)) / 2 for sign in (-1, 1)]
    counts = rng.multinomial(m, np.concatenate(cells), size=500) / m
    low, high = counts[:, : len(cuts) + 1], counts[:, len(cuts) + 1 :]
    # Errors of "x above the cut is class 1": class 0 above it, class 1 below it.
    loss = low[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:] + high.cumsum(axis=1)[:, :-1]
    risk = (norm.sf(cuts, -1.0) + norm.cdf(cuts, 1.0)) / 2
    difference = np.abs(loss - risk).max(axis=1)  # the same for the other direction
    inner = divergence_of_densities(norm(1.0).pdf, norm(mean, scale).pdf)
    joint = joint_divergence([0.5, 0.5], [0.5, 0.5], [inner, inner])
    bound = risk_bound(joint, n_validation=m, dimension=2, delta=0.1)
    assert not bound.vacuous
    assert np.mean(difference > bound.corrected) <= 0.1
    assert np.mean(difference > bound.tight) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("shift", [0.0, 0.4])
def test_bound_holds_in_simulation_for_lines_in_the_plane(shift):
    """Half-planes have dimension 3; the validation set is new data, or shifted."""
    rng, m = np.random.default_rng(0), 100_000
    normals, offsets = rng.normal(size=(20, 2)), rng.normal(size=20)
    lengths = np.linalg.norm(normals, axis=1)
    mean = np.array([1.0, 0.0])
    risk = [
        (norm.sf(b, -(w @ mean), s) + norm.cdf(b, w @ mean, s)) / 2
        for w, b, s in zip(normals, offsets, lengths, strict=True)
    ]
    divergence = divergence_of_densities(norm().pdf, norm(shift).pdf)
    bound = risk_bound(divergence, n_validation=m, dimension=3, delta=0.1)
    assert not bound.vacuous
    n_exceeded = 0
    for _ in range(500):
        y = rng.random(m) < 0.5
        x = rng.standard_normal((m, 2)) + np.where(y, 1.0, -1.0)[:, None] * mean
        x[:, 0] += shift
        loss = ((x @ normals.T > offsets) != y[:, None]).mean(axis=0)
        n_exceeded += np.abs(loss - risk).max() > bound.tight
    assert n_exceeded / 500 <= 0.1
