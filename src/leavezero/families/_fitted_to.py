"""Bring the rows that a model was fitted to into one normal form, and refuse others."""

from inspect import signature
from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.linalg import lapack
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.families._tall import steps_sparse

MOST_CELLS = 50_000_000  # 400 MB; a step over more costs more than the fit it is to spare
TOO_LARGE = "so many rows and columns would cost more than the fit"


def other_rows(model: Any, why: str) -> ValueError:
    """Return the error that says that a model was fitted to something else."""
    return ValueError(
        f"{type(model).__name__} was not fitted to these rows: {why}. "
        "Pass the X, y and sample_weight that it was fitted to."
    )


def fitted_rows(model: Any, X: Table) -> Any:
    """Return X as an array of floats or a sparse CSR matrix, with the columns the model knows."""
    plain = type(X) is np.ndarray and X.dtype == np.float64 and X.ndim == 2
    rows = X if plain else check_array(X, accept_sparse="csr", dtype=np.float64)
    n_columns = getattr(model, "n_features_in_", rows.shape[1])  # unknown with a kernel function
    if rows.shape[1] != n_columns:
        raise other_rows(model, f"X has {rows.shape[1]} columns, the model {n_columns}")
    return rows


def fitted_codes(model: Any, y: AnyArray, n_rows: int) -> Ints:
    """Return the number of each row's class in ``model.classes_``."""
    labels = _column(model, y, n_rows)
    codes = np.minimum(np.searchsorted(model.classes_, labels), len(model.classes_) - 1)
    strange = model.classes_[codes] != labels
    if strange.any():
        raise other_rows(model, f"it knows no class {labels[strange][0].item()!r}")
    return codes


def fitted_numbers(model: Any, y: AnyArray, n_rows: int) -> Floats:
    """Return the targets of a regression as floats."""
    return np.asarray(_column(model, y, n_rows), dtype=np.float64)


def fitted_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return a weight for each row, ones if none were given."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have a number for each of {n_rows} rows, got shape "
            f"{weights.shape}."
        )
    return weights


def with_class_weight(model: Any, codes: Ints, sample_weight: Any, n_rows: int) -> Floats:
    """Return the rows' weights times their classes', as the linear models compute them."""
    weights = fitted_weights(sample_weight, n_rows)
    if model.class_weight is None:
        return weights
    more: dict[str, Any] = {}
    if "sample_weight" in signature(compute_class_weight).parameters:  # scikit-learn >= 1.7
        more["sample_weight"] = weights
    labels = model.classes_[codes]
    return (
        weights
        * compute_class_weight(model.class_weight, classes=model.classes_, y=labels, **more)[codes]
    )


def too_large(n_rows: int, n_columns: int, n_scores: int = 1) -> bool:
    """Tell whether the matrices of a step would not fit."""
    side = min(n_rows, n_columns) * n_scores
    return max(n_rows * min(n_rows, n_columns), side * side) > MOST_CELLS


def dense_columns(rows: Any, coef: Floats) -> tuple[Floats, Floats]:
    """Return at most as many columns as rows, and the coefficients that give the same scores.

    Wide rows are turned so that all inner products are kept: a penalty on the squared coefficients
    does not notice. The products' triangular factor has such columns.
    """
    n_rows, n_columns = rows.shape
    if n_columns <= n_rows:
        return np.asarray(rows.toarray() if sparse.issparse(rows) else rows), coef
    products = rows @ rows.T
    products = np.asarray(products.toarray() if sparse.issparse(products) else products)
    factor, order, rank, _ = lapack.dpstrf(products, lower=1)
    order, factor = order - 1, np.tril(factor)[:, :rank]
    columns = np.empty_like(factor)
    columns[order] = factor
    scores = np.asarray(rows @ coef.T)[order[:rank]]
    turned = linalg.solve_triangular(factor[:rank], scores, lower=True, check_finite=False)
    return columns, np.asarray(turned).T


def step_columns(rows: Any, coef: Floats, penalized: bool) -> tuple[Any, Floats]:
    """Return rows and coefficients for a step: as they are, if a penalty holds all columns.

    Of wide rows a step needs no more than their products, and of sparse ones their own columns.
    """
    n_rows, n_columns = rows.shape
    as_they_are = penalized and (n_columns > n_rows or steps_sparse(rows))
    return (rows, coef) if as_they_are else dense_columns(rows, coef)


def with_constant(rows: Any, constant: float) -> Any:
    """Return rows with a constant column at the end."""
    column = np.full((rows.shape[0], 1), constant)
    if sparse.issparse(rows):
        return sparse.hstack([rows, sparse.csr_array(column)], format="csr")
    return np.hstack([rows, column])


def _column(model: Any, y: AnyArray, n_rows: int) -> AnyArray:
    column = np.asarray(y)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise other_rows(model, f"y must be one column, got shape {column.shape}")
    if len(column) != n_rows:
        raise other_rows(model, f"X has {n_rows} rows, y {len(column)}")
    return column
