"""What a piece of work costs: seconds on the wall, and seconds of processors."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from joblib import Parallel, delayed, effective_n_jobs

T = TypeVar("T")


@dataclass(frozen=True)
class Cost:
    """Seconds that passed, and seconds that processors worked; None where this is not known.

    Examples
    --------
    >>> from leavezero.tabular import Cost
    >>> Cost(2.0, 3.9).cpu_seconds
    3.9
    """

    wall_seconds: float
    cpu_seconds: float | None


def measured(work: Callable[[], T], jobs: int) -> tuple[T, Cost]:
    """Return what some work gives, and what it cost.

    Parameters
    ----------
    work : callable
        What is done.
    jobs : int
        How many workers it has. Of several no one knows what their processors did.

    Returns
    -------
    result : object
        What ``work`` returns.
    cost : Cost

    Examples
    --------
    >>> from leavezero.tabular import measured
    >>> found, cost = measured(lambda: sum(range(1_000)), jobs=1)
    >>> found, cost.cpu_seconds < 1
    (499500, True)
    """
    wall, own = time.perf_counter(), time.process_time()
    found = work()
    passed, own = time.perf_counter() - wall, time.process_time() - own
    return found, Cost(passed, own if effective_n_jobs(jobs) == 1 else None)


def start_workers(jobs: int) -> None:
    """Start joblib's workers, which live on, so that the first to use them is not charged for it.

    Examples
    --------
    >>> from leavezero.tabular._cost import start_workers
    >>> start_workers(1)
    """
    tasks = 2 * effective_n_jobs(jobs)
    Parallel(n_jobs=jobs)(delayed(Cost)(0.0, None) for _ in range(tasks))
