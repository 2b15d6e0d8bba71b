"""Predictions of a classifier from one score per class."""

from typing import Any

import numpy as np
from scipy.special import softmax

from leavezero._typing import AnyArray, Bools, Floats, Ints
from leavezero.leave_one_out._loo_method import LOOPredictions, MethodName

NO_PREDICTION = "no row has a prediction without itself: classes or neighborhoods are too small"


def singletons(codes: Ints) -> Bools:
    """Return the rows that are the only one of their class."""
    return np.asarray(np.bincount(codes)[codes] == 1)


def subtract(total: Floats, removed: Floats) -> Floats:
    """Return total - removed, exactly zero where only a rounding error would remain."""
    rest = total - removed
    return np.where(rest <= 1e-12 * total, 0.0, rest)


def loo_class_totals(codes: Ints, weights: Floats, n_classes: int) -> Floats:
    """Return the total weight of each class without each row, of shape (n_samples, n_classes)."""
    totals = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    return subtract(totals, weights[:, None] * np.eye(n_classes)[codes])


def class_predictions(model: Any, scores: Floats, valid: Bools) -> LOOPredictions:
    """Return exact predictions from log posteriors, each up to a constant of its row.

    The score -inf marks a class that vanishes with its only row: it has probability 0 and the
    lowest float as its decision, as in scikit-learn's ``cross_val_predict``. Rows for which only
    one class remains have no prediction.
    """
    valid = valid & ~np.isnan(scores).any(axis=1) & (np.isfinite(scores).sum(axis=1) > 1)
    scores = np.where(valid[:, None], scores, 0.0)
    predictions: dict[str, AnyArray] = {"predict": model.classes_.take(scores.argmax(axis=1))}
    if hasattr(model, "predict_proba"):
        predictions["predict_proba"] = softmax(scores, axis=1)
    if hasattr(model, "decision_function"):
        predictions["decision_function"] = decision_values(scores)
    return partial_predictions("exact", predictions, valid)


def partial_predictions(
    method: MethodName, predictions: dict[str, AnyArray], valid: Bools, reason: str | None = None
) -> LOOPredictions:
    """Return predictions of which only some are valid; unreliable if none is."""
    reason = reason if valid.any() else reason or NO_PREDICTION
    return LOOPredictions(method, predictions, None if valid.all() else valid, reason)


def decision_values(scores: Floats) -> Floats:
    """Return ``decision_function`` of class scores: with two classes the difference."""
    if scores.shape[1] == 2:
        return np.asarray(scores[:, 1] - scores[:, 0])
    return np.maximum(scores, np.finfo(scores.dtype).min)
