"""Search on a stream: every batch is scored before it is learned."""

from copy import deepcopy
from typing import Any, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.metrics import check_scoring
from sklearn.model_selection import ParameterGrid
from sklearn.utils import get_tags

from leavezero._random import integer_seed, seed_sequence, with_seed
from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Bools, Floats, RandomState, Table
from leavezero.evaluation import param_columns
from leavezero.search._base import BestEstimatorMixin
from leavezero.search._messages import check_parameter, check_tables, is_count

TUNED_BATCHES = 20  # at which the confidence sequence is narrowest


class PrequentialSearchLZO(BestEstimatorMixin):
    """Search over estimators with ``partial_fit``: batches are scored before they are learned.

    Every candidate predicts a batch, is scored, and learns it (Dawid 1984). The best candidate has
    the highest fading average of scores. A candidate is dropped once it is worse than the best
    by a confidence sequence. No candidate is ever fitted again.

    Parameters
    ----------
    estimator : estimator with ``partial_fit``
        The estimator whose parameters are searched.
    param_grid : dict or list of dicts
        The candidates, as in ``GridSearchCV``.
    scoring : str, callable or None, default=None
        One metric; None is the estimator's own score.
    fading : float, default=0.99
        The weight of a batch relative to the next one, in (0, 1]; 1 weights all batches equally.
    alpha : float or None, default=0.05
        The probability that any candidate is dropped that is not worse than the best, if batches
        are exchangeable. None drops no candidate: use it if the best candidate may change.
    batch_size : int, default=100
        The number of rows of a batch in ``fit``; ``partial_fit`` takes one batch of any size.
    random_state : int, RandomState, Generator or None, default=None
        Seed of estimators without one.

    Attributes
    ----------
    best_estimator_, best_params_, best_index_, best_score_
        The candidate with the highest fading average.
    cv_results_ : dict
        Parameters as in ``GridSearchCV``, ``mean_test_score`` (the fading average),
        ``mean_prequential_score`` (over all batches that the candidate was scored on),
        ``n_batches`` and ``rank_test_score``; NaN and the last rank after a candidate was dropped.
    prequential_score_ : float
        The mean score of the best candidate so far on each next batch: what predictions by this
        search were worth.
    n_batches_ : int
        The number of batches learned.
    scorer_ : callable
        The scorer.
    classes_, n_features_in_
        Those of the best estimator.

    Notes
    -----
    Differences of batch scores are compared by a confidence sequence for normal values of unknown
    variance (Wang and Ramdas 2025), which holds at all times at once, with ``alpha`` divided by
    the number of pairs of candidates. It weights all batches equally.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import SGDClassifier
    >>> from leavezero import PrequentialSearchLZO
    >>> X, y = load_digits(return_X_y=True)
    >>> grid = {"alpha": [1e-4, 1e-2, 1.0, 100.0]}
    >>> search = PrequentialSearchLZO(SGDClassifier(), grid, random_state=0)
    >>> search.fit(X[:1500] / 16, y[:1500]).best_params_["alpha"] < 1
    True
    >>> search.partial_fit(X[1500:] / 16, y[1500:]).n_batches_
    16
    """

    _models: dict[int, Any]  # by row of cv_results_
    n_batches_: int

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        fading: float = 0.99,
        alpha: float | None = 0.05,
        batch_size: int = 100,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.param_grid = param_grid
        self.scoring = scoring
        self.fading = fading
        self.alpha = alpha
        self.batch_size = batch_size
        self.random_state = random_state

    def fit(self, X: Table, y: AnyArray | None = None) -> Self:
        """Learn the rows in their order, in batches."""
        check_tables(X, y, "PrequentialSearchLZO")
        check_parameter(self, "batch_size", is_count(self.batch_size), "a positive int")
        self._reset()
        has_classes = is_classifier(self.estimator) and y is not None
        classes = np.unique(np.asarray(y)) if has_classes else None
        for start in range(0, max(count_rows(X), 1), self.batch_size):
            rows = slice(start, start + self.batch_size)
            self.partial_fit(take_rows(X, rows), None if y is None else take_rows(y, rows), classes)
        return self

    def partial_fit(
        self, X: Table, y: AnyArray | None = None, classes: AnyArray | None = None
    ) -> Self:
        """Score all candidates on a batch, then let them learn it.

        Classifiers need ``classes``, all labels of the stream, with the first batch.
        """
        check_tables(X, y, "PrequentialSearchLZO")
        if count_rows(X) == 0:
            raise ValueError("PrequentialSearchLZO requires at least 1 row per batch, got 0.")
        if y is None and get_tags(self.estimator).target_tags.required:
            raise ValueError(f"PrequentialSearchLZO requires y for {self.estimator!r}, got None.")
        target = () if y is None else (y,)
        is_first = not hasattr(self, "_models")
        if is_first:
            self._start(classes)
        try:
            self._check_labels(y)
            scores = None if is_first else self._scores(X, y)
            options = {"classes": self._classes} if self._classes is not None else {}
            learned = deepcopy(self._models)  # a batch that one of them refuses changes none
            for model in learned.values():
                model.partial_fit(X, *target, **options)
        except Exception:
            if is_first:  # a search that has learned nothing starts anew
                del self._models
            raise
        self._models = learned
        if scores is not None:
            self._add_scores(scores, count_rows(X))
        self.n_batches_ += 1
        self._set_results()
        return self

    def _start(self, classes: AnyArray | None) -> None:
        """Check the parameters and make the candidates."""
        if not hasattr(self.estimator, "partial_fit"):
            raise TypeError(
                f"PrequentialSearchLZO requires an estimator with partial_fit, got "
                f"{self.estimator!r}."
            )
        check_parameter(self, "fading", 0 < self.fading <= 1, "in (0, 1]")
        is_single = self.scoring is None or isinstance(self.scoring, str) or callable(self.scoring)
        check_parameter(self, "scoring", is_single, "None, the name of one metric or a callable")
        is_alpha = self.alpha is None or 0 < self.alpha < 1
        check_parameter(self, "alpha", is_alpha, "None or in (0, 1)")
        if is_classifier(self.estimator) and classes is None:
            raise ValueError(
                "PrequentialSearchLZO requires classes, all labels of the stream, in the first "
                "call of partial_fit of a classifier."
            )
        self.scorer_ = check_scoring(self.estimator, self.scoring)
        seed = integer_seed(seed_sequence(self.random_state), "candidate")
        self._params = list(ParameterGrid(self.param_grid))
        self._models = {
            row: with_seed(clone(self.estimator).set_params(**params), seed)
            for row, params in enumerate(self._params)
        }
        n = len(self._params)
        self._classes, self.n_batches_ = classes, 0
        self._faded, self._sums = np.zeros((n, 2)), np.zeros((n, 2))  # of scores, of weights
        self._differences = np.zeros((3, n, n))  # counts, means and sums of squared deviations
        self._own: list[float] = []
        self.best_index_ = 0

    def _check_labels(self, y: AnyArray | None) -> None:
        """Raise if a batch has labels that are not in classes, which some estimators ignore."""
        if y is None or self._classes is None or np.ndim(y) != 1 or np.ndim(self._classes) != 1:
            return
        unknown = set(np.asarray(y).tolist()) - set(np.asarray(self._classes).tolist())
        if unknown:
            names = sorted(set(map(repr, unknown)))
            raise ValueError(
                f"PrequentialSearchLZO requires labels that are in classes, got "
                f"{', '.join(names[:5])}."
            )

    def _scores(self, X: Table, y: AnyArray | None) -> Floats:
        """Return the scores of the candidates that are left, NaN for the others."""
        scores = np.full(len(self._params), np.nan)
        for row, model in self._models.items():
            scores[row] = self.scorer_(model, X, y)
        if not np.isfinite(scores).any():
            raise ValueError(
                "PrequentialSearchLZO requires finite scores of a batch, got only NaN."
            )
        return scores

    def _add_scores(self, scores: Floats, size: int) -> None:
        """Add the scores of a batch, and drop candidates that are worse than the best."""
        known = np.isfinite(scores)
        self._own.append(float(scores[self.best_index_]))
        self._faded *= self.fading
        for sums in (self._faded, self._sums):
            sums[known] += np.c_[scores[known] * size, np.full(known.sum(), size)]
        self._add_differences(scores)
        self.best_index_ = int(np.nanargmax(self._averages(self._faded)))
        for worse in np.flatnonzero(self._is_worse()).tolist():
            self._models.pop(worse, None)

    def _averages(self, sums: Floats) -> Floats:
        left = np.isin(np.arange(len(sums)), list(self._models)) & (sums[:, 1] > 0)
        return np.where(left, sums[:, 0] / np.where(left, sums[:, 1], 1), np.nan)

    def _add_differences(self, scores: Floats) -> None:
        """Update the moments of all pairs of candidates (Welford 1962)."""
        count, mean, square = self._differences
        new = scores[:, None] - scores
        known = np.isfinite(new)
        step = np.where(known, new - mean, 0)
        count += known
        mean += step / np.maximum(count, 1)
        square += np.where(known, step * (new - mean), 0)

    def _is_worse(self) -> Bools:
        """Return which candidates are worse than the best, by a confidence sequence."""
        count, mean, square = self._differences[:, :, self.best_index_]
        if self.alpha is None or len(self._params) < 2:
            return np.zeros(len(count), dtype=bool)
        n_candidates = len(self._params)
        level = self.alpha / (n_candidates * (n_candidates - 1) / 2)
        # c^2: the martingale averages effect sizes with the distribution N(0, 1 / c^2).
        tuning = TUNED_BATCHES / (-2 * np.log(level) + np.log(-2 * np.log(level) + 1))
        n = np.maximum(count, 1)
        total, explained = square + n * mean**2, (n * mean) ** 2 / (n + tuning)
        share = 1 - (level**2 * tuning / (n + tuning)) ** (1 / n)  # the martingale is 1 / level
        return (mean < 0) & (explained > share * total)

    def _set_results(self) -> None:
        averages = self._averages(self._faded)
        order = np.where(np.isnan(averages), -np.inf, averages)
        counts = np.diagonal(self._differences[0]).astype(int)
        totals = self._sums[:, 0] / np.where(counts > 0, self._sums[:, 1], np.nan)
        self.cv_results_ = {
            **param_columns(self._params),
            "params": self._params,
            "mean_test_score": averages,
            "mean_prequential_score": totals,
            "n_batches": counts,
            "rank_test_score": 1 + (order[None, :] > order[:, None]).sum(axis=1),
        }
        self.best_score_ = float(averages[self.best_index_])
        self.best_params_ = self._params[self.best_index_]
        self.best_estimator_ = self._models[self.best_index_]
        self.prequential_score_ = float(np.mean(self._own)) if self._own else np.nan

    def score(self, X: Table, y: AnyArray | None = None) -> float:
        """Return the score of the best estimator by the metric of the search."""
        return float(self.scorer_(self._fitted_best(), X, y))
