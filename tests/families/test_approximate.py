"""Approximate leave-one-out against fits without the row."""

import runpy
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import (
    ElasticNet,
    GammaRegressor,
    Lasso,
    LogisticRegression,
    PoissonRegressor,
    TweedieRegressor,
)
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR

from leavezero.families import _glm, _linear_svm, _logistic, _sparse_linear, _svm

FAMILIES = (
    *_glm.FAMILIES,
    *_linear_svm.FAMILIES,
    *_logistic.FAMILIES,
    *_sparse_linear.FAMILIES,
    *_svm.FAMILIES,
)
N_ROWS = 50


def family(estimator):
    return next(family for family in FAMILIES if family.covers(estimator))


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
        "numbers": noisy,
        "counts": rng.poisson(np.exp(signal)).astype(float),
        "sizes": rng.gamma(3.0, np.exp(signal) / 3.0) + 0.01,
        "weights": rng.uniform(0.5, 2.0, N_ROWS),
    }


def left_out(estimator, X, y, weights, method):
    """Return a method's answer for each row from a fit without it."""
    answers = []
    for row in range(len(y)):
        kept = np.arange(len(y)) != row
        more = {} if weights is None else {"sample_weight": weights[kept]}
        model = clone(estimator).fit(X[kept], y[kept], **more)
        answers.append(getattr(model, method)(X[[row]])[0])
    return np.array(answers)


def answers(estimator, X, y, weights=None):
    more = {} if weights is None else {"sample_weight": weights}
    model = clone(estimator).fit(X, y, **more)
    return model, family(model).unseen(model, X, y, weights)


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
        "numbers",
        "predict",
        0.05,
    ),
    (Lasso(0.02, tol=1e-10), "numbers", "predict", 0.01),
    (ElasticNet(0.05, l1_ratio=0.3, tol=1e-10), "numbers", "predict", 1e-3),
    (PoissonRegressor(alpha=0.1), "counts", "predict", 0.1),
    (GammaRegressor(alpha=0.1), "sizes", "predict", 0.05),
    (TweedieRegressor(power=1.5, alpha=0.1), "counts", "predict", 0.05),
    (TweedieRegressor(power=0, alpha=0.1), "numbers", "predict", 1e-3),
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("estimator", "target", "method", "tolerance"), NEWTON)
def test_one_newton_step_is_close_to_a_fit_without_the_row(
    data, estimator, target, method, tolerance, weighted
):
    """The step answers within the stated tolerance, with weights and without."""
    X, y, weights = data["X"], data[target], data["weights"] if weighted else None
    _, unseen = answers(estimator, X, y, weights)
    true = left_out(estimator, X, y, weights, method)
    assert unseen.kind == "approximate"
    assert unseen.doubt is None
    np.testing.assert_allclose(unseen.responses[method], true, atol=tolerance)


def test_quadratic_losses_are_exact(data):
    """Where the loss is quadratic and the columns in use stay, nothing is lost."""
    X, y = data["X"], data["numbers"]
    for estimator in (Lasso(0.1, tol=1e-12), TweedieRegressor(power=0, alpha=0.1, tol=1e-10)):
        _, unseen = answers(estimator, X, y)
        true = left_out(estimator, X, y, None, "predict")
        np.testing.assert_allclose(unseen.responses["predict"], true, atol=1e-6)


MACHINES = [
    SVC(),
    SVC(C=5.0, gamma=0.1),
    SVC(kernel="linear", class_weight="balanced"),
    SVC(kernel="poly", degree=2, coef0=1.0),
    NuSVC(nu=0.4),
]


@pytest.mark.parametrize("target", ["two", "three"])
@pytest.mark.parametrize("estimator", MACHINES)
def test_the_span_rule_is_close_to_fits_without_the_row(data, estimator, target):
    """At most one label in eight differs from true leave-one-out; most scores hardly do."""
    X, y, weights = data["X"], data[target], data["weights"]
    _, unseen = answers(estimator, X, y, weights)
    labels = left_out(estimator, X, y, weights, "predict")
    scores = left_out(estimator, X, y, weights, "decision_function")
    assert np.mean(unseen.responses["predict"] != labels) <= 0.125
    assert np.median(np.abs(unseen.responses["decision_function"] - scores)) < 0.05
    assert unseen.responses["predict"].dtype == labels.dtype
    assert unseen.responses["decision_function"].shape == scores.shape


