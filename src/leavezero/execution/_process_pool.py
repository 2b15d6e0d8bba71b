"""Worker processes that run tasks under limits, and can be killed one by one.

joblib cannot end a single task, and one dead worker ends its whole call. The processes here are
those of loky, which comes with joblib: they do not run the user's script again, and work on all
platforms. Each has a pipe of its own to the main process.
"""

import atexit
import mmap
import os
import pickle
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from multiprocessing import Pipe, current_process
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, Any

from joblib.externals.loky.backend import get_context, resource_tracker
from joblib.externals.loky.backend.utils import kill_process_tree
from sklearn import config_context, get_config

from leavezero.execution._resource_limits import Limits, TaskEnded, memory_in_use

try:  # a dependency of joblib from 1.6 on, part of it before
    import cloudpickle
except ImportError:
    from joblib.externals import cloudpickle

START_SECONDS = 300.0  # until a worker must have imported what it needs
MAX_FAILED_STARTS = 3
MAX_DEATHS = 2  # of workers, for which one task may be the reason
LEFT_MEMORY = 0.25  # of memory_limit, above which a worker is replaced after a task
EXIT_SECONDS = 1.0  # for idle workers to exit by themselves
KILL_SECONDS = 5.0
MEMORY_INTERVAL = 0.02  # seconds between two measurements
EXIT_INTERVAL = 0.25  # seconds between two looks at the exit codes of workers
ALIGNMENT = 64  # bytes
MARK = "LEAVEZERO_WORKER"  # environment variable by which descendants of a worker are found

READY, BEGUN, DONE, RAISED, FAILED = range(5)
Spans = list[tuple[int, int]]  # start and length of the parts of a file


