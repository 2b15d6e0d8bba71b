"""Linear and kernel models that differ in their penalty are fitted as if each were alone."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)

from leavezero.families import family_of

METHODS = ("predict", "predict_proba", "decision_function")
CLOSED = [
    Ridge(),
    Ridge(fit_intercept=False),
    Ridge(solver="svd"),
    RidgeClassifier(),
    RidgeClassifier(class_weight="balanced", fit_intercept=False),
    KernelRidge(kernel="rbf", gamma=0.3),
    KernelRidge(kernel="poly", degree=2),
]
PATHS = [
    LogisticRegression(tol=1e-8, max_iter=5000),
    LogisticRegression(tol=1e-8, max_iter=5000, class_weight="balanced", fit_intercept=False),
    Lasso(tol=1e-9, max_iter=50_000),
    ElasticNet(tol=1e-9, max_iter=50_000, l1_ratio=0.3),
    ElasticNet(tol=1e-9, max_iter=50_000, positive=True, fit_intercept=False),
]
STRENGTHS = st.lists(st.sampled_from([1e-2, 0.1, 0.5, 1.0, 3.0, 50.0]), min_size=2, unique=True)


def _data(model, n_columns, n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, n_columns)) * rng.uniform(0.5, 3.0, size=n_columns) + 1.0
    if is_classifier(model):
        return X, np.array(["a", "b", "c"])[np.arange(30) % n_classes], rng
    return X, X[:, 0] + rng.normal(size=30) + 5.0, rng


def _with(model, strengths):
    name = "C" if "C" in model.get_params() else "alpha"
    return [clone(model).set_params(**{name: value}) for value in strengths]


def _check_as_alone(model, said, plain, new, tolerance):
    assert repr(model) == repr(plain)
    assert vars(model).keys() == vars(plain).keys()
    for name in ("coef_", "intercept_", "dual_coef_"):
        if hasattr(plain, name):
            _check_close(getattr(model, name), getattr(plain, name), tolerance)
    for method in METHODS:
        if hasattr(plain, method):
            right = getattr(plain, method)(new)
            _check_close(getattr(model, method)(new), right, tolerance)
            _check_close(said[method], right, tolerance)


def _check_close(found, right, tolerance):
    assert np.shape(found) == np.shape(right)
    assert np.asarray(found).dtype == np.asarray(right).dtype
    if np.asarray(right).dtype.kind == "f":
        size = max(1.0, float(np.abs(right).max()))
        np.testing.assert_allclose(found, right, rtol=0, atol=tolerance * size)
    else:
        np.testing.assert_array_equal(found, right)


@given(
    st.sampled_from(CLOSED),
    STRENGTHS,
    st.sampled_from([2, 5, 40]),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_one_decomposition_is_as_many(kind, strengths, n_columns, n_classes, weighted, seed):
    """Ridges from one decomposition have the numbers, parameters and answers of plain fits."""
    X, y, rng = _data(kind, n_columns, n_classes, seed)
    weights = rng.uniform(0.5, 2.0, size=len(y)) if weighted else None
    models, family = _with(kind, strengths), family_of(kind)
    assert len({family.shares(model) for model in models}) == 1
    family.fit_many(models, X, y, weights)
    new = rng.normal(size=(20, n_columns))
    for model, said in zip(models, family.respond_many(models, new), strict=True):
        plain = clone(model).fit(X, y, sample_weight=weights)
        _check_as_alone(model, said, plain, new, 1e-8)


@given(
    st.sampled_from(PATHS),
    STRENGTHS,
    st.sampled_from([2, 6]),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=40, deadline=None)
def test_a_path_ends_where_plain_fits_do(kind, strengths, n_columns, n_classes, weighted, seed):
    """Models along a path are those of plain fits as far as the solver's tolerance tells."""
    X, y, rng = _data(kind, n_columns, n_classes, seed)
    weights = rng.uniform(0.5, 2.0, size=len(y)) if weighted else None
    models, family = _with(kind, strengths), family_of(kind)
    assert len({family.shares(model) for model in models}) == 1
    family.fit_many(models, X, y, weights)
    new = rng.normal(size=(20, n_columns))
    for model, said in zip(models, family.respond_many(models, new), strict=True):
        plain = clone(model).fit(X, y, sample_weight=weights)
        _check_as_alone(model, said, plain, new, 1e-4)


