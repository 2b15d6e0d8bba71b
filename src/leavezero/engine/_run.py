"""The loop: trials of a strategy fitted once and scored on V."""

import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.parallel import delayed

from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Ints, Table
from leavezero.engine._clusters import InRay, as_finished, sendable, sent, until_done
from leavezero.engine._draw import Replicates
from leavezero.engine._finals import rounded, with_finals
from leavezero.engine._groups import Group, groups_of, longest_first
from leavezero.engine._judge import Verdict, judge
from leavezero.engine._metrics import Metric, metric_for
from leavezero.engine._own_rows import own_rows
from leavezero.engine._plan import Candidate
from leavezero.engine._responses import Responses
from leavezero.engine._strategy import Strategy, Trial
from leavezero.engine._threads import limited_threads
from leavezero.engine._unseen import Ask, Sight, given_rows, look
from leavezero.families import family_of

if TYPE_CHECKING:
    from leavezero.engine._journal import OpenJournal
    from leavezero.engine._keep import Keeper
    from leavezero.engine._workers import Crew

BUDGET = "time_budget"
SHARED_CELLS = 2**26  # answers of models that are asked together: half a gibibyte


@dataclass(frozen=True, eq=False)
class Job:
    """What all trials of a search share."""

    X: Table
    y: AnyArray
    replicates: Replicates
    metrics: Mapping[str, Metric]  # by the name of their columns
    main: str | None  # the metric by which the best is chosen; None if that is not a metric
    seed: int
    fit_params: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by member
    given: Replicates | None = None  # the data themselves, where training scores are wanted
    given_metrics: Mapping[str, Metric] = field(default_factory=dict)  # the same, for given rows
    kept_rows: Ints | None = None  # of V, whose gains are sent back; None for all
    answered_rows: Ints | None = None  # of V, by which models are compared; None for all
    looks: bool = False  # whether to ask for rows that a model has not seen
    draws: bool = True  # whether there is a V
    labeled: Ints | None = None  # the rows with a label, where candidates learn from others too
    written: tuple[Any, ...] = ()  # their marker for candidates, where y has another that sorts
    error_score: Any = np.nan

    @cached_property
    def y_as_written(self) -> AnyArray:
        """The target as candidates are fitted to it."""
        if not self.written:
            return self.y
        assert self.labeled is not None
        [marker] = self.written
        numbers = self.y.dtype.kind == "f" and isinstance(marker, float)
        given = self.y.astype(self.y.dtype if numbers else object)
        given[np.setdiff1d(np.arange(len(given)), self.labeled)] = marker
        return given

    @property
    def n_labeled(self) -> int:
        """The number of given rows that have a label."""
        return len(self.y) if self.labeled is None else len(self.labeled)

    @cached_property
    def whole(self) -> Replicates:
        """All given rows, as unseen ones are judged."""
        return given_rows(self.y, self.replicates.classes)

    def __sizeof__(self) -> int:
        """Return about how many bytes travel with it; Dask sends what is large only once."""
        tables = (self.X, self.y, self.replicates.rows.X)
        return object.__sizeof__(self) + sum(8 * int(np.prod(np.shape(one))) for one in tables)


@dataclass(frozen=True, eq=False)
class Record:
    """What one trial gave: a verdict for each metric, or the traceback of its error.

    ``scoring_errors`` are tracebacks of metrics that failed for a model that was fitted.
    """

    trial: Trial
    verdicts: Mapping[str, Verdict]
    train_scores: Mapping[str, float]
    fit_time: float
    score_time: float
    main_score: float = np.nan  # without its last digits, so that equal ones tie
    final: float = np.nan  # the same with all of them, once all candidates are heard
    error: str | None = None
    scoring_errors: Mapping[str, str] = field(default_factory=dict)
    sight: Sight = field(default_factory=Sight)
    model: Any = field(default=None, repr=False)
    stored: bool = False  # read from a journal, not fitted now
    ended: tuple[str, float] | None = None  # by which limit its process was, and its value

    @property
    def judged(self) -> bool:
        """Whether the candidate's turn came before the time of the search was spent."""
        return self.ended is None or self.ended[0] != BUDGET


