"""Trials in processes of our own, which may be ended or die and take no other along."""

import os
import pickle
import signal
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from multiprocessing.connection import wait
from typing import Any, Self

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend

from leavezero.engine._groups import Group
from leavezero.engine._limits import Limits, can_fork
from leavezero.engine._run import Job, Record
from leavezero.engine._strategy import Trial
from leavezero.engine._workers_cargo import dumps, pack
from leavezero.engine._workers_handles import (
    Ending,
    LostError,
    Nursery,
    Worker,
    take_nursery,
)
from leavezero.engine._workers_inside import BEGUN, DONE, RAISED, Surroundings
from leavezero.engine._workers_nursery import own_pages

LEFT_BEHIND = 0.25  # of the memory limit, beyond which a worker is replaced after a task
_LOCAL = ("LokyBackend", "MultiprocessingBackend", "ThreadingBackend", "SequentialBackend")


def crew_for(
    job: Job, limits: Limits, *, n_jobs: int | None, journal: object, owner: str
) -> "AbstractContextManager[Crew | None]":
    """Return workers of our own where a limit, or a journal with several workers, asks for them."""
    backend = type(get_active_backend()[0]).__name__
    if limits.any:
        if backend not in _LOCAL:
            raise ValueError(
                f"timeout, time_budget and memory_limit of {owner} work with processes of this "
                f"machine, and joblib's backend is {backend}. Set them to None, or leave the "
                "backend's parallel_config."
            )
        return Crew(job, limits, effective_n_jobs(n_jobs))
    several = backend == "LokyBackend" and effective_n_jobs(n_jobs) > 1
    if journal is not None and several and can_fork():
        return Crew(job, limits, effective_n_jobs(n_jobs))
    return nullcontext()


@dataclass(eq=False)
class _Order:
    """A group that was asked for, and the records of it so far, by row of the table."""

    group: Group
    records: dict[int, Record] = field(default_factory=dict)


@dataclass(eq=False)
class _Task:
    """A group, or one trial of it, that one worker is given."""

    group: Group
    order: _Order
    n_deaths: int = 0

    def one_by_one(self) -> "list[_Task]":
        """Return a task for each trial."""
        groups = (replace(self.group, trials=(trial,)) for trial in self.group.trials)
        return [_Task(group, self.order, self.n_deaths) for group in groups]


