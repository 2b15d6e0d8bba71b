"""Searches that propose candidates differently: random, halving, Optuna, several estimators."""

import inspect
import sys

import numpy as np
import optuna
import pytest
from joblib import parallel_config
from scipy.stats import loguniform, randint
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import ParameterSampler
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    LabelInvariantMixup,
    OptunaSearchLZO,
    RandomizedSearchLZO,
)
from leavezero.evaluation import SingleRound
from leavezero.exceptions import CandidateFailedWarning
from leavezero.search import BaseSearchLZO

X, y = make_classification(180, 5, flip_y=0.2, random_state=0)
GRID = {"C": [0.001, 0.01, 0.1, 1, 10, 100]}
FEW = {"n_replicates": 3, "augmenter": LabelInvariantMixup(), "loo": False, "random_state": 0}
LOG_C = optuna.distributions.FloatDistribution(0.01, 100, log=True)


def assert_same(first, second):
    for name, column in first.cv_results_.items():
        if "time" not in name and name != "params":
            np.testing.assert_array_equal(column, second.cv_results_[name], err_msg=name)
    assert first.best_params_ == second.best_params_


@pytest.mark.parametrize(
    "make",
    [
        lambda n_jobs: RandomizedSearchLZO(
            DecisionTreeClassifier(),
            {"max_depth": randint(1, 9), "min_samples_leaf": randint(1, 30)},
            n_iter=5,
            n_jobs=n_jobs,
            **FEW,
        ),
        lambda n_jobs: HalvingGridSearchLZO(SVC(), GRID, n_jobs=n_jobs, **FEW),
        lambda n_jobs: OptunaSearchLZO(SVC(), {"C": LOG_C}, n_trials=6, n_jobs=n_jobs, **FEW),
        lambda n_jobs: CandidateSearchLZO(
            {"forest": RandomForestClassifier(5), "svm": (SVC(), GRID)}, n_jobs=n_jobs, **FEW
        ),
    ],
    ids=["randomized", "halving", "Optuna", "candidates"],
)
def test_results_do_not_depend_on_n_jobs(make):
    with parallel_config(backend="threading"):
        assert_same(make(1).fit(X, y), make(2).fit(X, y))


class ListSearchLZO(BaseSearchLZO):
    """A user's search over listed parameters.

    Parameters
    ----------
    {common}
    """

    def __init__(self, estimator, listed, *, random_state=None):
        super().__init__(random_state=random_state)
        self.estimator = estimator
        self.listed = listed

    def _strategy(self, factory, y, root):
        for params in self.listed:
            factory.candidate(self.estimator, params)
        return SingleRound(factory.candidates)


def test_search_class_of_a_user():
    search = ListSearchLZO(SVC(), [{"C": 1}, {"C": 10}, {"C": 1}], random_state=0).fit(X, y)
    assert clone(search).random_state == 0
    assert "n_jobs : int or None, default=None" in inspect.getdoc(ListSearchLZO)
    assert search.n_fits_ == 2
    assert search.cv_results_["params"] == [{"C": 1}, {"C": 10}]


# Random sampling


def test_sampled_candidates(iris):
    """Their number does not change the validation set."""
    space = {"C": loguniform(0.1, 10)}
    many, few = (RandomizedSearchLZO(SVC(), space, n_iter=n, **FEW).fit(*iris) for n in (6, 2))
    values = many.cv_results_["param_C"]
    assert len(values) == many.n_fits_ == 6
    assert 0.1 <= values.min() <= values.max() <= 10
    np.testing.assert_array_equal(few.validation_set_.X, many.validation_set_.X)
    other = RandomizedSearchLZO(SVC(), space, n_iter=6, **FEW | {"random_state": 1}).fit(*iris)
    assert other.cv_results_["param_C"].tolist() != values.tolist()


