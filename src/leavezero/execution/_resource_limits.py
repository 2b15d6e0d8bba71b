"""Limits of time and memory, and the record of a task that was ended."""

import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from importlib.util import find_spec
from numbers import Integral, Real
from pathlib import Path
from typing import Any, Literal

STATM = Path("/proc/self/statm")
_SIZE = re.compile(r"\s*(\d{1,18}(?:\.\d{1,18})?)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)


class Clock:
    """Seconds since the clock was made, without those in which it was paused."""

    def __init__(self) -> None:
        self._start = time.monotonic()

    def seconds(self) -> float:
        """Return the seconds so far."""
        return time.monotonic() - self._start

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Return a context whose seconds do not count."""
        since = time.monotonic()
        try:
            yield
        finally:
            self._start += time.monotonic() - since


@dataclass(frozen=True)
class Limits:
    """Limits of tasks; None where there is no limit."""

    timeout: float | None = None  # seconds per task
    time_budget: float | None = None  # seconds by the clock, without the start of workers
    # Bytes per task, above what its process used before its first task. Mapped files and processes
    # that a task starts do not count.
    memory_limit: int | None = None
    share: float = 1.0  # of the time budget that may be used, once two tasks have finished
    clock: Clock = field(default_factory=Clock, repr=False, compare=False)
    pool: Any = field(default=None, repr=False, compare=False)  # see `reused_workers`

    @property
    def any(self) -> bool:
        """Whether there is a limit."""
        return (self.timeout, self.time_budget, self.memory_limit) != (None, None, None)

    def remaining(self) -> float | None:
        """Return the seconds left of the time budget, or of its share; None if unlimited."""
        if self.time_budget is None:
            return None
        return self.share * self.time_budget - self.clock.seconds()

    def spent(self) -> bool:
        """Return True if the share of the time budget is spent."""
        remaining = self.remaining()
        return remaining is not None and remaining <= 0

    def all_spent(self) -> bool:
        """Return True if all of the time budget is spent."""
        return replace(self, share=1.0).spent()


@dataclass(frozen=True)
class TaskEnded:
    """The result of a task that was ended, or whose result could not be returned.

    "died": its worker process died twice. "failed": the task or its result could not be pickled,
    or the task raised ``SystemExit`` or ``KeyboardInterrupt``.
    """

    limit: Literal["timeout", "memory_limit", "time_budget", "died", "failed"]
    value: float  # of the limit; for "died" the exit code, or minus the number of the signal
    seconds: float = 0.0  # how long the task ran
    detail: str = ""  # the traceback of a task that failed

    def __str__(self) -> str:
        if self.limit == "timeout":
            return f"exceeded timeout={self.value:g} seconds and was ended"
        if self.limit == "memory_limit":
            return f"exceeded memory_limit={self.value:.0f} bytes and was ended"
        if self.limit == "time_budget":
            return f"was not finished within time_budget={self.value:g} seconds"
        return self.detail or f"its process {_describe_exit(int(self.value))}, twice"


def resolve_limits(timeout: Any, time_budget: Any, memory_limit: Any, owner: str) -> Limits:
    """Return valid limits whose clock starts now, or raise an error that names the owner.

    Times are in seconds; memory is in bytes, or a string with a unit such as "2GB" or "512MiB".
    """
    return Limits(
        _check_seconds(timeout, "timeout", owner),
        _check_seconds(time_budget, "time_budget", owner),
        _check_bytes(memory_limit, owner),
    )


def memory_in_use(pid: int) -> int:
    """Return the bytes of memory that only this process uses; mapped files do not count."""
    if STATM.exists():
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
        return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")
    import psutil  # type: ignore[import-untyped]  # has no types

    try:
        return int(psutil.Process(pid).memory_full_info().uss)
    except psutil.Error as error:
        raise ProcessLookupError(str(error)) from error


def _check_seconds(value: Any, name: str, owner: str) -> float | None:
    if value is None:
        return None
    is_number = isinstance(value, Real) and not isinstance(value, bool)
    if is_number and 0 < value < sys.float_info.max:
        return float(value)
    raise ValueError(
        f"{name} of {owner} must be None or a positive number of seconds, got {value!r}."
    )


def _check_bytes(value: Any, owner: str) -> int | None:
    if value is None:
        return None
    size = _parse_bytes(value)
    if size < 1:
        raise ValueError(
            f"memory_limit of {owner} must be None, a positive number of bytes or a string with a "
            f'unit such as "2GB", got {value!r}.'
        )
    if not STATM.exists() and find_spec("psutil") is None:
        raise ValueError(
            f"memory_limit of {owner} requires Linux or the package psutil, and this is "
            f"{sys.platform}. Install psutil, or set memory_limit=None."
        )
    return size


def _parse_bytes(value: Any) -> int:
    """Return a number of bytes; 0 if the value is none."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    match = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if match is None or (match[3] and not match[2]):
        return 0
    base = 1024 if match[3] else 1000
    return int(Fraction(match[1]) * base ** " KMGT".index(match[2].upper() or " "))


def _describe_exit(code: int) -> str:
    """Return how a process ended, by its exit code."""
    if code >= 0:
        return f"ended with exit code {code}"
    try:
        name = signal.Signals(-code).name
    except ValueError:
        name = str(-code)
    hint = " (the system does this when memory runs out)" if name == "SIGKILL" else ""
    return f"was ended by signal {name}{hint}"
