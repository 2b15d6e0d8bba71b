"""Leave-one-out of linear models, compared with refits without each row."""

import warnings
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    Lasso,
    LassoLars,
    LinearRegression,
    LogisticRegression,
    PoissonRegressor,
    Ridge,
    RidgeClassifier,
    RidgeCV,
    TweedieRegressor,
)
from sklearn.svm import LinearSVC, LinearSVR

from leavezero.leave_one_out import _newton, find_leave_one_out, leave_one_out_predict
from leavezero.testing._leave_one_out import refit_predictions

FEW = settings(max_examples=3)  # each example fits once per row
SEEDS = st.integers(0, 10_000)
N_ROWS = 50


def fit_loo(estimator, X, y, weights=None):
    options = {} if weights is None else {"sample_weight": weights}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = clone(estimator).fit(X, y, **options)
    return find_leave_one_out(model).predict(model, X, y, weights)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((N_ROWS, 4)) + 2.0
    signal = (X - 2.0) @ [0.8, -0.5, 0.3, 0.0]
    noisy = signal + 0.4 * rng.standard_normal(N_ROWS)
    return {
        "X": X,
        "two": np.where(noisy > 0, "yes", "no"),
        "three": np.digitize(noisy, np.quantile(noisy, [0.35, 0.7])) * 10,
        "noisy": noisy,
        "counts": rng.poisson(np.exp(signal)).astype(float),
        "positive": rng.gamma(3.0, np.exp(signal) / 3.0) + 0.01,
        "weights": rng.uniform(0.5, 2.0, N_ROWS),
    }


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(),
        LinearRegression(fit_intercept=False),
        Ridge(0.3),
        Ridge(3.0, solver="svd", fit_intercept=False),
    ],
)
@FEW
@given(seed=SEEDS, n_targets=st.integers(0, 2), n_columns=st.integers(1, 4))
def test_regression_equals_refits(
    check_exact, regression_data, estimator, seed, n_targets, n_columns
):
    known, exists = check_exact(estimator, *regression_data(seed, 12, n_columns, n_targets))
    assert np.array_equal(known, exists)


@pytest.mark.parametrize(
    "estimator",
    [
        RidgeClassifier(0.5),
        RidgeClassifier(2.0, fit_intercept=False, solver="svd"),
    ],
)
@FEW
@given(seed=SEEDS, n_classes=st.integers(2, 3), n_columns=st.integers(1, 3))
def test_classification_equals_refits(
    check_exact, class_data, estimator, seed, n_classes, n_columns
):
    known, exists = check_exact(estimator, *class_data(seed, 14, n_columns, n_classes))
    assert np.array_equal(known, exists)


@pytest.mark.parametrize(
    "estimator",
    [
        LinearRegression(),
        Ridge(0.5),
        Ridge(np.array([0.1, 4.0])),
        RidgeClassifier(0.5),
        RidgeClassifier(0.5, class_weight={"north": 3.0}),
    ],
)
@FEW
@given(seed=SEEDS)
def test_weights_including_zero(
    check_exact, random_weights, regression_data, class_data, estimator, seed
):
    classifier = isinstance(estimator, RidgeClassifier)
    X, y = class_data(seed, 18) if classifier else regression_data(seed, 18, 3, 2)
    check_exact(estimator, X, y, random_weights(seed, 18))


def test_balanced_class_weights_are_approximate(class_data):
    """Class weights that are balanced without the row differ by a share of its class."""
    X, y = class_data(3, 60)
    model = RidgeClassifier(class_weight="balanced")
    loo = fit_loo(model, X, y)
    refits, _ = refit_predictions(model, X, y, None, ["decision_function"])
    assert loo.method == "approximate"
    np.testing.assert_allclose(
        loo.predictions["decision_function"], refits["decision_function"], atol=1 / 20
    )


