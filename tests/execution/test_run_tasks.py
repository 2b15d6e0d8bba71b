"""Tasks on joblib's backends: any order, the same results, lost workers."""

import logging
import os
import signal
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from joblib._parallel_backends import SequentialBackend

from leavezero.execution import Limits, run_tasks
from leavezero.execution._process_pool import cloudpickle
from leavezero.execution._run_tasks import _Holder, is_lost_worker

# Workers cannot import a module that pytest has found by its path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])

X = np.ones((600, 400))  # more than a megabyte, so that joblib maps it


def work(shared, task):
    """Return a sum; or kill the process, once."""
    if isinstance(task, str):
        if not Path(task).exists():
            Path(task).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return 0.0
    if task < 0:
        raise ZeroDivisionError("a negative task")
    return float(shared["X"].sum()) + task


EXPECTED = {index: X.sum() + index for index in range(7)}


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
@pytest.mark.parametrize("one_by_one", [True, False])
def test_results_do_not_depend_on_the_backend(backend, one_by_one):
    with parallel_config(backend=backend):
        found = run_tasks(work, {"X": X}, range(7), n_jobs=2, one_by_one=one_by_one)
        assert dict(found) == EXPECTED


def test_tasks_begin_in_their_order():
    begun = []

    def note(shared, task):
        begun.append(task)
        return task

    assert dict(run_tasks(note, None, "abc", n_jobs=1)) == {0: "a", 1: "b", 2: "c"}
    assert begun == ["a", "b", "c"]
    assert dict(run_tasks(note, None, [], n_jobs=2)) == {}


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_exceptions_are_raised(backend):
    with parallel_config(backend=backend), pytest.raises(ZeroDivisionError, match="a negative"):
        list(run_tasks(work, {"X": X}, [1, -1, 2], n_jobs=2))


def test_iterator_can_be_closed_early():
    """Without joblib's warning of unused results, which would be an error here."""
    with (
        parallel_config(backend="threading"),
        closing(run_tasks(work, {"X": X}, range(4), n_jobs=2, one_by_one=True)) as results,
    ):
        next(results)
        time.sleep(1)  # until the others have finished: scikit-learn's tasks set warning filters


@pytest.mark.skipif(sys.platform == "win32", reason="sends signals")
def test_tasks_of_a_lost_worker_start_again(tmp_path, caplog):
    tasks = [0, 1, str(tmp_path / "died"), 3]
    with caplog.at_level(logging.WARNING, "leavezero"):
        found = dict(run_tasks(work, {"X": X}, tasks, n_jobs=2, one_by_one=True))
    assert found == {0: X.sum(), 1: X.sum() + 1, 2: 0.0, 3: X.sum() + 3}
    assert "A worker was lost" in caplog.text


def test_three_lost_workers_are_an_error(caplog):
    begun = []

    def lose(shared, task):
        begun.append(task)
        if task == 1:
            raise BrokenProcessPool("a worker was lost")
        return task

    found = []
    with pytest.raises(BrokenProcessPool):
        found.extend(run_tasks(lose, None, [0, 1, 2], n_jobs=1))
    assert begun == [0, 1, 1, 1]
    assert caplog.text.count("A worker was lost; 2 tasks are started again") == 2


def test_limits_require_this_machine():
    class RemoteBackend(SequentialBackend):
        """A backend that is not one of joblib's own."""

    with (
        parallel_config(backend=RemoteBackend()),
        pytest.raises(ValueError, match="joblib's active backend is RemoteBackend"),
    ):
        run_tasks(work, None, [1], n_jobs=1, limits=Limits(timeout=1.0))


def test_errors_of_clusters_are_lost_workers():
    lost = type("KilledWorker", (Exception,), {"__module__": "distributed.scheduler"})
    own = type("RayTaskError(ValueError)", (Exception,), {"__module__": "ray.exceptions"})
    assert is_lost_worker(lost())
    assert not is_lost_worker(own())


def test_dask_sends_shared_data_once():
    """It does so for arguments that are larger than this."""
    assert sys.getsizeof(_Holder(None)) > 1e3
