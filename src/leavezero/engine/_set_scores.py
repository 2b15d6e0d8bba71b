"""Scores of a whole set of rows that scikit-learn computes too slowly for many small sets.

Each equals scikit-learn's to rounding; a test holds it to that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats

SetScore = Callable[[AnyArray, AnyArray, Floats | None, AnyArray], float]


def balanced_accuracy(
    said: AnyArray, y: AnyArray, weight: Floats | None, classes: AnyArray
) -> float:
    """Return the mean over classes of the share of their rows that were hit.

    Examples
    --------
    >>> import numpy as np
    >>> y, classes = np.array([0, 0, 1]), np.array([0, 1])
    >>> balanced_accuracy(np.array([0, 1, 1]), y, None, classes)
    0.75
    """
    codes = np.searchsorted(classes, y)
    size = len(classes)
    total = np.bincount(codes, weight, minlength=size)
    hit = np.bincount(codes, np.where(said == y, 1.0 if weight is None else weight, 0.0), size)
    present = total > 0
    return float(np.mean(hit[present] / total[present]))


def area_under_curve(
    scores: AnyArray, y: AnyArray, weight: Floats | None, classes: AnyArray
) -> float:
    """Return the chance that a row of the second class scores above one of the first.

    Ties count one half.

    Examples
    --------
    >>> import numpy as np
    >>> y, classes = np.array([0, 1, 0, 1]), np.array([0, 1])
    >>> area_under_curve(np.array([0.1, 0.4, 0.4, 0.9]), y, None, classes)
    0.875
    """
    positive = y == classes[1]
    weight = np.ones(len(y)) if weight is None else weight
    values, place = np.unique(scores, return_inverse=True)
    above = np.bincount(place, np.where(positive, weight, 0.0), len(values))
    below = np.bincount(place, np.where(positive, 0.0, weight), len(values))
    under = np.cumsum(below) - below / 2
    mass = above.sum() * below.sum()
    if mass == 0:
        raise ValueError("Only one class present: the area under the curve is not defined.")
    return float(above @ under / mass)


def answers_for(metric: str, responses: Any) -> AnyArray:
    """Return what a model says, as the metric needs it."""
    if metric == "balanced_accuracy":
        return responses.all_of("predict")
    if hasattr(responses, "decision_function"):  # scikit-learn's order of preference
        return responses.all_of("decision_function")
    return responses.all_of("predict_proba")[:, 1]


SET_SCORES: dict[str, SetScore] = {
    "balanced_accuracy": balanced_accuracy,
    "roc_auc": area_under_curve,
}
