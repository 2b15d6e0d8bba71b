"""The number of threads inside a task, by joblib's rule, and after a search."""

import os
import sys

import numpy as np
import pytest
from joblib import Parallel, cpu_count, delayed, parallel_config
from sklearn.linear_model import Ridge
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

from leavezero import GridSearchLZO
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


# Before NumPy 2, leaving np.errstate in one thread can reset it in another.
@pytest.mark.filterwarnings("ignore:invalid value encountered in divide:RuntimeWarning")
@pytest.mark.parametrize("backend", ["threading", "loky"])
def test_searches_restore_threads_and_random_state(backend, rng):
    """Also two searches at once, in two threads: k-means limits the threads of BLAS."""
    X = rng.normal(size=(60, 3))
    search = GridSearchLZO(Ridge(), {"alpha": [0.1, 1.0]}, n_jobs=2, n_replicates=1, random_state=0)
    before = np.random.get_state()[1].tolist()  # noqa: NPY002 - not of a search
    with threadpool_limits(2), parallel_config(backend=backend):
        expected = thread_numbers(None, None)
        search.fit(X, X[:, 0])
        searches = [delayed(search.set_params(n_jobs=1).fit)(X, X[:, 0]) for _ in range(2)]
        Parallel(2, backend="threading")(searches)
        assert thread_numbers(None, None) == expected == {2}
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
