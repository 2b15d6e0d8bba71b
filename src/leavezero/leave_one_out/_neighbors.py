"""Leave-one-out of k-nearest neighbors and radius neighbors: no row is its own neighbor."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)
from sklearn.utils import check_consistent_length

from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.joint_fit import builds_same_index, params_key
from leavezero.leave_one_out._class_scores import partial_predictions
from leavezero.leave_one_out._loo_method import (
    LeaveOneOutMethod,
    LOOPredictions,
    mismatch_error,
    reject_weights,
    to_dense,
)

_K_NEIGHBORS = (KNeighborsClassifier, KNeighborsRegressor)
_RADIUS_NEIGHBORS = (RadiusNeighborsClassifier, RadiusNeighborsRegressor)
_N_CHECKED = 16  # rows that are compared with the fitted ones
_MAX_DIFFERENT = 0.25  # share of them that may differ, because of ties
_TOO_FEW = "without a row there are fewer rows than n_neighbors"

Query = tuple[AnyArray, AnyArray]  # distances and indices, as scikit-learn returns them


class NeighborsMethod(LeaveOneOutMethod):
    """Exact leave-one-out of k-NN and radius neighbors, classifiers and regressors, any metric.

    scikit-learn finds the neighbors of each training row but itself. Which of equally distant rows
    are neighbors is as arbitrary as in a fit without the row. With several outputs there are labels
    but no probabilities. Rows without a neighbor in the radius have no prediction.
    """

    name = "neighbors"
    estimator_types = (*_K_NEIGHBORS, *_RADIUS_NEIGHBORS)

    def unsupported_reason(self, estimator: Any) -> str | None:
        if getattr(estimator, "outlier_label", None) is not None:
            return "outlier_label is not supported"
        return None

    def predict_many(
        self, models: Sequence[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[LOOPredictions]:
        """Return the predictions of several models; k-NN models share one neighbor query."""
        keys = [_search_key(model) for model in models]
        queries: dict[Any, Query] = {}
        results = []
        for model, key in zip(models, keys, strict=True):
            if key is not None and key not in queries:
                pairs = zip(models, keys, strict=True)
                largest = max(one.n_neighbors for one, other in pairs if other == key)
                n_neighbors = min(largest + 1, model.n_samples_fit_ - 1)  # one more shows ties
                queries[key] = model.kneighbors(n_neighbors=n_neighbors)
                _check_rows(model, X, _targets(model, y))  # once: all have the same rows
            query = None if key is None else _first_neighbors(model, *queries[key])
            results.append(self._predict(model, X, y, sample_weight, query))
        return results

    def _predict(
        self,
        model: Any,
        X: Table,
        y: AnyArray,
        sample_weight: Floats | None,
        query: Query | None = None,
    ) -> LOOPredictions:
        reject_weights(model, sample_weight)
        check_consistent_length(X, y)
        targets = _targets(model, y)
        if query is None:
            _check_rows(model, X, targets)
        if type(model) in _K_NEIGHBORS and model.n_neighbors >= len(targets):
            no_rows = np.zeros(len(targets), dtype=bool)
            return LOOPredictions("exact", {}, no_rows, _TOO_FEW)
        votes = _votes(model, *(query or _query(model)))
        if is_classifier(model):
            return _predict_classes(model, votes, targets)
        means = votes.means(targets)
        means = means[:, 0] if np.ndim(y) == 1 else means
        return partial_predictions("exact", {"predict": means}, votes.sums() != 0)


@dataclass(frozen=True, eq=False)
class _Votes:
    """Neighbor ``neighbors[t]`` of query row ``rows[t]`` counts with ``weights[t]``."""

    rows: Ints
    neighbors: Ints
    weights: Floats
    n_rows: int

    def sums(self, values: AnyArray | float = 1.0) -> Floats:
        """Return the weighted sum over the neighbors of each row."""
        sums = np.bincount(self.rows, self.weights * values, minlength=self.n_rows)
        return np.asarray(sums, dtype=np.float64)

    def means(self, targets: Floats) -> Floats:
        """Return weighted means of the neighbors' targets, NaN without neighbors."""
        sums = np.column_stack([self.sums(column[self.neighbors]) for column in targets.T])
        totals = self.sums()
        return np.asarray(sums / np.where(totals == 0, np.nan, totals)[:, None])

    def class_shares(self, codes: Ints, n_classes: int) -> Floats:
        """Return the share of each class in the weight of the neighbors, 0 without neighbors."""
        cells = self.rows * n_classes + codes[self.neighbors]
        flat = np.bincount(cells, self.weights, minlength=self.n_rows * n_classes)
        sums = flat.astype(np.float64).reshape(self.n_rows, n_classes)
        totals = sums.sum(axis=1, keepdims=True)
        return np.asarray(sums / np.where(totals == 0, 1.0, totals))


def _votes(model: Any, distances: AnyArray, neighbors: AnyArray) -> _Votes:
    """Return the votes of neighbors, weighted as the model does."""
    n_rows = len(neighbors)
    sizes = [len(row) for row in neighbors] if neighbors.dtype == object else neighbors.shape[1]
    rows, flat = np.repeat(np.arange(n_rows), sizes), _flat(distances)
    if callable(model.weights):
        weights = _flat(np.asarray(model.weights(distances))).astype(np.float64)
    elif model.weights == "distance":
        with np.errstate(divide="ignore"):
            weights = 1.0 / flat.astype(np.float64)
        # If there are neighbors at distance 0, only they vote.
        has_copy = np.bincount(rows, flat == 0, minlength=n_rows) > 0
        weights = np.where(has_copy[rows], flat == 0, weights)
    else:
        weights = np.ones(len(rows))
    return _Votes(rows, _flat(neighbors).astype(np.intp), weights, n_rows)


