"""Mixtures for the same rows, climbed together, against scikit-learn's fitted one by one."""

import warnings

import numpy as np
import pytest
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


def theirs(rows, shape, size, seed):
    mixture = GaussianMixture(size, covariance_type=shape, reg_covar=FLOOR, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return mixture.fit(rows)


def covariances(mixture):
    if mixture.roots.ndim == 2:
        return mixture.roots**2
    return mixture.roots @ np.swapaxes(mixture.roots, 1, 2)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", ROWS)
def test_every_mixture_is_scikit_learns_up_to_rounding(kind, shape):
    rows = scaled(ROWS[kind]())
    moments = SHAPES[shape](rows)
    for size in SIZES[:5]:
        climb = _highest([_Climb(moments, _clusters(rows, size, 3))])
        ours, plain = climb.mixture, theirs(rows, shape, size, 3)
        np.testing.assert_allclose(climb.bic, plain.bic(rows), rtol=1e-9)
        np.testing.assert_allclose(ours.weights, plain.weights_, atol=1e-7)
        np.testing.assert_allclose(ours.means, plain.means_, atol=1e-7)
        np.testing.assert_allclose(covariances(ours), plain.covariances_, atol=1e-7)


@pytest.mark.parametrize("kind", ["iris", "wine", "three clouds"])
def test_the_best_is_the_best_of_scikit_learns(kind):
    rows = scaled(ROWS[kind]())
    plain = [theirs(rows, shape, size, 0) for shape in SHAPES for size in SIZES[:4]]
    best = min(plain, key=lambda one: one.bic(rows))
    ours = best_mixture(rows, 5, 0)
    if best.n_components == 1 and best.covariance_type == "full":
        assert ours is None
    else:
        np.testing.assert_allclose(covariances(ours), best.covariances_, atol=1e-7)


def test_who_cannot_catch_up_gives_up():
    rows = scaled(clouds())
    climbs = [_Climb(_Diagonal(rows), _clusters(rows, size, 0)) for size in (1, 2, 3)]
    assert _highest(climbs) is climbs[2]  # of three clouds
    assert climbs[2].over
    assert not climbs[1].over
    assert _highest([_Climb(_Diagonal(rows), _clusters(rows, 2, 0))]).over


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
