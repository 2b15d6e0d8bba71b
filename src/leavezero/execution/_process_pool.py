"""Worker processes that run tasks under limits, and can be killed one by one.

joblib cannot end a single task, and one dead worker ends its whole call. The processes here are
plain subprocesses, each with a pipe to the main process: they do not run the user's script again.
"""

import atexit
import mmap
import os
import pickle
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import uuid
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from multiprocessing import Pipe
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import IO, Any

from joblib import cpu_count
from sklearn import config_context, get_config

from leavezero.execution._resource_limits import STATM, Limits, TaskEnded, memory_in_use

try:  # a dependency of joblib from 1.6 on, part of it before
    import cloudpickle
except ImportError:
    from joblib.externals import cloudpickle
if sys.platform == "win32":
    from multiprocessing.connection import PipeConnection as Connection

START_SECONDS = 300.0  # until a worker must have imported what it needs
MAX_FAILED_STARTS = 3
MAX_DEATHS = 2  # of workers, for which one task may be the reason
LEFT_MEMORY = 0.25  # of memory_limit, above which a worker is replaced after a task
EXIT_SECONDS = 1.0  # for a worker that has closed its connection to exit
KILL_SECONDS = 5.0
MEMORY_INTERVAL = 0.02  # seconds between two measurements
EXIT_INTERVAL = 0.25  # seconds between two looks at exit codes
ALIGNMENT = 64  # bytes
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
)
MARK = "LEAVEZERO_WORKER"  # environment variable by which descendants of a worker are found

READY, BEGUN, DONE, RAISED, FAILED = range(5)
Spans = list[tuple[int, int]]  # start and length of the parts of a file


def run_in_processes(
    function: Callable[[Any, Any], Any],
    shared: Any,
    tasks: Iterable[Any],
    n_jobs: int,
    limits: Limits,
    timeout_factor: Callable[[Any], float] | None = None,
) -> Iterator[tuple[int, Any]]:
    """Yield (index of task, result) as tasks finish; see `run_tasks`."""
    factor = timeout_factor or (lambda task: 1.0)
    timeout = limits.timeout or float("inf")
    queue = [_Task(at, task, timeout * factor(task)) for at, task in enumerate(tasks)]
    pool: WorkerPool = limits.pool or WorkerPool()
    try:
        pool.begin(queue, n_jobs, limits)
        if not limits.spent():
            pool.start_missing()  # first, since they remove the data if this process is killed
        pool.share((function, shared, get_config(), list(warnings.filters)))
        while pool.unfinished and not limits.all_spent():
            # with one result there is nothing to compare
            if limits.spent() and len(pool.unfinished) + min(2, len(queue)) <= len(queue):
                break
            pool.assign()
            yield from pool.collect()
        pool.end_running()
        for task in pool.unfinished.values():
            assert limits.time_budget is not None
            yield task.index, TaskEnded("time_budget", limits.time_budget, task.seconds)
    finally:
        if limits.pool is None:
            pool.close()
        else:
            pool.end_running()


@contextmanager
def reused_workers(limits: Limits) -> Iterator[Limits]:
    """Return the limits with a pool whose idle workers serve all calls inside of the context."""
    with closing(WorkerPool()) as pool:
        yield replace(limits, pool=pool)


@dataclass(eq=False)
class _Task:
    """A task in the queue."""

    index: int
    content: Any
    timeout: float
    n_deaths: int = 0
    seconds: float = 0.0  # how long it ran before the time budget was spent


@dataclass(eq=False)
class _Worker:
    """A process with the pipe to it; ``task`` is None while it starts and while it is idle."""

    process: "subprocess.Popen[bytes]"
    connection: "Connection[Any, Any]"
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

    def has_message(self) -> bool:
        """Return True if reading would not wait, also where the other end is closed."""
        try:
            return self.connection.poll()
        except OSError:
            return True


