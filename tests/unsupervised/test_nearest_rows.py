"""Labels of new rows by searches over clusterers without ``predict``."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    OPTICS,
    AgglomerativeClustering,
    FeatureAgglomeration,
    KMeans,
    SpectralClustering,
)
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score, pairwise_distances
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import GridSearchLZO
from leavezero.unsupervised import NearestRows

X = make_moons(300, noise=0.07, random_state=0)[0]
NEW, MOON = make_moons(300, noise=0.07, random_state=1)
WITH_NOISE = [
    (DBSCAN(), {"eps": [0.1, 0.2, 0.5]}),
    (HDBSCAN(copy=True), {"min_cluster_size": [10, 50]}),
]
OTHERS = [
    (AgglomerativeClustering(linkage="single"), {"n_clusters": range(1, 5)}),
    (
        SpectralClustering(affinity="nearest_neighbors", n_neighbors=20, random_state=0),
        {"n_clusters": range(1, 4)},
    ),
    (
        make_pipeline(StandardScaler(), make_pipeline(DBSCAN())),
        {"pipeline__dbscan__eps": [0.1, 0.3]},
    ),
]


@pytest.mark.parametrize(("clusterer", "grid"), [*WITH_NOISE, *OTHERS])
def test_rows_of_a_cluster(clusterer, grid):
    """Training rows keep their labels, and new rows are labeled by their moon."""
    search = GridSearchLZO(clusterer, grid)
    assert not hasattr(search, "predict")
    model = search.fit(X).best_estimator_
    labels = model[-1][-1].labels_ if hasattr(model, "steps") else model.labels_
    np.testing.assert_array_equal(search.predict(X), labels)
    found = search.predict(NEW)
    assert adjusted_rand_score(MOON, found) > 0.9
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(search)).predict(NEW), found)


@pytest.mark.parametrize(("clusterer", "grid"), WITH_NOISE)
def test_rows_far_from_all_clusters_are_noise(clusterer, grid):
    search = GridSearchLZO(clusterer, grid).fit(X)
    assert search.predict([[10.0, 10.0], X[0]]).tolist() == [-1, search.best_estimator_.labels_[0]]


def test_new_rows_that_dbscan_would_label_so_in_training():
    """A new row is of a cluster if it would be one of its border rows, by any metric."""
    for metric in ("euclidean", "manhattan"):
        model = DBSCAN(eps=0.08, metric=metric).fit(X)
        labels = NearestRows.of(model, X).predict(NEW)
        cores = X[model.core_sample_indices_]
        is_near = (pairwise_distances(NEW, cores, metric=metric) <= 0.08).any(axis=1)
        np.testing.assert_array_equal(labels >= 0, is_near)


@pytest.mark.parametrize("clusterer", [HDBSCAN(copy=True), OPTICS()])
def test_new_rows_are_as_often_noise_as_training_rows(clusterer):
    model = clusterer.fit(X)
    labels = NearestRows.of(model, X).predict(NEW)
    assert np.mean(labels < 0) == pytest.approx(np.mean(model.labels_ < 0), abs=0.1)


def test_all_rows_are_noise():
    search = GridSearchLZO(DBSCAN(), {"eps": [1e-9]}).fit(X)
    assert set(search.predict(NEW)) == {-1}


def test_containers():
    grid = {"eps": [0.1, 0.2]}
    expected = GridSearchLZO(DBSCAN(), grid).fit(X).predict(NEW)
    frame = GridSearchLZO(DBSCAN(), grid).fit(pd.DataFrame(X, columns=["a", "b"]))
    np.testing.assert_array_equal(frame.predict(pd.DataFrame(NEW, columns=["a", "b"])), expected)
    matrix = GridSearchLZO(DBSCAN(), grid).fit(sparse.csr_matrix(X))
    np.testing.assert_array_equal(matrix.predict(sparse.csr_matrix(NEW)), expected)


@pytest.mark.parametrize("clusterer", [DBSCAN(eps=0.2), HDBSCAN(copy=True)])
@pytest.mark.parametrize("kind", [sparse.coo_matrix, sparse.bsr_matrix, sparse.csc_array])
def test_sparse_training_rows(clusterer, kind):
    """In each format that the clusterer accepts."""
    model = clusterer.fit(kind(X))
    np.testing.assert_array_equal(NearestRows.of(model, kind(X)).predict(X), model.labels_)


def test_a_metric_for_which_there_is_no_neighbor_search():
    """The search is fitted; new rows cannot be labeled."""
    clusterer = AgglomerativeClustering(metric="seuclidean", linkage="average")
    search = GridSearchLZO(clusterer, {"n_clusters": [1, 2]}).fit(X)
    assert search.best_params_["n_clusters"] in (1, 2)
    with pytest.raises(TypeError):
        search.predict(NEW)


def test_training_rows_with_missing_values():
    rows = X.copy()
    rows[:5, 0] = np.nan
    frame = pd.DataFrame(rows).astype("Float64")  # with pandas.NA
    for table, new in ((rows, X), (frame, pd.DataFrame(X))):
        search = GridSearchLZO(HDBSCAN(copy=True), {"min_cluster_size": [10, 50]}).fit(table)
        np.testing.assert_array_equal(search.predict(new)[5:], search.best_estimator_.labels_[5:])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (NEW[:, :1], "X has 1 features, but DBSCAN is expecting 2 features"),
        (NEW * np.nan, "Input X contains NaN"),
        (NEW[0], "Expected 2D array, got 1D array"),
        (NEW[:0], r"Found array with 0 sample\(s\)"),
    ],
)
def test_bad_rows(rows, message):
    search = GridSearchLZO(DBSCAN(), {"eps": [0.2]}).fit(X)
    with pytest.raises(ValueError, match=message):
        search.predict(rows)


def test_models_that_need_no_rows():
    assert NearestRows.of(KMeans(2).fit(X), X) is None
    assert NearestRows.of(FeatureAgglomeration().fit(X), X) is None
    distances = DBSCAN(metric="precomputed").fit(pairwise_distances(X))
    assert NearestRows.of(distances, X) is None
