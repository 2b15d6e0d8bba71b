import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.svm import SVC

from leavezero.report import summarize

SELECTION = {
    "index": 1,
    "rule": "HighestScore",
    "n_tied": 1,
    "tied": (1, 0),
    "margin": 0.1,
    "margin_low": -0.01,
    "margin_high": 0.2,
    "standard_error": 0.02,
    "new_data_low": 0.8,
    "new_data_high": 1.02,
    "bias_corrected_score": 0.88,
    "resampled_units": "training rows",
}


def results(**columns):
    """Return three candidates, the last of which failed."""
    base = {
        "params": [{"C": 1}, {"C": 10}, {"C": 100}],
        "mean_test_score": np.array([0.8, 0.9, np.nan]),
        "low_test_score": np.array([0.7, 0.85, np.nan]),
        "high_test_score": np.array([0.85, 0.95, np.nan]),
        "mean_loo_score": np.array([0.75, 0.8, np.nan]),
        "rank_test_score": np.array([2, 1, 3]),
        "mean_fit_time": np.array([0.1, 0.2, 0.3]),
    }
    return base | columns


def test_candidates_are_sorted_best_first_and_failed_last():
    candidates = summarize(results(), best=1)["candidates"]
    assert [one["row"] for one in candidates] == [1, 0, 2]
    assert [one["rank"] for one in candidates] == [1, 2, 3]
    assert [one["loo"] for one in candidates] == [0.8, 0.75, None]
    assert candidates[0]["best"]
    assert candidates[2]["score"] is None


def test_selected_candidate_is_first_even_with_a_lower_score():
    """A selection rule may prefer a simpler candidate."""
    assert summarize(results(), best=0)["candidates"][0]["row"] == 0


def test_selection_has_values_and_sentences():
    selection = summarize(results(), best=1, selection=SELECTION)["selection"]
    assert selection["label"] == "C=10"
    assert selection["tied"] == ["C=1"]
    assert selection["sentences"] == [
        "The best score is 0.1000 above the second best (95 % interval -0.0100 to 0.2000).",
        "1 other candidate is statistically tied with the best.",
    ]


def test_sampling_of_generated_rows_is_not_shown_as_an_interval():
    """It is not that of the data."""
    generated = SELECTION | {"resampled_units": "generated rows"}
    sentences = summarize(results(), best=1, selection=generated)["selection"]["sentences"]
    assert sentences[0] == "The best score is 0.1000 above the second best."


def test_intervals_end_at_the_highest_value_of_the_metric():
    for metric, high in (("accuracy", 1.0), ("neg_mean_squared_error", 0.0), ("own", 1.02)):
        found = summarize(results(), best=1, selection=SELECTION, run={"metric": metric})
        assert found["selection"]["new_data_high"] == high


def test_model_types_are_listed_with_their_best_candidate():
    """The parameters of a type are its own, without the names of pipeline steps."""
    params = [
        {"candidate": "a", "svc__C": 1},
        {"candidate": "a", "svc__C": 10},
        {"candidate": "b", "one__alpha": 2, "two__alpha": 3},
        {"candidate": "baseline"},
    ]
    table = {"params": params, "mean_test_score": [0.7, 0.9, 0.8, 0.5]}
    found = summarize(table, best=1, selection=SELECTION | {"tied": (1, 2)})
    types = found["model_types"]
    assert [one["name"] for one in types] == ["a", "b", "baseline"]
    assert [one["label"] for one in types] == [
        "a, C=10",
        "b, one__alpha=2, two__alpha=3",
        "baseline",
    ]
    assert types[1]["difference"] == pytest.approx(-0.1)
    assert [one["tied"] for one in types] == [True, True, False]
    assert types[0]["params"] == [{"name": "C", "values": [1, 10], "numeric": True}]
    assert found["baseline"] == 0.5
    given = summarize(table, best=1, selection=SELECTION | {"tied": (1, 2)}, baseline=0.4)
    assert (given["baseline"], given["model_types"][2]["score"]) == (0.4, 0.4)
    assert given["candidates"][-1]["score"] == 0.4  # one score everywhere


def test_single_candidate_has_no_margin():
    single = SELECTION | {"tied": (0,), "margin": np.nan, "bias_corrected_score": np.nan}
    table = {"params": [{}], "mean_test_score": [0.5]}
    selection = summarize(table, best=0, selection=single)["selection"]
    assert selection["label"] == "no parameters"
    assert selection["sentences"] == []


def test_no_selection_without_best():
    """Several metrics without refit."""
    assert summarize(results())["selection"] is None


def test_values_of_numeric_parameters_are_sorted_and_others_unique():
    """1 and True are different values."""
    params = [{"a": 10, "b": True}, {"a": 2, "b": 1}, {"a": 10, "b": SVC(C=3)}]
    table = {"params": params, "mean_test_score": [0.1, 0.2, 0.3]}
    found = summarize(table)["model_types"][0]["params"]
    assert found[0] == {"name": "a", "values": [2, 10], "numeric": True}
    assert found[1] == {"name": "b", "values": [True, 1, "SVC(C=3)"], "numeric": False}


def test_labels_have_short_numbers():
    candidate = summarize({"params": [{"C": 1 / 3}], "mean_test_score": [0.5]})["candidates"][0]
    assert candidate["label"] == "C=0.333333"
    assert candidate["params"] == {"C": 1 / 3}


@pytest.mark.parametrize("column", ["score", "f1"])
def test_column_names_the_metric_that_selected(column):
    table = {"params": [{}], "mean_test_score": [0.5], "mean_test_f1": [0.7]}
    one = summarize(table, column=column)["candidates"][0]
    assert one["score"] == {"score": 0.5, "f1": 0.7}[column]
    assert list(one["metrics"]) == [{"score": "f1", "f1": "score"}[column]]


@given(st.lists(st.floats(), min_size=1, max_size=8), st.data())
def test_any_scores_can_be_written_as_json(scores, data):
    """Ties, NaN and infinities too."""
    table = {"params": [{"at": at} for at in range(len(scores))], "mean_test_score": scores}
    best = data.draw(st.none() | st.integers(0, len(scores) - 1))
    json.dumps(summarize(table, best=best), allow_nan=False)
