"""Which rows have a label, and which label."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from leavezero._typing import AnyArray, Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Labels:
    """The labels of some of n rows: sorted classes, positions of the rows, and their classes."""

    classes: AnyArray
    rows: Ints
    codes: Ints
    n_rows: int


def read_labels(y: Any, unlabeled: Any) -> Labels:
    """Return the labels in y, in which a marker stands for rows without one.

    Markers None and NaN stand for everything that is missing: None, NaN and pandas' NA.

    Examples
    --------
    >>> labels = read_labels([5, -1, 3], -1)
    >>> labels.classes.tolist(), labels.rows.tolist(), labels.codes.tolist()
    ([3, 5], [0, 2], [1, 0])
    """
    if y is None:
        raise ValueError(
            "SMIRClassifier requires y to be passed, but the target y is None. "
            f"Mark rows without a label with {unlabeled!r}."
        )
    column = column_or_1d(y, warn=True)
    _check_strings(column, unlabeled)
    rows = np.flatnonzero(~marked_rows(column, unlabeled))
    if len(rows) == 0:
        raise ValueError(
            f"y has no labelled row: every value is unlabeled={unlabeled!r}. "
            "Label at least one row of each class."
        )
    given = plain_labels(column[rows])
    _check_given(given, unlabeled)
    classes, codes = np.unique(given, return_inverse=True)
    return Labels(classes, rows, codes, len(column))


def marked_rows(y: AnyArray, unlabeled: Any) -> Bools:
    """Return which rows have no label.

    Parameters
    ----------
    y : array of shape (n_samples,)
        The labels, and a marker in rows without one.
    unlabeled : object
        The marker. None and NaN stand for everything that is missing: None, NaN and pandas' NA.

    Returns
    -------
    array of bool of shape (n_samples,)

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import marked_rows
    >>> marked_rows(np.array(["a", -1, "b"], dtype=object), -1)
    array([False,  True, False])
    """
    if _missing(unlabeled):
        if y.dtype.kind != "O":
            return np.isnan(y) if y.dtype.kind == "f" else np.zeros(len(y), bool)
        return np.array([_missing(value) for value in y], dtype=bool)
    if y.dtype.kind in "US" and not isinstance(unlabeled, str | bytes):
        return np.zeros(len(y), bool)
    return np.array([not _missing(v) and bool(v == unlabeled) for v in y.tolist()], dtype=bool)


def plain_labels(labels: AnyArray) -> AnyArray:
    """Return numbers in an array of objects as an array of numbers; others as they are.

    Parameters
    ----------
    labels : array of shape (n_labeled,)
        The labels of labelled rows.

    Returns
    -------
    array of shape (n_labeled,)

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import plain_labels
    >>> plain_labels(np.array([0, 1], dtype=object)).dtype.kind
    'i'
    """
    if labels.dtype.kind != "O" or any(isinstance(v, str) or _missing(v) for v in labels):
        return labels
    return np.array(labels.tolist())


def one_hot(codes: Ints, n_classes: int) -> Floats:
    """Return a row for each label, with a 1 in the column of its class."""
    return np.asarray(np.eye(n_classes)[codes])


def class_prior(prior: Any, codes: Ints, n_classes: int) -> Floats:
    """Return the share of each class: of the labels, all the same, or as given.

    Examples
    --------
    >>> class_prior("empirical", np.array([0, 0, 1, 0]), 2).tolist()
    [0.75, 0.25]
    """
    if isinstance(prior, str) and prior == "empirical":
        return np.asarray(np.bincount(codes, minlength=n_classes) / len(codes))
    if isinstance(prior, str) and prior == "uniform":
        return np.full(n_classes, 1.0 / n_classes)
    try:
        shares = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError):
        shares = np.empty(0)
    if shares.ndim != 1 or not len(shares) or not np.all(np.isfinite(shares) & (shares > 0)):
        raise ValueError(
            "prior of SMIRClassifier must be 'empirical', 'uniform' or a positive number for each "
            f"class, got {prior!r}."
        )
    if len(shares) != n_classes:
        raise ValueError(
            f"prior of SMIRClassifier has {len(shares)} shares, but y has labelled rows of "
            f"{n_classes} classes. A class without a labelled row cannot be learned: label a row "
            "of each class, or give a share only to those that have one."
        )
    return np.asarray(shares / shares.sum())


def _check_strings(column: AnyArray, unlabeled: Any) -> None:
    """Raise where a marker that is no string became one among strings."""
    if column.dtype.kind not in "US" or isinstance(unlabeled, str | bytes) or _missing(unlabeled):
        return
    if str(unlabeled) in column.tolist():
        raise ValueError(
            f"y holds strings, {str(unlabeled)!r} among them, but unlabeled is {unlabeled!r}. "
            f"Give unlabeled={str(unlabeled)!r}, or y as an array with dtype=object."
        )


def _missing(value: Any) -> bool:
    """Tell whether a value is None, NaN or NA, of which the last two do not equal themselves."""
    if value is None:
        return True
    differs = value != value
    return not isinstance(differs, bool | np.bool_) or bool(differs)


def _check_given(given: AnyArray, unlabeled: Any) -> None:
    if given.dtype.kind in "fO" and any(_missing(value) for value in given.tolist()):
        raise ValueError(
            f"y contains NaN or None, but unlabeled is {unlabeled!r}. Give unlabeled=None if "
            "missing values are rows without a label."
        )
    assert_all_finite(given, input_name="y")
    check_classification_targets(given)
