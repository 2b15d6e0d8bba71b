"""Tasks that exceed limits or die, in real processes: one is lost, and no other."""

import os
import signal
import subprocess
import sys
import threading
import time
import warnings
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from joblib import Parallel, delayed
from scipy import sparse
from sklearn import config_context, get_config

from leavezero.execution import Limits, TaskEnded, reused_workers, run_tasks
from leavezero.execution import _process_pool as module
from leavezero.execution._process_pool import ALIGNMENT, cloudpickle, read_shared, write_shared

pytestmark = pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="looks at processes as Linux shows them"
)
# Workers cannot import a module that pytest has found by its path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def is_running(pid):
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state not in "ZX"


def are_gone(pids, seconds=20.0):
    """Wait until processes have ended; return whether they have."""
    deadline = time.monotonic() + seconds
    while any(map(is_running, pids)) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not any(map(is_running, pids))


def start_child(path):
    """Start processes in sessions of their own: one without a parent, one without environment."""
    code = "import os, time; {}print(os.getpid()); time.sleep(1000)"
    kinds = [("", "os.fork() and os._exit(0); ", None), (" 2", "", {})]
    # The second is found while its parent lives: not if a later task ends the worker itself.
    for name, fork, env in kinds[: 2 if "nested" in path else 1]:
        with open(path + name, "w") as file:
            command = [sys.executable, "-Suc", code.format(fork)]
            subprocess.Popen(command, stdout=file, start_new_session=True, env=env)
        while not Path(path + name).read_text().strip():
            time.sleep(0.01)


def work(shared, task):
    """Return something simple, or do what no task should."""
    X, folder = shared
    name, number = task
    if name.startswith("child"):
        start_child(f"{folder}/{name}")
    if name == "child nested sleeps":
        Path(folder, "nested").write_text(str(os.getpid()))
        nested = Parallel(2, max_nbytes=1, batch_size=1, pre_dispatch=2)  # few arrays at a time
        nested(delayed(np.sum)(np.ones(10**6)) for _ in range(10**6))
    if name == "sleeps":
        time.sleep(1000)
    if name == "allocates":
        kept = []
        while True:
            kept.append(np.ones(10**6))
            time.sleep(0.001)
    if "exits" in name:
        os._exit(3)
    if name == "closes":  # all descriptors, so the connection, too
        os.closerange(3, 1000)
    if name == "dies once" and not Path(folder, "died").exists():
        Path(folder, "died").touch()
        os.kill(os.getpid(), signal.SIGKILL)
    if name == "forks" and os.fork() == 0:
        return "the result of the fork"
    if name == "interrupts":
        raise KeyboardInterrupt
    if name == "leaves":
        sys.exit(3)
    if name == "locks":
        return threading.Lock()
    if name == "raises":
        raise ZeroDivisionError("text of the error")
    if name == "writes":
        X[:] = -1.0
    if name == "config":
        return get_config()["assume_finite"], warnings.filters[0][0]
    return float(X.sum()) + number, os.getpid()


def tasks_of(*names):
    return [(name, number) for number, name in enumerate(names)]


def run(tasks, folder, n_jobs=1, **limits):
    """Return the results of tasks by name, and how many there were."""
    shared = (np.ones((50, 2)), str(folder))
    with closing(run_tasks(work, shared, tasks, n_jobs=n_jobs, limits=Limits(**limits))) as results:
        return {tasks[index]: result for index, result in results}


FAULTS = [
    "child nested sleeps",
    "allocates",
    "child exits",
    "closes",
    "dies once",
    "interrupts",
    "leaves",
    "locks",
]
HEALTHY = ["fine", "writes", "forks", "config", "child", *["fine"] * 8]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("tasks")