class Crew:
    """Workers while one search uses them.

    A task whose worker died is tried once more, when no other is at work. A group that died twice,
    or went over a limit, is tried one by one, so that only the guilty one is lost.
    """

    def __init__(self, job: Job, limits: Limits, n_jobs: int) -> None:
        self._job = job
        self._limits = limits
        self._n_jobs = n_jobs
        self._nursery: Nursery | None = None
        self._workers: list[Worker] = []
        self._queue: deque[_Task] = deque()
        self._alone: deque[_Task] = deque()
        self._finished: list[list[Record]] = []

    def __enter__(self) -> Self:
        self._data, spans = pack(self._job)
        surroundings = Surroundings()
        self._hello = pickle.dumps((surroundings.path, dumps((surroundings, spans))))
        return self

    def __exit__(self, *_: object) -> None:
        """End what still works, and let the others go."""
        self._end_running()
        for worker in self._workers:
            worker.line.close()
        self._workers.clear()
        if self._nursery is not None:
            self._nursery.release()
        self._data.close()

    def spent(self) -> bool:
        """Tell whether the search has used up its time."""
        return self._limits.spent()

    def through(
        self, groups: Iterable[Group], floor: Callable[[], float]
    ) -> Iterator[list[Record]]:
        """Yield the records of groups as they are finished; of none after the time is spent."""
        feed = iter(groups)
        try:
            while True:
                if not self.spent():
                    self._assign(feed, floor)
                finished, self._finished = self._finished, []
                yield from finished  # while the workers are at it
                if self.spent() or not self._running():
                    return
                self._listen()
        finally:
            self._end_running()

    def _running(self) -> list[Worker]:
        return [worker for worker in self._workers if worker.task is not None]

    def _assign(self, feed: Iterator[Group], floor: Callable[[], float]) -> None:
        """Give every free worker a task."""
        while len(self._running()) < self._n_jobs:
            task = self._next(feed)
            if task is None:
                return
            self._begin(task, dumps((task.group, floor())))

    def _next(self, feed: Iterator[Group]) -> _Task | None:
        if self._queue:
            return self._queue.popleft()
        group = next(feed, None)
        if group is not None:
            return _Task(group, _Order(group))
        return self._alone.popleft() if self._alone and not self._running() else None

    def _begin(self, task: _Task, content: bytes) -> None:
        """Give a task to an idle worker, or to a new one."""
        while True:
            idle = [worker for worker in self._workers if worker.task is None]
            worker = idle[0] if idle else self._hired()
            try:
                return worker.give(task, content)
            except OSError:  # it died while it was idle
                self._forgotten(worker)

    def _hired(self) -> Worker:
        for _ in range(2):  # one that was kept may have ended
            if self._nursery is None:
                self._nursery = take_nursery()
            try:
                with self._limits.standing_still():  # seconds, where what forks is still starting
                    worker = self._nursery.fork(self._data.fileno())
                worker.line.send_bytes(self._hello)
            except LostError:
                self._orphaned()
                continue
            except OSError:
                continue
            self._workers.append(worker)
            return worker
        raise RuntimeError(
            "No worker could be started: the process that forks them ends at once. What it said "
            "stands above; without limits, and with n_jobs=1, none is needed."
        )

    def _listen(self) -> None:
        """Wait until something happens, and see to it."""
        assert self._nursery is not None
        running = {worker.line: worker for worker in self._running()}
        ready = wait([*running, self._nursery.line], self._patience())
        try:
            if self._nursery.line in ready:
                self._nursery.hear()
            for line, worker in running.items():
                if line in ready or line.poll():
                    self._hear(worker)
                elif worker.pid in self._nursery.ended:  # something that it began holds the line
                    self._died(worker)
                elif worker.deadline is not None and time.monotonic() >= worker.deadline:
                    self._over(self._dismiss(worker), "timeout", _elapsed(worker))
        except LostError:
            self._orphaned()

    def _patience(self) -> float | None:
        """Return the seconds until the first of all deadlines; None if there is none."""
        deadlines = [worker.deadline for worker in self._running() if worker.deadline is not None]
        left = [deadline - time.monotonic() for deadline in deadlines]
        if (budget := self._limits.left()) is not None:
            left.append(budget)
        return max(0.0, min(left)) if left else None

    def _hear(self, worker: Worker) -> None:
        """Take one message from a worker."""
        try:
            message = worker.line.recv_bytes()
        except (EOFError, OSError):
            self._died(worker)
            return
        if message == BEGUN:
            self._watch(worker)
        else:
            self._take(worker, *_read(message))

    def _take(self, worker: Worker, kind: str, content: Any) -> None:
        """Take what came of a task."""
        if kind == DONE and (took := self._too_long(worker.task, content)) is not None:
            self._over(self._dismiss(worker), "timeout", took)
            return
        elapsed, task = _elapsed(worker), worker.rest()
        self._let_go_if_full(worker)
        if kind == DONE:
            for trial, record in zip(task.group.trials, content, strict=True):
                self._record(task.order, replace(record, trial=trial))
        elif kind == RAISED:
            raise content
        elif len(task.group.trials) > 1:
            self._queue.extend(task.one_by_one())
        else:
            self._fail(task, content, elapsed)

    def _too_long(self, task: _Task, records: list[Record]) -> float | None:
        """Return the seconds that a task took, by its own clock, if they are more than it had.

        While this process stands still, nobody looks at the deadline.
        """
        timeout = self._limits.timeout
        took = sum(record.fit_time + record.score_time for record in records)
        return None if timeout is None or took <= timeout * len(task.group.trials) else took

    def _watch(self, worker: Worker) -> None:
        """Begin to count a candidate's time, and a worker's memory."""
        n_trials, limits = len(worker.task.group.trials), self._limits
        worker.since = time.monotonic()
        if limits.timeout is not None:
            worker.deadline = worker.since + limits.timeout * n_trials
        if limits.memory is not None and worker.first_pages is None:
            with suppress(OSError):  # it is gone, which will be heard
                worker.first_pages = own_pages(worker.pid)
                assert self._nursery is not None
                self._nursery.watch(worker, worker.first_pages + limits.memory // _page())

    def _let_go_if_full(self, worker: Worker) -> None:
        """Replace a worker in which a task has left much memory, so that no other is blamed."""
        if self._limits.memory is None or worker.first_pages is None:
            return
        with suppress(OSError):
            n_left = (own_pages(worker.pid) - worker.first_pages) * _page()
            if n_left > LEFT_BEHIND * self._limits.memory:
                worker.line.close()
                self._workers.remove(worker)

    def _died(self, worker: Worker) -> None:
        assert self._nursery is not None
        ending = self._nursery.ending(worker)
        task = self._forgotten(worker)
        if ending.over:
            self._over(task, "memory_limit", _elapsed(worker))
        else:
            self._lost(task, ending, _elapsed(worker))

    def _over(self, task: _Task, name: str, elapsed: float) -> None:
        """Record a candidate that went over a limit; try those of a group one by one."""
        if len(task.group.trials) > 1:
            self._queue.extend(task.one_by_one())
            return
        limits = self._limits
        if name == "timeout":
            assert limits.timeout is not None
            reason = (
                f"TimeoutError: it took longer than timeout={limits.timeout:g} seconds, and its "
                "process was ended."
            )
            self._fail(task, reason, elapsed, (name, limits.timeout), TimeoutError)
        else:
            assert limits.memory is not None
            reason = (
                f"MemoryError: it took more memory than memory_limit={limits.memory} bytes, and "
                "its process was ended."
            )
            self._fail(task, reason, elapsed, (name, float(limits.memory)), MemoryError)

    def _lost(self, task: _Task, ending: Ending | str, elapsed: float) -> None:
        """Try a task once more whose worker died; record a candidate that has had its chance."""
        task.n_deaths += 1
        if task.n_deaths == 1:
            self._alone.append(task)
        elif len(task.group.trials) > 1:
            task.n_deaths = 1
            self._alone.extend(task.one_by_one())
        else:
            self._fail(task, f"RuntimeError: its process {ending}, the second time.", elapsed)

    def _fail(
        self,
        task: _Task,
        reason: str,
        elapsed: float,
        ended: tuple[str, float] | None = None,
        kind: type[Exception] = RuntimeError,
    ) -> None:
        [trial] = task.group.trials
        if self._job.error_score == "raise":
            raise kind(f"The candidate {trial.candidate.params!r} failed. {reason}")
        self._record(task.order, _failed(trial, reason, elapsed, ended))

    def _record(self, order: _Order, record: Record) -> None:
        """Keep a record; a group is finished when all of it is."""
        order.records[record.trial.row] = record
        if len(order.records) == len(order.group.trials):
            self._finished.append([order.records[trial.row] for trial in order.group.trials])

    def _orphaned(self) -> None:
        """End the workers of a process that is gone, and count them as dead."""
        assert self._nursery is not None
        self._nursery.close()
        self._nursery = None
        workers, self._workers = self._workers, []
        for worker in workers:
            worker.line.close()
            _kill(worker)
            if worker.task is not None:
                elapsed = _elapsed(worker)
                self._lost(worker.rest(), "was lost with the one that began it", elapsed)

    def _end_running(self) -> None:
        for worker in self._running():
            self._dismiss(worker)

    def _dismiss(self, worker: Worker) -> Any:
        """End a worker and return its task."""
        assert self._nursery is not None
        try:
            self._nursery.kill(worker)
        except LostError:
            _kill(worker)
        return self._forgotten(worker)

    def _forgotten(self, worker: Worker) -> Any:
        worker.line.close()
        self._workers.remove(worker)
        return worker.rest()


def _read(message: bytes) -> tuple[str, Any]:
    """Return what a worker replied; a model that cannot be read is a failure."""
    try:
        return pickle.loads(message)
    except Exception as error:  # pickle raises anything
        return "failed", f"What its worker sent back cannot be read: {error!r}"


def _failed(
    trial: Trial, reason: str, elapsed: float, ended: tuple[str, float] | None = None
) -> Record:
    return Record(trial, {}, {}, elapsed, 0.0, error=reason, ended=ended)


def _elapsed(worker: Worker) -> float:
    """Return the seconds since a worker began its task."""
    return time.monotonic() - worker.since


def _kill(worker: Worker) -> None:
    """End a worker whose nursery is gone, and what it began."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(worker.pid, signal.SIGKILL)


def _page() -> int:
    return os.sysconf("SC_PAGE_SIZE")