def test_several_targets_and_labels_are_fitted_together():
    """Ridges with several targets, and classifiers with several labels, equal plain fits."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(30, 3)), rng.normal(size=(30, 3))
    for kind, y in ((Ridge(), Y), (Ridge(), Y[:, :1]), (RidgeClassifier(), (Y > 0).astype(int))):
        models, family = _with(kind, [0.1, 1.0]), family_of(kind)
        family.fit_many(models, X, y)
        said = family.respond_many(models, X)
        for at, model in enumerate(models):
            plain = clone(model).fit(X, y)
            np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-10)
            np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-10)
            if said is not None:
                np.testing.assert_allclose(said[at]["predict"], plain.predict(X), rtol=1e-10)


@pytest.mark.parametrize("kind", [Ridge(), RidgeClassifier(), Lasso(), LogisticRegression()])
def test_sparse_rows_equal_plain_fits(kind):
    """Sparse rows are fitted plainly where a decomposition would fill them."""
    X, y, _ = _data(kind, 4, 3, 0)
    models, family = _with(kind, [0.1, 1.0]), family_of(kind)
    rows = sparse.csr_array(np.where(X > 1.0, X, 0.0))
    family.fit_many(models, rows, y)
    for model, said in zip(models, family.respond_many(models, rows), strict=True):
        plain = clone(model).fit(rows, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, atol=1e-3)
        np.testing.assert_array_equal(model.predict(rows), said["predict"])


def test_frames_keep_their_names():
    """Models fitted together to a frame know its columns, all of them."""
    X, y, _ = _data(Ridge(), 3, 2, 0)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    for kind in (Ridge(), Lasso(), KernelRidge()):
        models = _with(kind, [0.1, 1.0, 2.0])
        family = family_of(kind)
        family.fit_many(models, frame, y)
        said = family.respond_many(models, frame)
        for model, told in zip(models, said, strict=True):
            assert model.feature_names_in_.tolist() == ["a", "b", "c"]
            np.testing.assert_allclose(told["predict"], model.predict(frame), rtol=1e-9)


def test_columns_of_very_different_size_are_fitted_plainly():
    """Where a decomposition loses the digits of a plain fit, the plain fit is taken."""
    X, y, _ = _data(Ridge(), 3, 2, 0)
    X = X * np.array([1.0, 1e-3, 1e3])
    models = _with(Ridge(), [1e-7, 1e-6])
    family_of(Ridge()).fit_many(models, X, y)
    for model in models:
        np.testing.assert_allclose(model.coef_, clone(model).fit(X, y).coef_, rtol=1e-6)


@pytest.mark.parametrize(
    "model",
    [
        LinearRegression(),
        Ridge(solver="lsqr"),
        Ridge(positive=True),
        Ridge(alpha=0.0),
        Ridge(alpha=[1.0, 2.0]),
        RidgeClassifier(solver="sag"),
        KernelRidge(kernel="precomputed"),
        Lasso(selection="random", random_state=0),
        Lasso(alpha=0.0),
        ElasticNet(l1_ratio=0.0),
        LogisticRegression(solver="saga"),
        LogisticRegression(solver="liblinear"),
    ],
)
def test_others_are_refused(model):
    """What has no closed form, or no path, is fitted by itself."""
    assert family_of(model).shares(model) is None


def test_one_that_does_not_converge_is_the_plain_fit():
    """A model whose solver stops at its limit is exactly the plain fit, and warns as it does."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20)) * np.logspace(-3, 3, 20)
    y = X @ rng.normal(size=20) + rng.normal(size=60)
    for kind, target in (
        (Lasso(max_iter=3), y),
        (LogisticRegression(max_iter=3), (y > 0).astype(int)),
    ):
        models = _with(kind, [1e-3, 1e-1, 10.0])
        with pytest.warns(ConvergenceWarning):
            family_of(kind).fit_many(models, X, target)
        for model in models:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                plain = clone(model).fit(X, target)
            if np.max(plain.n_iter_) >= 3 and np.max(model.n_iter_) >= 3:
                np.testing.assert_array_equal(model.coef_, plain.coef_)


@pytest.mark.parametrize(
    "model",
    [
        Ridge(),
        RidgeClassifier(),
        KernelRidge(kernel="rbf"),
        Lasso(tol=1e-10),
        LogisticRegression(tol=1e-8),
    ],
    ids=lambda model: type(model).__name__,
)
def test_search_finds_the_same(model, finds_the_same):
    """A search gives the same table with and without shared work, and with two workers."""
    X, y, _ = _data(model, 4, 3, 1)
    grid = {"C" if "C" in model.get_params() else "alpha": [0.01, 0.1, 1.0, 10.0]}
    finds_the_same(model, grid, X, y)
