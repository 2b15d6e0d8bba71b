"""Leave-one-out log-likelihoods against fits without each row."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.mixture import BayesianGaussianMixture, GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity

from leavezero import GridSearchLZO
from leavezero.unsupervised import DensityScore

_rng = np.random.default_rng(0)
X = np.vstack([_rng.normal(size=(40, 2)), _rng.normal(size=(30, 2)) + [4, 1]])


def without_each_row(model, X):
    """Return the log-density of each row by a model that was fitted to the rows that differ."""
    fits = (clone(model).fit(X[(row != X).any(axis=1)]) for row in X)
    return np.array([fit.score_samples(X[[row]])[0] for row, fit in enumerate(fits)])


def continued(model):
    """Return a mixture that is fitted from the parameters of another."""
    return clone(model).set_params(
        weights_init=model.weights_, means_init=model.means_, precisions_init=model.precisions_
    )


KERNELS = ["gaussian", "tophat", "epanechnikov", "exponential", "linear", "cosine"]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("bandwidth", [0.01, 0.5])
def test_kernel_density_is_exact(kernel, bandwidth):
    """Also where a row's own kernel is nearly all of its density."""
    model = KernelDensity(kernel=kernel, bandwidth=bandwidth).fit(X)
    np.testing.assert_allclose(DensityScore().values(model, X, 0), without_each_row(model, X))


ROUNDED = np.round(X)


@pytest.mark.parametrize("bandwidth", [0.02, 0.5])
def test_copies_are_left_out_of_kernel_densities(bandwidth):
    assert len(np.unique(ROUNDED, axis=0)) < len(X) / 2
    model = KernelDensity(bandwidth=bandwidth).fit(ROUNDED)
    found, expected = DensityScore().values(model, ROUNDED, 0), without_each_row(model, ROUNDED)
    np.testing.assert_allclose(found, expected)


def test_copies_do_not_select_the_smallest_bandwidth():
    """Folds do, since most rows have a copy in another fold."""
    grid = {"bandwidth": [1e-3, 0.5, 1.0]}
    rows = np.tile(ROUNDED, (2, 1))
    assert GridSearchLZO(KernelDensity(), grid).fit(rows).best_params_["bandwidth"] >= 0.5
    assert GridSearchCV(KernelDensity(), grid).fit(rows).best_params_ == {"bandwidth": 1e-3}


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_copies_are_left_out_of_mixtures(covariance_type):
    model = GaussianMixture(covariance_type=covariance_type).fit(ROUNDED)
    found, expected = DensityScore().values(model, ROUNDED, 0), without_each_row(model, ROUNDED)
    np.testing.assert_allclose(found, expected, rtol=1e-4)


def test_other_metrics():
    model = KernelDensity(metric="manhattan", bandwidth=0.02).fit(X)
    np.testing.assert_allclose(DensityScore().values(model, X, 0), without_each_row(model, X))
    assert not DensityScore().handles(KernelDensity(metric="haversine"))


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_one_component_is_exact(covariance_type):
    model = GaussianMixture(covariance_type=covariance_type).fit(X)
    expected = without_each_row(model, X)
    np.testing.assert_allclose(DensityScore().values(model, X, 0), expected, rtol=1e-4)


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
@pytest.mark.parametrize("n_components", [2, 3])
def test_mixtures(covariance_type, n_components):
    """Most of the optimism of the training likelihood is removed, and the rows keep their order."""
    model = GaussianMixture(
        n_components, covariance_type=covariance_type, tol=1e-6, max_iter=2000, random_state=0
    ).fit(X)
    found, expected = DensityScore().values(model, X, 0), without_each_row(continued(model), X)
    removed = (model.score(X) - found.mean()) / (model.score(X) - expected.mean())
    assert 0.7 < removed < 1.1
    assert np.corrcoef(found, expected)[0, 1] > 0.98


@pytest.mark.parametrize("covariance_type", ["full", "tied", "diag", "spherical"])
def test_priors(covariance_type):
    model = BayesianGaussianMixture(
        n_components=2, covariance_type=covariance_type, tol=1e-6, max_iter=2000, random_state=0
    ).fit(X)
    found, expected = DensityScore().values(model, X, 0), without_each_row(model, X)
    assert found.mean() == pytest.approx(expected.mean(), abs=0.03)


def test_component_of_a_single_row():
    """A component of one row is no density of that row."""
    rows = np.vstack([X, [[40.0, 40.0]]])
    means = [X.mean(axis=0), [40.0, 40.0]]
    model = GaussianMixture(2, means_init=means, random_state=0).fit(rows)
    assert DensityScore().values(model, rows, 0)[-1] < -100


def test_bandwidth_of_a_search():
    search = GridSearchLZO(KernelDensity(), {"bandwidth": np.logspace(-2, 1, 10)}).fit(X)
    expected = [
        without_each_row(KernelDensity(**p), X).mean() for p in search.cv_results_["params"]
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], expected)
    assert search.fit_counts_ == {"candidate": 10, "auxiliary": 0, "cv": 0, "refit": 0}
    assert search.selection_.resampled_units == "validation rows"
