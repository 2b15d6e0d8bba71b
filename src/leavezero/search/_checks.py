"""What a search is given, checked before anything is drawn or fitted."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length, column_or_1d

from leavezero._tables import count_rows, plain
from leavezero._typing import AnyArray, Table


def check_estimator_kind(estimator: Any, owner: str) -> None:
    """Raise unless the estimator can be fitted and scored."""
    missing = [name for name in ("fit", "score") if not hasattr(estimator, name)]
    if missing:
        raise TypeError(
            f"estimator of {owner} must have the methods fit and score, and {estimator!r} lacks "
            f"{' and '.join(missing)}. Give a classifier of scikit-learn or one with its methods."
        )


def check_data(estimator: Any, X: Table, y: AnyArray | None, owner: str) -> AnyArray:
    """Return y as a one-dimensional array of classes that belong to the rows of X, or raise."""
    if y is None:
        raise ValueError(
            f"{owner} requires y to be passed, but the target y is None. "
            "Give the class of each row of X."
        )
    if count_rows(X) == 0:
        raise ValueError(f"X given to {owner} has 0 rows. Give at least two rows of each class.")
    check_consistent_length(X, y)
    target = column_or_1d(y, warn=True)
    assert_all_finite(target, input_name="y")
    check_classification_targets(target)
    if is_classifier(estimator):
        classes = np.unique(target)
        if len(classes) < 2:
            raise ValueError(
                f"y given to {owner} has one class only, {plain(classes[0])!r}. "
                "Give rows of at least two classes: with one there is nothing to choose by."
            )
    return target


def check_error_score(error_score: Any, owner: str) -> None:
    """Raise unless a failed candidate's score is a number or the wish to raise."""
    if error_score == "raise" or isinstance(error_score, Real):
        return
    raise ValueError(
        f'error_score of {owner} must be a number or "raise", got {error_score!r}. '
        "Use numpy.nan to rank failed candidates last."
    )