@pytest.fixture(scope="module")
def mixed(folder):
    """Return the results of faulty and healthy tasks in one call, and what it left."""
    temporary = folder / "temporary"
    temporary.mkdir()
    tasks = tasks_of(*FAULTS, *HEALTHY)
    with pytest.MonkeyPatch.context() as patch, config_context(assume_finite=True):
        patch.setenv("JOBLIB_TEMP_FOLDER", str(temporary))
        with warnings.catch_warnings():
            warnings.simplefilter("once")
            found = run(tasks, folder, n_jobs=2, timeout=1.5, memory_limit=10**8)
    left = {entry.name for entry in temporary.iterdir()}
    return {"results": {name: found[name, at] for name, at in tasks}, "found": found, "left": left}


@pytest.mark.parametrize(
    ("name", "limit", "value", "text"),
    [
        ("child nested sleeps", "timeout", 1.5, "exceeded timeout=1.5 seconds"),
        ("allocates", "memory_limit", 10**8, "exceeded memory_limit=100000000 bytes"),
        ("child exits", "died", 3, "its process ended with exit code 3, twice"),
        ("closes", "died", -signal.SIGKILL, "its process closed its connection, twice"),
        ("interrupts", "failed", 0, "KeyboardInterrupt"),
        ("leaves", "failed", 0, "SystemExit: 3"),
        ("locks", "failed", 0, "The result cannot be pickled"),
    ],
)
def test_one_fault_costs_one_task(mixed, name, limit, value, text):
    ended = mixed["results"][name]
    assert isinstance(ended, TaskEnded)
    assert (ended.limit, ended.value) == (limit, value)
    assert text in str(ended)
    assert limit != "timeout" or ended.seconds >= 1.5


def test_healthy_tasks_are_not_affected(mixed):
    """Not by what others write to the shared data either, nor by one that dies only once."""
    for (name, number), result in mixed["found"].items():
        if name in ("fine", "forks", "child", "dies once"):
            assert result[0] == 100.0 + number
    assert mixed["results"]["writes"][0] < 0
    assert mixed["results"]["config"] == (True, "once")


def test_nothing_is_left(mixed, folder):
    """No descendants, not even those in other sessions, and no files."""
    pids = [mixed["results"][name][1] for name in ("fine", "writes", "forks", "dies once")]
    children = [int(path.read_text()) for path in folder.glob("child*")]
    assert len(children) == 4
    assert are_gone(pids + children, seconds=0.0)
    assert mixed["left"] == set()
    pid = int((folder / "nested").read_text())
    assert not list(Path("/dev/shm").glob(f"*loky*-{pid}-*"))


def test_workers_are_reused_until_the_end_of_the_context(folder):
    """Also after a call that was not finished; what a call shares replaces that of the last one."""
    pids = []
    with reused_workers(Limits(timeout=60.0)) as limits:
        for number in range(3):
            shared = (np.full(2, number), str(folder))
            tasks = tasks_of("fine", *["sleeps"] * (number == 1))
            with closing(run_tasks(work, shared, tasks, n_jobs=1, limits=limits)) as results:
                _, (total, pid) = next(results)
                if number == 1:  # the second task begins
                    limits.pool.assign()
            assert total == 2 * number
            pids.append(pid)
        assert is_running(pids[2])
    assert pids[0] == pids[1] != pids[2]
    assert are_gone(pids, seconds=0.0)


def test_budget_ends_running_tasks_and_begins_no_other(folder, tmp_path):
    """The start of the worker, which takes longer than the budget, does not count."""
    tasks = tasks_of("fine", "sleeps", "fine", "fine")
    found = run(tasks, folder, time_budget=0.5)
    assert found["fine", 0][0] == 100.0
    for task in tasks[1:]:
        assert found[task].limit == "time_budget"
        assert found[task].value == 0.5
    assert found["sleeps", 1].seconds > 0
    assert found["fine", 3].seconds == 0


def test_exceptions_are_raised_with_their_traceback(folder):
    begun = []
    shared = (np.ones((50, 2)), str(folder))
    tasks = tasks_of("fine", "raises", "sleeps")
    with (
        closing(run_tasks(work, shared, tasks, n_jobs=1, limits=Limits(timeout=60.0))) as results,
        pytest.raises(ZeroDivisionError, match="text of the error") as caught,
    ):
        begun.extend(result for _, result in results)
    [note] = caught.value.__notes__
    assert "in work" in note
    assert are_gone([begun[0][1]] if begun else [], seconds=0.0)


