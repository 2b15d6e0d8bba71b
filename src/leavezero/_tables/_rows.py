"""Rows of any container: count, take, join."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._typing import Ints, Table


def is_pandas(X: Table) -> bool:
    """Tell whether X is a frame or a series of pandas, without importing pandas."""
    return hasattr(X, "iloc")


def is_polars(X: Table) -> bool:
    """Tell whether X is a frame or a series of polars, without importing polars."""
    return type(X).__module__.partition(".")[0] == "polars"


def is_text(X: Table) -> bool:
    """Tell whether X is a sequence of documents: one string a row."""
    if getattr(X, "ndim", 1) != 1 or sparse.issparse(X) or hasattr(X, "columns"):
        return False
    return hasattr(X, "__len__") and len(X) > 0 and all(isinstance(row, str) for row in X)


def count_rows(X: Table) -> int:
    """Return the number of rows of any table, or of what numpy takes for an array."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        X = np.asarray(X)
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)


def take_rows(X: Table, rows: slice | Ints) -> Table:
    """Return some rows, without a copy where it can.

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
        return X.tocsr()[rows]  # the other formats have no rows to take
    return X[rows] if hasattr(X, "__getitem__") else np.asarray(X)[rows]


def stack_rows(parts: Sequence[Table]) -> Table:
    """Return tables of one format as one table."""
    first = parts[0]
    if is_pandas(first):
        import pandas as pd  # installed: the user brought a frame

        return pd.concat(parts, ignore_index=True)
    if is_polars(first):
        import polars as pl  # installed: the user brought a frame

        return pl.concat(parts)
    if sparse.issparse(first):
        return sparse.vstack(parts, format="csr")
    if isinstance(first, list):
        return [row for part in parts for row in part]
    return np.concatenate(parts)


def plain(value: Any) -> Any:
    """Return a numpy scalar as the Python value that a message should show."""
    return value.item() if isinstance(value, np.generic) else value
