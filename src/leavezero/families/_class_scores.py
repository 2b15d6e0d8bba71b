"""From a score for each class to all that a classifier may be asked."""

from typing import Any

import numpy as np
from scipy.special import softmax

from leavezero._typing import AnyArray, Bools, Floats, Ints
from leavezero.families._base import Kind, Unseen

NOTHING_LEFT = "no row has a response without itself: classes or neighborhoods are too small"


def alone(codes: Ints) -> Bools:
    """Tell which rows are the only one of their class, which leaves with them."""
    return np.asarray(np.bincount(codes)[codes] == 1)


def forget_own_class(scores: Floats, codes: Ints, rows: Bools) -> None:
    """Give rows that take their class with them no score for it, in place."""
    scores[rows, codes[rows]] = -np.inf


def unseen_classes(model: Any, scores: Floats, known: Bools) -> Unseen:
    """Return exact responses from log posteriors, each up to a constant of its row.

    A class that leaves with its only row has probability 0 and the lowest number as its score, as
    scikit-learn's ``cross_val_predict`` fills it. With two classes such a row has no response:
    one class alone is nothing to choose from.
    """
    known = known & ~np.isnan(scores).any(axis=1) & (np.isfinite(scores).sum(axis=1) > 1)
    scores = np.where(known[:, None], scores, 0.0)
    responses: dict[str, AnyArray] = {"predict": model.classes_.take(scores.argmax(axis=1))}
    if hasattr(model, "predict_proba"):
        responses["predict_proba"] = softmax(scores, axis=1)
    if hasattr(model, "decision_function"):
        responses["decision_function"] = decisions(scores)
    return with_known("exact", responses, known)


def with_known(kind: Kind, responses: dict[str, AnyArray], known: Bools) -> Unseen:
    """Return responses of which only some are known; a doubt if none is."""
    doubt = None if known.any() else NOTHING_LEFT
    return Unseen(kind, responses, known=None if known.all() else known, doubt=doubt)


def decisions(scores: Floats) -> Floats:
    """Return what ``decision_function`` gives: for two classes the difference."""
    if scores.shape[1] == 2:
        return np.asarray(scores[:, 1] - scores[:, 0])
    return np.maximum(scores, np.finfo(scores.dtype).min)
