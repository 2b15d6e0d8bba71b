"""Fit every candidate once on all training rows and score it."""

import errno
import logging
import os
import pickle
import tempfile
import time
import traceback
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
    LOOCache,
    Metric,
    MetricScores,
    block_variance,
    copied_if_modified,
    metric_for,
    modifies_input,
    rounded,
    score_model,
    unsupervised_score,
)
from leavezero.execution import Limits, TaskEnded, run_tasks
from leavezero.joint_fit import JointFit, JointlyFitted, find_joint_fit
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
    def fits_per_trial(self) -> int:
        """The number of fits of one candidate."""
        return len(self.folds) or 1

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
    main_score: float = np.nan  # corrected and rounded, so that equal ones tie
    corrected_score: float = np.nan
    error: str | None = None
    scoring_errors: Mapping[str, str] = field(default_factory=dict)  # tracebacks by metric
    model: Any = field(default=None, repr=False)
    provisional: bool = False  # the model predicts, but must be fitted again to be returned
    from_checkpoint: bool = False
    ended: TaskEnded | None = None  # by a limit or the death of its process

    def mean_score(self, metric: str | None) -> float:
        """Return the mean score by a metric; NaN if there is none."""
        scores = None if metric is None else self.scores.get(metric)
        return np.nan if scores is None else scores.mean

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
    is_stopped: bool = False  # by a callback, or because the time budget is spent


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
    Finished results are kept if the user interrupts. Results in the checkpoint are not computed
    again.
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
            tasks += [_joint_task(task) for task in planned]
            for result in _round_results(run, planned, n_jobs, limits, checkpoint):
                is_new_fit = result.was_started and not result.from_checkpoint
                n_fits += run.fits_per_trial * is_new_fit
                models.add(result)
                table[result.trial.row] = replace(result, model=None)
                stopped = on_result(result)
                if stopped:
                    break
            if not stopped:
                table = {r.trial.row: r for r in _with_scores(run, list(table.values()))}
                strategy.tell([table[trial.row] for trial in trials])
    except KeyboardInterrupt as caught:
        interrupt = caught
    try:
        results = _with_scores(run, list(table.values()))
    except KeyboardInterrupt as caught:  # it takes a moment, and only a second one ends it
        interrupt = caught
        results = _with_scores(run, list(table.values()))
    results.sort(key=lambda result: result.trial.row)
    return Evaluation(results, tuple(tasks), n_fits, interrupt, stopped or _is_spent(limits))


def _with_scores(run: Run, results: list[CandidateResult]) -> list[CandidateResult]:
    """Return the results with their final score by the main metric."""
    if run.use_validation_set and run.use_loo:
        return correct_scores(run, results)
    return [
        replace(result, corrected_score=result.mean_score(run.main_metric)) for result in results
    ]


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


def _round_results(
    run: Run,
    tasks: Sequence[Task],
    n_jobs: int | None,
    limits: Limits | None,
    checkpoint: CheckpointedResults | None,
) -> Iterator[CandidateResult]:
    """Yield the results of a round as they are finished."""
    if checkpoint is not None:
        known, tasks = checkpoint.split(tasks)
        yield from known
    finished = run_tasks(
        evaluate_task,
        run,
        tasks,
        n_jobs=n_jobs,
        limits=limits,
        one_by_one=checkpoint is not None,
        timeout_factor=lambda task: len(task.trials) * run.fits_per_trial,
    )
    retry: list[Task] = []
    with closing(finished):  # type: ignore[type-var]  # an iterator that is a generator
        for at, found in finished:
            if not isinstance(found, TaskEnded):
                if checkpoint is not None:
                    checkpoint.save(found)
                yield from found
            elif len(tasks[at].trials) > 1 and found.limit != "time_budget":
                retry += [Task((trial,)) for trial in tasks[at].trials]  # one of them is the cause
            else:
                yield from _ended_results(run, tasks[at], found)
    if retry:
        yield from _round_results(run, retry, n_jobs, limits, checkpoint)


