"""Bring X, y and weights of a fitted model into one form; reject rows of another fit."""

from abc import abstractmethod
from dataclasses import dataclass
from inspect import signature
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod, LOOPredictions

MAX_CELLS = 50_000_000  # floats in memory at the same time: 400 MB
TOO_LARGE = "X is too large: more than 400 MB would be needed"


@dataclass(frozen=True, eq=False)
class TrainingData:
    """X as floats, dense or CSR; y as class codes or as the values of one target; weights."""

    X: Any
    y: AnyArray
    weights: Floats

    @classmethod
    def of(cls, model: Any, X: Table, y: AnyArray, sample_weight: Any) -> "TrainingData":
        """Convert the training data of a model with one target."""
        rows = training_rows(model, X)
        n_rows = rows.shape[0]
        read = class_codes if hasattr(model, "classes_") else target_values
        return cls(rows, read(model, y, n_rows), row_weights(sample_weight, n_rows))


class OneTargetMethod(LeaveOneOutMethod):
    """Base class of methods for models of one target, which get their training data converted."""

    takes_weights = True

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        if not self.takes_weights:
            reject_weights(model, sample_weight)
        return self._predict_rows(model, TrainingData.of(model, X, y, sample_weight))

    @abstractmethod
    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        """Return the predictions of a supported model."""


def to_dense(X: Any) -> AnyArray:
    """Return an array from an array or a sparse matrix."""
    return np.asarray(X.toarray() if sparse.issparse(X) else X)


def mismatch_error(model: Any, why: str) -> ValueError:
    """Return the error for rows that the model was not fitted to."""
    return ValueError(
        f"{type(model).__name__} was not fitted to these rows: {why}. "
        "Pass the X, y and sample_weight that it was fitted to."
    )


def training_rows(model: Any, X: Table, dtype: Any = np.float64, **checks: Any) -> Any:
    """Return X as an array of floats or a CSR matrix, with as many columns as the model has."""
    rows = check_array(X, accept_sparse="csr", dtype=dtype, **checks)
    n_columns = getattr(model, "n_features_in_", rows.shape[1])  # absent with a kernel function
    if rows.shape[1] != n_columns:
        raise mismatch_error(model, f"X has {rows.shape[1]} columns, the model {n_columns}")
    return rows


def class_codes(model: Any, y: AnyArray, n_rows: int) -> Ints:
    """Return the index of each row's class in ``model.classes_``."""
    labels = _column(model, y, n_rows)
    codes = np.minimum(np.searchsorted(model.classes_, labels), len(model.classes_) - 1)
    unknown = model.classes_[codes] != labels
    if unknown.any():
        raise mismatch_error(model, f"class {labels[unknown][0].item()!r} is not in its classes_")
    return codes


def target_values(model: Any, y: AnyArray, n_rows: int) -> Floats:
    """Return a regression target as floats of shape (n_rows,)."""
    return np.asarray(_column(model, y, n_rows), dtype=np.float64)


def row_weights(sample_weight: Any, n_rows: int) -> Floats:
    """Return the weight of each row, ones if None."""
    if sample_weight is None:
        return np.ones(n_rows)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_rows,):
        raise ValueError(f"sample_weight must have shape ({n_rows},), got {weights.shape}.")
    return weights


def class_weighted(model: Any, data: TrainingData) -> Floats:
    """Return the weight of each row times that of its class, as scikit-learn computes it."""
    if model.class_weight is None:
        return data.weights
    options: dict[str, Any] = {}
    if "sample_weight" in signature(compute_class_weight).parameters:  # scikit-learn >= 1.7
        options["sample_weight"] = data.weights
    labels, classes = model.classes_[data.y], model.classes_
    by_class = compute_class_weight(model.class_weight, classes=classes, y=labels, **options)
    return np.asarray(data.weights * by_class[data.y])


def reject_weights(model: Any, sample_weight: Floats | None) -> None:
    """Raise if there are weights although the model is fitted without."""
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight must be None: {type(model).__name__} is fitted without weights."
        )


def check_statistic(model: Any, attribute: str, value: Any) -> None:
    """Raise if a statistic of the rows differs from the fitted attribute."""
    if not nearly_equal(np.asarray(value), np.asarray(getattr(model, attribute))):
        raise mismatch_error(model, f"its {attribute} would be different")


def nearly_equal(value: AnyArray, fitted: AnyArray, scale: float | None = None) -> bool:
    """Return True if arrays agree up to rounding relative to ``scale``, the fitted maximum."""
    if value.shape != fitted.shape:
        return False
    tolerance = 1e-3 if fitted.dtype == np.float32 else 1e-6
    scale = float(np.abs(fitted).max(initial=0.0)) if scale is None else scale
    return bool(np.all(np.abs(value - fitted) <= tolerance * scale + 1e-300))


def _column(model: Any, y: AnyArray, n_rows: int) -> AnyArray:
    column = np.asarray(y)
    if column.ndim == 2 and column.shape[1] == 1:
        column = column[:, 0]
    if column.ndim != 1:
        raise mismatch_error(model, f"y must be one column, got shape {column.shape}")
    if len(column) != n_rows:
        raise mismatch_error(model, f"X has {n_rows} rows, y {len(column)}")
    return column