def _flat(values: AnyArray) -> AnyArray:
    """Return all values of a matrix, or of an array of arrays of different lengths."""
    return np.concatenate(values) if values.dtype == object else values.ravel()


def _query(model: Any, X: Table = None) -> Query:
    """Return the neighbors of some rows, nearest first; of all training rows but itself if None."""
    if type(model) in _K_NEIGHBORS:
        return model.kneighbors(X)
    return model.radius_neighbors(X, sort_results=True)


def _search_key(model: Any) -> Any:
    """Return an equal key for k-NN models with the same neighbors up to their number, or None."""
    if type(model) not in _K_NEIGHBORS:
        return None
    params = params_key(model, "n_neighbors", "weights", "n_jobs")
    return params and (params, builds_same_index(model, model.n_samples_fit_))


def _first_neighbors(model: Any, distances: Floats, neighbors: Ints) -> Query | None:
    """Return the model's neighbors from a larger query; None if they tie with others."""
    k, n_found = model.n_neighbors, distances.shape[1]
    if k > n_found:
        return None
    # Which of equally distant rows are found depends on the number of neighbors of the query.
    if k < n_found and np.isclose(distances[:, k - 1], distances[:, k], 1e-10, 0.0).any():
        return None
    return distances[:, :k].copy(), neighbors[:, :k]  # weight functions may write to distances


def _targets(model: Any, y: AnyArray) -> AnyArray:
    """Return one column per output: class codes or values."""
    values = np.asarray(y)
    columns = values[:, None] if values.ndim == 1 else values
    if not is_classifier(model):
        return columns
    classes = _classes(model)
    if columns.shape[1] != len(classes):
        raise mismatch_error(model, f"it has {len(classes)} outputs, y {columns.shape[1]}")
    codes = []
    for labels, expected in zip(columns.T, classes, strict=True):
        unique, inverse = np.unique(labels, return_inverse=True)
        if not np.array_equal(unique, expected):
            raise mismatch_error(model, "y has other classes")
        codes.append(inverse)
    return np.column_stack(codes)


def _classes(model: Any) -> list[AnyArray]:
    return list(model.classes_) if model.outputs_2d_ else [model.classes_]


def _predict_classes(model: Any, votes: _Votes, codes: Ints) -> LOOPredictions:
    pairs = list(zip(codes.T, _classes(model), strict=True))
    shares = [votes.class_shares(column, len(classes)) for column, classes in pairs]
    labels = [
        classes.take(share.argmax(axis=1))
        for share, (_, classes) in zip(shares, pairs, strict=True)
    ]
    valid = votes.sums() != 0
    if model.outputs_2d_:
        stacked = np.column_stack(labels).astype(model.classes_[0].dtype)
        return partial_predictions("exact", {"predict": stacked}, valid)
    predictions = {"predict": labels[0], "predict_proba": shares[0]}
    return partial_predictions("exact", predictions, valid)


def _check_rows(model: Any, X: Table, targets: AnyArray) -> None:
    """Raise if a few rows or their targets are not the fitted ones, in their order."""
    n_rows = len(targets)
    if n_rows != model.n_samples_fit_:
        raise mismatch_error(model, f"there are {n_rows}, it has {model.n_samples_fit_}")
    if model.metric == "precomputed" and sparse.issparse(X):
        return  # a graph need not contain the distance of a row to itself
    checked = np.unique(np.linspace(0, n_rows - 1, _N_CHECKED).astype(np.intp))
    rows = take_rows(X, checked)
    distances, neighbors = _query(model, rows)
    # Each row must be at distance 0 from the fitted row of its index, or from a copy of that row.
    values = to_dense(rows).astype(np.float64)
    scale = 1.0 if model.metric == "precomputed" else float(np.abs(values).max(initial=0.0))
    nearest = np.array([row[0] if len(row) else -1 for row in neighbors])
    distance = np.array([row[0] if len(row) else np.inf for row in distances])
    same = (nearest == checked) | (to_dense(take_rows(X, nearest)) == values).all(axis=1)
    if np.mean(~same | (distance > 1e-6 * scale + 1e-12)) > _MAX_DIFFERENT:
        raise mismatch_error(model, "they are not at distance 0 from its own")

    votes, scale = _votes(model, distances, neighbors), 1.0
    if is_classifier(model):
        fitted = model.predict_proba(rows)
        fitted = np.hstack(fitted) if model.outputs_2d_ else fitted
        pairs = zip(targets.T, _classes(model), strict=True)
        expected = np.hstack([votes.class_shares(codes, len(names)) for codes, names in pairs])
    else:
        with np.errstate(invalid="ignore"):  # radius neighbors cast NaN to the targets' dtype
            fitted = model.predict(rows).reshape(len(checked), -1)
        expected, scale = votes.means(targets), float(np.abs(targets).max(initial=0.0))
    if np.mean((np.abs(expected - fitted) > 1e-6 * scale).any(axis=1)) > _MAX_DIFFERENT:
        raise mismatch_error(model, "with these targets it would have other predictions")
