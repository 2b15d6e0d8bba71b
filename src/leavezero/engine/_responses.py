"""What a model says about the rows of V, asked once."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Ints, Table

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
BLOCK_CELLS = 2**23  # at most 64 MiB of float64 features at a time


class Responses:
    """Stands in for a fitted model before a scorer: rows are named by their position in V.

    A scorer calls ``predict``, ``predict_proba`` or ``decision_function`` on what it takes for X.
    It gets positions instead, and each method answers from what the model said about all of V.
    """

    def __init__(self, model: Any, X: Table, said: Mapping[str, AnyArray] | None = None) -> None:
        self._model = model
        self._X = X
        self._said: dict[str, AnyArray] = {}
        self._ready = {} if said is None else said  # known before anybody asks

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__sklearn_tags__":
            raise AttributeError(name)
        found = getattr(self._model, name)
        if name not in METHODS:
            return found

        def answer(rows: Ints) -> AnyArray:
            return self.all_of(name)[rows]

        answer.__name__ = name  # scikit-learn reads the method's name from it
        return answer

    @property
    def model(self) -> Any:
        """The fitted model itself."""
        return self._model

    def asked(self) -> dict[str, AnyArray]:
        """Return what was said of all rows so far, by method."""
        return self._said

    def all_of(self, method: str) -> AnyArray:
        """Return what one method says about all rows."""
        if method not in self._said:
            ready = self._ready.get(method)
            self._said[method] = (
                in_blocks(getattr(self._model, method), self._X) if ready is None else ready
            )
        return self._said[method]


def in_blocks(method: Any, X: Table) -> AnyArray:
    """Return a method's answers for all rows, made in blocks of bounded memory."""
    size = block_size(X)
    starts = range(0, count_rows(X), size)
    return np.concatenate([method(take_rows(X, slice(at, at + size))) for at in starts])


def block_size(X: Table) -> int:
    """Return how many rows make a block; it depends on the number of columns only."""
    shape: tuple[int, ...] = getattr(X, "shape", (0,))
    n_columns = int(np.prod(shape[1:])) if len(shape) > 1 else 1
    return max(1, BLOCK_CELLS // max(1, n_columns))
