"""Newton steps of many models at once are those of each by itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.utils.class_weight import compute_sample_weight

from leavezero.families import _logistic, family_of
from leavezero.families._logistic_many import solve_logistic
from leavezero.families._newton import leave_out
from leavezero.families._newton_many import Pairs, leave_out_many, steady_inverses

SEEDS = st.integers(0, 2**31)


def table(seed, n_rows=60, n_columns=4):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, 0] - X[:, -1] + rng.standard_normal(n_rows)
    return X, np.where(signal > 0, "yes", "no"), signal, rng.uniform(0.5, 2.0, n_rows)


def alone_and_together(models, X, y, weights=None):
    """Yield what each model says of unseen rows by itself, and among others."""
    family = family_of(models[0])
    fitted = [clone(model) for model in models]
    family.fit_many(fitted, X, y, weights)
    asks = family.unseen_many(fitted, X, y, weights)
    for model, ask in zip(fitted, asks, strict=True):
        yield family.unseen(model, X, y, weights), ask()


@settings(max_examples=25, deadline=None)
@given(seed=SEEDS, n_models=st.integers(1, 4), pulled=st.booleans())
def test_steps_are_those_of_each_model(seed, n_models, pulled):
    """Scores, leverages and decrements, with any curvature and any columns in use."""
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(30, 3))
    scores, first = rng.normal(size=(2, 30, n_models))
    second = rng.uniform(0.1, 1.0, (30, n_models))
    penalties = rng.uniform(0.1, 2.0, (n_models, 3))
    gradients, pulls = rng.normal(size=(2, n_models, 3))
    shares = rng.uniform(0.5, 1.0, 30)
    used = rng.random((n_models, 3)) < 0.7
    used[:, 0] = True
    many = leave_out_many(
        Pairs(rows),
        scores,
        first,
        second,
        penalties,
        gradients * used,
        pulls * used if pulled else None,
        shares if pulled else None,
        used,
    )
    for at, step in enumerate(many):
        own = used[at]
        right = leave_out(
            rows[:, own],
            scores[:, at],
            first[:, at],
            second[:, at],
            penalties[at][own],
            gradients[at][own],
            pulls[at][own] if pulled else None,
            shares if pulled else None,
        )
        np.testing.assert_allclose(step.scores, right.scores, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(step.leverages, right.leverages, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(step.decrement, right.decrement, rtol=1e-8)


def test_what_has_hardly_an_inverse_is_left_alone():
    """Columns that depend on one another are for the step that takes more care."""
    singular = np.ones((1, 2, 2))
    assert steady_inverses(singular, np.zeros((1, 2))) is None
    assert steady_inverses(-singular, np.zeros((1, 2))) is None
    assert steady_inverses(singular, np.ones((1, 2))) is not None


def objective(model, X, y, weights):
    """Return what a logistic regression minimizes."""
    each = compute_sample_weight(model.class_weight, y) * (1.0 if weights is None else weights)
    truth = np.where(y == model.classes_[1], 1.0, -1.0)
    losses = np.logaddexp(0.0, -truth * model.decision_function(X))
    return each @ losses + np.sum(model.coef_**2) / (2.0 * model.C)


@settings(max_examples=20, deadline=None)
@given(
    seed=SEEDS,
    powers=st.lists(st.integers(-6, 6), min_size=2, max_size=5, unique=True),
    intercept=st.booleans(),
    weighted=st.booleans(),
    class_weight=st.sampled_from([None, "balanced", {"no": 3.0}]),
)
def test_logistic_regressions_solved_together(seed, powers, intercept, weighted, class_weight):
    """Each is as near to its minimum as a plain fit, or nearer; unseen rows as each alone."""
    X, y, _, weights = table(seed)
    weights = weights if weighted else None
    more = {"fit_intercept": intercept, "class_weight": class_weight, "tol": 1e-8}
    models = [LogisticRegression(C=10.0**p, max_iter=5000, **more) for p in powers]
    fitted = [clone(model) for model in models]
    family_of(models[0]).fit_many(fitted, X, y, weights)
    for own, plain in zip(fitted, models, strict=True):
        plain.fit(X, y, sample_weight=weights)
        if not (weighted and class_weight == "balanced"):  # versions differ in what that weighs
            assert objective(own, X, y, weights) <= objective(plain, X, y, weights) * (1 + 1e-9)
        np.testing.assert_allclose(own.predict_proba(X), plain.predict_proba(X), atol=1e-4)
        assert vars(own).keys() == vars(plain).keys()
        assert own.n_iter_.shape == plain.n_iter_.shape
        assert own.n_iter_.dtype == plain.n_iter_.dtype
        assert np.array_equal(own.classes_, plain.classes_)
    for right, told in alone_and_together(models, X, y, weights):
        assert right.doubt == told.doubt
        for method, said in right.responses.items():
            if said.dtype.kind == "f":
                np.testing.assert_allclose(told.responses[method], said, rtol=1e-6, atol=1e-8)


def test_columns_that_nothing_tells_apart():
    """Without a penalty there are many minima: the steps give up and say so."""
    X, y = np.array([[-1.0, -1.0], [1.0, 1.0], [0.5, 0.5]]), np.array([0, 1, 0])
    penalties = np.array([[0.0, 0.0], [1.0, 1.0]])
    assert not solve_logistic(Pairs(X), y, np.ones(3), penalties, 1e-6).solved[0]
    assert solve_logistic(Pairs(X), y, np.ones(3), penalties[1:], 1e-6).solved[0]


def test_a_solver_that_stops_early_is_left_to_stop(monkeypatch):
    """Where the weakest penalty does not converge, none is solved by another method."""
    X, y, _, _ = table(0)
    models = [LogisticRegression(C=C, max_iter=1) for C in (0.1, 1e6)]
    monkeypatch.setattr(_logistic, "_solve_others", None)  # calling it would be an error
    with pytest.warns(UserWarning, match="iterations|converge"):
        family_of(models[0]).fit_many(models, X, y)
    assert int(models[1].n_iter_[0]) == 1


@settings(max_examples=15, deadline=None)
@given(seed=SEEDS, intercept=st.booleans(), weighted=st.booleans())
def test_sparse_and_ridge_models_asked_together(seed, intercept, weighted):
    """Columns that are not in use, targets of any scale: each says what it says alone."""
    X, _, numbers, weights = table(seed)
    weights = weights if weighted else None
    groups = [
        [Lasso(alpha=a, fit_intercept=intercept) for a in (0.01, 0.3, 5.0)],
        [ElasticNet(alpha=a, l1_ratio=0.3, fit_intercept=intercept) for a in (0.01, 0.3, 5.0)],
        [Ridge(alpha=a, fit_intercept=intercept) for a in (0.01, 3.0, 500.0)],
    ]
    for models in groups:
        for right, told in alone_and_together(models, X, numbers, weights):
            assert (right.doubt, right.kind) == (told.doubt, told.kind)
            np.testing.assert_allclose(
                told.responses["predict"], right.responses["predict"], rtol=1e-7, atol=1e-8
            )


def test_ridges_of_several_targets():
    """Each target has its own column, also for several models."""
    X, _, numbers, _ = table(0)
    targets = np.column_stack([numbers, X[:, 1]])
    for right, told in alone_and_together([Ridge(a) for a in (0.1, 10.0)], X, targets):
        np.testing.assert_allclose(told.responses["predict"], right.responses["predict"])
        assert told.responses["predict"].shape == targets.shape


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_neighbors_vote_once_for_all(weights):
    """Models with more or fewer neighbours say of unseen rows what each says alone."""
    X, y, _, _ = table(1, 80)
    models = [KNeighborsClassifier(k, weights=weights) for k in (1, 2, 7, 60)]
    for right, told in alone_and_together(models, X, y):
        assert np.array_equal(told.responses["predict"], right.responses["predict"])
        found = told.responses["predict_proba"]
        np.testing.assert_allclose(found, right.responses["predict_proba"], rtol=1e-12)


def test_neighbors_that_tie_are_asked_one_by_one():
    """Where rows are equally far for every model, none is answered for by a common count."""
    X, y = np.repeat(np.arange(10.0), 4)[:, None], np.tile(["no", "yes"], 20)
    for right, told in alone_and_together([KNeighborsClassifier(k) for k in (1, 2)], X, y):
        assert np.array_equal(told.responses["predict"], right.responses["predict"])


def test_neighbors_hold_the_same_rows_but_for_their_own_settings():
    """One fit prepares all; half of the rows or more are looked for without a tree, as alone."""
    X, y, _, _ = table(2)
    models = [KNeighborsClassifier(k) for k in (3, 5, 40)]
    family_of(models[0]).fit_many(models, X, y)
    for model in models:
        plain = clone(model).fit(X, y)
        assert vars(model).keys() == vars(plain).keys()
        assert model._fit_method == plain._fit_method
        assert np.array_equal(model.predict(X), plain.predict(X))
    with pytest.raises(ValueError, match="n_neighbors"):
        family_of(models[0]).fit_many([KNeighborsClassifier(3), KNeighborsClassifier(0)], X, y)
