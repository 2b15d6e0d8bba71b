"""Pipelines with the same steps before the last are fitted as if each were alone."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.feature_selection import SelectKBest, f_classif
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero.families import _shared_pipeline
from leavezero.families._composite import PipelineFamily

PREFIXES = [
    [],
    ["passthrough"],
    [StandardScaler()],
    [StandardScaler(), PCA(2)],
    [make_pipeline(PolynomialFeatures(2), StandardScaler())],
    [ColumnTransformer([("some", StandardScaler(), [0, 2])], remainder="passthrough")],
    [FeatureUnion([("all", StandardScaler()), ("few", TruncatedSVD(2, random_state=0))])],
]
SUPERVISED = [[SelectKBest(f_classif, k=2)], [StandardScaler(), SelectKBest(k=1)]]
LASTS = [
    [DecisionTreeClassifier(max_depth=d, random_state=0) for d in (1, 2, 3)],
    [DecisionTreeRegressor(max_depth=d, random_state=0) for d in (1, 2, 3)],
    [LogisticRegression(C=c, tol=1e-9, max_iter=5000) for c in (0.1, 1.0, 10.0)],
    [RandomForestClassifier(k, random_state=0) for k in (2, 5)],
    [GradientBoostingRegressor(n_estimators=k, random_state=0) for k in (5, 2)],
    [Ridge(alpha=a) for a in (0.1, 1.0)],
    [make_pipeline(StandardScaler(), Ridge(alpha=a)) for a in (0.1, 1.0)],
    [KNeighborsClassifier(k) for k in (1, 3)],
]
METHODS = ("predict", "predict_proba", "decision_function")
FAMILY = PipelineFamily()


def _pipeline(prefix, last):
    return make_pipeline(*(clone(step, safe=False) for step in prefix), clone(last))


def _data(model, n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) + 1.0
    if is_classifier(model):
        return X, np.array(["a", "b", "c"])[np.arange(30) % n_classes], rng
    return X, X[:, 0] + rng.normal(size=30), rng


def _check_as_alone(model, said, plain, new):
    assert repr(model) == repr(plain)
    assert vars(model).keys() == vars(plain).keys()
    assert set(said) == {method for method in METHODS if hasattr(plain, method)}
    for method in said:
        right = getattr(plain, method)(new)
        for found in (getattr(model, method)(new), said[method]):
            assert found.dtype == right.dtype
            if right.dtype.kind == "f":
                np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
            else:
                np.testing.assert_array_equal(found, right)


@given(
    st.sampled_from(PREFIXES + SUPERVISED),
    st.sampled_from(LASTS),
    st.sampled_from([2, 3]),
    st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_together_is_as_alone(prefix, lasts, n_classes, seed):
    """Pipelines fitted together have the steps, parameters and answers of plain fits."""
    X, y, rng = _data(lasts[0], n_classes, seed)
    if prefix in SUPERVISED and not is_classifier(lasts[0]):
        y = (y > 0).astype(float)
    models = [_pipeline(prefix, last) for last in lasts]
    shared = [FAMILY.shares(model) for model in models]
    assert None not in shared
    assert len(set(shared)) == 1
    FAMILY.fit_many(models, X, y)
    new = rng.normal(size=(20, 4))
    for model, said in zip(models, FAMILY.respond_many(models, new), strict=True):
        assert type(model) is Pipeline
        _check_as_alone(model, said, clone(model).fit(X, y), new)


def test_steps_before_the_last_are_the_same_objects():
    """Transformers are fitted once and shared; last steps are each model's own."""
    X, y, _ = _data(LASTS[0][0], 2, 0)
    models = [_pipeline([StandardScaler(), PCA(2)], last) for last in LASTS[0]]
    FAMILY.fit_many(models, X, y)
    assert len({id(model[0]) for model in models}) == len({id(model[1]) for model in models}) == 1
    assert len({id(model[2]) for model in models}) == len(models)


