"""Tables of two samples to numbers in which models can tell them apart."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.decomposition import TruncatedSVD

from leavezero._random import integer_seed
from leavezero._tables import (
    Featurizer,
    TableCodec,
    count_rows,
    is_pandas,
    is_polars,
    is_text,
    stack_rows,
    take_rows,
)
from leavezero._typing import Floats, Ints, Table

_MAX_COLUMNS = 100  # more are summed up for models that cannot do with so many
_N_COMPONENTS = 50


@dataclass(frozen=True, eq=False)
class Features:
    """Rows as all their features, and as few and dense ones."""

    wide: Any
    compact: Floats

    def __len__(self) -> int:
        return len(self.compact)

    def take(self, rows: Ints) -> "Features":
        """Return some rows."""
        return Features(self.wide[rows], self.compact[rows])

    def beside(self, more: Floats) -> "Features":
        """Return the rows with further columns."""
        compact = np.hstack([self.compact, more])
        if sparse.issparse(self.wide):
            return Features(sparse.hstack([self.wide, more], format="csr"), compact)
        return Features(np.hstack([self.wide, more]), compact)


class Reader:
    """Any table to features; what it learns, it learns without knowing which sample is which."""

    def fit(self, X: Table, root: np.random.SeedSequence) -> Self:
        """Learn the columns of both samples together."""
        self._featurizer = Featurizer().fit(X)
        wide = self._featurizer.transform(X)
        self._summary = None
        if sparse.issparse(wide) or wide.shape[1] > _MAX_COLUMNS:
            n_components = min(_N_COMPONENTS, min(wide.shape) - 1)
            seed = integer_seed(root, "components")
            if n_components > 0:
                self._summary = TruncatedSVD(n_components, random_state=seed).fit(wide)
        return self

    def transform(self, X: Table) -> Features:
        """Return the features of rows."""
        wide = self._featurizer.transform(X)
        compact = wide if self._summary is None else self._summary.transform(wide)
        if not sparse.issparse(wide):
            return Features(wide, compact)
        compact = compact.toarray() if sparse.issparse(compact) else compact
        # Mixed rows have more cells that are not zero, which no few components show.
        filled = np.log1p(np.diff(wide.tocsr().indptr))[:, None]
        return Features(wide.tocsr(), compact).beside(filled)


def check_samples(X: Table, X_v: Table, owner: str, least: int = 1) -> tuple[Table, Table]:
    """Return two tables that have the same columns and enough rows, or raise."""
    first, second = _as_table(X, "X", owner), _as_table(X_v, "X_v", owner)
    for name, part in (("X", first), ("X_v", second)):
        if count_rows(part) < least:
            raise ValueError(
                f"{name} of {owner} has {count_rows(part)} rows and needs at least {least}. "
                "Fewer say nothing of a distribution."
            )
    kinds = _kind(first), _kind(second)
    if kinds[0] != kinds[1]:
        raise ValueError(
            f"X and X_v of {owner} must be tables of one kind, got {kinds[0]} and {kinds[1]}. "
            "Convert one of them."
        )
    columns = _columns(first), _columns(second)
    if columns[0] != columns[1]:
        raise ValueError(
            f"X and X_v of {owner} must have the same columns, got {columns[0]!r} and "
            f"{columns[1]!r}. Give both the columns of the data, in their order."
        )
    for name, part in (("X", first), ("X_v", second)):
        check_cells(part, name, owner)
    return first, second


def check_cells(X: Table, name: str, owner: str) -> None:
    """Raise if a table has no columns or holds infinity; a missing cell is allowed, if dense."""
    if is_text(X):
        return
    if X.shape[1] == 0:
        raise ValueError(f"{name} of {owner} has no columns. Give at least one.")
    cells = X.data if sparse.issparse(X) else TableCodec.of(X).encode(X)
    wrong = ~np.isfinite(cells) if sparse.issparse(X) else np.isinf(cells)
    if wrong.any():
        what = "cells that are not finite" if sparse.issparse(X) else "infinity"
        raise ValueError(
            f"{name} of {owner} contains {what}. Replace such cells by large numbers"
            f"{'.' if sparse.issparse(X) else ' or by NaN.'}"
        )


def some_rows(n_rows: int, at_most: int, rng: np.random.Generator) -> Ints:
    """Return the positions of all rows, or of a random part of many, in increasing order."""
    if n_rows <= at_most:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=at_most, replace=False))


def stacked(parts: Sequence[Table]) -> Table:
    """Return tables as one; documents become a list."""
    if is_text(parts[0]):
        return [row for part in parts for row in part]
    return stack_rows(parts)


def taken(X: Table, rows: Ints) -> Table:
    """Return some rows of a checked table, documents as a list."""
    return [X[row] for row in rows] if is_text(X) else take_rows(X, rows)


def check_at_least(value: Any, least: int, name: str, owner: str) -> None:
    """Raise unless a number is an int of a least size."""
    wrong = not isinstance(value, int | np.integer) or isinstance(value, bool)
    if wrong or value < least:
        raise ValueError(f"{name} of {owner} must be an int of at least {least}, got {value!r}.")


def _as_table(X: Table, name: str, owner: str) -> Table:
    """Return X as a frame, a matrix, a sparse matrix or a list of documents."""
    if is_text(X):
        return list(X)
    if sparse.issparse(X):
        return X.tocsr()
    if (is_pandas(X) or is_polars(X)) and hasattr(X, "columns"):
        return X
    matrix = np.asarray(X)
    if matrix.ndim < 2:
        raise ValueError(
            f"{name} of {owner} must have rows and columns, got {matrix.ndim} dimensions. "
            "Use x.reshape(-1, 1) for a single column."
        )
    matrix = matrix.reshape(len(matrix), int(np.prod(matrix.shape[1:])))
    return matrix.astype(object) if matrix.dtype.kind in "US" else matrix


def _kind(X: Table) -> str:
    if is_text(X):
        return "documents"
    if sparse.issparse(X):
        return "a sparse matrix"
    if is_pandas(X) or is_polars(X):
        return "a frame"
    return "an array"


def _columns(X: Table) -> Any:
    if is_text(X):
        return None
    return list(X.columns) if hasattr(X, "columns") else int(X.shape[1])
