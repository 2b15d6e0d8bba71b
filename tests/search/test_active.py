"""Queries that decide between tied candidates."""

import copy
import pickle

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_iris
from sklearn.linear_model import Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from leavezero import GridSearchLZO, active_query
from leavezero.search import ActiveQuery


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    search = GridSearchLZO(KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9]}, random_state=0)
    return search.fit(X[:80], y[:80]), X[80:], y[80:]


def test_rows_on_which_candidates_differ(digits):
    search, pool, y = digits
    query = active_query(search, pool)
    assert query.candidates == search.selection_.tied
    rows = query.rows(20)
    assert len(set(rows)) == 20
    assert (query.predictions[:, rows] != query.predictions[0, rows]).any(axis=0).all()
    later = query.add_labels(rows, y[rows])
    assert not set(later.rows(20)) & set(rows)
    assert query.labels == {}
    assert later.probability_best.sum() == pytest.approx(1)
    assert query.add_labels([], []).labels == {}


def test_labels_decide():
    """Candidate 7 is right wherever the two differ."""
    predictions = np.array([[0] * 30, [1] * 10 + [0] * 20])
    query = ActiveQuery((4, 7), predictions)
    np.testing.assert_allclose(query.probability_best, [0.5, 0.5])
    assert set(query.rows(30)) == set(range(10))
    query = query.add_labels(query.rows(6), [1] * 6)
    assert query.best_index == 7
    assert query.probability_best[1] > 0.97


def test_dropped_candidates_stay_dropped():
    """The third is right on the few rows on which the first two differ, and wrong elsewhere."""
    truth = np.r_[np.ones(400, dtype=int), np.tile([0, 1], 20)]
    predictions = np.array([np.ones(440), np.r_[np.ones(400), np.zeros(40)], truth])
    predictions[2, :400] = 0
    query = ActiveQuery((4, 7, 9), predictions.astype(int))
    query = query.add_labels(range(20), truth[:20])
    assert query.probability_best[2] < 0.01
    rows = query.rows(40)
    assert rows.min() == 400
    query = query.add_labels(rows, truth[rows])
    assert query.probability_best[2] == 0
    np.testing.assert_allclose(query.probability_best[:2], 0.5, atol=0.01)


def test_the_consensus_is_the_prior():
    predictions = np.array([[0, 0, 0, 0], [0, 0, 0, 1], [1, 1, 1, 0]])
    assert ActiveQuery((0, 1, 2), predictions).best_index == 0


def test_candidates_that_agree():
    query = ActiveQuery((0, 1), np.zeros((2, 5), dtype=int))
    assert len(query.rows(3)) == 0
    np.testing.assert_allclose(query.probability_best, [0.5, 0.5])


def test_bad_input(digits):
    search, pool, _ = digits
    with pytest.raises(ValueError, match="at least 1 row, got 0"):
        active_query(search, pool[:0])
    with pytest.raises(ValueError, match="max_candidates must be at least 2, got 1"):
        active_query(search, pool, max_candidates=1)
    with pytest.raises(ValueError, match="one label per row, got 1 labels for 2 rows"):
        active_query(search, pool).add_labels([1, 2], [0])
    with pytest.raises(ValueError, match=f"rows of the pool, 0 to {len(pool) - 1}, got"):
        active_query(search, pool).add_labels([-1], [0])
    with pytest.raises(ValueError, match="fitted in this process"):
        active_query(pickle.loads(pickle.dumps(search)), pool)
    with pytest.raises(ValueError, match="fitted in this process"):
        active_query(GridSearchLZO(SVC(), {}), pool)
    X, y = load_iris(return_X_y=True)
    regression = GridSearchLZO(Ridge(), {"alpha": [1.0, 1.001]}, random_state=0).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="search over classifiers"):
        active_query(regression, X)
    clear = GridSearchLZO(SVC(), {"gamma": [0.1, 1e4]}, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="at least 2 statistically tied candidates, got 1"):
        active_query(copy.copy(clear), X)


def test_labels_of_queries_are_known():
    query = ActiveQuery((4, 7), np.array([[0, 0, 0, 0], [0, 1, 1, 0]]))
    with pytest.raises(ValueError, match="add_labels requires known labels, got None or NaN"):
        query.add_labels([0], [np.nan])


@pytest.mark.parametrize(("predictions", "label"), [([["a", "b"]], 0), ([[0, 1]], "0")])
def test_labels_have_the_type_of_the_predictions(predictions, label):
    query = ActiveQuery((4,), np.array(predictions))
    with pytest.raises(ValueError, match=f"type of the predictions, such as .*, got {label!r}"):
        query.add_labels([0], [label])