def run_in_processes(
    function: Callable[[Any, Any], Any],
    shared: Any,
    tasks: Iterable[Any],
    *,
    n_jobs: int,
    limits: Limits,
    timeout_factor: Callable[[Any], float] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield (index of task, result) as tasks finish; see `run_tasks`."""
    if current_process().daemon:
        raise RuntimeError(
            "timeout, time_budget and memory_limit start processes, and a daemonic process of "
            "multiprocessing must not. Set them to None, or use joblib's loky for the outer loop."
        )
    factors = timeout_factor or (lambda task: 1.0)
    queue = deque(
        _Task(index, task, (limits.timeout or 0.0) * factors(task))
        for index, task in enumerate(tasks)
    )
    if not queue:
        return
    pool = _Pool(function, shared, queue, min(n_jobs, len(queue)), limits)
    try:
        while pool.unfinished and not limits.spent():
            pool.assign()
            yield from pool.collect()
        pool.end_running()
        for task in pool.unfinished.values():
            assert limits.time_budget is not None
            yield task.index, TaskEnded("time_budget", limits.time_budget, task.seconds)
    finally:
        pool.close()


@dataclass(eq=False)
class _Task:
    """A task in the queue."""

    index: int
    content: Any
    timeout: float
    n_deaths: int = 0
    seconds: float = 0.0  # how long it ran before it was ended


@dataclass(eq=False)
class _Worker:
    """A process with both pipes to it; ``task`` is None while it starts and while it is idle."""

    process: Any
    connection: "Connection[Any, Any]"
    lifeline: "Connection[Any, Any]"  # closed when this process ends, for whatever reason
    mark: str
    launched: float
    is_ready: bool = False
    task: _Task | None = None
    begun: float | None = None  # when the task began
    memory_before: int | None = None  # the first task

    @property
    def seconds(self) -> float:
        """Seconds since its task began."""
        return 0.0 if self.begun is None else time.monotonic() - self.begun


class _Pool:
    """The workers of one call, their schedule, and the folder with the shared data."""

    def __init__(
        self, function: Any, shared: Any, queue: deque[_Task], n_workers: int, limits: Limits
    ) -> None:
        self.unfinished = {task.index: task for task in queue}
        self._queue = queue
        self._again: deque[_Task] = deque()  # their worker died; they run when nothing else does
        self._n_workers = n_workers
        self._n_failed_starts = 0
        self._limits = limits
        self._workers: list[_Worker] = []
        self._killed: set[int] = set()
        self._pid = os.getpid()
        # The folder is also removed if this process is killed: by joblib's resource tracker.
        parent = os.path.abspath(os.environ.get("JOBLIB_TEMP_FOLDER") or tempfile.gettempdir())
        os.makedirs(parent, exist_ok=True)
        self._folder = tempfile.mkdtemp(prefix="leavezero-", dir=parent)
        self._is_closed = False
        resource_tracker.register(self._folder, "folder")
        atexit.register(self.close)
        try:
            content = (function, shared, get_config(), list(warnings.filters))
            self._path = os.path.join(self._folder, "shared")
            self._spans = write_shared(self._path, content)
        except BaseException:
            self.close()
            raise

    def assign(self) -> None:
        """Start missing workers, and give a task to each idle one."""
        while len(self._workers) < min(self._n_workers, len(self.unfinished)):
            self._workers.append(self._start())
        for worker in list(self._workers):
            if worker.is_ready and worker.task is None:
                if self._queue:
                    self._give(worker, self._queue.popleft())
                elif self._again and not any(other.task for other in self._workers):
                    self._give(worker, self._again.popleft())

    def collect(self) -> Iterator[tuple[int, Any]]:
        """Wait until something happens, and yield what has finished."""
        # Until a task runs, workers are starting, which the time budget does not include.
        running = any(worker.begun is not None for worker in self._workers)
        with nullcontext() if running else self._limits.clock.paused():
            wait([worker.connection for worker in self._workers], self._patience())
        for worker in list(self._workers):
            yield from self._attend(worker)

    def end_running(self) -> None:
        """Kill the workers that run a task."""
        for worker in [worker for worker in self._workers if worker.task is not None]:
            assert worker.task is not None
            worker.task.seconds = worker.seconds
            self._kill(worker)

    def close(self) -> None:
        """End all processes and remove all files; a second call does nothing."""
        if self._is_closed or os.getpid() != self._pid:  # a fork has no workers
            return
        self._end_workers()
        self._remove_files()
        self._is_closed = True  # otherwise, after a second Ctrl-C, there is another try at exit
        atexit.unregister(self.close)

    def _start(self) -> _Worker:
        """Start a process, which takes as long as its imports; several start at the same time."""
        mark = f"{os.environ.get(MARK, '')}/{uuid.uuid4().hex}"  # a worker may have a pool, too
        ours, theirs = Pipe()
        watched, lifeline = Pipe(duplex=False)
        # Keep the copies of data that estimators with n_jobs make in the folder that is removed.
        environment = {MARK: mark, "JOBLIB_TEMP_FOLDER": self._folder}
        process = get_context("loky").Process(
            target=_serve,
            args=(theirs, watched, self._path, self._spans, mark, self._pid),
            env=environment,
        )
        worker = _Worker(process, ours, lifeline, mark, time.monotonic())
        # A terminal sends Ctrl-C to workers, too, until they have a session of their own.
        masked = hasattr(signal, "pthread_sigmask")
        previous = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT}) if masked else None
        try:
            process.start()
        finally:
            if masked:
                signal.pthread_sigmask(signal.SIG_SETMASK, previous or set())
            theirs.close()
            watched.close()
        return worker

    def _give(self, worker: _Worker, task: _Task) -> None:
        content = _dumps(task.content)
        worker.task, worker.begun = task, None
        with suppress(OSError):  # it has died, which the next look at it shows
            worker.connection.send_bytes(content)

    def _patience(self) -> float:
        """Return the seconds until the next thing must be looked at."""
        busy = [worker for worker in self._workers if worker.begun is not None]
        seconds = [EXIT_INTERVAL]
        if self._limits.timeout is not None:
            seconds += [worker.task.timeout - worker.seconds for worker in busy if worker.task]
        if busy and self._limits.memory_limit is not None:
            seconds.append(MEMORY_INTERVAL)
        if busy and (remaining := self._limits.remaining()) is not None:
            seconds.append(remaining)
        return max(0.0, min(seconds))

    def _attend(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        """Read the messages of a worker, and end it if it exceeds a limit."""
        has_exited = worker.process.exitcode is not None  # before its last message is looked for
        limits, task = self._limits, worker.task
        if _has_message(worker.connection):
            yield from self._receive(worker)
        elif has_exited:  # a process that it has started may keep the connection open
            yield from self._lose(worker)
        elif task is None:
            if not worker.is_ready and time.monotonic() > worker.launched + START_SECONDS:
                yield from self._lose(worker)
        elif worker.begun is None:
            pass
        elif limits.timeout is not None and worker.seconds > task.timeout:
            ended = TaskEnded("timeout", limits.timeout, worker.seconds)
            self._kill(worker)
            yield self._finish(worker, ended)
        elif limits.memory_limit is not None and self._memory(worker) > limits.memory_limit:
            ended = TaskEnded("memory_limit", limits.memory_limit, worker.seconds)
            self._kill(worker)
            yield self._finish(worker, ended)

    def _receive(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        """Read one message."""
        try:
            kind, number = worker.connection.recv()
            content = worker.connection.recv_bytes() if kind in (DONE, RAISED, FAILED) else b""
        except (EOFError, OSError):
            yield from self._lose(worker)
            return
        if kind == READY:
            worker.is_ready, self._n_failed_starts = True, 0
        elif kind == BEGUN:
            worker.begun = time.monotonic()
            worker.memory_before = number if worker.memory_before is None else worker.memory_before
        else:
            result = self._result(worker, kind, number, content)
            if self._memory(worker) > LEFT_MEMORY * (self._limits.memory_limit or float("inf")):
                self._kill(worker)  # lest the next task be ended for what this one has left
            yield self._finish(worker, result)

    def _result(self, worker: _Worker, kind: int, seconds: float, content: bytes) -> Any:
        """Return the result of a task, or raise what the task has raised."""
        assert worker.task is not None
        # The worker's own clock counts: nobody looks at deadlines while this process is stopped.
        if self._limits.timeout is not None and seconds > worker.task.timeout:
            return TaskEnded("timeout", self._limits.timeout, seconds)
        if kind == FAILED:
            return TaskEnded("failed", 0.0, seconds, content.decode())
        try:
            result = pickle.loads(content)
        except Exception:  # unpickling runs any code
            return TaskEnded("failed", 0.0, seconds, traceback.format_exc())
        if kind == RAISED:
            raise result
        return result

    def _finish(self, worker: _Worker, result: Any) -> tuple[int, Any]:
        """Return what to yield for a worker's task, which it no longer has."""
        assert worker.task is not None
        index = worker.task.index
        worker.task, worker.begun = None, None
        del self.unfinished[index]
        return index, result

    def _lose(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        """Reap a dead worker; its task runs once more, alone, and then counts as the reason."""
        task, seconds = worker.task, worker.seconds
        exited = self._kill(worker, EXIT_SECONDS)
        code = worker.process.exitcode
        if task is None and not worker.is_ready:
            self._n_failed_starts += 1
            if self._n_failed_starts == MAX_FAILED_STARTS:
                raise RuntimeError(
                    f"{MAX_FAILED_STARTS} worker processes ended while they were starting, the "
                    f"last with exit code {code}. Without timeout, time_budget and memory_limit "
                    "none is needed."
                )
        elif task is not None:
            task.n_deaths += 1
            if task.n_deaths < MAX_DEATHS:
                self._again.append(task)
            else:
                detail = "" if exited else "its process closed its connection, twice"
                yield self._finish(worker, TaskEnded("died", code, seconds, detail))

    def _memory(self, worker: _Worker) -> float:
        """Return the bytes that a worker uses above what it began with; 0 if it is not limited."""
        if self._limits.memory_limit is None or worker.memory_before is None:
            return 0.0
        try:
            return memory_in_use(worker.process.pid) - worker.memory_before
        except OSError:  # it has died
            return 0.0

    def _kill(self, worker: _Worker, patience: float = 0.0) -> bool:
        """Kill a worker with its descendants; return True if it exited by itself before."""
        self._workers.remove(worker)
        worker.connection.close()
        worker.process.join(patience)
        exited = worker.process.exitcode is not None
        self._killed |= {worker.process.pid, *_kill_tree(worker.process, worker.mark)}
        worker.process.join()
        worker.lifeline.close()
        return exited

    def _end_workers(self) -> None:
        """Let idle workers exit, kill the others, and reap all."""
        idle = [worker for worker in self._workers if worker.is_ready and worker.task is None]
        for worker in idle:
            worker.connection.close()
        deadline = time.monotonic() + EXIT_SECONDS
        for worker in list(self._workers):
            self._kill(worker, max(0.0, deadline - time.monotonic()) if worker in idle else 0.0)

    def _remove_files(self) -> None:
        """Remove the folder, and what joblib in killed workers would have removed."""
        left = [path for path in Path(self._folder).rglob("*") if "joblib_memmapping" in str(path)]
        shutil.rmtree(self._folder, ignore_errors=True)
        for pid in self._killed:
            _remove_semaphores(pid)
        if not os.path.exists(self._folder):  # else the tracker tries again when this process ends
            for path in left:
                kind = "file" if path.suffix == ".pkl" else "folder"
                resource_tracker.unregister(str(path), kind)
            resource_tracker.unregister(self._folder, "folder")


def _has_message(connection: "Connection[Any, Any]") -> bool:
    """Return True if reading would not wait, also where the other end is closed."""
    try:
        return connection.poll()
    except OSError:
        return True


def _remove_semaphores(pid: int) -> None:
    """Remove the semaphores that loky has made in a process that was killed."""
    for path in Path("/dev/shm").glob(f"sem.loky-{pid}-*"):
        with suppress(OSError):
            path.unlink()
            resource_tracker.unregister(path.name.replace("sem.", "/"), "semlock")


def _kill_tree(process: Any, mark: str) -> set[int]:
    """Kill a worker and all that it has started, also in other sessions; return their ids."""
    if not Path("/proc/self/environ").exists():  # not Linux
        if process.exitcode is None:
            kill_process_tree(process)
        if hasattr(os, "killpg"):
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
        return set()
    killed: set[int] = set()
    deadline = time.monotonic() + KILL_SECONDS
    while found := _marked_processes(mark):
        for pid in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        killed.update(found)
        if time.monotonic() > deadline:
            break
        time.sleep(0.002)
    return killed


def _marked_processes(mark: str) -> list[int]:
    """Return the running processes whose environment has the mark of a worker.

    They have inherited it, whatever their parent and their session are. Needs Linux.
    """
    found, text = [], f"{MARK}={mark}".encode()
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):  # it has ended, or is not ours
                if text in Path(entry.path, "environ").read_bytes():
                    found.append(int(entry.name))
    return found


def write_shared(path: str, content: Any) -> Spans:
    """Write an object to a file, with its arrays after the rest; return the places of the parts.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     spans = write_shared(file.name, {"X": np.arange(3.0)})
    ...     read_shared(file, spans)
    {'X': array([0., 1., 2.])}
    """
    buffers: list[pickle.PickleBuffer] = []
    skeleton = _dumps(content, buffers.append)
    spans: Spans = []
    try:
        with open(path, "wb") as file:
            for part in (memoryview(skeleton), *(buffer.raw() for buffer in buffers)):
                start = -(-file.tell() // ALIGNMENT) * ALIGNMENT
                file.seek(start)
                file.write(part)
                spans.append((start, part.nbytes))
    except OSError as error:
        raise OSError(
            error.errno,
            f"The data for worker processes cannot be written: {error.strerror}. Set TMPDIR to a "
            "folder with more room",
            path,
        ) from error
    return spans


def read_shared(file: IO[bytes], spans: Spans) -> Any:
    """Return the object of a file; its arrays are mapped, and written to only as private copies."""
    whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    skeleton, *buffers = (whole[start : start + size] for start, size in spans)
    return pickle.loads(skeleton, buffers=buffers)


def _dumps(content: Any, buffer_callback: Any = None) -> bytes:
    """Pickle an object; what is defined in a script or notebook, by its content."""
    return cloudpickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=buffer_callback)


# What follows runs in worker processes.


def _serve(
    connection: "Connection[Any, Any]",
    watched: "Connection[Any, Any]",
    path: str,
    spans: Spans,
    mark: str,
    parent: int,
) -> None:
    """Run tasks until the main process closes the connection."""
    if hasattr(os, "setsid"):
        os.setsid()  # away from the terminal's Ctrl-C, which is for the main process
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent, watched, mark), daemon=True).start()
    pid = os.getpid()
    with suppress(EOFError, OSError), open(path, "rb") as file:
        connection.send((READY, 0))
        while True:
            kind, seconds, content = _run(connection, connection.recv_bytes(), file, spans)
            if os.getpid() != pid:  # a fork that a task has made
                os._exit(0)
            connection.send((kind, seconds))
            connection.send_bytes(content)