def _ended_results(run: Run, task: Task, ended: TaskEnded) -> list[CandidateResult]:
    if run.error_score == "raise" and ended.limit != "time_budget":
        errors = {"timeout": TimeoutError, "memory_limit": MemoryError}
        [trial] = task.trials
        raise errors.get(ended.limit, RuntimeError)(f"{trial.candidate.params}: {ended}")
    return [
        CandidateResult(trial, {}, {}, ended.seconds, 0.0, error=str(ended), ended=ended)
        for trial in task.trials
    ]


def evaluate_task(run: Run, task: Task) -> list[CandidateResult]:
    """Fit and score the trials of a task, jointly where that is possible."""
    if run.folds:
        return _evaluate_on_folds(run, task)
    params = set(run.fit_params.get(task.trials[0].candidate.estimator_name, {}))
    if task.method is not None and run.y_fit is not None and params <= {"sample_weight"}:
        try:
            return _evaluate_jointly(run, task, task.method)
        except Exception:  # evaluate each alone: the one that fails is then known and reported
            _log.debug("Joint fit %s failed.", task.method.name, exc_info=True)
    return [_evaluate_trial(run, trial) for trial in task.trials]


def _evaluate_on_folds(run: Run, task: Task) -> list[CandidateResult]:
    """Fit the trials to the training rows of each fold and score them on the test rows.

    No model is kept, since none was fitted to all rows.
    """
    rows = task.trials[0].training_rows  # a trial that has some is a task of its own
    trials = tuple(replace(trial, training_rows=None, context=None) for trial in task.trials)
    folds = [
        evaluate_task(
            fold_run(run, train if rows is None else np.intersect1d(train, rows), test),
            replace(task, trials=trials),
        )
        for train, test in run.folds
    ]
    return [
        _joined_results(run, trial, results)
        for trial, results in zip(task.trials, zip(*folds, strict=True), strict=True)
    ]


def _joined_results(run: Run, trial: Trial, results: Sequence[CandidateResult]) -> CandidateResult:
    """Return the results of one trial on all folds as one; a failed fold fails the trial."""
    fit_time, score_time = (
        float(np.mean([getattr(result, name) for result in results]))
        for name in ("fit_time", "score_time")
    )
    errors = [result.error for result in results if result.error is not None]
    if errors:
        return CandidateResult(trial, {}, {}, fit_time, score_time, error=errors[0])
    scores = {
        name: MetricScores(np.array([result.scores[name].mean for result in results]))
        for name in results[0].scores
        if all(name in result.scores for result in results)
    }
    train_scores = {
        name: np.concatenate([result.train_scores[name] for result in results])
        for name in results[0].train_scores
        if all(name in result.train_scores for result in results)
    }
    failed = {name: text for result in results for name, text in result.scoring_errors.items()}
    loo = LOOScores(note=run.no_loo_reason)
    joined = CandidateResult(
        trial, scores, train_scores, fit_time, score_time, loo, scoring_errors=failed
    )
    return replace(joined, main_score=rounded(joined.mean_score(run.main_metric)))


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
    return method.predict_many(models, run.X, run.y, sample_weight)


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
    X, y, params = _training_data(run, candidate, rows)
    model = candidate.make_estimator(run.seed)
    X, y = copied_if_modified(model, X, y)
    targets = () if y is None else (y,)
    if context is None and hasattr(model, "set_callbacks"):
        model.set_callbacks()
    with nullcontext() if context is None else context.propagate_callback_context(model):
        model.fit(X, *targets, **params)
    return model


def _training_data(
    run: Run, candidate: Candidate, rows: Ints | None
) -> tuple[Table, Any, dict[str, Any]]:
    params = dict(run.fit_params.get(candidate.estimator_name, {}))
    if rows is None:
        return run.X, run.y_fit, params
    y = None if run.y_fit is None else take_rows(run.y_fit, rows)
    return _training_part(run, rows, rows), y, _params_at(params, rows, len(run.y))


