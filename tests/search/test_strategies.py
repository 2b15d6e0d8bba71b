"""Searches that differ in what they propose: halving, Optuna, whole estimators."""

import sys

import numpy as np
import optuna
import pytest
from scipy.stats import loguniform
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.ensemble import GradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge, SGDClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    LabelInvariantMixup,
    OptunaSearchLZO,
)
from leavezero.engine import AllAtOnce
from leavezero.exceptions import CandidateFailedWarning
from leavezero.search import BaseSearchLZO

X, Y = make_classification(180, 5, flip_y=0.2, random_state=0)
GRID = {"C": [0.001, 0.01, 0.1, 1, 10, 100]}
FEW = {
    "n_replicates": 3,
    "augmenter": LabelInvariantMixup(),
    "loo": False,
    "random_state": 0,
}


@pytest.fixture(autouse=True)
def _quiet_optuna():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


def columns(search):
    """Return all columns but the times."""
    return {k: v for k, v in search.cv_results_.items() if "time" not in k and k != "params"}


def assert_same(first, second):
    for name, column in columns(first).items():
        np.testing.assert_array_equal(column, second.cv_results_[name], err_msg=name)
    assert first.best_params_ == second.best_params_


class Watcher(LogisticRegression):
    """Remembers which rows it was fitted to."""

    def fit(self, X, y, sample_weight=None):
        self.seen_ = np.array(X)[:, 0]
        self.labels_ = np.array(y)
        return super().fit(X, y)


def test_halving_gives_the_last_round_all_rows():
    """Rounds shrink by the factor, and the winner has seen everything."""
    search = HalvingGridSearchLZO(Watcher(), GRID, factor=2, min_resources=30, **FEW).fit(X, Y)
    assert search.n_resources_ == [30, 60, 180]
    assert search.n_candidates_ == [6, 3, 2]
    assert search.n_fits_ == 11
    assert len(search.cv_results_["params"]) == 11
    assert search.cv_results_["iter"].tolist() == [0] * 6 + [1] * 3 + [2] * 2
    assert search.cv_results_["n_resources"][search.best_index_] == 180
    np.testing.assert_array_equal(search.best_estimator_.seen_, X[:, 0])


def test_survivors_are_the_best_of_a_round():
    """And the same V judges every round: a survivor's last score is the plain search's."""
    search = HalvingGridSearchLZO(SVC(), GRID, factor=3, min_resources=60, **FEW).fit(X, Y)
    first = search.cv_results_["mean_test_score"][:6]
    kept = [params["C"] for params in search.cv_results_["params"][6:]]
    best = [GRID["C"][at] for at in np.argsort(-first, kind="stable")[:2]]
    assert set(kept) == set(best)
    plain = GridSearchLZO(SVC(), {"C": kept}, **FEW).fit(X, Y)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"][6:]
    )


def test_rounds_are_stratified_and_nested():
    """Every round has each class by its share, and its rows stay in the next."""
    from leavezero._random import seed_sequence
    from leavezero.search._halving_strategy import stratified_order

    target = np.repeat([0, 1, 2], [60, 30, 10])
    order = stratified_order(target, True, seed_sequence(0))
    assert sorted(order) == list(range(100))
    for size in (10, 20, 50):
        np.testing.assert_allclose(
            np.bincount(target[order[:size]], minlength=3), np.array([6, 3, 1]) * size / 10, atol=1
        )


def test_halving_over_a_parameter_of_the_estimator():
    """All rounds see all rows; the parameter grows."""
    boosting = GradientBoostingClassifier(random_state=0)
    grid = {"max_depth": [1, 2, 3, 4], "learning_rate": [0.1]}
    search = HalvingGridSearchLZO(
        boosting, grid, resource="n_estimators", max_resources=16, factor=2, **FEW
    ).fit(X, Y)
    assert search.n_resources_ == [4, 8, 16]
    assert [p["n_estimators"] for p in search.cv_results_["params"]] == [4] * 4 + [8] * 2 + [16]
    assert search.best_estimator_.n_estimators_ == 16


def test_random_halving_draws_as_many_candidates_as_the_resources_hold():
    """Unless a number is given."""
    space = {"C": loguniform(0.01, 100)}
    search = HalvingRandomSearchLZO(SVC(), space, min_resources=20, **FEW).fit(X, Y)
    assert search.n_candidates_[0] == 9
    assert search.n_resources_ == [20, 60, 180]
    few = HalvingRandomSearchLZO(SVC(), space, n_candidates=4, **FEW).fit(X, Y)
    assert few.n_candidates_[0] == 4


