"""Leave-one-out of pipelines and voting ensembles uses that of their parts."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSSVD, PLSRegression
from sklearn.datasets import make_classification
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import RandomForestClassifier, VotingClassifier, VotingRegressor
from sklearn.feature_selection import SelectFromModel, SelectKBest, VarianceThreshold
from sklearn.linear_model import Lasso, Ridge, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, Normalizer, StandardScaler, TargetEncoder

from leavezero.leave_one_out import find_leave_one_out


@pytest.fixture(scope="module")
def data():
    X, codes = make_classification(60, 5, n_redundant=0, flip_y=0.1, random_state=0)
    return X, np.where(codes > 0, "yes", "no")


def fit_predict(estimator, X, y):
    model = clone(estimator).fit(X, y)
    return model, find_leave_one_out(model).predict(model, X, y)


def test_pipeline_predicts_as_its_last_step_on_transformed_rows(data):
    X, y = data
    _, loo = fit_predict(make_pipeline(StandardScaler(), GaussianNB()), X, y)
    _, last = fit_predict(GaussianNB(), StandardScaler().fit_transform(X), y)
    np.testing.assert_allclose(loo.predictions["predict_proba"], last.predictions["predict_proba"])


def test_scaler_fitted_to_all_rows_changes_little(data):
    X, y = data
    pipeline = make_pipeline(StandardScaler(), LinearDiscriminantAnalysis())
    _, loo = fit_predict(pipeline, pd.DataFrame(X), y)
    refits = [
        clone(pipeline).fit(np.delete(X, row, 0), np.delete(y, row)).predict_proba(X[[row]])[0]
        for row in range(len(y))
    ]
    np.testing.assert_allclose(loo.predictions["predict_proba"], refits, atol=0.03)


@pytest.mark.parametrize(
    ("steps", "last", "method"),
    [
        ([Normalizer(), FunctionTransformer()], GaussianNB(), "exact"),
        (["passthrough"], GaussianNB(), "exact"),
        ([], GaussianNB(), "exact"),
        ([FeatureUnion([("a", Normalizer()), ("b", "passthrough")])], GaussianNB(), "exact"),
        ([StandardScaler()], GaussianNB(), "approximate"),
        ([PCA(2), VarianceThreshold()], GaussianNB(), "approximate"),
        ([make_pipeline(Normalizer(), StandardScaler())], GaussianNB(), "approximate"),
        (
            [ColumnTransformer([("a", StandardScaler(), [0]), ("b", "drop", [1])])],
            GaussianNB(),
            "approximate",
        ),
        ([StandardScaler()], RandomForestClassifier(20, random_state=0), "out-of-bag"),
    ],
)
def test_only_stateless_steps_keep_predictions_exact(data, steps, last, method):
    assert fit_predict(make_pipeline(*steps, last), *data)[1].method == method


@pytest.mark.parametrize(
    ("step", "name"),
    [
        (SelectKBest(k=2), "SelectKBest"),
        (SelectFromModel(Lasso()), "SelectFromModel"),
        (TargetEncoder(), "TargetEncoder"),
        (PLSRegression(), "PLSRegression"),
        (PLSSVD(), "PLSSVD"),
        (LinearDiscriminantAnalysis(), "LinearDiscriminantAnalysis"),
        (ColumnTransformer([("a", make_pipeline(TargetEncoder()), [0])]), "TargetEncoder"),
        (FeatureUnion([("a", SelectKBest())]), "SelectKBest"),
    ],
)
def test_steps_that_use_the_target_are_unsupported(data, step, name):
    pipeline = Pipeline([("first", step), ("last", GaussianNB())])
    reason = find_leave_one_out(pipeline).unsupported_reason(pipeline)
    assert reason == f"the step 'first' ({name}) is fitted to the target of all rows"


def test_unsupported_parts():
    for estimator, reason in [
        (
            make_pipeline(StandardScaler(), SGDClassifier()),
            "the last step 'sgdclassifier' (SGDClassifier) has no leave-one-out method",
        ),
        (
            make_pipeline(StandardScaler(), "passthrough"),
            "the last step 'passthrough' (passthrough) has no leave-one-out method",
        ),
        (
            VotingClassifier([("rf", RandomForestClassifier(bootstrap=False)), ("sgd", "drop")]),
            "of the member 'rf': without bootstrap every tree is fitted to all rows",
        ),
        (
            VotingClassifier([("rf", "drop"), ("sgd", SGDClassifier())]),
            "the member 'sgd' (SGDClassifier) has no leave-one-out method",
        ),
    ]:
        assert find_leave_one_out(estimator).unsupported_reason(estimator) == reason


class CountingScaler(StandardScaler):
    """Scaler that counts its calls to transform."""

    n_calls = 0

    def transform(self, X):
        self.n_calls += 1
        return super().transform(X)


def test_many_pipelines_transform_once_per_shared_steps(data):
    X, y = data
    scaler, other = CountingScaler().fit(X), CountingScaler().fit(X)
    rows = scaler.transform(X)
    lasts = [KNeighborsClassifier(k).fit(rows, y) for k in (1, 3)] + [GaussianNB().fit(rows, y)]
    models = [Pipeline([("scale", scaler), ("last", last)]) for last in lasts[:2]]
    models += [Pipeline([("scale", other), ("last", last)]) for last in lasts]
    scaler.n_calls = other.n_calls = 0
    method = find_leave_one_out(models[0])
    results = method.predict_many(models, X, y)
    assert scaler.n_calls == 1
    assert other.n_calls == 2  # one per method of the last steps
    for model, result in zip(models, results, strict=True):
        single = method.predict(model, X, y)
        assert result.method == single.method
        for name, values in single.predictions.items():
            np.testing.assert_array_equal(result.predictions[name], values)


def test_soft_votes_are_weighted_means_of_probabilities(data):
    X, y = data
    members = [
        ("nb", GaussianNB()),
        ("dropped", "drop"),
        ("rf", RandomForestClassifier(40, random_state=0)),
    ]
    model, loo = fit_predict(VotingClassifier(members, voting="soft", weights=[3, 9, 1]), X, y)
    codes = (y == "yes").astype(int)
    parts = [
        find_leave_one_out(member).predict(member, X, codes).predictions["predict_proba"]
        for member in model.estimators_
    ]
    expected = (3.0 * parts[0] + parts[1]) / 4.0
    np.testing.assert_allclose(loo.predictions["predict_proba"], expected)
    labels = model.classes_[expected.argmax(axis=1)]
    np.testing.assert_array_equal(loo.predictions["predict"], labels)
    assert loo.method == "approximate"  # of exact and out-of-bag


@pytest.mark.parametrize(("weights", "winner"), [(None, None), ([1, 1, 5], 2)])
def test_hard_votes_count_labels(data, weights, winner):
    X, y = data
    members = [
        ("a", GaussianNB()),
        ("b", LinearDiscriminantAnalysis()),
        ("c", KNeighborsClassifier(3)),
    ]
    model, loo = fit_predict(VotingClassifier(members, weights=weights), X, y)
    codes = (y == "yes").astype(int)
    votes = np.array(
        [
            find_leave_one_out(member).predict(member, X, codes).predictions["predict"]
            for member in model.estimators_
        ]
    )
    expected = votes[winner] if winner else (votes.sum(axis=0) >= 2).astype(int)
    np.testing.assert_array_equal(loo.predictions["predict"], model.classes_[expected])
    assert set(loo.predictions) == {"predict"}
    assert loo.method == "exact"


def test_voting_regressor_averages(data):
    X, _ = data
    y = X @ np.arange(5.0)
    members = [("ridge", Ridge()), ("knn", KNeighborsRegressor(3))]
    model, loo = fit_predict(VotingRegressor(members, weights=[1, 2]), X, y)
    parts = [
        find_leave_one_out(member).predict(member, X, y).predictions["predict"]
        for member in model.estimators_
    ]
    np.testing.assert_allclose(loo.predictions["predict"], (parts[0] + 2 * parts[1]) / 3)


def test_voting_needs_a_prediction_of_each_member(data):
    X, y = data
    members = [("rf", RandomForestClassifier(9, random_state=0)), ("nb", GaussianNB())]
    model, loo = fit_predict(VotingClassifier(members), X, y)
    forest, codes = model.estimators_[0], (y == "yes").astype(int)
    expected = find_leave_one_out(forest).predict(forest, X, codes).has_prediction
    np.testing.assert_array_equal(loo.has_prediction, expected)


def test_soft_voting_needs_probabilities(data):
    X, y = data
    members = [("lda", LinearDiscriminantAnalysis()), ("ridge", RidgeClassifier())]
    model = VotingClassifier(members, voting="hard").fit(X, y).set_params(voting="soft")
    loo = find_leave_one_out(model).predict(model, X, y)
    assert loo.predictions == {}
    assert loo.unreliable == "a member has no leave-one-out predict_proba"
