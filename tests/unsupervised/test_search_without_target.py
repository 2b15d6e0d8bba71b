"""Searches without y: which score is used, and what is refused."""

import json

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.cluster import DBSCAN, KMeans
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import KFold
from sklearn.neighbors import KernelDensity
from sklearn.neighbors.tests import test_kde
from sklearn.svm import OneClassSVM

from leavezero import CandidateSearchLZO, GridSearchLZO, HalvingGridSearchLZO
from leavezero.exceptions import AllCandidatesFailedError
from leavezero.unsupervised import ClusterScore, UnsupervisedScore, find_score

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
    """Data frames, lists and sparse matrices have the scores of an array, without warnings."""
    expected = GridSearchLZO(estimator, grid, random_state=0).fit(X).cv_results_["mean_test_score"]
    for rows in (pd.DataFrame(X, columns=list("abc")), X.tolist(), sparse.csr_matrix(X)):
        search = GridSearchLZO(estimator, grid, random_state=0).fit(rows)
        np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)


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
    first.diagnose()


@pytest.mark.parametrize(
    ("data", "y", "options", "message"),
    [
        (X[:15], None, {}, "requires at least 20 samples for the depth of the valleys"),
        (np.ones((40, 2)), None, {}, "requires rows that differ .* got 40 equal rows"),
        (X, X[:, 0], {"scoring": ClusterScore()}, r"requires y=None, got a y"),
    ],
    ids=["few rows", "constant", "target"],
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
