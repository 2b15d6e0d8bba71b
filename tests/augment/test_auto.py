"""The augmenter that "auto" means depends on the data."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.ensemble import RandomForestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from leavezero.augment import (
    AugmenterUnion,
    CopulaAugmenter,
    ForestAugmenter,
    GaussianMixtureAugmenter,
    ImageAugmenter,
    LabelInvariantMixup,
    PseudoLabeled,
    TextAugmenter,
    resolve_augmenter,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.tile([0, 1], 30)


@pytest.mark.parametrize(
    ("X", "y", "kind", "reason"),
    [
        (X, Y, AugmenterUnion, "X is numeric and complete"),
        (X.tolist(), Y, AugmenterUnion, "X is numeric and complete"),
        (X, X[:, 0], AugmenterUnion, "X is numeric and complete"),
        (X, np.column_stack([Y, Y]), AugmenterUnion, "X is numeric and complete"),
        (np.where(X > 1, np.nan, X), Y, AugmenterUnion, "missing values or non-numeric"),
        (pd.DataFrame({"a": ["x", "y"] * 30}), Y, AugmenterUnion, "non-numeric columns"),
        (np.array([["x", "1"], ["y", "2"]] * 30), Y, AugmenterUnion, "non-numeric columns"),
        (np.array([[1.0, None], [2.0, 3.0]] * 30), Y, AugmenterUnion, "missing values"),
        (sparse.csr_matrix(X), Y, LabelInvariantMixup, "X is sparse"),
        (["a b"] * 60, Y, TextAugmenter, "X is text"),
        (RNG.random((60, 4, 4)), Y, ImageAugmenter, "X has images"),
    ],
)
def test_auto_depends_on_the_data(X, y, kind, reason):
    resolved = resolve_augmenter("auto", X, y)
    assert type(resolved.augmenter) is kind
    assert reason in resolved.reason
    resolved.augmenter.fit(X, y).sample(5, random_state=0)


@pytest.mark.parametrize("table", [["a b", "a c"] * 30, RNG.random((60, 4, 4)), X])
def test_auto_generates_any_kind_of_table_from_pseudo_labels(table):
    few = np.where(np.arange(60) < 20, Y, -1)
    augmenter = resolve_augmenter("auto", table, few, unlabeled=-1).augmenter
    assert isinstance(augmenter, PseudoLabeled)
    assert len(augmenter.fit(table, few).sample(10, random_state=0)) == 10


@pytest.mark.parametrize(
    ("X", "kinds"),
    [
        (X, [GaussianMixtureAugmenter, CopulaAugmenter, ForestAugmenter]),
        (np.where(X > 1, np.nan, X), [CopulaAugmenter, ForestAugmenter]),
        (pd.DataFrame({"a": ["x", "y"] * 30, "b": X[:, 0]}), [CopulaAugmenter, ForestAugmenter]),
    ],
    ids=["numeric", "missing values", "categories"],
)
def test_auto_is_a_union_for_tables(X, kinds):
    """It does not depend on the candidates, the target or the share of categorical columns."""
    for types in ((), {RandomForestClassifier}, {GaussianNB, DecisionTreeClassifier}):
        for y in (Y, RNG.normal(size=60)):
            union = resolve_augmenter("auto", X, y, candidate_types=types).augmenter
            assert [type(one) for one in union.augmenters] == kinds


def test_an_augmenter_is_returned_as_it_is():
    mixup = LabelInvariantMixup()
    assert resolve_augmenter(mixup, X, Y).augmenter is mixup
