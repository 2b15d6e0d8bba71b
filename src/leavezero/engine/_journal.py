"""The journal of a search: what is finished is read, what is not is fitted once and written."""

import threading
import time
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from leavezero._warnings import warn_caller
from leavezero.engine._digest import digest
from leavezero.engine._groups import Group
from leavezero.engine._journal_claims import STALE, Claimant
from leavezero.engine._journal_identity import Part, differences
from leavezero.engine._journal_models import Writer, loaded
from leavezero.engine._journal_records import decode, encode
from leavezero.engine._journal_store import DamagedError, Row, Store
from leavezero.engine._keep import Keeper
from leavezero.engine._limits import Limits
from leavezero.engine._run import Job, Record, fit_on, run_group
from leavezero.engine._strategy import Trial
from leavezero.engine._threads import limited_threads
from leavezero.families import family_of

KEPT_MODELS = 5  # the best so far; a winner that is not among them is fitted again
SHORTEST, LONGEST = 0.02, 1.0  # seconds between two looks at what others have finished

Work = Callable[[Iterable[Group]], Iterator[list[Record]]]


@dataclass(frozen=True)
class Journal:
    """Where a search writes what it has finished, and which models it may read from there.

    Parameters
    ----------
    path : str or path
        The file. It is made where it does not exist. It must be on this host's own disk.
    trusted : tuple of str, default=()
        Full names of classes that a stored model may hold, beyond those that skops and this
        package trust. Name only classes that you know.

    Examples
    --------
    >>> from leavezero.engine import Journal
    >>> Journal("search.sqlite", trusted=("mypackage.MyClassifier",)).path
    'search.sqlite'
    """

    path: str | PathLike[str]
    trusted: tuple[str, ...] = ()


