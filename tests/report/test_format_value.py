import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import loguniform
from sklearn.base import BaseEstimator
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.report import format_value
from leavezero.report._summarize import to_json

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
ANYTHING = st.recursive(SCALARS, lambda one: st.lists(one) | st.dictionaries(st.text(), one))


class WithRows(BaseEstimator):
    """An estimator with rows as parameters, as an augmenter with a fixed validation set."""

    def __init__(self, X=None, y=None):
        self.X = X
        self.y = y


@given(ANYTHING)
@settings(max_examples=25)
def test_any_value_can_be_written_as_json(value):
    """NaN and infinities are no JSON and become None."""
    json.dumps(to_json(value), allow_nan=False)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_arrays_become_lists_of_the_same_numbers(values):
    assert to_json(np.array(values, dtype=float)) == values


def test_estimators_show_parameters_that_differ_from_defaults():
    model = make_pipeline(StandardScaler(), SVC(C=np.float64(2.0), kernel="linear"))
    assert format_value(model) == (
        "Pipeline(steps=[('standardscaler', StandardScaler()), "
        "('svc', SVC(C=2.0, kernel='linear'))])"
    )


def test_rows_in_parameters_are_never_shown():
    X, y = [[31.4159, 27.1828]], ["a"]
    assert format_value(WithRows(X, y)) == "WithRows(X=<list>, y=<list>)"
    assert "31.4159" not in format_value(WithRows(pd.DataFrame(X), np.array(y)))
    assert format_value({"a": np.full((2, 2), 31.4159)}) == "{'a': <ndarray of shape (2, 2)>}"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (loguniform(0.1, 10), "loguniform(0.1, 10)"),
        (np.array([0.1, 1.0, 10.0]), "[0.1, 1.0, 10.0]"),
        (list(range(60)), "<list of 60>"),
        ((1,), "(1,)"),
        (len, "<len>"),
        (SVC, "<SVC>"),
        (object(), "<object>"),
        ("x" * 900, "'" + "x" * 399 + " <cut>"),
    ],
)
def test_values_without_short_code_are_described(value, text):
    """No memory address, no endless list."""
    assert format_value(value) == text
