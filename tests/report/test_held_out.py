"""Held-out predictions of a model, and the importance of columns."""

import time

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.inspection import permutation_importance
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import check_scoring, confusion_matrix, get_scorer, roc_auc_score
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold, cross_val_predict
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.report import baseline_score, describe_predictions
from leavezero.report._held_out import MAX_COLUMNS

RNG = np.random.default_rng(0)


def labeled(n_rows=90, n_classes=2):
    y = np.arange(n_rows) % n_classes
    X = RNG.normal(size=(n_rows, 3))
    X[:, 0] += 2 * y
    return pd.DataFrame(X, columns=["signal", "noise", "more"]), np.array(["u", "v", "w"])[y]


def describe(model, X, y, scoring="accuracy", **options):
    classes = None if y.dtype.kind == "f" else np.unique(y)
    splitter = KFold(5) if classes is None else StratifiedKFold(5)
    folds = list(splitter.split(X, y))
    scorer = check_scoring(model, scoring)
    fitted = model.fit(X, y)
    return describe_predictions(
        fitted, X, y, folds=folds, scorer=scorer, classes=classes, **options
    )


@pytest.mark.parametrize(
    ("model", "use_loo", "cv"),
    [
        (KNeighborsClassifier(), True, LeaveOneOut()),
        (KNeighborsClassifier(), False, StratifiedKFold(5)),
        (HistGradientBoostingClassifier(max_iter=5), True, StratifiedKFold(5)),
    ],
    ids=["leave-one-out", "folds on request", "folds without LOO method"],
)
def test_no_row_is_predicted_by_a_model_that_was_fitted_to_it(model, use_loo, cv):
    """The counts are those of cross_val_predict."""
    X, y = labeled()
    found = describe(model, X, y, use_loo=use_loo)
    expected = confusion_matrix(y, cross_val_predict(model, X, y, cv=cv))
    np.testing.assert_array_equal(found["confusion"]["counts"], expected)
    assert ("5 folds" in found["source"]) == (not isinstance(cv, LeaveOneOut))


def test_curve_and_reliability_match_their_definitions():
    X, y = labeled(300)
    found = describe(LogisticRegression(), X, y, use_loo=False)
    scores = cross_val_predict(
        LogisticRegression(), X, y, cv=StratifiedKFold(5), method="predict_proba"
    )
    (line,) = found["curves"]["lines"]
    assert line["area"] == pytest.approx(roc_auc_score(y == line["label"], scores[:, 1]))
    reliability = found["reliability"]
    assert sum(reliability["counts"]) == 300
    right = np.average(reliability["observed"], weights=reliability["counts"])
    assert right == pytest.approx(
        np.mean(np.array(["u", "v"])[scores.argmax(axis=1)] == y), abs=1e-3
    )
    assert np.all(reliability["low"] <= reliability["observed"] + 1e-9)
    assert np.all(reliability["high"] >= reliability["observed"] - 1e-9)


def test_a_rare_class_has_a_precision_recall_curve():
    X, y = labeled(200)
    y[:186] = "u"
    found = describe(LogisticRegression(), X, y)["curves"]
    assert found["kind"] == "precision-recall"
    assert found["lines"][0]["label"] == "v"
    assert found["share"] == np.mean(y == "v")


@pytest.mark.parametrize("model", [SVC(), LinearSVC()])
def test_decision_values_give_curves_but_no_reliability(model):
    found = describe(model, *labeled(n_classes=3))
    assert len(found["curves"]["lines"]) == 3
    assert found["reliability"] is None


def test_regression_counts_every_row_and_no_single_value():
    X, _ = labeled()
    y = X["signal"].to_numpy() * 3 + RNG.normal(size=90) + np.pi
    found = describe(Ridge(), X, y, "r2")
    for cells in (found["observed"], found["residuals"]):
        assert sum(cells["counts"]) == 90
        assert not np.isin(cells["x"], y).any()
    errors = np.abs(y - cross_val_predict(Ridge(), X, y, cv=LeaveOneOut()))
    assert found["mean_absolute_error"] == pytest.approx(errors.mean())


def test_the_baseline_of_classes_of_equal_size_is_their_share():
    """The leave-one-out accuracy of the majority is 0: without a row, the other class is larger."""
    y = np.array(["a", "b"] * 20)
    assert baseline_score(y, get_scorer("accuracy"), is_regression=False) == 0.5
    assert baseline_score(np.arange(5.0), get_scorer("r2"), is_regression=True) == 0


def test_important_columns_come_first_with_intervals_and_the_baseline_ignores_all():
    X, y = labeled(200)
    found = describe(LogisticRegression(), X, y)
    first, *others = found["importances"]
    assert first["label"] == "signal"
    assert first["low"] > 0.05
    assert all(one["low"] < 0.02 for one in others)
    assert found["baseline"] == pytest.approx(0.5, abs=0.01)
    assert found["n_fits"] == 5


