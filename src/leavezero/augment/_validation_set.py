"""The validation set that an augmenter returns."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leavezero._tables import count_rows, stack_rows, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table

_OPTIONAL = (
    "sample_weight",
    "class_probabilities",
    "source_rows",
    "component",
    "reference_predictions",
)


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Rows on which candidates are scored, generated from the training data by an augmenter.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        The features, in the container and with the dtypes of the training data.
    y : array of shape (n_rows,) or (n_rows, n_outputs)
        The target.
    sample_weight : array of shape (n_rows,) or None
        The weight of each row; None for equal weights.
    class_probabilities : array of shape (n_rows, n_classes) or None
        Soft labels, one column per class in sorted order; None for hard labels only.
    source_rows : array of shape (n_rows, n_sources) or None
        The training rows that each row was generated from; unused places are -1.
    component : array of shape (n_rows,) or None
        The index of the augmenter of a union that generated each row. Scores are averaged over
        components.
    reference_predictions : array of shape (n_rows, n_reference_models) or None
        The classes predicted by reference models, as positions in the sorted classes.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ValidationSet
    >>> validation_set = ValidationSet(np.zeros((3, 2)), np.array(["a", "b", "a"]))
    >>> len(validation_set)
    3
    """

    X: Table
    y: AnyArray
    sample_weight: Floats | None = None
    class_probabilities: Floats | None = None
    source_rows: Ints | None = None
    component: Ints | None = None
    reference_predictions: Ints | None = None

    def __post_init__(self) -> None:
        n_rows = count_rows(self.X)
        for name in ("y", *_OPTIONAL):
            value = getattr(self, name)
            if value is not None and len(value) != n_rows:
                raise ValueError(
                    f"{name} of ValidationSet has {len(value)} rows and X has {n_rows}. "
                    "They must have the same number of rows."
                )

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: slice | Ints) -> "ValidationSet":
        """Return some rows."""
        return ValidationSet(take_rows(self.X, rows), **self._fields(rows))

    def take_labels(self, rows: slice | Ints) -> "ValidationSet":
        """Return some rows without their features: X is replaced by y."""
        fields = self._fields(rows)
        return ValidationSet(fields["y"], **fields)

    def source_means(self, values: AnyArray) -> Floats:
        """Return for each row the mean of a training-row value over its source rows.

        Rows without source rows get 1.

        Examples
        --------
        >>> import numpy as np
        >>> from leavezero.augment import ValidationSet
        >>> sources = np.array([[0, 1], [1, -1]])
        >>> ValidationSet(np.zeros((2, 1)), np.zeros(2), source_rows=sources).source_means([1, 3])
        array([2., 3.])
        """
        if self.source_rows is None:
            return np.ones(len(self))
        used = self.source_rows >= 0
        sources = np.asarray(values, dtype=np.float64)[self.source_rows]
        count = used.sum(axis=1)
        means = np.where(used, sources, 0.0).sum(axis=1) / np.maximum(count, 1)
        return np.where(count > 0, means, 1.0)

    def _fields(self, rows: slice | Ints) -> dict[str, Any]:
        fields = {name: getattr(self, name) for name in ("y", *_OPTIONAL)}
        return {name: None if value is None else value[rows] for name, value in fields.items()}

    @staticmethod
    def concatenate(parts: "Sequence[ValidationSet]") -> "ValidationSet":
        """Concatenate validation sets of one augmenter."""
        fields: dict[str, Any] = {}
        for name in ("X", "y", *_OPTIONAL):
            values = [getattr(part, name) for part in parts]
            fields[name] = None if values[0] is None else stack_rows(values)
        return ValidationSet(**fields)
