"""Mixtures for the same rows, climbed together, against scikit-learn's fitted one by one."""

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, load_wine, make_classification
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from leavezero.augment import GaussianMixtureAugmenter
from leavezero.augment._mixture import (
    FLOOR,
    SIZES,
    _Climb,
    _clusters,
    _Diagonal,
    _Full,
    _highest,
    best_mixture,
)

SHAPES = {"diag": _Diagonal, "full": _Full}


def scaled(rows):
    scale = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def clouds():
    rng = np.random.default_rng(1)
    return np.vstack([rng.normal(at, 0.3, (40, 3)) for at in (-4.0, 0.0, 4.0)])


ROWS = {
    "iris": lambda: load_iris().data,
    "wine": lambda: load_wine().data[:59],
    "three clouds": clouds,
    "copies": lambda: np.repeat(np.arange(6.0).reshape(3, 2), 20, axis=0),
    "a constant column": lambda: np.column_stack([clouds(), np.ones(120)]),
    "far more rows": lambda: make_classification(900, 12, random_state=0)[0],
}


def theirs(rows, shape, start):
    """Fit scikit-learn's mixture from the same start: the moments of its clusters."""
    first = SHAPES[shape](rows).mixture_of(start)
    spread = covariances(first)
    mixture = GaussianMixture(
        len(start),
        covariance_type=shape,
        reg_covar=FLOOR,
        weights_init=first.weights / first.weights.sum(),
        means_init=first.means,
        precisions_init=1.0 / spread if shape == "diag" else symmetric_inverses(spread),
        random_state=0,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(rows)


def symmetric_inverses(squares):
    inverses = np.linalg.inv(squares)
    return 0.5 * (inverses + np.swapaxes(inverses, 1, 2))


def covariances(mixture):
    if mixture.roots.ndim == 2:
        return mixture.roots**2
    return mixture.roots @ np.swapaxes(mixture.roots, 1, 2)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ROWS)
def test_every_mixture_is_scikit_learns_up_to_rounding(kind, shape):
    rows = scaled(ROWS[kind]())
    moments = SHAPES[shape](rows)
    for start in _clusters(rows, SIZES[:5], 3):
        climb = _highest([_Climb(moments, start)])
        ours, plain = climb.mixture, theirs(rows, shape, start)
        np.testing.assert_allclose(climb.bic, plain.bic(rows), rtol=1e-9)
        np.testing.assert_allclose(ours.weights, plain.weights_, atol=1e-7)
        np.testing.assert_allclose(ours.means, plain.means_, atol=1e-7)
        np.testing.assert_allclose(covariances(ours), plain.covariances_, atol=1e-7)


@pytest.mark.parametrize("kind", ["iris", "wine", "three clouds"])
def test_the_best_is_the_best_of_scikit_learns(kind):
    rows = scaled(ROWS[kind]())
    starts = _clusters(rows, SIZES[:4], 0)
    plain = [theirs(rows, shape, start) for shape in SHAPES for start in starts]
    best = min(plain, key=lambda one: one.bic(rows))
    ours = best_mixture(rows, 5, 0)
    if best.n_components == 1 and best.covariance_type == "full":
        assert ours is None
    else:
        np.testing.assert_allclose(covariances(ours), best.covariances_, atol=1e-7)


def test_who_cannot_catch_up_gives_up():
    rows = scaled(clouds())
    starts = _clusters(rows, (1, 2, 3), 0)
    climbs = [_Climb(_Diagonal(rows), start) for start in starts]
    assert _highest(climbs) is climbs[2]  # of three clouds
    assert climbs[2].over
    assert not climbs[1].over
    assert _highest([_Climb(_Diagonal(rows), starts[1])]).over


@pytest.mark.parametrize("kind", ROWS)
def test_clusters_are_nearly_as_tight_as_those_of_k_means(kind):
    rows = scaled(ROWS[kind]())
    for start in _clusters(rows, SIZES[:4], 0):
        assert np.array_equal(start.sum(axis=0), np.ones(len(rows)))
        centers = start @ rows / np.maximum(1.0, start.sum(axis=1, keepdims=True))
        ours = ((rows - start.T @ centers) ** 2).sum()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # fewer different rows than that
            settled = KMeans(len(start), n_init=1, random_state=0).fit(rows)
        assert ours <= 1.25 * settled.inertia_ + 1e-9


def test_one_full_gaussian_is_left_to_the_shrunk_one():
    rng = np.random.default_rng(0)
    rows = scaled(rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)))
    assert best_mixture(rows, 5, 0) is None
    assert best_mixture(rows[:, :1], 5, 0) is None  # of one column: there is no other shape


def test_drawn_rows_have_the_components_moments():
    mixture = best_mixture(scaled(clouds()), 5, 0)
    drawn = mixture.sample(60_000, np.random.default_rng(0))
    assert drawn.shape == (60_000, 3)
    np.testing.assert_allclose(drawn.mean(axis=0), mixture.weights @ mixture.means, atol=0.02)


def test_a_class_of_one_column_is_drawn():
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(9, 10, 30)])[:, None]
    V = GaussianMixtureAugmenter(random_state=0).fit(X, np.zeros(60)).sample(200, random_state=0)
    assert not np.any(np.abs(V.X - 5.0) < 2.0)
