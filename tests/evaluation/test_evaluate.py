import threading
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import log_loss
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO
from leavezero.evaluation import (
    SINGLE,
    CandidateFactory,
    CandidateResult,
    JointTask,
    ModelStore,
    SingleRound,
    _evaluate,
    evaluate,
    fit_candidate,
)
from leavezero.evaluation._evaluate import _one_of_each_first, plan_tasks
from leavezero.evaluation._fit_and_score import Task, evaluate_task, score_loo
from leavezero.evaluation._scoring import resolve_metric
from leavezero.leave_one_out import find_leave_one_out, leave_one_out_predict

KERNELS = [{"C": C, "gamma": gamma} for C in (1, 10, 100) for gamma in (0.1, 1.0)]


class Fails(ClassifierMixin, BaseEstimator):
    """Fail in fit or in predict, if asked to."""

    def __init__(self, where=None):
        self.where = where

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self._checked("fit", self)

    def predict(self, X):
        return self._checked("predict", np.full(len(X), self.classes_[0]))

    def _checked(self, method, result):
        if self.where == method:
            raise RuntimeError(f"no {method}")
        return result


# Tasks


def keys(tasks):
    return [[trial.candidate.key for trial in task.trials] for task in tasks]


def test_candidates_with_the_same_kernel_are_one_task(make_trials):
    tasks = plan_tasks(make_trials(SVC(), KERNELS), seed=0)
    assert [len(task.trials) for task in tasks] == [3, 3]


def test_tasks_do_not_depend_on_the_order_of_candidates(make_trials):
    tasks = keys(plan_tasks(make_trials(SVC(), KERNELS), seed=0))
    assert keys(plan_tasks(make_trials(SVC(), KERNELS[::-1]), seed=0)) == tasks


def test_large_groups_are_split_largest_task_first(make_trials):
    model = make_pipeline(StandardScaler(), MLPClassifier())
    grid = [{"mlpclassifier__alpha": alpha} for alpha in range(1, 21)]
    tasks = plan_tasks(make_trials(model, grid), seed=0)
    assert [len(task.trials) for task in tasks] == [8, 8, 4]


def test_fits_to_some_rows_are_single_tasks(make_trials):
    tasks = plan_tasks(make_trials(SVC(), KERNELS[:2], training_rows=np.arange(5)), seed=0)
    assert [(len(task.trials), task.method) for task in tasks] == [(1, None), (1, None)]


@pytest.mark.parametrize(("copy", "n_tasks"), [(True, 1), (False, 2)])
def test_candidates_that_modify_their_input_are_single_tasks(make_trials, copy, n_tasks):
    model = make_pipeline(StandardScaler(copy=copy), SVC())
    trials = make_trials(model, [{"svc__C": 1}, {"svc__C": 2}])
    assert len(plan_tasks(trials, seed=0)) == n_tasks


def test_with_a_time_budget_one_candidate_of_each_estimator_is_first():
    factory = CandidateFactory("test")
    for at in range(5):
        factory.candidate(SVC(), {"C": 1 + at}, {"C": at}, "svm")
    factory.candidate(KNeighborsClassifier(), {"n_neighbors": 3}, {"n_neighbors": 3}, "neighbors")
    tasks = plan_tasks(SingleRound(factory.candidates).ask(), seed=0)
    assert [len(task.trials) for task in tasks] == [5, 1]
    rows = [[trial.row for trial in task.trials] for task in _one_of_each_first(tasks)]
    assert rows[:2] == [[2], [5]]
    assert sorted(rows[2]) == [0, 1, 3, 4]
    assert _one_of_each_first(tasks[:1]) == tasks[:1]


def test_search_lists_its_tasks(iris):
    grid = [{"n_neighbors": [1, 3], "p": [1]}, {"n_neighbors": [1, 3, 5], "p": [2]}]
    search = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0, n_replicates=2).fit(*iris)
    name = search.tasks_[0].method
    assert name is not None
    assert search.tasks_ == (JointTask((2, 3, 4), name), JointTask((0, 1), name))
    search = GridSearchLZO(DecisionTreeClassifier(), {"max_depth": [1, 2]}, n_replicates=2)
    assert search.fit(*iris).tasks_ == (JointTask((0,)), JointTask((1,)))


# Results


def test_joint_results_equal_single_results(make_run, make_trials, iris):
    run = make_run(*iris, use_loo=True)
    [task] = plan_tasks(
        make_trials(KNeighborsClassifier(), [{"n_neighbors": k} for k in (1, 9)]), 0
    )
    assert task.method is not None
    joint, single = evaluate_task(run, task), evaluate_task(run, replace(task, method=None))
    for one, other in zip(joint, single, strict=True):
        np.testing.assert_array_equal(one.scores[SINGLE].per_row, other.scores[SINGLE].per_row)
        np.testing.assert_array_equal(
            one.loo.scores[SINGLE].per_row, other.loo.scores[SINGLE].per_row
        )


