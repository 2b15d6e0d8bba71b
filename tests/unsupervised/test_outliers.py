"""Outlier detectors by their excess mass."""

import numpy as np
import pytest
from sklearn.covariance import EllipticEnvelope
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import OneClassSVM

from leavezero import CandidateSearchLZO, GridSearchLZO
from leavezero.unsupervised import OutlierScore


def simulate(seed=0):
    """Return correlated rows with five uniform ones among them, and new rows with their kind."""
    rng = np.random.default_rng(seed)
    inliers = rng.normal(size=(500, 2)) @ [[1, 0.95], [0, 0.2]]
    outliers = rng.uniform(-3, 3, size=(205, 2))
    new = np.vstack([inliers[200:], outliers[5:]])
    return np.vstack([inliers[:200], outliers[:5]]), new, np.repeat([1, 0], [300, 200])


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (OneClassSVM(nu=0.1), {"gamma": [1e-3, 0.01, 0.1, 1]}),
        (LocalOutlierFactor(novelty=True), {"n_neighbors": [2, 5, 20, 50]}),
        (IsolationForest(n_estimators=30, random_state=0), {"max_samples": [8, 32, 128]}),
        (EllipticEnvelope(random_state=0), {"support_fraction": [0.6, 0.9]}),
    ],
    ids=["svm", "lof", "forest", "envelope"],
)
def test_near_the_best_detector(estimator, grid):
    X, new, kind = simulate()
    search = GridSearchLZO(estimator, grid, scoring=OutlierScore()).fit(X)
    fits = [estimator.set_params(**p).fit(X) for p in search.cv_results_["params"]]
    best = max(roc_auc_score(kind, fit.score_samples(new)) for fit in fits)
    assert roc_auc_score(kind, search.best_estimator_.score_samples(new)) > best - 0.03
    assert search.fit_counts_["candidate"] == len(fits)


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (OneClassSVM(nu=0.1), {"gamma": [0.1, 1e4]}),
        (LocalOutlierFactor(novelty=True), {"n_neighbors": [20, 2]}),
    ],
)
def test_detectors_that_memorize_rows(estimator, grid):
    """Training rows are scored without themselves."""
    X = np.random.default_rng(0).normal(size=(150, 4))
    assert GridSearchLZO(estimator, grid, scoring=OutlierScore()).fit(X).best_index_ == 0


def test_detectors_of_several_types():
    """The envelope knows that the columns are correlated."""
    X, _, _ = simulate()
    candidates = {
        "envelope": EllipticEnvelope(random_state=0),
        "svm": OneClassSVM(gamma=1e-3, nu=0.5),
    }
    search = CandidateSearchLZO(candidates).fit(X)
    assert isinstance(search.best_estimator_, EllipticEnvelope)


def test_excess_mass_of_a_known_level_set():
    """Half of the range has all rows: 1 - t / 2 up to the price 2."""

    class Half:
        def score_samples(self, X):
            return (X[:, 0] < 0.5).astype(float)

    X = np.vstack([np.linspace(0, 0.49, 198)[:, None], [[0.0], [0.98]]])
    prices = np.logspace(-1, 3, 60)
    found = OutlierScore().values(Half(), X, 0).mean()
    assert found == pytest.approx(np.mean(np.maximum(0.995 - prices * 0.51, 0)), abs=0.02)


def test_scores_of_new_rows_are_required():
    X, _, _ = simulate()
    with pytest.raises(
        ValueError, match=r"scores of new rows, got LocalOutlierFactor.*novelty=True"
    ):
        GridSearchLZO(LocalOutlierFactor(), {"n_neighbors": [5, 10]}, scoring=OutlierScore()).fit(X)


@pytest.mark.parametrize(
    "estimator",
    [
        IsolationForest(),
        make_pipeline(StandardScaler(), IsolationForest()),
        LocalOutlierFactor(novelty=True),
    ],
    ids=["forest", "pipeline", "lof"],
)
def test_detectors_without_default_score(estimator):
    """The excess mass selects no better than their default parameters."""
    X, _, _ = simulate()
    with pytest.raises(TypeError, match=r"keep its default parameters, or use scoring"):
        CandidateSearchLZO({"first": estimator, "svm": OneClassSVM()}).fit(X)
