"""Every augmenter keeps the public promises, for every kind of input that it declares."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.estimator_checks import parametrize_with_checks

from leavezero.augment import (
    Calibrated,
    Chain,
    CopulaAugmenter,
    FunctionAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    NeighborLabelAugmenter,
    NeighborMixup,
    OrthogonalTransform,
    Portfolio,
    ResamplerAugmenter,
    TeacherLabeled,
    TextAugmenter,
    Weighted,
)
from leavezero.testing import check_augmenter

pytestmark = pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")


def jitter(X, y, n_samples, rng):
    """Draw given rows a class at a time, and move them a little."""
    rows = np.sort(rng.integers(len(y), size=n_samples))
    return (X[rows] + 0.1 * rng.normal(size=(n_samples, X.shape[1]))).astype(X.dtype), y[rows]


class Wiggler:
    """An over-sampler of a stranger's, without parameters."""

    def fit_resample(self, X, y):
        moved = X + np.random.default_rng(0).normal(size=X.shape).astype(X.dtype)
        return np.vstack([X, moved]), np.append(y, y)


TEACHERS = [LogisticRegression(), GaussianNB(), KNeighborsClassifier(3)]
TABLES = [
    LabelInvariantMixup(),
    NeighborMixup(),
    NeighborMixup(n_neighbors=3),
    NeighborLabelAugmenter(),
    CopulaAugmenter(),
    CopulaAugmenter("empirical"),
    GaussianAugmenter(),
    GaussianMixtureAugmenter(random_state=0),
    OrthogonalTransform(),
    TextAugmenter(),
]


@pytest.mark.parametrize("augmenter", TABLES, ids=repr)
def test_it_keeps_its_promises_for_all_that_it_takes(augmenter):
    """What it declares in ``takes`` decides what it is tried on."""
    check_augmenter(augmenter)


def small_classes(rng):
    """Two classes of numbers, and three unequal ones of strings."""
    codes = np.tile([0, 1], 20)
    return [
        (rng.normal(size=(40, 3)) + codes[:, None], codes),
        (rng.normal(size=(60, 2)), np.repeat(["one", "three", "two"], [30, 12, 18])),
    ]


@pytest.mark.parametrize(
    "augmenter",
    [
        TeacherLabeled(LabelInvariantMixup(), TEACHERS, random_state=0),
        TeacherLabeled(CopulaAugmenter(), TEACHERS, n_folds=3, random_state=0),
        Weighted(LabelInvariantMixup(), random_state=0),
        Calibrated(CopulaAugmenter(), random_state=0),
        Calibrated(TeacherLabeled(LabelInvariantMixup(), TEACHERS), random_state=0),
        Portfolio([LabelInvariantMixup(), CopulaAugmenter()]),
        Portfolio(
            [
                TeacherLabeled(NeighborMixup(), TEACHERS, random_state=0),
                GaussianAugmenter(),
                Weighted(CopulaAugmenter(), random_state=0),
            ]
        ),
        Chain([LabelInvariantMixup(), CopulaAugmenter()]),
        FunctionAugmenter(jitter),
    ],
    ids=lambda a: type(a).__name__,
)
def test_what_is_built_from_others_keeps_the_promises(augmenter, rng):
    """Whatever draws the rows."""
    check_augmenter(augmenter, small_classes(rng))


def test_over_samplers_keep_the_promises(rng):
    """An over-sampler without a seed draws from the same new rows in another order."""
    check_augmenter(ResamplerAugmenter(Wiggler()), small_classes(rng))


@pytest.mark.parametrize("name", ["SMOTE", "ADASYN"])
def test_imbalanced_learn_keeps_the_promises(name, rng):
    """Install imbalanced-learn to run it: it is no dependency of ours."""
    over_sampling = pytest.importorskip("imblearn.over_sampling", reason="imbalanced-learn")
    resampler = getattr(over_sampling, name)()
    check_augmenter(ResamplerAugmenter(resampler), small_classes(rng))


def test_images_keep_the_promises(rng):
    """Flat, and with channels."""
    y = np.tile([0, 1], 10)
    flat = rng.integers(0, 255, size=(20, 48)).astype(np.float64)
    check_augmenter(ImageAugmenter((6, 8)), [(flat, y)])
    every = ["shift", "rotate", "zoom", "brightness", "contrast", "dropout", "erase", np.fliplr]
    check_augmenter(ImageAugmenter((4, 4, 3), every), [(flat, y)])


def test_images_come_back_in_their_shape(rng):
    """Rows of four dimensions too."""
    X = rng.random((10, 5, 6, 3))
    V = ImageAugmenter((5, 6, 3)).fit(X, np.tile([0, 1], 5)).sample(7, 0)
    assert V.X.shape == (7, 5, 6, 3)
    assert V.X.min() >= X.min()


def test_teachers_label_mixed_tables_sparse_matrices_text_and_numbers(rng):
    """The features that they learn from are made from any table."""
    frame = pd.DataFrame({"a": rng.normal(size=60), "b": rng.choice(["x", "y"], 60)})
    y = np.tile([0, 1], 30)
    texts = [f"{'good' if label else 'bad'} {rng.choice(['film', 'book'])}" for label in y]
    matrix = sparse.random(60, 30, density=0.2, format="csr", random_state=0)
    for augmenter, X in (
        (LabelInvariantMixup(), frame),
        (LabelInvariantMixup(), matrix),
        (TextAugmenter(), texts),
    ):
        V = TeacherLabeled(augmenter, random_state=0).fit(X, y).sample(10, 0)
        assert V.posterior.shape == (10, 2)
    V = TeacherLabeled(LabelInvariantMixup(), random_state=0)
    numbers = rng.normal(size=60)
    assert V.fit(frame, numbers).sample(10, 0).y.shape == (10,)
    assert V.fit(frame, np.column_stack([numbers, -numbers])).sample(10, 0).y.shape == (10, 2)


@parametrize_with_checks(
    [
        GaussianAugmenter(),
        GaussianMixtureAugmenter(),
        CopulaAugmenter(),
        NeighborMixup(),
        NeighborLabelAugmenter(),
        OrthogonalTransform(),
    ],
    expected_failed_checks=lambda augmenter: (
        {}
        if "a sparse matrix" in augmenter.takes
        else {
            "check_sample_weight_equivalence_on_sparse_data": "run by 1.6 whatever the sparse tag"
        }
    ),
)
def test_scikit_learn_checks(estimator, check):
    """The augmenters of tables are estimators in scikit-learn's own sense."""
    check(estimator)