def _params_at(params: Mapping[str, Any], rows: Ints, n_rows: int) -> dict[str, Any]:
    """Return fit parameters; of those with one entry per row, the entries of some rows."""
    return {
        name: take_rows(value, rows)
        if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows
        else value
        for name, value in params.items()
    }


def fold_run(run: Run, train: Ints, test: Ints) -> Run:
    """Return a run that fits candidates to some training rows and scores them on others."""

    def rows_scored(rows: Ints) -> Replicates:
        y: Any = None if run.y_fit is None else run.y[rows]
        scored = ValidationSet(_training_part(run, rows, train), y)
        return Replicates(scored, 1, run.replicates.classes, fixed=True)

    labeled = None if run.labeled is None else np.flatnonzero(np.isin(train, run.labeled))
    is_train_scored = run.training_set is not None
    return replace(
        run,
        X=_training_part(run, train, train),
        y=run.y[train],
        y_fit=None if run.y_fit is None else take_rows(run.y_fit, train),
        replicates=rows_scored(test),
        metrics={name: metric.at(test) for name, metric in run.training_metrics.items()},
        training_metrics={name: metric.at(train) for name, metric in run.training_metrics.items()},
        fit_params={
            name: _params_at(params, train, len(run.y)) for name, params in run.fit_params.items()
        },
        training_set=rows_scored(train if labeled is None else train[labeled])
        if is_train_scored
        else None,
        kept_rows=None,
        compared_rows=np.arange(0),
        use_loo=False,
        use_validation_set=True,
        labeled=labeled,
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
    if run.training_set is not None:  # an error here has been recorded above
        metrics = run.training_metrics
        if run.labeled is not None:
            metrics = {name: metric.at(run.labeled) for name, metric in metrics.items()}
        train_scores, _ = score_on(run, model, run.training_set, metrics)
    result = CandidateResult(
        trial,
        {name: s.restricted(run.kept_rows, run.compared_rows) for name, s in scores.items()},
        {name: s.replicates for name, s in train_scores.items()},
        fit_time,
        time.perf_counter() - started + shared_time,
        loo,
        scoring_errors=errors,
        model=model,
    )
    return replace(result, main_score=rounded(result.mean_score(run.main_metric)))


def _score_without_target(
    run: Run, trial: Trial, model: Any, score: UnsupervisedScore
) -> tuple[dict[str, MetricScores], dict[str, str]]:
    rows, X = trial.training_rows, _training_data(run, trial.candidate, trial.training_rows)[0]
    try:
        [X] = copied_if_modified(model, X)
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
    rows, metrics = trial.training_rows, run.training_metrics
    X, _, params = _training_data(run, trial.candidate, rows)
    y = run.y if rows is None else run.y[rows]
    if rows is not None:
        metrics = {name: metric.at(rows) for name, metric in metrics.items()}
    if predictions is None:
        X, y = copied_if_modified(model, X, y)
    loo = score_loo(model, X, y, params, metrics, run.replicates.classes, predictions)
    if run.labeled is None:
        return loo
    some = {name: scores.restricted(run.labeled, None) for name, scores in loo.scores.items()}
    return replace(loo, scores=some)


def _loo_unsupported_reason(model: Any, fit_params: Mapping[str, Any]) -> str | None:
    """Return why LOO predictions are not available for an estimator; None if they are."""
    method = find_leave_one_out(model)
    if method is None:
        return f"no leave-one-out method for {type(model).__name__}"
    others = sorted(set(fit_params) - {"sample_weight"})
    if others:
        return f"fit was called with {', '.join(others)}"
    return method.unsupported_reason(model)


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
    reason = _loo_unsupported_reason(model, fit_params)
    method = find_leave_one_out(model)
    if reason is not None or method is None:
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
    cached = LOOCache(model, known, classes)
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
