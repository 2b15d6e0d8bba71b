"""Fit every candidate once on all training rows and score it."""

import errno
import logging
import os
import pickle
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from leavezero._tables import is_pandas, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.evaluation._bias_correction import correct_scores
from leavezero.evaluation._candidates import Candidate, Strategy, Trial
from leavezero.evaluation._checkpointed_results import CheckpointedResults
from leavezero.evaluation._replicates import Replicates
from leavezero.evaluation._scoring import (
    SINGLE,
    CachedPredictions,
    Metric,
    MetricScores,
    block_variance,
    copied_if_modified,
    join_scores,
    metric_for,
    modifies_input,
    rounded,
    score_model,
    unsupervised_score,
)
from leavezero.execution import Limits, TaskEnded, run_tasks
from leavezero.joint_fit import JointFit, JointlyFitted, find_joint_fit, type_name
from leavezero.leave_one_out import LOOPredictions, find_leave_one_out
from leavezero.unsupervised import UnsupervisedScore

JOINT_CELLS = 2**26  # predictions of jointly fitted models that are in memory at once
STORE_BYTES = 2**26  # pickled models in memory; further ones are stored on disk

Fold = tuple[Ints, Ints]  # training rows and test rows

_log = logging.getLogger("leavezero")

KnownPredictions = Callable[[str], AnyArray | None]  # by method; None: the model predicts


@dataclass(frozen=True, eq=False)
class Run:
    """The data and options that all candidates of a search share."""

    X: Table
    y: AnyArray  # as an array whose labels sort; zeros if there is no target
    y_fit: Any  # the target that candidates are fitted to, as it was passed; None: there is none
    replicates: Replicates
    metrics: Mapping[str, Metric]  # by their name in cv_results_, for validation rows
    main_metric: str | None  # that selects the best; None if no single metric does
    seed: int
    fit_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by estimator name
    training_metrics: Mapping[str, Metric] = field(default_factory=dict)  # for training rows
    training_set: Replicates | None = None  # if training scores are requested
    kept_rows: Ints | None = None  # validation rows whose per-row scores are kept; None: all
    compared_rows: Ints | None = None  # validation rows by which models are compared; None: all
    use_loo: bool = False
    no_loo_reason: str | None = None  # why no candidate gets a LOO score
    use_validation_set: bool = True
    labeled: Ints | None = None  # labeled rows, where semi-supervised candidates use others too
    pairwise: bool = False  # X has a column for each training row, such as a precomputed kernel
    folds: Sequence[Fold] = ()  # by which all candidates are scored, instead of a validation set
    error_score: Any = np.nan

    @property
    def n_labeled(self) -> int:
        """The number of training rows with a label."""
        return len(self.y) if self.labeled is None else len(self.labeled)

    @property
    def unsupervised(self) -> UnsupervisedScore | None:
        """The score without a target, which replaces validation set and folds."""
        return unsupervised_score(self.metrics)

    def metric(self, name: str) -> Metric:
        """Return a metric; a callable that returns a dict has one entry for all its names."""
        return self.metrics.get(name) or self.metrics[SINGLE]


@dataclass(frozen=True, eq=False)
class LOOScores:
    """LOO scores of one model by metric, and why there are no others."""

    scores: Mapping[str, MetricScores] = field(default_factory=dict)
    method: str | None = None
    note: str | None = None