@dataclass(frozen=True, eq=False)
class Outcome:
    """The records of all trials by their row, and what ended the search before its end, if any."""

    records: tuple[Record, ...]
    n_fits: int
    interrupt: KeyboardInterrupt | None = None
    spent: bool = False  # all of its time


def run(
    job: Job,
    strategy: Strategy,
    keeper: "Keeper",
    *,
    n_jobs: int | None,
    watch: Callable[[Record], bool],
    journal: "OpenJournal | None" = None,
    crew: "Crew | None" = None,
) -> Outcome:
    """Fit and score what the strategy proposes, round by round.

    ``watch`` hears every record as it arrives; if it says True no further trial is begun. What is
    finished is kept, also when the user interrupts. What a journal knows is not fitted. A crew
    fits in processes of its own, for as long as the search has time.
    """
    table: dict[int, Record] = {}
    n_fits = 0
    interrupt: KeyboardInterrupt | None = None
    stopped = False
    finals: tuple[Record, ...] | None = None
    try:
        while not stopped and not _spent(crew) and (trials := strategy.ask()):
            told: dict[int, Record] = {}
            finals = None
            for record in _in_parallel(job, trials, keeper, n_jobs, journal, crew):
                n_fits += record.trial.model is None and not record.stored and record.judged
                if record.trial.may_win or record.trial.passes is None:
                    keeper.offer(record)
                row = record.trial.row
                told[row], table[row] = record, replace(record, model=None)
                stopped = watch(record)
                if stopped:
                    break
            if not stopped:
                finals = with_finals(job, list(table.values()))
                now = {record.trial.row: record for record in finals}
                told = {row: _finished(record, now[row]) for row, record in told.items()}
                strategy.tell([told[trial.row] for trial in trials])
    except KeyboardInterrupt as caught:
        interrupt = caught
    if finals is None:
        finals = with_finals(job, list(table.values()))
    records = tuple(sorted(finals, key=lambda record: record.trial.row))
    return Outcome(records, n_fits, interrupt, _spent(crew))


def _finished(record: Record, final: Record) -> Record:
    """Return a record, which may hold its model, with its final score."""
    return replace(record, main_score=final.main_score, final=final.final)


def _spent(crew: "Crew | None") -> bool:
    return crew is not None and crew.spent()


def _in_parallel(
    job: Job,
    trials: Sequence[Trial],
    keeper: "Keeper",
    n_jobs: int | None,
    journal: "OpenJournal | None",
    crew: "Crew | None",
) -> Iterator[Record]:
    """Yield records as they are finished; work begins in an order that depends on candidates only.

    What is fitted together is one task. What was not finished in time comes last.
    """
    groups, sending = groups_of(trials, job.seed), sendable(job)
    if crew is None:  # with little time it is better to have judged many
        groups = longest_first(groups)
    # What is finished must not wait for others of its batch before it is safe.
    batch_size = "auto" if journal is None else 1

    def begin(some: Iterable[Group]) -> Iterator[list[Record]]:
        tasks = (delayed(_run_sent)(sending, group, keeper.floor()) for group in some)
        return as_finished(tasks, n_jobs, batch_size)

    def work(some: Iterable[Group]) -> Iterator[list[Record]]:
        return until_done(some, begin) if crew is None else crew.through(some, keeper.floor)

    left = {trial.row: trial for trial in trials}
    known = work(groups) if journal is None else journal.through(groups, work)
    for records in known:
        for record in records:
            del left[record.trial.row]
            yield record
    for trial in left.values():
        yield Record(trial, {}, {}, 0.0, 0.0, error="time budget spent", ended=(BUDGET, 0.0))


def _run_sent(job: Job | InRay, group: Group, floor: float) -> list[Record]:
    return run_group(sent(job), group, floor)


def run_group(job: Job, group: Group, floor: float) -> list[Record]:
    """Fit and score candidates that share work; one by one if they cannot be fitted together."""
    n_trials = len(group.trials)
    if not group.shares:
        return [run_trial(job, trial, floor) for trial in group.trials]
    started = time.perf_counter()
    models = None
    # Who cannot be fitted is found, and reported, alone.
    with limited_threads(), suppress(Exception):
        models = _fitted_together(job, group)
    if models is None:
        return [run_trial(job, trial, floor) for trial in group.trials]
    fitted = time.perf_counter()
    said, asks = said_together(job, group.family, models), _asks(job, group, models)
    asked = (time.perf_counter() - fitted) / n_trials
    each = (fitted - started) / n_trials
    with limited_threads():
        return [
            _judged(job, trial, model, each, floor, answers, ask, asked)
            for trial, model, answers, ask in zip(group.trials, models, said, asks, strict=True)
        ]