@pytest.mark.parametrize(
    "space", [{"C": loguniform(0.1, 10), "kernel": ["rbf", "linear"]}, {"C": list(range(1, 30))}]
)
def test_seed_gives_the_candidates_of_scikit_learn(space):
    expected = list(ParameterSampler(space, 5, random_state=0))
    search = RandomizedSearchLZO(SVC(), space, n_iter=5, **FEW).fit(X, y)
    assert search.cv_results_["params"] == expected
    search = HalvingRandomSearchLZO(SVC(), space, n_candidates=5, **FEW).fit(X, y)
    assert search.cv_results_["params"][:5] == expected


@pytest.mark.parametrize(
    "make_seed", [np.random.RandomState, np.random.default_rng, (2**40).__add__]
)
def test_generators_and_large_seeds_determine_the_candidates(make_seed):
    params = {"param_distributions": {"C": loguniform(0.1, 10)}, "n_iter": 3}
    first, second = (
        RandomizedSearchLZO(SVC(), **params, **FEW | {"random_state": make_seed(3)}).fit(X, y)
        for _ in range(2)
    )
    assert_same(first, second)


def test_candidates_sampled_from_lists_do_not_repeat():
    space = {"C": range(1, 11), "degree": range(10)}
    search = RandomizedSearchLZO(SVC(), space, n_iter=12, **FEW).fit(X, y)
    params = {(row["C"], row["degree"]) for row in search.cv_results_["params"]}
    assert len(params) == search.n_fits_ == 12


@pytest.mark.parametrize(
    ("cls", "name"), [(RandomizedSearchLZO, "n_iter"), (HalvingRandomSearchLZO, "n_candidates")]
)
def test_fewer_candidates_than_requested_warn(cls, name):
    search = cls(SVC(), {"C": [1, 10]}, **{name: 5}, **FEW)
    message = f"^{name} of {cls.__name__} is 5, but there are only 2 candidates; all of them are"
    with pytest.warns(UserWarning, match=message) as warned:
        search.fit(X, y)
    assert len(warned) == 1
    assert set(search.cv_results_["param_C"]) == {1, 10}


@pytest.mark.parametrize("n_iter", [0, 2.5, None])
def test_invalid_n_iter_raises(n_iter):
    with pytest.raises(ValueError, match="n_iter of RandomizedSearchLZO must be a positive int"):
        RandomizedSearchLZO(SVC(), {"C": [1]}, n_iter=n_iter).fit(X, y)


# Successive halving