@pytest.mark.parametrize("method", ["fit", "predict"])
def test_failed_joint_work_is_done_one_by_one(make_run, make_trials, iris, monkeypatch, method):
    run = make_run(*iris)
    [task] = plan_tasks(make_trials(SVC(), [{"C": 1}, {"C": 10}]), 0)
    expected = [result.main_score for result in evaluate_task(run, task)]

    def fail(*args):
        raise RuntimeError

    monkeypatch.setattr(type(task.method), method, fail)
    assert [result.main_score for result in evaluate_task(run, task)] == expected


@pytest.mark.parametrize("where", ["fit", "predict"])
def test_errors_are_recorded_or_raised(make_run, evaluate_all, iris, where):
    grid = [{"where": None}, {"where": where}]
    (found, _) = evaluate_all(make_run(*iris), Fails(), grid)
    good, failed = found.results
    assert good.error is None
    assert np.isfinite(good.main_score)
    assert np.isnan(failed.main_score)
    error = failed.error if where == "fit" else failed.scoring_errors[SINGLE]
    assert f"RuntimeError: no {where}" in error
    with pytest.raises(RuntimeError, match=f"no {where}"):
        evaluate_all(make_run(*iris, error_score="raise"), Fails(), grid)


@pytest.mark.parametrize("stop", [True, KeyboardInterrupt])
def test_finished_results_are_kept_if_the_search_is_stopped(make_run, evaluate_all, iris, stop):
    seen = []

    def on_result(result):
        seen.append(result)
        if len(seen) == 2 and stop is KeyboardInterrupt:
            raise KeyboardInterrupt
        return len(seen) == 2

    grid = [{"max_depth": depth} for depth in (1, 2, 3)]
    found, models = evaluate_all(
        make_run(*iris), DecisionTreeClassifier(), grid, on_result=on_result
    )
    assert [np.isfinite(result.main_score) for result in found.results] == [True, True]
    assert (found.n_fits, isinstance(found.interrupt, KeyboardInterrupt)) == (2, stop is not True)
    assert [model is None for model in models] == [False, False, True]


def test_rounds_continue_until_the_strategy_proposes_nothing(make_run, make_trials, iris):
    """A later trial replaces an earlier one of the same row."""
    trials = make_trials(DecisionTreeClassifier(), [{"max_depth": d} for d in (1, 2)])

    class TwoRounds:
        n_trials = 3
        rounds = (trials, [replace(trials[1], iteration=1)])
        received = ()

        def ask(self):
            return self.rounds[len(self.received)] if len(self.received) < 2 else ()

        def tell(self, results):
            self.received += (results,)

    strategy = TwoRounds()
    with ModelStore() as models:
        found = evaluate(make_run(*iris), strategy, models, n_jobs=1)
    assert [result.trial.iteration for result in found.results] == [0, 1]
    assert found.n_fits == 3
    assert [len(results) for results in strategy.received] == [2, 1]


def test_training_rows_and_fit_parameters_are_taken_together(make_run, make_trials, iris):
    X, y = iris
    rows, weight = np.arange(0, 150, 2), np.linspace(0.1, 1, 150)
    run = make_run(X, y, fit_params={"estimator": {"sample_weight": weight}})
    [trial] = make_trials(GaussianNB(), [{}])
    model = fit_candidate(run, trial.candidate, rows)
    expected = GaussianNB().fit(X[rows], y[rows], weight[rows])
    np.testing.assert_array_equal(model.theta_, expected.theta_)


# LOO scores


@pytest.mark.parametrize("weights", [False, True])
def test_loo_score_is_the_metric_of_loo_predictions(iris, weights):
    X, y = iris
    weight = np.linspace(0.1, 1, 150) if weights else None
    params = {"sample_weight": weight} if weights else {}
    model = GaussianNB().fit(X, y, **params)
    metric = replace(resolve_metric("neg_log_loss", "test"), weight=weight)
    found = score_loo(model, X, y, params, {SINGLE: metric}, model.classes_)
    predicted = leave_one_out_predict(model, X, y, method="predict_proba", sample_weight=weight)
    expected = -log_loss(y, predicted, sample_weight=weight)
    assert found.scores[SINGLE].mean == pytest.approx(expected, rel=1e-6)
    assert found.method == "exact"


def test_rows_without_an_out_of_bag_prediction_are_left_out(two_classes):
    """Their entry among the per-row scores is the mean of the others."""
    X, y = two_classes
    model = RandomForestClassifier(12, random_state=0).fit(X, y)
    accuracy = {SINGLE: resolve_metric("accuracy", "test")}
    found = score_loo(model, X, y, {}, accuracy, model.classes_)
    scores = found.scores[SINGLE]
    assert found.method == "out-of-bag"
    assert len(scores.per_row) == 200
    assert scores.per_row.mean() == pytest.approx(scores.mean, abs=1e-6)
    assert not np.all(np.isin(scores.per_row, [0, 1]))


def test_loo_score_of_a_fit_that_has_not_seen_every_class(make_run, make_trials, iris):
    X, y = iris
    rows = np.flatnonzero(y != 1)
    run = make_run(X, y, "neg_log_loss", use_loo=True)
    [trial] = make_trials(GaussianNB(), [{}], training_rows=rows)
    [result] = evaluate_task(run, Task((trial,)))
    model = GaussianNB().fit(X[rows], y[rows])
    predicted = leave_one_out_predict(model, X[rows], y[rows], method="predict_proba")
    expected = -log_loss(y[rows], predicted)
    assert result.loo.scores[SINGLE].mean == pytest.approx(expected, rel=1e-5)


