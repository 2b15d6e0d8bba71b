"""Estimates between two independent samples."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.integrate import quad
from scipy.stats import chi, norm

from leavezero.divergence import density_ratio, energy_distance, jensen_shannon_features


def true_divergence(p, q, low, high):
    """Return the divergence of two densities by integration."""

    def integrand(x):
        a, b = p(x), q(x)
        return sum(v * np.log(2 * v / (a + b)) for v in (a, b) if v > 0) / 2

    return quad(integrand, low, high, limit=500)[0]


def shifted(d, n, rng):
    X, X_v = rng.standard_normal((2, n, d))
    X_v[:, 0] += 1.0
    return X, X_v, true_divergence(norm.pdf, norm(1).pdf, -10, 11)


def scaled(d, n, rng):
    X, X_v = rng.standard_normal((2, n, d))
    return X, 1.2 * X_v, true_divergence(chi(d).pdf, chi(d, scale=1.2).pdf, 0, 12)


def same(d, n, rng):
    X, X_v = rng.standard_normal((2, n, d))
    return X, X_v, 0.0


@pytest.mark.parametrize("laws", [shifted, scaled, same])
def test_it_is_near_the_truth(laws, rng):
    """Not above it by more than chance, and below by little at five columns."""
    X, X_v, truth = laws(5, 160, rng)
    found = jensen_shannon_features(X, X_v, random_state=0)
    assert truth - 0.05 < found.value < truth + 3 * found.standard_error + 1e-9
    assert found.neighbors == pytest.approx(truth, abs=0.1)
    assert found.value == max(0.0, found.raw)
    assert (found.n_rows, found.n_rows_v) == (160, 160)


@pytest.mark.slow
@pytest.mark.parametrize("laws", [shifted, scaled, same])
@pytest.mark.parametrize("d", [1, 5, 20])
@pytest.mark.parametrize(
    ("n", "repeats", "tolerance"), [(200, 8, 0.05), (1000, 4, 0.02), (5000, 2, 0.015)]
)
def test_the_errors_are_inside_stated_tolerances(laws, d, n, repeats, tolerance):
    """On average below the truth by at most the tolerance, and above it hardly at all."""
    errors = []
    for repeat in range(repeats):
        X, X_v, truth = laws(d, n, np.random.default_rng([repeat, n, d]))
        errors.append(jensen_shannon_features(X, X_v, max_rows=n, random_state=repeat).raw - truth)
    assert -tolerance < np.mean(errors) < tolerance / 2


def test_unequal_sizes_weigh_the_same(rng):
    """Ten times as many rows on one side change the estimate little."""
    X, X_v, truth = shifted(3, 1000, rng)
    few = jensen_shannon_features(X[:100], X_v, random_state=0)
    turned = jensen_shannon_features(X, X_v[:100], random_state=0)
    assert few.value == pytest.approx(truth, abs=0.06)
    assert turned.value == pytest.approx(truth, abs=0.06)


def test_an_int_repeats_and_rows_are_bounded(rng):
    """The same seed gives the same record."""
    X, X_v, _ = shifted(2, 200, rng)
    first, second = (jensen_shannon_features(X, X_v, max_rows=50, random_state=3) for _ in range(2))
    assert first == second
    assert (first.n_rows, first.n_rows_v) == (50, 50)


def test_disjoint_samples_have_almost_ln_2():
    """Probabilities stop at 0.999."""
    X = np.arange(60.0).reshape(-1, 1)
    found = jensen_shannon_features(X, X + 1000.0, random_state=0)
    assert np.log(2) - 0.01 < found.value <= np.log(2)
    assert found.auc == 1.0


def test_constant_columns_say_nothing():
    """Not even that they are constant."""
    found = jensen_shannon_features(np.ones((30, 2)), np.ones((40, 2)), random_state=0)
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert found.auc == 0.5
    assert found.neighbors is None


def test_mixed_tables_with_gaps(rng):
    """Categories, times and missing cells count; a difference in gaps alone is seen."""
    n = 120
    frame = pd.DataFrame(
        {
            "number": rng.normal(size=n),
            "name": pd.Categorical(rng.choice(["a", "b", "c"], n)),
            "day": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 99, n), unit="D"),
            "word": rng.choice(["u", "v"], n),
        }
    )
    other = frame.iloc[rng.permutation(n)].reset_index(drop=True)
    assert jensen_shannon_features(frame, other, random_state=0).value < 0.05
    gaps = other.assign(number=other["number"].where(rng.random(n) < 0.5))
    assert jensen_shannon_features(frame, gaps, random_state=0).value > 0.1
    names = other.assign(name=pd.Categorical(["d"] * n))
    assert jensen_shannon_features(frame, names, random_state=0).value > 0.6


def test_sparse_matrices_and_documents(rng):
    """More cells that are not zero, or other words, are seen."""
    thin, thick = (
        sparse.random(120, 150, density=share, random_state=0, format=form)
        for share, form in ((0.03, "csr"), (0.06, "coo"))
    )
    assert jensen_shannon_features(thin, thick, random_state=0).value > 0.15
    assert jensen_shannon_features(thin[:60], thin[60:], random_state=0).value < 0.05
    first, second = (
        [" ".join(rng.choice(list(words), 8)) for _ in range(100)] for words in ("abcd", "cdef")
    )
    assert jensen_shannon_features(first, second, random_state=0).value > 0.4


def test_more_columns_than_rows(rng):
    """They are summed up for the models that need few."""
    X, X_v, _ = shifted(150, 60, rng)
    assert jensen_shannon_features(X, X_v + 1.0, random_state=0).auc > 0.9


NARROW, WIDE = np.zeros((12, 2)), np.zeros((12, 3))
FRAME = pd.DataFrame({"a": np.arange(12.0), "b": 1.0})


@pytest.mark.parametrize(
    ("X", "X_v", "message"),
    [
        (NARROW, WIDE, "must have the same columns, got 2 and 3"),
        (FRAME, FRAME.rename(columns={"b": "c"}), r"got \['a', 'b'\] and \['a', 'c'\]"),
        (FRAME, NARROW, "must be tables of one kind, got a frame and an array"),
        (sparse.csr_matrix(NARROW), NARROW, "got a sparse matrix and an array"),
        (NARROW, NARROW[:3], r"X_v of \w+ has 3 rows and needs at least 10"),
        (NARROW[:0], NARROW, r"X of \w+ has 0 rows and needs at least 10"),
        (NARROW, NARROW + np.inf, r"X_v of \w+ contains infinity"),
        (sparse.csr_matrix(WIDE + np.nan), sparse.csr_matrix(WIDE), "cells that are not finite"),
        (np.zeros(12), NARROW, r"Use x\.reshape\(-1, 1\) for a single column"),
        (np.zeros((12, 0)), np.zeros((12, 0)), r"X of \w+ has no columns"),
    ],
)
@pytest.mark.parametrize("function", [jensen_shannon_features, density_ratio])
def test_samples_that_cannot_be_compared(function, X, X_v, message):
    """One sentence says why."""
    with pytest.raises(ValueError, match=message):
        function(X, X_v)


def test_numbers_of_rows_that_cannot_be():
    """Too few to learn from, or no int."""
    with pytest.raises(ValueError, match="max_rows of jensen_shannon_features must be an int"):
        jensen_shannon_features(NARROW, NARROW, max_rows=5)
    with pytest.raises(ValueError, match="n_permutations of energy_distance must be an int of"):
        energy_distance(NARROW, NARROW, n_permutations=-1)


def test_the_density_ratio_is_that_of_two_normal_laws(rng):
    """exp(1 / 2 - x) for a shift by one, at rows that were not there too."""
    X, X_v, _ = shifted(1, 700, rng)
    at = np.array([[-1.0], [0.5], [2.0]])
    assert density_ratio(X, X_v, at, random_state=0) == pytest.approx(
        np.exp(0.5 - at[:, 0]), rel=0.25
    )
    own = density_ratio(X, X_v, max_rows=100, random_state=0)
    assert own.shape == (700,)
    assert np.corrcoef(np.log(own), 0.5 - X_v[:, 0])[0, 1] > 0.95


def test_weights_turn_one_sample_into_the_other(rng):
    """Rows of V count as rows of the data would: the weighted mean moves over."""
    X, X_v, _ = shifted(1, 400, rng)
    weights = density_ratio(X, X_v, random_state=0)
    assert np.average(X_v[:, 0], weights=weights) == pytest.approx(X.mean(), abs=0.2)


def test_the_energy_distance_sees_how_columns_go_together(rng):
    """The margins are the same; only the correlation differs."""
    X = rng.multivariate_normal([0, 0], [[1, 0.9], [0.9, 1]], 300)
    apart = np.column_stack([X[:, 0], rng.permutation(X[:, 1])])
    found = energy_distance(X, apart, n_permutations=99, random_state=0)
    assert found.p_value == pytest.approx(0.01)
    alike = energy_distance(X[:150], X[150:], n_permutations=99, random_state=0)
    assert alike.p_value > 0.05
    assert alike.value < found.value


def test_the_energy_distance_of_names():
    """Two samples that share no category are at the distance of two categories, twice."""
    X, X_v = np.full((5, 1), "a", dtype=object), np.full((4, 1), "b", dtype=object)
    assert energy_distance(X, X_v).value == pytest.approx(2.0)
    assert energy_distance(X, X).value == 0.0
