"""Searches without y: which score is used, and what is refused."""

import json
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA, FactorAnalysis, TruncatedSVD
from sklearn.ensemble import IsolationForest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.neighbors import KernelDensity
from sklearn.neighbors.tests import test_kde
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from leavezero import CandidateSearchLZO, GridSearchLZO, HalvingGridSearchLZO
from leavezero.exceptions import AllCandidatesFailedError
from leavezero.unsupervised import ClusterScore, OutlierScore, UnsupervisedScore, find_score

X = np.random.default_rng(0).normal(size=(60, 3))
GRID = {"n_components": [1, 2, 3]}


def test_one_score_for_all_estimators():
    assert find_score([KernelDensity(), GaussianMixture()]).name == "leave-one-out log-likelihood"
    assert isinstance(find_score([KMeans(), GaussianMixture()]), ClusterScore)
    assert find_score([KMeans(), PCA()]) is None


@pytest.mark.parametrize(
    "options",
    [{"cv": KFold(3)}, {"cv_finalists": 2}, {"return_train_score": True}, {"scoring": "r2"}],
)
def test_folds_on_request(options):
    def score(model, X, y=None):
        return model.score(X)

    if "scoring" in options:
        options = {"scoring": score}
    search = GridSearchLZO(PCA(), GRID, **options).fit(X)
    assert search.n_splits_ == 5 if "cv" not in options else 3
    assert search.fit_counts_["refit"] == 1


def test_folds_for_weights():
    search = GridSearchLZO(KMeans(random_state=0), {"n_clusters": [1, 2]})
    assert search.fit(X, sample_weight=np.ones(60)).n_splits_ == 5


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (KMeans(random_state=0), {"n_clusters": [1, 2]}),
        (PCA(), {"n_components": [1, 2]}),
        (OneClassSVM(), {"gamma": [0.1, 1.0]}),
    ],
)
def test_containers(estimator, grid):
    """Tables of all kinds have the scores of an array, without warnings."""
    expected = GridSearchLZO(estimator, grid, random_state=0).fit(X).cv_results_["mean_test_score"]
    tables = [pd.DataFrame(X, columns=list("abc")), X.tolist(), sparse.csr_matrix(X)]
    tables += [X.astype(object), pd.DataFrame(X.astype(object), columns=list("abc"))]
    if find_spec("polars"):
        import polars as pl

        tables += [pl.DataFrame(X, schema=list("abc"))]
    for rows in tables:
        search = GridSearchLZO(estimator, grid, random_state=0).fit(rows)
        np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)


def test_pipelines_in_pipelines():
    expected = GridSearchLZO(KMeans(random_state=0), {"n_clusters": [1, 2]}).fit(X)
    nested = make_pipeline(make_pipeline(KMeans(random_state=0)))
    search = GridSearchLZO(nested, {"pipeline__kmeans__n_clusters": [1, 2]}).fit(X)
    np.testing.assert_allclose(
        search.cv_results_["mean_test_score"], expected.cv_results_["mean_test_score"]
    )


def test_sparse_rows_must_fit_into_memory():
    rows = sparse.csr_matrix((20_000, 20_000))
    with pytest.raises(ValueError, match="sparse X of at most 134,217,728 cells, got 20,000 rows"):
        GridSearchLZO(TruncatedSVD(), {"n_components": [1, 2]}).fit(rows)


def test_data_frames_and_seeds():
    frame = pd.DataFrame(X, columns=list("abc"))
    first = GridSearchLZO(KMeans(), {"n_clusters": [1, 2, 3]}, random_state=0).fit(frame)
    second = GridSearchLZO(KMeans(), {"n_clusters": [3, 2, 1]}, random_state=0, n_jobs=2)
    second.fit(frame)
    np.testing.assert_array_equal(
        first.cv_results_["mean_test_score"], second.cv_results_["mean_test_score"][::-1]
    )
    assert first.feature_names_in_.tolist() == ["a", "b", "c"]


