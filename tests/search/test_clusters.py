"""Searches on local Dask and Ray clusters, and after the death of joblib's workers."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from leavezero import GridSearchLZO

pytestmark = pytest.mark.filterwarnings("ignore")  # of the clusters

X, y = make_classification(200, 6, flip_y=0.2, random_state=0)


def slow_stump(**params):
    """Return a slow model, whose local class is pickled by value, as one of a notebook is."""

    class Slow(ClassifierMixin, BaseEstimator):
        def __init__(self, number=0, seconds=0.5):
            self.number = number
            self.seconds = seconds

        def fit(self, X, y):
            time.sleep(self.seconds)
            self.classes_ = np.unique(y)
            self.split_ = np.quantile(X[:, 0], self.number / 10)
            return self

        def predict(self, X):
            return self.classes_[(X[:, 0] > self.split_).astype(int)]

    return Slow(**params)


def fit(estimator, grid, **params):
    params = {"n_jobs": 2, "random_state": 0, "n_replicates": 2} | params
    return GridSearchLZO(estimator, grid, **params).fit(X, y)


def fit_svm(**params):
    return fit(SVC(), {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.1, 1]}, **params)


def fit_slow(estimator=None, **params):
    return fit(estimator or slow_stump(), {"number": range(8)}, **params)


def scores(search):
    return search.cv_results_["mean_test_score"]


@pytest.fixture(scope="module")
def expected():
    """Return the scores of searches in this process."""
    return {"svm": scores(fit_svm(n_jobs=1)), "slow": scores(fit_slow(n_jobs=1))}


@pytest.fixture(scope="module")
def dask_client():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def ray():
    ray = pytest.importorskip("ray")
    from ray.util.joblib import register_ray

    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    register_ray()
    yield ray
    ray.shutdown()


@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_results_on_a_cluster_are_the_same(backend, request, expected):
    request.getfixturevalue("dask_client" if backend == "dask" else "ray")
    with parallel_config(backend=backend):
        search = fit_svm()
    np.testing.assert_array_equal(scores(search), expected["svm"])
    assert search.predict(X).shape == y.shape


def test_killed_dask_worker_changes_nothing(dask_client, expected, tmp_path):
    """A checkpoint works on a cluster, too."""
    pid = next(iter(dask_client.run(os.getpid).values()))
    timer = threading.Timer(1.2, os.kill, (pid, signal.SIGKILL))
    timer.start()
    with parallel_config(backend="dask"):
        search = fit_slow(checkpoint=tmp_path / "search.sqlite")
        again = fit_slow(checkpoint=tmp_path / "search.sqlite")
    timer.join()
    np.testing.assert_array_equal(scores(search), expected["slow"])
    np.testing.assert_array_equal(scores(again), expected["slow"])
    assert again.fit_counts_["candidate"] == 0


def test_killed_ray_worker_changes_nothing(ray, expected):
    thread = threading.Thread(target=_kill_a_ray_worker, daemon=True)
    with parallel_config(backend="ray"):
        thread.start()
        search = fit_slow()
    thread.join()
    np.testing.assert_array_equal(scores(search), expected["slow"])


def _kill_a_ray_worker():
    """Kill the process of an actor while it works."""
    psutil = pytest.importorskip("psutil")
    deadline = time.time() + 60
    while time.time() < deadline:
        for process in psutil.process_iter(["cmdline", "pid"]):
            if " ".join(process.info["cmdline"] or []).startswith("ray::PoolActor"):
                time.sleep(0.7)
                os.kill(process.info["pid"], signal.SIGKILL)
                return
        time.sleep(0.1)


def test_dask_example():
    pytest.importorskip("distributed")
    script = Path(__file__).parents[2] / "examples" / "dask_cluster.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "the same scores as on this machine: True" in done.stdout


@pytest.mark.parametrize("n_deaths", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_dead_workers_of_joblib_are_replaced_at_most_twice(n_deaths, tmp_path, expected):
    class Dying(type(slow_stump())):
        def fit(self, X, y):
            if self.number == 3 and len(list(tmp_path.iterdir())) < n_deaths:
                (tmp_path / str(time.time())).touch()
                os._exit(1)
            return super().fit(X, y)

    if n_deaths == 1:
        np.testing.assert_array_equal(scores(fit_slow(Dying(seconds=0.01))), expected["slow"])
    else:
        with pytest.raises(joblib.externals.loky.process_executor.BrokenProcessPool):
            fit_slow(Dying(seconds=0.01))
