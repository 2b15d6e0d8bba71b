import json

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import loguniform
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import FixedValidationSet
from leavezero.report import plain, shown

SCALARS = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text())
ANYTHING = st.recursive(SCALARS, lambda one: st.lists(one) | st.dictionaries(st.text(), one))


@given(ANYTHING)
@settings(max_examples=25)
def test_whatever_comes_json_takes_it(value):
    """NaN and infinities are not JSON, and become None."""
    json.dumps(plain(value), allow_nan=False)


@given(st.lists(st.floats(allow_nan=False, allow_infinity=False)))
def test_arrays_are_lists_of_the_same_numbers(values):
    """Nothing is rounded on the way."""
    assert plain(np.array(values, dtype=float)) == values


def test_an_estimator_is_shown_by_what_was_set():
    """Defaults are left out, steps are looked into."""
    model = make_pipeline(StandardScaler(), SVC(C=np.float64(2.0), kernel="linear"))
    assert shown(model) == (
        "Pipeline(steps=[('standardscaler', StandardScaler()), "
        "('svc', SVC(C=2.0, kernel='linear'))])"
    )


def test_rows_inside_a_parameter_are_never_shown():
    """A user's own validation set is given as a parameter."""
    X, y = [[31.4159, 27.1828]], ["a"]
    assert shown(FixedValidationSet(X, y)) == "FixedValidationSet(X=<list>, y=<list>)"
    assert "31.4159" not in shown(FixedValidationSet(pd.DataFrame(X), np.array(y)))
    assert shown({"a": np.full((2, 2), 31.4159)}) == "{'a': <ndarray of shape (2, 2)>}"


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
        ("x" * 900, "'" + "x" * 399 + " <and so on>"),
    ],
)
def test_what_has_no_short_code_is_named(value, text):
    """No address of memory, no endless list."""
    assert shown(value) == text