def test_halving_report_and_checkpoint(tmp_path):
    search = HalvingGridSearchLZO(GaussianMixture(random_state=0), GRID).fit(X)
    assert search.best_params_ == {"n_components": 1}
    options = {"checkpoint": tmp_path / "search.db", "random_state": 0}
    first = GridSearchLZO(KMeans(), {"n_clusters": [1, 2]}, **options).fit(X)
    again = GridSearchLZO(KMeans(), {"n_clusters": [1, 2, 3]}, **options).fit(X)
    assert again.fit_counts_["candidate"] == 1
    assert again.cv_results_["mean_test_score"][1] == first.cv_results_["mean_test_score"][1]
    assert "No target with 60 rows and 3 columns." in json.dumps(first.summary())
    assert "valleys between clusters" in first._repr_html_()
    code = first.summary()["run"]["code"]
    assert code["model"].endswith("model.fit(X)")
    assert code["search"].endswith("search.fit(X)")
    page = first.to_html()
    assert "Its depth of the valleys between clusters is" in page
    assert "Baseline" not in page
    assert "On new rows" not in page
    first.diagnose()


@pytest.mark.parametrize(
    ("data", "y", "options", "message"),
    [
        (X[:15], None, {}, "requires at least 20 samples for the depth of the valleys"),
        (np.ones((40, 2)), None, {}, "requires rows that differ .* got 40 equal rows"),
        (X, X[:, 0], {"scoring": ClusterScore()}, r"requires y=None, got a y"),
        (X, None, {"scoring": "rand_score"}, r"scoring .* requires y for rand_score, but .* None"),
        (X[:, 0], None, {}, "Expected 2D array, got 1D array instead"),
        (np.where(X > 2, np.nan, X), None, {}, "Input X contains NaN"),
    ],
    ids=["few rows", "constant", "target", "scorer", "one dimension", "missing values"],
)
def test_bad_input(data, y, options, message):
    with pytest.raises(ValueError, match=message):
        GridSearchLZO(KMeans(), {"n_clusters": [1, 2]}, **options).fit(data, y)


@pytest.mark.parametrize(
    ("search", "weights"),
    [
        (CandidateSearchLZO({"a": DBSCAN(), "b": PCA()}), {}),
        (GridSearchLZO(DBSCAN(), {"eps": [0.5, 1.0]}), {"sample_weight": np.ones(60)}),
        (GridSearchLZO(DBSCAN(), {"eps": [0.5, 1.0]}, return_train_score=True), {}),
    ],
    ids=["two types", "weights", "training scores"],
)
def test_folds_require_a_score(search, weights):
    with pytest.raises(ValueError, match=r"requires scoring for DBSCAN.* has no method score"):
        search.fit(X, **weights)


def test_scores_of_other_types():
    search = GridSearchLZO(PCA(), GRID, scoring=ClusterScore())
    with pytest.raises(ValueError, match=r"requires estimators of another type, got PCA"):
        search.fit(X)


@pytest.mark.parametrize(
    ("search", "data", "message"),
    [
        (
            GridSearchLZO(KernelDensity(kernel="tophat"), {"bandwidth": [1e-6, 1e-5]}),
            X,
            "No candidate of GridSearchLZO has a finite leave-one-out log-likelihood. Some row has "
            "a density of zero without itself: use larger bandwidths, or a Gaussian kernel.",
        ),
        (
            GridSearchLZO(
                IsolationForest(n_estimators=5), {"max_samples": [0.5]}, scoring=OutlierScore()
            ),
            np.where(X > 2, np.nan, X),
            "(?s)No candidate .* has a finite excess mass.*requires X without missing values",
        ),
        (
            GridSearchLZO(KMeans(), {"n_clusters": [70, 80]}),
            X,
            "(?s)All 2 candidates .* failed.*n_samples=60 should be >= n_clusters=70",
        ),
    ],
    ids=["zero density", "missing values", "more clusters than rows"],
)
def test_no_finite_score(search, data, message):
    with pytest.raises(AllCandidatesFailedError, match=message):
        search.fit(data)


def test_score_is_that_of_the_best_estimator():
    search = GridSearchLZO(KMeans(random_state=0), {"n_clusters": [2, 3]}).fit(X)
    assert search.score(X) == search.best_estimator_.score(X)
    search = GridSearchLZO(DBSCAN(), {"eps": [0.5, 1.0]}).fit(X)
    with pytest.raises(ValueError, match=r"requires a best estimator with the method score, got D"):
        search.score(X)


