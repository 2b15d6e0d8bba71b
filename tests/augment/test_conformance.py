"""All augmenters pass check_augmenter, for every kind of data that they support."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from leavezero.augment import (
    AugmenterPipeline,
    AugmenterUnion,
    CopulaAugmenter,
    DensityRatioWeighted,
    ForestAugmenter,
    FunctionAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    OrthogonalTransform,
    TextAugmenter,
)
from leavezero.testing import check_augmenter

pytestmark = pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")


def jitter(X, y, n_samples, rng):
    """Add noise to training rows."""
    rows = np.sort(rng.integers(len(y), size=n_samples))
    return (X[rows] + 0.1 * rng.normal(size=(n_samples, X.shape[1]))).astype(X.dtype), y[rows]


TABLES = [
    LabelInvariantMixup(),
    NeighborMixup(),
    NeighborMixup(n_neighbors=3),
    CopulaAugmenter(),
    GaussianAugmenter(),
    GaussianMixtureAugmenter(random_state=0),
    OrthogonalTransform(),
    TextAugmenter(),
]


@pytest.mark.parametrize("augmenter", TABLES, ids=repr)
def test_table_augmenters_conform(augmenter):
    """The data are of every kind in ``takes``."""
    check_augmenter(augmenter)


def small_classes(rng):
    """Return two balanced classes, and three unbalanced ones with string labels."""
    codes = np.tile([0, 1], 20)
    return [
        (rng.normal(size=(40, 3)) + codes[:, None], codes),
        (rng.normal(size=(60, 2)), np.repeat(["one", "three", "two"], [30, 12, 18])),
    ]


@pytest.mark.parametrize(
    "augmenter",
    [
        DensityRatioWeighted(LabelInvariantMixup(), random_state=0),
        AugmenterUnion([LabelInvariantMixup(), CopulaAugmenter()]),
        AugmenterUnion(
            [
                NeighborMixup(),
                GaussianAugmenter(),
                DensityRatioWeighted(CopulaAugmenter(), random_state=0),
            ]
        ),
        AugmenterPipeline([LabelInvariantMixup(), CopulaAugmenter()]),
        FunctionAugmenter(jitter),
    ],
    ids=lambda a: type(a).__name__,
)
def test_composed_augmenters_conform(augmenter, rng):
    check_augmenter(augmenter, small_classes(rng))


def test_images_conform(rng):
    """Flat, and with channels."""
    y = np.tile([0, 1], 10)
    flat = rng.integers(0, 255, size=(20, 48)).astype(np.float64)
    check_augmenter(ImageAugmenter((6, 8)), [(flat, y)])
    every = ["shift", "rotate", "zoom", "brightness", "contrast", "dropout", "erase", np.fliplr]
    check_augmenter(ImageAugmenter((4, 4, 3), every), [(flat, y)])


def test_images_keep_their_shape(rng):
    X = rng.random((10, 5, 6, 3))
    new = ImageAugmenter((5, 6, 3)).fit(X, np.tile([0, 1], 5)).sample(7, 0)
    assert new.X.shape == (7, 5, 6, 3)
    assert new.X.min() >= X.min()


@parametrize_with_checks(
    [
        GaussianAugmenter(),
        GaussianMixtureAugmenter(),
        CopulaAugmenter(),
        ForestAugmenter(),
        NeighborMixup(),
        OrthogonalTransform(),
    ],
    expected_failed_checks=lambda augmenter: (
        {}
        if "sparse matrices" in augmenter.takes
        else {
            "check_sample_weight_equivalence_on_sparse_data": "version 1.6 ignores the sparse tag"
        }
    ),
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)
