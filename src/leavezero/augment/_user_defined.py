"""Validation sets of the user's own: made by a function, or fixed."""

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_consistent_length

from leavezero._random import stream
from leavezero._tables import count_rows, is_text
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment._augmenter import BaseAugmenter, ValidationSet


class FunctionAugmenter(BaseAugmenter):
    """Generate rows by a function.

    Parameters
    ----------
    function : callable
        Called as ``function(X, y, n_samples, rng)`` with the training data, the number of rows
        and a NumPy Generator; returns ``(X_new, y_new)`` or a :class:`ValidationSet`.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import FunctionAugmenter
    >>> def gaussian_rows(X, y, n_samples, rng):
    ...     labels = rng.choice(y, size=n_samples)
    ...     classes = [X[y == label] for label in labels]
    ...     return np.array([rng.normal(c.mean(axis=0), c.std(axis=0)) for c in classes]), labels
    >>> X, y = np.random.default_rng(0).normal(size=(20, 2)), np.tile([0, 1], 10)
    >>> FunctionAugmenter(gaussian_rows).fit(X, y).sample(3, random_state=0).X.shape
    (3, 2)
    """

    takes_metadata: ClassVar[bool] = False  # can be bound to the function

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def _check_parameters(self) -> None:
        requirement = "be callable as function(X, y, n_samples, rng)"
        self._require("function", callable(self.function), requirement)

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        self._X, self._y = X, y if hasattr(y, "shape") else np.asarray(y)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        result = self.function(self._X, self._y, n_samples, stream(root, "function"))
        if isinstance(result, tuple) and len(result) == 2:
            result = ValidationSet(result[0], np.asarray(result[1]))
        if not isinstance(result, ValidationSet):
            raise ValueError(
                "function of FunctionAugmenter must return (X, y) or a ValidationSet, got "
                f"{type(result).__name__}."
            )
        expected, got = (n_samples, *_shape(self._X)[1:]), _shape(result.X)
        if got != expected:
            raise ValueError(
                f"function of FunctionAugmenter must return X of shape {expected}, got {got}."
            )
        return result


class FixedValidationSet(BaseAugmenter):
    """Use a fixed validation set instead of generated rows; a search scores each row once.

    Parameters
    ----------
    X : array, frame, sparse matrix or sequence of strings
        The rows, with the columns of the training data.
    y : array
        Their target.
    sample_weight : array or None, default=None
        The weight of each row.

    Examples
    --------
    >>> from leavezero.augment import FixedValidationSet
    >>> fixed = FixedValidationSet([[0.5], [9.5]], [0, 1])
    >>> fixed.fit([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).sample(2, random_state=0).y
    array([0, 1])
    """

    def __init__(self, X: Table, y: AnyArray, sample_weight: AnyArray | None = None) -> None:
        self.X = X
        self.y = y
        self.sample_weight = sample_weight

    def _fit(self, X: Table, y: AnyArray, weight: Floats | None, groups: Ints | None) -> None:
        """Check that the validation set has the columns and classes of the training data."""
        check_consistent_length(self.X, self.y)
        fixed, training = _shape(self.X)[1:], _shape(X)[1:]
        if fixed != training:
            raise ValueError(
                f"The fixed validation set has columns of shape {fixed}, the training data "
                f"{training}. They must have the same columns."
            )
        names = [list(table.columns) for table in (self.X, X) if hasattr(table, "columns")]
        if len(names) == 2 and names[0] != names[1]:
            raise ValueError(
                f"The fixed validation set has the columns {names[0]}, the training data "
                f"{names[1]}. They must have the same columns in the same order."
            )
        if self._target.kind == "classes":
            unknown = sorted(set(np.asarray(self.y).tolist()) - set(self.classes_.tolist()))
            if unknown:
                raise ValueError(
                    f"The fixed validation set has classes {unknown} that are not in the training "
                    "data. Remove their rows."
                )
        self.n_rows_ = count_rows(self.X)

    @property
    def fixed_rows(self) -> ValidationSet:
        """All rows, once."""
        weight = None if self.sample_weight is None else np.asarray(self.sample_weight)
        X = self.X if hasattr(self.X, "shape") or is_text(self.X) else np.asarray(self.X)
        return ValidationSet(X, np.asarray(self.y), weight)

    def _sample(self, n_samples: int, root: np.random.SeedSequence) -> ValidationSet:
        if n_samples == self.n_rows_:
            return self.fixed_rows
        rng, with_replacement = stream(root, "rows"), n_samples > self.n_rows_
        rows = rng.choice(self.n_rows_, size=n_samples, replace=with_replacement)
        return self.fixed_rows.take(rows)


def _shape(X: Table) -> tuple[int, ...]:
    return tuple(X.shape) if hasattr(X, "shape") else np.shape(X)