def test_more_clusters_than_distinct_rows():
    rows = np.repeat([[0.0, 0.0], [1.0, 1.0]], 20, axis=0)
    search = GridSearchLZO(KMeans(random_state=0), {"n_clusters": [1, 2, 3, 5]})
    with pytest.warns(ConvergenceWarning, match="Number of distinct clusters"):
        assert search.fit(rows).best_params_ == {"n_clusters": 2}


class Fails(UnsupervisedScore):
    """A score that cannot be computed."""

    name = "failure"

    def handles(self, estimator):
        return True

    def score(self, model, X, rng):
        raise ValueError("no such score")


def test_scores_that_fail():
    search = GridSearchLZO(PCA(), GRID, scoring=Fails())
    with pytest.raises(AllCandidatesFailedError, match="no such score"):
        search.fit(X)
    with pytest.raises(ValueError, match="no such score"):
        search.set_params(error_score="raise").fit(X)


def test_kernel_densities_in_the_tests_of_scikit_learn(monkeypatch):
    """A search over pipelines without y and without predict."""
    monkeypatch.setattr(test_kde, "GridSearchCV", GridSearchLZO)
    test_kde.test_kde_pipeline_gridsearch()


def test_clusters_in_the_tests_of_scikit_learn():
    """Its test_unsupervised_grid_search expects the choice of folds: four, for three blobs."""
    rows = make_blobs(50, random_state=0)[0]
    model = KMeans(random_state=0, init="random", n_init=1)
    search = GridSearchLZO(model, {"n_clusters": [2, 3, 4]})
    assert search.fit(rows).best_params_ == {"n_clusters": 3}
    assert search.set_params(cv=KFold(5)).fit(rows).best_params_ == {"n_clusters": 4}


class Center(BaseEstimator):
    """An estimator whose methods have no y."""

    def __init__(self, shift=0.0):
        self.shift = shift

    def fit(self, X):
        self.center_ = X.mean(axis=0) + self.shift
        return self

    def score(self, X):
        return -float(((X - self.center_) ** 2).mean())


class Centering(TransformerMixin, Center):
    """A transformer with a score."""

    def fit(self, X, y=None):
        return super().fit(X)

    def score(self, X, y=None):
        return super().score(X)

    def transform(self, X):
        return X - self.center_


def silhouette(model, X):
    return silhouette_score(X, model.predict(X))


def two_scores(model, X):
    return {"silhouette": silhouette(model, X), "inertia": -model.inertia_}


SHIFTS = {"shift": [1.0, 0.0]}
CLUSTERS = {"n_clusters": [2, 3, 4]}


@pytest.mark.parametrize(
    ("estimator", "grid", "options"),
    [
        (Center(), SHIFTS, {}),
        (Centering(), SHIFTS, {}),
        (make_pipeline(StandardScaler(), Centering()), {"centering__shift": [1.0, 0.0]}, {}),
        (FactorAnalysis(), GRID, {}),
        (KMeans(random_state=0), CLUSTERS, {"scoring": silhouette}),
        (KMeans(random_state=0), CLUSTERS, {"scoring": two_scores, "refit": "inertia"}),
        (
            KMeans(random_state=0),
            CLUSTERS,
            {"scoring": {"a": silhouette, "b": silhouette}, "refit": "b"},
        ),
        (Center(), SHIFTS, {"refit": lambda table: int(np.argmin(table["mean_test_score"]))}),
        (Center(), SHIFTS, {"return_train_score": True}),
    ],
)
def test_scores_without_target_as_in_grid_search_cv(estimator, grid, options):
    """Same scores of folds, same choice, same best model, for methods with and without y."""
    expected = GridSearchCV(estimator, grid, cv=KFold(3), **options).fit(X)
    found = GridSearchLZO(estimator, grid, cv=KFold(3), **options).fit(X)
    assert found.best_params_ == expected.best_params_
    assert found.multimetric_ == expected.multimetric_
    for name, column in expected.cv_results_.items():
        if name.startswith(("mean_test", "mean_train", "split", "rank")):
            np.testing.assert_allclose(found.cv_results_[name], column, err_msg=name)
    for method in ("predict", "transform", "score_samples"):
        assert hasattr(found, method) == hasattr(expected, method)
