"""Pipelines with equal steps before the last equal plain fits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import BaseEstimator, TransformerMixin, clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero.joint_fit import _joint_fit, find_joint_fit


class Double(TransformerMixin, BaseEstimator):
    """A transformer whose fit sets nothing, as in much code of users."""

    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return 2 * X


PREFIXES = [
    ["passthrough"],
    [Double()],
    [StandardScaler()],
    [StandardScaler(), PCA(2)],
    [make_pipeline(PolynomialFeatures(2), StandardScaler())],
    [ColumnTransformer([("some", StandardScaler(), [0, 2])], remainder="passthrough")],
    [FeatureUnion([("all", StandardScaler()), ("few", TruncatedSVD(2, random_state=0))])],
    [StandardScaler(), SelectKBest(f_classif, k=2)],
]
LAST_STEPS = [
    [DecisionTreeClassifier(max_depth=depth, random_state=0) for depth in (1, 2, 3)],
    [DecisionTreeRegressor(max_depth=depth, random_state=0) for depth in (1, 2, 3)],
    [GaussianNB(), DecisionTreeClassifier(random_state=0)],
    [RandomForestClassifier(size, random_state=0) for size in (2, 5)],
    [HistGradientBoostingClassifier(max_iter=size, random_state=0) for size in (2, 5)],
    [GradientBoostingRegressor(n_estimators=size, random_state=0) for size in (5, 2)],
    [Ridge(alpha=alpha) for alpha in (0.1, 1.0)],
    [KNeighborsClassifier(k) for k in (1, 3)],
    [SVC(C=C) for C in (0.1, 1.0)],
    [make_pipeline(StandardScaler(), Ridge(alpha=alpha)) for alpha in (0.1, 1.0)],
]
CLOSE = {"rtol": 1e-8, "atol": 1e-8}


def pipelines(prefix, lasts):
    return [make_pipeline(*(clone(step, safe=False) for step in prefix), last) for last in lasts]


def make_data(model, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) + 1.0
    if is_classifier(model):
        return X, np.array(["a", "b", "c"])[np.arange(30) % n_classes], rng
    return X, (X[:, 0] + rng.normal(size=30) > 1.0).astype(float), rng


@pytest.mark.parametrize("lasts", LAST_STEPS, ids=lambda lasts: type(lasts[0]).__name__)
@settings(
    max_examples=5, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(prefix=st.sampled_from(PREFIXES), n_classes=st.sampled_from([2, 3]), seed=st.integers(0, 99))
def test_equals_plain_fits(prefix, lasts, n_classes, seed, equals_plain_fits):
    """Pipelines fitted jointly have the parameters and predictions of plain fits."""
    X, y, rng = make_data(lasts[0], n_classes, seed)
    X_val = rng.normal(size=(20, 4))
    _, fitted, predictions = equals_plain_fits(pipelines(prefix, lasts), X, y, X_val, **CLOSE)
    assert all(type(model) is Pipeline for model in fitted.models)
    assert "predict" in predictions[0]
    if isinstance(lasts[0], HistGradientBoostingClassifier):
        assert fitted.provisional == (True, False)


def test_transformers_are_fitted_and_transform_once(monkeypatch):
    """The transformers are the same objects in all pipelines, the last steps are not."""
    calls = []
    plain_fit, plain_transform = PCA.fit_transform, PCA.transform

    def fit_transform(self, X, y=None):
        calls.append("fit")
        return plain_fit(self, X, y)

    def transform(self, X):
        calls.append(len(X))
        return plain_transform(self, X)

    monkeypatch.setattr(PCA, "fit_transform", fit_transform)
    monkeypatch.setattr(PCA, "transform", transform)
    monkeypatch.setattr(_joint_fit, "BLOCK_CELLS", 1024)
    X, y, rng = make_data(LAST_STEPS[0][0])
    models = pipelines([StandardScaler(), PCA(2)], [clone(last) for last in LAST_STEPS[0]])
    method, _ = find_joint_fit(models[0])
    fitted = method.fit(models, X, y)
    assert len({id(model[1]) for model in models}) == 1
    assert len({id(model[2]) for model in models}) == len(models)
    assert calls == ["fit"]
    predictions = method.predict(fitted, rng.normal(size=(300, 4)), "predict")
    assert [len(values) for values in predictions] == [300] * len(models)
    assert calls == ["fit", 100, 256, 44]  # 100 rows measure the width of the others


def test_without_prefix(equals_plain_fits):
    """A pipeline of one step is fitted by the method of that step."""
    X, y, _ = make_data(Ridge())
    equals_plain_fits([make_pipeline(Ridge(alpha)) for alpha in (0.1, 1.0)], X, y, X, **CLOSE)


def test_frames_and_text(equals_plain_fits):
    """Frames with names and categories, and documents, are transformed once too."""
    frame = pd.DataFrame({"n": np.arange(12.0), "c": list("abc") * 4})
    mixed = ColumnTransformer([("n", StandardScaler(), ["n"]), ("c", OneHotEncoder(), ["c"])])
    documents = ["red fish", "blue fish", "one red", "two blue"] * 3
    y = np.tile([0, 1, 0, 1], 3)
    for prefix, X in ((mixed, frame), (TfidfVectorizer(), documents)):
        lasts = [LogisticRegression(C=C) for C in (0.1, 1.0)]
        equals_plain_fits(pipelines([prefix], lasts), X, y, X)


def test_weights_are_rejected():
    """Weights without the name of a step are rejected, as by a pipeline."""
    model = make_pipeline(StandardScaler(), Ridge())
    with pytest.raises(ValueError, match=r"STEP__sample_weight"):
        find_joint_fit(model)[0].fit([model], [[0.0], [1.0]], [0.0, 1.0], np.ones(2))
