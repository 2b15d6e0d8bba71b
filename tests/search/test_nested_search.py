"""Searches inside other meta-estimators, and copies of searches."""

import pytest
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import TunedThresholdClassifierCV, cross_val_score
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO, LabelInvariantMixup

X, y = make_classification(120, 5, flip_y=0.1, random_state=0)


@pytest.fixture
def search():
    few = {"augmenter": LabelInvariantMixup(), "n_replicates": 3, "random_state": 0}
    return GridSearchLZO(LogisticRegression(), {"C": [0.1, 1.0]}, **few)


def test_nested_cross_validation(search):
    assert cross_val_score(search, X, y, cv=3).mean() > 0.7


def test_search_in_a_stack(search):
    stack = StackingClassifier([("search", search), ("tree", DecisionTreeClassifier(max_depth=2))])
    assert stack.fit(X, y).score(X, y) > 0.7


def test_search_in_a_tuned_threshold(search):
    assert 0 < TunedThresholdClassifierCV(search, cv=3).fit(X, y).best_threshold_ < 1


def test_search_over_a_search(search):
    grid = {
        "estimator__fit_intercept": [True, False],
        "augmenter__alpha": [0.5, 1.0],
    }
    outer = clone(search).set_params(estimator=search, param_grid=grid, cv_finalists=0).fit(X, y)
    assert outer.n_fits_ == 4
    assert outer.best_estimator_.best_estimator_.C in (0.1, 1.0)
