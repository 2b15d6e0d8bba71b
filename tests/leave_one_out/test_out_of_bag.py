"""Out-of-bag predictions of ensembles."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.leave_one_out._out_of_bag import OutOfBagMethod

METHOD = OutOfBagMethod()


@pytest.fixture(scope="module")
def classification():
    X, codes = make_classification(150, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0)
    return X, np.array(["a", "b", "c"])[codes]


@pytest.fixture(scope="module")
def regression():
    return make_friedman1(150, noise=1.0, random_state=0)


def plain_means(model, X, n_outputs):
    """Return out-of-bag means, and the number of members per row."""
    total, counts = np.zeros((len(X), n_outputs)), np.zeros(len(X))
    for member, sampled in zip(model.estimators_, model.estimators_samples_, strict=True):
        rest = np.setdiff1d(np.arange(len(X)), sampled)
        predict = member.predict_proba if n_outputs > 1 else member.predict
        total[rest] += predict(X[rest]).reshape(len(rest), -1)
        counts[rest] += 1
    return total / np.maximum(counts, 1)[:, None], counts


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_probabilities_are_means_of_members_not_fitted_to_the_row(classification, forest):
    """They equal scikit-learn's."""
    X, y = classification
    model = forest(50, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    loo = METHOD.predict(model, X, y)
    assert loo.method == "out-of-bag"
    np.testing.assert_allclose(loo.predictions["predict_proba"], model.oob_decision_function_)
    labels = model.classes_[model.oob_decision_function_.argmax(axis=1)]
    np.testing.assert_array_equal(loo.predictions["predict"], labels)
    assert loo.predictions["predict"].dtype == model.predict(X).dtype


@pytest.mark.parametrize("forest", [RandomForestRegressor, ExtraTreesRegressor])
def test_values_are_means_of_members_not_fitted_to_the_row(regression, forest):
    X, y = regression
    model = forest(50, bootstrap=True, oob_score=True, random_state=0).fit(X, y)
    predictions = METHOD.predict(model, X, y).predictions["predict"]
    np.testing.assert_allclose(predictions, model.oob_prediction_)


def test_rows_in_every_bag_have_no_prediction(classification):
    X, y = classification
    model = RandomForestClassifier(4, random_state=0).fit(X, y)
    loo = METHOD.predict(model, X, y)
    _, counts = plain_means(model, X, 3)
    np.testing.assert_array_equal(loo.has_prediction, counts > 0)
    assert loo.unreliable == f"only {counts.mean():.1f} members per row were fitted without it"


@pytest.mark.parametrize(
    "estimator",
    [
        BaggingClassifier(GaussianNB(), 30, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), 30, max_features=0.5, random_state=0),
        BaggingClassifier(LinearSVC(dual=False), 20, random_state=0),
        BaggingClassifier(GaussianNB(), 30, bootstrap=False, max_samples=0.5, random_state=0),
    ],
)
def test_bagging_of_classifiers(classification, estimator):
    """Frames, subsets of columns, and members without probabilities."""
    X, y = classification
    model = estimator.fit(pd.DataFrame(X), y)
    predictions = METHOD.predict(model, pd.DataFrame(X), y).predictions
    scores = []
    for member, sampled, columns in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        rest = np.setdiff1d(np.arange(len(y)), sampled)
        labels = model.classes_[member.predict(X[rest][:, columns]).astype(int)]
        scores.append(np.mean(labels == y[rest]))
    assert np.mean(predictions["predict"] == y) == pytest.approx(np.mean(scores), abs=0.15)
    assert predictions["predict_proba"].shape == (len(y), 3)


def test_bagging_of_regressors_and_forests_with_weights(regression):
    X, y = regression
    model = BaggingRegressor(Ridge(), 30, random_state=0).fit(X, y)
    predictions = METHOD.predict(model, X, y).predictions["predict"]
    assert r2_score(y, predictions) == pytest.approx(0.72, abs=0.08)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    weights[:5] = 0.0
    forest = RandomForestRegressor(30, random_state=0).fit(X, y, sample_weight=weights)
    assert METHOD.predict(forest, X, y, weights).unreliable is None


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("max_samples", [None, 0.5, 1.0, 40])
@pytest.mark.parametrize("class_weight", [None, {"a": 3.0, "b": 1.0, "c": 1.0}])
def test_any_sample_size(classification, weighted, max_samples, class_weight):
    """Forests may sample more rows than there are, as many as the sum of the weights."""
    X, y = classification
    weights = np.linspace(0.5, 2.0, len(y)) if weighted else None
    model = RandomForestClassifier(
        20, max_samples=max_samples, class_weight=class_weight, random_state=0
    ).fit(X, y, sample_weight=weights)
    assert METHOD.predict(model, X, y, weights).unreliable is None


def test_forests_with_trees_added_later(classification):
    X, y = classification
    model = RandomForestClassifier(2, warm_start=True, random_state=0).fit(X, y)
    model.set_params(n_estimators=12).fit(X, y)
    loo = METHOD.predict(model, X, y)
    means, _ = plain_means(model, X, 3)
    np.testing.assert_allclose(loo.predictions["predict_proba"], means)


def test_ensembles_fitted_to_all_rows_are_unsupported():
    assert METHOD.unsupported_reason(RandomForestClassifier()) is None
    reason = METHOD.unsupported_reason(ExtraTreesClassifier())
    assert reason == "without bootstrap every tree is fitted to all rows"
    reason = METHOD.unsupported_reason(BaggingClassifier(bootstrap=False))
    assert reason == "without bootstrap and max_samples every member is fitted to all rows"


def test_rejects_other_rows(classification, regression):
    X, y = classification
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    for data, message in [
        ((X[:-1], y[:-1]), "each member sampled 150 rows, X has 149"),
        ((X[::-1], y), "the leaves of its first tree contain other rows"),
        ((X[:, :5], y), "X has 5 columns, the model 6"),
        ((X, np.where(y == "a", "d", y)), "class 'd' is not in its classes_"),
    ]:
        with pytest.raises(ValueError, match=message):
            METHOD.predict(model, *data)
    bagging = BaggingRegressor(Ridge(), 5, max_samples=20, random_state=0).fit(*regression)
    with pytest.raises(ValueError, match="its members sampled rows beyond the 10 of X"):
        METHOD.predict(bagging, regression[0][:10], regression[1][:10])
    model = RandomForestRegressor(5).fit(X, X[:, :2])
    with pytest.raises(ValueError, match=r"for one target, got y of shape \(150, 2\)"):
        METHOD.predict(model, X, X[:, :2])