@pytest.mark.parametrize("estimator", [SVR(C=5.0), SVR(kernel="linear"), NuSVR(C=5.0)])
def test_the_span_rule_knows_regression(data, estimator):
    """The mean squared loss is within an eighth of true leave-one-out's."""
    X, y = data["X"], data["numbers"]
    _, unseen = answers(estimator, X, y)
    true = left_out(estimator, X, y, None, "predict")
    ours, theirs = (np.mean((said - y) ** 2) for said in (unseen.responses["predict"], true))
    assert ours == pytest.approx(theirs, rel=0.125)


@pytest.mark.parametrize(
    "estimator", [SVC(), SVC(decision_function_shape="ovo"), SVC(break_ties=True, gamma=2.0)]
)
@pytest.mark.parametrize("target", ["two", "three"])
def test_rows_that_support_nothing_keep_what_the_model_says(data, estimator, target):
    """The pairs' scores become votes and labels as scikit-learn makes them."""
    model, unseen = answers(estimator, data["X"], data[target])
    idle = np.setdiff1d(np.arange(N_ROWS), model.support_)
    for method in ("predict", "decision_function"):
        expected = getattr(model, method)(data["X"])[idle]
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(unseen.responses[method][idle], expected, atol=1e-5)
        else:
            np.testing.assert_array_equal(unseen.responses[method][idle], expected)


def test_kernels_may_be_precomputed_or_functions(data):
    """The same kernel, said in three ways, gives the same answers."""
    X, y = data["X"], data["two"]
    kernel = rbf_kernel(X, gamma=0.2)

    def same(left, right):
        return rbf_kernel(left, right, gamma=0.2)

    _, named = answers(SVC(gamma=0.2), X, y)
    _, given = answers(SVC(kernel="precomputed"), kernel, y)
    _, called = answers(SVC(kernel=same), X, y)
    _, thin = answers(SVC(gamma=0.2), sparse.csr_matrix(X), y)
    for other in (given, called, thin):
        np.testing.assert_allclose(
            named.responses["decision_function"], other.responses["decision_function"], atol=1e-5
        )


def test_frames_and_sparse_rows_answer_as_arrays_do(data):
    """The container changes nothing."""
    X, y = data["X"], data["two"]
    frame = pd.DataFrame(X, columns=list("abcd"))
    for estimator in (LogisticRegression(C=0.3), LinearSVC(C=0.3, dual=False), SVC()):
        _, plain = answers(estimator, X, y)
        _, framed = answers(estimator, frame, pd.Series(y))
        np.testing.assert_allclose(
            plain.responses["decision_function"], framed.responses["decision_function"]
        )
    _, thin = answers(LogisticRegression(C=0.3), sparse.csr_matrix(X), y)
    _, plain = answers(LogisticRegression(C=0.3), X, y)
    np.testing.assert_allclose(
        plain.responses["predict_proba"], thin.responses["predict_proba"], atol=1e-4
    )


def test_more_columns_than_rows_are_turned(data):
    """With more columns than rows the step is the same, at the cost of the rows."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 50)), data["two"][:30]
    for labels in (y, data["three"][:30]):
        _, unseen = answers(LogisticRegression(C=0.01), X, labels)
        true = left_out(LogisticRegression(C=0.01), X, labels, None, "predict_proba")
        np.testing.assert_allclose(unseen.responses["predict_proba"], true, atol=0.01)


def test_balanced_weights_stay_those_of_the_fit(data):
    """Weights by class are taken as the fit had them."""
    X, y = data["X"], data["two"]
    balanced = LogisticRegression(C=0.3, class_weight="balanced")
    shares = {label: len(y) / (2 * np.sum(y == label)) for label in np.unique(y)}
    _, unseen = answers(balanced, X, y)
    _, fixed = answers(LogisticRegression(C=0.3, class_weight=shares), X, y)
    np.testing.assert_allclose(
        unseen.responses["predict_proba"], fixed.responses["predict_proba"], atol=1e-6
    )


def test_separated_rows_with_little_regularization_are_doubted():
    """Single rows hold a model that makes no error and is hardly penalized."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((40, 20))
    y = (X[:, 0] > 0).astype(int)
    _, unseen = answers(LogisticRegression(C=1e4, max_iter=1000), X, y)
    assert unseen.doubt.startswith("the model separates its rows with so little regularization")


def test_a_solver_that_stopped_early_is_doubted(data):
    """Coefficients that do not minimize the loss cannot tell what a fit without the row does."""
    model = LogisticRegression(C=10.0, solver="lbfgs", max_iter=2)
    with pytest.warns(Warning, match="failed to converge"):
        model.fit(data["X"] * [1, 100, 1, 1], data["two"])
    unseen = family(model).unseen(model, data["X"] * [1, 100, 1, 1], data["two"])
    assert unseen.doubt == "the solver has not converged"


