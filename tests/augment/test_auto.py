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
    ImageAugmenter,
    LabelInvariantMixup,
    PseudoLabeled,
    TextAugmenter,
    resolve_augmenter,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = np.tile([0, 1], 30)
TWO_TYPES = {GaussianNB, DecisionTreeClassifier}


@pytest.mark.parametrize(
    ("X", "y", "kind", "reason"),
    [
        (X, Y, AugmenterUnion, "X is numeric and complete"),
        (X.tolist(), Y, AugmenterUnion, "X is numeric and complete"),
        (X, X[:, 0], AugmenterUnion, "X is numeric and complete"),
        (X, np.column_stack([Y, Y]), AugmenterUnion, "X is numeric and complete"),
        (np.where(X > 1, np.nan, X), Y, CopulaAugmenter, "missing values or non-numeric"),
        (pd.DataFrame({"a": ["x", "y"] * 30}), Y, CopulaAugmenter, "non-numeric columns"),
        (np.array([["x", "1"], ["y", "2"]] * 30), Y, CopulaAugmenter, "non-numeric columns"),
        (np.array([[1.0, None], [2.0, 3.0]] * 30), Y, CopulaAugmenter, "missing values"),
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


def test_auto_does_not_depend_on_the_candidates_of_numeric_tables():
    for types in ((), {RandomForestClassifier}, TWO_TYPES):
        resolved = resolve_augmenter("auto", X, Y, candidate_types=types)
        assert isinstance(resolved.augmenter, AugmenterUnion)


@pytest.mark.parametrize("table", [["a b", "a c"] * 30, RNG.random((60, 4, 4)), X])
def test_auto_generates_any_kind_of_table_from_pseudo_labels(table):
    few = np.where(np.arange(60) < 20, Y, -1)
    augmenter = resolve_augmenter("auto", table, few, unlabeled=-1).augmenter
    assert isinstance(augmenter, PseudoLabeled)
    assert len(augmenter.fit(table, few).sample(10, random_state=0)) == 10


def categorical(n_categorical, n_numeric):
    words = {f"w{i}": RNG.choice(["a", "b", "c"], 60) for i in range(n_categorical)}
    numbers = {f"x{i}": RNG.normal(size=60) for i in range(n_numeric)}
    return pd.DataFrame(words | numbers)


@pytest.mark.parametrize(
    ("X", "y", "options"),
    [
        (categorical(1, 1), Y, {}),
        (categorical(0, 3), Y, {}),
        (categorical(3, 0), Y, {"candidate_types": {GaussianNB}}),
        (categorical(3, 0), Y, {"groups": np.arange(60) // 2}),
        (categorical(3, 0), X[:, 0], {}),
    ],
    ids=["half categorical", "numeric", "one candidate type", "groups", "regression"],
)
def test_mixup_is_added_only_for_mostly_categorical_tables_and_several_types(X, y, options):
    both = resolve_augmenter("auto", categorical(3, 2), Y, candidate_types=TWO_TYPES)
    assert [type(a) for a in both.augmenter.augmenters] == [CopulaAugmenter, LabelInvariantMixup]
    assert both.reason == "most columns of X are categorical"
    other = resolve_augmenter("auto", X, y, **({"candidate_types": TWO_TYPES} | options)).augmenter
    assert LabelInvariantMixup not in map(type, getattr(other, "augmenters", [other]))


@pytest.mark.parametrize("augmenter", ["mixup", None, object()])
def test_other_objects_are_rejected(augmenter):
    with pytest.raises(ValueError, match='augmenter must be "auto" or an object with fit'):
        resolve_augmenter(augmenter, X, Y)


def test_an_augmenter_is_returned_as_it_is():
    mixup = LabelInvariantMixup()
    assert resolve_augmenter(mixup, X, Y).augmenter is mixup
