from itertools import permutations

import numpy as np
import pytest
from sklearn.ensemble import BaggingClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.evaluation import CandidateFactory

MIXED = [{"C": 2}, {"C": 10.0}, {"gamma": "scale"}, {"gamma": 0.5}, {"C": 2, "gamma": "auto"}]
PIPELINE = make_pipeline(StandardScaler(), SVC())


def candidates(estimator, settings):
    """Return the distinct candidates in the order in which they were made."""
    factory = CandidateFactory("test")
    for one in settings:
        factory.candidate(estimator, one)
    return factory.candidates


def test_canonical_order_depends_on_the_candidates_only():
    """Numbers increase and come before strings."""
    orders = [
        [c.params for c in sorted(candidates(SVC(), listing), key=lambda c: c.key)]
        for listing in permutations(MIXED)
    ]
    assert all(order == orders[0] for order in orders)
    assert orders[0].index({"C": 2}) < orders[0].index({"C": 10.0})
    assert orders[0].index({"gamma": 0.5}) < orders[0].index({"gamma": "scale"})


def test_candidates_are_listed_once_in_the_given_order():
    found = candidates(SVC(), [*MIXED, MIXED[0]])
    assert [candidate.params for candidate in found] == MIXED


linear, squared = lambda a, b: a @ b.T, lambda a, b: (a @ b.T) ** 2  # without a digest


@pytest.mark.parametrize(
    ("estimator", "settings", "n_candidates"),
    [
        (SVC(), [{"C": 1.0}, {"C": np.float64(1.0)}], 1),
        (SVC(), [{"C": np.nan}, {"C": float("nan")}], 1),
        (SVC(), [{"class_weight": {0: 1.0}}, {"class_weight": {0: 1.0}}], 1),
        (SVC(), [{"kernel": linear}, {"kernel": squared}, {"kernel": linear}], 2),
        (SVC(), [{"shrinking": True}, {"shrinking": 1}], 2),
        (PIPELINE, [{"standardscaler": MinMaxScaler()}, {"standardscaler": MinMaxScaler()}], 1),
    ],
)
def test_equal_values_are_one_candidate(estimator, settings, n_candidates):
    """Objects are compared by content; those that cannot be pickled by identity."""
    assert len(candidates(estimator, settings)) == n_candidates


def test_parameters_are_checked_on_the_step_that_a_candidate_sets():
    valid = {"standardscaler": MinMaxScaler(), "standardscaler__clip": True}
    assert len(candidates(PIPELINE, [valid])) == 1
    with pytest.raises(ValueError, match=r"test cannot set .*clip"):
        candidates(PIPELINE, [{"standardscaler__clip": True}])


def test_estimators_are_independent_and_seeded():
    """Setting parameters changes neither the original nor values that are estimators."""
    original, tree = BaggingClassifier(), DecisionTreeClassifier()
    [candidate] = candidates(original, [{"estimator": tree, "estimator__max_depth": 2}])
    made = candidate.make_estimator(5)
    assert (made.estimator.max_depth, made.random_state, made.estimator.random_state) == (2, 5, 5)
    assert (original.estimator, tree.max_depth, tree.random_state) == (None, None, None)
