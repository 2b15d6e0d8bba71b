"""Labels of partially labeled targets, and class priors."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from leavezero._typing import AnyArray, Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Labels:
    """Sorted classes; indices of the labeled rows and their encoded classes; number of all rows."""

    classes: AnyArray
    rows: Ints
    codes: Ints
    n_rows: int

    @property
    def n_classes(self) -> int:
        """Number of classes, c."""
        return len(self.classes)


def read_labels(y: Any, unlabeled: Any) -> Labels:
    """Return the labels of a target in which ``unlabeled`` marks unlabeled rows."""
    if y is None:
        raise ValueError(
            "SMIRClassifier requires y to be passed, but the target y is None. "
            f"Mark unlabeled rows with {unlabeled!r}."
        )
    column = column_or_1d(y, warn=True)
    other_type = not (isinstance(unlabeled, str | bytes) or _is_missing(unlabeled))
    if column.dtype.kind in "US" and other_type and str(unlabeled) in column.tolist():
        # NumPy has converted the marker to a string because y also has strings.
        raise ValueError(
            f"y contains the string {str(unlabeled)!r}, but unlabeled is {unlabeled!r}. "
            f"Use unlabeled={str(unlabeled)!r}, or convert y to dtype=object."
        )
    rows = np.flatnonzero(~marked_rows(column, unlabeled))
    if len(rows) == 0:
        raise ValueError(f"y has no labeled row: every value is unlabeled={unlabeled!r}.")
    labels = plain_labels(column[rows])
    if labels.dtype.kind in "fO" and any(_is_missing(value) for value in labels.tolist()):
        raise ValueError(
            f"y contains NaN or None, but unlabeled is {unlabeled!r}. Use unlabeled=None if "
            "missing values mark unlabeled rows."
        )
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return Labels(classes, rows, codes, len(column))


def marked_rows(y: AnyArray, unlabeled: Any) -> Bools:
    """Return a mask of the unlabeled rows.

    The markers None and NaN both match all missing values: None, NaN and pandas' NA.
    """
    if _is_missing(unlabeled):
        if y.dtype.kind != "O":
            return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), bool)
        return np.array([_is_missing(value) for value in y], dtype=bool)
    if y.dtype.kind in "US" and not isinstance(unlabeled, str | bytes):
        return np.zeros(len(y), bool)
    return np.array([not _is_missing(v) and bool(v == unlabeled) for v in y.tolist()], dtype=bool)


def plain_labels(labels: AnyArray) -> AnyArray:
    """Return an object array of numbers as a numeric array, and other arrays unchanged."""
    if labels.dtype.kind != "O" or any(isinstance(v, str) or _is_missing(v) for v in labels):
        return labels
    return np.array(labels.tolist())


def class_prior(prior: Any, codes: Ints, n_classes: int) -> Floats:
    """Return the prior probability of each class."""
    if isinstance(prior, str) and prior == "empirical":
        return np.asarray(np.bincount(codes, minlength=n_classes) / len(codes))
    if isinstance(prior, str) and prior == "uniform":
        return np.full(n_classes, 1.0 / n_classes)
    try:
        values = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.empty(0)
    if values.ndim != 1 or not len(values) or not np.all(np.isfinite(values) & (values > 0)):
        raise ValueError(
            "prior of SMIRClassifier must be 'empirical', 'uniform' or one positive number per "
            f"class, got {prior!r}."
        )
    if len(values) != n_classes:
        raise ValueError(
            f"prior of SMIRClassifier has {len(values)} entries, but y has labeled rows of "
            f"{n_classes} classes."
        )
    return np.asarray(values / values.sum())


def _is_missing(value: Any) -> bool:
    """Return True for None, NaN and pandas' NA; the last two do not compare equal to themselves."""
    if value is None:
        return True
    differs = value != value
    return not isinstance(differs, bool | np.bool_) or bool(differs)
