"""The final score from both witnesses."""

import numpy as np
import pytest
from sklearn.datasets import make_moons, make_multilabel_classification
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero.augment import FunctionAugmenter
from leavezero.engine import _finals, resolve_metric
from leavezero.semi_supervised import SMIRClassifier

GRID = {"width": [0.2, 0.5, 1.0], "gamma": [1e-3, 1e-1]}


def table(n_labels):
    X, y = make_moons(80, noise=0.15, random_state=0)
    y[n_labels:] = -1
    search = GridSearchLZO(SMIRClassifier(), GRID, n_replicates=2, random_state=0)
    return search.fit(X, y).cv_results_


@pytest.mark.parametrize("n_labels", [10, 40])
def test_the_fewer_labels_the_more_v_decides(n_labels, monkeypatch):
    """Differences between candidates are V's for ten parts of l + 10, else as without the rule."""
    results = table(n_labels)
    monkeypatch.setattr(_finals, "HALF_TRUST", 0)
    plain = table(n_labels)["mean_test_score"]
    finals, on_v = results["mean_test_score"], results["mean_augmented_score"]
    share = 10 / (n_labels + 10)
    expected = share * (on_v - on_v.mean()) + (1 - share) * (plain - plain.mean())
    np.testing.assert_allclose(finals - finals.mean(), expected, atol=1e-9)
    assert not np.allclose(finals, plain)


def test_scores_without_an_end_stay_where_they_are():
    """A score of minus infinity moves nobody, and is not moved."""
    scores, others = np.array([-np.inf, 0.4, 0.8]), np.array([-np.inf, 0.8, 0.8])
    np.testing.assert_allclose(_finals._nearer(scores, others, 0.5), [-np.inf, 0.5, 0.7])


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", "neg_brier_score"])
def test_no_model_is_better_than_perfect(scoring):
    """Neither the best nor the upper end of its interval."""
    X, y = make_moons(100, noise=0.1, random_state=0)
    grid = {"n_neighbors": [1, 5, 15, 30]}
    search = GridSearchLZO(KNeighborsClassifier(), grid, scoring=scoring, random_state=0).fit(X, y)
    highest = resolve_metric(scoring, "the test").highest
    assert search.best_score_ <= highest
    assert search.cv_results_["high_test_score"].max() <= highest


def test_no_model_is_worse_than_possible(rng):
    """With fifty classes nobody can tell apart, no share of hits is below zero."""
    X, y = rng.normal(size=(150, 5)), np.repeat(np.arange(50), 3)
    grid = {"n_neighbors": [1, 2, 5]}
    results = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0).fit(X, y).cv_results_
    assert results["mean_test_score"].min() >= 0.0
    assert results["low_test_score"].min() >= 0.0


@pytest.mark.parametrize(
    ("finals", "expected"),
    [
        ([0.9, 1.2, np.nan], [0.6, 0.9, np.nan]),
        ([-0.3, -0.2, np.nan], [0.0, 0.1, np.nan]),
        ([0.4, 0.3, -0.1], [0.4, 0.3, 0.0]),
        ([1.2, 0.9, 0.9], [1.0, 0.7, 0.7]),
    ],
)
def test_the_best_moves_to_its_witnesses_and_the_others_with_it(finals, expected):
    """The kinder one from above, the other from below; with one alone to the end of the scale."""
    on_v, unseen = np.array([0.5, 0.9, 0.5]), np.array([np.nan, 0.1, np.nan])
    accuracy = resolve_metric("accuracy", "the test")
    found = _finals._possible(np.array(finals), on_v, unseen, accuracy)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_models_of_several_labels_are_compared():
    """What neighbors say of rows they have not seen outweighs V, as it does for one label."""
    X, y = make_multilabel_classification(150, n_classes=4, random_state=0)
    grid = {"n_neighbors": [1, 5, 15]}
    search = GridSearchLZO(KNeighborsClassifier(), grid, scoring="f1_micro", random_state=0)
    results = search.fit(X, y).cv_results_
    np.testing.assert_array_equal(results["rank_test_score"], [3, 2, 1])
    np.testing.assert_array_equal(np.argsort(results["mean_unseen_score"]), [0, 1, 2])


def test_who_scores_itself_is_not_better_than_perfect(rng):
    """Beside a candidate that no other can be compared with, either."""

    def shaken(X, y, n_samples, rng):
        rows = rng.integers(len(y), size=n_samples)
        return X[rows] + rng.normal(size=(n_samples, 2)), y[rows]

    X, y = (
        np.vstack([rng.normal(size=(40, 2)), rng.normal(size=(40, 2)) + 4.0]),
        np.repeat([0, 1], 40),
    )
    pool = {"neighbors": KNeighborsClassifier(1), "inner": GridSearchCV(SVC(), {"C": [1]})}
    search = CandidateSearchLZO(pool, augmenter=FunctionAugmenter(shaken), random_state=0)
    scores = search.fit(X, y).cv_results_["mean_test_score"]
    assert scores.max() == 1.0
