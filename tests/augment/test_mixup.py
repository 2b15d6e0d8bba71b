"""Label-invariant mix-up (Algorithm 2 of the paper)."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leavezero import LabelInvariantMixup
from leavezero.augment._augmenter import quotas, weighted_rows
from leavezero.exceptions import SmallClassWarning
from leavezero.testing import check_augmenter

class_sizes = st.lists(st.integers(2, 30), min_size=2, max_size=6)


def data_with(sizes, n_columns=3):
    rng = np.random.default_rng(sum(sizes))
    y = np.repeat(np.arange(len(sizes)), sizes)
    return rng.normal(size=(len(y), n_columns)), rng.permutation(y)


@pytest.mark.parametrize("alpha", [0.01, 1.0, 50.0])
def test_mixup_conforms(alpha):
    check_augmenter(LabelInvariantMixup(alpha=alpha))


@given(class_sizes, st.integers(1, 300), st.integers(0, 2**32))
def test_label_counts_are_rounded_by_largest_remainder(sizes, m, seed):
    """The counts are those of the training data times m / n."""
    X, y = data_with(sizes)
    counts = np.bincount(LabelInvariantMixup().fit(X, y).sample(m, seed).y, minlength=len(sizes))
    exact = np.array(sizes) * m / len(y)
    assert counts.sum() == m
    assert np.all(np.abs(counts - exact) < 1)
    up = counts > np.floor(exact + 1e-9)
    fractions = exact - np.floor(exact + 1e-9)
    if up.any() and not up.all():
        assert fractions[up].min() >= fractions[~up].max() - 1e-9


@given(class_sizes, st.floats(0.05, 20), st.integers(0, 2**32))
def test_every_row_lies_between_its_two_source_rows(sizes, alpha, seed):
    """X - x_k is a multiple in [0, 1] of x_j - x_k, for two different rows of one class."""
    X, y = data_with(sizes)
    new = LabelInvariantMixup(alpha).fit(X, y).sample(40, seed)
    first, second = X[new.source_rows[:, 0]], X[new.source_rows[:, 1]]
    assert np.all(new.source_rows[:, 0] != new.source_rows[:, 1])
    assert np.array_equal(y[new.source_rows[:, 0]], new.y)
    assert np.array_equal(y[new.source_rows[:, 1]], new.y)
    step = first - second
    weight = ((new.X - second) * step).sum(axis=1) / (step**2).sum(axis=1)
    assert np.all((weight >= -1e-9) & (weight <= 1 + 1e-9))
    np.testing.assert_allclose(new.X, second + weight[:, None] * step, atol=1e-9)


def test_the_mixing_weights_have_the_variance_of_beta():
    """Var Beta(a, a) = 1 / (4 (2 a + 1)), for two rows at 0 and 1."""
    X, y = np.array([[0.0], [1.0], [5.0], [6.0]]), [0, 0, 1, 1]
    for alpha in (0.5, 1.0, 4.0):
        new = LabelInvariantMixup(alpha).fit(X, y).sample(40_000, 0)
        weights = new.X[new.y == 0]
        assert weights.var() == pytest.approx(1 / (4 * (2 * alpha + 1)), rel=0.03)


def test_classes_have_independent_random_streams():
    """Two classes with equal rows do not get equal generated rows."""
    X = np.tile(np.random.default_rng(0).normal(size=(20, 2)), (2, 1))
    new = LabelInvariantMixup().fit(X, np.repeat([0, 1], 20)).sample(40, 0)
    drawn = [np.sort(new.X[new.y == label, 0]) for label in (0, 1)]
    assert not np.array_equal(*drawn)


def test_a_class_of_one_row_is_copied_with_a_warning_that_names_it():
    X, y = np.arange(5.0)[:, None], ["a", "a", "a", "a", "rare"]
    with pytest.warns(SmallClassWarning, match="Class 'rare' has a single row"):
        augmenter = LabelInvariantMixup().fit(X, y)
    new = augmenter.sample(10, 0)
    assert np.all(new.X[new.y == "rare"] == 4.0)


def test_the_share_of_missing_values_is_kept():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    X[:120] = np.nan
    y = np.tile([0, 1], 200)
    new = LabelInvariantMixup().fit(X, y).sample(20_000, 0)
    assert np.isnan(new.X).mean() == pytest.approx(0.3, abs=0.02)


def test_column_names_and_dtypes_of_frames_are_kept():
    X = pd.DataFrame({"age": [20, 30, 40, 50], "dose": [0.1, 0.2, 0.3, 0.4]})
    new = LabelInvariantMixup().fit(X, [0, 0, 1, 1]).sample(7, 0)
    assert list(new.X.columns) == ["age", "dose"]
    assert list(new.X.dtypes) == list(X.dtypes)


@pytest.mark.parametrize("alpha", [0, -1.0, np.inf, np.nan, "1", True])
def test_an_invalid_alpha_is_rejected(alpha):
    with pytest.raises(ValueError, match=r"alpha of LabelInvariantMixup must be a positive"):
        LabelInvariantMixup(alpha=alpha).fit([[0.0], [1.0]], [0, 0])


@pytest.mark.parametrize("n_samples", [0, -3, 2.0, True, None])
def test_an_invalid_number_of_rows_is_rejected(n_samples):
    fitted = LabelInvariantMixup().fit([[0.0], [1.0]], [0, 0])
    with pytest.raises(ValueError, match=r"n_samples of LabelInvariantMixup\.sample must be a pos"):
        fitted.sample(n_samples)


def test_infinity_is_rejected():
    with pytest.raises(ValueError, match="X given to LabelInvariantMixup contains infinity"):
        LabelInvariantMixup().fit([[np.inf], [1.0]], [0, 0])


def test_quotas_are_rounded_by_largest_remainder():
    assert quotas(np.array([3, 3, 1]), 10).tolist() == [4, 4, 2]


def test_rows_are_chosen_in_proportion_to_weights():
    assert weighted_rows(np.array([1.0, 0.0, 3.0])).tolist() == [0, 2, 2]


def test_quotas_are_exact_for_large_numbers():
    assert quotas(np.array([2**40, 2**40]), 2**40).tolist() == [2**39, 2**39]