def test_workers_that_cannot_start_are_an_error(folder, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")
    with pytest.raises(RuntimeError, match="3 worker processes ended while they were starting"):
        run(tasks_of("fine"), folder, timeout=60.0)


def test_spent_budget_starts_no_process(folder, monkeypatch):
    monkeypatch.setattr(sys, "executable", "/does/not/exist")
    found = run(tasks_of("fine", "fine"), folder, time_budget=1e-9)
    assert {ended.limit for ended in found.values()} == {"time_budget"}
    assert run([], folder, timeout=1.0) == {}


def test_share_of_the_time_budget_ends_tasks_once_two_have_finished(folder):
    found = run(tasks_of("fine", "fine", "fine"), folder, time_budget=1000, share=1e-9)
    assert [found["fine", at][0] for at in (0, 1)] == [100.0, 101.0]
    assert found["fine", 2].limit == "time_budget"


def test_folder_of_workers_is_private():
    with closing(module.WorkerPool()) as pool:
        assert Path(pool._folder).stat().st_mode & 0o777 == 0o700


def test_data_that_cannot_be_pickled_leave_nothing(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    with pytest.raises(TypeError, match="cannot pickle"):
        list(run_tasks(work, threading.Lock(), [1], n_jobs=1, limits=Limits(timeout=1.0)))
    assert not list(tmp_path.iterdir())


tables = arrays.arrays(
    st.sampled_from(["f8", "f4", "i2", "U3", "M8[s]", "?"]),
    arrays.array_shapes(max_dims=3, min_side=0),
)


@given(st.lists(tables, max_size=4), st.booleans())
def test_shared_arrays_are_read_as_they_were(tmp_path_factory, tables, fortran):
    """By bytes, dtype and order in memory; each begins where numpy's own would."""
    path = tmp_path_factory.getbasetemp() / "shared"
    tables = [np.asfortranarray(one) if fortran else one for one in tables]
    spans = write_shared(path, {"arrays": tables, "text": "kept"})
    with open(path, "rb") as file:
        found = read_shared(file, spans)
    assert found["text"] == "kept"
    assert all(start % ALIGNMENT == 0 for start, _ in spans)
    for one, other in zip(tables, found["arrays"], strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
        assert one.flags.f_contiguous == other.flags.f_contiguous


def test_written_data_are_private(tmp_path):
    """The next reader finds what was stored; read-only arrays stay so."""
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    spans = write_shared(tmp_path / "shared", [np.arange(3.0), fixed])
    with open(tmp_path / "shared", "rb") as file:
        first, still_fixed = read_shared(file, spans)
        first[:] = -1
        again, _ = read_shared(file, spans)
    np.testing.assert_array_equal(again, np.arange(3.0))
    with pytest.raises(ValueError, match="read-only"):
        still_fixed[0] = 1


def test_frames_matrices_and_lambdas_are_shared(tmp_path):
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])})
    content = [frame, sparse.eye(3).tocsr(), lambda value: value + 1]
    spans = write_shared(tmp_path / "shared", content)
    with open(tmp_path / "shared", "rb") as file:
        found, matrix, function = read_shared(file, spans)
    pd.testing.assert_frame_equal(found, frame)
    assert (matrix != sparse.eye(3)).nnz == 0
    assert function(1) == 2


def test_folder_without_space_is_named(monkeypatch, tmp_path):
    """A limit of the system for the size of files acts as a full disk; nothing is left."""
    import resource

    monkeypatch.setenv("JOBLIB_TEMP_FOLDER", str(tmp_path))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
    try:
        with pytest.raises(OSError, match=r"cannot be written: .* Set TMPDIR") as caught:
            list(run_tasks(work, np.ones(10**4), [1], n_jobs=1, limits=Limits(timeout=1.0)))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert str(tmp_path) in caught.value.filename
    assert not list(tmp_path.iterdir())