def test_columns_far_from_zero(check_exact, regression_data, class_data):
    for estimator in (LinearRegression(), Ridge(0.3)):
        check_exact(estimator, *regression_data(0, offset=1e4))
    check_exact(RidgeClassifier(0.5), *class_data(0, offset=1e4))


@FEW
@given(seed=SEEDS, n_columns=st.sampled_from([3, 11, 12, 20]), intercept=st.booleans())
def test_collinear_columns_use_the_solution_of_least_norm(
    check_exact, regression_data, seed, n_columns, intercept
):
    X, y = regression_data(seed, 11, n_columns)
    if n_columns == 3:
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
    check_exact(LinearRegression(fit_intercept=intercept), X, y, tolerance=1e-7)


def test_leverage_of_one(check_exact):
    """A row that alone has a feature is predicted by the solution of least norm without it."""
    X = np.column_stack([np.arange(8.0), np.eye(8)[2]])
    known, _ = check_exact(LinearRegression(), X, np.arange(8.0) % 3)
    assert known.all()


@pytest.mark.parametrize("alpha", [1e-9, 1e-3])
def test_ridge_with_more_columns_than_rows(check_exact, regression_data, alpha):
    known, _ = check_exact(Ridge(alpha, solver="svd"), *regression_data(0, 10, 15))
    assert known.all()


def test_classes_with_one_row(check_exact, class_data):
    X, y = class_data(0, 13)
    y[0] = "west"
    check_exact(RidgeClassifier(), X, y)
    loo = fit_loo(RidgeClassifier(), X, np.where(np.arange(13) == 4, "a", "b"))
    assert np.flatnonzero(~loo.has_prediction).tolist() == [4]


def test_frames_and_multilabel_targets(check_exact, class_data):
    X, y = class_data(0, 16)
    frame = pd.DataFrame(X, columns=list("abc"))
    check_exact(RidgeClassifier(), frame, pd.Series(y, index=np.arange(16)[::-1]))
    check_exact(Ridge(), frame, pd.Series(np.arange(16.0) % 5))
    labels = (X[:, :2] + np.random.default_rng(0).normal(size=(16, 2)) > 0).astype(int)
    check_exact(RidgeClassifier(), X, labels)


@pytest.mark.parametrize("solver", ["sag", "lsqr", "sparse_cg"])
def test_iterative_solvers_are_approximate(regression_data, solver):
    X, y = regression_data(0, 20, 2)
    loo = fit_loo(Ridge(solver=solver, tol=1e-3), X, y)
    assert (loo.method, loo.unreliable) == ("approximate", None)
    loo = fit_loo(LinearRegression(), sparse.csr_array(X), y)
    refits, _ = refit_predictions(LinearRegression(), X, y, None, ["predict"])
    np.testing.assert_allclose(loo.predictions["predict"], refits["predict"], rtol=1e-6)


def test_several_ridge_models_share_one_decomposition(regression_data, monkeypatch):
    X, y = regression_data(0)
    models = [Ridge(a, fit_intercept=f).fit(X, y) for a in (0.1, 1.0, 10.0) for f in (True, False)]
    method = find_leave_one_out(models[0])
    single = [method.predict(model, X, y).predictions["predict"] for model in models]
    svd, calls = _newton.linalg.svd, []
    monkeypatch.setattr(_newton.linalg, "svd", lambda *a, **k: calls.append(1) or svd(*a, **k))
    many = [loo.predictions["predict"] for loo in method.predict_many(models, X, y)]
    assert len(calls) == 2  # with and without intercept
    np.testing.assert_array_equal(many, single)


