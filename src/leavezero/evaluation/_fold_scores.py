"""Cross-validate a few candidates, so that the bias of validation scores is known for them."""

import logging
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)

from leavezero._random import splitter_with_seed
from leavezero._typing import AnyArray, Ints
from leavezero.evaluation._bias_correction import correct_scores, distances
from leavezero.evaluation._checkpointed_results import CheckpointedResults
from leavezero.evaluation._evaluate import plan_tasks, trial_results
from leavezero.evaluation._fit_and_score import CandidateResult, Task, evaluate_task
from leavezero.evaluation._run import Fold, Run
from leavezero.evaluation._scoring import MetricScores, final_estimator
from leavezero.execution import Limits

_log = logging.getLogger("leavezero")

# Candidates that are parts of one fitted model, such as boosting with fewer iterations, need one
# fit per fold. They form a group; every other candidate is a group of its own.
MAX_FITS_PER_TYPE = 25
SMALL_SEARCH = 10  # candidates; larger searches have at most one further fit per candidate, and
# half as many if one fold has enough test rows
SMALL_SEARCH_FITS = 15
WANTED_GROUPS = 5  # rather these on few folds than few on all folds
HELD_OUT_ROWS = 1_000  # are enough: of more rows, only some folds are used
EXTRA_VARIANCE = 1.5  # models of folds differ from the one fitted to all rows

Group = tuple[int, ...]  # rows of cv_results_


@dataclass(frozen=True)
class FoldPlan:
    """The folds, and how many candidates are cross-validated; None: few, and only where needed."""

    folds: Sequence[Fold]
    n_candidates: int | None = None
    may_be_fewer: bool = False  # whether some of the folds are enough


def make_folds(
    cv: Any,
    y: AnyArray,
    groups: AnyArray | None,
    labeled: Ints | None,
    *,
    is_classification: bool,
    seed: int,
    owner: str,
    X: Any = None,
) -> list[Fold]:
    """Return the folds of an int (shuffled), a splitter or an iterable of row pairs.

    Unlabeled rows are in the training part of every fold.
    """
    rows = np.arange(len(y)) if labeled is None else labeled
    n_splits = cv
    if labeled is not None and _is_int(cv):
        smallest_class = int(np.unique(y[rows], return_counts=True)[1].min())
        n_splits = min(cv, max(2, smallest_class))
        is_classification = smallest_class > 1
    try:
        splitter = _splitter(n_splits, is_classification, groups, seed)
        splitter = check_cv(splitter, y[rows], classifier=is_classification)
        row_groups = None if groups is None else np.asarray(groups)[rows]
        features = np.zeros(len(rows)) if X is None or labeled is not None else X
        every = np.arange(len(rows))
        folds = [
            (every[train], every[test])  # from masks and negative numbers, too
            for train, test in splitter.split(features, y[rows], row_groups)
        ]
    except (IndexError, TypeError, ValueError) as error:
        raise ValueError(
            f"cv of {owner} must be an int of at least 2, a splitter or an iterable of train and "
            f"test rows that fits the data, got {cv!r}: {error}"
        ) from error
    if not folds:
        raise ValueError(
            "No fits were performed. Was the CV iterator empty? Were there no candidates? cv of "
            f"{owner} must yield at least one fold, got {cv!r}."
        )
    if not all(part.ndim == 1 and part.size for fold in folds for part in fold):
        raise ValueError(
            f"cv of {owner} must leave training and test rows in each fold, got {cv!r}. With "
            "groups there are at most as many folds as groups."
        )
    n_expected = splitter.get_n_splits(features, y[rows], row_groups)
    if n_expected != len(folds):
        raise ValueError(
            "cv.split and cv.get_n_splits return inconsistent results. Expected "
            f"{n_expected} splits, got {len(folds)}: cv of {owner} is {cv!r}."
        )
    if labeled is None:
        return folds
    unlabeled = np.setdiff1d(np.arange(len(y)), rows)
    return [(np.concatenate([rows[train], unlabeled]), rows[test]) for train, test in folds]


def _is_int(cv: Any) -> bool:
    return isinstance(cv, int | np.integer)


def _splitter(cv: Any, is_classification: bool, groups: AnyArray | None, seed: int) -> Any:
    if not _is_int(cv):
        return splitter_with_seed(cv, seed)
    if groups is None:
        kind = StratifiedKFold if is_classification else KFold
        return kind(cv, shuffle=True, random_state=seed)
    if is_classification:
        return StratifiedGroupKFold(cv, shuffle=True, random_state=seed)
    return GroupKFold(cv)


