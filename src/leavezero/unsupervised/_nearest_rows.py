"""Cluster labels of new rows by the nearest training row, for clusterers without ``predict``."""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.cluster import DBSCAN, HDBSCAN, OPTICS
from sklearn.neighbors import NearestNeighbors
from sklearn.utils.validation import validate_data

from leavezero._typing import Floats, Ints, Table
from leavezero.unsupervised._clusters import ClusterScore
from leavezero.unsupervised._unsupervised_score import as_floats, last_input, last_step

NOISE = -1


@dataclass(frozen=True, eq=False)
class NearestRows:
    """The training rows that label new ones, by the metric of the clusterer.

    A new row has the label of the nearest training row. Clusterers with noise: for ``DBSCAN``, only
    core rows count, and rows farther than ``eps`` from all of them are noise, as they would be in
    training. ``HDBSCAN`` and ``OPTICS`` have no such distance. Rows nearest to noise are noise, and
    rows that are farther from a cluster than any of its rows is from the others. Pickles of a
    search contain these rows.

    Parameters
    ----------
    model : estimator
        The fitted clusterer, or a pipeline that ends in one.
    rows : array or sparse matrix
        The training rows, as the clusterer received them.
    labels : array of int
        Their cluster labels; noise is -1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import DBSCAN
    >>> from leavezero.unsupervised import NearestRows
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> model = DBSCAN(eps=1.5, min_samples=2).fit(X)
    >>> NearestRows.of(model, X).predict([[3.0], [7.0], [5.0]])
    array([ 0,  1, -1])
    """

    model: Any
    rows: Any = field(repr=False)
    labels: Ints = field(repr=False)

    @classmethod
    def of(cls, model: Any, X: Table) -> Self | None:
        """Keep the training rows of a fitted clusterer; None for models that need no rows.

        Of a pipeline, the last step counts. None is for models with ``predict``, and for those that
        are not clusterers of rows.
        """
        last = last_step(model)
        if hasattr(model, "predict") or not ClusterScore().handles(last):
            return None
        X = last_input(model, X)
        rows, labels = X.tocsr() if sparse.issparse(X) else as_floats(X), np.asarray(last.labels_)
        # HDBSCAN gives rows with missing or infinite values labels below that of noise.
        kept = np.flatnonzero(labels >= NOISE)
        if isinstance(last, DBSCAN):
            kept = last.core_sample_indices_
        return cls(model, rows[kept], labels[kept])

    def predict(self, X: Table) -> Ints:
        """Return the labels of new rows."""
        rows = last_input(self.model, X)
        rows = validate_data(last_step(self.model), rows, reset=False, accept_sparse="csr")
        if not (self.labels >= 0).any():
            return np.full(rows.shape[0], NOISE)
        neighbors, limits = self._neighbors
        distances, nearest = (found[:, 0] for found in neighbors.kneighbors(rows))
        return np.where(distances <= limits[nearest], self.labels[nearest], NOISE)

    @cached_property
    def _neighbors(self) -> tuple[NearestNeighbors, Floats]:
        """The index of the rows, and the distance from each beyond which new rows are noise."""
        model, limits = last_step(self.model), np.full(len(self.labels), np.inf)
        options = {"metric": getattr(model, "metric", "euclidean"), "p": getattr(model, "p", 2)}
        options["metric_params"] = getattr(model, "metric_params", None)
        if isinstance(model, DBSCAN):
            limits[:] = model.eps
        elif isinstance(model, HDBSCAN | OPTICS) or self.labels.min() < 0:
            for label in np.unique(self.labels[self.labels >= 0]):
                own = np.flatnonzero(self.labels == label)
                inside = NearestNeighbors(n_neighbors=1, **options).fit(self.rows[own])
                limits[own] = inside.kneighbors()[0].max() if len(own) > 1 else 0.0
        return NearestNeighbors(n_neighbors=1, **options).fit(self.rows), limits