@pytest.mark.parametrize(
    ("model", "scoring"),
    [
        (LogisticRegression(), "neg_log_loss"),
        (SVC(), "roc_auc"),
        (LinearSVC(), "f1_macro"),
        (LogisticRegression(), None),
    ],
)
def test_importances_agree_with_those_of_scikit_learn(model, scoring):
    X, y = labeled(300)
    found = {one["label"]: one["score"] for one in describe(model, X, y, scoring)["importances"]}
    expected = [
        permutation_importance(
            clone(model).fit(X.iloc[train], y[train]),
            X.iloc[test],
            y[test],
            scoring=scoring,
            n_repeats=20,
            random_state=0,
        ).importances_mean
        for train, test in StratifiedKFold(5).split(X, y)
    ]
    for name, value in zip(X.columns, np.mean(expected, axis=0), strict=True):
        assert found[name] == pytest.approx(value, abs=0.03 + 0.1 * abs(value))


def test_columns_of_every_type_are_permuted():
    """Times and categories stay what they are."""
    X, y = labeled(60)
    X = X.assign(day=pd.date_range("2024-01-01", periods=60), kind=pd.Categorical(y))
    encoder = make_column_transformer(
        (OneHotEncoder(), make_column_selector(dtype_include="category")),
        (FunctionTransformer(lambda t: t.apply(lambda c: c.dt.day)), ["day"]),
    )
    found = describe(make_pipeline(encoder, DecisionTreeClassifier(random_state=0)), X, y)
    assert found["importances"][0]["label"] == "kind"


def test_many_columns_are_permuted_on_few_rows_or_not_at_all():
    X, y = labeled(60)
    for n_columns, n_shown in ((200, MAX_COLUMNS), (400, 0)):
        wide = np.hstack([X.to_numpy(), RNG.normal(size=(60, n_columns - 3))])
        found = describe(KNeighborsClassifier(), wide, y)["importances"]
        assert len(found or ()) == n_shown


def test_folds_that_fail_leave_the_part_out():
    """A class with one row is in no training part of one fold."""
    X, y = labeled(40)
    y[:] = "u"
    y[0] = "v"
    folds = list(KFold(2).split(X))
    options = {"folds": folds, "scorer": get_scorer("accuracy"), "classes": np.unique(y)}
    assert describe_predictions(LogisticRegression().fit(X, y), X, y, **options) is None


@pytest.mark.parametrize(("seconds", "n_folds"), [(0, 1), (-5, 1), (1e6, 5)])
def test_folds_that_there_is_no_time_for_are_left_out(seconds, n_folds):
    X, y = labeled()
    found = describe(LogisticRegression(), X, y, use_loo=False, seconds=seconds)
    assert found["n_fits"] == n_folds
    assert np.sum(found["confusion"]["counts"]) == 18 * n_folds
    assert found["importances"][0]["label"] == "signal"
    assert np.isnan(found["importances"][0]["low"]) == (n_folds == 1)


def test_nothing_is_fitted_if_one_fit_to_few_rows_takes_longer_than_there_is_time():
    X, y = labeled(1_500)
    options = {"use_loo": False, "fit_seconds": 30.0}  # about 20 for the fewest rows
    assert describe(DecisionTreeClassifier(), X, y, seconds=10, **options) is None
    assert describe(DecisionTreeClassifier(), X, y, seconds=25, **options)["n_fits"] == 5


def test_permuted_rows_take_no_longer_than_there_is_time():
    """Their number follows from the time that predictions for the test rows take."""
    sizes = []

    class Slow(LogisticRegression):
        def predict_proba(self, X):
            sizes.append(len(X))
            time.sleep(0.2)
            return super().predict_proba(X)

    X, y = labeled(1_500)
    found = describe(Slow(), X, y, scoring="neg_log_loss", use_loo=False, seconds=0)
    assert found["importances"][0]["label"] == "signal"
    assert sizes[0] == 300
    assert 200 <= sizes[1] <= 1_500  # of 3,000


def test_of_many_classes_those_with_errors_are_shown():
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(14), [30] * 12 + [10] * 2)
    X = y[:, None] + 0.01 * rng.normal(size=(len(y), 1))
    X[y >= 12] = 12.5 + rng.normal(size=(20, 1)) / 10  # only the two small classes are confused
    found = describe(KNeighborsClassifier(), pd.DataFrame(X, columns=["x"]), y)["confusion"]
    assert found["n_classes"] == 14
    assert found["labels"] == ["0", "1", "2", "3", "4", "5", "6", "7", "12", "13"]
