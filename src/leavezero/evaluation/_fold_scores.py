"""Cross-validate a few candidates, so that the bias of validation scores is known for them."""

import logging
import warnings
from collections.abc import Sequence
from contextlib import closing
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
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Ints
from leavezero.augment import ValidationSet
from leavezero.evaluation._bias_correction import correct_scores, distances
from leavezero.evaluation._candidates import Candidate
from leavezero.evaluation._evaluate import CandidateResult, Run, fit_candidate, score_on
from leavezero.evaluation._replicates import Replicates
from leavezero.evaluation._scoring import MetricScores, final_estimator
from leavezero.execution import Limits, TaskEnded, limited_threads, run_tasks

_log = logging.getLogger("leavezero")

FIRST_PER_TYPE = 2  # candidates of each model type without a LOO score
MAX_FITS_PER_TYPE = 25
SMALL_SEARCH = 10  # candidates; larger searches have at most one further fit per candidate
SMALL_SEARCH_FITS = 15
WANTED_CANDIDATES = 5  # of larger searches: rather these on few folds than few on all folds
HELD_OUT_ROWS = 2_000  # are enough: of more rows, only some folds are used
EXTRA_VARIANCE = 1.5  # models of folds differ from the one fitted to all rows

Fold = tuple[Ints, Ints]  # training rows and test rows


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
        folds = list(splitter.split(np.zeros(len(rows)), y[rows], row_groups))
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"cv of {owner} must be an int of at least 2, a splitter or an iterable of train and "
            f"test rows that fits the data, got {cv!r}: {error}"
        ) from error
    if not folds:
        raise ValueError(f"cv of {owner} must yield at least one fold, got {cv!r}.")
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


