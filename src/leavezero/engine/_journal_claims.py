"""Who works on a candidate, and whether that process is still there."""

import os
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path

STALE = 60.0  # seconds without a heartbeat, where a process cannot be looked for
_OPEN: set[str] = set()  # owners in this very process


@dataclass(frozen=True)
class Claimant:
    """One call of `fit` in one process.

    ``place`` names the host, its last start and the process namespace: where it is another, the
    number of a process says nothing. ``started`` tells a process from a later one of that number.
    """

    owner: str
    pid: int
    place: str
    started: str

    @classmethod
    def here(cls) -> "Claimant":
        """Return a new claimant of this process."""
        pid = os.getpid()
        found = cls(os.urandom(16).hex(), pid, _place(), _started(pid) or "")
        _OPEN.add(found.owner)
        return found

    def leave(self) -> None:
        """Say that this call has ended, while its process goes on."""
        _OPEN.discard(self.owner)

    def is_alive(self, heartbeat: float) -> bool:
        """Tell whether the claimant is at work; by its last heartbeat, where nothing else tells."""
        if self.place != _place() or sys.platform == "win32":
            return abs(time.time() - heartbeat) < STALE  # a damaged one may lie ahead
        if self.pid == os.getpid() and self.started == (_started(self.pid) or ""):
            return self.owner in _OPEN
        if self.started:
            return _started(self.pid) == self.started
        return _exists(self.pid)


def _place() -> str:
    parts = [socket.gethostname()]
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text().strip())
        parts.append(os.readlink("/proc/self/ns/pid"))
    except OSError:  # not Linux
        pass
    return " ".join(parts)


def _started(pid: int) -> str | None:
    """Return when a process began, in ticks since the host did; None if it is gone or a zombie."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except (OSError, ValueError):
        return None
    fields = stat.rpartition(")")[2].split()  # a name may hold spaces
    return None if fields[0] in "ZX" else fields[19]


def _exists(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
