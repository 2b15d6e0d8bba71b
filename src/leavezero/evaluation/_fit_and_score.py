"""Fit one candidate, or several jointly, and score it from that fit."""

import logging
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import cache, partial
from operator import attrgetter
from typing import Any

import numpy as np

from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.evaluation._candidates import Candidate, Trial
from leavezero.evaluation._replicates import Replicates
from leavezero.evaluation._run import Run, fold_run, rows_run
from leavezero.evaluation._scoring import (
    SINGLE,
    CachedPredictions,
    Metric,
    MetricScores,
    block_variance,
    copied_if_modified,
    metric_for,
    rounded,
    score_model,
)
from leavezero.execution import TaskEnded
from leavezero.joint_fit import JointFit, JointlyFitted, type_name
from leavezero.leave_one_out import LOOPredictions, find_leave_one_out
from leavezero.unsupervised import UnsupervisedScore

JOINT_CELLS = 2**26  # predictions of jointly fitted models that are in memory at once

_log = logging.getLogger("leavezero")

KnownPredictions = Callable[[str], AnyArray | None]  # by method; None: the model predicts


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


def mean_score(run: Run, scores: Mapping[str, MetricScores]) -> float:
    """Return the mean score by the main metric; NaN if there is none."""
    name = run.main_metric
    return scores[name].mean if name is not None and name in scores else np.nan


def common_metric(run: Run, results: Sequence[CandidateResult], name: str) -> Metric:
    """Return the metric; where estimators have different defaults, one with a known best score."""
    candidates = {r.trial.candidate.estimator_name: r.trial.candidate for r in results}
    metrics = [metric_for(one.estimator, run.metric(name)) for one in candidates.values()]
    return min(metrics, key=attrgetter("highest"))


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
        corrected_score=mean_score(run, scores),
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
