"""Weights by density ratio."""

import numpy as np
from scipy import sparse

from leavezero.augment import DensityRatioWeighted, FunctionAugmenter, LabelInvariantMixup


def too_wide(X, y, n_samples, rng):
    """Return training rows times two."""
    rows = rng.integers(len(y), size=n_samples)
    return 2.0 * X[rows], y[rows]


def test_weights_correct_part_of_a_wrong_variance(rng):
    X, y = rng.normal(size=(400, 2)), np.tile([0, 1], 200)
    augmenter = DensityRatioWeighted(FunctionAugmenter(too_wide), random_state=0).fit(X, y)
    new = augmenter.sample(4000, 0)
    weighted = np.sqrt(np.average(new.X[:, 0] ** 2, weights=new.sample_weight))
    assert weighted == np.clip(weighted, 0.8, 1.5)
    assert new.X[:, 0].std() > 1.8
    assert augmenter.n_fits_ == 2


def test_sparse_rows_are_weighted_without_a_dense_copy():
    X = sparse.random(60, 5000, density=0.01, format="csr", random_state=0)
    augmenter = DensityRatioWeighted(LabelInvariantMixup(), random_state=0)
    new = augmenter.fit(X, np.tile([0, 1], 30)).sample(20, 0)
    assert sparse.issparse(new.X)
    assert (new.sample_weight > 0).all()


def test_classes_of_fewer_than_five_rows_keep_weight_one(rng):
    y = np.append(np.zeros(37, dtype=int), np.ones(3, dtype=int))
    augmenter = DensityRatioWeighted(LabelInvariantMixup(), random_state=0)
    new = augmenter.fit(rng.normal(size=(40, 2)), y).sample(80, 0)
    assert (new.sample_weight[new.y == 1] == 1).all()
