"""V that grows until the winner is separated, for models that are fitted already."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.parallel import delayed

from leavezero._typing import AnyArray, Floats
from leavezero.engine._clusters import InRay, as_finished, sendable, sent, until_done
from leavezero.engine._conclude import witness_of
from leavezero.engine._draw import Replicates
from leavezero.engine._finals import metric_named, with_finals
from leavezero.engine._groups import Group, groups_of, longest_first
from leavezero.engine._metrics import metric_for
from leavezero.engine._responses import in_blocks
from leavezero.engine._run import Job, Outcome, Record, said_together, verdicts_on
from leavezero.engine._statistics import LEVEL, anytime_radius
from leavezero.engine._threads import limited_threads

if TYPE_CHECKING:
    from leavezero.engine._keep import Keeper

LOOKS = (1, 3, 10)  # replicates after which the winner may be separated; the last is the most


def until_separated(
    job: Job,
    outcome: Outcome,
    keeper: "Keeper",
    grown: Callable[[Replicates, int], Job],
    n_jobs: int | None,
) -> tuple[Job, Outcome]:
    """Return the job and the outcome with as many replicates as the choice needs.

    ``grown`` returns the job with so many replicates, the first ones as they were. Every
    model answers what is new of it, and all that follows is what a search with so many replicates
    from the start would have said. An interrupt leaves the smaller V.
    """
    for n_replicates in LOOKS[1:] if _can_tell(job, outcome.records) else LOOKS[-1:]:
        if outcome.interrupt is not None or separated(job, outcome.records):
            break
        try:
            larger = grown(job.replicates, n_replicates)
            outcome = replace(
                outcome, records=_judged_again(larger, job, outcome.records, keeper, n_jobs)
            )
            job = larger
        except KeyboardInterrupt as interrupt:
            outcome = replace(outcome, interrupt=interrupt)
    return job, outcome


def separated(job: Job, records: Sequence[Record]) -> bool:
    """Tell whether more of V could hardly change which candidate has the highest score.

    The lead of the best over each other must be beyond what chance in drawing V explains, row by
    row on the same rows, at whatever moment one looks. Candidates that answer alike need no more
    rows. Where the score is no mean over rows nothing can be told.
    """
    known = [record for record in records if record.verdicts]
    if len(known) < 2:
        return True
    if job.main is None or not _can_tell(job, known):
        return False
    known = [record for record in known if np.isfinite(record.main_score)]
    if len(known) < 2:
        return True
    verdicts = [record.verdicts[job.main] for record in known]
    metric = metric_named(job, job.main)
    witness = witness_of(job.replicates, verdicts, metric, job.n_labeled, job.kept_rows)
    scores = np.array([record.main_score for record in known])
    best = int(np.argmax(scores))
    level = 1 - (1 - LEVEL) / (len(known) - 1)  # none of the others may overtake it
    n_rows = 1 / float(witness.weights @ witness.weights)
    radius = anytime_radius(n_rows, job.n_labeled, level)
    apart = _spread(witness.gains[best] - witness.gains, witness.weights)
    return bool(np.all(scores[best] - scores >= radius * apart))


def _can_tell(job: Job, records: Sequence[Record]) -> bool:
    """Tell whether scores are means over rows, whose chance is known from one replicate."""
    name = job.main or ""
    found = [record.verdicts[name] for record in records if name in record.verdicts]
    return bool(found) and all(verdict.gains is not None for verdict in found)


def _spread(gains: Floats, weights: Floats) -> Floats:
    """Return the standard deviation of each row."""
    means = gains @ weights
    return np.sqrt(np.maximum(gains**2 @ weights - means**2, 0.0))


def _judged_again(
    job: Job, before: Job, records: Sequence[Record], keeper: "Keeper", n_jobs: int | None
) -> tuple[Record, ...]:
    """Return the records with what their models say of a larger V."""
    table = {record.trial.row: record for record in records}
    fitted = [record.trial for record in records if record.error is None]
    sending, known = sendable(job), len(before.replicates.rows)

    def begin(some: Iterable[Group]) -> Iterator[list[Record]]:
        tasks = (
            delayed(_again_sent)(
                sending,
                Group(_with_models(group, keeper), group.family),
                [_told(before, table[trial.row]) for trial in group.trials],
                known,
            )
            for group in some
        )
        return as_finished(tasks, n_jobs, "auto")

    for found in until_done(longest_first(groups_of(fitted, job.seed)), begin):
        for again in found:
            record = table[again.trial.row]
            table[again.trial.row] = replace(
                record,
                verdicts=again.verdicts,
                scoring_errors=again.scoring_errors,
                score_time=record.score_time + again.score_time,
            )
    return with_finals(job, [table[row] for row in sorted(table)])


def _with_models(group: Group, keeper: "Keeper") -> tuple[Any, ...]:
    return tuple(replace(trial, model=keeper.model_of(trial.row)) for trial in group.trials)


def _told(before: Job, record: Record) -> AnyArray | None:
    """Return the labels that a model gave to all of the smaller V, where these are known."""
    classes, metrics = before.replicates.classes, before.metrics
    estimator = record.trial.candidate.estimator
    if classes is None or before.answered_rows is not None or not record.verdicts:
        return None
    if not all(metric_for(estimator, one).needs_labels_only for one in metrics.values()):
        return None
    answers = next(iter(record.verdicts.values())).answers
    return None if answers is None else classes[answers]


def _again_sent(
    job: Job | InRay, group: Group, told: Sequence[AnyArray | None], known: int
) -> list[Record]:
    return judge_again(sent(job), group, told, known)


def judge_again(
    job: Job, group: Group, told: Sequence[AnyArray | None], known: int
) -> list[Record]:
    """Return verdicts on V of models that came with their trials.

    ``told`` are the labels that each gave to the ``known`` first rows, None where it is asked of
    all rows.
    """
    started = time.perf_counter()
    models = [trial.model for trial in group.trials]
    asked = job
    if all(labels is not None for labels in told):
        new = job.replicates.rows.take(slice(known, None))
        asked = replace(job, replicates=Replicates(new, 1, job.replicates.classes))
    said: Sequence[Mapping[str, AnyArray] | None] = [None] * len(models)
    if group.shares:
        with limited_threads(), suppress(Exception):  # then they are asked one by one
            group.family.remember(models, job.X, job.y)
        said = said_together(asked, group.family, models)
    records = []
    for trial, first, rest in zip(group.trials, told, said, strict=True):
        with limited_threads():
            ready = rest if asked is job else _joined(trial.model, asked, first, rest)
            verdicts, errors = verdicts_on(job, trial.model, job.replicates, job.metrics, ready)
        kept = {name: one.at(job.kept_rows, job.answered_rows) for name, one in verdicts.items()}
        elapsed = time.perf_counter() - started
        started += elapsed
        bare = replace(trial, model=None)
        records.append(Record(bare, kept, {}, 0.0, elapsed, scoring_errors=errors))
    return records


def _joined(
    model: Any, asked: Job, first: AnyArray | None, rest: Mapping[str, AnyArray] | None
) -> Mapping[str, AnyArray] | None:
    """Return the labels of all rows; None if the model cannot give them."""
    assert first is not None
    try:
        new = None if rest is None else rest.get("predict")
        new = in_blocks(model.predict, asked.replicates.rows.X) if new is None else new
    except Exception:  # it says so when it is asked by itself
        return None
    return {"predict": np.concatenate([first, new])}