class Recording(LogisticRegression):
    """A model that keeps the rows that it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.X_, self.y_ = np.array(X), np.array(y)
        return super().fit(X, y)


def test_last_iteration_of_halving_has_all_rows():
    search = HalvingGridSearchLZO(Recording(), GRID, factor=2, min_resources=30, **FEW).fit(X, y)
    assert search.n_resources_ == [30, 60, 180]
    assert search.n_candidates_ == [6, 3, 2]
    assert search.n_fits_ == len(search.cv_results_["params"]) == 11
    assert search.cv_results_["iter"].tolist() == [0] * 6 + [1] * 3 + [2] * 2
    assert search.cv_results_["n_resources"][search.best_index_] == 180
    assert (search.n_iterations_, search.n_remaining_candidates_) == (3, 1)
    assert search.all_cv_results_ is search.cv_results_
    assert (search.n_required_iterations_, search.n_possible_iterations_) == (3, 3)
    assert (search.min_resources_, search.max_resources_) == (30, 180)
    np.testing.assert_array_equal(search.best_estimator_.X_, X)


@pytest.mark.parametrize("min_resources", [60, "exhaust"])
def test_aggressive_elimination_repeats_the_first_iteration(min_resources):
    params = {"min_resources": min_resources, "max_resources": 180 if min_resources == 60 else 60}
    grid = {"C": np.logspace(-3, 3, 9)}
    plain, aggressive = (
        HalvingGridSearchLZO(SVC(), grid, aggressive_elimination=value, **params, **FEW).fit(X, y)
        for value in (False, True)
    )
    first, last = params["max_resources"] // 3, params["max_resources"]
    assert (plain.n_resources_, plain.n_candidates_) == ([first, last], [9, 3])
    assert (aggressive.n_resources_, aggressive.n_candidates_) == ([first, first, last], [9, 3, 1])
    for search in (plain, aggressive):
        assert (search.n_required_iterations_, search.n_possible_iterations_) == (3, 2)


def test_best_candidates_of_an_iteration_continue():
    """All iterations are scored on the same validation set."""
    search = HalvingGridSearchLZO(SVC(), GRID, factor=3, min_resources=60, **FEW).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    kept = [params["C"] for params in search.cv_results_["params"][6:]]
    assert set(kept) == {GRID["C"][row] for row in np.argsort(-scores[:6], kind="stable")[:2]}
    plain = GridSearchLZO(SVC(), {"C": kept}, **FEW).fit(X, y)
    np.testing.assert_array_equal(plain.cv_results_["mean_test_score"], scores[6:])


@pytest.mark.parametrize("weight", [None, np.linspace(1, 2, 180)])
def test_training_scores_of_halving_use_the_rows_that_were_fitted(weight):
    """A full tree predicts these without error, and others not."""
    grid = {"min_samples_leaf": [1, 60]}
    search = HalvingGridSearchLZO(
        DecisionTreeClassifier(), grid, factor=2, min_resources=40, return_train_score=True, **FEW
    ).fit(X, y, sample_weight=weight)
    table = search.cv_results_
    is_full = table["param_min_samples_leaf"] == 1
    assert (table["n_resources"][is_full] < 180).any()
    assert (table["mean_train_score"][is_full] == 1.0).all()
    assert (table["mean_train_score"][~is_full] < 1.0).all()


def test_rows_of_iterations_are_stratified_and_nested():
    y = np.repeat([0, 1, 2], [60, 30, 10])
    X = np.random.default_rng(0).normal(size=(100, 3))
    rows = []

    class Logged(Recording):
        def fit(self, X, y):
            rows.append(({row.tobytes() for row in np.array(X)}, np.bincount(y, minlength=3)))
            return super().fit(X, y)

    HalvingGridSearchLZO(Logged(), {"C": [1, 2, 3, 4]}, factor=2, min_resources=20, **FEW).fit(X, y)
    small, larger = rows[0], rows[4]
    assert len(small[0]) == 20
    assert small[0] < larger[0]
    for found, n_classes in (small, larger):
        np.testing.assert_allclose(n_classes, np.array([0.6, 0.3, 0.1]) * len(found), atol=1)


def test_halving_over_a_parameter():
    search = HalvingGridSearchLZO(
        GradientBoostingClassifier(random_state=0),
        {"max_depth": [1, 2, 3, 4], "learning_rate": [0.1]},
        resource="n_estimators",
        max_resources=16,
        factor=2,
        **FEW,
    ).fit(X, y)
    assert search.n_resources_ == [4, 8, 16]
    assert [p["n_estimators"] for p in search.cv_results_["params"]] == [4] * 4 + [8] * 2 + [16]
    assert search.best_estimator_.n_estimators_ == 16


def test_number_of_candidates_of_random_halving():
    space = {"C": loguniform(0.01, 100)}
    search = HalvingRandomSearchLZO(SVC(), space, min_resources=20, **FEW).fit(X, y)
    assert search.n_candidates_[0] == 9
    assert search.n_resources_ == [20, 60, 180]
    few = HalvingRandomSearchLZO(SVC(), space, n_candidates=4, **FEW).fit(X, y)
    assert few.n_candidates_[0] == 4


def test_halving_of_a_regressor_and_of_few_rows():
    data = make_regression(90, 4, noise=5.0, random_state=0)
    grid = {"alpha": [0.01, 0.1, 1, 10, 100, 1000]}
    search = HalvingGridSearchLZO(Ridge(), grid, n_replicates=3, random_state=0).fit(*data)
    assert search.n_resources_ == [30, 90]
    search = HalvingGridSearchLZO(SVC(), GRID, max_resources=12, **FEW).fit(X, y)
    assert search.n_resources_ == [12]
    assert (search.n_required_iterations_, search.n_possible_iterations_) == (2, 1)


@pytest.mark.parametrize(
    ("cls", "params", "message"),
    [
        (HalvingGridSearchLZO, {"factor": 1}, "factor of HalvingGridSearchLZO must be .* above 1"),
        (HalvingGridSearchLZO, {"min_resources": 0}, "min_resources of HalvingGridSearchLZO must"),
        (
            HalvingGridSearchLZO,
            {"min_resources": 90, "max_resources": 60},
            r"^min_resources of HalvingGridSearchLZO must be at most max_resources \(60\), got 90",
        ),
        (HalvingRandomSearchLZO, {"min_resources": 1000}, r"max_resources \(180\), got 1000"),
        (HalvingGridSearchLZO, {"max_resources": 1000}, r"max_resources of .*at most 180"),
        (HalvingGridSearchLZO, {"resource": "coef0"}, "must be a positive int, .* got 'auto'"),
        (
            HalvingGridSearchLZO,
            {"resource": "trees", "max_resources": 9},
            "resource of HalvingGridSearchLZO must be 'n_samples' or .* got 'trees'",
        ),
        (
            HalvingGridSearchLZO,
            {"resource": "C", "max_resources": 9},
            "'C' is the resource of HalvingGridSearchLZO and must not be in the grid",
        ),
        (HalvingRandomSearchLZO, {"n_candidates": 0}, "n_candidates of HalvingRandomSearchLZO"),
        (HalvingRandomSearchLZO, {"min_resources": "exhaust"}, "an int if min_resources is"),
    ],
)
def test_invalid_parameters_of_halving_raise(cls, params, message):
    with pytest.raises(ValueError, match=message):
        cls(SVC(), GRID, **params, **FEW).fit(X, y)


# Order of candidates


def test_order_of_candidates_changes_nothing():
    first = HalvingGridSearchLZO(SVC(), GRID, **FEW).fit(X, y)
    second = HalvingGridSearchLZO(SVC(), {"C": GRID["C"][::-1]}, **FEW).fit(X, y)
    assert first.best_params_ == second.best_params_
    assert first.best_score_ == second.best_score_
    candidates = {"svm": (SVC(), GRID), "bayes": GaussianNB()}
    tables = [
        CandidateSearchLZO(dict(order), **FEW).fit(X, y).cv_results_
        for order in (candidates.items(), reversed(candidates.items()))
    ]
    scores = [dict(zip(map(str, t["params"]), t["mean_test_score"], strict=True)) for t in tables]
    assert scores[0] == scores[1]


# Several estimators


def test_several_estimators_in_one_table():
    candidates = {"svm": (SVC(), {"C": [0.1, 1]}), "bayes": GaussianNB(), "l": LogisticRegression()}
    search = CandidateSearchLZO(candidates, **FEW).fit(X, y)
    assert search.n_fits_ == 4
    assert search.cv_results_["param_candidate"].tolist() == ["svm", "svm", "bayes", "l"]
    assert search.cv_results_["param_C"].mask.tolist() == [False, False, True, True]
    plain = GridSearchLZO(SVC(), {"C": [0.1, 1]}, **FEW).fit(X, y)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"][:2]
    )
    types = {"svm": SVC, "bayes": GaussianNB, "l": LogisticRegression}
    assert type(search.best_estimator_) is types[search.best_params_["candidate"]]


@pytest.mark.parametrize(
    ("candidates", "message"),
    [
        ({}, "candidates of CandidateSearchLZO must be a dict"),
        ([SVC()], "candidates of CandidateSearchLZO must be a dict"),
        ({"svm": "SVC"}, "maps strings to estimators .* got {'svm': 'SVC'}"),
        ({"a": (SVC(),)}, r"pairs of estimator and grid, got {'a': \("),
        ({"a": (SVC(), {}, 3)}, r"pairs of estimator and grid, got {'a': \("),
        ({"a": []}, r"pairs of estimator and grid, got {'a': \[\]"),
        ({"svm": SVC(), "ridge": Ridge()}, "all classifiers or all regressors, got a mixture"),
        ({"svm": (SVC(), {"D": [1]})}, "CandidateSearchLZO cannot set {'D': 1}"),
        ({"svm": (SVC(), {"candidate": [1]})}, "must not contain the parameter 'candidate'"),
    ],
)
def test_invalid_candidates_raise(candidates, message):
    with pytest.raises(ValueError, match=message):
        CandidateSearchLZO(candidates, **FEW).fit(X, y)


# Optuna


def test_study_has_the_scores_in_the_order_of_proposals():
    def make():
        return OptunaSearchLZO(SVC(), {"C": LOG_C}, n_trials=9, batch_size=3, **FEW)

    search = make().fit(X, y)
    values = [trial.value for trial in search.study_.trials]
    np.testing.assert_allclose(values, search.cv_results_["mean_test_score"])
    assert search.study_.best_value == pytest.approx(search.best_score_)
    assert_same(search, make().fit(X, y))


def test_equal_proposals_are_fitted_once():
    search = OptunaSearchLZO(SVC(), {"C": [0.1, 1.0]}, n_trials=12, **FEW).fit(X, y)
    assert search.n_fits_ <= 2
    assert len(search.study_.trials) == 12
    assert all(trial.value is not None for trial in search.study_.trials)


def test_samplers_storages_and_studies(tmp_path):
    space = {"C": [0.1, 1.0, 10.0]}
    stored = {"storage": f"sqlite:///{tmp_path / 'study.db'}", "study_name": "s", "n_trials": 3}
    sampler = optuna.samplers.GridSampler(space, seed=0)
    OptunaSearchLZO(SVC(), space, sampler=sampler, **stored, **FEW).fit(X, y)
    continued = OptunaSearchLZO(SVC(), space, **stored, **FEW).fit(X, y)
    assert len(continued.study_.trials) == 6
    study = optuna.create_study(direction="maximize")
    assert OptunaSearchLZO(SVC(), space, n_trials=2, study=study, **FEW).fit(X, y).study_ is study
    with pytest.raises(ValueError, match="study of OptunaSearchLZO must maximize"):
        OptunaSearchLZO(SVC(), space, study=optuna.create_study(), **FEW).fit(X, y)


def test_callable_space():
    def propose(trial):
        kernel = trial.suggest_categorical("kernel", ["linear", "rbf"])
        params = {"kernel": kernel, "C": trial.suggest_float("C", 0.1, 10)}
        return params | ({"gamma": trial.suggest_float("gamma", 0.1, 1)} if kernel == "rbf" else {})

    search = OptunaSearchLZO(SVC(), propose, n_trials=6, **FEW).fit(X, y)
    assert "param_gamma" in search.cv_results_


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_trials": 0}, "n_trials of OptunaSearchLZO must be a positive int, got 0"),
        ({"batch_size": 1.5}, "batch_size of OptunaSearchLZO must be a positive int, got 1.5"),
        (
            {"scoring": ["accuracy", "f1"], "refit": False},
            "must be the name of one",
        ),
        ({"space": {"C": loguniform(1, 2)}}, "must be a dict of Optuna distributions or lists"),
        ({"space": 3}, "must be a dict of Optuna distributions"),
    ],
)
def test_invalid_parameters_of_optuna_search_raise(params, message):
    space = params.get("space", {"C": [1.0]})
    params = {name: value for name, value in params.items() if name != "space"}
    with pytest.raises(ValueError, match=message):
        OptunaSearchLZO(SVC(), space, **params, **FEW).fit(X, y)


def test_missing_optuna_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r'pip install "leavezero\[optuna\]"'):
        OptunaSearchLZO(SVC(), {"C": [1.0]}, **FEW).fit(X, y)


def test_failed_candidate_is_a_failed_trial():
    space = {"C": optuna.distributions.FloatDistribution(-1, 1)}
    with pytest.warns(CandidateFailedWarning, match="candidates of OptunaSearchLZO failed"):
        search = OptunaSearchLZO(SVC(), space, n_trials=8, **FEW).fit(X, y)
    assert {trial.state.name for trial in search.study_.trials} == {"COMPLETE", "FAIL"}
    assert search.best_params_["C"] > 0