def test_machines_without_free_vectors_are_doubted(data):
    """With all support vectors at their bound nothing tells where the machine would move."""
    _, unseen = answers(SVC(C=1e-3), data["X"], data["two"])
    assert unseen.doubt == (
        "the machine stands on 0 free support vectors, too few to tell how it moves"
    )


def test_columns_in_use_for_most_rows_are_doubted():
    """A lasso with as many columns as rows would use others without a row."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((30, 60)), rng.standard_normal(30)
    _, unseen = answers(Lasso(0.01, max_iter=100_000), X, y)
    assert "columns are in use for 30 rows" in unseen.doubt


REFUSED = [
    (
        LogisticRegression(l1_ratio=1.0, solver="saga"),
        "one Newton step needs a smooth penalty, and part of this one is l1",
    ),
    (
        LinearSVC(penalty="l1", dual=False),
        "one Newton step needs a smooth penalty, and this one is l1",
    ),
    (
        LinearSVC(multi_class="crammer_singer"),
        "multi_class='crammer_singer' has one loss for all classes",
    ),
    (
        LinearSVC(loss="hinge"),
        "the hinge has no second derivative and liblinear keeps no multipliers for the span rule; "
        "SVC(kernel='linear') does",
    ),
    (
        LinearSVR(),
        "the hinge has no second derivative and liblinear keeps no multipliers for the span rule; "
        "SVR(kernel='linear') does",
    ),
]


@pytest.mark.parametrize(("estimator", "reason"), REFUSED)
def test_settings_that_are_not_covered_say_why(estimator, reason):
    """The reason reads as the end of a sentence."""
    if type(estimator) is LogisticRegression and estimator.penalty == "l2":  # before 1.8
        estimator.set_params(penalty="l1")
    assert family(estimator).refuses(estimator) == reason


@pytest.mark.parametrize(
    ("estimator", "target"),
    [
        (LogisticRegression(), "two"),
        (LinearSVC(dual=False), "two"),
        (SVC(), "two"),
        (SVR(), "numbers"),
        (Lasso(0.02), "numbers"),
        (PoissonRegressor(), "counts"),
    ],
)
def test_rows_of_another_fit_are_refused(data, estimator, target):
    """A model does not answer for rows that it was not fitted to."""
    X, y = data["X"], data[target]
    model = clone(estimator).fit(X, y)
    with pytest.raises(ValueError, match="was not fitted to these rows"):
        family(model).unseen(model, X[::-1] * [1, -1, 1, 1], y)
    with pytest.raises(ValueError, match="X has 3 columns, the model 4"):
        family(model).unseen(model, X[:, :3], y)
    with pytest.raises(ValueError, match="X has 50 rows, y 49"):
        family(model).unseen(model, X, y[1:])


def test_what_a_model_remembers_is_compared(data):
    """Each fingerprint has its own words."""
    X, y = data["X"], data["two"]
    model = SVC().fit(X, y)
    unseen = family(model).unseen
    with pytest.raises(ValueError, match="it saw 50 rows, X has 49"):
        unseen(model, X[:-1], y[:-1])
    with pytest.raises(ValueError, match="its support vectors are other rows of X"):
        unseen(model, X + 1.0, y)
    with pytest.raises(ValueError, match="its support vectors have other classes in y"):
        unseen(model, X, y[::-1])
    with pytest.raises(ValueError, match="it knows no class 'maybe'"):
        unseen(model, X, np.where(y == "no", "maybe", y))
    with pytest.raises(ValueError, match="a number for each of 50 rows"):
        unseen(model, X, y, np.ones(3))
    other = SVC(kernel="precomputed").fit(rbf_kernel(X, gamma=0.2), y)
    with pytest.raises(ValueError, match="do not lie on the margin"):
        unseen(other, rbf_kernel(X, gamma=20.0), y)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_the_guards_flag_the_misses():
    """Of the candidates off by more than a standard error 95 % are flagged."""
    script = Path(__file__).parents[2] / "benchmarks" / "unseen_error.py"
    benchmark = runpy.run_path(str(script))
    rates = {row[0]: row for row in benchmark["guard_rates"](benchmark["measure"](1, seed=7))}
    _, n_candidates, n_missed, n_caught, alarmed = rates["all"]
    assert n_candidates > 500
    assert n_caught >= 0.95 * n_missed
    assert alarmed < 0.5
