"""Which given rows have a label, where candidates learn from rows without one."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from leavezero._typing import AnyArray, Ints
from leavezero.augment import labeled_rows, takes_unlabeled

MARKER = -1  # scikit-learn's


def rows_with_label(estimators: Iterable[Any], target: AnyArray, owner: str) -> Ints | None:
    """Return the labelled rows; None where every row has a label, or -1 is a class like others."""
    last = [last_step(estimator) for estimator in estimators]
    semi = [estimator for estimator in last if takes_unlabeled(estimator)]
    if not semi or target.ndim > 1:
        return None
    marker = marker_of(semi)
    known = labeled_rows(target, marker, owner)
    if known.all():
        return None
    others = [type(estimator).__name__ for estimator in last if not takes_unlabeled(estimator)]
    if others:
        raise ValueError(
            f"y given to {owner} marks rows as unlabelled ({marker!r}), and {', '.join(others)} "
            "cannot learn from these. Compare semi-supervised estimators only, or wrap it in "
            "SelfTrainingClassifier."
        )
    return np.flatnonzero(known)


def marker_of(estimators: Iterable[Any]) -> Any:
    """Return what marks a row without a label."""
    markers = (getattr(last_step(estimator), "unlabeled", MARKER) for estimator in estimators)
    return next(iter(markers), MARKER)


def last_step(estimator: Any) -> Any:
    """Return what predicts in a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return estimator
