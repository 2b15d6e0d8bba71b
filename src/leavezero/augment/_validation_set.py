"""The record that an augmenter hands over."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leavezero._tables import count_rows, stack_rows, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table

_OPTIONAL = ("sample_weight", "posterior", "origins", "members", "reference_codes")


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Rows on which candidates are judged, drawn from the data by an augmenter.

    Parameters
    ----------
    X : array or frame of shape (n_rows, n_features)
        The features, in the container and the dtypes of the data.
    y : array of shape (n_rows,)
        The targets.
    sample_weight : array of shape (n_rows,) or None
        How much each row counts; None if all count the same.
    posterior : array of shape (n_rows, n_classes) or None
        Soft labels, a column for each class in sorted order; None if the labels are hard.
    origins : array of shape (n_rows, n_origins) or None
        Positions of the given rows that each new row came from; -1 where a place is not used.
    members : array of shape (n_rows,) or None
        Which member of a portfolio drew each row. Scores are averaged over members.
    reference_codes : array of shape (n_rows, n_references) or None
        What reference models say about each row, as positions in the sorted classes.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ValidationSet
    >>> V = ValidationSet(np.zeros((3, 2)), np.array(["a", "b", "a"]))
    >>> len(V)
    3
    """

    X: Table
    y: AnyArray
    sample_weight: Floats | None = None
    posterior: Floats | None = None
    origins: Ints | None = None
    members: Ints | None = None
    reference_codes: Ints | None = None

    def __post_init__(self) -> None:
        n_rows = count_rows(self.X)
        for name in ("y", *_OPTIONAL):
            part = getattr(self, name)
            if part is not None and len(part) != n_rows:
                raise ValueError(
                    f"{name} of ValidationSet has {len(part)} rows and X has {n_rows}. "
                    "Give one entry for each row of X."
                )

    def __len__(self) -> int:
        return len(self.y)

    def take(self, rows: slice | Ints) -> "ValidationSet":
        """Return some rows."""
        return ValidationSet(take_rows(self.X, rows), **self._parts_of(rows))

    def take_labels(self, rows: slice | Ints) -> "ValidationSet":
        """Return some rows without their features: the labels stand in for them."""
        parts = self._parts_of(rows)
        return ValidationSet(parts["y"], **parts)

    def origin_means(self, values: AnyArray) -> Floats:
        """Return for each row the mean value of the given rows it came from; 1 where none did.

        Examples
        --------
        >>> import numpy as np
        >>> from leavezero.augment import ValidationSet
        >>> V = ValidationSet(np.zeros((2, 1)), np.zeros(2), origins=np.array([[0, 1], [1, -1]]))
        >>> V.origin_means(np.array([1.0, 3.0]))
        array([2., 3.])
        """
        if self.origins is None:
            return np.ones(len(self))
        used = self.origins >= 0
        sums = np.where(used, np.asarray(values, dtype=np.float64)[self.origins], 0.0).sum(axis=1)
        count = used.sum(axis=1)
        return np.where(count > 0, sums / np.maximum(count, 1), 1.0)

    def _parts_of(self, rows: slice | Ints) -> dict[str, Any]:
        parts = {name: getattr(self, name) for name in ("y", *_OPTIONAL)}
        return {name: None if part is None else part[rows] for name, part in parts.items()}

    @staticmethod
    def concatenate(parts: "Sequence[ValidationSet]") -> "ValidationSet":
        """Return validation sets of one augmenter as one, in the given order."""
        fields: dict[str, Any] = {}
        for name in ("X", "y", *_OPTIONAL):
            pieces = [getattr(part, name) for part in parts]
            fields[name] = None if pieces[0] is None else stack_rows(pieces)
        return ValidationSet(**fields)
