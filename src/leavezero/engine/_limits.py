"""How long a candidate and a search may take, and how much memory a candidate may hold."""

import os
import re
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np

_UNITS = {"": 1} | {
    f"{letter}{'i' * binary}B": (1024 if binary else 1000) ** power
    for power, letter in enumerate(("", "K", "M", "G", "T"))
    for binary in (False, True)
    if letter or not binary
}
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?i?B?)\s*", re.IGNORECASE)
STATM = Path("/proc/self/statm")


@dataclass
class Limits:
    """What a search and each of its candidates may use; None where nothing is limited."""

    timeout: float | None = None  # seconds a candidate
    budget: float | None = None  # seconds for the search
    memory: int | None = None  # bytes a candidate, above what its process began with
    began: float = field(default_factory=time.monotonic)

    @property
    def any(self) -> bool:
        """Whether there is a limit."""
        return (self.timeout, self.budget, self.memory) != (None, None, None)

    def left(self) -> float | None:
        """Return how many seconds the search still has; None for as many as it likes."""
        return None if self.budget is None else self.began + self.budget - time.monotonic()

    def spent(self) -> bool:
        """Tell whether the search has used up its time."""
        left = self.left()
        return left is not None and left <= 0

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Return a context whose seconds are not taken from the search's."""
        since = time.monotonic()
        try:
            yield
        finally:
            self.began += time.monotonic() - since

    def allow_more(self, ended: tuple[str, float]) -> bool:
        """Tell whether a candidate that once went over a limit may go further now."""
        name, allowed = ended
        now = {"timeout": self.timeout, "memory_limit": self.memory}.get(name)
        return now is None or now > allowed


def resolve_limits(timeout: Any, time_budget: Any, memory_limit: Any, owner: str) -> Limits:
    """Return the limits of a search that begins now, or raise.

    Examples
    --------
    >>> resolve_limits(None, None, "2GB", "a search").memory
    2000000000
    """
    limits = Limits(
        _seconds(timeout, "timeout", owner),
        _seconds(time_budget, "time_budget", owner),
        _bytes(memory_limit, owner),
    )
    if limits.any and not can_fork():
        raise ValueError(
            f"timeout, time_budget and memory_limit of {owner} need processes that can be forked, "
            f"which {sys.platform} has not. Set them to None."
        )
    return limits


def can_fork() -> bool:
    """Tell whether this system has what workers of our own are made with."""
    return hasattr(os, "fork") and hasattr(os, "setsid")


def _seconds(value: Any, name: str, owner: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, Real) and not isinstance(value, bool) and 0 < float(value) < np.inf:
        return float(value)
    raise ValueError(
        f"{name} of {owner} must be None or a positive number of seconds, got {value!r}. Use 60 "
        "for a minute."
    )


def _bytes(value: Any, owner: str) -> int | None:
    if value is None:
        return None
    size = _size(value)
    if size is None or size < 1:
        raise ValueError(
            f"memory_limit of {owner} must be None, a positive number of bytes or a string with a "
            f'unit, got {value!r}. Use "2GB".'
        )
    if not STATM.exists():
        raise ValueError(
            f"memory_limit of {owner} needs Linux, where /proc tells what a process holds, and "
            f"this is {sys.platform}. Set memory_limit=None."
        )
    return size


def _size(value: Any) -> int | None:
    """Return a number of bytes; None for what is none."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    found = _SIZE.fullmatch(value) if isinstance(value, str) else None
    if found is None:
        return None
    unit = found[2].upper().replace("I", "i")
    factor = _UNITS.get(unit if unit.endswith("B") or not unit else f"{unit}B")
    return None if factor is None else int(float(found[1]) * factor)
