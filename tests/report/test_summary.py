import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from leavezero.report import summarize

CHOICE = {
    "index": 1,
    "rule": "HighestScore",
    "n_tied": 1,
    "contenders": (1, 0),
    "margin": 0.1,
    "margin_low": -0.01,
    "margin_high": 0.2,
    "standard_error": 0.02,
    "corrected_score": 0.88,
    "source": "origins",
}


def results(**columns):
    """Return three candidates, the last of which failed."""
    base = {
        "params": [{"C": 1}, {"C": 10}, {"C": 100}],
        "mean_test_score": np.array([0.8, 0.9, np.nan]),
        "low_test_score": np.array([0.7, 0.85, np.nan]),
        "high_test_score": np.array([0.85, 0.95, np.nan]),
        "rank_test_score": np.array([2, 1, 3]),
        "mean_fit_time": np.array([0.1, 0.2, 0.3]),
    }
    return base | columns


def test_candidates_stand_best_first_and_failures_last():
    """The row in the table of results stays known."""
    found = summarize(results(), best=1)["candidates"]
    assert [one["row"] for one in found] == [1, 0, 2]
    assert found[0]["best"]
    assert found[2]["score"] is None


def test_the_winner_stands_first_even_if_another_has_the_higher_score():
    """A rule may prefer the simpler one."""
    assert summarize(results(), best=0)["candidates"][0]["row"] == 0


def test_the_choice_says_how_clear_it_is():
    """In figures for programs and in sentences for people."""
    choice = summarize(results(), best=1, choice=CHOICE)["choice"]
    assert choice["label"] == "C=10"
    assert choice["contenders"] == ["C=1"]
    assert choice["sentences"] == [
        "The best score leads the second best by 0.1000 (95 %: -0.0100 to 0.2000).",
        "1 other candidate cannot be told from the best with as many rows as were given.",
        "Without its luck on V the best score is 0.8800.",
    ]


def test_a_single_candidate_has_no_margin():
    """Nothing is said of what is not known."""
    alone = CHOICE | {"contenders": (0,), "margin": np.nan, "corrected_score": np.nan}
    one = {"params": [{}], "mean_test_score": [0.5]}
    choice = summarize(one, best=0, choice=alone)["choice"]
    assert choice["label"] == "as given"
    assert choice["sentences"] == []


def test_without_a_winner_there_is_no_choice():
    """Several metrics, and none was named."""
    assert summarize(results())["choice"] is None


def test_values_of_a_parameter_are_sorted_if_numbers_and_listed_once_if_not():
    """1 and True are two values."""
    params = [{"a": 10, "b": True}, {"a": 2, "b": 1}, {"a": 10, "b": SVC(C=3)}]
    table = {"params": params, "mean_test_score": [0.1, 0.2, 0.3]}
    found = summarize(table)["params"]
    assert found[0] == {"name": "a", "values": [2, 10], "numbers": True}
    assert found[1] == {"name": "b", "values": [True, 1, "SVC(C=3)"], "numbers": False}


@pytest.mark.parametrize("column", ["score", "f1"])
def test_the_metric_that_chose_is_the_score(column):
    """The others stand beside it."""
    table = {"params": [{}], "mean_test_score": [0.5], "mean_test_f1": [0.7]}
    one = summarize(table, column=column)["candidates"][0]
    assert one["score"] == {"score": 0.5, "f1": 0.7}[column]
    assert list(one["metrics"]) == [{"score": "f1", "f1": "score"}[column]]


@given(st.lists(st.floats(), min_size=1, max_size=8), st.data())
def test_any_scores_give_what_json_takes(scores, data):
    """Ties, NaN and infinities too."""
    table = {"params": [{"at": at} for at in range(len(scores))], "mean_test_score": scores}
    best = data.draw(st.none() | st.integers(0, len(scores) - 1))
    json.dumps(summarize(table, best=best), allow_nan=False)
