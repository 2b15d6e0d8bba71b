"""Predictions are made once, in blocks."""

import numpy as np
from sklearn.neighbors import KNeighborsClassifier

from leavezero import ValidationSet
from leavezero.engine import _metrics, _responses


def test_blocks_give_what_one_call_gives(iris, monkeypatch):
    """The last block may be short."""
    model = KNeighborsClassifier().fit(*iris)
    monkeypatch.setattr(_responses, "BLOCK_CELLS", 4 * 7)
    calls = []
    predict = model.predict
    monkeypatch.setattr(model, "predict", lambda X: calls.append(len(X)) or predict(X))
    blocked = _responses.in_blocks(model.predict, iris[0])
    assert np.array_equal(blocked, predict(iris[0]))
    assert max(calls) == 7
    assert sum(calls) == 150


def test_losses_are_float32_zeros_and_ones():
    """Row losses are kept small."""
    rows = ValidationSet(np.zeros((2, 1)), np.array(["a", "b"]))
    losses = _metrics.zero_one_losses(np.array(["a", "a"]), rows)
    assert losses.dtype == np.float32
    assert losses.tolist() == [0, 1]
