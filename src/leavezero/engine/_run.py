"""The loop: every candidate fitted once on all the data and scored on V."""

import time
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn.utils.parallel import Parallel, delayed

from leavezero._random import with_seed
from leavezero._typing import AnyArray, Floats, Table
from leavezero.engine._draw import Replicates
from leavezero.engine._metrics import Metric
from leavezero.engine._plan import Candidate, configure
from leavezero.engine._score import score_replicates
from leavezero.engine._threads import limited_threads
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning


@dataclass(frozen=True, eq=False)
class Job:
    """What all candidates of a search share."""

    estimator: Any
    X: Table
    y: AnyArray
    replicates: Replicates
    seed: int
    metric: Metric | None = None  # None for each model's own default
    error_score: Any = np.nan


@dataclass(frozen=True, eq=False)
class Record:
    """What one candidate gave: a score for each replicate, or the traceback of its error."""

    candidate: Candidate
    scores: Floats
    fit_time: float
    score_time: float
    error: str | None = None
    model: Any = field(default=None, repr=False)

    @property
    def mean_score(self) -> float:
        """The final score; what a candidate is chosen by."""
        return float(np.mean(self.scores))


@dataclass(frozen=True, eq=False)
class Evaluation:
    """All records as the user listed the candidates, and the fitted model of the best one."""

    records: tuple[Record, ...]
    best_index: int
    best_model: Any


def evaluate(
    job: Job, candidates: tuple[Candidate, ...], *, n_jobs: int | None, owner: str
) -> Evaluation:
    """Fit and score all candidates, and keep the best model.

    Only the best model so far stays alive: a worker sends its model back only if its score
    reaches the best that was known when its work was handed out.
    """
    best: Record | None = None
    records: list[Record] = []

    def tasks() -> Iterator[Any]:
        for candidate in candidates:
            floor = -np.inf if best is None else best.mean_score
            yield delayed(_evaluate_one)(job, candidate, floor)

    parallel = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
    for record in parallel(tasks()):
        if _beats(record, best):
            best = record
        records.append(replace(record, model=None))
    records.sort(key=lambda record: record.candidate.position)
    _report_failures(records, job.error_score, owner)
    if best is None:
        raise AllCandidatesFailedError(
            f"Every score of {owner} is NaN, so that no candidate can be chosen. "
            "Check the score method of the estimator."
        )
    return Evaluation(tuple(records), best.candidate.position, best.model)


def _evaluate_one(job: Job, candidate: Candidate, floor: float) -> Record:
    """Fit and score one candidate; keep its model if it reaches the floor."""
    started = time.perf_counter()
    fitted = started
    try:
        with limited_threads():
            model = with_seed(configure(job.estimator, candidate.params), job.seed)
            model.fit(job.X, job.y)
            fitted = time.perf_counter()
            [scores] = score_replicates(model, job.replicates, [job.metric])
    except Exception:
        if job.error_score == "raise":
            raise
        scores = np.full(job.replicates.n_replicates, job.error_score, dtype=np.float64)
        elapsed = time.perf_counter() - started
        return Record(candidate, scores, elapsed, 0.0, error=traceback.format_exc())
    scored = time.perf_counter()
    record = Record(candidate, scores, fitted - started, scored - fitted, model=model)
    return record if record.mean_score >= floor else replace(record, model=None)


def _beats(record: Record, best: Record | None) -> bool:
    """Tell whether a record is the best so far; ties go to the first in canonical order."""
    if record.error is not None or np.isnan(record.mean_score):
        return False
    if best is None or record.mean_score != best.mean_score:
        return best is None or record.mean_score > best.mean_score
    return record.candidate.order < best.candidate.order


def _report_failures(records: list[Record], error_score: Any, owner: str) -> None:
    errors = [record.error for record in records if record.error is not None]
    if not errors:
        return
    if len(errors) == len(records):
        raise AllCandidatesFailedError(
            f"All {len(records)} candidates of {owner} failed. Mend the data or the estimator; "
            f"the first one ended with\n{errors[0]}"
        )
    warnings.warn(
        f"{len(errors)} of {len(records)} candidates of {owner} failed and were given the score "
        f'{error_score!r}. Set error_score="raise" to stop at the first, which ended with\n'
        f"{errors[0]}",
        CandidateFailedWarning,
        stacklevel=4,
    )
