"""Number of components, against decompositions in which single cells are missing."""

import numpy as np
import pytest
from sklearn.decomposition import NMF, PCA, FactorAnalysis, IncrementalPCA, TruncatedSVD

from leavezero import GridSearchLZO
from leavezero.unsupervised import ComponentScore


def simulate(rank=3, n_rows=80, n_columns=10, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(n_rows, rank)) @ rng.normal(size=(rank, n_columns))
    return signal + noise * rng.normal(size=(n_rows, n_columns))


def without_cell(X, row, column, n_components):
    """Return the reconstruction of a cell by the decomposition of all others, imputed."""
    filled = X.copy()
    filled[row, column] = np.delete(X[:, column], row).mean()
    for _ in range(200):
        mean = filled.mean(axis=0)
        left, values, right = np.linalg.svd(filled - mean, full_matrices=False)
        fitted = (left[:, :n_components] * values[:n_components]) @ right[:n_components] + mean
        filled[row, column] = fitted[row, column]
    return filled[row, column]


@pytest.mark.parametrize("n_components", [1, 3])
def test_against_missing_cells(n_components):
    X = simulate(n_rows=40)
    found = -ComponentScore().values(PCA(n_components).fit(X), X, 0)[:10]
    cells = [(row, column) for row in range(10) for column in range(10)]
    errors = [X[cell] - without_cell(X, *cell, n_components) for cell in cells]
    expected = np.square(errors).reshape(10, 10).mean(axis=1)
    np.testing.assert_allclose(found, expected, rtol=0.15)
    assert found.mean() == pytest.approx(expected.mean(), rel=0.05)


@pytest.mark.parametrize("estimator", [PCA(), PCA(whiten=True), TruncatedSVD(), IncrementalPCA()])
def test_number_of_components(estimator):
    search = GridSearchLZO(estimator, {"n_components": range(1, 10)}).fit(simulate())
    assert search.best_params_ == {"n_components": 3}
    assert search.fit_counts_["candidate"] == 9


def test_factor_analysis():
    """Factors are shrunk, so that one too many costs little; folds are the default."""
    grid = {"n_components": range(1, 10)}
    search = GridSearchLZO(FactorAnalysis(), grid, scoring=ComponentScore()).fit(simulate())
    assert search.best_params_["n_components"] in (3, 4)
    assert search.cv_results_["rank_test_score"][:2].tolist() == [9, 8]
    search = GridSearchLZO(FactorAnalysis(), grid).fit(simulate())
    assert search.best_params_["n_components"] == 3
    assert search.n_splits_ == 5


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_non_negative_factors():
    rng = np.random.default_rng(0)
    X = rng.exponential(size=(100, 3)) @ rng.exponential(size=(3, 12))
    X = X + 0.1 * rng.random(X.shape)
    search = GridSearchLZO(NMF(), {"n_components": [1, 2, 3, 5]}).fit(X)
    assert search.best_params_ == {"n_components": 3}


def test_as_many_components_as_columns():
    """All cells are reconstructed from themselves, so that the other cells give the mean."""
    X = simulate(n_columns=4)
    found = ComponentScore().values(PCA().fit(X), X, 0)
    np.testing.assert_allclose(found, -np.mean((X - X.mean(axis=0)) ** 2, axis=1))