class OpenJournal:
    """A journal while one search uses it."""

    def __init__(
        self,
        journal: Journal,
        job: Job,
        parts: Sequence[Part],
        owner: str,
        limits: Limits | None = None,
    ) -> None:
        self._job = job
        self._limits = Limits() if limits is None else limits
        self._trusted = journal.trusted
        self._models = Writer(journal.trusted)
        self._path = str(journal.path)
        self._core = digest([part.digest for part in parts if part.everywhere])
        # These follow from the candidates, and more of them may be added.
        self._circumstances = digest([job.looks, job.kept_rows])
        self._groups: dict[int, tuple[str, int, Group]] = {}  # by row of the table
        self._store = Store(Path(journal.path))
        self._ended = threading.Event()
        self._claimant = Claimant.here()
        try:
            self._check(parts, owner)
        except BaseException:
            self._store.close()
            self._claimant.leave()
            raise
        threading.Thread(target=self._beat, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Let go of what is not finished."""
        self._ended.set()
        self._claimant.leave()
        try:
            self._store.release(self._claimant)
        except (OSError, ValueError):  # the claims of an ended call count for nothing
            pass
        finally:
            self._store.close()

    def through(self, groups: Sequence[Group], work: Work) -> Iterator[list[Record]]:
        """Yield the records of all groups: read, fitted here, or awaited from other processes.

        When the time of the search is spent, nothing is awaited any more.
        """
        waiting: dict[str, Group] = {}
        for group in groups:
            waiting[self._named(group, waiting)] = group
        pause = SHORTEST
        while waiting:
            n_before, finished = len(waiting), self._store.finished()
            for task in [task for task, group in waiting.items() if finished.get(task, 0)]:
                records = self._read(task, waiting[task])
                if records is not None:
                    del waiting[task]
                    yield records
            for task, records in self._fitted(dict(waiting), work):
                del waiting[task]
                yield records
            if self._limits.spent():
                return
            if waiting and len(waiting) == n_before:  # others work on them
                time.sleep(pause)
                pause = min(2 * pause, LONGEST)
            else:
                pause = SHORTEST

    def keeper(self, inner: Keeper) -> "JournaledModels":
        """Return what holds models, those of earlier runs included."""
        return JournaledModels(inner, self)

    def stored_model(self, row: int) -> Any:
        """Return the model of a row of the table from the file; None if it is not there."""
        task, position, _ = self._groups[row]
        content = self._store.model(task, position)
        return None if content is None else loaded(content, self._trusted)

    def fitted_again(self, row: int) -> tuple[Any, int]:
        """Return the model of a row of the table, and how many fits that took.

        What was fitted together is, again: alone the last digits may differ. Of drafts only the
        winner is ever fitted.
        """
        _, position, group = self._groups[row]
        if group.shares and group.family.makes_drafts:
            trial = group.trials[position]
            with limited_threads():
                return fit_on(self._job, trial.candidate, trial.rows), 1
        records = run_group(replace(self._job, error_score="raise"), group, -np.inf)
        return records[position].model, len(records)

    def _check(self, parts: Sequence[Part], owner: str) -> None:
        """Raise unless the file belongs to this search; more candidates are welcome."""
        found = differences(parts, self._store.parts())
        if found:
            raise ValueError(
                f"journal of {owner}, the file {self._path!r}, belongs to another search: "
                f"{'; '.join(found)}. Name another file, or give the call that began it."
            )
        self._store.add_parts([(part.name, part.digest, part.shown) for part in parts])

    def _named(self, group: Group, taken: Container[str]) -> str:
        """Return the name of a task: a digest of all that its records depend on."""
        own = [self._content(trial) for trial in group.trials]
        together = None if group.family is None else group.family.name
        task = digest([self._core, self._circumstances, together, own])
        while task in taken:  # two candidates may set up one model
            task = digest(task)
        for position, trial in enumerate(group.trials):
            self._groups[trial.row] = (task, position, group)
        return task

    def _content(self, trial: Trial) -> list[Any]:
        """Return what one record depends on beyond the search, the family that judges it too."""
        model = trial.candidate.configured(self._job.seed)
        family = family_of(model)
        given = self._job.fit_params.get(trial.candidate.member, {})
        return [model, None if family is None else family.name, given, trial.rows]

    def _read(self, task: str, group: Group) -> list[Record] | None:
        """Return the records of a finished task; None if it must be done again."""
        try:
            rows = self._store.read(task)
            if len(rows) != len(group.trials):
                raise DamagedError("records are missing")
            records = [
                decode(row.content, row.arrays, trial)
                for row, trial in zip(rows, group.trials, strict=True)
            ]
        except DamagedError as error:
            warn_caller(f"The journal {self._path!r} is damaged: {error}. It is fitted again.")
            self._store.forget(task)
            return None
        if any(self._is_tried_again(record) for record in records):
            self._store.forget(task)
            return None
        return records

    def _is_tried_again(self, record: Record) -> bool:
        """Tell whether an error is to be raised, or a limit was narrower than it is now."""
        if self._job.error_score == "raise" and (record.error or record.scoring_errors):
            return True
        return record.ended is not None and self._limits.allow_more(record.ended)

    def _fitted(self, groups: dict[str, Group], work: Work) -> Iterator[tuple[str, list[Record]]]:
        """Fit the groups that nobody else works on, and write each when it is finished."""
        failures: list[Exception] = []

        def ours() -> Iterator[Group]:
            for task, group in groups.items():
                try:
                    mine = self._store.claim(task, len(group.trials), self._claimant)
                except Exception as error:  # joblib may ask from a thread that cannot raise
                    failures.append(error)
                    return
                if mine:
                    yield group

        for records in work(ours()):
            task, _, _ = self._groups[records[0].trial.row]
            self._write(task, records)
            yield task, records
        if failures:
            raise failures[0]

    def _write(self, task: str, records: list[Record]) -> None:
        """Make finished records safe, with the models that are among the best so far."""
        worst = self._store.worst_kept(KEPT_MODELS)
        rows = []
        for record in records:
            row = Row(repr(record.trial.candidate.params), *encode(record))
            score = record.main_score
            self._models.earn(record.fit_time)
            if record.model is not None and (worst is None or score > worst):
                model, note = self._models.write(record.model)
                row = replace(row, score=score, model=model, note=note)
            rows.append(row)
        self._store.write(task, rows, KEPT_MODELS)

    def _beat(self) -> None:
        while not self._ended.wait(STALE / 6):
            try:
                self._store.beat(self._claimant)
            except Exception:  # whoever writes next says what is wrong
                return


class JournaledModels:
    """Keeps models as another keeper does, and finds those of earlier runs in the journal."""

    def __init__(self, inner: Keeper, journal: OpenJournal) -> None:
        self._inner = inner
        self._journal = journal
        self._offered: set[int] = set()
        self.n_again = 0  # fits of winners whose model was not kept

    def floor(self) -> float:
        """Return the score below which a model need not be sent back."""
        return self._inner.floor()

    def offer(self, record: Record) -> None:
        """See a record; one that was read from the journal has no model."""
        if record.model is not None:
            self._offered.add(record.trial.row)
            self._inner.offer(record)

    def model_of(self, row: int) -> Any:
        """Return a model: from this run, from the journal, or fitted again."""
        if row in self._offered:
            return self._inner.model_of(row)
        model = self._journal.stored_model(row)
        if model is None:
            model, n_fits = self._journal.fitted_again(row)
            self.n_again += n_fits
        return model

    def close(self) -> None:
        """Let go of everything."""
        self._inner.close()
