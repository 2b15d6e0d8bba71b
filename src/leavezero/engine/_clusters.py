"""Work that joblib takes to other processes and machines: what is sent once, and what is lost."""

import logging
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, CancelledError
from itertools import chain, islice
from typing import TYPE_CHECKING, Any

from joblib import effective_n_jobs
from joblib.parallel import get_active_backend
from sklearn.utils.parallel import Parallel

from leavezero.engine._groups import Group

if TYPE_CHECKING:
    from leavezero.engine._run import Job, Record

ATTEMPTS = 3  # at groups whose worker was lost
PART = 4  # tasks a worker that are given out at once, where results cannot come one by one
_CLUSTERS = ("distributed", "ray")

_log = logging.getLogger("leavezero")


class InRay:
    """A job that lies in Ray's store, which every machine reads once."""

    def __init__(self, job: "Job") -> None:
        import ray

        self._reference = ray.put(job)

    def job(self) -> "Job":
        """Return the job, where the work is done."""
        import ray

        return ray.get(self._reference)


def sendable(job: "Job") -> "Job | InRay":
    """Return what to send with every group of trials so that the data travel once.

    joblib maps large arrays into processes of one machine. Dask scatters what is large and meets it
    again, by its size; Ray would pickle the job for every task.
    """
    return InRay(job) if type(get_active_backend()[0]).__name__ == "RayBackend" else job


def sent(job: "Job | InRay") -> "Job":
    """Return the job that was sent."""
    return job.job() if isinstance(job, InRay) else job


def as_finished(tasks: Iterable[Any], n_jobs: int | None, batch_size: Any) -> Iterator[Any]:
    """Yield the results of tasks; where the backend can, each as soon as it is there."""
    if get_active_backend()[0].supports_return_generator:
        yield from Parallel(n_jobs, return_as="generator_unordered", batch_size=batch_size)(tasks)
        return
    rest, size = iter(tasks), PART * effective_n_jobs(n_jobs)
    with Parallel(n_jobs, batch_size=1) as workers:  # they are begun once
        while part := list(islice(rest, size)):
            yield from workers(part)


def until_done(
    groups: Iterable[Group], work: Callable[[Iterable[Group]], "Iterator[list[Record]]"]
) -> "Iterator[list[Record]]":
    """Yield the records of all groups; those whose worker was lost are begun again.

    A worker that dies takes what it was doing along, and joblib ends the whole call: what was
    finished is kept, and the rest is given to a new one, a few times.
    """
    waiting: dict[int, Group] = {}
    rest = iter(groups)

    def begun() -> Iterator[Group]:
        for group in chain(list(waiting.values()), rest):
            waiting[group.trials[0].row] = group
            yield group

    for attempt in range(1, ATTEMPTS + 1):
        try:
            for records in work(begun()):
                del waiting[records[0].trial.row]
                yield records
            return
        except Exception as error:
            if not is_lost_worker(error) or attempt == ATTEMPTS:
                raise
            _log.warning("A worker was lost (%s); its work is begun again.", type(error).__name__)


def is_lost_worker(error: BaseException) -> bool:
    """Tell whether an error speaks of a process that has gone, not of what it was doing.

    Examples
    --------
    >>> from concurrent.futures.process import BrokenProcessPool
    >>> is_lost_worker(BrokenProcessPool()), is_lost_worker(ValueError())
    (True, False)
    """
    if type(error).__name__.startswith("RayTaskError"):  # what a candidate raised
        return False
    module: Any = type(error).__module__ or ""
    return isinstance(error, BrokenExecutor | CancelledError) or module.split(".")[0] in _CLUSTERS
