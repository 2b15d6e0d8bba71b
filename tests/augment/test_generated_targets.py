"""Generated targets: classes, regression, several outputs."""

import numpy as np
import pytest

from leavezero.augment import (
    CopulaAugmenter,
    ForestAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
)

JOINT = [
    LabelInvariantMixup(),
    CopulaAugmenter(),
    GaussianAugmenter(),
    GaussianMixtureAugmenter(random_state=0),
]


@pytest.mark.parametrize("augmenter", JOINT, ids=repr)
def test_the_correlation_of_features_and_target_is_kept(augmenter, rng):
    X = rng.normal(size=(400, 3))
    y = 2 * X[:, 0] + 0.5 * rng.normal(size=400)
    new = augmenter.fit(X, y).sample(2000, 0)
    training, generated = np.corrcoef(X[:, 0], y)[0, 1], np.corrcoef(new.X[:, 0], new.y)[0, 1]
    assert generated == pytest.approx(training, abs=0.08)


@pytest.mark.parametrize("augmenter", [*JOINT, ForestAugmenter(random_state=0)], ids=repr)
def test_natural_bounds_are_kept(augmenter, rng):
    """Columns and targets without negative values stay so; proportions stay below one."""
    X = np.column_stack([np.exp(1.5 * rng.normal(size=(150, 2))), rng.random(150)])
    y = X[:, 0] * np.exp(rng.normal(size=150))
    new = augmenter.fit(X, y).sample(2000, 0)
    assert np.all(new.X.min(axis=0) >= X.min(axis=0))
    assert new.y.min() >= y.min()
    assert new.X[:, 2].max() <= X[:, 2].max()
    down = augmenter.fit(-X, -y).sample(2000, 0)
    assert np.all(down.X.max(axis=0) <= -X.min(axis=0))
    assert down.y.max() <= -y.min()


def test_mixup_uses_one_weight_for_features_and_target(rng):
    X = rng.normal(size=(50, 2))
    y = 3 * X[:, 0] - X[:, 1]  # linear: exact under mixing
    new = LabelInvariantMixup().fit(X, y).sample(200, 0)
    np.testing.assert_allclose(new.y, 3 * new.X[:, 0] - new.X[:, 1], atol=1e-12)


def test_rows_are_mixed_with_rows_near_in_y(rng):
    """At most a tenth of the ranks on either side, or two tenths at the ends."""
    y = np.arange(200.0) + 0.5
    new = LabelInvariantMixup().fit(rng.normal(size=(200, 2)), y).sample(2000, 0)
    distance = np.abs(new.source_rows[:, 0] - new.source_rows[:, 1])
    assert distance.max() <= 40
    assert distance.min() >= 1


def test_two_rows_of_a_regression_target_can_be_mixed():
    new = LabelInvariantMixup().fit([[0.0], [1.0]], [0.5, 1.5]).sample(5, 0)
    np.testing.assert_allclose(new.y, new.X[:, 0] + 0.5)


def test_no_new_combination_of_labels_is_generated(rng):
    Y = np.array([[0, 0], [0, 1], [1, 1]])[rng.integers(3, size=90)]
    new = LabelInvariantMixup().fit(rng.normal(size=(90, 2)), Y).sample(300, 0)
    assert new.y.shape == (300, 2)
    assert not np.any((new.y == [1, 0]).all(axis=1))


def test_integer_floats_are_classes_if_few_and_a_regression_target_if_many(rng):
    X = rng.normal(size=(100, 1))
    assert LabelInvariantMixup().fit(X, np.tile([0.0, 1.0], 50)).classes_.tolist() == [0, 1]
    assert not hasattr(LabelInvariantMixup().fit(X, np.arange(100.0)), "classes_")


def test_string_labels_and_a_rare_class_are_kept(rng):
    y = np.array(["common"] * 30 + ["rare"] * 2)
    new = CopulaAugmenter()
    with pytest.warns(UserWarning, match="Class 'rare' has 2 rows, and CopulaAugmenter requires 3"):
        new = new.fit(rng.normal(size=(32, 2)), y).sample(320, 0)
    assert np.count_nonzero(new.y == "rare") == 20


def test_a_target_with_missing_values_is_rejected(rng):
    """The message refers to semi-supervised searches."""
    with pytest.raises(ValueError, match="need a semi-supervised search"):
        LabelInvariantMixup().fit(rng.normal(size=(3, 1)), [0.5, np.nan, 1.0])
