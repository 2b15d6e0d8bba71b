"""A step over many sparse rows is the plain one, in single precision where that is enough."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import linalg, sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, PoissonRegressor, TweedieRegressor
from sklearn.svm import LinearSVC, LinearSVR

from leavezero.families import _newton, _tall, family_of
from leavezero.families._fitted_to import step_columns

N_ROWS, N_COLUMNS = 400, 310


def made(rng):
    """Return rows of which most is zeros, one without any entry, with columns of many sizes."""
    X = rng.normal(size=(N_ROWS, N_COLUMNS)) * rng.uniform(0.2, 1.5, size=N_COLUMNS)
    X = np.where(rng.random(X.shape) < 0.05, X, 0.0)
    X[7] = 0.0
    return X


@given(st.floats(-6.0, 4.0), st.booleans(), st.booleans(), st.integers(0, 99))
@settings(max_examples=40, deadline=None)
def test_pairs_of_columns_say_what_the_hessian_does(power, constant, flat, seed):
    """Leverages, the pull and the decrement are those of all columns, whatever the penalty."""
    rng = np.random.default_rng(seed)
    rows, penalties = made(rng), np.full(N_COLUMNS, 10.0**power)
    if constant:
        rows, penalties = np.hstack([rows, np.ones((N_ROWS, 1))]), np.append(penalties, 0.0)
    second = rng.uniform(0.01, 0.25, N_ROWS) * rng.choice([1.0, 1e-3], N_ROWS)
    if flat:
        second[::3] = 0.0
    gradient, pull = rng.normal(size=(2, len(penalties)))
    given_rows = sparse.csr_array(rows)
    own, pulled, decrement = _tall.solve_tall(given_rows, second, penalties, gradient, pull)
    inverse = linalg.inv((rows * second[:, None]).T @ rows + np.diag(penalties))
    right = np.einsum("ij,ij->i", rows @ inverse, rows)
    np.testing.assert_allclose(own, right, rtol=1e-3, atol=1e-4 * right.max())
    np.testing.assert_allclose(second * own, second * right, atol=2e-4)
    wanted = inverse @ pull
    np.testing.assert_allclose(pulled, wanted, rtol=0, atol=1e-3 * abs(wanted).max())
    assert decrement == pytest.approx(gradient @ inverse @ gradient, rel=1e-3)


def test_rows_in_any_order_are_left_as_they_are():
    """Entries out of order say the same, and a caller's arrays that cannot be written to do."""
    rng = np.random.default_rng(0)
    rows = sparse.csr_array(made(rng))
    ends = zip(rows.indptr[:-1], rows.indptr[1:], strict=True)
    order = np.concatenate([np.arange(start, stop)[::-1] for start, stop in ends])
    form = rows.data[order], rows.indices[order], rows.indptr
    turned = sparse.csr_array(form, shape=rows.shape)
    assert not turned.has_sorted_indices
    for part in (turned.data, turned.indices, turned.indptr):
        part.flags.writeable = False
    rest = (rng.uniform(0.1, 0.25, N_ROWS), np.ones(N_COLUMNS), np.zeros(N_COLUMNS), None)
    own, right = (_tall.solve_tall(some, *rest)[0] for some in (turned, rows))
    np.testing.assert_allclose(own, right, rtol=1e-4)


def test_what_single_precision_would_blur_is_found_in_double():
    """A Hessian near to one without an inverse is factored in double precision."""
    rng = np.random.default_rng(0)
    rows = sparse.csr_array(np.hstack([made(rng)] * 2)[:, : N_COLUMNS + 5])  # five columns twice
    second, nothing = np.full(N_ROWS, 0.25), np.zeros(N_COLUMNS + 5)
    for strength, kind in ((1.0, np.float32), (1e-6, np.float64)):
        hessian = (rows.T @ rows).toarray() * 0.25 + strength * np.eye(N_COLUMNS + 5)
        assert _tall._factor(hessian).dtype == kind
        own, _, _ = _tall.solve_tall(rows, second, nothing + strength, nothing, None)
        dense = rows.toarray()
        right = np.einsum("ij,ij->i", dense @ linalg.inv(hessian), dense)
        np.testing.assert_allclose(own, right, rtol=1e-4)


def test_a_curvature_below_zero_is_left_to_the_plain_step():
    rng = np.random.default_rng(0)
    rows, second = made(rng), rng.normal(size=N_ROWS)
    rest = (rows @ np.zeros(N_COLUMNS), np.ones(N_ROWS), second)
    more = (np.full(N_COLUMNS, 1e-3), rng.normal(size=N_COLUMNS))
    with pytest.raises(linalg.LinAlgError, match="not positive"):
        _tall.solve_tall(sparse.csr_array(rows), second, *more, None)
    told = _newton.leave_out(sparse.csr_array(rows), *rest, *more)
    np.testing.assert_array_equal(told.scores, _newton.leave_out(rows, *rest, *more).scores)


@pytest.mark.parametrize(
    ("rows", "stays"),
    [
        (sparse.random(400, 310, 0.05, "csr", random_state=0), True),
        (sparse.random(400, 310, 0.5, "csr", random_state=0), False),
        (sparse.random(400, 30, 0.05, "csr", random_state=0), False),
        (np.zeros((400, 310)), False),
    ],
)
def test_only_rows_that_gain_by_it_stay_sparse(rows, stays):
    columns, _ = step_columns(rows, np.zeros((1, rows.shape[1])), penalized=True)
    assert sparse.issparse(columns) == stays
    columns, _ = step_columns(rows, np.zeros((1, rows.shape[1])), penalized=False)
    assert not sparse.issparse(columns)


USERS = [
    (LogisticRegression(C=1.0), "labels"),
    (LogisticRegression(C=1.0, class_weight="balanced", fit_intercept=False), "labels"),
    (LogisticRegression(C=1e4, max_iter=5000), "labels"),
    (LogisticRegression(C=0.05, solver="liblinear", intercept_scaling=2.0), "labels"),
    (LinearSVC(C=0.01, tol=1e-8, max_iter=100_000), "three"),
    (LinearSVR(C=0.01, loss="squared_epsilon_insensitive", dual=False), "numbers"),
    (PoissonRegressor(alpha=0.1), "counts"),
    (TweedieRegressor(alpha=0.1, power=0), "numbers"),
]


@pytest.mark.parametrize(("estimator", "target"), USERS)
@pytest.mark.parametrize("weighted", [False, True])
def test_families_answer_as_of_dense_rows(estimator, target, weighted, monkeypatch, says_the_same):
    """Every family that steps over sparse rows says, and doubts, what it does of dense ones."""
    rng = np.random.default_rng(1)
    X = made(rng)
    signal = X[:, :40].sum(axis=1) + rng.normal(size=N_ROWS)
    y = {
        "labels": np.where(signal > 0, "yes", "no"),
        "three": np.digitize(signal, [-0.7, 0.7]),
        "numbers": signal,
        "counts": rng.poisson(np.exp(0.3 * signal)).astype(float),
    }[target]
    weights = rng.integers(0, 4, N_ROWS) * 0.5 if weighted else None
    rows = sparse.csr_matrix(X)
    model = clone(estimator).fit(rows, y, sample_weight=weights)
    taken = []
    solve = _tall.solve_tall
    monkeypatch.setattr(_newton, "solve_tall", lambda *of: taken.append(1) or solve(*of))
    told = family_of(model).unseen(model, rows, y, weights)
    assert taken
    plain = family_of(model).unseen(model, X, y, weights)
    says_the_same(told, plain, 1e-3)