def test_halving_of_a_regressor():
    """Rows are drawn without classes."""
    data = make_regression(90, 4, noise=5.0, random_state=0)
    grid = {"alpha": [0.01, 0.1, 1, 10, 100, 1000]}
    search = HalvingGridSearchLZO(Ridge(), grid, n_replicates=3, random_state=0).fit(*data)
    assert search.n_resources_ == [30, 90]


@pytest.mark.parametrize(
    ("kind", "more", "message"),
    [
        (HalvingGridSearchLZO, {"factor": 1}, r"factor of HalvingGridSearchLZO must be .* above 1"),
        (HalvingGridSearchLZO, {"min_resources": 0}, r"min_resources of HalvingGridSearchLZO must"),
        (
            HalvingGridSearchLZO,
            {"min_resources": 90, "max_resources": 60},
            r"^min_resources of HalvingGridSearchLZO must be at most max_resources, got 90 and "
            r"60\. Give fewer for the first round\.$",
        ),
        (
            HalvingRandomSearchLZO,
            {"min_resources": 1000},
            r"min_resources of HalvingRandomSearchLZO must be at most max_resources, got 1000 and ",
        ),
        (HalvingGridSearchLZO, {"max_resources": 1000}, r"max_resources of .* at most the number"),
        (HalvingGridSearchLZO, {"resource": "coef0"}, r"max_resources .* got \'auto\' for the"),
        (
            HalvingGridSearchLZO,
            {"resource": "trees", "max_resources": 9},
            r"resource of HalvingGridSearchLZO must be 'n_samples' or .* got 'trees'",
        ),
        (
            HalvingGridSearchLZO,
            {"resource": "C", "max_resources": 9},
            r"'C' is the resource of HalvingGridSearchLZO and cannot be searched too",
        ),
        (HalvingRandomSearchLZO, {"n_candidates": 0}, r"n_candidates of HalvingRandomSearchLZO"),
        (HalvingRandomSearchLZO, {"min_resources": "exhaust"}, r"an int where min_resources is"),
    ],
)
def test_halving_says_what_is_wrong(kind, more, message):
    """Which parameter, what is allowed, what came."""
    with pytest.raises(ValueError, match=message):
        kind(SVC(), GRID, **more, **FEW).fit(X, Y)


def test_halving_takes_what_there_is_where_no_number_was_asked_for():
    """The words for a first round give way to the largest one."""
    search = HalvingGridSearchLZO(SVC(), GRID, max_resources=12, **FEW).fit(X, Y)
    assert search.n_resources_ == [12]


class ListSearchLZO(BaseSearchLZO):
    """Choose among settings that are listed one by one, as docs/extending.md has it."""

    def __init__(self, estimator, settings, *, random_state=None):
        super().__init__(estimator, random_state=random_state)
        self.settings = settings

    def _strategy(self, planner, target, root):
        return AllAtOnce([planner.candidate(self.estimator, one) for one in self.settings])


def test_a_search_of_ones_own_may_list_a_candidate_twice():
    """Equal candidates are one: one row, one fit."""
    listed = [{"C": 1}, {"C": 10}, {"C": 1}]
    search = ListSearchLZO(SVC(), listed, random_state=0).fit(X, Y)
    assert search.n_fits_ == 2
    assert search.cv_results_["params"] == [{"C": 1}, {"C": 10}]


def test_a_search_of_ones_own_needs_a_candidate():
    """There is nothing to choose from."""
    wording = (
        r"^A search got no candidates: AllAtOnce must be given at least one, got none\. Name a"
    )
    with pytest.raises(ValueError, match=wording):
        ListSearchLZO(SVC(), [], random_state=0).fit(X, Y)


def test_the_number_of_workers_changes_nothing():
    """For every strategy, and for every order of the grid."""
    space = {"C": optuna.distributions.FloatDistribution(0.01, 100, log=True)}
    makers = [
        lambda jobs: HalvingGridSearchLZO(SVC(), GRID, n_jobs=jobs, **FEW),
        lambda jobs: OptunaSearchLZO(SVC(), space, n_trials=6, n_jobs=jobs, **FEW),
        lambda jobs: CandidateSearchLZO(
            {"forest": RandomForestClassifier(5), "svm": (SVC(), GRID)}, n_jobs=jobs, **FEW
        ),
    ]
    for make in makers:
        assert_same(make(1).fit(X, Y), make(2).fit(X, Y))


