"""Count, take and stack the rows of any container."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._typing import Ints, Table


def is_pandas(X: Table) -> bool:
    """Return True for a pandas frame or series, without importing pandas."""
    return hasattr(X, "iloc")


def is_polars(X: Table) -> bool:
    """Return True for a polars frame or series, without importing polars."""
    return type(X).__module__.partition(".")[0] == "polars"


def is_text(X: Table) -> bool:
    """Return True for a sequence of documents: one string per row."""
    if getattr(X, "ndim", 1) != 1 or sparse.issparse(X) or hasattr(X, "columns"):
        return False
    return hasattr(X, "__len__") and len(X) > 0 and all(isinstance(row, str) for row in X)


def count_rows(X: Table) -> int:
    """Return the number of rows of a table or array-like."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Table, rows: slice | Ints) -> Table:
    """Return some rows, without a copy if possible.

    Examples
    --------
    >>> take_rows(["a", "b", "c"], slice(1, 3))
    ['b', 'c']
    """
    if is_pandas(X):
        return X.iloc[rows]
    if isinstance(X, list | tuple) and not isinstance(rows, slice):
        return [X[row] for row in rows]
    if sparse.issparse(X) and X.format not in ("csr", "csc", "lil"):
        return X.tocsr()[rows]  # the other formats do not support indexing
    return X[rows] if hasattr(X, "__getitem__") else np.asarray(X)[rows]


def stack_rows(parts: Sequence[Table]) -> Table:
    """Concatenate tables of one format."""
    first = parts[0]
    if is_pandas(first):
        import pandas as pd  # installed, since X is a frame

        return pd.concat(parts, ignore_index=True)
    if is_polars(first):
        import polars as pl  # installed, since X is a frame

        return pl.concat(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, list):
        return [row for part in parts for row in part]
    return np.concatenate(parts)


def plain(value: Any) -> Any:
    """Return a NumPy scalar as a Python value, for messages."""
    return value.item() if isinstance(value, np.generic) else value
