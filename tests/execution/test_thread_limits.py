"""The number of threads inside a fit, and after it."""

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.svm import SVC
from threadpoolctl import threadpool_info, threadpool_limits

from leavezero.execution import limited_threads, run_tasks

SVC().fit(np.eye(2), [0, 1])  # loads BLAS and OpenMP


def numbers():
    return sorted((pool["filepath"], pool["num_threads"]) for pool in threadpool_info())


def are_limited():
    return {number for _, number in numbers()} == {1}


@pytest.fixture
def two_threads():
    with threadpool_limits(2):
        yield numbers()


def test_one_thread_inside_and_the_same_number_after(two_threads):
    with limited_threads():
        assert are_limited()
        with limited_threads():
            assert are_limited()
        assert are_limited()
    assert numbers() == two_threads


def test_numbers_are_restored_after_an_error(two_threads):
    with pytest.raises(OSError, match="text"), limited_threads():
        raise OSError("text")
    assert numbers() == two_threads


def test_many_python_threads_at_the_same_time(two_threads):
    """Each has one thread all the time, and nothing is left changed."""
    barrier = threading.Barrier(4)

    def work(number):
        found = []
        for _ in range(25):
            with limited_threads():
                found.append(are_limited())
            if number == 0:
                barrier.wait(30)
            else:
                with limited_threads():
                    barrier.wait(30)
                    found.append(are_limited())
        return all(found)

    with ThreadPoolExecutor(4) as executor:
        assert all(executor.map(work, range(4)))
    assert numbers() == two_threads


def test_other_thread_holds_a_limit(two_threads):
    """Then threadpoolctl 3.8 alone would ignore the thread of the fit."""
    with ThreadPoolExecutor(1) as executor:

        def work():
            with limited_threads():
                return are_limited()

        assert executor.submit(work).result()
    assert numbers() == two_threads


def test_number_that_other_code_sets_meanwhile_is_kept(two_threads):
    blas = [name for name, _ in two_threads if "blas" in name]
    limit = limited_threads()
    limit.__enter__()
    threadpool_limits(3, user_api="blas")
    limit.__exit__(None, None, None)
    assert {number for name, number in numbers() if name in blas} <= {2, 3}
    assert {number for name, number in numbers() if name in blas} != {1}


def count_threads(shared, task):
    with limited_threads():
        return {pool["num_threads"] for pool in threadpool_info()}


def test_joblib_threads_do_not_change_the_process(two_threads):
    with parallel_config(backend="threading"):
        found = list(run_tasks(count_threads, None, range(20), n_jobs=2))
    assert all(result == {1} for _, result in found)
    assert numbers() == two_threads