def test_the_order_of_the_grid_changes_neither_winner_nor_scores():
    """Nor does the order of parameters or of candidates."""
    backwards = {"C": GRID["C"][::-1]}
    first = HalvingGridSearchLZO(SVC(), GRID, **FEW).fit(X, Y)
    second = HalvingGridSearchLZO(SVC(), backwards, **FEW).fit(X, Y)
    assert first.best_params_ == second.best_params_
    assert first.best_score_ == second.best_score_
    members = {"svm": (SVC(), GRID), "bayes": GaussianNB()}
    third = CandidateSearchLZO(members, **FEW).fit(X, Y)
    fourth = CandidateSearchLZO(dict(reversed(members.items())), **FEW).fit(X, Y)
    assert third.best_params_ == fourth.best_params_
    by_name = [
        dict(zip(map(str, s.cv_results_["params"]), s.cv_results_["mean_test_score"], strict=True))
        for s in (third, fourth)
    ]
    assert by_name[0] == by_name[1]


def test_whole_estimators_stand_in_one_table():
    """With a name, their own parameters, and gaps where they have none."""
    members = {"svm": (SVC(), {"C": [0.1, 1]}), "bayes": GaussianNB(), "line": LogisticRegression()}
    search = CandidateSearchLZO(members, **FEW).fit(X, Y)
    assert search.n_fits_ == 4
    assert search.cv_results_["param_candidate"].tolist() == ["svm", "svm", "bayes", "line"]
    assert search.cv_results_["param_C"].mask.tolist() == [False, False, True, True]
    plain = GridSearchLZO(SVC(), {"C": [0.1, 1]}, **FEW).fit(X, Y)
    np.testing.assert_array_equal(
        plain.cv_results_["mean_test_score"], search.cv_results_["mean_test_score"][:2]
    )
    kinds = {"svm": SVC, "bayes": GaussianNB, "line": LogisticRegression}
    assert type(search.best_estimator_) is kinds[search.best_params_["candidate"]]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({}, r"candidates of CandidateSearchLZO must be a dict"),
        ([SVC()], r"candidates of CandidateSearchLZO must be a dict"),
        ({"svm": "SVC"}, r"must map strings to estimators .* got 'svm': 'SVC'"),
        ({"svm": SVC(), "ridge": Ridge()}, r"all classifiers or all regressors, got a mixture"),
        ({"svm": (SVC(), {"D": [1]})}, r"CandidateSearchLZO cannot set {'D': 1}"),
    ],
)
def test_candidates_are_checked(members, message):
    """Before anything is fitted."""
    with pytest.raises(ValueError, match=message):
        CandidateSearchLZO(members, **FEW).fit(X, Y)


def test_optuna_learns_from_v():
    """The study holds V's scores, in the order in which its trials were asked for."""
    space = {"C": optuna.distributions.FloatDistribution(0.001, 100, log=True)}
    search = OptunaSearchLZO(SVC(), space, n_trials=9, batch_size=3, **FEW).fit(X, Y)
    told = [trial.value for trial in search.study_.trials]
    np.testing.assert_allclose(told, search.cv_results_["mean_test_score"])
    assert search.study_.best_value == pytest.approx(search.best_score_)
    again = OptunaSearchLZO(SVC(), space, n_trials=9, batch_size=3, **FEW).fit(X, Y)
    assert_same(search, again)


def test_equal_proposals_are_fitted_once():
    """Optuna may ask twice; the known score is told."""
    search = OptunaSearchLZO(SVC(), {"C": [0.1, 1.0]}, n_trials=12, **FEW).fit(X, Y)
    assert search.n_fits_ <= 2
    assert len(search.study_.trials) == 12
    assert all(trial.value is not None for trial in search.study_.trials)


