"""Estimates between data and what an augmenter draws from them."""

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from leavezero.augment import (
    BaseAugmenter,
    CopulaAugmenter,
    FunctionAugmenter,
    GaussianAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    ValidationSet,
)
from leavezero.divergence import (
    _tellers,
    jensen_shannon_augmenter,
    jensen_shannon_features,
    joint_divergence,
)


class Far(BaseAugmenter):
    """Draws given rows a long way off, with labels of its own shares."""

    def __init__(self, shares=(0.5, 0.5), away=9.0):
        self.shares = shares
        self.away = away

    def _fit(self, X, y, weight, groups):
        self.X_, self.y_ = X, y

    def _sample(self, n_samples, root):
        rng = np.random.default_rng(root)
        y = rng.choice(2, n_samples, p=self.shares)
        return ValidationSet(rng.normal(size=(n_samples, self.X_.shape[1])) + self.away, y)


@pytest.fixture
def normal(rng):
    """240 rows of ten normal columns, and two labels that have nothing to do with them."""
    return rng.normal(size=(240, 10)), np.tile(["a", "b"], 120)


def test_mixups_are_told_apart_and_normal_draws_are_not(normal):
    """Mix-ups of normal rows are too near the middle; a fitted normal law is what the data are."""
    X, y = normal
    mixed = jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)
    fitted = jensen_shannon_augmenter(GaussianAugmenter(), X, y, random_state=0)
    assert mixed.joint.value > 0.03
    assert mixed.joint.auc > 0.6
    assert fitted.value < 0.02
    assert mixed.labels == fitted.labels == 0.0
    assert sorted(mixed.by_class) == ["a", "b"]
    assert mixed == jensen_shannon_augmenter(LabelInvariantMixup(), X, y, random_state=0)


def test_refitting_sees_more_than_splitting_afterwards(rng, monkeypatch):
    """For models that look at neighbours, a row among its own children passes for drawn."""
    monkeypatch.setattr(_tellers, "_models", lambda fewest: {"boosting": _tellers._boosting})
    augmenter = NeighborMixup()
    X, y = rng.normal(size=(300, 10)), np.zeros(300, dtype=int)
    refitted = jensen_shannon_augmenter(augmenter, X, y, random_state=0).joint
    V = augmenter.fit(X, y).sample(300, random_state=0)
    naive = jensen_shannon_features(X, V.X, random_state=0)
    assert refitted.raw > naive.raw + refitted.standard_error


def test_what_is_far_off_has_almost_ln_2(normal):
    """By one classifier and by the chain rule, and every class alike."""
    X = normal[0]
    found = jensen_shannon_augmenter(Far(), X, np.tile([0, 1], 120), random_state=0)
    assert found.joint.value > 0.68
    assert found.chain > 0.68
    assert all(estimate.value > 0.68 for estimate in found.by_class.values())


def test_other_shares_of_the_labels(normal):
    """JS(y) is exact from the counts, and the chain adds to it with skewed weights."""
    y = np.tile([0, 1], 120)
    found = jensen_shannon_augmenter(Far(shares=(0.9, 0.1), away=0.0), normal[0], y, random_state=0)
    shares, shares_v = list(found.shares.values()), list(found.shares_v.values())
    assert shares == [0.5, 0.5]
    assert shares_v == pytest.approx([0.9, 0.1], abs=0.07)
    assert found.labels == joint_divergence(shares, shares_v, [0.0, 0.0]) > 0.05
    assert found.labels <= found.chain < found.labels + 0.03
    assert found.joint.value == pytest.approx(found.labels, abs=0.03)
    assert found.corollary.root**2 >= found.chain - 1e-9


def test_small_classes_are_left_out_and_named(rng):
    """Below six rows of a class nothing is estimated; below fifteen, not for the class alone."""
    y = np.repeat([0, 1, 2, 3], [100, 1, 9, 5])
    found = jensen_shannon_augmenter(
        LabelInvariantMixup(), rng.normal(size=(115, 3)), y, random_state=0
    )
    assert found.left_out == (1, 3)
    assert list(found.by_class) == [0]
    assert list(found.shares) == [0, 2]
    assert found.joint.n_rows == 109


