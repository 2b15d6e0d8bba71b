"""Models that may write into the rows they are given have rows of their own."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import Lasso, LinearRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero.engine import Planner, Trial
from leavezero.engine._groups import groups_of
from leavezero.engine._own_rows import own_rows, writes_in_place

IN_PLACE = make_pipeline(StandardScaler(copy=False), SVC())
GRID = {"standardscaler__with_mean": [True, False], "svc__C": [1, 5]}


@pytest.fixture
def cells():
    """Return rows that are far from standardized, and two classes."""
    X, y = load_breast_cancer(return_X_y=True)
    return StandardScaler().fit_transform(X)[:150, :8] * 5 + 3, y[:150]


@pytest.fixture
def numbers(rng):
    """Return rows that are not centered, column by column as Lasso takes them, and numbers."""
    X = np.asfortranarray(rng.normal(size=(80, 3)) + 4)
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=80)


def scores(estimator, grid, X, y, **params):
    search = GridSearchLZO(estimator, grid, random_state=0, n_replicates=2, **params).fit(X, y)
    return search.cv_results_["mean_test_score"]


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (IN_PLACE, True),
        (Ridge(copy_X=False), True),
        (Ridge(copy_X=np.False_), True),
        (VotingRegressor([("a", make_pipeline(Ridge(copy_X=False)))]), True),
        (Ridge(), False),
        (make_pipeline(StandardScaler(), SVC()), False),
        (None, False),
    ],
)
def test_a_parameter_tells_who_may_write(estimator, expected):
    """Its name begins with copy, however deep, and it is False."""
    assert writes_in_place(estimator) is expected


def test_others_are_given_the_rows_themselves():
    """Nothing is copied for who does not ask to write."""
    X, y = np.zeros((2, 2)), np.zeros(2)
    kept = own_rows(Ridge(), X, y)
    assert kept[0] is X
    assert kept[1] is y


def test_who_may_write_is_given_a_copy():
    """Of all tables."""
    X, y = np.zeros((2, 2)), np.zeros(2)
    own, target = own_rows(Ridge(copy_X=False), X, y)
    own += 1
    target += 1
    assert not X.any()
    assert not y.any()


@pytest.mark.parametrize("params", [{}, {"n_jobs": 2}, {"timeout": 60}])
def test_in_place_candidates_score_as_those_that_copy(cells, params):
    """With any number of workers, and the caller's rows stay as they were."""
    X, y = cells
    before = X.copy()
    copying = clone(IN_PLACE).set_params(standardscaler__copy=True)
    expected = scores(copying, GRID, X, y)
    assert scores(IN_PLACE, GRID, X, y, **params) == pytest.approx(expected)
    assert np.array_equal(X, before)


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(), Lasso(alpha=0.1), PLSRegression(n_components=1)]
)
def test_in_place_regressors_score_as_those_that_copy(numbers, model):
    """Neither X nor y is written to, of which PLS would center both."""
    X, y = numbers
    before = X.copy(), y.copy()
    [name] = {"copy", "copy_X"} & set(model.get_params())
    other = next(iter({"fit_intercept", "scale"} & set(model.get_params())))
    grid = {other: [False, True]}
    expected = scores(model, grid, X, y)
    found = scores(clone(model).set_params(**{name: False}), grid, X, y)
    assert found == pytest.approx(expected)
    assert np.array_equal(X, before[0])
    assert np.array_equal(y, before[1])


def test_only_some_candidates_may_write(cells):
    """A copy that is searched has the same score as none."""
    X, y = cells
    first, second = scores(IN_PLACE, {"standardscaler__copy": [True, False]}, X, y)
    assert first == pytest.approx(second)


def test_metrics_that_ask_in_different_ways_see_the_same_rows(cells):
    """What one method wrote to V is not there for the next, nor in the training rows."""
    X, y = cells
    model = make_pipeline(StandardScaler(), GaussianNB())
    params = {
        "scoring": ["accuracy", "neg_log_loss", "roc_auc"],
        "refit": "accuracy",
        "return_train_score": True,
        "random_state": 0,
        "n_replicates": 2,
    }
    grid = {"gaussiannb__var_smoothing": [0.01, 0.1]}
    expected = GridSearchLZO(model, grid, **params).fit(X, y).cv_results_
    in_place = clone(model).set_params(standardscaler__copy=False)
    found = GridSearchLZO(in_place, grid, **params).fit(X, y).cv_results_
    for name in expected:
        if name.startswith(("mean_test", "mean_train")):
            assert found[name] == pytest.approx(expected[name]), name


def test_v_that_grows_is_not_written_to(cells):
    """The models answer again, on rows that are as they were drawn."""
    X, y = cells
    copying = clone(IN_PLACE).set_params(standardscaler__copy=True)
    grid = {"svc__C": [1.0, 1.01, 1.02]}
    params = {"random_state": 0, "n_replicates": "auto"}
    expected = GridSearchLZO(copying, grid, **params).fit(X, y)
    found = GridSearchLZO(IN_PLACE, grid, **params).fit(X, y)
    assert found.n_splits_ == expected.n_splits_
    assert np.array_equal(found.validation_set_.X, expected.validation_set_.X)
    assert np.array_equal(
        found.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


def test_the_winner_learned_clean_rows(cells):
    """It answers as a plain fit of its own parameters does."""
    X, y = cells
    search = GridSearchLZO(IN_PLACE, GRID, random_state=0, n_replicates=2).fit(X, y)
    plain = clone(search.best_estimator_).fit(X.copy(), y)
    assert np.array_equal(
        search.best_estimator_.decision_function(X.copy()), plain.decision_function(X.copy())
    )


def test_sparse_rows_are_own_too(cells):
    """Their numbers lie elsewhere, and are copied as well."""
    X, y = sparse.csr_array(cells[0]), cells[1]
    before = deepcopy(X)
    model = make_pipeline(MaxAbsScaler(copy=False), SVC())
    scores(model, {"svc__C": [1, 5]}, X, y)
    assert np.array_equal(X.toarray(), before.toarray())


@pytest.mark.parametrize(("copies", "n_tasks"), [(True, 1), (False, 2)])
def test_candidates_that_may_write_share_no_work(copies, n_tasks):
    """What one wrote the next would read."""
    model, planner = make_pipeline(StandardScaler(copy=copies), SVC()), Planner("a test")
    trials = [Trial(planner.candidate(model, {"svc__C": C}), C) for C in (1, 2)]
    assert len(groups_of(trials, seed=0)) == n_tasks
