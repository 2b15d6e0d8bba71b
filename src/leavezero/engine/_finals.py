"""The final score of each candidate, both witnesses heard."""

from collections.abc import Sequence
from dataclasses import replace
from operator import attrgetter
from typing import TYPE_CHECKING

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.engine._combine import Testimony, combine
from leavezero.engine._draw import Replicates
from leavezero.engine._judge import Verdict, reference_testimony
from leavezero.engine._metrics import Metric, metric_for
from leavezero.engine._scoring import SINGLE

if TYPE_CHECKING:
    from leavezero.engine._run import Job, Record

HALF_TRUST = 10  # labels with which unseen rows count half, beside rows without a label


def with_finals(job: "Job", records: "Sequence[Record]") -> "tuple[Record, ...]":
    """Return the records with their final score by the main metric."""
    finals = np.full(len(records), np.nan)
    if job.main is not None:
        finals = final_scores(job, records, job.main)
    return tuple(
        replace(record, final=float(score), main_score=rounded(score))
        for record, score in zip(records, finals, strict=True)
    )


def final_scores(job: "Job", records: "Sequence[Record]", name: str) -> Floats:
    """Return the score of each record by one metric; NaN where it has none."""
    known = [at for at, record in enumerate(records) if name in record.verdicts]
    finals = np.full(len(records), np.nan)
    if not known:
        return finals
    # In canonical order, so that the last digit does not depend on listing or arrival.
    known.sort(key=lambda at: (records[at].trial.candidate.key, records[at].trial.row))
    verdicts = [records[at].verdicts[name] for at in known]
    if not job.draws:
        finals[known] = [verdict.scores.mean() for verdict in verdicts]
        return finals
    metric = common_metric(job, [records[at] for at in known], name)
    unseen = unseen_scores([records[at] for at in known], name)
    n_labels = None if job.labeled is None else len(job.labeled)
    finals[known] = both_heard(
        job.replicates, metric, verdicts, unseen, job.y, job.answered_rows, n_labels
    )
    return finals


def both_heard(
    replicates: Replicates,
    metric: Metric,
    verdicts: Sequence[Verdict],
    unseen: Floats,
    y: AnyArray,
    answered_rows: Ints | None = None,
    n_labels: int | None = None,
) -> Floats:
    """Return one score a model from V's verdicts and the scores on rows it has not seen.

    ``unseen`` is NaN where it is not known; where it never is, V speaks alone. ``n_labels`` is how
    many rows have a label where others have none: V is drawn with the help of those, so the fewer
    labels there are, the more V decides, though not about the level of the scores.
    """
    biases = np.array([verdict.bias for verdict in verdicts])
    corrected = np.array([float(verdict.scores.mean()) for verdict in verdicts])
    if np.all(np.isnan(unseen)):
        return corrected
    answers = [verdict.answers for verdict in verdicts if verdict.answers is not None]
    if len(answers) < len(verdicts):  # models cannot be compared
        shifted = corrected + np.nanmean(unseen - corrected)
        finals = np.where(np.isnan(unseen), shifted, (shifted + unseen) / 2)
        return _possible(finals, corrected, unseen, metric)
    n_rows = len(y) if n_labels is None else n_labels
    stacked = np.stack(answers, axis=1)
    told = Testimony(corrected - biases, unseen, stacked, _scale(replicates, y), n_rows)
    references = None
    if replicates.references is not None and metric.needs_labels_only:
        references = reference_testimony(replicates, metric, answered_rows)
    finals = combine(told, references)
    if n_labels is not None:
        finals = _nearer(finals, corrected, HALF_TRUST / (n_labels + HALF_TRUST))
    return _possible(finals, corrected, unseen, metric)


def _possible(finals: Floats, on_v: Floats, unseen: Floats, metric: Metric) -> Floats:
    """Return scores that models can have.

    If the best one is better than perfect, all move, so that none overtakes another, until it is
    perfect, or what the kinder of its witnesses says if it has both; and the other way round if it
    is worse than possible.
    """
    if np.all(np.isnan(finals)):
        return finals
    best = int(np.nanargmax(finals))
    told = np.clip([on_v[best], unseen[best]], metric.lowest, metric.highest)
    if finals[best] > metric.highest:
        finals = finals + (np.nan_to_num(told.max(), nan=metric.highest) - finals[best])
    elif finals[best] < metric.lowest:
        finals = finals + (np.nan_to_num(told.min(), nan=metric.lowest) - finals[best])
    return np.maximum(finals, metric.lowest)


def _nearer(scores: Floats, others: Floats, share: float) -> Floats:
    """Return scores moved towards the others by a share of the way, their mean kept."""
    known = np.isfinite(scores) & np.isfinite(others)
    moved = scores.copy()
    apart = others[known] - scores[known]
    moved[known] += share * (apart - apart.mean())
    return moved


def augmented_scores(records: "Sequence[Record]", name: str) -> Floats:
    """Return the plain score of each record on V."""
    return np.array(
        [
            float(np.mean(r.verdicts[name].scores)) - r.verdicts[name].bias
            if name in r.verdicts
            else np.nan
            for r in records
        ]
    )


def unseen_scores(records: "Sequence[Record]", name: str) -> Floats:
    """Return the score of each record on rows that its model has not seen."""
    return np.array(
        [
            float(r.sight.verdicts[name].scores[0]) if name in r.sight.verdicts else np.nan
            for r in records
        ]
    )


def common_metric(job: "Job", records: "Sequence[Record]", name: str) -> Metric:
    """Return a metric; where each model has its own, the first whose best score is known."""
    named = metric_named(job, name)
    own = [metric_for(record.trial.candidate.estimator, named) for record in records]
    return min({metric.name: metric for metric in own}.values(), key=attrgetter("highest"))


def metric_named(job: "Job", name: str) -> Metric:
    """Return a metric; a callable that gives a dictionary stands under one name for all."""
    return job.metrics.get(name) or job.metrics[SINGLE]


def _scale(replicates: Replicates, y: AnyArray) -> float:
    """Return the mean distance of numbers from their median; 1 for classes."""
    if replicates.classes is not None:
        return 1.0
    spread = float(np.mean(np.abs(y - np.median(y, axis=0))))
    return spread if spread > 0 else 1.0


def rounded(score: float) -> float:
    """Return a score without its last digits, so that equal shares of hits tie.

    Examples
    --------
    >>> rounded(0.1 + 0.2) == rounded(0.3)
    True
    """
    return float(f"{score:.12g}")