class WorkerPool:
    """Worker processes, and the schedule of one call at a time."""

    def __init__(self) -> None:
        self._workers: list[_Worker] = []
        self._shared: tuple[str, Spans] | None = None
        self._pid = os.getpid()
        # If this process is killed, its workers remove the folder.
        outer = os.environ.get("JOBLIB_TEMP_FOLDER", "")
        self._folder = tempfile.mkdtemp(
            prefix="leavezero-", dir=outer if os.path.isdir(outer) else None
        )
        atexit.register(self.close)

    def begin(self, tasks: Iterable[_Task], n_workers: int, limits: Limits) -> None:
        """Begin a call; workers that have died since the last one are dropped."""
        self._queue = deque(tasks)
        self._again: deque[_Task] = deque()  # their worker died; they run when nothing else does
        self.unfinished = {task.index: task for task in self._queue}
        self._n_workers = n_workers
        self._limits = limits
        self._n_failed_starts = 0
        for worker in list(self._workers):
            if worker.process.poll() is not None:
                self._kill(worker)

    def share(self, content: Any) -> None:
        """Write what all workers need to a file that they map; remove that of the last call."""
        if self._shared is not None:
            with suppress(OSError):  # Windows does not remove a file that is mapped
                os.unlink(self._shared[0])
        path = os.path.join(self._folder, uuid.uuid4().hex)
        self._shared = path, write_shared(path, content)

    def start_missing(self) -> None:
        """Start as many workers as have something to do."""
        while len(self._workers) < min(self._n_workers, len(self.unfinished)):
            self._start()

    def assign(self) -> None:
        """Start missing workers, and give a task to each idle one."""
        self.start_missing()
        for worker in self._workers:
            if worker.is_ready and worker.task is None:
                if self._queue:
                    self._give(worker, self._queue.popleft())
                elif self._again and not any(other.task for other in self._workers):
                    self._give(worker, self._again.popleft())

    def collect(self) -> Iterator[tuple[int, Any]]:
        """Wait until something happens, and yield what has finished."""
        # Until a task runs, workers are starting, which the time budget does not include.
        is_running = any(worker.begun is not None for worker in self._workers)
        with nullcontext() if is_running else self._limits.clock.paused():
            wait([worker.connection for worker in self._workers], self._patience())
        for worker in list(self._workers):
            yield from self._attend(worker)

    def end_running(self) -> None:
        """Kill the workers that run a task."""
        for worker in list(self._workers):
            if worker.task is not None:
                worker.task.seconds = worker.seconds
                self._kill(worker)

    def close(self) -> None:
        """Kill all workers and remove their files, unless this is a fork of the main process."""
        if os.getpid() == self._pid:
            while self._workers:
                self._kill(self._workers[-1])
            shutil.rmtree(self._folder, ignore_errors=True)
            atexit.unregister(self.close)

    def _start(self) -> None:
        """Start a process, which takes as long as its imports; several start at the same time."""
        mark = f"{os.environ.get(MARK, '')}/{uuid.uuid4().hex}"  # a worker may have a pool, too
        ours, theirs = Pipe()
        path = [entry for entry in sys.path if isinstance(entry, str)]
        is_measured = self._limits.memory_limit is not None
        code = (
            f"import sys; sys.path[:] = {path!r}; "
            "from leavezero.execution._process_pool import serve; "
            f"serve({theirs.fileno()}, {self._pid}, {mark!r}, {self._folder!r}, {is_measured})"
        )
        with theirs:
            process = subprocess.Popen(
                [sys.executable, "-c", code],
                stdin=subprocess.DEVNULL,
                # The copies of data that estimators with n_jobs make are removed with the folder.
                env=self._thread_numbers()
                | os.environ
                | {MARK: mark, "JOBLIB_TEMP_FOLDER": self._folder},
                **_popen_options(theirs.fileno()),
            )
        self._workers.append(_Worker(process, ours, mark, time.monotonic()))

    def _thread_numbers(self) -> dict[str, str]:
        """Return joblib's limits of inner threads: the cores divided by the workers."""
        if self._n_workers == 1:
            return {}
        n_threads = max(1, cpu_count() // self._n_workers)
        return dict.fromkeys(THREAD_VARIABLES, str(n_threads))

    def _give(self, worker: _Worker, task: _Task) -> None:
        message = pickle.dumps((self._shared, dumps(task.content)))
        worker.task, worker.begun = task, None
        with suppress(OSError):
            worker.connection.send_bytes(message)

    def _patience(self) -> float:
        """Return the seconds until the next thing must be looked at."""
        busy = [worker for worker in self._workers if worker.task and worker.begun is not None]
        seconds = [worker.task.timeout - worker.seconds for worker in busy if worker.task]
        if busy and (remaining := self._limits.remaining()) is not None and remaining > 0:
            seconds.append(remaining)
        is_measured = busy and self._limits.memory_limit is not None
        return max(0.0, min([MEMORY_INTERVAL if is_measured else EXIT_INTERVAL, *seconds]))

    def _attend(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        """Read a message of a worker, or end it if it exceeds a limit."""
        has_exited = worker.process.poll() is not None  # before its last message is looked for
        limits, task = self._limits, worker.task
        is_late = not worker.is_ready and time.monotonic() > worker.launched + START_SECONDS
        if worker.has_message():
            yield from self._receive(worker)
        elif has_exited or is_late:  # a process that it has started may keep the connection open
            yield from self._lose(worker)
        elif task is None or worker.begun is None:
            return
        elif limits.memory_limit is not None and self._memory(worker) > limits.memory_limit:
            ended = TaskEnded("memory_limit", limits.memory_limit, worker.seconds)
            yield self._finish(worker, ended, True)
        elif worker.seconds > task.timeout:  # on a busy machine, both may be seen at once
            assert limits.timeout is not None
            yield self._finish(worker, TaskEnded("timeout", limits.timeout, worker.seconds), True)

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
            # The next task must not be ended for the memory that this one has left.
            allowed = LEFT_MEMORY * (self._limits.memory_limit or 0)
            yield self._finish(worker, result, self._memory(worker) > allowed)

    def _result(self, worker: _Worker, kind: int, seconds: float, content: bytes) -> Any:
        """Return the result of a task, or raise what the task has raised."""
        # The worker's own clock counts: nobody looks at deadlines while this process is stopped.
        if worker.task is not None and seconds > worker.task.timeout:
            return TaskEnded("timeout", self._limits.timeout or 0.0, seconds)
        if kind == FAILED:
            return TaskEnded("failed", 0.0, seconds, content.decode())
        try:
            result = pickle.loads(content)
        except Exception:  # unpickling runs any code
            return TaskEnded("failed", 0.0, seconds, traceback.format_exc())
        if kind == RAISED:
            raise result
        return result

    def _finish(self, worker: _Worker, result: Any, kill: bool = False) -> tuple[int, Any]:
        """Return what to yield for a worker's task."""
        assert worker.task is not None
        index = worker.task.index
        worker.task, worker.begun = None, None
        del self.unfinished[index]
        if kill:
            self._kill(worker)
        return index, result

    def _lose(self, worker: _Worker) -> Iterator[tuple[int, Any]]:
        """Reap a dead worker; its task runs once more, alone, and then counts as the reason."""
        task, seconds = worker.task, worker.seconds
        with suppress(subprocess.TimeoutExpired):
            worker.process.wait(EXIT_SECONDS)
        has_exited = worker.process.poll() is not None
        self._kill(worker)
        code = worker.process.returncode
        if task is not None and task.n_deaths + 1 == MAX_DEATHS:
            detail = "" if has_exited else "its process closed its connection, twice"
            yield self._finish(worker, TaskEnded("died", code, seconds, detail))
        elif task is not None:
            task.n_deaths += 1
            self._again.append(task)
        elif not worker.is_ready:
            self._n_failed_starts += 1
            if self._n_failed_starts == MAX_FAILED_STARTS:
                raise RuntimeError(
                    f"{MAX_FAILED_STARTS} worker processes ended while they were starting, the "
                    f"last with exit code {code}. Without timeout, time_budget and memory_limit "
                    "none is needed."
                )

    def _memory(self, worker: _Worker) -> float:
        """Return the bytes that a worker uses above what it began with; 0 if it is not limited."""
        if self._limits.memory_limit is None or worker.memory_before is None:
            return 0.0
        try:
            return memory_in_use(worker.process.pid) - worker.memory_before
        except OSError:  # it has died
            return 0.0

    def _kill(self, worker: _Worker) -> None:
        """Kill a worker with its descendants, reap it, and remove its semaphores."""
        _kill_tree(worker.process.pid, worker.mark)
        worker.process.kill()
        worker.process.wait()
        worker.connection.close()
        self._workers.remove(worker)
        for path in Path("/dev/shm").glob(f"sem.loky-{worker.process.pid}-*"):
            path.unlink(missing_ok=True)


def _popen_options(handle: int) -> dict[str, Any]:
    """Return the options of a subprocess that inherits a handle, away from Ctrl-C."""
    if sys.platform != "win32":
        return {"pass_fds": [handle], "start_new_session": True}
    os.set_handle_inheritable(handle, True)
    information = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
    return {"startupinfo": information, "creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}


def _kill_tree(pid: int, mark: str, spared: int | None = None) -> None:
    """Kill a worker and all that it has started, on Linux also in other sessions.

    A worker that kills itself spares itself until all others are gone.
    """
    deadline = time.monotonic() + KILL_SECONDS
    while STATM.exists() and (found := _marked_processes(mark, spared)):
        for own in found:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(own, signal.SIGKILL)
        if time.monotonic() > deadline:
            break
        time.sleep(0.002)
    if sys.platform == "win32":
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True)
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)


def _marked_processes(mark: str, spared: int | None) -> set[int]:
    """Return the processes with a worker's mark in any session, and all their descendants."""
    found, parents = set(), {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it has ended, or is not ours
            state, parent, *_ = (folder / "stat").read_text().rpartition(")")[2].split()
            if state not in "ZX":
                parents[int(folder.name)] = int(parent)
                if f"{MARK}={mark}".encode() in (folder / "environ").read_bytes():
                    found.add(int(folder.name))
    # The environment of a child may have been replaced.
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {spared}


def write_shared(path: str, content: Any) -> Spans:
    """Write an object to a file, with its arrays after the rest; return the places of the parts."""
    buffers: list[pickle.PickleBuffer] = []
    skeleton = dumps(content, buffers.append)
    spans: Spans = []
    try:
        with open(path, "wb") as file:
            for part in (memoryview(skeleton), *(buffer.raw() for buffer in buffers)):
                start = -(-file.tell() // ALIGNMENT) * ALIGNMENT
                file.seek(start)
                file.write(part)
                spans.append((start, part.nbytes))
    except OSError as error:
        text = f"The data for worker processes cannot be written: {error.strerror}. Set TMPDIR to "
        raise OSError(error.errno, text + "a folder with more space", path) from error
    return spans


def read_shared(file: IO[bytes], spans: Spans) -> Any:
    """Return the object of a file; its arrays are mapped, and written to only as private copies."""
    whole = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY))
    skeleton, *buffers = (whole[start : start + size] for start, size in spans)
    return pickle.loads(skeleton, buffers=buffers)


def dumps(content: Any, buffer_callback: Any = None) -> bytes:
    """Pickle an object; what is defined in a script or notebook, by its content."""
    return cloudpickle.dumps(content, pickle.HIGHEST_PROTOCOL, buffer_callback=buffer_callback)


def serve(handle: int, parent: int, mark: str, folder: str, is_measured: bool) -> None:
    """Run tasks in a worker process until it is killed, or the main process has ended."""
    connection, pid = Connection(handle), os.getpid()
    running: list[bytes] = []  # the message of the task that runs

    def watch() -> None:
        _wait_for_end(parent, connection, running)
        _end_worker(parent, mark, folder)

    threading.Thread(target=watch, daemon=True).start()
    with suppress(EOFError, OSError):
        connection.send((READY, 0))
        while True:
            running.append(connection.recv_bytes())
            kind, seconds, content = _run(connection, running[0], is_measured)
            running.clear()
            if os.getpid() != pid:  # a fork that a task has made
                os._exit(0)
            connection.send((kind, seconds))
            connection.send_bytes(content)
    _end_worker(parent, mark, folder)


def _end_worker(parent: int, mark: str, folder: str) -> None:
    """End this process, and remove the folder if the main process has ended.

    If it has not, a task has closed the connection, and others still need the folder.
    """
    deadline = time.monotonic() + 2 * EXIT_SECONDS  # a connection is closed before its process ends
    while _is_child(parent) and time.monotonic() < deadline:
        time.sleep(0.01)
    if not _is_child(parent):
        shutil.rmtree(folder, ignore_errors=True)
    _kill_tree(os.getpid(), mark, spared=os.getpid())
    os._exit(1)


def _is_child(parent: int) -> bool:
    """Return True if the main process is known to be alive; on Windows it is not."""
    return sys.platform != "win32" and os.getppid() == parent


def _wait_for_end(parent: int, connection: "Connection[Any, Any]", running: list[bytes]) -> None:
    """Wait until the main process ends, which is noticed while a task is running."""
    while sys.platform == "win32" or _is_child(parent):
        time.sleep(0.5)
        before = running[:]
        try:
            # During a task no message is expected: the connection is closed.
            if before and connection.poll() and running and running[0] is before[0]:
                return
        except OSError:
            return


def _run(
    connection: "Connection[Any, Any]", message: bytes, is_measured: bool
) -> tuple[int, float, bytes]:
    """Run one task; return the kind of the reply, the seconds that it took, and its content.

    Each task reads the shared data again, so that no task sees what another has written to them.
    """
    try:
        (path, spans), content = pickle.loads(message)
        task = pickle.loads(content)
        with open(path, "rb") as file:
            function, shared, config, filters = read_shared(file, spans)
    except Exception:  # unpickling runs any code
        return FAILED, 0.0, f"A worker cannot read its task.\n{traceback.format_exc()}".encode()
    connection.send((BEGUN, memory_in_use(os.getpid()) if is_measured else 0))
    start = time.monotonic()
    try:
        with config_context(**config), warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.filters[:] = filters  # type: ignore[index]  # typed as a Sequence, is a list
            result = function(shared, task)
        kind = DONE
    except Exception as error:
        result, kind = _with_traceback(error), RAISED
    except BaseException:  # SystemExit and KeyboardInterrupt of a task do not concern the user's
        return FAILED, time.monotonic() - start, traceback.format_exc().encode()
    seconds = time.monotonic() - start
    try:
        return kind, seconds, dumps(result)
    except Exception:  # pickling runs any code
        text = f"The result cannot be pickled.\n{traceback.format_exc()}"
        return FAILED, seconds, text.encode()


def _with_traceback(error: Exception) -> Exception:
    """Return an exception that the main process can unpickle, with the traceback as a note."""
    text = "".join(traceback.format_exception(error))
    try:
        copied = pickle.loads(dumps(error))
        copied.add_note(f"In a worker process:\n{text}")
    except Exception:  # pickling runs any code
        return RuntimeError(text)
    return copied
