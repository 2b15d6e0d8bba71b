"""Candidates are planned before they are fitted."""

from itertools import permutations

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC

from leavezero.engine import Planner


def plan(estimator, settings, owner):
    """Return the distinct candidates in canonical order."""
    planner = Planner(owner)
    for one in settings:
        planner.candidate(estimator, one)
    return sorted(planner.candidates, key=lambda candidate: candidate.key)


MIXED = [{"C": 2}, {"C": 10.0}, {"gamma": "scale"}, {"gamma": 0.5}, {"C": 2, "gamma": "auto"}]


def test_the_order_depends_on_the_candidates_only():
    """Whatever the listing, numbers rise and come before names."""
    orders = [[c.params for c in plan(SVC(), listing, "test")] for listing in permutations(MIXED)]
    assert all(order == orders[0] for order in orders)
    assert orders[0].index({"C": 2}) < orders[0].index({"C": 10.0})
    assert orders[0].index({"gamma": 0.5}) < orders[0].index({"gamma": "scale"})


def test_candidates_are_listed_as_the_user_named_them():
    """Results come back in that order."""
    planner = Planner("test")
    for params in (*MIXED, MIXED[0]):
        planner.candidate(SVC(), params)
    assert [candidate.params for candidate in planner.candidates] == MIXED


def test_equal_values_of_any_kind_are_one_candidate():
    """Arrays and estimators are compared by content, numpy scalars as plain numbers."""
    pipeline = make_pipeline(StandardScaler(), SVC())
    weights = {0: 1.0, 1: 2.0}
    same = [
        {"standardscaler": MinMaxScaler(), "svc__class_weight": dict(weights), "svc__C": value}
        for value in (1.0, np.float64(1.0))
    ]
    assert len(plan(pipeline, same, "test")) == 1


def test_values_without_a_digest_are_kept_apart():
    """What cannot be pickled equals itself only."""
    kernels = [lambda a, b: a @ b.T, lambda a, b: (a @ b.T) ** 2]
    assert len(plan(SVC(), [{"kernel": k} for k in (*kernels, kernels[0])], "test")) == 2


def test_nan_is_a_value_like_any_other():
    """It equals itself here."""
    assert len(plan(SVC(), [{"C": np.nan}, {"C": float("nan")}], "test")) == 1


def test_parameters_of_a_replaced_step_are_checked_on_that_step():
    """Valid names depend on the candidate."""
    pipeline = make_pipeline(StandardScaler(), SVC())
    fine = {"standardscaler": MinMaxScaler(), "standardscaler__clip": True}
    assert len(plan(pipeline, [fine], "test")) == 1
    with pytest.raises(ValueError, match=r"test cannot set .*clip"):
        plan(pipeline, [{"standardscaler__clip": True}], "test")
