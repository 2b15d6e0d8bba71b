"""The main process's hold on workers, and on the process that forks them."""

import atexit
import os
import signal
import socket
import subprocess
import sys
import time
import weakref
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any

from leavezero.engine._workers_nursery import BORN, FORK, KILL, MESSAGE, OVER, WATCH

THREADS = ("OMP", "OPENBLAS", "MKL", "BLIS", "VECLIB_MAXIMUM", "NUMEXPR")
LAST_WORDS = 1.0  # seconds that a worker whose line is closed has to end by itself
PATIENCE = 10.0  # seconds that a nursery has to end


class LostError(Exception):
    """The process that forks workers has ended."""


@dataclass(frozen=True)
class Ending:
    """How a worker ended: its exit code, or minus the signal's number."""

    code: int
    over: bool = False  # its memory

    def __str__(self) -> str:
        if self.code >= 0:
            return f"ended by itself with the exit code {self.code}"
        with suppress(ValueError):
            name = signal.Signals(-self.code).name
            hint = ", as the system does where memory runs out" if self.code == -9 else ""
            return f"was ended by the signal {name}{hint}"
        return f"was ended by the signal {-self.code}"


@dataclass(eq=False)
class Worker:
    """A process at the other end of a line."""

    pid: int
    line: "Connection[Any, Any]"
    task: Any = None  # what it works on
    since: float = 0.0
    deadline: float | None = None
    first_pages: int | None = None  # of memory, when it began its first task

    def give(self, task: Any, content: bytes) -> None:
        """Send a task; its clock begins to run when the worker says that it has read it."""
        self.line.send_bytes(content)
        self.task, self.since, self.deadline = task, time.monotonic(), None

    def rest(self) -> Any:
        """Return the task, which is no longer the worker's."""
        task, self.task, self.deadline = self.task, None, None
        return task


class Nursery:
    """The process that forks workers, and what it has told of them."""

    def __init__(self) -> None:
        self.line, other = socket.socketpair()
        path = [entry for entry in sys.path if isinstance(entry, str)]
        code = (
            f"import sys; sys.path[:] = {path!r}; "
            "from leavezero.engine._workers_nursery import serve; "
            f"serve({other.fileno()})"
        )
        single = {f"{name}_NUM_THREADS": "1" for name in THREADS}  # a fork copies no threads
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            pass_fds=[other.fileno()],
            stdin=subprocess.DEVNULL,
            env=os.environ | single,
            start_new_session=True,  # away from the terminal's control-C
        )
        other.close()
        self._asking = False  # while an answer is on its way
        self.ended: dict[int, Ending] = {}
        _ALL.add(self)

    def fork(self, data: int) -> Worker:
        """Return a new worker that holds the file of the data."""
        ours, theirs = Pipe()
        self._asking = True
        try:
            with theirs:
                message = [MESSAGE.pack(FORK, 0, 0)]
                socket.send_fds(self.line, message, [theirs.fileno(), data])
            while True:
                what, pid = self._hear()
                if what == BORN:
                    self._asking = False
                    return Worker(pid, ours)
        except OSError as error:
            ours.close()
            raise LostError(str(error)) from error

    def watch(self, worker: Worker, n_pages: int) -> None:
        """Have a worker ended that holds more memory."""
        self._tell(WATCH, worker, n_pages)

    def kill(self, worker: Worker) -> None:
        """Have a worker ended at once."""
        self._tell(KILL, worker)

    def hear(self) -> None:
        """Take note of what has been told."""
        self._hear()

    def ending(self, worker: Worker) -> Ending:
        """Return how a worker ended whose line is closed; one that has not, is."""
        self.line.settimeout(LAST_WORDS)
        try:
            while worker.pid not in self.ended:
                try:
                    self._hear()
                except TimeoutError:
                    self.kill(worker)
        finally:
            with suppress(OSError):
                self.line.settimeout(None)
        return self.ended.pop(worker.pid)

    def release(self) -> None:
        """Keep the process for the next search, unless an answer of it was not heard."""
        self.ended.clear()
        if self._asking or self._process.poll() is not None:
            self.close()
        else:
            _IDLE.append(self)

    def close(self) -> None:
        """End the process, and all workers with it."""
        self.line.close()
        try:
            self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def forget(self) -> None:
        """Let go of another process's child, after a fork."""
        self.line.close()
        self._process.returncode = 0

    def _tell(self, what: bytes, worker: Worker, number: int = 0) -> None:
        try:
            self.line.sendall(MESSAGE.pack(what, worker.pid, number))
        except TimeoutError:
            raise
        except OSError as error:
            raise LostError(str(error)) from error

    def _hear(self) -> tuple[bytes, int]:
        """Read one message."""
        try:
            message = self.line.recv(MESSAGE.size, socket.MSG_WAITALL)
        except TimeoutError:
            raise
        except OSError as error:
            raise LostError(str(error)) from error
        if len(message) < MESSAGE.size:
            raise LostError("its line is closed")
        what, pid, number = MESSAGE.unpack(message)
        if what != BORN:
            self.ended[pid] = Ending(number, what == OVER)
        return what, pid


_ALL: "weakref.WeakSet[Nursery]" = weakref.WeakSet()
_IDLE: list[Nursery] = []


def take_nursery() -> Nursery:
    """Return the nursery of an earlier search, or a new one."""
    while _IDLE:
        nursery = _IDLE.pop()
        if nursery._process.poll() is None:
            return nursery
        nursery.close()
    return Nursery()


def prepare_workers() -> None:
    """Begin to start what forks workers, unless there is one."""
    nursery = take_nursery()
    _IDLE.append(nursery)


@atexit.register
def _close_idle() -> None:
    while _IDLE:
        _IDLE.pop().close()


def _forget_all() -> None:
    """Leave the processes of the parent alone: they end when the last copy of a line is closed."""
    for nursery in list(_ALL):
        nursery.forget()
    _IDLE.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)