def _fitted_together(job: Job, group: Group) -> list[Any]:
    params = job.fit_params.get(group.trials[0].candidate.member, {})
    others = sorted(set(params) - {"sample_weight"})
    if others:
        raise ValueError(f"fit was given {', '.join(others)}, which families do not know")
    models = [trial.candidate.configured(job.seed) for trial in group.trials]
    drafts = group.family.draft_many(models, job.X, job.y_as_written, **params)
    if drafts is not None:
        return list(drafts)
    group.family.fit_many(models, job.X, job.y_as_written, **params)
    return models


def _asks(job: Job, group: Group, models: list[Any]) -> Sequence[Ask | None]:
    """Return how to ask models that were fitted together of rows that they have not seen."""
    weights = job.fit_params.get(group.trials[0].candidate.member, {}).get("sample_weight")
    if job.looks and group.family.refuses(models[0]) is None:
        with limited_threads(), suppress(Exception):  # each is asked by itself then
            return list(group.family.unseen_many(models, job.X, job.y, weights))
    return [None] * len(models)


def said_together(
    job: Job, family: Any, models: list[Any]
) -> Sequence[Mapping[str, AnyArray] | None]:
    """Return what models that were fitted together say of V, where that is faster and not large."""
    silent = [None] * len(models)
    width = 1 if job.replicates.classes is None else len(job.replicates.classes)
    if not job.draws or len(models) * len(job.replicates.rows) * width > SHARED_CELLS:
        return silent
    try:
        with limited_threads():
            said = family.respond_many(models, job.replicates.rows.X) or silent
            return [_wanted(job, *pair) for pair in zip(models, said, strict=True)]
    except Exception:  # the model that cannot answer says so when it is asked by itself
        return silent


def _wanted(
    job: Job, model: Any, said: Mapping[str, AnyArray] | None
) -> Mapping[str, AnyArray] | None:
    """Return the answers that metrics ask for, as some families make them when they are taken."""
    metrics = [metric_for(model, metric) for metric in job.metrics.values()]
    labels_only = all(metric.needs_labels_only for metric in metrics)
    if said is None or not labels_only:
        return said
    return {"predict": said["predict"]} if "predict" in said else {}


def run_trial(job: Job, trial: Trial, floor: float) -> Record:
    """Fit and score one candidate; keep its model if its score reaches the floor."""
    started = time.perf_counter()
    try:
        with limited_threads():
            model = _fitted(job, trial)
    except Exception:
        if job.error_score == "raise":
            raise
        elapsed = time.perf_counter() - started
        return Record(trial, {}, {}, elapsed, 0.0, error=traceback.format_exc())
    fit_time = time.perf_counter() - started
    with limited_threads():
        return _judged(job, trial, model, fit_time, floor)


def _judged(
    job: Job,
    trial: Trial,
    model: Any,
    fit_time: float,
    floor: float,
    said: Mapping[str, AnyArray] | None = None,
    ask: Ask | None = None,
    asked: float = 0.0,
) -> Record:
    """Score a fitted model, of which it may be known already what it says of V.

    ``asked`` is how long it took to know that.
    """
    fitted = time.perf_counter()
    sight = _sight(job, trial, model, ask)
    verdicts: Mapping[str, Verdict] = sight.verdicts
    errors: dict[str, str] = {}
    if job.draws:
        verdicts, errors = verdicts_on(job, model, job.replicates, job.metrics, said)
    on_data: dict[str, Verdict] = {}
    if job.given is not None:  # an error on the data is one on V too
        on_data, _ = verdicts_on(job, model, job.given, _training_metrics(job))
    scored = time.perf_counter()
    main = _main_score(job, verdicts)
    sent = trial.passes is not None or main >= floor or floor == -np.inf
    return Record(
        trial,
        {name: v.at(job.kept_rows, job.answered_rows) for name, v in verdicts.items()},
        {name: float(verdict.scores[0]) for name, verdict in on_data.items()},
        fit_time,
        scored - fitted + asked,
        main,
        scoring_errors=errors,
        sight=sight,
        model=model if sent else None,
    )


