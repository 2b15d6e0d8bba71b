"""A few folds for the candidates that V cannot tell apart."""

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

from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment import ValidationSet
from leavezero.engine._draw import Replicates
from leavezero.engine._judge import judge
from leavezero.engine._plan import Candidate
from leavezero.engine._responses import Responses
from leavezero.engine._run import Job, fit_on
from leavezero.engine._scoring import SINGLE
from leavezero.engine._threads import limited_threads

Fold = tuple[Ints, Ints]


def make_folds(cv: Any, job: Job, groups: AnyArray | None) -> list[Fold]:
    """Return the rows inside and outside of each fold; those of an int are shuffled.

    Rows without a label are inside every fold.
    """
    rows = np.arange(len(job.y)) if job.labeled is None else job.labeled
    y = job.y[rows]
    classes = job.replicates.classes is not None
    if job.labeled is not None and isinstance(cv, int | np.integer):
        fewest = int(np.unique(y, return_counts=True)[1].min())
        cv = max(2, min(cv, fewest))  # a class with few labels is in every fold
        classes = fewest > 1
    splitter = check_cv(_splitter(cv, classes, groups, job.seed), y, classifier=classes)
    own = None if groups is None else np.asarray(groups)[rows]
    folds = list(splitter.split(np.zeros(len(rows)), y, own))
    if not folds:
        raise ValueError(f"confirm_cv must give at least one fold, got {cv!r}. Use 5.")
    if job.labeled is None:
        return folds
    unlabeled = np.setdiff1d(np.arange(len(job.y)), rows)
    return [(np.concatenate([rows[inside], unlabeled]), rows[out]) for inside, out in folds]


def _splitter(cv: Any, classes: bool, groups: AnyArray | None, seed: int) -> Any:
    """Return what deals rows into folds, if a number of folds is asked for."""
    if not isinstance(cv, int | np.integer):
        return cv
    kinds: tuple[Any, Any] = (KFold, StratifiedKFold)
    if groups is not None:
        kinds = (GroupKFold, StratifiedGroupKFold)
    kind = kinds[classes]
    return kind(cv) if kind is GroupKFold else kind(cv, shuffle=True, random_state=seed)


def fold_scores(
    job: Job, candidates: Sequence[Candidate], folds: Sequence[Fold], n_jobs: int | None
) -> Floats:
    """Return each candidate's score by the main metric on each fold; NaN where it failed."""
    tasks = [(candidate, fold) for candidate in candidates for fold in folds]
    found = Parallel(n_jobs=n_jobs)(delayed(_fold_score)(job, *task) for task in tasks)
    return np.reshape(found, (len(candidates), len(folds)))


def _fold_score(job: Job, candidate: Candidate, fold: Fold) -> float:
    inside, outside = fold
    assert job.main is not None
    try:
        with limited_threads():
            model = fit_on(job, candidate, inside)
            # A callable that gives a dictionary stands under one name and answers for all.
            metric = job.given_metrics.get(job.main) or job.given_metrics[SINGLE]
            part = ValidationSet(take_rows(job.X, outside), job.y[outside])
            rows = Replicates(part, 1, job.replicates.classes, given=True)
            verdicts = judge(Responses(model, part.X), rows, metric.at(outside), job.main)
            return float(verdicts[job.main].scores[0])
    except Exception:
        if job.error_score == "raise":
            raise
        return np.nan
