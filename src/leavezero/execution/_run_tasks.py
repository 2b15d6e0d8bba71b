"""Run tasks with joblib or, under limits, in processes; Ctrl-C loses no finished result."""

import logging
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from contextlib import closing, contextmanager
from itertools import islice
from typing import Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel, delayed

from leavezero.execution._process_pool import run_in_processes
from leavezero.execution._resource_limits import Limits

MAX_ATTEMPTS = 3
TASKS_PER_WORKER = 4  # in one call of a backend that returns results only at its end
LOCAL = ("LokyBackend", "MultiprocessingBackend", "SequentialBackend", "ThreadingBackend")

_log = logging.getLogger("leavezero")


def run_tasks(
    function: Callable[[Any, Any], Any],
    shared: Any,
    tasks: Iterable[Any],
    *,
    n_jobs: int | None,
    limits: Limits | None = None,
    one_by_one: bool = False,
    timeout_factor: Callable[[Any], float] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield (index of task, ``function(shared, task)``) as tasks finish.

    Tasks begin in the given order and must not write to ``shared``. An exception of the function
    ends all tasks and is raised here. Without limits joblib runs them on its active backend, short
    ones in batches unless ``one_by_one``; if a worker is lost, its unfinished tasks are started
    again, with at most three attempts in all. With limits they run in processes of this machine,
    whatever ``n_jobs`` is; no process and no file is left when the iterator is exhausted or closed.
    Use ``contextlib.closing``: otherwise an exception in the caller's loop leaves it open as long
    as its traceback exists. A task that exceeds a limit, or whose process died twice, has a
    `TaskEnded` as its result; so have all tasks that are not finished when the time budget is
    spent. ``limits.timeout`` is multiplied by the ``timeout_factor`` of a task.
    """
    if limits is None or not limits.any:
        batch_size = 1 if one_by_one else "auto"
        return _interruptible(_run_with_joblib(function, shared, list(tasks), n_jobs, batch_size))
    backend = type(get_active_backend()[0]).__name__
    if backend not in LOCAL:
        raise ValueError(
            "timeout, time_budget and memory_limit require processes of this machine, but joblib's "
            f"active backend is {backend}. Set them to None, or do not use that backend."
        )
    n_workers = effective_n_jobs(n_jobs)
    return _interruptible(
        run_in_processes(function, shared, tasks, n_workers, limits, timeout_factor)
    )


def _interruptible(results: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
    """Yield results; Ctrl-C takes effect while the next is computed, not while it is processed."""
    with closing(results):  # type: ignore[type-var]  # an iterator that is a generator
        while True:
            with allowed_interrupts():
                found = next(results, None)
            if found is None:
                return
            yield found


def _run_with_joblib(
    function: Any, shared: Any, tasks: list[Any], n_jobs: int | None, batch_size: Any
) -> Iterator[tuple[int, Any]]:
    """Yield results; a worker that dies ends joblib's call, so the rest needs another one."""
    is_ray = type(get_active_backend()[0]).__name__ == "RayBackend"
    holder = _RayHolder(shared) if is_ray else _Holder(shared)
    unfinished = dict(enumerate(tasks))
    for attempt in range(1, MAX_ATTEMPTS + 1):
        left = list(unfinished.items())
        calls = (delayed(_call)(function, holder, index, task) for index, task in left)
        try:
            with _closing(_as_finished(calls, n_jobs, batch_size)) as results:
                for index, result in results:
                    del unfinished[index]
                    yield index, result
            return
        except Exception as error:
            if not is_lost_worker(error) or attempt == MAX_ATTEMPTS:
                raise
            _log.warning(
                "A worker was lost; %d tasks are started again.", len(unfinished), exc_info=True
            )


def _as_finished(calls: Iterable[Any], n_jobs: int | None, batch_size: Any) -> Iterator[Any]:
    """Yield the results of calls; where the backend can, each as soon as it is available."""
    if get_active_backend()[0].supports_return_generator:
        results = Parallel(n_jobs, return_as="generator_unordered", batch_size=batch_size)(calls)
        with _closing(results):
            yield from results
        return
    rest, size = iter(calls), TASKS_PER_WORKER * effective_n_jobs(n_jobs)
    with Parallel(n_jobs, batch_size=1) as parallel:  # starts the workers once
        while part := list(islice(rest, size)):
            yield from parallel(part)


@contextmanager
def _closing(results: Any) -> Iterator[Any]:
    """Return a context that closes a generator, without joblib's warning of unused results."""
    try:
        yield results
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()


def _call(function: Any, holder: Any, index: int, task: Any) -> tuple[int, Any]:
    """Run one task in a worker."""
    return index, function(holder.get(), task)


class _Holder:
    """The shared data as joblib sends it: large arrays are mapped by processes of one machine."""

    def __init__(self, shared: Any) -> None:
        self._shared = shared

    def get(self) -> Any:
        """Return the shared data."""
        return self._shared

    def __sizeof__(self) -> int:
        """Return a size above which Dask sends an argument once, and not with each task."""
        return 10**6


class _RayHolder:
    """The shared data in Ray's object store, which would otherwise be pickled for each task."""

    def __init__(self, shared: Any) -> None:
        import ray

        self._reference = ray.put(shared)

    def get(self) -> Any:
        """Return the shared data in a worker."""
        import ray

        return ray.get(self._reference)


def is_lost_worker(error: BaseException) -> bool:
    """Return True if an error is about a process that has gone, not about its task."""
    if type(error).__name__.startswith("RayTaskError"):  # raised by the task
        return False
    package = str(type(error).__module__).partition(".")[0]
    return isinstance(error, BrokenExecutor | CancelledError) or package in ("distributed", "ray")


# Ctrl-C that takes effect only where no result can be lost


class _WaitingHandler:
    """A handler of SIGINT that calls another one: where interrupts are allowed, or at the second.

    The state is kept here, so that no other part of a search has to pass it on.
    """

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self.is_allowed = False
        self.n_received = 0
        self.is_pending = False

    def __call__(self, number: int, frame: Any) -> None:
        self.n_received += 1
        self.is_pending = not self.is_allowed and self.n_received == 1
        if not self.is_pending:
            self.is_allowed = False  # what is finished now is not interrupted
            self._handler(number, frame)

    def call_if_pending(self) -> None:
        """Deliver an interrupt that has waited."""
        if self.is_pending:
            self.is_pending = False
            self._handler(signal.SIGINT, None)


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Return a context in which Ctrl-C waits until its end, or until it is allowed.

    A second one does not wait. Python runs signal handlers in the main thread only.
    """
    before = _handler()
    if not callable(before):
        yield
        return
    waiting = _WaitingHandler(before)
    signal.signal(signal.SIGINT, waiting)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        waiting.call_if_pending()


@contextmanager
def allowed_interrupts() -> Iterator[None]:
    """Return a context inside of `deferred_interrupts` in which Ctrl-C takes effect at once."""
    waiting = _handler()
    if not isinstance(waiting, _WaitingHandler):
        yield
        return
    waiting.is_allowed = True
    try:
        waiting.call_if_pending()
        yield
    finally:
        waiting.is_allowed = False


def _handler() -> Any:
    """Return the handler of SIGINT; None in other threads than the main one."""
    is_main = threading.current_thread() is threading.main_thread()
    return signal.getsignal(signal.SIGINT) if is_main else None
