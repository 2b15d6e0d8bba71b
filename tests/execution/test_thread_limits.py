"""The number of threads inside a task: joblib's rule."""

import os
import sys

import numpy as np
import pytest
from joblib import cpu_count
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

from leavezero.execution import Limits, run_tasks
from leavezero.execution._process_pool import cloudpickle

# Workers cannot import a module that pytest has found by its path.
cloudpickle.register_pickle_by_value(sys.modules[__name__])


def thread_numbers(shared, task):
    SVC().fit(np.eye(2), [0, 1])  # loads BLAS and OpenMP
    return {pool["num_threads"] for pool in threadpool_info()}


@pytest.mark.parametrize("n_jobs", [None, 1])
def test_one_worker_leaves_the_threads_alone(n_jobs):
    for n_threads in (1, 2):
        with threadpool_limits(n_threads):
            expected = thread_numbers(None, None)
            found = dict(run_tasks(thread_numbers, None, [0], n_jobs=n_jobs))
        assert found == {0: expected}


@pytest.mark.parametrize("limits", [None, Limits(timeout=300.0)], ids=["joblib", "process pool"])
def test_workers_share_the_cores(limits, monkeypatch):
    for name in [name for name in os.environ if name.endswith("_NUM_THREADS")]:
        monkeypatch.delenv(name)
    found = dict(run_tasks(thread_numbers, None, [0, 1], n_jobs=2, limits=limits))
    assert set.union(*found.values()) == {max(1, cpu_count() // 2)}


def test_numbers_in_the_environment_count(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    found = dict(run_tasks(thread_numbers, None, [0, 1], n_jobs=2, limits=Limits(timeout=300.0)))
    assert max(set.union(*found.values())) == 2
