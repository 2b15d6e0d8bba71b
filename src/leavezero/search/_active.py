"""Which unlabeled rows would decide between statistically tied candidates."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.stats import beta
from sklearn.base import is_classifier

from leavezero._tables import count_rows, plain
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.evaluation import fit_candidate, predict_in_blocks
from leavezero.search._messages import check_tables

PRIOR = 8.0  # labels that the consensus of the candidates is worth
PROBABLE = 0.01  # of the highest probability to be the best: candidates with less are dropped
GRID = np.linspace(0, 1, 201)[1:-1]  # of accuracies


@dataclass(frozen=True, eq=False)
class ActiveQuery:
    """Predictions of tied candidates for a pool of rows, and the labels known so far.

    Returned by :func:`active_query`; ``add_labels`` returns a new one.

    Parameters
    ----------
    candidates : tuple of int
        Rows of ``cv_results_``.
    predictions : array of shape (n_candidates, n_rows)
        The label that each candidate predicts for each row of the pool.
    labels : mapping of int to label
        The known labels by row of the pool.
    left : tuple of int or None, default=None
        The positions in ``candidates`` of those that may still be the best; None for all.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.search import ActiveQuery
    >>> query = ActiveQuery((4, 7), np.array([[0, 0, 0, 0], [0, 1, 1, 0]]))
    >>> query.add_labels([1, 2], [1, 1]).best_index
    7
    """

    candidates: tuple[int, ...]  # rows of cv_results_, best first
    predictions: AnyArray = field(repr=False)  # one row per candidate, one column per row
    labels: Mapping[int, Any] = field(default_factory=dict)  # by row of the pool
    left: tuple[int, ...] | None = None

    def rows(self, n_rows: int = 1) -> Ints:
        """Return the rows to label next; fewer if there are no others on which candidates differ.

        Rows are sampled among those on which the candidates differ that may still be the best. All
        rows on which two of them differ have the same chance, so that labels favor neither.
        """
        _, differs = self._votes()
        order = np.random.default_rng(0).permutation(len(differs))
        return order[differs[order] & ~np.isin(order, list(self.labels))][:n_rows]

    def add_labels(
        self, rows: Sequence[int] | Ints, labels: Sequence[Any] | AnyArray
    ) -> "ActiveQuery":
        """Return the query with the labels of some rows of the pool."""
        if len(rows) != len(labels):
            raise ValueError(
                f"add_labels requires one label per row, got {len(labels)} labels for "
                f"{len(rows)} rows."
            )
        n_rows = self.predictions.shape[1]
        if not all(0 <= row < n_rows for row in rows):
            raise ValueError(
                f"add_labels requires rows of the pool, 0 to {n_rows - 1}, got {rows}."
            )
        if any(label is None or label != label for label in labels):
            raise ValueError("add_labels requires known labels, got None or NaN.")
        for label in labels:
            predicted = self.predictions.flat[0]
            if isinstance(label, str) != isinstance(predicted, str):
                raise ValueError(
                    f"add_labels requires labels of the type of the predictions, such as "
                    f"{plain(predicted)!r}, got {plain(label)!r}."
                )
        added = {int(row): label for row, label in zip(rows, labels, strict=True)}
        query = replace(self, labels={**self.labels, **added})
        # For good: on rows on which the others differ, a dropped one would seem better than it is.
        probable = np.flatnonzero(query.probability_best >= PROBABLE * query.probability_best.max())
        return replace(query, left=tuple(probable.tolist())) if len(probable) > 1 else query

    def _votes(self) -> tuple[AnyArray, Bools]:
        """Return the predictions of the candidates that are left, and the rows that they decide."""
        votes = self.predictions[list(self.left or range(len(self.predictions)))]
        return votes, (votes != votes[0]).any(axis=0)

    @property
    def best_index(self) -> int:
        """The row of ``cv_results_`` of the candidate that is most probably the best."""
        return self.candidates[int(np.argmax(self.probability_best))]

    @cached_property
    def probability_best(self) -> Floats:
        """The probability of each candidate to be the most accurate where they differ.

        The accuracy of a candidate has a beta distribution: right and wrong labels are added to
        the share of the candidates that agree with it, which counts as eight labels.
        """
        votes, differs = self._votes()
        left = list(self.left or range(len(self.predictions)))
        found = np.zeros(len(self.predictions))
        found[left] = 1 / len(left)
        if not differs.any():
            return found
        known = [row for row in self.labels if differs[row]]
        truth = np.array([self.labels[row] for row in known])
        right = (votes[:, known] == truth).sum(axis=1) if known else np.zeros(len(votes))
        agreement = np.array([(votes[:, differs] == one).mean() for one in votes[:, differs]])
        a = 0.5 + PRIOR * agreement + right
        b = 0.5 + PRIOR * (1 - agreement) + len(known) - right
        density = beta.pdf(GRID, a[:, None], b[:, None])
        log_below = np.log(np.maximum(beta.cdf(GRID, a[:, None], b[:, None]), 1e-300))
        others = np.exp(log_below.sum(axis=0) - log_below)
        weights = (density * others).sum(axis=1)
        found[left] = weights / weights.sum()
        return found


def active_query(search: Any, X_pool: Table, *, max_candidates: int = 10) -> ActiveQuery:
    """Return which rows of a pool to label, to decide between the tied candidates of a search.

    Parameters
    ----------
    search : fitted search over classifiers
        The candidates are those of ``search.selection_.tied``. They are fitted once more, since a
        search keeps the best model only.
    X_pool : array, dataframe or sparse matrix
        Unlabeled rows.
    max_candidates : int, default=10
        The number of tied candidates that are compared, the best first.

    Returns
    -------
    ActiveQuery
        ``rows(n)`` are the rows to label; ``add_labels(rows, labels)`` returns the query with
        these labels, ``probability_best`` the probability of each candidate in ``candidates`` to
        be the best, and ``best_index`` the most probable one.

    Notes
    -----
    Rows for which all candidates predict the same label cannot decide between them, and are not
    queried; nor are those on which only improbable candidates differ. Before there are labels, the
    consensus of the candidates is the prior, as in CODA (Kay et al. 2025).

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from leavezero import GridSearchLZO, active_query
    >>> X, y = load_digits(return_X_y=True)
    >>> grid = {"n_neighbors": [1, 3, 5, 9]}
    >>> search = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0).fit(X[:100], y[:100])
    >>> query = active_query(search, X[100:])
    >>> for _ in range(10):
    ...     row = query.rows()
    ...     query = query.add_labels(row, y[100:][row])
    >>> bool(query.best_index in query.candidates), len(query.labels)
    (True, 10)
    """
    state = getattr(search, "_state", None)
    if state is None or state.selected.scores is None:
        raise ValueError(
            "active_query requires a search that was fitted in this process and has selected a "
            "candidate."
        )
    selected = state.selected
    candidates = [selected.candidates[at] for at in selected.scores.tied[:max_candidates]]
    if not all(is_classifier(one.estimator) for one in candidates):
        raise ValueError("active_query requires a search over classifiers.")
    if max_candidates < 2:
        raise ValueError(f"max_candidates must be at least 2, got {max_candidates!r}.")
    if len(candidates) < 2:
        raise ValueError(
            "active_query requires at least 2 statistically tied candidates, got 1: no label is "
            "needed to select it."
        )
    check_tables(X_pool, None, "active_query")
    if count_rows(X_pool) == 0:
        raise ValueError("active_query requires a pool of at least 1 row, got 0.")
    models = [fit_candidate(state.run, one) for one in candidates]
    predictions = np.array([predict_in_blocks(model.predict, X_pool) for model in models])
    if predictions.ndim != 2:
        raise ValueError("active_query requires a single target column.")
    return ActiveQuery(search.selection_.tied[: len(candidates)], predictions)
