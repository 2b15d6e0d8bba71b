"""Gaussian and Gaussian mixture augmenters."""

import numpy as np
import pytest
from sklearn.covariance import ledoit_wolf_shrinkage
from sklearn.datasets import load_iris, load_wine

from leavezero.augment import GaussianAugmenter, GaussianMixtureAugmenter
from leavezero.augment._gaussian import Mixture, ShrunkGaussian, ledoit_wolf_share


def standardized(rows):
    scale = rows.std(axis=0)
    return (rows - rows.mean(axis=0)) / np.where(scale > 0, scale, 1.0)


def clusters():
    rng = np.random.default_rng(1)
    return standardized(np.vstack([rng.normal(c, 0.3, (40, 3)) for c in (-4.0, 0.0, 4.0)]))


@pytest.mark.parametrize("shape", [(50, 3), (20, 20), (10, 200), (1, 5), (2, 3)])
def test_shrinkage_equals_that_of_scikit_learn(shape):
    rows = np.random.default_rng(0).exponential(size=shape)
    rows -= rows.mean(axis=0)
    expected = ledoit_wolf_shrinkage(rows, assume_centered=True) if len(rows) > 1 else 0.0
    assert ledoit_wolf_share(rows) == pytest.approx(expected, abs=1e-12)


def test_one_column_is_not_shrunk():
    assert ledoit_wolf_share(np.array([[-1.0], [1.0]])) == 0.0


@pytest.mark.parametrize("n_columns", [3, 60])
def test_shrunk_gaussian_has_the_covariance_of_ledoit_and_wolf(n_columns):
    """With fewer and with more columns than rows, for the factor and for generated rows."""
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, n_columns)) @ rng.normal(size=(n_columns, n_columns))
    centered = rows - rows.mean(axis=0)
    share, empirical = ledoit_wolf_share(centered), centered.T @ centered / 40
    target = np.trace(empirical) / n_columns * np.eye(n_columns)
    expected = (1 - share) * empirical + share * target
    gaussian = ShrunkGaussian.of(rows)
    identity = gaussian.noise * np.eye(n_columns)
    np.testing.assert_allclose(gaussian.factor.T @ gaussian.factor + identity, expected)
    generated = gaussian.sample(20_000, rng)
    scale = np.sqrt(np.outer(np.diag(expected), np.diag(expected)))
    np.testing.assert_allclose(np.cov(generated.T) / scale, expected / scale, atol=0.05)


def test_the_mixture_of_three_clusters_has_three_components():
    mixture = Mixture.of(clusters(), 5, 0)
    np.testing.assert_allclose(mixture.weights, 1 / 3, atol=1e-3)
    rows = mixture.sample(60_000, np.random.default_rng(0))
    np.testing.assert_allclose(rows.mean(axis=0), mixture.weights @ mixture.means, atol=0.02)
    np.testing.assert_allclose(rows.std(axis=0), 1.0, atol=0.05)


def test_a_single_full_gaussian_is_left_to_the_shrunk_gaussian():
    rng = np.random.default_rng(0)
    rows = standardized(rng.normal(size=(300, 3)) @ rng.normal(size=(3, 3)))
    assert Mixture.of(rows, 5, 0) is None
    assert Mixture.of(rows[:, :1], 5, 0) is None  # with one column, diagonal is full


@pytest.mark.parametrize(
    "rows",
    [
        np.repeat(np.arange(6.0).reshape(3, 2), 20, axis=0),
        np.column_stack([clusters(), np.ones(120)]),
        np.ones((50, 2)),
        load_iris().data,
        load_wine().data[:10],
    ],
    ids=["duplicates", "constant column", "equal rows", "iris", "ten rows"],
)
def test_degenerate_classes_give_finite_rows(rows):
    fitted = GaussianMixtureAugmenter(random_state=0).fit(rows, np.zeros(len(rows)))
    assert np.isfinite(fitted.sample(100, random_state=0).X).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_mixtures_repeat_for_a_seed(seed):
    X, y = load_iris(return_X_y=True)
    first, again = (GaussianMixtureAugmenter(random_state=seed).fit(X, y) for _ in range(2))
    np.testing.assert_array_equal(first.sample(50, 0).X, again.sample(50, 0).X)


def test_a_class_of_two_clusters_stays_two_clusters():
    X = np.concatenate([np.linspace(0, 1, 30), np.linspace(9, 10, 30)])[:, None]
    fitted = GaussianMixtureAugmenter(random_state=0).fit(X, np.zeros(60))
    assert not np.any(np.abs(fitted.sample(200, random_state=0).X - 5.0) < 2.0)


def test_more_columns_than_rows_need_no_square_matrix(monkeypatch):
    """20,000 columns: a covariance matrix would take 3.2 GB."""
    X = np.random.default_rng(0).normal(size=(20, 20_000))
    fitted = GaussianAugmenter().fit(X, np.tile([0, 1], 10))
    assert fitted.sample(5, random_state=0).X.shape == (5, 20_000)