NEWTON = [
    (LogisticRegression(C=0.3), "two", "predict_proba", 0.01),
    (LogisticRegression(C=3.0, class_weight={"yes": 2.0, "no": 1.0}), "two", "predict_proba", 0.06),
    (LogisticRegression(C=0.3, fit_intercept=False), "two", "decision_function", 0.1),
    (LogisticRegression(C=0.5, solver="liblinear", tol=1e-8), "two", "predict_proba", 0.02),
    (LogisticRegression(C=0.3), "three", "predict_proba", 0.02),
    (LogisticRegression(C=3.0, fit_intercept=False), "three", "predict_proba", 0.05),
    (LinearSVC(C=0.3, dual=False, tol=1e-8), "two", "decision_function", 0.1),
    (
        LinearSVC(C=0.1, intercept_scaling=2.0, dual=False, tol=1e-8),
        "three",
        "decision_function",
        0.1,
    ),
    (
        LinearSVR(C=0.5, epsilon=0.1, loss="squared_epsilon_insensitive", dual=False, tol=1e-8),
        "noisy",
        "predict",
        0.05,
    ),
    (Lasso(0.02, tol=1e-10), "noisy", "predict", 0.01),
    (ElasticNet(0.05, l1_ratio=0.3, tol=1e-10), "noisy", "predict", 1e-3),
    (PoissonRegressor(alpha=0.1), "counts", "predict", 0.1),
    (GammaRegressor(alpha=0.1), "positive", "predict", 0.05),
    (TweedieRegressor(power=1.5, alpha=0.1), "counts", "predict", 0.05),
    (TweedieRegressor(power=0, alpha=0.1), "noisy", "predict", 1e-3),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("estimator", "target", "name", "tolerance"), NEWTON)
def test_newton_step_is_close_to_refits(data, estimator, target, name, tolerance, weighted):
    X, y, weights = data["X"], data[target], data["weights"] if weighted else None
    loo = fit_loo(estimator, X, y, weights)
    refits, _ = refit_predictions(estimator, X, y, weights, [name])
    assert (loo.method, loo.unreliable) == ("approximate", None)
    np.testing.assert_allclose(loo.predictions[name], refits[name], atol=tolerance)


def test_lasso_lars_has_the_predictions_of_lasso(data):
    X, y = data["X"], data["noisy"]
    found, expected = (
        leave_one_out_predict(model.fit(X, y), X, y)
        for model in (LassoLars(0.02), Lasso(0.02, tol=1e-12))
    )
    np.testing.assert_allclose(found, expected, rtol=1e-6)


def test_quadratic_losses_are_exact(data):
    X, y = data["X"], data["noisy"]
    for estimator in (Lasso(0.1, tol=1e-12), TweedieRegressor(power=0, alpha=0.1, tol=1e-10)):
        loo = fit_loo(estimator, X, y)
        refits, _ = refit_predictions(estimator, X, y, None, ["predict"])
        np.testing.assert_allclose(loo.predictions["predict"], refits["predict"], atol=1e-6)


def test_balanced_weights_are_those_of_the_fit(data):
    X, y = data["X"], data["two"]
    fixed = {label: len(y) / (2 * np.sum(y == label)) for label in np.unique(y)}
    results = [
        fit_loo(LogisticRegression(C=0.3, class_weight=weight), X, y).predictions
        for weight in ("balanced", fixed)
    ]
    np.testing.assert_allclose(*(one["predict_proba"] for one in results), atol=1e-6)


