"""Ensembles that differ in size equal plain fits."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.joint_fit import find_joint_fit

ENSEMBLES = [
    GradientBoostingClassifier(max_depth=2),
    GradientBoostingClassifier(loss="exponential", subsample=0.6, max_features=2),
    GradientBoostingClassifier(n_iter_no_change=2, validation_fraction=0.3),
    GradientBoostingRegressor(loss="huber", subsample=0.6),
    GradientBoostingRegressor(init="zero"),
    AdaBoostClassifier(),
    AdaBoostClassifier(DecisionTreeClassifier()),  # ends after the first member
    AdaBoostRegressor(),
    BaggingClassifier(max_samples=0.7, max_features=0.6),
    BaggingClassifier(SVC(), max_samples=0.5),  # members without probabilities
    BaggingClassifier(max_samples=5, bootstrap_features=True),  # members lack classes
    BaggingRegressor(Ridge()),
    RandomForestClassifier(class_weight="balanced_subsample"),
    RandomForestRegressor(max_samples=0.7),
    ExtraTreesClassifier(),
    ExtraTreesRegressor(bootstrap=True),
    HistGradientBoostingClassifier(min_samples_leaf=4, max_features=0.5),
    HistGradientBoostingClassifier(
        min_samples_leaf=4, early_stopping=True, n_iter_no_change=1, validation_fraction=0.3
    ),
    HistGradientBoostingRegressor(min_samples_leaf=4, loss="absolute_error"),
    HistGradientBoostingRegressor(
        min_samples_leaf=4, early_stopping=True, n_iter_no_change=2, scoring="r2"
    ),
]


def make_data(model, n_classes, seed, n_rows=40):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    if is_classifier(model):
        if getattr(model, "loss", None) == "exponential":
            n_classes = 2
        return X, np.array(["a", "b", "c"])[np.arange(n_rows) % n_classes], rng
    return X, X[:, 0] + rng.normal(size=n_rows), rng


def with_sizes(model, sizes, seed=0):
    name = "max_iter" if "max_iter" in model.get_params() else "n_estimators"
    return [clone(model).set_params(**{name: size, "random_state": seed}) for size in sizes]


@pytest.mark.parametrize("model", ENSEMBLES, ids=lambda model: type(model).__name__)
@settings(
    max_examples=3, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=4),
    n_classes=st.sampled_from([2, 3]),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_equals_plain_fits(model, sizes, n_classes, weighted, seed, equals_plain_fits):
    """Models of any size, with early stopping and weights, predict as plain fits bit for bit."""
    X, y, rng = make_data(model, n_classes, seed)
    weights = rng.integers(1, 4, size=len(y)).astype(float) if weighted else None
    estimators = with_sizes(model, sizes, seed)
    _, fitted, predictions = equals_plain_fits(estimators, X, y, rng.normal(size=(30, 4)), weights)
    without_joint_predictions = (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        AdaBoostRegressor,
    )
    assert ("predict" in predictions[0]) is not isinstance(model, without_joint_predictions)
    for estimator, fitted_model in zip(estimators, fitted.models, strict=True):
        plain = estimator.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
        for name in ("train_score_", "oob_improvement_", "oob_score_", "estimator_weights_"):
            if hasattr(fitted_model, name) and not isinstance(
                fitted_model, HistGradientBoostingClassifier | HistGradientBoostingRegressor
            ):
                np.testing.assert_array_equal(getattr(fitted_model, name), getattr(plain, name))
        for name in ("n_estimators_", "n_iter_"):
            if hasattr(plain, name):
                assert getattr(fitted_model, name) == getattr(plain, name)


@pytest.mark.parametrize(
    "model", [RandomForestClassifier(), BaggingClassifier(), BaggingRegressor(max_samples=0.5)]
)
def test_drawn_rows(model):
    """Out-of-bag predictions need the rows that each member drew: those of a plain fit."""
    X, y, _ = make_data(model, 2, 0)
    estimators = with_sizes(model, [2, 5])
    find_joint_fit(estimators[0])[0].fit(estimators, X, y)
    for estimator in estimators:
        plain = clone(estimator).fit(X, y)
        np.testing.assert_array_equal(estimator.estimators_samples_, plain.estimators_samples_)


@pytest.mark.parametrize("model", ENSEMBLES[:16], ids=lambda model: type(model).__name__)
def test_models_are_independent(model):
    """Another fit of one model leaves the others as they are."""
    X, y, _ = make_data(model, 2, 0)
    few, many = with_sizes(model, [2, 5])
    find_joint_fit(few)[0].fit([few, many], X, y)
    expected = few.predict(X)
    many.fit(X[:20], y[:20])
    np.testing.assert_array_equal(few.predict(X), expected)


def test_several_targets(equals_plain_fits):
    """Forests with several targets are fitted jointly and predict one by one."""
    X, y, _ = make_data(Ridge(), 2, 0)
    estimators = with_sizes(RandomForestRegressor(), [2, 4])
    _, _, predictions = equals_plain_fits(estimators, X, np.column_stack([y, -y]), X)
    assert predictions == [{}, {}]


@pytest.mark.parametrize("early_stopping", [False, "auto"])
def test_provisional_models(early_stopping):
    """All histogram boosting models are provisional that end before the largest one does."""
    n_rows = 10_001 if early_stopping else 100  # from there on, "auto" stops early
    X, _, rng = make_data(Ridge(), 2, 0, n_rows)
    model = HistGradientBoostingRegressor(
        max_leaf_nodes=3, n_iter_no_change=1, early_stopping=early_stopping
    )
    estimators = with_sizes(model, [1, 30, 2, 60, 60])
    fitted = find_joint_fit(estimators[0])[0].fit(estimators, X, rng.normal(size=n_rows))
    n_iter = fitted.models[3].n_iter_
    assert (n_iter < 30) is bool(early_stopping)
    assert fitted.provisional == tuple(one.max_iter < n_iter for one in estimators)
    assert [type(one) is type(model) for one in fitted.models] == [
        not provisional for provisional in fitted.provisional
    ]


def test_provisional_classifier():
    """A provisional model is a classifier for scikit-learn, with classes."""
    X, y, _ = make_data(SVC(), 2, 0)
    estimators = with_sizes(HistGradientBoostingClassifier(), [1, 4])
    model = find_joint_fit(estimators[0])[0].fit(estimators, X, y).models[0]
    assert is_classifier(model)
    assert model.classes_.tolist() == ["a", "b"]
    assert model.n_features_in_ == 4
    with pytest.raises(NotImplementedError, match="only predicts"):
        model.fit(X, y)