def enough_folds(folds: Sequence[Fold], max_fits: int, n_groups: int) -> Sequence[Fold]:
    """Return the first folds that have enough test rows; few, if many groups share the fits."""
    n_rows = np.cumsum([len(test) for _, test in folds])
    n_folds = 1 + int(np.searchsorted(n_rows, min(HELD_OUT_ROWS, n_rows[-1])))
    return folds[: min(n_folds, max(1, max_fits // min(WANTED_GROUPS, n_groups)))]


def cross_validate_some(
    run: Run,
    results: Sequence[CandidateResult],
    plan: FoldPlan,
    *,
    n_jobs: int | None,
    limits: Limits | None = None,
    checkpoint: CheckpointedResults | None = None,
) -> tuple[list[CandidateResult], int]:
    """Return the results, corrected by the fold scores of some candidates, and the number of fits.

    If the number of candidates is not given, those of model types without a LOO score are chosen:
    of each type the best and the one whose predictions differ most from it, then, one after the
    other, the best of those left by the scores corrected so far; each with its group. A candidate
    without a LOO score that becomes the best is cross-validated whatever its type. Limits apply to
    each fit. Fold scores in the checkpoint are not computed again.
    """

    def cross_validated(rows: Sequence[int]) -> tuple[dict[int, dict[str, MetricScores]], int]:
        return _cross_validated(run, results, rows, plan.folds, n_jobs, limits, checkpoint)

    results = list(results)
    able = [at for at, one in enumerate(results) if _can_be_cross_validated(one)]
    if plan.n_candidates is not None:
        rows = _best_first(results, able)[: plan.n_candidates]
        scores, n_fits = cross_validated(rows)
        return _with_fold_scores(run, results, scores), n_fits
    if len(able) < 2:  # there is nothing to select
        return results, 0
    run = replace(
        run, error_score=np.nan
    )  # a fold that fails, perhaps without a class, is no error
    groups = _groups(run, results, able)
    types = _types_without_loo(run, results, groups)
    max_fits = len(able) if len(able) >= SMALL_SEARCH else SMALL_SEARCH_FITS
    if plan.may_be_fewer:
        if len(plan.folds[0][1]) >= HELD_OUT_ROWS:  # scores differ little by chance
            max_fits = max(WANTED_GROUPS, len(able) // 2)
        n_groups = sum(map(len, types)) or len(groups)
        plan = replace(plan, folds=enough_folds(plan.folds, max_fits, n_groups))
    n_fits, tried = 0, set[Group]()
    chosen = _first_groups(run, results, types) or _next_group(
        run, results, groups, types, tried, plan
    )
    while chosen and not (limits is not None and limits.spent()):
        rows = [row for group in chosen for row in group]
        scores, n_new_fits = cross_validated(rows)
        results = _with_fold_scores(run, results, scores)
        n_fits += n_new_fits
        tried |= set(chosen)
        if (len(tried) + 1) * len(plan.folds) > max_fits:
            break
        chosen = _next_group(run, results, groups, types, tried, plan)
    return results, n_fits


def _can_be_cross_validated(result: CandidateResult) -> bool:
    trial = result.trial
    is_whole_fit = trial.training_rows is None and trial.may_win
    return is_whole_fit and bool(np.isfinite(result.main_score))


def _groups(run: Run, results: Sequence[CandidateResult], able: Sequence[int]) -> list[Group]:
    """Return the rows that are fitted as parts of one model, and each other row by itself."""
    groups: list[Group] = []
    for task in plan_tasks([results[row].trial for row in able], run.seed):
        rows = sorted(trial.row for trial in task.trials)
        groups += [tuple(rows)] if _is_one_fit(run, task) else [(row,) for row in rows]
    return sorted(groups)


def _is_one_fit(run: Run, task: Task) -> bool:
    estimator = task.trials[0].candidate.make_estimator(run.seed)
    return task.method is not None and task.method.fits_one_model(estimator)


def _types_without_loo(
    run: Run, results: Sequence[CandidateResult], groups: Sequence[Group]
) -> list[list[Group]]:
    """Return the groups of each model type none of whose candidates has a LOO score."""
    assert run.main_metric is not None
    types: dict[tuple[str, type], list[Group]] = {}
    for group in groups:
        candidate = results[group[0]].trial.candidate
        kind = type(final_estimator(candidate.make_estimator(0)))
        types.setdefault((candidate.estimator_name, kind), []).append(group)
    return [
        found
        for found in types.values()
        if not any(run.main_metric in results[row].loo.scores for group in found for row in group)
    ]


def _first_groups(
    run: Run, results: Sequence[CandidateResult], types: Sequence[Sequence[Group]]
) -> list[Group]:
    """Return the groups to begin with: two of each model type without a LOO score."""
    chosen = []
    for groups in types:
        ranking = _best_first(results, [row for group in groups for row in group])
        best = _group_of(ranking[0], groups)
        chosen.append(best)
        others = [row for row in ranking if row not in best]
        if others:
            chosen.append(_group_of(_most_different(run, results, ranking[0], others), groups))
    return chosen


def _next_group(
    run: Run,
    results: Sequence[CandidateResult],
    groups: Sequence[Group],
    types: Sequence[Sequence[Group]],
    tried: set[Group],
    plan: FoldPlan,
) -> list[Group]:
    """Return the next group to cross-validate, if there is one."""
    assert run.main_metric is not None
    best = _best_first(results, [row for group in groups for row in group])[0]
    group = _group_of(best, groups)
    if group not in tried and np.isnan(results[best].held_out(run.main_metric)[0]):
        return [group]
    waiting = [
        group
        for type_groups in types
        if len(tried.intersection(type_groups)) * len(plan.folds) < MAX_FITS_PER_TYPE
        for group in type_groups
        if group not in tried
    ]
    ranking = _best_first(results, [row for group in waiting for row in group])
    return [_group_of(ranking[0], waiting)] if ranking else []


def _group_of(row: int, groups: Sequence[Group]) -> Group:
    return next(group for group in groups if row in group)


def _best_first(results: Sequence[CandidateResult], rows: Sequence[int]) -> list[int]:
    key = {row: (-results[row].main_score, results[row].trial.candidate.key) for row in rows}
    return sorted(rows, key=key.__getitem__)


def _most_different(
    run: Run, results: Sequence[CandidateResult], first: int, others: Sequence[int]
) -> int:
    """Return the candidate whose predictions differ most from those of the first."""
    assert run.main_metric is not None
    scores = [results[row].scores[run.main_metric] for row in [first, *others]]
    predictions = [one.predictions for one in scores if one.predictions is not None]
    if len(predictions) < len(scores):
        return others[-1]
    stacked = np.stack(predictions, axis=1)
    return others[int(np.argmax(distances(stacked[:, :1], stacked[:, 1:])[0]))]


def _with_fold_scores(
    run: Run,
    results: Sequence[CandidateResult],
    scores: Mapping[int, Mapping[str, MetricScores]],
) -> list[CandidateResult]:
    """Return the results with the fold scores of some rows, and all scores corrected anew."""
    known = [
        replace(result, cv=scores[row]) if row in scores else result
        for row, result in enumerate(results)
    ]
    return correct_scores(run, known)


def _cross_validated(
    run: Run,
    results: Sequence[CandidateResult],
    rows: Sequence[int],
    folds: Sequence[Fold],
    n_jobs: int | None,
    limits: Limits | None,
    checkpoint: CheckpointedResults | None,
) -> tuple[dict[int, dict[str, MetricScores]], int]:
    """Return the fold scores of some rows, none if a fold failed, and the number of fits."""
    run = replace(run, folds=folds, training_set=None)
    tasks = plan_tasks([results[row].trial for row in rows], run.seed)
    # Of the candidates of one fitted model, only the first counts.
    counted = {
        trial.row
        for task in tasks
        for trial in (task.trials[:1] if _is_one_fit(run, task) else task.trials)
    }
    scores, n_fits = {}, 0
    for result in trial_results(run, tasks, n_jobs, limits, checkpoint, _evaluate_quietly):
        for error in filter(None, [result.error, *result.scoring_errors.values()]):
            _log.info("A fold of %s failed: %s", result.trial.candidate.params, error)
        scores[result.trial.row] = usable_scores(result.scores)
        n_fits += result.n_fits * (result.trial.row in counted)
    return scores, n_fits


def usable_scores(scores: Mapping[str, MetricScores]) -> dict[str, MetricScores]:
    """Return finite fold scores with the variance that they have as scores of the whole fit."""
    return {
        name: replace(one, variance=EXTRA_VARIANCE * one.variance)
        for name, one in scores.items()
        if np.isfinite(one.replicates).all()
    }


def _evaluate_quietly(run: Run, task: Task) -> list[CandidateResult]:
    with warnings.catch_warnings():  # those of fits to all rows were shown before
        warnings.simplefilter("ignore", UserWarning)
        return evaluate_task(run, task)