def wide_data(n_rows=40, n_columns=70):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n_rows, n_columns)) * rng.uniform(0.2, 1.5, size=n_columns)
    X = np.where(rng.random(X.shape) < 0.5, X, 0.0)
    signal = X[:, :5].sum(axis=1) + rng.normal(size=n_rows)
    return {
        "X": X,
        "two": np.where(signal > 0, "yes", "no"),
        "three": np.digitize(signal, [-0.7, 0.7]),
        "noisy": signal,
        "counts": rng.poisson(np.exp(0.3 * signal)).astype(float),
        "weights": rng.integers(0, 4, n_rows) * 0.5,
    }


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (LogisticRegression(C=0.05), "two"),
        (LogisticRegression(C=1.0, class_weight="balanced"), "two"),
        (LogisticRegression(C=0.05, fit_intercept=False), "two"),
        (LogisticRegression(C=0.05, solver="liblinear", intercept_scaling=2.0), "two"),
        (LogisticRegression(C=0.05), "three"),
        (LinearSVC(C=0.01, fit_intercept=False, tol=1e-8, max_iter=100_000), "three"),
        (LinearSVR(C=0.01, loss="squared_epsilon_insensitive", dual=False), "noisy"),
        (PoissonRegressor(alpha=2.0), "counts"),
        (PoissonRegressor(alpha=2.0, fit_intercept=False), "counts"),
        (TweedieRegressor(alpha=2.0, power=0), "noisy"),
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_wide_and_sparse_rows_equal_the_full_hessian(monkeypatch, estimator, target, weighted):
    """More columns than rows are rotated, which does not change the step."""
    made = wide_data()
    X, y, weights = made["X"], made[target], made["weights"] if weighted else None
    results = [fit_loo(estimator, rows, y, weights) for rows in (X, sparse.csr_matrix(X))]
    monkeypatch.setattr(_newton, "rotate_to_square", lambda X, coefs: (X, coefs))
    full = fit_loo(estimator, X, y, weights)
    for loo in results:
        assert loo.unreliable == full.unreliable
        for name, values in full.predictions.items():
            if values.dtype.kind == "f":
                np.testing.assert_allclose(loo.predictions[name], values, rtol=1e-4, atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(
    power=st.floats(-6.0, 4.0),
    intercept=st.sampled_from([None, "free", "penalized"]),
    seed=st.integers(0, 99),
)
def test_rotated_columns_give_the_step_of_the_full_hessian(power, intercept, seed):
    rng = np.random.default_rng(seed)
    X, coef, penalty = rng.normal(size=(20, 35)), rng.normal(size=35), 10.0**power
    slopes = rng.normal(size=20)
    curvatures = rng.uniform(0.01, 0.25, 20) * rng.choice([1.0, 1e-3, 0.0], 20)
    model = SimpleNamespace(fit_intercept=intercept is not None, intercept_=0.7)
    model.intercept_scaling = 1.0
    columns, (rotated,), penalties = _newton.newton_columns(
        model, X, coef[None], penalty, liblinear=intercept == "penalized"
    )
    step = _newton.newton_step(
        columns, columns @ rotated, slopes, curvatures, penalties, np.zeros(len(penalties))
    )
    all_penalties = np.full(35, penalty)
    if intercept is not None:
        X, coef = np.c_[X, np.ones(20)], np.append(coef, 0.7)
        all_penalties = np.append(all_penalties, penalty if intercept == "penalized" else 0.0)
    hessian = (X * curvatures[:, None]).T @ X + np.diag(all_penalties)
    own = np.sum(X * np.linalg.solve(hessian, X.T).T, axis=1)
    expected = X @ coef + own * slopes / (1.0 - own * curvatures)
    used = own * curvatures < 0.999  # others amplify rounding errors
    np.testing.assert_allclose(step.leverages, own * curvatures, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(step.scores[used], expected[used], rtol=1e-4, atol=1e-6)


def test_wide_rows_are_close_to_refits(data):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 50))
    for target in ("two", "three"):
        y = data[target][:30]
        loo = fit_loo(LogisticRegression(C=0.01), X, y)
        refits, _ = refit_predictions(LogisticRegression(C=0.01), X, y, None, ["predict_proba"])
        np.testing.assert_allclose(
            loo.predictions["predict_proba"], refits["predict_proba"], atol=0.01
        )


