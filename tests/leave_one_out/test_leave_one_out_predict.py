"""The user function, the registry and the interface of leave-one-out methods."""

import numpy as np
import pytest
from sklearn.base import is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge, RidgeClassifier
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.leave_one_out import (
    LeaveOneOutMethod,
    LOOPredictions,
    _loo_method,
    find_leave_one_out,
    leave_one_out_predict,
    register_leave_one_out,
)
from leavezero.leave_one_out._loo_methods import METHODS


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    codes = np.arange(30) % 3
    X = rng.normal(size=(30, 3)) + codes[:, None]
    return X, np.array(["north", "east", "south"])[codes]


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (LinearRegression(), "predict"),
        (Ridge(0.5), "predict"),
        (KernelRidge(0.5, kernel="rbf"), "predict"),
        (GaussianProcessRegressor(alpha=0.1, optimizer=None), "predict"),
        (KNeighborsRegressor(3), "predict"),
        (RidgeClassifier(), "predict"),
        (RidgeClassifier(), "decision_function"),
        (GaussianNB(), "predict_proba"),
        (LinearDiscriminantAnalysis(), "predict_proba"),
        (KNeighborsClassifier(3), "predict"),
    ],
)
def test_exact_methods_equal_cross_val_predict(data, estimator, method):
    X, labels = data
    y = X @ [1.0, -2.0, 0.5] + X[:, 0] ** 2 if is_regressor(estimator) else labels
    values = leave_one_out_predict(estimator.fit(X, y), X, y, method=method)
    expected = cross_val_predict(estimator, X, y, cv=LeaveOneOut(), method=method)
    assert values.shape == expected.shape
    if values.dtype.kind == "f":
        np.testing.assert_allclose(values, expected, atol=1e-8)
    else:
        np.testing.assert_array_equal(values, expected)


def test_sample_weight_is_that_of_the_fit(data):
    X, _ = data
    y, weights = X[:, 0] ** 2, np.arange(30.0) % 4
    model = Ridge().fit(X, y, sample_weight=weights)
    values = leave_one_out_predict(model, X, y, sample_weight=weights)
    kept = np.arange(30) != 7
    refit = Ridge().fit(X[kept], y[kept], sample_weight=weights[kept])
    assert values[7] == pytest.approx(refit.predict(X[[7]])[0])
    with pytest.raises(ValueError, match="Ridge was not fitted to these rows"):
        leave_one_out_predict(model, X, y)


def test_unsupported_estimators_parameters_and_methods_raise(data):
    X, y = data
    for model, method, message in [
        (DecisionTreeClassifier(), "predict", "with a leave-one-out method, got DecisionTreeC"),
        (RidgeClassifier(positive=True), "predict", "of RidgeClassifier are not available: with"),
        (RidgeClassifier(), "predict_proba", r"method must be one of \['decision_function', 'pre"),
        (KNeighborsClassifier(30), "predict", "of KNeighborsClassifier are not available: "),
    ]:
        with pytest.raises(ValueError, match=message):
            leave_one_out_predict(model.fit(X, y), X, y, method=method)
    with pytest.raises(NotFittedError):
        leave_one_out_predict(Ridge(), X, np.arange(30.0))


def test_unreliable_predictions_warn(data):
    X, y = data
    model = SVC(C=1e-3).fit(X, y)
    with pytest.warns(UserWarning, match="of SVC are unreliable: the SVM has only 0 free"):
        labels = leave_one_out_predict(model, X, y)
    assert len(labels) == 30


@pytest.mark.filterwarnings("ignore:Leave-one-out predictions of RandomForest")
def test_rows_in_every_bootstrap_sample_have_no_prediction(data):
    X, y = data
    forest = RandomForestRegressor(3, random_state=0).fit(X, np.arange(30.0))
    missing = np.isnan(leave_one_out_predict(forest, X, np.arange(30.0)))
    assert 0 < missing.sum() < 30
    forest = RandomForestClassifier(3, random_state=0).fit(X, y)
    assert np.isnan(leave_one_out_predict(forest, X, y, method="predict_proba")).any()
    with pytest.raises(ValueError, match=r"rows have no leave-one-out prediction.* more members"):
        leave_one_out_predict(forest, X, y)


class Repeated(LeaveOneOutMethod):
    """Several predictions of some rows, none of row 1."""

    name = "repeated"
    estimator_types = (DecisionTreeClassifier,)

    def _predict(self, model, X, y, sample_weight):
        predictions = {"predict_proba": np.array([0.0, 1.0, 0.5]), "predict": np.array([4, 5, 6])}
        return LOOPredictions("folds", predictions, rows=np.array([0, 0, 2]))


def test_registered_methods_take_precedence(monkeypatch):
    monkeypatch.setattr(_loo_method, "_REGISTERED", [])
    method = register_leave_one_out(Repeated())
    X, y = np.zeros((3, 1)), np.array([4, 5, 6])
    model = DecisionTreeClassifier().fit(X, y)
    assert find_leave_one_out(model) is method
    scores = leave_one_out_predict(model, X, y, method="predict_proba")
    np.testing.assert_array_equal(scores, [0.0, np.nan, 0.5])
    with pytest.raises(ValueError, match=r"1 of 3 rows have no leave-one-out prediction.* row 1"):
        leave_one_out_predict(model, X, y)
    latest = register_leave_one_out(Repeated())
    assert find_leave_one_out(model) is latest
    assert method.unsupported_reason(model) is None
    assert len(method.predict_many([model, model], X, y)) == 2


def test_every_builtin_method_has_a_name_and_subclasses_are_not_handled():
    names = [method.name for method in METHODS]
    assert len(set(names)) == len(names)

    class Custom(LogisticRegression):
        pass

    assert find_leave_one_out(Custom()) is None
