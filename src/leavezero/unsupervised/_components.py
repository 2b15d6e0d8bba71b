"""Leave-one-cell-out reconstruction error of factor models, from one decomposition."""

from typing import Any, ClassVar

import numpy as np
from sklearn.decomposition import (
    NMF,
    PCA,
    FactorAnalysis,
    IncrementalPCA,
    MiniBatchNMF,
    TruncatedSVD,
)

from leavezero._typing import Floats
from leavezero.unsupervised._unsupervised_score import UnsupervisedScore

DETERMINED = 1e-8  # a cell with less freedom than this determines its own reconstruction


class ComponentScore(UnsupervisedScore):
    """Negative mean squared error of cells that are reconstructed from all other cells.

    Notes
    -----
    A cell has the error ``e / ((1 - a) (1 - b))``, with ``e`` the error of its reconstruction by
    the fitted model, ``a`` the leverage of its row among the scores and ``b`` that of its column
    among the loadings (Josse and Husson 2012). The product is the share of the cell itself in its
    reconstruction, up to the rotation of the components. In the mean-centered models, the mean has
    a share of ``1 / n``. A cell that determines its own reconstruction, as all do with as many
    components as columns, is predicted by the mean. For ``FactorAnalysis``, folds of its own
    likelihood select better, and are the default; pass this score as ``scoring`` to use it.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> from leavezero import GridSearchLZO
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(100, 3)) @ rng.normal(size=(3, 12)) + 0.5 * rng.normal(size=(100, 12))
    >>> search = GridSearchLZO(PCA(), {"n_components": range(1, 12)}).fit(X)
    >>> search.best_params_, search.n_fits_
    ({'n_components': 3}, 11)
    """

    name: ClassVar[str] = "leave-one-cell-out reconstruction error"
    per_row: ClassVar[bool] = True

    def handles(self, estimator: Any) -> bool:
        """Return True for factor models with scores and loadings."""
        return isinstance(
            estimator, PCA | IncrementalPCA | TruncatedSVD | NMF | MiniBatchNMF | FactorAnalysis
        )

    def is_default_for(self, estimator: Any) -> bool:
        """Return False for factor analysis, whose likelihood in folds selects better."""
        return self.handles(estimator) and not isinstance(estimator, FactorAnalysis)

    def score(self, model: Any, X: Floats, rng: np.random.Generator) -> Floats:
        """Return the negative mean squared error of the cells of each row."""
        mean = getattr(model, "mean_", None)
        center = np.zeros(X.shape[1]) if mean is None else mean
        scores = model.transform(X)
        errors = X - _reconstruct(model, scores)
        row_freedom = 1 - _leverages(scores) - (0 if mean is None else 1 / len(X))
        freedom = np.outer(row_freedom, 1 - _column_leverages(model, center))
        is_determined = freedom < DETERMINED
        errors = np.where(is_determined, X - center, errors / np.where(is_determined, 1, freedom))
        return -np.mean(errors**2, axis=1)


def _reconstruct(model: Any, scores: Floats) -> Floats:
    if hasattr(model, "inverse_transform"):
        return model.inverse_transform(scores)
    return scores @ model.components_ + model.mean_


def _leverages(table: Floats) -> Floats:
    """Return the diagonal of the projection on the columns of a table."""
    left, values, _ = np.linalg.svd(table, full_matrices=False)
    return (left[:, values > 1e-10 * values.max(initial=0)] ** 2).sum(axis=1)


def _column_leverages(model: Any, center: Floats) -> Floats:
    """Return the derivative of each cell's reconstruction by the cell, for fixed components."""
    if isinstance(model, NMF | MiniBatchNMF):  # scores are no linear function of a row
        return _leverages(model.components_.T)
    shifted = np.vstack([center, center + np.eye(len(center))])
    reconstructed = _reconstruct(model, model.transform(shifted))
    return np.diagonal(reconstructed[1:] - reconstructed[0])