def test_samplers_storages_and_studies_pass_through(tmp_path):
    """A stored study goes on where it ended."""
    storage = f"sqlite:///{tmp_path / 'study.db'}"
    sampler = optuna.samplers.GridSampler({"C": [0.1, 1.0, 10.0]}, seed=0)
    given = {"n_trials": 3, "storage": storage, "study_name": "s", **FEW}
    space = {"C": [0.1, 1.0, 10.0]}
    OptunaSearchLZO(SVC(), space, sampler=sampler, **given).fit(X, Y)
    second = OptunaSearchLZO(SVC(), space, **given).fit(X, Y)
    assert len(second.study_.trials) == 6
    study = optuna.create_study(direction="maximize")
    assert OptunaSearchLZO(SVC(), space, n_trials=2, study=study, **FEW).fit(X, Y).study_ is study
    with pytest.raises(ValueError, match="study of OptunaSearchLZO must maximise"):
        OptunaSearchLZO(SVC(), space, study=optuna.create_study(), **FEW).fit(X, Y)


def test_a_callable_may_define_the_space():
    """As in Optuna's own objectives."""

    def propose(trial):
        kernel = trial.suggest_categorical("kernel", ["linear", "rbf"])
        params = {"kernel": kernel, "C": trial.suggest_float("C", 0.1, 10)}
        return params | ({"gamma": trial.suggest_float("gamma", 0.1, 1)} if kernel == "rbf" else {})

    search = OptunaSearchLZO(SVC(), propose, n_trials=6, **FEW).fit(X, Y)
    assert "param_gamma" in search.cv_results_


def test_a_pruner_ends_candidates_pass_by_pass():
    """They keep their last score, cannot win, and the study calls them pruned."""
    model = SGDClassifier(loss="log_loss", learning_rate="constant", random_state=0)
    space = {"eta0": [1e-7, 0.001, 0.01, 0.1], "alpha": [1e-4, 1e-2]}
    pruner = optuna.pruners.MedianPruner(n_startup_trials=2, n_warmup_steps=1)

    def make(jobs):
        return OptunaSearchLZO(
            model, space, pruner=pruner, n_trials=10, n_passes=4, n_jobs=jobs, **FEW
        )

    search = make(1).fit(X, Y)
    states = [trial.state.name for trial in search.study_.trials]
    assert "PRUNED" in states
    assert set(states) <= {"PRUNED", "COMPLETE"}
    passes = search.cv_results_["n_passes"]
    assert passes[search.best_index_] == 4
    assert passes.min() < 4
    assert search.best_estimator_.t_ == pytest.approx(4 * len(Y) + 1)
    assert_same(search, make(2).fit(X, Y))
    search = make(1).set_params(refit=lambda results: int(np.argmin(results["n_passes"])))
    with pytest.raises(ValueError, match=r"returned row \d+, whose candidate was pruned\. Return"):
        search.fit(X, Y)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_trials": 0}, "n_trials of OptunaSearchLZO must be a positive int, got 0"),
        ({"batch_size": 1.5}, "batch_size of OptunaSearchLZO must be a positive int, got 1.5"),
        ({"scoring": ["accuracy", "f1"], "refit": False}, "tells Optuna one metric"),
        ({"pruner": optuna.pruners.MedianPruner()}, "needs an estimator with partial_fit"),
        ({"space": {"C": loguniform(1, 2)}}, "must hold distributions of Optuna or lists"),
        ({"space": 3}, "must be a dict of distributions of Optuna"),
    ],
)
def test_optuna_says_what_is_wrong(more, message):
    """Which parameter, what is allowed, what came."""
    space = more.pop("space", {"C": [1.0]})
    with pytest.raises(ValueError, match=message):
        OptunaSearchLZO(SVC(), space, **more, **FEW).fit(X, Y)


def test_without_optuna_the_extra_is_named(monkeypatch):
    """Everything else works without it."""
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(ImportError, match=r'pip install "leavezero\[optuna\]"'):
        OptunaSearchLZO(SVC(), {"C": [1.0]}, **FEW).fit(*load_iris(return_X_y=True))


def test_a_failing_candidate_is_told_as_failed():
    """And the study goes on."""
    space = {"C": optuna.distributions.FloatDistribution(-1, 1)}
    with pytest.warns(CandidateFailedWarning, match="candidates of OptunaSearchLZO failed"):
        search = OptunaSearchLZO(SVC(), space, n_trials=8, **FEW).fit(X, Y)
    states = {trial.state.name for trial in search.study_.trials}
    assert states == {"COMPLETE", "FAIL"}
    assert search.best_params_["C"] > 0
