"""Searches on local Dask and Ray clusters, and after the death of joblib's workers."""

import os
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.svm import SVC

from leavezero import GridSearchLZO, LabelInvariantMixup

pytestmark = pytest.mark.filterwarnings("ignore")  # of the clusters

X, y = make_classification(200, 6, flip_y=0.2, random_state=0)


def make_stump(folder=None, n_deaths=0):
    """Return a model of a local class, which is pickled by value, as one of a notebook is.

    Its fit for one candidate ends the process, the first ``n_deaths`` times.
    """

    class Stump(ClassifierMixin, BaseEstimator):
        def __init__(self, number=0):
            self.number = number

        def fit(self, X, y):
            if self.number == 3 and n_deaths and len(list(folder.iterdir())) < n_deaths:
                (folder / str(time.time())).touch()
                os._exit(1)
            self.classes_ = np.unique(y)
            self.split_ = np.quantile(X[:, 0], self.number / 10)
            return self

        def predict(self, X):
            return self.classes_[(X[:, 0] > self.split_).astype(int)]

    return Stump()


def fit_svm(n_jobs=2):
    """Return a search with the default method."""
    grid = {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.1, 1]}
    search = GridSearchLZO(SVC(), grid, n_jobs=n_jobs, n_replicates=2, random_state=0)
    return search.fit(X, y)


def fit_stumps(*args, n_jobs=2, checkpoint=None):
    """Return a fast search."""
    few = {"augmenter": LabelInvariantMixup(), "n_replicates": 2, "cv_finalists": 0}
    search = GridSearchLZO(make_stump(*args), {"number": range(8)}, random_state=0, **few)
    return search.set_params(n_jobs=n_jobs, checkpoint=checkpoint).fit(X, y)


def scores(search):
    """Return all columns of the results, except times, in a form that is compared bit by bit."""
    return {
        name: [repr(value) for value in column]
        for name, column in search.cv_results_.items()
        if not name.endswith("_time")
    }


@pytest.fixture(scope="module")
def expected():
    """Return the scores of searches in this process."""
    return {"svm": scores(fit_svm(n_jobs=1)), "stump": scores(fit_stumps(n_jobs=1))}


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
    # Under "uv run", Ray would start each worker by "uv run" in a copy of this folder, which first
    # creates an environment. Ray waits a minute for that and begins again, without end.
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_ENABLE_UV_RUN_RUNTIME_ENV", "0")  # read when Ray is imported
        ray = pytest.importorskip("ray")
        from ray.util.joblib import register_ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
        register_ray()
        yield ray
        ray.shutdown()


@pytest.fixture(params=["dask", "ray"])
def cluster(request):
    """Return the name of joblib's backend for a running cluster."""
    request.getfixturevalue("dask_client" if request.param == "dask" else "ray")
    return request.param


def test_results_on_a_cluster_are_the_same(cluster, expected):
    with parallel_config(backend=cluster):
        search = fit_svm()
    assert scores(search) == expected["svm"]
    assert search.predict(X).shape == y.shape


def test_worker_of_a_cluster_that_dies_changes_nothing(cluster, expected, tmp_path):
    """A checkpoint works on a cluster, too."""
    folder, checkpoint = tmp_path / "deaths", tmp_path / "search.sqlite"
    folder.mkdir()
    with parallel_config(backend=cluster):
        search = fit_stumps(folder, 1, checkpoint=checkpoint)
        again = fit_stumps(folder, 1, checkpoint=checkpoint)
    assert len(list(folder.iterdir())) == 1
    assert scores(search) == expected["stump"]
    assert scores(again) == expected["stump"]
    assert again.fit_counts_["candidate"] == 0


def test_dask_example():
    pytest.importorskip("distributed")
    script = Path(__file__).parents[2] / "examples" / "dask_cluster.py"
    done = subprocess.run([sys.executable, script], capture_output=True, text=True, check=True)
    assert "the same scores as on this machine: True" in done.stdout


@pytest.mark.parametrize("n_deaths", [1, pytest.param(5, marks=pytest.mark.slow)])
def test_dead_workers_of_joblib_are_replaced_at_most_twice(n_deaths, tmp_path, expected):
    if n_deaths == 1:
        assert scores(fit_stumps(tmp_path, 1)) == expected["stump"]
    else:
        with pytest.raises(joblib.externals.loky.process_executor.BrokenProcessPool):
            fit_stumps(tmp_path, n_deaths)
    assert len(list(tmp_path.iterdir())) == min(n_deaths, 3)
