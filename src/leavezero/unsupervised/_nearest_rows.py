"""Cluster labels of new rows by the nearest training row, for clusterers without ``predict``."""

from dataclasses import dataclass
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
    neighbors : NearestNeighbors or None
        Fitted to the training rows; None if all of them are noise.
    labels : array of int
        Their cluster labels; noise is -1.
    limits : array of float
        The distance from each row beyond which a new row is noise.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.cluster import DBSCAN
    >>> from leavezero.unsupervised import NearestRows
    >>> X = np.array([[0.0], [1.0], [2.0], [8.0], [9.0]])
    >>> model = DBSCAN(eps=1.5, min_samples=2).fit(X)
    >>> NearestRows.of(model, X).predict(model, [[3.0], [7.0], [5.0]])
    array([ 0,  1, -1])
    """

    neighbors: NearestNeighbors | None
    labels: Ints
    limits: Floats

    @classmethod
    def of(cls, model: Any, X: Table) -> Self | None:
        """Keep the training rows of a fitted clusterer; None for models that need no rows.

        Of a pipeline, the last step counts. None is for models with ``predict``, and for those that
        are not clusterers of rows.
        """
        if hasattr(model, "predict") or not ClusterScore().handles(last_step(model)):
            return None
        X, model = last_input(model, X), last_step(model)
        rows, labels = X if sparse.issparse(X) else as_floats(X), np.asarray(model.labels_)
        if isinstance(model, DBSCAN):
            kept = model.core_sample_indices_
        elif isinstance(model, HDBSCAN):  # accepts missing values
            kept = np.flatnonzero(np.isfinite(rows).all(axis=1))
        else:
            kept = np.arange(len(labels))
        rows, labels = rows[kept], labels[kept]
        limits = np.full(len(labels), np.inf)
        if not (labels >= 0).any():
            return cls(None, labels, limits)
        options = {"metric": getattr(model, "metric", "euclidean"), "p": getattr(model, "p", 2)}
        options["metric_params"] = getattr(model, "metric_params", None)
        neighbors = NearestNeighbors(n_neighbors=1, **options).fit(rows)
        if isinstance(model, DBSCAN):
            limits[:] = model.eps
        elif isinstance(model, HDBSCAN | OPTICS) or labels.min() < 0:
            for label in np.unique(labels[labels >= 0]):
                own = np.flatnonzero(labels == label)
                inside = NearestNeighbors(n_neighbors=1, **options).fit(rows[own])
                limits[own] = inside.kneighbors()[0].max() if len(own) > 1 else 0.0
        return cls(neighbors, np.maximum(labels, NOISE), limits)

    def predict(self, model: Any, X: Table) -> Ints:
        """Return the labels of new rows; ``model`` is the one that was fitted."""
        X, model = last_input(model, X), last_step(model)
        rows = validate_data(model, X, reset=False, accept_sparse="csr")
        if self.neighbors is None:
            return np.full(rows.shape[0], NOISE)
        distances, nearest = self.neighbors.kneighbors(rows)
        nearest, distances = nearest[:, 0], distances[:, 0]
        return np.where(distances <= self.limits[nearest], self.labels[nearest], NOISE)
