"""Leave-one-out of kernel ridge and Gaussian processes equals refits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.kernel_ridge import KernelRidge

from leavezero.leave_one_out import _kernel_regression, find_leave_one_out

ESTIMATORS = [
    KernelRidge(0.2, kernel="rbf", gamma=0.3),
    KernelRidge(1.0, kernel="poly", degree=2),
    GaussianProcessRegressor(RBF(1.3) + WhiteKernel(0.2), optimizer=None),
    GaussianProcessRegressor(RBF(1.3), alpha=0.1, normalize_y=True, optimizer=None),
    GaussianProcessRegressor(RBF(1.0, "fixed"), alpha=0.1),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@settings(max_examples=3)
@given(seed=st.integers(0, 10_000), n_targets=st.integers(0, 2), n_columns=st.integers(1, 4))
def test_equals_refits(check_exact, regression_data, estimator, seed, n_targets, n_columns):
    rows, exists = check_exact(estimator, *regression_data(seed, 12, n_columns, n_targets))
    assert np.array_equal(rows, exists)


@settings(max_examples=3)
@given(seed=st.integers(0, 10_000))
def test_weights_and_one_penalty_per_target(check_exact, regression_data, random_weights, seed):
    X, y = regression_data(seed, 15, 3, 2)
    for alpha in (0.3, np.array([0.1, 4.0])):
        check_exact(KernelRidge(alpha, kernel="rbf"), X, y, random_weights(seed, 15))


def test_precomputed_and_callable_kernels_and_other_containers(check_exact, regression_data):
    X, y = regression_data(0, 16)
    kernel = np.exp(-np.abs(X[:, None] - X).sum(axis=2))
    check_exact(KernelRidge(0.4, kernel="precomputed"), kernel, y)
    check_exact(KernelRidge(0.4, kernel=lambda a, b: np.exp(-np.abs(a - b).sum())), X, y)
    check_exact(KernelRidge(0.4, kernel="rbf"), sparse.csr_array(X), y)
    for estimator in (ESTIMATORS[0], ESTIMATORS[2]):
        check_exact(estimator, pd.DataFrame(X, columns=list("abc")), pd.Series(y))


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
def test_single_precision(check_exact, regression_data, random_weights, alpha):
    """A fit to float32 solves for a kernel matrix that is rounded to single precision."""
    X, y = regression_data(0, 16)
    for weights in (None, random_weights(0, 16)):
        estimator = KernelRidge(alpha, kernel="rbf")
        check_exact(estimator, X.astype(np.float32), y, weights, tolerance=1e-4)


def test_columns_far_from_zero(check_exact, regression_data):
    X, y = regression_data(0, offset=1e4)
    check_exact(ESTIMATORS[0], X, y, tolerance=2e-5)  # distances have no more digits there
    check_exact(ESTIMATORS[2], X, y)


def test_optimized_kernel_parameters_are_approximate(regression_data):
    X, y = regression_data(0, 12, 1)
    model = GaussianProcessRegressor(RBF() + WhiteKernel()).fit(X, y)
    assert find_leave_one_out(model).predict(model, X, y).method == "approximate"


@pytest.mark.filterwarnings("ignore::scipy.linalg.LinAlgWarning", "ignore:Singular matrix")
def test_unreliable_predictions_have_a_reason(monkeypatch):
    X, y = np.random.default_rng(0).normal(size=(10, 2)), np.arange(10.0) % 3
    for estimator in (
        KernelRidge(1e-15, kernel="rbf", gamma=1e-5),
        GaussianProcessRegressor(RBF(300.0), alpha=3e-15, optimizer=None),
    ):
        model = estimator.fit(X, y)
        loo = find_leave_one_out(model).predict(model, X, y)
        assert "so close to singular" in loo.unreliable
    monkeypatch.setattr(_kernel_regression, "MAX_CELLS", 10)
    model = KernelRidge().fit(X, y)
    assert "too large" in find_leave_one_out(model).predict(model, X, y).unreliable


def test_rows_of_another_fit_raise(check_rejects_other_rows):
    check_rejects_other_rows(KernelRidge(kernel="rbf"), takes_weights=True)
    process = GaussianProcessRegressor(RBF(), alpha=0.1, optimizer=None)
    check_rejects_other_rows(process, takes_weights=False)
    with pytest.raises(NotFittedError):
        find_leave_one_out(process).predict(GaussianProcessRegressor(), [[0.0]], [0.0])
