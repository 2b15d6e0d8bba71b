"""The rows that members of an ensemble drew, drawn again."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import (
    BaggingClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

from leavezero.families import _draws
from leavezero.families._draws import drawn_rows


def told(model, n_rows):
    """Return what the public attribute says, as a table."""
    return np.array([np.isin(np.arange(n_rows), rows) for rows in model.estimators_samples_])


@settings(max_examples=20)
@given(
    seed=st.integers(0, 2**32 - 1),
    n_rows=st.integers(30, 80),
    n_trees=st.integers(1, 6),
    share=st.sampled_from([None, 0.5, 1.0, 2]),
    weighted=st.booleans(),
)
def test_forests_draw_the_rows_they_say(seed, n_rows, n_trees, share, weighted):
    """Every tree, for any share of the rows, with weights and without."""
    X = np.arange(2.0 * n_rows).reshape(-1, 2)
    y = np.arange(n_rows) % 2
    weights = np.linspace(0.5, 2.0, n_rows) if weighted else None
    model = RandomForestClassifier(n_trees, max_samples=share, random_state=seed)
    model.fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(drawn_rows(model, n_rows, weights), told(model, n_rows))


@pytest.mark.parametrize(
    "estimator",
    [
        RandomForestRegressor(4),
        ExtraTreesRegressor(4, bootstrap=True, random_state=np.random.RandomState(0)),
        BaggingClassifier(n_estimators=4, random_state=0),
    ],
)
def test_other_ensembles(estimator):
    """Without a seed, with a random state, and bagging."""
    X, y = np.arange(60.0).reshape(-1, 2), np.arange(30) % 3
    model = estimator.fit(X, y)
    np.testing.assert_array_equal(drawn_rows(model, 30), told(model, 30))


@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 60)])
@pytest.mark.parametrize("class_weight", [None, {0: 3.0, 1: 1.0}])
def test_all_rows_as_a_share_of_the_weights(weights, class_weight):
    """A forest may draw more rows than there are, as many as the weights in sum."""
    X, y = np.random.default_rng(0).normal(size=(60, 3)), np.arange(60) % 2
    model = RandomForestClassifier(
        4, max_samples=1.0, class_weight=class_weight, random_state=0
    ).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(drawn_rows(model, 60, weights), told(model, 60))


def test_forests_that_grew_later():
    """Trees that were added to a fitted forest have draws of their own."""
    X, y = np.arange(60.0).reshape(-1, 2), np.arange(30) % 3
    model = RandomForestClassifier(2, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=5).fit(X, y)
    np.testing.assert_array_equal(drawn_rows(model, 30), told(model, 30))


def test_a_forest_that_draws_in_another_way_is_asked(monkeypatch):
    """Where drawing again does not give what the forest says, its word counts for every tree."""
    X, y = np.arange(60.0).reshape(-1, 2), np.arange(30) % 3
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    monkeypatch.setattr(
        _draws, "_draw_again", lambda trees, n_rows, n_draws: [np.zeros(n_draws, int)] * len(trees)
    )
    np.testing.assert_array_equal(drawn_rows(model, 30), told(model, 30))


def test_the_forest_stays_as_it_is():
    """Looking at its first and last tree leaves all the others in place."""
    X, y = np.arange(60.0).reshape(-1, 2), np.arange(30) % 3
    model = RandomForestClassifier(5, random_state=0).fit(X, y)
    before = model.predict_proba(X)
    drawn_rows(model, 30)
    assert len(model.estimators_) == 5
    np.testing.assert_array_equal(model.predict_proba(X), before)
