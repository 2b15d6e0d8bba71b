"""
A search on a Dask cluster
==========================

The search uses joblib's active backend. The data are sent to each worker once, a candidate is a few
kilobytes, and tasks of a lost worker are started again. Here the cluster has two processes on this
machine; pass the address of a scheduler to use yours. Requires ``pip install leavezero[dask]``.
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
    """Return the search, which is the same for both runs."""
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": np.logspace(-1, 3, 5), "svc__gamma": np.logspace(-4, 0, 5)}
    return GridSearchLZO(model, grid, n_jobs=2, random_state=0)


# %%
# Dask's workers import this file, so a script must create its cluster under this condition. A
# notebook does not need it.

if __name__ == "__main__":
    X, y = load_breast_cancer(return_X_y=True)
    local = search().fit(X, y)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        parallel_config(backend="dask"),
    ):
        remote = search().fit(X, y)

    # %%
    # The selection and the scores are equal, bit for bit.

    print("best:", remote.best_params_)
    scores = [fitted.cv_results_["mean_test_score"] for fitted in (local, remote)]
    print("the same scores as on this machine:", np.array_equal(*scores))
