"""Any table to a matrix of numbers, and back into the container that it came in."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from leavezero._typing import Bools, Floats, Table


@dataclass(frozen=True)
class TableFormat:
    """What is needed to give numbers back as the table that they came from.

    Parameters
    ----------
    dtypes : tuple of numpy dtypes
        One for each column.
    template : frame without rows, or None
        The container, where the table was not an array.
    """

    dtypes: tuple[Any, ...]
    template: Any = None

    @classmethod
    def of(cls, X: Table) -> "TableFormat":
        """Learn the format of a checked array or of a frame of numbers."""
        if hasattr(X, "iloc"):
            return cls(tuple(X.dtypes), X.iloc[:0])
        return cls((X.dtype,) * X.shape[1])

    @property
    def whole(self) -> Bools:
        """Columns that hold whole numbers only."""
        return np.array([getattr(dtype, "kind", "f") in "iub" for dtype in self.dtypes])

    def restore(self, values: Floats, rng: np.random.Generator) -> Table:
        """Return new rows in the container and the dtypes of the table.

        A column of whole numbers is rounded at random, up as often as its fraction says, so that
        its mean is kept and no value leaves the range of its parents.
        """
        whole = self.whole
        if whole.any():
            values = values.copy()
            values[:, whole] = np.floor(values[:, whole] + rng.random((len(values), whole.sum())))
        if self.template is None:
            return values.astype(self.dtypes[0], copy=False)
        frame = type(self.template)(values, columns=self.template.columns)
        for position, dtype in enumerate(self.dtypes):
            frame.isetitem(position, frame.iloc[:, position].astype(dtype))
        return frame


def count_rows(X: Table) -> int:
    """Return the number of rows of an array, a frame, a list or what numpy takes for an array."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Table, rows: slice) -> Table:
    """Return consecutive rows of an array, a frame or a list, without a copy where it can."""
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def stack_rows(parts: Sequence[Table]) -> Table:
    """Return tables of one format as one table."""
    if hasattr(parts[0], "iloc"):
        import pandas as pd  # installed: the user brought a frame

        return pd.concat(parts, ignore_index=True)
    return np.concatenate(parts)


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value that a message should show."""
    return value.item() if isinstance(value, np.generic) else value
