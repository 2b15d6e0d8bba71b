"""A step from the products of rows is the plain one, in single precision where that is enough."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler
from sklearn.svm import LinearSVC, LinearSVR

from leavezero.families import _newton, _wide, family_of

N_ROWS, N_COLUMNS = 40, 70


def made(rng, dense=True):
    """Return wide rows, of which a half is zeros, with columns of many sizes."""
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * rng.uniform(0.2, 1.5, size=N_COLUMNS)
    X = np.where(rng.random(X.shape) < 0.5, X, 0.0)
    return X if dense else sparse.csr_matrix(X)


def plainly(rows, second, penalties, gradient, pull):
    """Return what the Hessian of all columns says, in double precision."""
    rows = rows.toarray() if sparse.issparse(rows) else rows
    inverse = linalg.inv((rows * second[:, None]).T @ rows + np.diag(penalties))
    own = np.einsum("ij,ij->i", rows @ inverse, rows)
    return own, inverse @ pull, float(gradient @ inverse @ gradient)


@given(
    st.floats(-6.0, 4.0),
    st.sampled_from([None, 0.0, 1.0]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=60, deadline=None)
def test_products_say_what_the_hessian_does(power, constant, dense, flat, seed):
    """Leverages, the pull and the decrement are those of all columns, however strong the penalty.

    ``constant`` is the share of the penalty that a constant column has, if there is one.
    """
    rng = np.random.default_rng(seed)
    rows, strength = made(rng, dense), 10.0**power
    penalties = np.full(N_COLUMNS, strength)
    if constant is not None:
        column = np.ones((N_ROWS, 1))
        rows = np.hstack([rows, column]) if dense else sparse.hstack([rows, column], format="csr")
        penalties = np.append(penalties, constant * strength)
    second = rng.uniform(0.01, 0.25, N_ROWS) * rng.choice([1.0, 1e-3, 1e-9], N_ROWS)
    if flat:
        second[::3] = 0.0
    gradient, pull = rng.normal(size=(2, len(penalties)))
    known = _wide.products_of(rows)
    own, pulled, decrement = _wide.solve_wide(known, second, penalties, rows, gradient, pull)
    right_own, right_pulled, right = plainly(rows, second, penalties, gradient, pull)
    longest = np.diagonal(known).max() / strength
    np.testing.assert_allclose(own, right_own, rtol=1e-5, atol=1e-6 * longest)
    np.testing.assert_allclose(pulled, right_pulled, rtol=0, atol=1e-4 * abs(right_pulled).max())
    assert decrement == pytest.approx(right, rel=1e-4)


@pytest.mark.parametrize("constant", [True, False])
def test_slight_leverages_keep_their_digits(constant):
    """Under a penalty that leaves a row almost no leverage, what it has is exact to five digits."""
    rng = np.random.default_rng(0)
    rows = np.hstack([made(rng), np.ones((N_ROWS, 1))]) if constant else made(rng)
    penalties = np.full(rows.shape[1], 1e7)
    penalties[-1] = 0.0 if constant else 1e7
    second = rng.uniform(1e-6, 0.25, N_ROWS)
    nothing = np.zeros(rows.shape[1])
    own, _, _ = _wide.solve_wide(_wide.products_of(rows), second, penalties, rows, nothing, nothing)
    right, _, _ = plainly(rows, second, penalties, nothing, nothing)
    np.testing.assert_allclose(own, right, rtol=1e-5)


def test_products_beyond_rounding_are_refused():
    """Rows so far from zero that their differences are lost in their products are an error."""
    rng = np.random.default_rng(0)
    rows = np.hstack([made(rng) + 1e9, np.ones((N_ROWS, 1))])
    penalties = np.append(np.full(N_COLUMNS, 1.0), 0.0)
    nothing, second = np.zeros(N_COLUMNS + 1), np.full(N_ROWS, 0.25)
    with pytest.raises(linalg.LinAlgError, match="their differences are lost in rounding"):
        _wide.solve_wide(_wide.products_of(rows), second, penalties, rows, nothing, None)


USERS = [
    (LogisticRegression(C=0.05), "labels"),
    (LogisticRegression(C=1.0, class_weight="balanced"), "labels"),
    (LogisticRegression(C=0.05, fit_intercept=False), "labels"),
    (LogisticRegression(C=1e4, max_iter=5000), "labels"),
    (LogisticRegression(C=0.05, solver="liblinear", intercept_scaling=2.0), "labels"),
    (LinearSVC(C=0.01, tol=1e-8, max_iter=100_000), "labels"),
    (LinearSVC(C=0.01, fit_intercept=False, tol=1e-8, max_iter=100_000), "three"),
    (LinearSVR(C=0.01, loss="squared_epsilon_insensitive", dual=False), "numbers"),
    (PoissonRegressor(alpha=2.0), "counts"),
    (PoissonRegressor(alpha=2.0, fit_intercept=False), "counts"),
    (TweedieRegressor(alpha=2.0, power=0), "numbers"),
]


def targets(rng, X):
    signal = X[:, :5].sum(axis=1) + rng.normal(size=len(X))
    return {
        "labels": np.where(signal > 0, "yes", "no"),
        "three": np.digitize(signal, [-0.7, 0.7]),
        "numbers": signal,
        "counts": rng.poisson(np.exp(0.3 * signal)).astype(float),
    }


@pytest.mark.parametrize(("estimator", "target"), USERS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dense", [True, False])
def test_families_answer_as_by_the_plain_step(
    estimator, target, weighted, dense, monkeypatch, says_the_same
):
    """Every family that steps over wide rows says, and doubts, what the plain step would."""
    rng = np.random.default_rng(1)
    X = made(rng)
    y = targets(rng, X)[target]
    weights = rng.integers(0, 4, N_ROWS) * 0.5 if weighted else None
    rows = X if dense else sparse.csr_matrix(X)
    model = clone(estimator).fit(rows, y, sample_weight=weights)
    told = family_of(model).unseen(model, rows, y, weights)
    monkeypatch.setattr(_newton, "steps_by_products", lambda *_: False)
    plain = family_of(model).unseen(model, X, y, weights)
    says_the_same(told, plain, 1e-4)


TOGETHER = [
    (LogisticRegression(), "labels"),
    (LogisticRegression(fit_intercept=False, class_weight="balanced"), "labels"),
    (LogisticRegression(), "three"),
    (LogisticRegression(solver="liblinear"), "labels"),
    (LinearSVC(tol=1e-8, max_iter=100_000), "labels"),
]


@pytest.mark.parametrize(("estimator", "target"), TOGETHER)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("piped", [False, True])
@pytest.mark.parametrize("n_columns", [5, N_COLUMNS])
def test_models_asked_together_answer_as_each_alone(estimator, target, weighted, piped, n_columns):
    """Calls that share the products of rows say what each model says by itself."""
    rng = np.random.default_rng(2)
    X = made(rng)
    y = targets(rng, X)[target]
    X = sparse.csr_matrix(X[:, :n_columns])
    weights = rng.uniform(0.5, 2.0, N_ROWS) if weighted else None
    models = [clone(estimator).set_params(C=C) for C in (0.01, 0.1)]
    step = type(estimator).__name__.lower()
    if piped:
        models = [make_pipeline(MaxAbsScaler(), model) for model in models]
    more = {f"{step}__sample_weight" if piped else "sample_weight": weights}
    for model in models:
        model.fit(X, y, **more)
    family = family_of(models[0])
    asked = family.unseen_many(models, X, y, weights)
    for model, ask in zip(models, asked, strict=True):
        alone, told = family.unseen(model, X, y, weights), ask()
        assert (told.kind, told.doubt) == (alone.kind, alone.doubt)
        assert told.responses.keys() == alone.responses.keys()
        for method, right in alone.responses.items():
            np.testing.assert_array_equal(told.responses[method], right)