def test_numbers_as_y(rng):
    """There are no classes, and the target is a column."""
    y = rng.normal(size=240)
    X = np.column_stack([y + rng.normal(size=240), rng.normal(size=240)])
    found = jensen_shannon_augmenter(CopulaAugmenter(), X, y, random_state=0)
    assert found.by_class == found.shares == {}
    assert found.chain is None
    assert found.corollary is None
    assert found.value == found.joint.value < 0.03
    assert found.joint.neighbors == pytest.approx(0.0, abs=0.05)
    scrambled = FunctionAugmenter(lambda X, y, n, rng: (rng.permutation(X)[:n], y[:n]))
    assert jensen_shannon_augmenter(scrambled, X, y, random_state=0).joint.value > 0.05


def test_tables_of_any_kind(rng):
    """Frames with gaps and sparse matrices."""
    n = 120
    frame = pd.DataFrame({"a": rng.normal(size=n), "b": pd.Categorical(rng.choice(list("xyz"), n))})
    frame.loc[::5, "a"] = np.nan
    y = np.tile(["no", "yes"], n // 2)
    found = jensen_shannon_augmenter(CopulaAugmenter(), frame, y, random_state=0)
    assert found.value < 0.05
    table = sparse.random(n, 40, density=0.1, random_state=0, format="csr")
    mixed = jensen_shannon_augmenter(LabelInvariantMixup(), table, y, random_state=0)
    assert mixed.joint.value > 0.05


def test_soft_labels_are_random_hard_ones_and_weights_count(rng):
    """Rows that were drawn with the wrong labels are set right by either."""

    def draw(X, y, n_samples, rng, soft=False, weighed=False):
        rows = rng.integers(len(X), size=n_samples)
        right, wrong = y[rows], np.where(rng.random(n_samples) < 0.5, y[rows], 1 - y[rows])
        posterior = np.column_stack([1.0 - right, right]) if soft else None
        weights = 1e-9 + (right == wrong) if weighed else None
        return ValidationSet(X[rows], wrong, weights, posterior)

    y = np.tile([0, 1], 60)
    X = y[:, None] * 6.0 + rng.normal(size=(120, 2))
    values = [
        jensen_shannon_augmenter(
            FunctionAugmenter(partial(draw, **how)), X, y, random_state=0
        ).value
        for how in ({}, {"soft": True}, {"weighed": True})
    ]
    assert values[0] > 0.1
    assert max(values[1:]) < 0.05


def test_several_outputs_count_as_classes(rng):
    """A combination is a class, named by a tuple."""
    y = np.column_stack([np.tile([0, 1], 60), np.repeat([0, 1], 60)])
    found = jensen_shannon_augmenter(
        LabelInvariantMixup(), rng.normal(size=(120, 2)), y, random_state=0
    )
    assert set(found.by_class) == {(0, 0), (0, 1), (1, 0), (1, 1)}


def test_many_rows_cost_no_more(rng):
    """A part of them is used, with the same shares of the classes."""
    y = np.repeat([0, 1], [900, 100])
    found = jensen_shannon_augmenter(
        LabelInvariantMixup(), rng.normal(size=(1000, 2)), y, max_rows=300, random_state=0
    )
    assert found.joint.n_rows == 300
    assert found.shares == pytest.approx({0: 0.9, 1: 0.1}, abs=0.01)


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (np.zeros((4, 2)), np.zeros(4), "X of jensen_shannon_augmenter has 4 rows and needs"),
        (np.zeros((9, 2)), np.arange(9), "y of jensen_shannon_augmenter has no class with at lea"),
        (np.zeros((9, 2)), np.zeros(8), "inconsistent numbers of samples"),
        (np.zeros((9, 2)), np.full(9, np.nan), "y of jensen_shannon_augmenter contains NaN"),
        (np.full((9, 2), np.inf), np.zeros(9), "X of jensen_shannon_augmenter contains infinity"),
    ],
)
def test_data_that_cannot_be_split(X, y, message):
    """One sentence says why."""
    with pytest.raises(ValueError, match=message):
        jensen_shannon_augmenter(LabelInvariantMixup(), X, y)


def test_labels_that_the_data_do_not_have(normal):
    """An augmenter made for another y is refused."""
    with pytest.raises(ValueError, match="draws labels that y does not have: \\['0', '1'\\]"):
        jensen_shannon_augmenter(Far(), *normal)
