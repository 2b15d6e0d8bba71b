"""
A search on a cluster
=====================

Where joblib has a backend for a cluster, the search runs there as it is: the data travel to each
worker once, a candidate is a few kilobytes, and a worker that is lost is replaced. Here the cluster
is two processes of this machine; with the address of a scheduler it is yours. Needs
``pip install leavezero[dask]``.
"""

import numpy as np
from distributed import Client, LocalCluster
from joblib import parallel_config
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO


def search():
    """Return the search, the same wherever it runs."""
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-4, 0, 5)}
    return GridSearchLZO(model, grid, n_jobs=2, random_state=0)


# %%
# Dask's workers import this file when they begin, so that a script begins its cluster under this
# condition. A notebook does not need it.

if __name__ == "__main__":
    X, y = load_breast_cancer(return_X_y=True)
    here = search().fit(X, y)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        parallel_config(backend="dask"),
    ):
        there = search().fit(X, y)

    # %%
    # The same choice and the same scores, bit for bit.

    print("chosen:", there.best_params_)
    same = np.array_equal(here.cv_results_["mean_test_score"], there.cv_results_["mean_test_score"])
    print("the same scores as on this machine:", same)
