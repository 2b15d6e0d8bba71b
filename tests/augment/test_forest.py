"""The leaves of a random forest keep interactions of columns, and generate no copies."""

import numpy as np
import pandas as pd
import pytest

from leavezero.augment import CopulaAugmenter, ForestAugmenter
from leavezero.exceptions import SmallClassWarning
from leavezero.testing import check_augmenter


def sample(X, y, n_samples=1000, seed=0, **params):
    fitted = ForestAugmenter(random_state=seed).fit(X, y, **params)
    return fitted.sample(n_samples, random_state=seed)


@pytest.mark.parametrize(
    "augmenter", [ForestAugmenter(random_state=0), ForestAugmenter(3, 5, random_state=0)], ids=repr
)
def test_forest_conforms(augmenter):
    """On numbers, integers, categories, times, missing values and every kind of target."""
    check_augmenter(augmenter)


@pytest.mark.parametrize("as_text", [False, True], ids=["0 and 1", "categories"])
def test_interactions_are_kept_where_a_copula_loses_them(rng, as_text):
    """The classes differ by the parity of three columns, of which any two are independent."""
    bits = rng.integers(2, size=(600, 4))
    y = bits[:, 0] ^ bits[:, 1] ^ bits[:, 2]
    X = pd.DataFrame(np.array(["no", "yes"])[bits], columns=list("abcd")) if as_text else bits
    shares = []
    for augmenter in (ForestAugmenter(random_state=0), CopulaAugmenter()):
        new = augmenter.fit(X, y).sample(1000, random_state=0)
        found = (new.X == "yes").to_numpy() if as_text else new.X.astype(bool)
        shares.append(np.mean((found[:, 0] ^ found[:, 1] ^ found[:, 2]) == new.y))
    assert shares[0] > 0.9
    assert shares[1] < 0.6


def test_generated_values_have_the_distribution_of_the_training_data(rng):
    y = np.tile([0, 1], 200)
    X = rng.normal(size=(400, 3)) + np.outer(y, [2, 0, -1])
    new = sample(X, y, 4000)
    for label in (0, 1):
        training, generated = X[y == label], new.X[new.y == label]
        np.testing.assert_allclose(generated.mean(axis=0), training.mean(axis=0), atol=0.15)
        np.testing.assert_allclose(generated.std(axis=0), training.std(axis=0), rtol=0.15)


def test_no_generated_row_is_a_training_row(rng):
    """Of continuous columns; nor is any value, as there are enough others in its leaf."""
    X, y = rng.normal(size=(100, 3)), np.tile([0, 1], 50)
    new = sample(X, y, 2000)
    assert np.abs(new.X[:, None] - X).max(axis=2).min() > 0
    target = X[:, 0] + rng.normal(size=100)
    assert np.abs(sample(X, target, 2000).X[:, None] - X).max(axis=2).min() > 0


def test_missing_values_are_as_frequent_as_in_the_training_data(rng):
    X, y = rng.normal(size=(300, 3)), np.tile([0, 1], 150)
    X[rng.random(300) < 0.3, 0] = np.nan
    new = sample(X, y, 3000)
    assert np.isnan(new.X[:, 0]).mean() == pytest.approx(np.isnan(X[:, 0]).mean(), abs=0.03)
    assert not np.isnan(new.X[:, 1:]).any()


def test_columns_that_are_missing_together_mostly_stay_so(rng):
    """In half of the rows, if they were independent."""
    X, y = rng.normal(size=(300, 3)), np.tile([0, 1], 150)
    X[rng.random(300) < 0.4, :2] = np.nan
    missing = np.isnan(sample(X, y, 2000).X)
    assert np.mean(missing[:, 0] == missing[:, 1]) > 0.75


def test_categories_and_integers_are_those_of_the_training_data(rng):
    X = pd.DataFrame(
        {
            "word": pd.Categorical(rng.choice(["a", "b"], 200), categories=["a", "b", "unused"]),
            "count": rng.poisson(4, 200),
            "value": rng.normal(size=200),
        }
    )
    new = sample(X, np.tile([0, 1], 100)).X
    assert new.dtypes.equals(X.dtypes)
    assert set(new["word"]) == {"a", "b"}
    assert set(new["count"]) <= set(X["count"])
    assert len(set(new["value"])) > 900


def test_regression_target_is_generated_with_its_features(rng):
    X = rng.uniform(-1, 1, size=(600, 2))
    y = X[:, 0] * X[:, 1] + 0.05 * rng.normal(size=600)  # an interaction, no correlation
    new = sample(X, y, 2000)
    assert np.corrcoef(new.y, new.X[:, 0] * new.X[:, 1])[0, 1] > 0.6
    assert y.min() - 1 < new.y.min() < new.y.max() < y.max() + 1


def test_several_outputs_are_generated_jointly(rng):
    X = rng.normal(size=(300, 2))
    y = np.column_stack([X[:, 0], -X[:, 0]]) + 0.1 * rng.normal(size=(300, 2))
    new = sample(X, y)
    assert new.y.shape == (1000, 2)
    assert np.corrcoef(new.y.T)[0, 1] < -0.6


def test_rows_are_generated_in_proportion_to_their_weight(rng):
    X, y = rng.normal(size=(200, 2)), np.tile([0, 1], 100)
    X[::4, 0] += 100.0
    weight = np.where(X[:, 0] > 50, 3.0, 1.0)
    new = sample(X, y, 2000, sample_weight=weight)
    expected = np.average(X[:, 0] > 50, weights=weight)
    assert np.mean(new.X[:, 0] > 50) == pytest.approx(expected, abs=0.05)


def test_small_classes_are_copied_with_a_warning(rng):
    X, y = rng.normal(size=(42, 2)), np.repeat(["common", "rare"], [40, 2])
    message = "Class 'rare' has 2 rows, and ForestAugmenter requires 3: its rows are copied"
    with pytest.warns(SmallClassWarning, match=message):
        new = sample(X, y, 420)
    assert np.count_nonzero(new.y == "rare") == 20
    assert {tuple(row) for row in new.X[new.y == "rare"]} == {tuple(row) for row in X[40:]}


def test_seeds_determine_the_rows(rng):
    X, y = rng.normal(size=(100, 3)), np.tile([0, 1], 50)
    first, again = sample(X, y), sample(X, y)
    np.testing.assert_array_equal(first.X, again.X)
    np.testing.assert_array_equal(first.y, again.y)
    fitted = ForestAugmenter(random_state=0).fit(X, y)
    assert not np.array_equal(fitted.sample(1000, random_state=1).X, first.X)
    other_trees = ForestAugmenter(random_state=1).fit(X, y)
    assert not np.array_equal(other_trees.sample(1000, random_state=0).X, first.X)


def test_rows_of_a_class_do_not_depend_on_other_classes(rng):
    X, y = rng.normal(size=(120, 2)), np.repeat([0, 1, 2], 40)
    shifted = X + np.where(y == 2, 7.0, 0.0)[:, None]
    first, second = sample(X, y, 300), sample(shifted, y, 300)
    np.testing.assert_array_equal(first.X[first.y < 2], second.X[second.y < 2])


@pytest.mark.parametrize("name", ["n_trees", "min_samples_leaf"])
@pytest.mark.parametrize("value", [0, 2.5, "many"])
def test_invalid_parameters(name, value):
    with pytest.raises(ValueError, match=f"{name} of ForestAugmenter must be a positive int"):
        ForestAugmenter(**{name: value}).fit([[0.0], [1.0]], [0, 1])
