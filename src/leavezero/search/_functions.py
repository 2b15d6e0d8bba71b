"""Scores of one estimator, without a search."""

from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, RandomState, Table
from leavezero.search._grid import GridSearchLZO


def leave_zero_out_score(
    estimator: Any,
    X: Table,
    y: AnyArray,
    *,
    augmenter: Any = "auto",
    n_replicates: int = 10,
    validation_size: float = 1.0,
    scoring: Any = None,
    error_score: Any = np.nan,
    random_state: RandomState = None,
) -> Floats:
    """Return the score of an estimator on each replicate of an augmented validation set.

    The estimator is fitted once, on all the data; ``cross_val_score`` fits it K times on parts.

    Parameters
    ----------
    estimator : classifier or regressor
        What to fit; it is copied first.
    X : array, frame, sparse matrix or sequence of strings
        The features.
    y : array of shape (n_samples,) or (n_samples, n_outputs)
        The target.
    augmenter, n_replicates, validation_size, scoring, error_score, random_state
        As for :class:`GridSearchLZO`.

    Returns
    -------
    array of shape (n_replicates,)

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from leavezero import leave_zero_out_score
    >>> X, y = load_iris(return_X_y=True)
    >>> scores = leave_zero_out_score(LogisticRegression(max_iter=1000), X, y, random_state=0)
    >>> scores.shape
    (10,)
    """
    search = GridSearchLZO(
        estimator,
        {},
        augmenter=augmenter,
        n_replicates=n_replicates,
        validation_size=validation_size,
        scoring=scoring,
        error_score=error_score,
        random_state=random_state,
    ).fit(X, y)
    splits = [name for name in search.cv_results_ if name.startswith("split")]
    return np.array([search.cv_results_[name][0] for name in splits])
