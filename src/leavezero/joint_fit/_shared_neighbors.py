"""One search for the nearest neighbors of rows, for k-NN models with any k and weights."""

from collections.abc import Hashable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from leavezero._typing import AnyArray, Floats, Table
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


class SharedNeighbors(JointFit):
    """KNeighborsClassifier and KNeighborsRegressor along ``n_neighbors`` and ``weights``.

    Predictions equal those of plain fits up to rounding where distances differ. Of equally distant
    rows, others may be neighbors than in a plain fit: one query with the largest k orders them.
    """

    name = "shared neighbors"
    estimator_types = (KNeighborsClassifier, KNeighborsRegressor)
    along = "n_neighbors"

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the number of neighbors and their weights."""
        weights = estimator.weights  # a function might modify the shared distances
        named = weights is None or (isinstance(weights, str) and weights in ("uniform", "distance"))
        precomputed = isinstance(estimator.metric, str) and estimator.metric == "precomputed"
        if precomputed or not named or not is_count(estimator.n_neighbors):
            return None
        return params_key(estimator, "n_neighbors", "weights")

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit the model with the fewest neighbors; the others share its training rows and tree."""
        first = fit_plainly(min(estimators, key=self.order), X, y, sample_weight)
        for estimator in estimators:
            if estimator is not first:
                copy_fitted_attributes(first, estimator)
        return JointlyFitted(estimators, shared=y)

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return labels and probabilities, or means, from one search for neighbors."""
        first = fitted.models[0]
        # A plain call raises the error for more neighbors than training rows.
        fits = [model.n_neighbors <= first.n_samples_fit_ for model in fitted.models]
        models = [model for model, few in zip(fitted.models, fits, strict=True) if few]
        if not models or (method == "predict_proba" and first.outputs_2d_):
            return None
        from_graph = [graph_model(model, fitted.shared) for model in models]
        k = max(model.n_neighbors for model in models)

        def predict_block(rows: Table) -> list[AnyArray]:
            graph = first.kneighbors_graph(rows, k, mode="distance")
            return [getattr(model, method)(graph) for model in from_graph]

        found = iter(predict_in_blocks(predict_block, X, cells=6 * k))
        return [next(found) if few else None for few in fits]


def graph_model(model: Any, y: AnyArray) -> Any:
    """Return a model that predicts as a fitted one does, from the graph of neighbors of rows.

    ``y`` is the target of its training rows. The graph is that of ``kneighbors_graph`` or
    ``radius_neighbors_graph`` with ``mode="distance"``, nearest neighbors first.
    """
    params = model.get_params(deep=False)
    kept = {name: params[name] for name in ("n_neighbors", "radius", "weights") if name in params}
    one_column = is_classifier(model) and not model.outputs_2d_
    any_graph = sparse.identity(model.n_samples_fit_, format="csr")  # only its shape matters
    from_graph = type(model)(metric="precomputed", **kept)
    return from_graph.fit(any_graph, np.ravel(y) if one_column else np.asarray(y))
