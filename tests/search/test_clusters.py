"""Searches on real local clusters: the same results as without, also when a worker is killed."""

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

pytestmark = pytest.mark.filterwarnings("ignore")  # the clusters' own

X, Y = make_classification(200, 6, flip_y=0.2, random_state=0)
GRID = {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.1, 1]}


def slow_stump(**params):
    """Return a model that takes a while; its class travels by its content, as one of a notebook."""

    class Slow(ClassifierMixin, BaseEstimator):
        """Takes a while, so that a worker can be killed at work."""

        def __init__(self, number=0, seconds=0.5):
            self.number = number
            self.seconds = seconds

        def fit(self, X, y):
            time.sleep(self.seconds)
            self.classes_ = np.unique(y)
            self.at_ = np.quantile(X[:, 0], self.number / 10)
            return self

        def predict(self, X):
            return self.classes_[(X[:, 0] > self.at_).astype(int)]

    return Slow(**params)


def grid_search(**more):
    given = {"n_jobs": 2, "random_state": 0, "n_replicates": 2} | more
    return GridSearchLZO(SVC(), GRID, **given)


def slow_search(**more):
    grid = {"number": range(8)}
    given = {"n_jobs": 2, "random_state": 0, "n_replicates": 2} | more
    return GridSearchLZO(slow_stump(), grid, **given)


def scores(search):
    return search.cv_results_["mean_test_score"]


def kill_after(seconds, pid):
    def kill():
        time.sleep(seconds)
        os.kill(pid, signal.SIGKILL)

    thread = threading.Thread(target=kill, daemon=True)
    thread.start()
    return thread


@pytest.fixture(scope="module")
def references():
    """Return the scores of searches in this process."""
    grid, slow = grid_search(n_jobs=1).fit(X, Y), slow_search(n_jobs=1).fit(X, Y)
    return {"grid": scores(grid), "slow": scores(slow)}


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


def test_dask_gives_the_same_results_and_gets_the_data_once(dask_client, references):
    """Scores are equal bit for bit; the job lies in the workers' memory as one object."""
    with parallel_config(backend="dask"):
        search = grid_search().fit(X, Y)
    np.testing.assert_array_equal(scores(search), references["grid"])
    assert search.predict(X).shape == Y.shape


def test_a_killed_dask_worker_changes_nothing(dask_client, references, tmp_path):
    """Its work is done again; a journal works there too, and what it holds is not fitted again."""
    pids = dask_client.run(os.getpid)
    thread = kill_after(1.2, next(iter(pids.values())))
    with parallel_config(backend="dask"):
        search = slow_search(checkpoint=tmp_path / "search.sqlite").fit(X, Y)
        again = slow_search(checkpoint=tmp_path / "search.sqlite").fit(X, Y)
    thread.join()
    np.testing.assert_array_equal(scores(search), references["slow"])
    np.testing.assert_array_equal(scores(again), references["slow"])
    assert again.fit_counts_["candidate"] == 0


def test_the_example_runs():
    """As a script, which Dask's workers import."""
    pytest.importorskip("distributed")
    script = Path(__file__).parents[2] / "examples" / "dask_cluster.py"
    told = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "the same scores as on this machine: True" in told.stdout


def test_ray_gives_the_same_results(ray, references):
    """Scores are equal bit for bit."""
    with parallel_config(backend="ray"):
        search = grid_search().fit(X, Y)
    np.testing.assert_array_equal(scores(search), references["grid"])


def test_a_killed_ray_worker_changes_nothing(ray, references):
    """Its work is done again."""
    with parallel_config(backend="ray"):
        thread = threading.Thread(target=_kill_a_ray_worker, daemon=True)
        thread.start()
        search = slow_search().fit(X, Y)
    thread.join()
    np.testing.assert_array_equal(scores(search), references["slow"])


def _kill_a_ray_worker():
    """Kill the process of one of the pool's actors while it works."""
    psutil = pytest.importorskip("psutil")
    deadline = time.time() + 60
    while time.time() < deadline:
        for process in psutil.process_iter(["cmdline", "pid"]):
            line = " ".join(process.info["cmdline"] or [])
            if line.startswith("ray::PoolActor"):
                time.sleep(0.7)
                os.kill(process.info["pid"], signal.SIGKILL)
                return
        time.sleep(0.1)


@pytest.mark.parametrize("n_deaths", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_lost_workers_of_this_machine_are_replaced_a_few_times(n_deaths, tmp_path, references):
    """Of a worker killed once nothing is seen; a candidate that always kills its own ends it."""

    def dies(path):
        if len(list(path.iterdir())) < n_deaths:
            (path / str(time.time())).touch()
            os._exit(1)

    class Dying(type(slow_stump())):
        def fit(self, X, y):
            if self.number == 3:
                dies(tmp_path)
            return super().fit(X, y)

    search = slow_search()
    search.set_params(estimator=Dying(seconds=0.01))
    if n_deaths == 1:
        np.testing.assert_array_equal(scores(search.fit(X, Y)), references["slow"])
    else:
        with pytest.raises(joblib.externals.loky.process_executor.BrokenProcessPool):
            search.fit(X, Y)
