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

from leavezero._random import splitter_with_seed
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


def make_folds(
    cv: Any,
    y: AnyArray,
    groups: AnyArray | None,
    labeled: Ints | None,
    *,
    classes: bool,
    seed: int,
    owner: str,
) -> list[Fold]:
    """Return the rows inside and outside of each fold, or raise; those of an int are shuffled.

    Rows without a label are inside every fold.
    """
    rows = np.arange(len(y)) if labeled is None else labeled
    wanted = cv
    if labeled is not None and _is_int(cv):
        fewest = int(np.unique(y[rows], return_counts=True)[1].min())
        wanted = min(cv, max(2, fewest))  # a class with few labels is in every fold
        classes = fewest > 1
    try:
        splitter = check_cv(_splitter(wanted, classes, groups, seed), y[rows], classifier=classes)
        own = None if groups is None else np.asarray(groups)[rows]
        folds = [(inside, out) for inside, out in splitter.split(np.zeros(len(rows)), y[rows], own)]
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"confirm_cv of {owner} must be an int above 1, a splitter or pairs of rows, got "
            f"{cv!r}: {error} Use 2 to 10, as the rows allow, or give fit what a splitter needs."
        ) from error
    if not folds:
        raise ValueError(f"confirm_cv of {owner} must give at least one fold, got {cv!r}. Use 5.")
    if labeled is None:
        return folds
    unlabeled = np.setdiff1d(np.arange(len(y)), rows)
    return [(np.concatenate([rows[inside], unlabeled]), rows[out]) for inside, out in folds]


def _is_int(cv: Any) -> bool:
    return isinstance(cv, int | np.integer)


def _splitter(cv: Any, classes: bool, groups: AnyArray | None, seed: int) -> Any:
    """Return what deals rows into folds, with a seed if it shuffles."""
    if not _is_int(cv):
        return splitter_with_seed(cv, seed)
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
            responses = Responses(model, part.X, classes=rows.classes)
            verdicts = judge(responses, rows, metric.at(outside), job.main)
            return float(verdicts[job.main].scores[0])
    except Exception:
        if job.error_score == "raise":
            raise
        return np.nan
