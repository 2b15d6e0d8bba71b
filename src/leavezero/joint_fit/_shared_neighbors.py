"""One search for the nearest neighbors of rows, for k-NN models with any k and weights."""

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    Predictions,
    copy_fitted_attributes,
    fit_plainly,
    is_count,
    params_key,
    predict_in_blocks,
)

TIED_DISTANCE = 1e-12  # of a squared length: distances that differ by less may be equal
TIED_VOTES = 1e-10  # of the votes: the order of a sum may decide between two classes


class SharedNeighbors(JointFit):
    """KNeighborsClassifier and KNeighborsRegressor along ``n_neighbors`` and ``weights``.

    Labels equal those of plain fits. Probabilities and means equal theirs up to rounding. Which of
    several equally distant rows are neighbors depends on k: such rows are left to each model.
    """

    name = "shared neighbors"
    estimator_types = (KNeighborsClassifier, KNeighborsRegressor)
    along = "n_neighbors"

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the number of neighbors and their weights."""
        weights = estimator.weights
        valid = weights is None or callable(weights) or weights in ("uniform", "distance")
        precomputed = isinstance(estimator.metric, str) and estimator.metric == "precomputed"
        if precomputed or not valid or not is_count(estimator.n_neighbors):
            return None
        return params_key(estimator, "n_neighbors", "weights")

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit one model; the others share its training rows and its tree."""
        first, n_rows = None, count_rows(X)
        for estimator in estimators:
            if not builds_same_index(estimator, n_rows):
                fit_plainly(estimator, X, y, sample_weight)
            elif first is None:
                first = fit_plainly(estimator, X, y, sample_weight)
            else:
                copy_fitted_attributes(first, estimator)
        return JointlyFitted(estimators, shared=(first, np.asarray(y)))

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return labels and probabilities, or means, from one search for neighbors."""
        first, targets = fitted.shared
        if first is None or getattr(first, "outputs_2d_", False):
            return None
        n_rows = first.n_samples_fit_
        sharing = [
            index
            for index, model in enumerate(fitted.models)
            if model.n_neighbors <= n_rows and builds_same_index(model, n_rows)
        ]
        if not sharing:
            return None
        models = [fitted.models[index] for index in sharing]
        classes = getattr(first, "classes_", None)
        if classes is not None:
            targets = np.searchsorted(classes, targets.ravel())
        # One neighbor more than any model uses shows whether it is as near as the last one.
        n_neighbors = min(max(model.n_neighbors for model in models) + 1, n_rows)
        cells = (4 + targets[:1].size) * n_neighbors + (0 if classes is None else len(classes))

        def predict_block(rows: Table) -> list[AnyArray]:
            distances, neighbors = first.kneighbors(rows, n_neighbors=n_neighbors)
            found = _Neighbors(rows, distances, neighbors, targets)
            return [found.predict(model, method) for model in models]

        by_index = dict(zip(sharing, predict_in_blocks(predict_block, X, cells), strict=True))
        return [by_index.get(index) for index in range(len(fitted.models))]


@dataclass(frozen=True, eq=False)
class _Neighbors:
    """The nearest training rows of some rows, in order, and the targets of all training rows.

    Targets are class indices or the values of a regression.
    """

    rows: Table
    distances: Floats
    neighbors: Ints
    targets: AnyArray

    def predict(self, model: Any, method: str) -> AnyArray:
        """Return predictions from the k nearest rows; unclear ones come from the model itself."""
        weights = _vote_weights(model.weights, self.distances[:, : model.n_neighbors])
        nearest = self.targets[self.neighbors[:, : model.n_neighbors]]
        unclear = self._tied(model.n_neighbors)
        if not hasattr(model, "classes_"):
            values = _means(nearest, weights)
        else:
            votes = _votes(nearest, weights, len(model.classes_))
            totals = votes.sum(axis=1)
            if weights is not None:
                unclear |= _close(votes) | ~(totals > 0)
            if method == "predict":
                values = model.classes_.take(votes.argmax(axis=1))
            else:
                values = votes / np.where(totals > 0, totals, 1.0)[:, None]
        if unclear.any():
            few = take_rows(self.rows, np.flatnonzero(unclear))
            values[unclear] = getattr(model, method)(few)
        return values

    def _tied(self, k: int) -> Bools:
        """Return where the next neighbor may be as near as the last one that counts."""
        if k >= self.distances.shape[1]:
            return np.zeros(len(self.distances), dtype=bool)
        last, following = self.distances[:, k - 1] ** 2, self.distances[:, k] ** 2
        # Euclidean distances are rounded relative to the lengths of the rows.
        return np.asarray(following - last <= TIED_DISTANCE * (self._squares + following))

    @cached_property
    def _squares(self) -> Floats:
        """The squared length of each row."""
        if sparse.issparse(self.rows):
            return np.asarray(self.rows.multiply(self.rows).sum(axis=1)).ravel()
        values = np.asarray(self.rows, dtype=np.float64)
        return np.asarray(np.einsum("ij,ij->i", values, values))


def builds_same_index(model: Any, n_rows: int) -> bool:
    """Return False for large k: from half of the rows on, algorithm="auto" builds no tree."""
    return model.algorithm != "auto" or model.n_neighbors < n_rows // 2


def _vote_weights(weights: Any, distances: Floats) -> Floats | None:
    """Return the weight of each neighbor; None for uniform weights."""
    if callable(weights):
        return np.asarray(weights(distances.copy()))
    if weights != "distance":
        return None
    with np.errstate(divide="ignore"):
        inverse = 1.0 / distances
    # Where neighbors are at distance 0, only they count.
    infinite = np.isinf(inverse)
    return np.where(infinite.any(axis=1, keepdims=True), infinite, inverse)


def _votes(classes: Ints, weights: Floats | None, n_classes: int) -> Floats:
    """Return the sum of weights by row and class, added in the order of the neighbors."""
    n_rows = len(classes)
    cells = (classes + n_classes * np.arange(n_rows)[:, None]).ravel()
    each = None if weights is None else weights.ravel()
    votes = np.bincount(cells, weights=each, minlength=n_rows * n_classes)
    return votes.reshape(n_rows, n_classes).astype(np.float64)


def _close(votes: Floats) -> Bools:
    """Return where the two largest votes are equal up to rounding."""
    second, first = np.partition(np.pad(votes, ((0, 0), (1, 0))), -2, axis=1)[:, -2:].T
    return np.asarray(first - second <= TIED_VOTES * np.abs(first))


def _means(values: AnyArray, weights: Floats | None) -> Floats:
    """Return means over the second axis."""
    if weights is None:
        return np.asarray(values.mean(axis=1))
    totals = weights.sum(axis=1)
    if values.ndim == 2:
        return np.asarray((values * weights).sum(axis=1) / totals)
    return np.asarray((values * weights[:, :, None]).sum(axis=1) / totals[:, None])
