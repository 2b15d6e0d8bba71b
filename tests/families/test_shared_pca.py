"""PCA of any number of components, cut from one decomposition, is what a plain fit gives."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA, IncrementalPCA
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter
from leavezero.families import _shared_pca
from leavezero.families._composite import PipelineFamily
from leavezero.families._shared_pca import fit_transform_many, transform_many
from leavezero.testing import check_family

FAMILY = PipelineFamily()
METHODS = ("predict", "predict_proba", "decision_function")
SHAPES = [(60, 4), (30, 6), (9, 12)]  # tall, small, wide
NUMBERS = st.one_of(st.integers(1, 4), st.none(), st.sampled_from([0.3, 0.5, 0.9]))
LASTS = [
    [DecisionTreeClassifier(max_depth=2, random_state=0)],
    [DecisionTreeRegressor(max_depth=d, random_state=0) for d in (1, 3)],
    [LogisticRegression(C=c, tol=1e-9, max_iter=5000) for c in (0.1, 1.0)],
    [RandomForestClassifier(k, random_state=0) for k in (2, 4)],
    [Ridge(alpha=a) for a in (0.1, 1.0)],
    [SVC(C=c) for c in (0.5, 2.0)],
    [KNeighborsClassifier(k) for k in (1, 3)],
]


def table(n_rows=60, n_columns=4, seed=0, dtype=float):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns)) * np.arange(1, n_columns + 1) + 1.0
    return X.astype(dtype), rng


def nested(number, last, **more):
    return make_pipeline(make_pipeline(StandardScaler(), PCA(number, **more)), last)


def inside_last(number, last, **more):
    return make_pipeline(StandardScaler(), make_pipeline(PCA(number, **more), last))


def followed(number, last, **more):
    return make_pipeline(StandardScaler(), PCA(number, **more), "passthrough", PCA(1), last)


def deep(number, last, **more):
    first = make_pipeline("passthrough", make_pipeline(PCA(number, **more), StandardScaler()))
    return make_pipeline(first, last)


def check_same(model, plain):
    """Fail unless two fitted PCAs have the same parameters and numbers."""
    assert repr(model) == repr(plain)
    assert vars(model).keys() == vars(plain).keys()
    for name, value in vars(plain).items():
        np.testing.assert_array_equal(getattr(model, name), value, err_msg=name)
    assert type(model.n_components_) is type(plain.n_components_)


@given(
    st.sampled_from(SHAPES),
    st.lists(NUMBERS, min_size=2, max_size=4),
    st.sampled_from(["auto", "full", "covariance_eigh"]),
    st.booleans(),
    st.sampled_from([np.float64, np.float32]),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_together_is_as_alone(shape, numbers, solver, whiten, dtype, seed):
    """Fits have the attributes of plain ones and make the same of their rows, bit for bit."""
    X, rng = table(*shape, seed, dtype)
    pcas = [PCA(k, svd_solver=solver, whiten=whiten, random_state=0) for k in numbers]
    made = fit_transform_many(pcas, X)
    new = rng.normal(size=(7, X.shape[1])).astype(dtype)
    tolerance = 1e-4 if dtype is np.float32 else 1e-10
    for pca, rows, cut in zip(pcas, made, transform_many(pcas, new), strict=True):
        plain = clone(pca)
        np.testing.assert_array_equal(rows, plain.fit_transform(X))
        check_same(pca, plain)
        right = plain.transform(new)
        np.testing.assert_array_equal(pca.transform(new), right)
        assert cut.dtype == right.dtype
        # Components without variance have no direction, and whitened no size.
        clear = np.sqrt(plain.explained_variance_) > 1e-3
        np.testing.assert_allclose(cut[:, clear], right[:, clear], rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "shape", [(500, 60), (501, 60), (600, 60), (599, 60), (10, 501), (10, 500)], ids=str
)
def test_auto_is_what_scikit_learn_takes(shape):
    """Around the shapes where "auto" changes its solver, all numbers equal plain fits."""
    X, _ = table(*shape)
    few = min(shape)
    numbers = [1, few // 2, int(0.8 * few) - 1, int(0.8 * few), few - 1, None, 0.5]
    pcas = [PCA(k, random_state=0) for k in numbers]
    for pca, rows in zip(pcas, fit_transform_many(pcas, X), strict=True):
        plain = clone(pca)
        np.testing.assert_array_equal(rows, plain.fit_transform(X))
        check_same(pca, plain)


@given(
    st.sampled_from([nested, inside_last, followed, deep]),
    st.sampled_from(LASTS),
    st.lists(st.one_of(st.integers(1, 4), st.none()), min_size=2, max_size=3),
    st.sampled_from([60, 20]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_pipelines_together_are_as_alone(kind, lasts, numbers, n_rows, whiten, seed):
    """Pipelines that differ in components and in their last step answer as plain fits do."""
    X, rng = table(n_rows, 4, seed)
    y = X[:, 0] + rng.normal(size=n_rows)
    if is_classifier(lasts[0]):
        y = np.array(["a", "b", "c"])[np.digitize(y, np.quantile(y, [0.3, 0.6]))]
    models = [kind(k, clone(last), whiten=whiten) for k in numbers for last in lasts]
    keys = {FAMILY.shares(model) for model in models}
    assert len(keys) == 1
    assert None not in keys
    FAMILY.fit_many(models, X, y)
    new = rng.normal(size=(20, 4))
    for model, said in zip(models, FAMILY.respond_many(models, new), strict=True):
        plain = clone(model).fit(X, y)
        assert repr(model) == repr(plain)
        assert vars(model).keys() == vars(plain).keys()
        again = pickle.loads(pickle.dumps(model))
        for method in said:
            right = getattr(plain, method)(new)
            for found in (getattr(model, method)(new), getattr(again, method)(new), said[method]):
                check_answers(found, right)


def check_answers(found, right):
    assert found.dtype == right.dtype
    if right.dtype.kind == "f":
        np.testing.assert_allclose(found, right, rtol=1e-4, atol=1e-5)
    else:
        np.testing.assert_array_equal(found, right)


def test_one_decomposition_for_all(monkeypatch):
    """Steps up to the PCA are fitted once, and V is transformed once."""
    calls = []

    def count(name):
        plain = getattr(PCA, name)

        def counted(self, *args):
            calls.append(name)
            return plain(self, *args)

        monkeypatch.setattr(PCA, name, counted)

    X, _ = table(30, 6)
    models = [make_pipeline(StandardScaler(), PCA(k), Ridge()) for k in (1, 2, 5, 2)]
    count("fit_transform")
    count("transform")
    FAMILY.fit_many(models, X, X[:, 0])
    assert calls == ["fit_transform"]
    assert len({id(model[0]) for model in models}) == 1
    assert models[1][1] is models[3][1]
    calls.clear()
    FAMILY.respond_many(models, np.tile(X, (9, 1)))
    assert calls == ["transform", "transform"]  # once for a few rows, to see how wide they are


def test_conformance():
    """What every family promises holds for pipelines that differ in their components."""
    models = [make_pipeline(PCA(k), Ridge(alpha=a)) for k in (1, 2, None) for a in (0.1, 1.0)]
    check_family(FAMILY, models, tolerance=1.0)  # PCA has seen the rows that are left out


@pytest.mark.parametrize(
    "step",
    [
        lambda k: PCA(k, svd_solver="randomized", random_state=0),
        lambda k: PCA(k, svd_solver="arpack", random_state=0),
        lambda k: PCA(k, copy=False),
        lambda k: IncrementalPCA(k),
        lambda k: type("OwnPCA", (PCA,), {"__module__": __name__})(k),
        lambda k: FeatureUnion([("pca", PCA(k))]),
        lambda k: ColumnTransformer([("pca", PCA(k), [0, 1])]),
        lambda k: Pipeline([("pca", PCA(k)), ("none", None)], memory="somewhere"),
        lambda k: PCA("mle" if k == 1 else k),
        lambda k: PCA(True if k == 1 else k),
    ],
    ids=lambda step: "",
)
def test_what_is_not_cut_parts(step):
    """Solvers that depend on the number, own kinds of PCA and other nests are groups apart."""
    one, other = (FAMILY.shares(make_pipeline(step(k), Ridge())) for k in (1, 2))
    assert one is None or one != other


def test_sparse_rows():
    """The covariance of sparse rows is decomposed once; what "auto" takes depends on numbers."""
    X, _ = table(60, 5)
    rows = sparse.csr_matrix(np.where(X > 2, X, 0.0))
    for solver in ("covariance_eigh", "auto"):
        pcas = [PCA(k, svd_solver=solver, random_state=0) for k in (1, 3)]
        for pca, made in zip(pcas, fit_transform_many(pcas, rows), strict=True):
            plain = clone(pca)
            np.testing.assert_array_equal(made, plain.fit_transform(rows))
            check_same(pca, plain)


@pytest.mark.parametrize("n_rows", [60, 30], ids=["covariance", "svd"])
def test_frames_between_steps(n_rows):
    """Frames that steps hand on are cut too, with their names."""
    X, _ = table(n_rows, 6)
    frame = pd.DataFrame(X, columns=list("abcdef"))
    models = [
        make_pipeline(StandardScaler(), PCA(k), Ridge()).set_output(transform="pandas")
        for k in (1, 3)
    ]
    FAMILY.fit_many(models, frame, X[:, 0])
    for model, said in zip(models, FAMILY.respond_many(models, frame), strict=True):
        plain = clone(model).fit(frame, X[:, 0])
        check_same(model[1], plain[1])
        assert list(model[2].feature_names_in_) == list(plain[2].feature_names_in_)
        np.testing.assert_allclose(said["predict"], plain.predict(frame))


def test_a_share_on_the_border_is_left_to_the_model(monkeypatch):
    """Where rounding decides how many components a share of variance needs, a plain fit does."""
    X, _ = table(30, 6)
    monkeypatch.setattr(_shared_pca, "UNSURE", 1.0)
    pcas = [PCA(0.5), PCA(0.9), PCA(2)]
    for pca, rows in zip(pcas, fit_transform_many(pcas, X), strict=True):
        plain = clone(pca)
        np.testing.assert_array_equal(rows, plain.fit_transform(X))
        check_same(pca, plain)


def test_too_many_components_are_refused_by_the_model():
    """A number that the rows do not have is an error of PCA itself."""
    models = [make_pipeline(PCA(k), Ridge()) for k in (2, 9)]
    with pytest.raises(ValueError, match="n_components=9 must be between 0 and"):
        FAMILY.fit_many(models, *_few())


def _few():
    X, _ = table(30, 4)
    return X, X[:, 0]


def test_many_are_parted_by_their_components():
    """Candidates that are too many for one task stay with those of the same number."""
    grid = {"dt__max_depth": [1, 2, 3, 4], "pca__n_components": [3, 1, 2, None]}
    model = Pipeline([("pca", PCA()), ("dt", DecisionTreeClassifier())])
    X, _ = table(30, 4)
    search = GridSearchLZO(model, grid, random_state=0, augmenter=GaussianAugmenter())
    search.fit(X, np.arange(30) % 2)
    numbers = search.cv_results_["param_pca__n_components"]
    found = [{numbers[row] for row in task.candidates} for task in search.plan_]
    assert found == [{1, 2}, {3, None}]


def test_search_finds_the_same(finds_the_same):
    """A search gives the same table with and without shared work, and with two workers."""
    X, rng = table(60, 5, 1)
    y = (X[:, 4] + rng.normal(size=60) > 1).astype(int)
    model = Pipeline([("in", make_pipeline(StandardScaler(), PCA())), ("svc", SVC())])
    grid = {"in__pca__n_components": [1, 3, None], "svc__C": [0.1, 1.0]}
    together, *_ = finds_the_same(model, grid, X, y)
    assert len(together.plan_) == 1


def test_models_from_another_process_remember_what_they_share():
    """Last steps note their own rows again, those of their number of components."""
    X, y = _few()
    models = [make_pipeline(PCA(k), SVC(C=c)) for k in (1, 3) for c in (0.5, 2.0)]
    FAMILY.fit_many(models, X, y > 1)
    right = [said["decision_function"] for said in FAMILY.respond_many(models, X)]
    travelled = [pickle.loads(pickle.dumps(model)) for model in models]
    FAMILY.remember(travelled, X, y > 1)
    for said, expected in zip(FAMILY.respond_many(travelled, X), right, strict=True):
        np.testing.assert_allclose(said["decision_function"], expected, rtol=1e-8, atol=1e-10)