def test_different_steps_part():
    """Another parameter or name of a step before the last, and another kind of last, part."""
    base = make_pipeline(StandardScaler(), PCA(2), Ridge())
    others = [
        make_pipeline(StandardScaler(), PCA(2, whiten=True), Ridge()),
        make_pipeline(StandardScaler().set_output(transform="pandas"), PCA(2), Ridge()),
        Pipeline([("scale", StandardScaler()), ("pca", PCA(2)), ("ridge", Ridge())]),
        make_pipeline(StandardScaler(), PCA(2), Ridge(fit_intercept=False)),
    ]
    assert len({FAMILY.shares(model) for model in [base, *others]}) == 5


def test_lasts_of_any_kind_share_what_comes_before():
    """Last steps that share nothing by themselves still share their rows."""
    X, y, _ = _data(GaussianNB(), 2, 0)
    models = [
        _pipeline([PCA(2)], last) for last in (GaussianNB(), DecisionTreeClassifier(random_state=0))
    ]
    assert FAMILY.shares(models[0]) == FAMILY.shares(models[1])
    FAMILY.fit_many(models, X, y)
    for model, said in zip(models, FAMILY.respond_many(models, X), strict=True):
        _check_as_alone(model, said, clone(model).fit(X, y), X)


@pytest.mark.parametrize(
    "model",
    [
        Pipeline([("scale", StandardScaler()), ("ridge", Ridge())], memory="somewhere"),
        Pipeline([("scale", StandardScaler()), ("ridge", Ridge())], verbose=True),
        make_pipeline(StandardScaler(), "passthrough"),
        make_pipeline(FunctionTransformer(lambda X: X), Ridge()),
    ],
    ids=["memory", "verbose", "no last", "no digest"],
)
def test_what_cannot_be_compared_is_refused(model):
    """A pipeline with a cache, a voice, no last step, or steps without a digest is alone."""
    assert FAMILY.shares(model) is None


def test_weights_are_refused():
    """Weights without the name of a step are refused, as a pipeline does."""
    with pytest.raises(ValueError, match=r"a Pipeline takes no sample_weight\. Name the step"):
        FAMILY.fit_many([make_pipeline(Ridge())], [[0.0], [1.0]], [0.0, 1.0], np.ones(2))


def test_rows_that_grow_too_large_are_not_kept(monkeypatch):
    """Where transformed rows would fill the memory, each model transforms its own."""
    X, y, _ = _data(Ridge(), 2, 0)
    models = [_pipeline([PolynomialFeatures(2)], Ridge(alpha=a)) for a in (0.1, 1.0)]
    FAMILY.fit_many(models, X, y)
    monkeypatch.setattr(_shared_pipeline, "MOST_CELLS", 100)
    assert FAMILY.respond_many(models, X) is None


def test_frames_and_text_go_through():
    """Frames with names and categories, and documents, are transformed once too."""
    frame = pd.DataFrame({"n": np.arange(12.0), "c": list("abc") * 4})
    mixed = ColumnTransformer([("n", StandardScaler(), ["n"]), ("c", OneHotEncoder(), ["c"])])
    words = ["red fish", "blue fish", "one red", "two blue"] * 3
    y = np.tile([0, 1, 0, 1], 3)
    for before, X in ((mixed, frame), (TfidfVectorizer(), words)):
        models = [_pipeline([before], LogisticRegression(C=c, tol=1e-9)) for c in (0.1, 1.0)]
        FAMILY.fit_many(models, X, y)
        for model, said in zip(models, FAMILY.respond_many(models, X), strict=True):
            _check_as_alone(model, said, clone(model).fit(X, y), X)


@pytest.mark.parametrize(
    ("last", "grid"),
    [
        (DecisionTreeClassifier(), {"max_depth": [1, 2, 3]}),
        (LogisticRegression(tol=1e-8), {"C": [0.01, 1.0, 10.0]}),
        (GradientBoostingRegressor(max_depth=2), {"n_estimators": [2, 6]}),
    ],
    ids=["tree", "logistic", "boosting"],
)
def test_search_finds_the_same(last, grid, finds_the_same):
    """A search gives the same table with and without shared work, and with two workers."""
    X, y, _ = _data(last, 2, 1)
    model = Pipeline([("scale", StandardScaler()), ("pca", PCA()), ("last", last)])
    grid = {"pca__n_components": [1, 3]} | {f"last__{name}": grid[name] for name in grid}
    finds_the_same(model, grid, X, y)