def enough_folds(folds: Sequence[Fold], n_candidates: int) -> Sequence[Fold]:
    """Return the first folds that have enough test rows; few, if many candidates share the fits."""
    n_rows = np.cumsum([len(test) for _, test in folds])
    n_folds = 1 + int(np.searchsorted(n_rows, min(HELD_OUT_ROWS, n_rows[-1])))
    if n_candidates >= SMALL_SEARCH:
        n_folds = min(n_folds, max(1, n_candidates // WANTED_CANDIDATES))
    return folds[:n_folds]


def cross_validate_some(
    run: Run,
    results: Sequence[CandidateResult],
    plan: FoldPlan,
    *,
    n_jobs: int | None,
    limits: Limits | None = None,
) -> tuple[list[CandidateResult], int]:
    """Return the results, corrected by the fold scores of some candidates, and the number of fits.

    If the number of candidates is not given, those of model types without a LOO score are chosen:
    of each type the best and the one whose predictions differ most from it, then, one after the
    other, the best of those left by the scores corrected so far. A candidate without a LOO score
    that becomes the best is cross-validated whatever its type. Limits apply to each fit.
    """
    results = list(results)
    if plan.n_candidates is None:  # a fold that fails, perhaps without a class, is no error then
        run = replace(run, error_score=np.nan)
    able = [at for at, one in enumerate(results) if _can_be_cross_validated(one)]
    if plan.may_be_fewer:
        plan = replace(plan, folds=enough_folds(plan.folds, len(able)))
    rows = _first_rows(run, results, able, plan)
    budget = _n_candidates(run, results, able, plan)
    tried: list[int] = []
    n_fits = 0
    while rows and not (limits is not None and limits.spent()):
        candidates = [results[row].trial.candidate for row in rows]
        found, n_new_fits = _cross_validated(run, candidates, plan.folds, n_jobs, limits)
        n_fits += n_new_fits
        for row, scores in zip(rows, found, strict=True):
            results[row] = replace(results[row], cv=scores)
        results = correct_scores(run, results)
        tried += rows
        rows = [] if len(tried) >= budget else _next_row(run, results, able, tried, plan)
    return results, n_fits


def _can_be_cross_validated(result: CandidateResult) -> bool:
    trial = result.trial
    is_whole_fit = trial.training_rows is None and trial.may_win
    return is_whole_fit and bool(np.isfinite(result.main_score))


def _model_type(result: CandidateResult) -> tuple[str, type]:
    candidate = result.trial.candidate
    return candidate.estimator_name, type(final_estimator(candidate.make_estimator(0)))


def _rows_by_type_without_loo(
    run: Run, results: Sequence[CandidateResult], able: Sequence[int]
) -> list[list[int]]:
    """Return the rows of each model type none of whose candidates has a LOO score."""
    assert run.main_metric is not None
    groups: dict[tuple[str, type], list[int]] = {}
    for row in able:
        groups.setdefault(_model_type(results[row]), []).append(row)
    return [
        rows
        for rows in groups.values()
        if not any(run.main_metric in results[row].loo.scores for row in rows)
    ]


def _n_candidates(
    run: Run, results: Sequence[CandidateResult], able: Sequence[int], plan: FoldPlan
) -> int:
    if plan.n_candidates is not None:
        return min(plan.n_candidates, len(able))
    types = _rows_by_type_without_loo(run, results, able)
    least = sum(min(FIRST_PER_TYPE, len(rows)) for rows in types)
    n_fits = len(able) if len(able) >= SMALL_SEARCH else SMALL_SEARCH_FITS
    return max(n_fits // len(plan.folds), least)


def _first_rows(
    run: Run, results: Sequence[CandidateResult], able: Sequence[int], plan: FoldPlan
) -> list[int]:
    """Return the candidates to begin with: two of each model type without a LOO score."""
    if plan.n_candidates is not None:
        return _best_first(results, able)[: plan.n_candidates]
    if len(able) < 2:  # there is nothing to select
        return []
    rows = []
    for group in _rows_by_type_without_loo(run, results, able):
        best = _best_first(results, group)[0]
        rows.append(best)
        others = [row for row in _best_first(results, group) if row != best]
        if others:
            rows.append(_most_different(run, results, best, others))
    return rows or _next_row(run, results, able, [], plan)


def _next_row(
    run: Run,
    results: Sequence[CandidateResult],
    able: Sequence[int],
    tried: Sequence[int],
    plan: FoldPlan,
) -> list[int]:
    """Return the next candidate to cross-validate, if there is one."""
    assert run.main_metric is not None
    if plan.n_candidates is not None:
        return []
    best = _best_first(results, able)[0]
    if best not in tried and np.isnan(results[best].held_out(run.main_metric)[0]):
        return [best]
    waiting = [
        row
        for group in _rows_by_type_without_loo(run, results, able)
        if len(set(group) & set(tried)) * len(plan.folds) < MAX_FITS_PER_TYPE
        for row in group
        if row not in tried
    ]
    return _best_first(results, waiting)[:1]


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


def _cross_validated(
    run: Run,
    candidates: Sequence[Candidate],
    folds: Sequence[Fold],
    n_jobs: int | None,
    limits: Limits | None,
) -> tuple[list[dict[str, MetricScores]], int]:
    """Return the fold scores of each candidate, none if a fold failed, and the number of fits."""
    tasks = [(candidate, fold) for candidate in candidates for fold in folds]
    parts: list[dict[str, MetricScores]] = [{} for _ in tasks]
    n_fits = 0
    finished = run_tasks(_fold_scores, run, tasks, n_jobs=n_jobs, limits=limits)
    with closing(finished):  # type: ignore[type-var]  # an iterator that is a generator
        for at, found in finished:
            if not isinstance(found, TaskEnded):
                parts[at] = found
            elif found.limit == "time_budget":
                continue
            else:
                _log.info("A fold of %s %s.", tasks[at][0].params, found)
            n_fits += 1
    n_folds = len(folds)
    return [_joined_folds(parts[at : at + n_folds]) for at in range(0, len(parts), n_folds)], n_fits


def _joined_folds(parts: Sequence[dict[str, MetricScores]]) -> dict[str, MetricScores]:
    """Return the scores by metric on all folds; none by a metric that failed on one."""
    scores = {}
    for name in parts[0]:
        known = [part[name] for part in parts if name in part]
        means = np.array([one.mean for one in known])
        if len(known) < len(parts) or not np.isfinite(means).all():
            continue
        variance = float(np.var(means, ddof=1)) / len(means) if len(means) > 1 else np.nan
        per_row = [one.per_row for one in known if one.per_row is not None]
        if len(per_row) == len(parts):
            rows = np.concatenate(per_row)
            variance = float(np.var(rows, dtype=np.float64)) / max(1, len(rows) - 1)
        scores[name] = MetricScores(means, variance=EXTRA_VARIANCE * variance)
    return scores


def _fold_scores(run: Run, task: tuple[Candidate, Fold]) -> dict[str, MetricScores]:
    """Fit a candidate to the training rows of a fold; return its scores on the test rows."""
    candidate, (train, test) = task
    rows = ValidationSet(take_rows(run.X, test), run.y[test])
    fold_rows = Replicates(rows, 1, run.replicates.classes, fixed=True)
    metrics = {name: metric.at(test) for name, metric in run.training_metrics.items()}
    with limited_threads():
        try:
            model = fit_candidate(run, candidate, train)
        except Exception:
            if run.error_score == "raise":
                raise
            _log.info("A fold of %s failed.", candidate.params, exc_info=True)
            return {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # of classes that a fold lacks
            scores, errors = score_on(run, model, fold_rows, metrics)
    for name, error in errors.items():
        _log.info("Scoring a fold of %s by %s failed: %s", candidate.params, name, error)
    return scores
