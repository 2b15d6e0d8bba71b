"""Leave-one-out of constant predictions equals refits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier, DummyRegressor

from leavezero.leave_one_out import find_leave_one_out

CLASSIFIERS = [DummyClassifier(strategy=name) for name in ("most_frequent", "prior")]


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(4, 15), weighted=st.booleans())
def test_classifiers_equal_refits(check_exact, class_data, estimator, seed, n_rows, weighted):
    X, y = class_data(seed, n_rows)
    weights = np.random.default_rng(seed).integers(1, 4, n_rows) * 1.0 if weighted else None
    # DummyClassifier's predictions have the string type of the classes that occur in them
    rows, _ = check_exact(estimator, X, np.unique(y, return_inverse=True)[1], weights)
    assert rows.all()


@settings(max_examples=10)
@given(seed=st.integers(0, 10_000), n_rows=st.integers(2, 9), weighted=st.booleans())
def test_means_equal_refits(check_exact, regression_data, random_weights, seed, n_rows, weighted):
    X, y = regression_data(seed, n_rows)
    check_exact(DummyRegressor(), X, y, random_weights(seed, n_rows) + 0.7 if weighted else None)


@pytest.mark.parametrize("estimator", CLASSIFIERS)
def test_one_class_remains_without_the_only_row_of_another(check_exact, estimator):
    rows, exists = check_exact(estimator, np.zeros((5, 1)), np.array([0, 1, 0, 0, 0]))
    assert rows.all()
    assert exists.all()


def test_features_may_be_strings():
    X, y = pd.DataFrame({"color": ["red", "blue", None, "red"]}), np.array([0, 1, 1, 1])
    model = DummyClassifier().fit(X, y)
    predictions = find_leave_one_out(model).predict(model, X, y).predictions
    np.testing.assert_allclose(predictions["predict_proba"][:, 1], [1, 2 / 3, 2 / 3, 2 / 3])


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, DummyRegressor()])
def test_no_row_has_a_prediction_if_no_weight_remains(estimator):
    X, y = np.zeros((1, 1)), np.array([1])
    loo = find_leave_one_out(estimator).predict(estimator.fit(X, y), X, y)
    assert not loo.has_prediction.any()
    assert loo.unreliable is not None


@pytest.mark.parametrize("estimator", [*CLASSIFIERS, DummyRegressor()])
def test_rejects_other_targets(estimator):
    X, y = np.zeros((9, 1)), np.array([0, 0, 0, 1, 1, 1, 2, 3, 3])
    model = estimator.fit(X, y)
    method = find_leave_one_out(model)
    for other in (y[::-1] % 3, y[:5]):
        with pytest.raises(ValueError, match="was not fitted to these rows"):
            method.predict(model, X, other)
    with pytest.raises(ValueError, match=r"for one target, got y of shape \(9, 2\)"):
        method.predict(model, X, np.stack([y, y], axis=1))


@pytest.mark.parametrize(
    "estimator",
    [
        DummyClassifier(strategy="stratified"),
        DummyClassifier(strategy="uniform"),
        DummyRegressor(strategy="median"),
        DummyRegressor(strategy="constant", constant=1.0),
    ],
)
def test_other_strategies_are_unsupported(estimator):
    reason = find_leave_one_out(estimator).unsupported_reason(estimator)
    assert f"got {estimator.strategy!r}" in reason