def test_loo_scores_of_several_outputs():
    X, y = make_multilabel_classification(100, n_classes=3, random_state=0)
    metrics = {name: resolve_metric(name, "test") for name in ("f1_micro", "roc_auc")}
    found = score_loo(KNeighborsClassifier().fit(X, y), X, y, {}, metrics, None)
    assert list(found.scores) == ["f1_micro"]
    assert "roc_auc cannot be computed from predict" in found.note


@pytest.mark.parametrize(
    ("model", "fit_params", "metric", "note"),
    [
        (MLPClassifier(max_iter=1), {}, "accuracy", "no leave-one-out method for MLPClassifier"),
        (GaussianNB(), {"extra": 1}, "accuracy", "fit was called with extra"),
        (GaussianNB(), {}, lambda e, X, y: e.theta_[0, 0], "theta_ is not known"),
        (GaussianNB(), {}, lambda e, X, y: e.predict(X[::2])[0], "for X itself only"),
        (KNeighborsClassifier(algorithm="kd_tree", metric="haversine"), {}, "accuracy", "failed"),
    ],
    ids=["model", "parameters", "attribute", "rows", "error"],
)
@pytest.mark.filterwarnings("ignore:Stochastic Optimizer")
def test_note_why_there_is_no_loo_score(iris, monkeypatch, model, fit_params, metric, note):
    X, y = iris[0][:, :2], iris[1]
    method = find_leave_one_out(model)
    if note == "failed":
        monkeypatch.setattr(type(method), "predict", lambda *args: 1 / 0)
        note = "failed: division by zero"
    model = model if note.startswith("failed") else model.fit(X, y)
    found = score_loo(
        model, X, y, fit_params, {SINGLE: resolve_metric(metric, "test")}, np.unique(y)
    )
    assert not found.scores
    assert note in found.note


# Models


def result_of(trial, model, score=0.5, provisional=False):
    return CandidateResult(
        trial, {}, {}, 0.0, 0.0, corrected_score=score, model=model, provisional=provisional
    )


@pytest.fixture
def trials(make_trials):
    return make_trials(Ridge(), [{"alpha": alpha} for alpha in (1, 2, 3)])


def test_models_are_stored_on_disk_when_memory_is_used_up(trials, monkeypatch, tmp_path):
    monkeypatch.setattr(_evaluate, "STORE_BYTES", 0)
    monkeypatch.setattr(_evaluate.tempfile, "tempdir", str(tmp_path))
    with ModelStore() as store:
        for trial in trials:
            store.add(result_of(trial, Ridge(trial.row), provisional=trial.row == 1))
        assert not store._models
        assert list(tmp_path.iterdir()) == []  # the file has no name
        assert [store.get(row)[0].alpha for row in range(3)] == [0, 1, 2]
        assert [store.get(row)[1] for row in range(3)] == [False, True, False]
        assert store.get(3) is None


@pytest.mark.parametrize("bytes_left", [100, 1000])
def test_models_stay_in_memory_if_the_disk_is_full(trials, monkeypatch, caplog, bytes_left):
    """The size of files is limited: by the first model, or by the second."""
    resource = pytest.importorskip("resource", reason="not on Windows")
    monkeypatch.setattr(_evaluate, "STORE_BYTES", 0)
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with ModelStore() as store:
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_left, before[1]))
        try:
            for trial, text in zip(trials, ("a" * 500, "b" * 1000, "c"), strict=True):
                store.add(result_of(trial, Ridge(text)))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        assert [store.get(row)[0].alpha[0] for row in range(3)] == ["a", "b", "c"]
    assert caplog.text.count("could not be stored on disk") == (3 if bytes_left == 100 else 1)


def test_models_that_cannot_be_pickled_stay_in_memory(trials, monkeypatch):
    monkeypatch.setattr(_evaluate, "STORE_BYTES", 0)
    model = Ridge(threading.Lock())
    with ModelStore() as store:
        store.add(result_of(trials[0], model))
        assert store.get(0)[0] is model


def test_no_models_are_kept_without_refit(trials):
    with ModelStore(keep=False) as none, ModelStore() as every:
        for store in (none, every):
            store.add(result_of(trials[0], Ridge()))
        assert none.get(0) is None
        assert every.get(0) is not None


def test_candidates_do_not_depend_on_the_order_of_the_grid(make_run, evaluate_all, iris):
    """To the last digit, with LOO scores and bias correction."""
    run = make_run(*iris, use_loo=True)
    grid = [{"C": C} for C in (0.01, 0.1, 1.0, 10.0)]
    model = LogisticRegression(max_iter=500)
    listed = [r.corrected_score for r in evaluate_all(run, model, grid)[0].results]
    reverse = [r.corrected_score for r in evaluate_all(run, model, grid[::-1])[0].results]
    assert listed == reverse[::-1]
    assert len(set(listed)) > 1