@dataclass(frozen=True, eq=False)
class CandidateResult:
    """The scores of one trial, or the traceback of its error."""

    trial: Trial
    scores: Mapping[str, MetricScores]  # on the validation set, by metric
    train_scores: Mapping[str, Floats]  # one for all replicates, or one per fold
    fit_time: float
    score_time: float
    loo: LOOScores = field(default_factory=LOOScores)
    cv: Mapping[str, MetricScores] = field(default_factory=dict)  # fold scores, by metric
    corrected_score: float = np.nan  # by the main metric; until it is corrected, the mean score
    error: str | None = None
    scoring_errors: Mapping[str, str] = field(default_factory=dict)  # tracebacks by metric
    model: Any = field(default=None, repr=False)
    provisional: bool = False  # the model predicts, but must be fitted again to be returned
    n_fits: int = 1  # 0 if the result is from a checkpoint, or not started within the time budget
    ended: TaskEnded | None = None  # by a limit or the death of its process

    @property
    def main_score(self) -> float:
        """The corrected score, rounded so that equal ones tie."""
        return rounded(self.corrected_score)

    def held_out(self, metric: str) -> tuple[float, float]:
        """Return the LOO or fold score, or the mean of both, and its variance; NaN if none."""
        found = [scores[metric] for scores in (self.loo.scores, self.cv) if metric in scores]
        if not found:
            return np.nan, np.nan
        variance = float(np.mean([one.variance for one in found]))
        return float(np.mean([one.mean for one in found])), variance

    @property
    def was_started(self) -> bool:
        """Whether the candidate was started before the time budget was spent."""
        return self.ended is None or self.ended.limit != "time_budget"


@dataclass(frozen=True, eq=False)
class Task:
    """Trials that are evaluated in one call, jointly if there is a method."""

    trials: tuple[Trial, ...]
    method: JointFit | None = None
    fold: int | None = None  # of the run's folds; None: fit all training rows


