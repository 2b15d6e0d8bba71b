"""How much more often a row occurs in the data than in V."""

import numpy as np

from leavezero._random import seed_sequence
from leavezero._tables import count_rows
from leavezero._typing import Floats, RandomState, Table
from leavezero.divergence._estimate import clipped, cross_fitted
from leavezero.divergence._features import LEAST_ROWS, chosen_rows, two_sample_folds
from leavezero.divergence._samples import (
    Reader,
    check_at_least,
    check_samples,
    stacked,
)


def density_ratio(
    X: Table,
    X_v: Table,
    X_at: Table | None = None,
    *,
    max_rows: int = 2000,
    random_state: RandomState = None,
) -> Floats:
    """Return p(x) / q(x) at given rows, with p the density of X and q that of X_v.

    These are the weights that make rows of X_v count as rows of X would. They are the odds of
    cross-fitted classifiers, chosen as :func:`jensen_shannon_features` does, between 1 / 999 and
    999; a row that taught a classifier is never judged by it. Where X_v leans on X, or the
    classifiers see too little, the ratios are too near to 1.

    Parameters
    ----------
    X, X_v : array, frame, sparse matrix or sequence of strings
        The samples, with the same columns and at least ten rows each.
    X_at : the same, or None, default=None
        Where to tell the ratio; None for the rows of X_v.
    max_rows : int, default=2000
        The classifiers learn from at most so many rows of each sample.
    random_state : int, RandomState, Generator or None, default=None
        An int for ratios that repeat.

    Returns
    -------
    array of shape (n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.divergence import density_ratio
    >>> rng = np.random.default_rng(0)
    >>> X, X_v = rng.normal(0.0, size=(500, 1)), rng.normal(1.0, size=(500, 1))
    >>> left, middle, right = density_ratio(X, X_v, [[-1.0], [0.5], [2.0]], random_state=0)
    >>> bool(left > 3 and 0.7 < middle < 1.3 and right < 0.4)
    True
    """
    owner = "density_ratio"
    X, X_v = check_samples(X, X_v, owner, LEAST_ROWS)
    check_at_least(max_rows, LEAST_ROWS, "max_rows", owner)
    at = X_v if X_at is None else check_samples(X, X_at, owner)[1]
    root = seed_sequence(random_state)
    rows, rows_v = chosen_rows(X, X_v, max_rows, root)
    table = stacked([X, X_v, at])
    features = Reader().fit(table, root).transform(table)
    both = features.take(np.concatenate([rows, count_rows(X) + rows_v]))
    folds = two_sample_folds(len(rows), len(rows_v), root)
    _, tellers = cross_fitted(both, folds, root)
    asked = features.take(np.arange(count_rows(X) + count_rows(X_v), len(features)))
    log_odds = np.array([teller.log_odds(asked) for teller in tellers])
    mean = log_odds.mean(axis=0)
    if X_at is None:
        for told, fold in zip(log_odds, folds, strict=True):
            own = rows_v[fold.test.drawn - len(rows)]
            mean[own] = told[own]
    return np.exp(clipped(mean))
