"""Errors about data and parameters."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import KMeans
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC

from leavezero import (
    FixedValidationSet,
    GridSearchLZO,
    LabelInvariantMixup,
    leave_zero_out_score,
)
from leavezero.exceptions import AllCandidatesFailedError, SmallClassWarning

X = np.random.default_rng(0).normal(size=(60, 3))
y = np.tile([0, 1], 30)
GRID = {"C": [0.1, 1.0]}


# The same errors in all searches


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((X, None), "{} requires y to be passed, but the target y is None"),
        ((X[:0], y[:0]), "{} requires at least 2 samples, got 0 samples"),
        ((X[:1], y[:1]), "{} requires at least 2 samples, got 1 sample"),
        ((X[:, :0], y), r"0 feature\(s\) \(shape=\(60, 0\)\) .* by {}"),
        ((pd.DataFrame(index=range(60)), y), r"0 feature\(s\)"),
        ((X, y[:-1]), r"inconsistent numbers of samples: \[60, 59\]"),
        ((X, np.where(y == 1, np.nan, 0.0)), "Input y contains NaN"),
        ((X, np.zeros(60, dtype=int)), "{} requires at least 2 classes in y, got 1 class: 0"),
        ((X, np.linspace(0, 1, 60)), "Unknown label type: continuous"),
        ((X, sparse.csr_matrix(np.c_[y, y])), "{} requires a dense y"),
    ],
)
def test_invalid_data_raise(make_search, data, message):
    with pytest.raises(ValueError, match=message.format(make_search.owner)):
        make_search(SVC(), GRID).fit(*data)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"augmenter": "mixup"}, 'augmenter of {} must be "auto" or an object'),
        ({"augmenter": FixedValidationSet(X[:0], y[:0])}, "augmenter of {} .* without rows"),
        ({"n_replicates": 0}, "n_replicates of {} must be a positive int, got 0"),
        ({"validation_size": -1.0}, 'validation_size of {} must be "auto", a positive int'),
        ({"loo": "maybe"}, 'loo of {} must be "auto", False or "only", got \'maybe\''),
        ({"scoring": "speed"}, "scoring of {} must be the name of a scorer .* got 'speed'"),
        ({"scoring": []}, "scoring of {} as a list must contain unique names"),
        ({"scoring": {}}, "scoring of {} as a dict must map names to scorers"),
        ({"refit": 3}, "refit of {} must be True, False, a str or a callable, got 3"),
        ({"select": "worst"}, 'select of {} must be "best", "one_se", "vote"'),
        (
            {"cv_finalists": None},
            'cv_finalists of {} must be "auto", "all" or an int',
        ),
        ({"error_score": "ignore"}, 'error_score of {} must be a number or "raise"'),
        ({"verbose": None}, "verbose of {} must be an int, got None"),
        ({"n_jobs": 0}, "n_jobs of {} must be None or an int other than 0, got 0"),
        ({"random_state": "seed"}, "random_state must be"),
        ({"timeout": 0}, "timeout of {} must be None or a positive number of seconds, got 0"),
        ({"time_budget": "1h"}, "time_budget of {} must be None or a positive number"),
        ({"memory_limit": "much"}, "memory_limit of {} must be None, a positive number of bytes"),
        ({"checkpoint": 3}, "checkpoint of {} must be None, a path or a Checkpoint, got 3"),
        ({"checkpoint": "a\0b"}, "checkpoint of {} must be None, a path or a Checkpoint, got 'a"),
    ],
)
def test_invalid_parameters_raise(make_search, params, message):
    with pytest.raises(ValueError, match=message.format(make_search.owner)):
        make_search(SVC(), GRID, **params).fit(X, y)


@pytest.mark.parametrize("name", ["X", "y"])
def test_lazy_frames_raise(make_search, name):
    pl = pytest.importorskip("polars", reason="not a dependency")
    data = {"X": X, "y": y} | {name: pl.DataFrame({"a": y}).lazy()}
    message = rf"{name} passed to {make_search.owner} is a lazy LazyFrame. Pass {name}\.collect\(\)"
    with pytest.raises(TypeError, match=message):
        make_search(SVC(), GRID).fit(**data)


def test_invalid_estimators_raise(make_search):
    with pytest.raises((TypeError, ValueError), match="no estimator"):
        make_search("no estimator", GRID).fit(X, y)
    with pytest.raises(ValueError, match=rf"{make_search.owner} cannot set .*depth"):
        make_search(SVC(), {"depth": [1, 2]}).fit(X, y)
    with pytest.raises(TypeError, match=f"estimator of {make_search.owner} must have .* no score"):
        make_search(StandardScaler(), {"with_mean": [True]}).fit(X, y)


# More values of parameters, of one search


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("n_replicates", [-1, 1.0, None, True, "auto"]),
        ("validation_size", [0, np.inf, "all", None, False]),
        ("augmenter", [None, 3]),
        ("error_score", ["nan", None]),
        ("n_jobs", ["2", 1.5, True]),
        ("timeout", [-1, np.nan, np.inf, "1", True]),
        ("memory_limit", [0, -5, "2XB", 1.5]),
    ],
)
def test_invalid_values_raise(grid_search, name, values):
    for value in values:
        with pytest.raises(ValueError, match=f"{name}( of GridSearchLZO)? must be"):
            grid_search(SVC(), GRID, **{name: value}).fit(X, y)


def test_checks_of_augmenters_and_functions():
    with pytest.raises(ValueError, match=r"alpha of LabelInvariantMixup .* got 0"):
        GridSearchLZO(SVC(), GRID, augmenter=LabelInvariantMixup(alpha=0)).fit(X, y)
    with pytest.raises(ValueError, match="n_replicates of GridSearchLZO"):
        leave_zero_out_score(LogisticRegression(), X, y, n_replicates=0)
    with pytest.raises(ValueError, match="requires y"):
        GridSearchLZO(SVC(), {}).fit(X)
    with pytest.raises(ValueError, match="requires y"):
        GridSearchLZO(KMeans(), {}, loo="only").fit(X)


# Special data


def test_missing_and_infinite_values():
    with_nan, with_infinity = X.copy(), X.copy()
    with_nan[0, 0], with_infinity[0, 0] = np.nan, np.inf
    with pytest.raises(ValueError, match=r"(?s)X passed to Grid.*does not accept missing values"):
        GridSearchLZO(SVC(), GRID).fit(with_nan, y)
    with pytest.raises(ValueError, match="infinit"):
        GridSearchLZO(RandomForestClassifier(), {}).fit(with_infinity, y)


def test_class_with_a_single_row_warns():
    """Once, although each part of the augmenter would."""
    with pytest.warns(SmallClassWarning, match="Class 1") as caught:
        search = GridSearchLZO(SVC(), GRID).fit(X[:6], [0, 0, 0, 0, 0, 1])
    assert [one.category for one in caught] == [SmallClassWarning]
    assert caught[0].filename == __file__
    assert search.n_fits_ == 2


def test_integer_target_of_a_regressor_is_not_stratified():
    """A value that occurs once causes no warning."""
    counts = np.arange(60) % 6 + np.where(np.arange(60) == 0, 6, 0)
    search = GridSearchLZO(Ridge(), {"alpha": [0.1, 1.0]}, cv_finalists=2, random_state=0)
    assert search.fit(X, counts).diagnose()["LZ08"].level == "not applicable"


@pytest.mark.parametrize("wrap", [lambda model: model, make_pipeline])
def test_minus_one_marks_unlabeled_rows_of_semi_supervised_estimators_only(wrap):
    marked = np.where(np.arange(60) % 3 == 0, -1, y)
    params = {"augmenter": LabelInvariantMixup(), "n_replicates": 2, "random_state": 0}
    search = GridSearchLZO(wrap(LabelSpreading()), {}, **params).fit(X, marked)
    assert search.classes_.tolist() == [0, 1]
    assert GridSearchLZO(SVC(), {}, **params).fit(X, marked).classes_.tolist() == [-1, 0, 1]


@pytest.mark.parametrize("last", [LogisticRegression(), SVC()], ids=repr)
def test_validation_rows_that_candidates_cannot_predict(last):
    """The error recommends an augmenter that stays within the range of the data."""
    lowest = X.min(axis=0)
    pipeline = make_pipeline(FunctionTransformer(lambda X: np.sqrt(X - lowest)), last)
    search = GridSearchLZO(pipeline, {f"{pipeline.steps[-1][0]}__C": [0.1, 1.0, 10.0, 100.0]})
    message = r"augmenter=LabelInvariantMixup\(\)(.|\n)*contains NaN"
    with (
        np.errstate(invalid="ignore"),
        pytest.raises(AllCandidatesFailedError, match=message),
    ):
        search.fit(X, X[:, 0] > 0)


# Attributes of an earlier fit


def test_failed_fit_removes_the_attributes_of_an_earlier_one(iris):
    search = GridSearchLZO(SVC(), GRID, random_state=0)
    with pytest.raises(NotFittedError):
        search.predict(X)
    search.fit(*iris)
    search.note = "kept"
    search.set_params(param_grid={"C": [-1.0]})
    with pytest.raises(AllCandidatesFailedError):
        search.fit(X, y)
    removed = ("best_params_", "best_estimator_", "cv_results_", "selection_", "_state")
    assert not any(hasattr(search, name) for name in removed)
    assert search.note == "kept"
    for call in (search.diagnose, lambda: search.predict(X)):
        with pytest.raises(NotFittedError):
            call()
