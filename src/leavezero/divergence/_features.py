"""The Jensen-Shannon divergence between the features of two independent samples."""

import numpy as np

from leavezero._random import seed_sequence, stream
from leavezero._tables import count_rows
from leavezero._typing import Ints, RandomState, Table
from leavezero.divergence._estimate import DivergenceEstimate, cross_fitted
from leavezero.divergence._folds import Fold, Sides, nested_folds, parts_of
from leavezero.divergence._neighbors import neighbor_divergence
from leavezero.divergence._samples import (
    Features,
    Reader,
    check_at_least,
    check_samples,
    some_rows,
    stacked,
    taken,
)

N_PARTS = 5
LEAST_ROWS = 2 * N_PARTS  # two of either sample in every part


def jensen_shannon_features(
    X: Table, X_v: Table, *, max_rows: int = 2000, random_state: RandomState = None
) -> DivergenceEstimate:
    """Return an estimate of the Jensen-Shannon divergence between two independent samples.

    The divergence is what a row tells of the sample it is from, so a classifier that tells the
    samples apart gives a lower bound of it. The best of a logistic model, two normal laws and
    boosted trees is chosen and calibrated inside the training folds and asked about rows that it
    was not fitted to; both samples weigh the same, whatever their sizes. The estimate errs
    downward: a difference that none of the three sees is not in it.

    The rows of one sample must not lean on those of the other. V drawn from X by an augmenter
    does, and looks better here than it is: use :func:`jensen_shannon_augmenter`.

    Parameters
    ----------
    X, X_v : array, frame, sparse matrix or sequence of strings
        The samples, with the same columns and at least ten rows each. Categories and, in dense
        tables, missing cells are allowed.
    max_rows : int, default=2000
        At most so many rows of each sample are used, drawn at random; with 20 columns that takes a
        few seconds.
    random_state : int, RandomState, Generator or None, default=None
        An int for an estimate that repeats.

    Returns
    -------
    DivergenceEstimate

    References
    ----------
    B. C. Ross. Mutual information between discrete and continuous data sets. PLoS ONE 9(2), 2014.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.divergence import jensen_shannon_features
    >>> rng = np.random.default_rng(0)
    >>> near = jensen_shannon_features(rng.normal(size=(200, 2)), rng.normal(size=(300, 2)),
    ...                                random_state=0)
    >>> far = jensen_shannon_features(rng.normal(size=(200, 2)), rng.normal(5.0, size=(300, 2)),
    ...                               random_state=0)
    >>> near.value < 0.02, far.value > 0.6, far.auc > 0.99
    (True, True, True)
    """
    owner = "jensen_shannon_features"
    X, X_v = check_samples(X, X_v, owner, LEAST_ROWS)
    check_at_least(max_rows, LEAST_ROWS, "max_rows", owner)
    root = seed_sequence(random_state)
    rows, rows_v = chosen_rows(X, X_v, max_rows, root)
    both = stacked([taken(X, rows), taken(X_v, rows_v)])
    features = Reader().fit(both, root).transform(both)
    folds = two_sample_folds(len(rows), len(rows_v), root)
    answers, _ = cross_fitted(features, folds, root)
    check = _neighbors(features, len(rows), root)
    return answers.estimate(neighbors=check)


def chosen_rows(
    X: Table, X_v: Table, max_rows: int, root: np.random.SeedSequence
) -> tuple[Ints, Ints]:
    """Return the positions of the rows of either sample that are used."""
    rng = stream(root, "rows")
    rows = some_rows(count_rows(X), max_rows, rng)
    return rows, some_rows(count_rows(X_v), max_rows, rng)


def two_sample_folds(n_rows: int, n_rows_v: int, root: np.random.SeedSequence) -> list[Fold]:
    """Return the folds of two samples, the second of which follows the first."""
    strata = np.repeat([0, 1], [n_rows, n_rows_v])
    parts = parts_of(len(strata), N_PARTS, stream(root, "parts"), strata)

    def rows_of(wanted: frozenset[int]) -> Sides:
        inside = np.flatnonzero(np.isin(parts, sorted(wanted)))
        return Sides(inside[inside < n_rows], inside[inside >= n_rows])

    return nested_folds(N_PARTS, rows_of)


def _neighbors(features: Features, n_rows: int, root: np.random.SeedSequence) -> float | None:
    given, drawn = features.compact[:n_rows], features.compact[n_rows:]
    return neighbor_divergence(given, drawn, stream(root, "neighbors"))
