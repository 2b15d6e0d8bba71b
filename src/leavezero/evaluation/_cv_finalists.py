"""Cross-validate the candidates that are statistically tied with the best."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    StratifiedGroupKFold,
    StratifiedKFold,
    check_cv,
)
from sklearn.utils.parallel import Parallel, delayed

from leavezero._random import splitter_with_seed
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment import ValidationSet
from leavezero.evaluation._candidates import Candidate
from leavezero.evaluation._evaluate import Run, fit_candidate
from leavezero.evaluation._replicates import Replicates
from leavezero.evaluation._scoring import SINGLE, CachedPredictions, score_model
from leavezero.execution import limited_threads

_log = logging.getLogger("leavezero")

Fold = tuple[Ints, Ints]  # training rows and test rows


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


def fold_scores(
    run: Run, candidates: Sequence[Candidate], folds: Sequence[Fold], n_jobs: int | None
) -> Floats:
    """Return each candidate's score by the main metric on each fold; NaN where it failed."""
    tasks = [(candidate, fold) for candidate in candidates for fold in folds]
    scores = Parallel(n_jobs=n_jobs)(delayed(_fold_score)(run, *task) for task in tasks)
    return np.reshape(scores, (len(candidates), len(folds)))


def _fold_score(run: Run, candidate: Candidate, fold: Fold) -> float:
    train, test = fold
    assert run.main_metric is not None
    try:
        with limited_threads():
            model = fit_candidate(run, candidate, train)
            metrics = run.training_metrics  # a callable that returns a dict is listed as SINGLE
            metric = metrics.get(run.main_metric) or metrics[SINGLE]
            rows = ValidationSet(take_rows(run.X, test), run.y[test])
            fold_rows = Replicates(rows, 1, run.replicates.classes, fixed=True)
            predictions = CachedPredictions(model, rows.X, classes=fold_rows.classes)
            scores = score_model(predictions, fold_rows, metric.at(test), run.main_metric)
            return scores[run.main_metric].mean
    except Exception:
        if run.error_score == "raise":
            raise
        _log.warning("A fold of %s failed.", candidate.params, exc_info=True)
        return np.nan