def _end_with(parent: int, watched: "Connection[Any, Any]", mark: str) -> None:
    """End this process and its descendants when the main process has ended."""
    with suppress(OSError):
        while not watched.poll(1.0) and (sys.platform == "win32" or os.getppid() == parent):
            pass
    if Path("/proc/self/environ").exists():
        for pid in set(_marked_processes(mark)) - {os.getpid()}:
            with suppress(OSError):
                os.kill(pid, signal.SIGKILL)
    if hasattr(os, "killpg"):
        os.killpg(0, signal.SIGKILL)
    os._exit(1)


def _run(
    connection: "Connection[Any, Any]", message: bytes, file: IO[bytes], spans: Spans
) -> tuple[int, float, bytes]:
    """Run one task; return the kind of the reply, the seconds that it took, and its content.

    Each task reads the shared data again, so that no task sees what another has written to them.
    """
    try:
        task = pickle.loads(message)
        function, shared, config, filters = read_shared(file, spans)
    except Exception:  # unpickling runs any code
        return FAILED, 0.0, f"A worker cannot read its task.\n{traceback.format_exc()}".encode()
    connection.send((BEGUN, _memory_before()))
    start = time.monotonic()
    try:
        with config_context(**config), warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.filters[:] = filters  # type: ignore[index]
            result = function(shared, task)
        kind = DONE
    except Exception as error:
        result, kind = _with_traceback(error), RAISED
    except BaseException:  # SystemExit and KeyboardInterrupt of a task do not concern the user's
        return FAILED, time.monotonic() - start, traceback.format_exc().encode()
    seconds = time.monotonic() - start
    try:
        return kind, seconds, _dumps(result)
    except Exception:  # pickling runs any code
        text = f"The result cannot be pickled.\n{traceback.format_exc()}"
        return FAILED, seconds, text.encode()


def _memory_before() -> int:
    """Return the memory in use where it can be measured."""
    try:
        return memory_in_use(os.getpid())
    except (ImportError, OSError):
        return 0


def _with_traceback(error: Exception) -> Exception:
    """Return an exception that the main process can unpickle, with the traceback as a note."""
    text = "".join(traceback.format_exception(error))
    try:
        copied = pickle.loads(_dumps(error))
        copied.add_note(f"In a worker process:\n{text}")
    except Exception:  # pickling runs any code
        return RuntimeError(text)
    return copied
