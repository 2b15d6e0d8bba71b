"""Scores of a whole set of rows that scikit-learn computes too slowly for many small sets.

Each equals scikit-learn's to rounding; a test holds it to that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats

SetScore = Callable[[AnyArray, AnyArray, Floats | None, Any], float]


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


def shares_explained(said: AnyArray, y: AnyArray, weight: Floats | None) -> Floats:
    """Return what share of the target's squares around its mean is explained, line by line.

    Examples
    --------
    >>> import numpy as np
    >>> said, y = np.array([[1.0, 2.0, 4.0], [1.0, 2.0, 3.0]]), np.array([[1.0, 2.0, 3.0]] * 2)
    >>> shares_explained(said, y, None)
    array([0.5, 1. ])
    """
    left, away = (y - said) ** 2, (y - line_means(y, weight)[:, None]) ** 2
    if weight is not None:
        left, away = weight * left, weight * away
    missed, total = left.sum(axis=1), away.sum(axis=1)
    constant = total == 0  # scikit-learn's convention: 1 if all is right, else 0
    return np.where(constant, missed == 0, 1 - missed / np.where(constant, 1.0, total))


def line_means(values: AnyArray, weight: Floats | None) -> Floats:
    """Return the mean of each line, as numpy's own of the line alone."""
    if weight is None:
        return np.asarray(values.mean(axis=1))
    return np.asarray((values * weight).sum(axis=1) / weight.sum(axis=1))


def set_score(name: str, classes: AnyArray | None) -> SetScore | None:
    """Return the faster way to a score, where there is one for this target."""
    return None if classes is None else OF_CLASSES.get(name)


def answers_for(metric: str, responses: Any) -> AnyArray:
    """Return what a model says, as the metric needs it."""
    if metric == "balanced_accuracy":
        return responses.all_of("predict")
    if hasattr(responses, "decision_function"):  # scikit-learn's order of preference
        return responses.all_of("decision_function")
    return responses.all_of("predict_proba")[:, 1]


OF_CLASSES: dict[str, SetScore] = {
    "balanced_accuracy": balanced_accuracy,
    "roc_auc": area_under_curve,
}