def fit_on(job: Job, candidate: Candidate, rows: Ints | None) -> Any:
    """Return a candidate fitted to some of the given rows; None for all."""
    X, params = _data(job, candidate, rows)
    y = job.y_as_written if rows is None else job.y_as_written[rows]
    model = candidate.configured(job.seed)
    X, y = own_rows(model, X, y)
    model.fit(X, y, **params)  # what it returns is not relied on
    return model


def finished(job: Job, trial: Trial, model: Any) -> tuple[Any, int]:
    """Return a model as users may have it, and how many fits that took: a draft is fitted."""
    family = family_of(model)
    if family is None or not family.is_draft(model):
        return model, 0
    with limited_threads():
        return fit_on(job, trial.candidate, trial.rows), 1


def _fitted(job: Job, trial: Trial) -> Any:
    if trial.passes is None:
        return fit_on(job, trial.candidate, trial.rows)
    X, params = _data(job, trial.candidate, trial.rows)
    y = job.y_as_written if trial.rows is None else job.y_as_written[trial.rows]
    model = trial.model
    if model is None:
        model = trial.candidate.configured(job.seed)
        if job.replicates.classes is not None:
            params["classes"] = job.replicates.classes
    X, y = own_rows(model, X, y)
    model.partial_fit(X, y, **params)
    return model


def _data(job: Job, candidate: Candidate, rows: Ints | None) -> tuple[Table, dict[str, Any]]:
    """Return X, and what a candidate's fit takes besides it and y, for some rows."""
    params = job.fit_params.get(candidate.member, {})
    if rows is None:
        return job.X, dict(params)
    own = {name: _rows_of(value, rows, len(job.y)) for name, value in params.items()}
    return take_rows(job.X, rows), own


def _rows_of(value: Any, rows: Ints, n_rows: int) -> Any:
    """Return the rows of a parameter that has one entry a row; others as they are."""
    if hasattr(value, "__len__") and not isinstance(value, str) and len(value) == n_rows:
        return take_rows(value, rows)
    return value


def verdicts_on(
    job: Job,
    model: Any,
    replicates: Replicates,
    metrics: Mapping[str, Metric],
    said: Mapping[str, AnyArray] | None = None,
) -> tuple[dict[str, Verdict], dict[str, str]]:
    """Return what each metric says, and the tracebacks of those that failed."""
    verdicts: dict[str, Verdict] = {}
    errors: dict[str, str] = {}
    responses = Responses(model, replicates.rows.X, said, replicates.classes)
    for name, metric in metrics.items():
        try:
            verdicts |= judge(responses, replicates, metric, name)
        except Exception:
            if job.error_score == "raise":
                raise
            errors[name] = traceback.format_exc()
    return verdicts, errors


def _training_metrics(job: Job) -> Mapping[str, Metric]:
    if job.labeled is None:
        return job.given_metrics
    return {name: metric.at(job.labeled) for name, metric in job.given_metrics.items()}


def _sight(job: Job, trial: Trial, model: Any, ask: Ask | None) -> Sight:
    """Return what is known of rows that the model has not seen."""
    if not job.looks:
        return Sight()
    X, params = _data(job, trial.candidate, trial.rows)
    y = job.y if trial.rows is None else job.y[trial.rows]
    metrics = job.given_metrics
    if trial.rows is not None:
        metrics = {name: metric.at(trial.rows) for name, metric in metrics.items()}
    whole = job.whole if trial.rows is None else None
    if ask is None:
        X, y = own_rows(model, X, y)
    sight = look(model, X, y, params, metrics, job.replicates.classes, ask, whole)
    return sight if job.labeled is None else sight.at(job.labeled)


def _main_score(job: Job, verdicts: Mapping[str, Verdict]) -> float:
    if job.main is None or job.main not in verdicts:
        return np.nan
    return rounded(float(np.mean(verdicts[job.main].scores)))
