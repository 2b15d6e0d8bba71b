"""Models along their penalty equal plain fits."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, Ridge

from leavezero.joint_fit import find_joint_fit
from leavezero.semi_supervised import SMIRClassifier

MODELS = [
    Lasso(tol=1e-8),
    Lasso(positive=True, tol=1e-8),
    ElasticNet(l1_ratio=0.3, fit_intercept=False, tol=1e-8),
]
PENALTIES = st.lists(st.sampled_from([1e-3, 0.01, 0.1, 1.0, 10.0]), min_size=2, max_size=4)


def make_data(n_columns=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, n_columns)) + 1.0
    return X, X[:, 0] + rng.normal(size=30), rng


def with_alphas(model, alphas):
    return [clone(model).set_params(alpha=alpha) for alpha in alphas]


def fit_jointly(estimators, X, y):
    return find_joint_fit(estimators[0])[0].fit(estimators, X, y).models


@pytest.mark.parametrize("model", MODELS)
@settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(
    alphas=PENALTIES,
    n_columns=st.sampled_from([2, 5]),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
def test_equals_plain_fits(model, alphas, n_columns, weighted, seed, equals_plain_fits):
    """Elastic nets equal plain fits up to the solver's tolerance."""
    X, y, rng = make_data(n_columns, seed)
    weights = rng.uniform(0.5, 2.0, size=len(y)) if weighted else None
    X_val = rng.normal(size=(20, n_columns))
    equals_plain_fits(with_alphas(model, alphas), X, y, X_val, weights, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kind", ["sparse", "frame", "float32"])
def test_containers(kind):
    """Sparse and single precision rows are fitted plainly; frames keep the names of columns."""
    X, y, _ = make_data()
    X = {
        "sparse": sparse.csr_array(np.where(X > 1.0, X, 0.0)),
        "frame": pd.DataFrame(X, columns=list("abcd")),
        "float32": X.astype(np.float32),
    }[kind]
    tol, tolerance = (1e-4, 1e-4) if kind == "float32" else (1e-9, 1e-7)
    for joint in fit_jointly(with_alphas(Lasso(tol=tol), [0.01, 0.1, 1.0]), X, y):
        plain = clone(joint).fit(X, y)
        np.testing.assert_allclose(joint.coef_, plain.coef_, rtol=tolerance, atol=tolerance)
        if kind == "frame":
            assert joint.feature_names_in_.tolist() == list("abcd")


def test_ridge_models_are_plain_fits(equals_plain_fits):
    X, y, rng = make_data()
    weights = rng.uniform(0.5, 2.0, size=len(y))
    equals_plain_fits(with_alphas(Ridge(), [0.1, 1.0]), X, y, X, weights)


def test_path_is_as_precise_as_plain_fits_without_noise():
    """A start from the last penalty may be within ``tol`` of the minimum before the first sweep."""
    X, y = make_regression(200, 5, noise=0.5, random_state=0)
    alphas = np.logspace(-4, 2, 13)
    for joint in fit_jointly(with_alphas(Lasso(), alphas), X, y):
        exact = clone(joint).set_params(tol=1e-12).fit(X, y)
        np.testing.assert_allclose(joint.coef_, exact.coef_, atol=1e-3)


def test_path_that_does_not_converge_is_fitted_plainly():
    """A model whose solver reaches its limit is exactly the plain fit, and warns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20)) * np.logspace(-3, 3, 20)
    y = X @ rng.normal(size=20) + rng.normal(size=60)
    with pytest.warns(ConvergenceWarning):
        models = fit_jointly(with_alphas(Lasso(max_iter=3), [1e-3, 1e-1, 10.0]), X, y)
    for model in models:
        if model.n_iter_ >= 3:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                plain = clone(model).fit(X, y)
            np.testing.assert_array_equal(model.coef_, plain.coef_)


def test_smir_equals_plain_fits(equals_plain_fits):
    """Labels equal those of plain fits, probabilities up to rounding."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) + np.repeat([[0.0], [3.0]], 20, axis=0)
    y = np.where(np.arange(40) % 5 == 0, np.arange(40) // 20, -1)
    estimators = [SMIRClassifier(gamma=gamma) for gamma in (0.01, 0.1, 1.0)]
    *_, predictions = equals_plain_fits(
        estimators, X, y, rng.normal(size=(30, 2)), rtol=1e-8, atol=1e-10
    )
    assert set(predictions[0]) == {"predict", "predict_proba"}


def test_smir_rejects_weights():
    """SMIR takes no weights."""
    model = SMIRClassifier()
    with pytest.raises(ValueError, match="sample_weight"):
        find_joint_fit(model)[0].fit([model], [[0.0], [1.0]], [0, 1], np.ones(2))
