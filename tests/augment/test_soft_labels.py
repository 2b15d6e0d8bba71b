"""Soft labels by cross-fitted label models."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from leavezero.augment import (
    CopulaAugmenter,
    FunctionAugmenter,
    LabelInvariantMixup,
    SoftLabeled,
    ValidationSet,
)
from leavezero.augment._soft_labels import classifier_weights, regressor_weights


def copies(X, y, n_samples, rng):
    """Return copies of training rows, with their source rows."""
    rows = rng.integers(len(y), size=n_samples)
    return ValidationSet(X[rows], y[rows], source_rows=rows[:, None])


def test_label_models_are_not_fitted_to_the_source_rows(rng):
    """1-NN memorizes labels; it cannot predict random labels of rows that it was not fitted to."""
    X, y = rng.normal(size=(200, 5)), rng.integers(2, size=200)
    augmenter = SoftLabeled(FunctionAugmenter(copies), [KNeighborsClassifier(1)], random_state=0)
    new = augmenter.fit(X, y).sample(400, 0)
    own_label = new.class_probabilities[np.arange(400), y[new.source_rows[:, 0]]]
    assert own_label.mean() == pytest.approx(0.5, abs=0.1)


def test_rows_without_source_rows_are_labeled_by_all_folds(rng):
    y = np.tile([0, 1], 50)
    X = rng.normal(size=(100, 2)) + 3 * y[:, None]
    augmenter = SoftLabeled(CopulaAugmenter(), [LogisticRegression()], random_state=0)
    new = augmenter.fit(X, y).sample(200, 0)
    assert np.mean(new.class_probabilities.argmax(axis=1) == (new.X.sum(axis=1) > 3)) > 0.95


def test_label_models_are_fitted_to_a_part_of_many_rows(rng, monkeypatch):
    monkeypatch.setattr("leavezero.augment._soft_labels.MAX_ROWS", 50)
    y = np.tile([0, 1], 100)
    X = rng.normal(size=(200, 2)) + 5 * y[:, None]
    augmenter = SoftLabeled(LabelInvariantMixup(), [LogisticRegression()], random_state=0)
    new = augmenter.fit(X, y).sample(100, 0)
    assert np.mean(new.class_probabilities.argmax(axis=1) == new.y) > 0.9


def test_groups_are_held_out_as_a_whole(rng):
    """The nearest rows of other groups have the other label."""
    groups = np.repeat(np.arange(20), 10)
    y = groups % 2
    X = np.column_stack([groups, rng.normal(size=200)])
    augmenter = SoftLabeled(LabelInvariantMixup(), [KNeighborsClassifier(1)], random_state=0)
    new = augmenter.fit(X, y, groups=groups).sample(300, 0)
    assert new.class_probabilities[np.arange(300), y[new.source_rows[:, 0]]].mean() < 0.5


def test_better_label_models_have_larger_weights():
    codes = np.tile([0, 1], 50)
    good = np.where(np.eye(2)[codes] == 1, 0.9, 0.1)
    assert classifier_weights(np.array([good, np.full((100, 2), 0.5)]), codes)[0] > 0.95
    truth = np.arange(10.0)[:, None]
    assert regressor_weights(np.array([truth + 0.1, truth + 1]), truth)[0] > 0.99


def test_regression_targets_have_the_spread_of_held_out_residuals(rng):
    X = rng.normal(size=(300, 1))
    y = X[:, 0] + rng.normal(size=300)
    augmenter = SoftLabeled(LabelInvariantMixup(), [LinearRegression()], random_state=0)
    new = augmenter.fit(X, y).sample(3000, 0)
    assert np.std(new.y - new.X[:, 0]) == pytest.approx(1.0, abs=0.15)