def test_large_newton_systems_are_declined_before_they_are_built(monkeypatch, data):
    rng = np.random.default_rng(0)
    codes = np.arange(600) % 200
    X = rng.normal(size=(600, 40)) + rng.normal(size=(200, 40))[codes]
    monkeypatch.setattr(np.linalg, "inv", None)
    loo = fit_loo(LogisticRegression(max_iter=5), X, codes)
    assert loo.predictions == {}
    assert loo.unreliable == "X is too large: more than 400 MB would be needed"
    monkeypatch.setattr(_newton, "MIN_FLOPS", 0.0)
    monkeypatch.setattr(_newton, "MAX_COST", 0.01)
    for estimator, target in [
        (LogisticRegression(), "two"),
        (PoissonRegressor(), "counts"),
        (LinearSVC(dual=False), "two"),
    ]:
        loo = fit_loo(estimator, data["X"], data[target])
        assert loo.unreliable == "the Newton step would take longer than several fits"


def test_unreliable_predictions_have_a_reason(regression_data, data):
    rng = np.random.default_rng(0)
    X, square = rng.standard_normal((40, 20)), rng.standard_normal((30, 60))
    steep = data["X"] * [1, 100, 1, 1]
    small, y = regression_data(0, 20, 2)
    close = np.column_stack([small, small[:, 0] + 1e-11 * small[:, 1] ** 2])
    cases = [
        (LogisticRegression(C=1e4, max_iter=1000), X, X[:, 0] > 0, "separates its training rows"),
        (LogisticRegression(C=10.0, max_iter=2), steep, data["two"], "has not converged"),
        (Lasso(0.01, max_iter=100_000), square, square[:, 0] + X[:30, 1], "are nonzero for 30 row"),
        (Ridge(1e-3, solver="sag", max_iter=1), small * [1.0, 1e3], y, "solver stopped early"),
    ]
    if "tol" in LinearRegression().get_params():  # scikit-learn >= 1.7
        cases.append((LinearRegression(tol=1e-15), close, y, "so close to collinear"))
    for estimator, rows, target, reason in cases:
        if "random_state" in estimator.get_params():
            estimator.set_params(random_state=0)
        assert reason in fit_loo(estimator, rows, target).unreliable


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (LogisticRegression(l1_ratio=1.0, solver="saga"), "requires a smooth penalty"),
        (LinearSVC(penalty="l1", dual=False), "requires a smooth penalty"),
        (LinearSVC(multi_class="crammer_singer"), "has one loss for all classes"),
        (LinearSVC(loss="hinge"), "SVC(kernel='linear') is supported"),
        (LinearSVR(), "SVR(kernel='linear') is supported"),
        (Ridge(positive=True), "positive=True"),
        (LinearRegression(positive=True), "positive=True"),
        (RidgeClassifier(positive=True), "positive=True"),
    ],
)
def test_unsupported_parameters_have_a_reason(estimator, reason):
    if type(estimator) is LogisticRegression and estimator.penalty == "l2":  # scikit-learn < 1.8
        estimator.set_params(penalty="l1")
    assert reason in find_leave_one_out(estimator).unsupported_reason(estimator)


def test_models_that_choose_their_penalty_have_no_method():
    assert find_leave_one_out(RidgeCV()) is None


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (LogisticRegression(), "two"),
        (LinearSVC(dual=False), "two"),
        (Lasso(0.02), "noisy"),
        (PoissonRegressor(), "counts"),
        (LinearRegression(), "noisy"),
        (Ridge(), "noisy"),
        (RidgeClassifier(), "two"),
    ],
)
def test_rows_of_another_fit_raise(data, estimator, target):
    X, y = data["X"], data[target]
    model = clone(estimator).fit(X, y)
    predict = find_leave_one_out(model).predict
    with pytest.raises(ValueError, match="was not fitted to these rows"):
        predict(model, X[::-1] * [1, -1, 1, 1], y)
    with pytest.raises(ValueError, match="X has 3 columns, the model 4"):
        predict(model, X[:, :3], y)
    with pytest.raises(ValueError, match="X has 50 rows, y 49"):
        predict(model, X, y[1:])
    with pytest.raises(ValueError, match=r"sample_weight must have shape \(50,\), got \(3,\)"):
        predict(model, X, y, np.ones(3))
