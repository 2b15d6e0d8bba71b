"""How well a fitted model does on each replicate of the validation set."""

from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.pipeline import Pipeline

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.engine._draw import Replicates

BLOCK_CELLS = 2**23  # at most 64 MiB of float64 features at a time


def score_replicates(model: Any, replicates: Replicates) -> Floats:
    """Return the model's score on each replicate, by its own default metric."""
    if _is_judged_by_accuracy(model):
        losses = zero_one_losses(replicates.rows.y, predict_in_blocks(model, replicates.rows.X))
        return np.array([1.0 - losses[rows].mean(dtype=np.float64) for rows in replicates.slices])
    V = replicates.rows
    return np.array(
        [float(model.score(take_rows(V.X, rows), V.y[rows])) for rows in replicates.slices]
    )


def predict_in_blocks(model: Any, X: Table) -> AnyArray:
    """Return the model's predictions, made once for all rows with bounded memory."""
    n_rows = count_rows(X)
    size = block_size(X)
    blocks = [model.predict(take_rows(X, slice(at, at + size))) for at in range(0, n_rows, size)]
    return np.concatenate(blocks)


def block_size(X: Table) -> int:
    """Return how many rows make a block; it depends on the number of columns only."""
    n_columns = X.shape[1] if getattr(X, "ndim", 1) > 1 else 1
    return max(1, BLOCK_CELLS // max(1, n_columns))


def zero_one_losses(y: AnyArray, responses: AnyArray) -> Floats:
    """Return 1 for each row whose label was missed, 0 for the others."""
    return np.asarray(responses != y, dtype=np.float32)


def _is_judged_by_accuracy(model: Any) -> bool:
    """Tell whether ``model.score`` is scikit-learn's accuracy of ``predict``."""
    while isinstance(model, Pipeline):
        model = model[-1]
    return getattr(type(model), "score", None) is ClassifierMixin.score