@dataclass(frozen=True)
class JointTask:
    """Candidates that were fitted in one task."""

    candidates: tuple[int, ...]  # their rows in ``cv_results_``
    method: str | None = None  # the joint fit that shared their work; None for a single plain fit


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of all trials by row, and what stopped the search early, if anything did."""

    results: list[CandidateResult]
    tasks: tuple[JointTask, ...]
    n_fits: int
    interrupt: KeyboardInterrupt | None = None
    is_stopped: bool = False  # by a callback


def evaluate(
    run: Run,
    strategy: Strategy,
    models: "ModelStore",
    *,
    n_jobs: int | None,
    limits: Limits | None = None,
    checkpoint: CheckpointedResults | None = None,
    on_start: Callable[[Trial], Trial] = lambda trial: trial,
    on_result: Callable[[CandidateResult], bool] = lambda result: False,
) -> Evaluation:
    """Fit and score the trials that the strategy proposes, round by round.

    ``on_start`` is called with every trial of a round and may add a callback context to it,
    ``on_result`` with every result; if it returns True, no further trial is started.
    Finished results are kept if the user interrupts (see `deferred_interrupts`). Results in the
    checkpoint are not computed again.
    """
    table: dict[int, CandidateResult] = {}
    tasks: list[JointTask] = []
    n_fits = 0
    interrupt: KeyboardInterrupt | None = None
    stopped = False
    try:
        while not stopped and not _is_spent(limits) and (trials := strategy.ask()):
            trials = [on_start(trial) for trial in trials]
            planned = plan_tasks(trials, run.seed)
            if limits is not None and limits.time_budget is not None:
                planned = _one_of_each_first(planned)
            tasks += [_joint_task(task) for task in planned]
            for result in trial_results(run, planned, n_jobs, limits, checkpoint, evaluate_task):
                n_fits += result.n_fits
                models.add(result)
                table[result.trial.row] = replace(result, model=None)
                stopped = on_result(result)
                if stopped:
                    break
            if not stopped:
                table = {r.trial.row: r for r in _corrected(run, list(table.values()))}
                strategy.tell([table[trial.row] for trial in trials])
    except KeyboardInterrupt as caught:
        interrupt = caught
    results = _corrected(run, list(table.values()))
    results.sort(key=lambda result: result.trial.row)
    return Evaluation(results, tuple(tasks), n_fits, interrupt, stopped)


def _corrected(run: Run, results: list[CandidateResult]) -> list[CandidateResult]:
    return correct_scores(run, results) if run.use_validation_set and run.use_loo else results


def _is_spent(limits: Limits | None) -> bool:
    return limits is not None and limits.spent()


def plan_tasks(trials: Sequence[Trial], seed: int) -> list[Task]:
    """Return the trials as tasks, the largest first; the order depends on the candidates only."""
    groups: dict[Any, list[tuple[Trial, Any]]] = {}
    methods: dict[Any, JointFit] = {}
    for at, trial in enumerate(sorted(trials, key=lambda trial: trial.candidate.key)):
        estimator = trial.candidate.make_estimator(seed)
        is_plain = trial.training_rows is None and trial.context is None
        joint = find_joint_fit(estimator) if is_plain else None
        if joint is None or modifies_input(estimator):
            groups["single", at] = [(trial, 0)]
            continue
        method, key = joint
        name = (method.name, trial.candidate.estimator_name, key)
        methods[name] = method
        groups.setdefault(name, []).append((trial, method.order(estimator)))
    tasks = [task for key, group in groups.items() for task in _split(group, methods.get(key))]
    return sorted(tasks, key=lambda task: -len(task.trials))


def _one_of_each_first(tasks: Sequence[Task]) -> list[Task]:
    """Put one trial of each estimator, from the middle of its grid, before all other tasks.

    Those are in the order of the estimators. The result of a joint task is known when all of it is
    finished. Without this, the slowest model type may use the whole time budget, and others would
    not be started.
    """
    by_estimator: dict[str, list[Trial]] = {}
    for trial in sorted((t for task in tasks for t in task.trials), key=lambda t: t.row):
        by_estimator.setdefault(trial.candidate.estimator_name, []).append(trial)
    if len(by_estimator) == 1:
        return list(tasks)
    first = [own[len(own) // 2] for own in by_estimator.values()]
    others = (tuple(t for t in task.trials if t not in first) for task in tasks)
    rest = [replace(task, trials=own) for task, own in zip(tasks, others, strict=True) if own]
    rest.sort(key=lambda task: min(trial.row for trial in task.trials))
    return [Task((trial,)) for trial in first] + rest


def _split(group: list[tuple[Trial, Any]], method: JointFit | None) -> Iterator[Task]:
    """Yield tasks with at most as many trials as the method fits jointly."""
    size = 1 if method is None else method.max_candidates
    if len(group) > size:
        group = sorted(group, key=lambda pair: pair[1])
    for start in range(0, len(group), size):
        yield Task(tuple(trial for trial, _ in group[start : start + size]), method)


def _joint_task(task: Task) -> JointTask:
    rows = tuple(sorted(trial.row for trial in task.trials))
    is_joint = task.method is not None and len(rows) > 1
    return JointTask(rows, task.method.name if is_joint and task.method else None)


def trial_results(
    run: Run,
    tasks: Sequence[Task],
    n_jobs: int | None,
    limits: Limits | None,
    checkpoint: CheckpointedResults | None,
    function: Callable[[Run, Task], list[CandidateResult]],
) -> Iterator[CandidateResult]:
    """Yield the result of each trial as it is finished; with folds, when all of them are."""
    if run.folds:
        tasks = [replace(task, fold=at) for task in tasks for at in range(len(run.folds))]
    parts: dict[int, dict[int | None, CandidateResult]] = defaultdict(dict)
    for task, found in _finished_tasks(run, tasks, n_jobs, limits, checkpoint, function):
        for result in found:
            if task.fold is None:
                yield result
                continue
            known = parts[result.trial.row]
            known[task.fold] = result
            if len(known) == len(run.folds):
                yield _joined_folds(run, [known[at] for at in range(len(run.folds))])


def _finished_tasks(
    run: Run,
    tasks: Sequence[Task],
    n_jobs: int | None,
    limits: Limits | None,
    checkpoint: CheckpointedResults | None,
    function: Callable[[Run, Task], list[CandidateResult]],
) -> Iterator[tuple[Task, list[CandidateResult]]]:
    """Yield tasks and the results of their trials as they are finished."""
    if checkpoint is not None:
        known, tasks = checkpoint.split(run, tasks)
        yield from known
    finished = run_tasks(
        function,
        run,
        tasks,
        n_jobs=n_jobs,
        limits=limits,
        one_by_one=checkpoint is not None,
        timeout_factor=lambda task: len(task.trials),
    )
    retry: list[Task] = []
    with closing(finished):  # type: ignore[type-var]  # an iterator that is a generator
        for at, found in finished:
            task = tasks[at]
            if not isinstance(found, TaskEnded):
                if checkpoint is not None:
                    checkpoint.save(task, found)
                yield task, found
            elif len(task.trials) > 1 and found.limit != "time_budget":  # one of them is the cause
                retry += [Task((trial,), fold=task.fold) for trial in task.trials]
            else:
                yield task, _ended_results(run, task, found)
    if retry:
        yield from _finished_tasks(run, retry, n_jobs, limits, checkpoint, function)


def _ended_results(run: Run, task: Task, ended: TaskEnded) -> list[CandidateResult]:
    if run.error_score == "raise" and ended.limit != "time_budget":
        errors = {"timeout": TimeoutError, "memory_limit": MemoryError}
        [trial] = task.trials
        raise errors.get(ended.limit, RuntimeError)(f"{trial.candidate.params}: {ended}")
    n_fits = int(ended.limit != "time_budget")
    return [
        CandidateResult(
            trial, {}, {}, ended.seconds, 0.0, error=str(ended), n_fits=n_fits, ended=ended
        )
        for trial in task.trials
    ]


def evaluate_task(run: Run, task: Task) -> list[CandidateResult]:
    """Fit and score the trials of a task, jointly where that is possible."""
    if task.fold is not None:
        return _evaluate_fold(run, task, *run.folds[task.fold])
    params = set(run.fit_params.get(task.trials[0].candidate.estimator_name, {}))
    is_as_passed = run.y_fit is not None and np.asarray(run.y_fit).ndim == run.y.ndim
    if task.method is not None and is_as_passed and params <= {"sample_weight"}:
        try:
            return _evaluate_jointly(run, task, task.method)
        except Exception:  # evaluate each alone: the one that fails is then known and reported
            _log.debug("Joint fit %s failed.", task.method.name, exc_info=True)
    return [_evaluate_trial(run, trial) for trial in task.trials]


def _evaluate_fold(run: Run, task: Task, train: Ints, test: Ints) -> list[CandidateResult]:
    """Fit the trials to the training rows of a fold and score them on the test rows.

    No model is kept, since none was fitted to all rows.
    """
    rows = task.trials[0].training_rows  # a trial that has some is a task of its own
    if rows is not None:
        train = np.intersect1d(train, rows)
    trials = tuple(replace(trial, training_rows=None, context=None) for trial in task.trials)
    results = evaluate_task(fold_run(run, train, test), Task(trials, task.method))
    return [
        replace(result, trial=trial, model=None)
        for trial, result in zip(task.trials, results, strict=True)
    ]


def _joined_folds(run: Run, parts: Sequence[CandidateResult]) -> CandidateResult:
    """Return the results of one trial on all folds as one; a failed fold fails the trial."""
    joined = replace(
        next((part for part in parts if part.error is not None), parts[0]),
        fit_time=float(np.mean([part.fit_time for part in parts])),
        score_time=float(np.mean([part.score_time for part in parts])),
        n_fits=sum(part.n_fits for part in parts),
    )
    if joined.error is not None:
        return joined
    scores = join_scores([part.scores for part in parts])
    return replace(
        joined,
        scores=scores,
        train_scores={
            name: np.concatenate([part.train_scores[name] for part in parts])
            for name in parts[0].train_scores
            if all(name in part.train_scores for part in parts)
        },
        scoring_errors={n: text for part in parts for n, text in part.scoring_errors.items()},
        corrected_score=_mean_score(run, scores),
    )


def _mean_score(run: Run, scores: Mapping[str, MetricScores]) -> float:
    """Return the mean score by the main metric; NaN if there is none."""
    name = run.main_metric
    return scores[name].mean if name is not None and name in scores else np.nan


def _evaluate_jointly(run: Run, task: Task, method: JointFit) -> list[CandidateResult]:
    started = time.perf_counter()
    params = run.fit_params.get(task.trials[0].candidate.estimator_name, {})
    estimators = [trial.candidate.make_estimator(run.seed) for trial in task.trials]
    y = run.y if run.labeled is None else np.asarray(run.y_fit)
    fitted = method.fit(estimators, run.X, y, **params)
    n_trials = len(task.trials)
    fit_time = (time.perf_counter() - started) / n_trials
    started = time.perf_counter()
    predictions = _joint_predictions(run, method, fitted)
    loo = _joint_loo(run, fitted.models, params.get("sample_weight"))
    shared_time = (time.perf_counter() - started) / n_trials
    provisional = fitted.provisional or (False,) * n_trials
    parts = zip(task.trials, fitted.models, predictions, loo, provisional, strict=True)
    return [
        replace(
            _scored(run, trial, model, fit_time, known, predicted, shared_time),
            provisional=is_provisional,
        )
        for trial, model, known, predicted, is_provisional in parts
    ]


def _joint_predictions(run: Run, method: JointFit, fitted: JointlyFitted) -> list[KnownPredictions]:
    """Return for each model a function of its predictions on the validation set by method."""
    width = 1 if run.replicates.classes is None else len(run.replicates.classes)
    is_large = len(fitted.models) * len(run.replicates.rows) * width > JOINT_CELLS

    @cache
    def compute(name: str) -> Sequence[AnyArray | None]:
        none = [None] * len(fitted.models)
        if is_large or not hasattr(fitted.models[0], name):
            return none
        try:
            return method.predict(fitted, run.replicates.rows.X, name) or none
        except Exception:  # the model that cannot predict is reported when it is scored alone
            _log.debug("Joint predictions of %s failed.", method.name, exc_info=True)
            return none

    def predictions(at: int, name: str) -> AnyArray | None:
        return compute(name)[at]

    return [partial(predictions, at) for at in range(len(fitted.models))]


def _joint_loo(
    run: Run, models: list[Any], sample_weight: AnyArray | None
) -> Sequence[LOOPredictions | None]:
    """Return the LOO predictions of jointly fitted models; None to compute them one by one."""
    is_used = run.use_loo and run.no_loo_reason is None
    method = find_leave_one_out(models[0]) if is_used else None
    if method is None or method.unsupported_reason(models[0]) is not None:
        return [None] * len(models)
    try:
        return method.predict_many(models, run.X, run.y, sample_weight)
    except Exception:  # the model that has no such predictions is then known, and only that one
        _log.debug("Leave-one-out method %s failed for all.", method.name, exc_info=True)
        return [None] * len(models)


def _evaluate_trial(run: Run, trial: Trial) -> CandidateResult:
    started = time.perf_counter()
    try:
        model = fit_candidate(run, trial.candidate, trial.training_rows, trial.context)
    except Exception:
        if run.error_score == "raise":
            raise
        seconds = time.perf_counter() - started
        return CandidateResult(trial, {}, {}, seconds, 0.0, error=traceback.format_exc())
    return _scored(run, trial, model, time.perf_counter() - started)


def is_pairwise(estimator: Any) -> bool:
    """Return whether X has a column for each training row: precomputed kernels or distances."""
    return bool(get_tags(estimator).input_tags.pairwise)


def _training_part(run: Run, rows: Ints, columns: Ints) -> Table:
    """Return some rows of X; if it is pairwise, only the columns of the rows that are fitted."""
    taken = take_rows(run.X, rows)
    if not run.pairwise:
        return taken
    if is_pandas(taken):
        return taken.iloc[:, columns]
    return (np.asarray(taken) if isinstance(taken, list) else taken)[:, columns]


def fit_candidate(
    run: Run, candidate: Candidate, rows: Ints | None = None, context: Any = None
) -> Any:
    """Return a candidate fitted to some of the training rows; None for all.

    Callbacks are propagated by the context; without one, as in folds, none is called.
    """
    part = rows_run(run, rows)
    model = candidate.make_estimator(run.seed)
    X, y = copied_if_modified(model, part.X, part.y_fit)
    targets = () if y is None else (y,)
    if context is None and hasattr(model, "set_callbacks"):
        model.set_callbacks()
    with nullcontext() if context is None else context.propagate_callback_context(model):
        model.fit(X, *targets, **part.fit_params.get(candidate.estimator_name, {}))
    return model


def rows_run(run: Run, rows: Ints | None) -> Run:
    """Return a run whose training data are some of the rows; None: all."""
    if rows is None:
        return run
    labeled, training_set = None, None
    if run.labeled is not None:
        labeled = np.flatnonzero(np.isin(rows, run.labeled))
    if run.training_set is not None:
        training_set = _rows_scored(run, rows if labeled is None else rows[labeled], rows)
    return replace(
        run,
        X=_training_part(run, rows, rows),
        y=run.y[rows],
        y_fit=None if run.y_fit is None else take_rows(run.y_fit, rows),
        fit_params={
            name: _params_at(params, rows, len(run.y)) for name, params in run.fit_params.items()
        },
        training_metrics={name: metric.at(rows) for name, metric in run.training_metrics.items()},
        training_set=training_set,
        labeled=labeled,
    )


def _params_at(params: Mapping[str, Any], rows: Ints, n_rows: int) -> dict[str, Any]:
    """Return fit parameters; of those with one entry per row, the entries of some rows."""
    return {
        name: take_rows(value, rows)
        if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows
        else value
        for name, value in params.items()
    }


def _rows_scored(run: Run, rows: Ints, columns: Ints) -> Replicates:
    """Return some training rows in the role of a validation set."""
    y: Any = None if run.y_fit is None else run.y[rows]
    scored = ValidationSet(_training_part(run, rows, columns), y)
    return Replicates(scored, 1, run.replicates.classes, fixed=True)


def fold_run(run: Run, train: Ints, test: Ints) -> Run:
    """Return a run that fits candidates to some training rows and scores them on others."""
    return replace(
        rows_run(run, train),
        replicates=_rows_scored(run, test, train),
        metrics={name: metric.at(test) for name, metric in run.training_metrics.items()},
        kept_rows=None,
        compared_rows=np.arange(0),
        use_loo=False,
        use_validation_set=True,
        folds=(),
    )


def _scored(
    run: Run,
    trial: Trial,
    model: Any,
    fit_time: float,
    known: KnownPredictions = lambda method: None,
    loo_predictions: LOOPredictions | None = None,
    shared_time: float = 0.0,
) -> CandidateResult:
    """Score a fitted model; predictions that were computed jointly are given."""
    started = time.perf_counter()
    loo = LOOScores(note=run.no_loo_reason)
    if run.use_loo and run.no_loo_reason is None:
        loo = _trial_loo(run, trial, model, loo_predictions)
    scores: Mapping[str, MetricScores] = loo.scores
    errors: dict[str, str] = {}
    if run.unsupervised is not None:
        scores, errors = _score_without_target(run, trial, model, run.unsupervised)
    elif run.use_validation_set:
        scores, errors = score_on(run, model, run.replicates, run.metrics, known)
    train_scores: dict[str, MetricScores] = {}
    if run.training_set is not None:
        part = rows_run(run, trial.training_rows)
        metrics = part.training_metrics
        if part.labeled is not None:
            metrics = {name: metric.at(part.labeled) for name, metric in metrics.items()}
        assert part.training_set is not None
        train_scores, _ = score_on(run, model, part.training_set, metrics)  # errors: see above
    return CandidateResult(
        trial,
        {name: s.restricted(run.kept_rows, run.compared_rows) for name, s in scores.items()},
        {name: s.replicates for name, s in train_scores.items()},
        fit_time,
        time.perf_counter() - started + shared_time,
        loo,
        corrected_score=_mean_score(run, scores),
        scoring_errors=errors,
        model=model,
    )


def _score_without_target(
    run: Run, trial: Trial, model: Any, score: UnsupervisedScore
) -> tuple[dict[str, MetricScores], dict[str, str]]:
    rows = trial.training_rows
    try:
        [X] = copied_if_modified(model, rows_run(run, rows).X)
        values = score.values(model, X, run.seed)
    except Exception:
        if run.error_score == "raise":
            raise
        return {}, {SINGLE: traceback.format_exc()}
    if not score.per_row:
        return {SINGLE: MetricScores(values)}, {}
    found = MetricScores(np.array([values.mean()]), values)
    if rows is not None:
        found = replace(found, per_row=_per_training_row(found, rows, len(run.y)))
    return {SINGLE: found}, {}


def score_on(
    run: Run,
    model: Any,
    replicates: Replicates,
    metrics: Mapping[str, Metric],
    known: KnownPredictions = lambda method: None,
) -> tuple[dict[str, MetricScores], dict[str, str]]:
    """Return the scores by each metric, and the tracebacks of those that failed."""
    scores: dict[str, MetricScores] = {}
    errors: dict[str, str] = {}
    predictions = CachedPredictions(model, replicates.rows.X, known, replicates.classes)
    for name, metric in metrics.items():
        try:
            scores |= score_model(predictions, replicates, metric, name)
        except Exception:
            if run.error_score == "raise":
                raise
            errors[name] = traceback.format_exc()
    return scores, errors


def _trial_loo(run: Run, trial: Trial, model: Any, predictions: LOOPredictions | None) -> LOOScores:
    rows, part = trial.training_rows, rows_run(run, trial.training_rows)
    X, y = part.X, part.y
    if predictions is None:
        X, y = copied_if_modified(model, X, y)
    params = part.fit_params.get(trial.candidate.estimator_name, {})
    classes = run.replicates.classes
    loo = score_loo(model, X, y, params, part.training_metrics, classes, predictions)
    scores = dict(loo.scores)
    for name, one in loo.scores.items():
        if rows is not None:
            one = replace(one, per_row=_per_training_row(one, rows, len(run.y)))
        scores[name] = one.restricted(run.labeled, None)
    return replace(loo, scores=scores)


def score_loo(
    model: Any,
    X: Table,
    y: AnyArray,
    fit_params: Mapping[str, Any],
    metrics: Mapping[str, Metric],
    classes: AnyArray | None,
    predictions: LOOPredictions | None = None,
) -> LOOScores:
    """Return the LOO scores of a fitted model, or a note why there are none."""
    method = find_leave_one_out(model)
    if method is None:
        return LOOScores(note=f"no leave-one-out method for {type_name(model)}")
    others = sorted(set(fit_params) - {"sample_weight"})
    if others:
        return LOOScores(note=f"fit was called with {', '.join(others)}")
    reason = method.unsupported_reason(model)
    if reason is not None:
        return LOOScores(note=reason)
    if predictions is None:
        try:
            predictions = method.predict(model, X, y, fit_params.get("sample_weight"))
        except Exception as error:  # LOO is optional: fall back to the validation score
            _log.debug("Leave-one-out method %s failed.", method.name, exc_info=True)
            return LOOScores(note=f"the leave-one-out method {method.name} failed: {error}")
    if predictions.unreliable is not None:
        return LOOScores(method=predictions.method, note=predictions.unreliable)
    rows, mask = predictions.rows, predictions.has_prediction
    if rows is None:  # the training row of each prediction
        rows = np.arange(len(y)) if mask is None else np.flatnonzero(mask)
    if len(rows) == 0:
        return LOOScores(method=predictions.method, note="no row has a prediction")
    return _loo_scores(model, predictions, rows, X, y, metrics, classes)


def _loo_scores(
    model: Any,
    predictions: LOOPredictions,
    rows: Ints,
    X: Table,
    y: AnyArray,
    metrics: Mapping[str, Metric],
    classes: AnyArray | None,
) -> LOOScores:
    picked: Any = slice(None) if predictions.rows is not None or len(rows) == len(y) else rows
    known = {name: values[picked] for name, values in predictions.predictions.items()}
    cached = CachedPredictions(model, None, known.get, classes)
    needs_features = any(metric_for(model, metric).needs_features for metric in metrics.values())
    features = take_rows(X, rows) if needs_features else rows
    training = Replicates(ValidationSet(features, y[rows]), 1, classes, fixed=True)
    scores: dict[str, MetricScores] = {}
    notes = []
    for name, metric in metrics.items():
        own = metric_for(model, metric).at(rows)
        if own.scorer is None:
            notes.append(f"{own.name} needs the model, and only predictions are known")
            continue
        try:
            found = score_model(cached, training, own, name)
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            names = ", ".join(predictions.predictions)
            notes.append(f"{own.name} cannot be computed from {names}: {error}")
            continue
        for key, one in found.items():
            variance = one.variance
            if np.isnan(variance):
                variance = block_variance(cached, training, own, key)
            per_row = _per_training_row(one, rows, len(y))
            scores[key] = MetricScores(one.replicates, per_row, variance=variance)
    return LOOScores(scores, predictions.method, "; ".join(notes) or None)


def _per_training_row(scores: MetricScores, rows: Ints, n_rows: int) -> Floats | None:
    """Return the mean score of each training row; the overall mean where a row has none."""
    if scores.per_row is None:
        return None
    counts = np.bincount(rows, minlength=n_rows)
    sums = np.bincount(rows, scores.per_row, minlength=n_rows)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), scores.per_row.mean())
    return means.astype(scores.per_row.dtype)


class ModelStore:
    """Fitted models until the best is known: in memory up to a size, then on disk."""

    def __init__(self, keep: bool = True) -> None:
        self._keep = keep
        self._models: dict[int, tuple[Any, bool]] = {}  # model, and whether it is provisional
        self._free_bytes = STORE_BYTES
        self._spans: dict[int, tuple[int, int]] = {}  # start and length of models in the file
        self._file: Any = None  # has no name, so that nothing is left if the process is killed

    def __enter__(self) -> "ModelStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._models.clear()
        if self._file is not None:
            self._file.close()

    def add(self, result: CandidateResult) -> None:
        """Store the model of a result, if models are kept."""
        row, entry = result.trial.row, (result.model, result.provisional)
        if not self._keep or result.model is None:
            return
        self._models[row] = entry
        try:
            content = pickle.dumps(entry)
            if len(content) > self._free_bytes:
                self._spans[row] = self._write(content)
                del self._models[row]
            else:
                self._free_bytes -= len(content)
        except OSError:  # such as a full disk
            _log.warning("A fitted model could not be stored on disk.", exc_info=True)
        except Exception:  # pickle raises anything
            _log.debug("A fitted model cannot be pickled.", exc_info=True)

    def get(self, row: int) -> tuple[Any, bool] | None:
        """Return the model of a row and whether it is provisional; None if it was not stored."""
        if row not in self._spans:
            return self._models.get(row)
        start, length = self._spans[row]
        self._file.seek(start)
        loaded: tuple[Any, bool] = pickle.loads(self._file.read(length))
        return loaded

    def _write(self, content: bytes) -> tuple[int, int]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - see __exit__
        start = self._file.seek(0, os.SEEK_END)
        if self._file.write(content) < len(content):
            self._file.truncate(start)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return start, len(content)
