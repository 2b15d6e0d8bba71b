"""A small process that forks workers, watches their memory and tells of their end.

It has imported the package and nothing of the user's, runs no thread and no fit, so that a fork of
it is safe and takes milliseconds. It ends, and its workers with it, when the process that began it
does, whatever ended that one.
"""

import os
import select
import signal
import socket
import struct
from contextlib import suppress

from leavezero.engine._workers_inside import work

MESSAGE = struct.Struct("=cqq")  # what, whose process, and a number
FORK, WATCH, KILL = b"f", b"w", b"k"  # what is asked
BORN, DIED, OVER = b"b", b"d", b"o"  # what is told; over its memory is dead too
POLL = 0.02  # seconds between two looks at memory
IDLE = 300.0  # seconds without a worker after which it ends


def serve(descriptor: int) -> None:
    """Obey whoever holds the other end, until it is closed; in a forked worker, work."""
    ends = _Nursery(socket.socket(fileno=descriptor)).tend()
    if ends is None:
        os._exit(0)
    work(*ends)


def own_pages(pid: int) -> int:
    """Return how many pages of memory a process holds by itself; mapped files do not count."""
    with open(f"/proc/{pid}/statm") as file:
        _, resident, shared, *_ = file.read().split()
    return int(resident) - int(shared)


class _Nursery:
    """The one loop of this process."""

    def __init__(self, line: socket.socket) -> None:
        self._line = line
        self._ceilings: dict[int, int | None] = {}  # pages, by worker
        self._over: set[int] = set()
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        self._woken, self._waker = socket.socketpair()
        for end in (self._woken, self._waker):
            end.setblocking(False)
        signal.set_wakeup_fd(self._waker.fileno(), warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def tend(self) -> tuple[int, int] | None:
        """Return in every worker, with its ends, and with None when all is over."""
        with suppress(ConnectionError):
            while True:
                ready, _, _ = select.select([self._line, self._woken], [], [], self._patience())
                if self._woken in ready:
                    with suppress(BlockingIOError):
                        self._woken.recv(4096)
                if self._line in ready:
                    going_on, ends = self._obey()
                    if not going_on:
                        return ends
                elif not ready and not self._ceilings:
                    break
                self._weigh()
                self._bury()
        for pid in self._ceilings:
            _end(pid)
        return None

    def _patience(self) -> float | None:
        if not self._ceilings:
            return IDLE
        watched = any(ceiling is not None for ceiling in self._ceilings.values())
        return POLL if watched else None

    def _obey(self) -> tuple[bool, tuple[int, int] | None]:
        """Do what one message asks; say whether to go on, and if not, what a worker begins with."""
        message, ends, _, _ = socket.recv_fds(self._line, MESSAGE.size, 2, socket.MSG_WAITALL)
        if len(message) < MESSAGE.size:
            raise ConnectionError("the other end is closed")
        what, pid, number = MESSAGE.unpack(message)
        if what == FORK:
            if self._forked(ends):
                return False, (ends[0], ends[1])
        elif pid in self._ceilings:
            if what == WATCH:
                self._ceilings[pid] = number
            else:
                _end(pid)
        return True, None

    def _forked(self, ends: list[int]) -> bool:
        """Fork; return True in the worker."""
        pid = os.fork()
        if pid == 0:
            os.setsid()  # away from the terminal's control-C, and a group that can be ended
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            signal.signal(signal.SIGINT, signal.default_int_handler)
            for own in (self._line, self._woken, self._waker):
                own.close()
            return True
        for end in ends:
            os.close(end)
        self._ceilings[pid] = None
        self._tell(BORN, pid)
        return False

    def _weigh(self) -> None:
        """End the workers that hold more than they may."""
        for pid, ceiling in self._ceilings.items():
            with suppress(OSError):  # it is gone
                if ceiling is not None and own_pages(pid) > ceiling:
                    self._over.add(pid)
                    _end(pid)

    def _bury(self) -> None:
        """Tell of the workers that have ended, and end what they left running."""
        for pid in list(self._ceilings):
            gone, status = os.waitpid(pid, os.WNOHANG)
            if gone:
                _end(pid)
                del self._ceilings[pid]
                self._tell(OVER if pid in self._over else DIED, pid, _code(status))
                self._over.discard(pid)

    def _tell(self, what: bytes, pid: int, number: int = 0) -> None:
        self._line.sendall(MESSAGE.pack(what, pid, number))


def _code(status: int) -> int:
    return os.waitstatus_to_exitcode(status)


def _end(pid: int) -> None:
    """End a worker and all processes that it began."""
    for kill in (os.killpg, os.kill):
        with suppress(ProcessLookupError, PermissionError):
            kill(pid, signal.SIGKILL)
