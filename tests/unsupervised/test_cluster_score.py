"""The number of clusters, of round ones and of others, and of rows without clusters."""

import numpy as np
import pytest
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    FeatureAgglomeration,
    KMeans,
    SpectralClustering,
)
from sklearn.datasets import make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero.unsupervised import ClusterScore

CENTERS = np.array([[0, 0], [7, 0], [0, 7], [7, 7]])
NUMBERS = range(1, 9)


def blobs(n_clusters, seed=0):
    return make_blobs(200, centers=CENTERS[:n_clusters], random_state=seed)[0]


@pytest.mark.parametrize("n_clusters", [1, 2, 3, 4])
@pytest.mark.parametrize(
    "estimator",
    [KMeans(random_state=0), AgglomerativeClustering(), SpectralClustering(random_state=0)],
    ids=["k-means", "agglomerative", "spectral"],
)
def test_separated_clusters(estimator, n_clusters):
    options = {"gamma": 0.1} if isinstance(estimator, SpectralClustering) else {}
    search = GridSearchLZO(estimator.set_params(**options), {"n_clusters": NUMBERS})
    search.fit(blobs(n_clusters))
    assert search.best_params_ == {"n_clusters": n_clusters}
    assert search.fit_counts_ == {"candidate": 8, "auxiliary": 0, "cv": 0, "refit": 0}


@pytest.mark.parametrize(
    "simulate",
    [
        lambda rng: rng.normal(size=(200, 2)),
        lambda rng: rng.uniform(size=(200, 2)),
        lambda rng: rng.lognormal(sigma=0.7, size=(200, 5)),
        lambda rng: rng.normal(size=(150, 50)),
    ],
    ids=["normal", "uniform", "skewed", "wide"],
)
def test_rows_without_clusters(simulate):
    for seed in range(3):
        search = GridSearchLZO(KMeans(random_state=0), {"n_clusters": NUMBERS})
        assert search.fit(simulate(np.random.default_rng(seed))).best_params_ == {"n_clusters": 1}


@pytest.mark.parametrize(
    ("X", "estimator", "grid"),
    [
        (make_moons(300, noise=0.07, random_state=0)[0], DBSCAN(), {"eps": [0.05, 0.1, 0.2, 0.5]}),
        (
            make_circles(300, noise=0.05, factor=0.5, random_state=0)[0],
            AgglomerativeClustering(linkage="single"),
            {"n_clusters": range(1, 6)},
        ),
        (
            make_moons(300, noise=0.07, random_state=0)[0],
            HDBSCAN(copy=True),
            {"min_cluster_size": [10, 150]},
        ),
    ],
    ids=["dbscan", "single linkage", "hdbscan"],
)
def test_clusters_of_any_shape(X, estimator, grid):
    labels = GridSearchLZO(estimator, grid).fit(X).best_estimator_.labels_
    assert len(set(labels[labels >= 0])) == 2


def test_all_noise_is_worse_than_one_cluster():
    X = np.random.default_rng(0).normal(size=(100, 2))
    search = GridSearchLZO(DBSCAN(), {"eps": [1e-3, 5.0]}).fit(X)
    assert search.cv_results_["mean_test_score"].tolist() == [-0.5, 0.0]


def test_noise_around_one_cluster_lowers_the_score():
    X = np.random.default_rng(0).normal(size=(200, 2))
    search = GridSearchLZO(DBSCAN(), {"eps": [0.35, 1.0]}).fit(X)
    is_noise = DBSCAN(eps=1.0).fit(X).labels_ < 0
    assert search.best_params_ == {"eps": 1.0}
    assert search.best_score_ == pytest.approx(-0.5 * is_noise.mean())


def test_elongated_clusters():
    """K-means cuts them, and a mixture does not: the score prefers the mixture's clusters."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2)) * [4, 0.5] + [[0, 4]] * rng.integers(3, size=(300, 1))
    candidates = {"k-means": KMeans(3), "mixture": GaussianMixture(3, random_state=0)}
    search = CandidateSearchLZO(candidates).fit(X)
    assert isinstance(search.best_estimator_, GaussianMixture)


def test_components_as_clusters():
    """Mixtures are scored as densities; as clusters on request."""
    X = np.random.default_rng(0).lognormal(size=(300, 2))
    grid = {"n_components": [1, 2, 3]}
    search = GridSearchLZO(GaussianMixture(random_state=0), grid)
    assert search.fit(X).best_params_ == {"n_components": 3}
    search.set_params(scoring=ClusterScore())
    assert search.fit(X).best_params_ == {"n_components": 1}


def test_pipelines_and_intervals():
    X = blobs(3) * [1, 1000]
    model = make_pipeline(StandardScaler(), KMeans(random_state=0))
    search = GridSearchLZO(model, {"kmeans__n_clusters": NUMBERS}).fit(X)
    assert search.best_params_ == {"kmeans__n_clusters": 3}
    table = search.cv_results_
    assert table["low_test_score"][2] < table["mean_test_score"][2] < table["high_test_score"][2]
    assert search.selection_.tied == (2,)
    assert search.n_splits_ == 10


def test_missing_values():
    """HDBSCAN accepts them, and labels the rows as noise."""
    X = blobs(2)
    X[:3, 0] = np.nan
    search = GridSearchLZO(HDBSCAN(copy=True), {"min_cluster_size": [10, 20]}).fit(X)
    assert search.best_score_ > 0.5


def test_columns_and_distances_are_not_rows():
    assert not ClusterScore().handles(FeatureAgglomeration())
    assert not ClusterScore().handles(DBSCAN(metric="precomputed"))
    assert not ClusterScore().handles(SpectralClustering(affinity="precomputed"))


@pytest.mark.parametrize(
    ("clusterer", "grid"),
    [
        (HDBSCAN(copy=True), {"min_cluster_size": [4, 15, 60]}),
        (AgglomerativeClustering(linkage="single"), {"n_clusters": [1, 2, 3]}),
    ],
    ids=["HDBSCAN", "single linkage"],
)
def test_rings_of_few_rows(clusterer, grid):
    """The gap between two rings is hardly wider than the distance of a row to its neighbors."""
    rows, ring = make_circles(200, noise=0.05, factor=0.5, random_state=0)
    search = GridSearchLZO(clusterer, grid).fit(rows)
    assert adjusted_rand_score(ring, search.best_estimator_.labels_) == 1


def test_no_clusters_of_any_shape_in_skewed_rows():
    rows = np.random.default_rng(2).exponential(size=(200, 2))
    search = GridSearchLZO(HDBSCAN(copy=True), {"min_cluster_size": [4, 8, 15, 30, 60]}).fit(rows)
    assert len(set(search.best_estimator_.labels_) - {-1}) < 2


def test_copies_in_two_clusters():
    """Two clusters at one point have no valley between them, and raise no warning."""
    rows = np.repeat([[0.0, 0.0], [1.0, 2.0]], 20, axis=0)
    search = GridSearchLZO(AgglomerativeClustering(), {"n_clusters": [1, 2, 3]}).fit(rows)
    assert search.best_params_ == {"n_clusters": 2}
