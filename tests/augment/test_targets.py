"""Classes, numbers, several outputs."""

import numpy as np
import pytest

from leavezero.augment import (
    CopulaAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborLabelAugmenter,
    TeacherLabeled,
)

JOINT = [
    LabelInvariantMixup(),
    CopulaAugmenter(),
    GaussianAugmenter(),
    GaussianMixtureAugmenter(random_state=0),
    NeighborLabelAugmenter(),
]


@pytest.mark.parametrize("augmenter", JOINT, ids=repr)
def test_features_and_numbers_keep_their_relation(augmenter, rng):
    """A linear target is as correlated with its feature in V as in the data."""
    X = rng.normal(size=(400, 3))
    y = 2 * X[:, 0] + 0.5 * rng.normal(size=400)
    V = augmenter.fit(X, y).sample(2000, 0)
    given, drawn = np.corrcoef(X[:, 0], y)[0, 1], np.corrcoef(V.X[:, 0], V.y)[0, 1]
    slack = 0.45 if isinstance(augmenter, NeighborLabelAugmenter) else 0.08
    assert drawn == pytest.approx(given, abs=slack)


@pytest.mark.parametrize("augmenter", [*JOINT, TeacherLabeled(LabelInvariantMixup())], ids=repr)
def test_numbers_keep_to_their_natural_borders(augmenter, rng):
    """Where no feature and no target is negative, none is in V; shares stay shares."""
    X = np.column_stack([np.exp(1.5 * rng.normal(size=(150, 2))), rng.random(150)])
    y = X[:, 0] * np.exp(rng.normal(size=150))
    V = augmenter.fit(X, y).sample(2000, 0)
    assert np.all(V.X.min(axis=0) >= X.min(axis=0))
    assert V.y.min() >= y.min()
    assert V.X[:, 2].max() <= X[:, 2].max()
    down = augmenter.fit(-X, -y).sample(2000, 0)
    assert np.all(down.X.max(axis=0) <= -X.min(axis=0))
    assert down.y.max() <= -y.min()


def test_mixed_numbers_have_the_weight_of_their_features(rng):
    """X and y move along one segment."""
    X = rng.normal(size=(50, 2))
    y = 3 * X[:, 0] - X[:, 1]  # linear: exact under mixing
    V = LabelInvariantMixup().fit(X, y).sample(200, 0)
    np.testing.assert_allclose(V.y, 3 * V.X[:, 0] - V.X[:, 1], atol=1e-12)


def test_partners_are_near_in_y(rng):
    """No pair is further apart than a tenth of the ranks."""
    y = np.arange(200.0) + 0.5
    V = LabelInvariantMixup().fit(rng.normal(size=(200, 2)), y).sample(2000, 0)
    gaps = np.abs(V.origins[:, 0] - V.origins[:, 1])
    assert gaps.max() <= 40
    assert gaps.min() >= 1


def test_two_rows_of_numbers_can_be_mixed():
    """The smallest case."""
    V = LabelInvariantMixup().fit([[0.0], [1.0]], [0.5, 1.5]).sample(5, 0)
    np.testing.assert_allclose(V.y, V.X[:, 0] + 0.5)


def test_several_labels_keep_their_combinations(rng):
    """A combination that was not given is not drawn."""
    Y = np.array([[0, 0], [0, 1], [1, 1]])[rng.integers(3, size=90)]
    V = LabelInvariantMixup().fit(rng.normal(size=(90, 2)), Y).sample(300, 0)
    assert V.y.shape == (300, 2)
    assert not np.any((V.y == [1, 0]).all(axis=1))


def test_whole_floats_are_classes_if_few_and_numbers_if_many(rng):
    """0.0 and 1.0 are classes; 25 different whole floats are numbers."""
    X = rng.normal(size=(100, 1))
    assert LabelInvariantMixup().fit(X, np.tile([0.0, 1.0], 50)).classes_.tolist() == [0, 1]
    assert not hasattr(LabelInvariantMixup().fit(X, np.arange(100.0)), "classes_")


def test_string_labels_and_a_rare_class_survive(rng):
    """Labels come back as they were."""
    y = np.array(["common"] * 30 + ["rare"] * 2)
    V = CopulaAugmenter("empirical")
    with pytest.warns(UserWarning, match="Class 'rare' has 2 rows, and CopulaAugmenter needs 3"):
        V = V.fit(rng.normal(size=(32, 2)), y).sample(320, 0)
    assert np.count_nonzero(V.y == "rare") == 20


def test_a_target_with_gaps_is_refused_with_a_pointer(rng):
    """Unlabelled rows belong to semi-supervised learning."""
    with pytest.raises(ValueError, match="need a semi-supervised search"):
        LabelInvariantMixup().fit(rng.normal(size=(3, 1)), [0.5, np.nan, 1.0])
