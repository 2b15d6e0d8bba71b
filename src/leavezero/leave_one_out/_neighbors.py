"""Leave-one-out of k-nearest neighbors and radius neighbors: no row is its own neighbor."""

from collections.abc import Sequence
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
from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit import SharedNeighbors, graph_model
from leavezero.leave_one_out._loo_method import (
    LeaveOneOutMethod,
    LOOPredictions,
    mismatch_error,
    partial_predictions,
    reject_weights,
    to_dense,
)

_K_NEIGHBORS = (KNeighborsClassifier, KNeighborsRegressor)
_RADIUS_NEIGHBORS = (RadiusNeighborsClassifier, RadiusNeighborsRegressor)
_N_CHECKED = 16  # rows that are compared with the fitted ones
_MAX_DIFFERENT = 0.25  # share of them that may differ, because of ties
_TOO_FEW = "without a row there are fewer rows than n_neighbors"


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
        keys = {_search_key(model) for model in models}
        if len(keys) > 1 or None in keys:
            return super().predict_many(models, X, y, sample_weight)
        _check_training_data(models[0], X, y, sample_weight)  # once: all have the same rows
        largest = max(model.n_neighbors for model in models)
        graph = _neighbor_graph(models[0], n_neighbors=largest)
        return [_predict_from_graph(model, graph, y) for model in models]

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        _check_training_data(model, X, y, sample_weight)
        return _predict_from_graph(model, _neighbor_graph(model), y)


def _search_key(model: Any) -> Any:
    """Return an equal key for k-NN models with the same neighbors up to their number, or None."""
    return SharedNeighbors().key(model) if type(model) in _K_NEIGHBORS else None


def _neighbor_graph(model: Any, rows: Table = None, n_neighbors: int | None = None) -> Any:
    """Return distances to neighbors, nearest first; None: of all training rows but themselves."""
    if type(model) in _RADIUS_NEIGHBORS:
        return model.radius_neighbors_graph(rows, mode="distance", sort_results=True)
    n_neighbors = min(n_neighbors or model.n_neighbors, model.n_samples_fit_ - (rows is None))
    return model.kneighbors_graph(rows, n_neighbors, mode="distance")


def _predict_from_graph(model: Any, graph: Any, y: AnyArray) -> LOOPredictions:
    """Return predictions from the nearest other training rows of each training row."""
    valid = np.diff(graph.indptr) > 0
    if type(model) in _K_NEIGHBORS and model.n_neighbors >= len(valid):
        return LOOPredictions("exact", {}, np.zeros(len(valid), dtype=bool), _TOO_FEW)
    from_graph, predictions = graph_model(model, y), {}
    for name in _method_names(model) if valid.any() else ():
        values = _call(from_graph, name, graph[valid])
        predictions[name] = np.zeros((len(valid), *values.shape[1:]), dtype=values.dtype)
        predictions[name][valid] = values
    return partial_predictions("exact", predictions, valid)


def _check_training_data(model: Any, X: Table, y: AnyArray, sample_weight: Floats | None) -> None:
    """Raise if a few rows or their targets are not the fitted ones, in their order."""
    reject_weights(model, sample_weight)
    check_consistent_length(X, y)
    n_rows = len(y)
    if n_rows != model.n_samples_fit_:
        raise mismatch_error(model, f"there are {n_rows}, it has {model.n_samples_fit_}")
    if model.metric == "precomputed" and sparse.issparse(X):
        return  # a graph need not contain the distance of a row to itself
    checked = np.unique(np.linspace(0, n_rows - 1, _N_CHECKED).astype(np.intp))
    rows = take_rows(X, checked)
    graph = _neighbor_graph(model, rows)
    # Each row must be at distance 0 from the fitted row of its index, or from a copy of that row.
    starts, found = graph.indptr[:-1], np.diff(graph.indptr) > 0
    nearest, distances = np.append(graph.indices, -1)[starts], np.append(graph.data, np.inf)[starts]
    values = to_dense(rows).astype(np.float64)
    scale = 1.0 if model.metric == "precomputed" else float(np.abs(values).max(initial=0.0))
    same = (nearest == checked) | (to_dense(take_rows(X, nearest)) == values).all(axis=1)
    if np.mean(~same | ~found | (distances > 1e-6 * scale + 1e-12)) > _MAX_DIFFERENT:
        raise mismatch_error(model, "they are not at distance 0 from its own")

    from_graph, rows = graph_model(model, y), take_rows(rows, np.flatnonzero(found))
    for name in _method_names(model):
        predicted, expected = _call(model, name, rows), _call(from_graph, name, graph[found])
        if predicted.shape != expected.shape:
            raise mismatch_error(model, "y has other classes or another number of columns")
        differs = predicted != expected
        if predicted.dtype.kind == "f":
            differs = np.abs(predicted - expected) > 1e-6 * np.abs(predicted).max(initial=0.0)
        if np.mean(differs.reshape(len(differs), -1).any(axis=1)) > _MAX_DIFFERENT:
            raise mismatch_error(model, "with these targets it would have other predictions")


def _method_names(model: Any) -> list[str]:
    """Return the methods with one array of predictions."""
    one_output = is_classifier(model) and not model.outputs_2d_
    return ["predict", "predict_proba"] if one_output else ["predict"]


def _call(model: Any, name: str, rows: Table) -> AnyArray:
    """Return predictions by a method."""
    with np.errstate(invalid="ignore"):  # radius neighbors cast NaN to the dtype of the targets
        return np.asarray(getattr(model, name)(rows))
