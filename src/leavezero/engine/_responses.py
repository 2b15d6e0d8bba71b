"""What a model says about the rows of V, asked once."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.engine._own_rows import own_rows

METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
BLOCK_CELLS = 2**23  # at most 64 MiB of float64 features at a time


class Responses:
    """Stands in for a fitted model before a scorer: rows are named by their position in V.

    A scorer calls ``predict``, ``predict_proba`` or ``decision_function`` on what it takes for X.
    It gets positions instead, and each method answers from what the model said about all of V.
    Of classes that the model has not met it says that they are impossible.
    """

    def __init__(
        self,
        model: Any,
        X: Table,
        said: Mapping[str, AnyArray] | None = None,
        classes: AnyArray | None = None,
    ) -> None:
        self._model = model
        self._X = X
        self._classes = classes
        self._said: dict[str, AnyArray] = {}
        self._ready = {} if said is None else said  # known before anybody asks

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__sklearn_tags__":
            raise AttributeError(name)
        found = getattr(self._model, name)
        if name == "classes_" and self._classes is not None:
            return self._classes
        if name not in METHODS:
            return found

        def answer(rows: Ints) -> Any:
            said = self.all_of(name)
            return [one[rows] for one in said] if isinstance(said, list) else said[rows]

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
            said = self._ready.get(method)
            if said is None:
                said = in_blocks(getattr(self._model, method), self._X)
            if method == "predict_proba" and self._classes is not None:
                known = getattr(self._model, "classes_", self._classes)
                said = for_classes(said, known, self._classes)
            self._said[method] = said
        return self._said[method]


def for_classes(chances: Floats, known: AnyArray, classes: AnyArray) -> Floats:
    """Return the probability of each class from that of each known one.

    Examples
    --------
    >>> import numpy as np
    >>> for_classes(np.array([[0.2, 0.8]]), np.array(["a", "c"]), np.array(["a", "b", "c"]))
    array([[0.2, 0. , 0.8]])
    """
    if len(known) == len(classes):
        return chances
    full = np.zeros((len(chances), len(classes)))
    full[:, np.searchsorted(classes, known)] = chances
    return full


def in_blocks(method: Any, X: Table) -> Any:
    """Return a method's answers for all rows, made in blocks of bounded memory."""
    size = block_size(X)
    starts = range(0, count_rows(X), size)
    model = getattr(method, "__self__", None)
    blocks = (take_rows(X, slice(at, at + size)) for at in starts)
    parts = [method(*own_rows(model, block)) for block in blocks]
    if isinstance(parts[0], list):  # probabilities of several outputs
        return [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]
    return np.concatenate(parts)


def block_size(X: Table) -> int:
    """Return how many rows make a block; it depends on the number of columns only."""
    shape: tuple[int, ...] = getattr(X, "shape", (0,))
    n_columns = int(np.prod(shape[1:])) if len(shape) > 1 else 1
    return max(1, BLOCK_CELLS // max(1, n_columns))
