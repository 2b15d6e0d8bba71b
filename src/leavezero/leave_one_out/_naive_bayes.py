"""Leave-one-out of naive Bayes: subtract each row from the moments or counts of its class."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.naive_bayes import BernoulliNB, ComplementNB, GaussianNB, MultinomialNB
from sklearn.preprocessing import binarize

from leavezero._typing import Floats, Ints
from leavezero.leave_one_out._loo_method import (
    LOOPredictions,
    OneTargetMethod,
    TrainingData,
    check_statistic,
    class_predictions,
    loo_class_totals,
    singletons,
    subtract,
)

_CANCELLATION = 1e-3  # a sum of squares that shrinks below this share is summed again


class GaussianNBMethod(OneTargetMethod):
    """Exact leave-one-out of GaussianNB, with weights and any priors."""

    name = "Gaussian naive Bayes"
    estimator_types = (GaussianNB,)

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        rows, codes, weights = data.X, data.y, data.weights
        origin = rows.mean(axis=0)
        rows = rows - origin  # sums of squares stay small
        n_classes = len(model.classes_)
        moments = [_moments(rows[codes == k], weights[codes == k]) for k in range(n_classes)]
        check_statistic(model, "class_count_", [m.total for m in moments])
        check_statistic(model, "theta_", np.array([m.mean for m in moments]) + origin)
        check_statistic(model, "var_", np.array([m.variance for m in moments]) + model.epsilon_)

        # epsilon_ is var_smoothing times the largest unweighted variance of a column.
        smoothing = model.var_smoothing * _loo_moments(rows, np.ones(len(rows)))[1].max(axis=1)
        scores = np.empty((len(rows), n_classes))
        for code, moment in enumerate(moments):
            own = codes == code
            means = np.tile(moment.mean, (len(rows), 1))
            variances = np.tile(moment.variance, (len(rows), 1))
            means[own], variances[own] = _loo_moments(rows[own], weights[own])
            variances += smoothing[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):  # variance 0 without smoothing
                terms = np.log(2 * np.pi * variances) + (rows - means) ** 2 / variances
            scores[:, code] = -0.5 * terms.sum(axis=1)
        return _with_priors(model, scores, data, model.priors)


class _Moments(NamedTuple):
    total: float
    mean: Floats
    variance: Floats


def _moments(rows: Floats, weights: Floats) -> _Moments:
    """Return total weight, mean and variance; zeros without any weight."""
    total = float(weights.sum())
    if total <= 0:
        return _Moments(0.0, np.zeros(rows.shape[1]), np.zeros(rows.shape[1]))
    mean = weights @ rows / total
    return _Moments(total, mean, weights @ (rows - mean) ** 2 / total)


def _loo_moments(rows: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Return means and variances without each row.

    With weight w, total W and d = x - mean, the mean moves by -w d / (W - w) and the sum of squares
    loses w W / (W - w) d^2 (Welford 1962, backwards).
    """
    total, mean, variance = _moments(rows, weights)
    rest = total - weights
    rest = np.where(rest <= 1e-12 * total, np.inf, rest)  # the row has all weight
    ratio = (weights / rest)[:, None]
    deviations = rows - mean
    means = mean - ratio * deviations
    squares = variance * total - ratio * total * deviations**2
    variances = np.maximum(squares, 0.0) / rest[:, None]
    cancelled = (squares <= _CANCELLATION * variance * total) & (variance > 0)
    for row, column in np.argwhere(cancelled & np.isfinite(rest)[:, None]):
        # At most a few rows per column can hold nearly all of its variance.
        others = np.delete(np.arange(len(rows)), row)
        _, own_mean, own_variance = _moments(rows[others][:, [column]], weights[others])
        means[row, column], variances[row, column] = own_mean[0], own_variance[0]
    return means, variances


class DiscreteNBMethod(OneTargetMethod):
    """Exact leave-one-out of MultinomialNB, BernoulliNB and ComplementNB, with weights.

    X is kept sparse; own-class terms are computed only for its stored values.
    """

    name = "discrete naive Bayes"
    estimator_types = (MultinomialNB, BernoulliNB, ComplementNB)

    def unsupported_reason(self, estimator: Any) -> str | None:
        if estimator.force_alpha and np.min(estimator.alpha) <= 0:
            return "with alpha=0 a feature that only one row has is impossible without that row"
        return None

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        counts = _count(model, data)
        check_statistic(model, "class_count_", counts.by_class)
        check_statistic(model, "feature_count_", counts.by_feature)
        alpha = np.broadcast_to(np.asarray(model.alpha, dtype=np.float64), counts.X.shape[1:])
        alpha = alpha if model.force_alpha else np.maximum(alpha, 1e-10)  # as scikit-learn does
        scores = _LOG_LIKELIHOODS[type(model)](counts, alpha, model)
        uses_prior = type(model) is not ComplementNB  # with two or more classes
        given = model.class_prior if uses_prior else None
        return _with_priors(model, scores, data, given, uses_prior and model.fit_prior)


def _with_priors(
    model: Any, scores: Floats, data: TrainingData, given: Any, learned: bool = True
) -> LOOPredictions:
    """Return predictions from log likelihoods and from given, learned or equal priors."""
    totals = loo_class_totals(data.y, data.weights, len(model.classes_))
    vanished = singletons(data.y) | (totals[np.arange(len(scores)), data.y] == 0)
    scores[vanished, data.y[vanished]] = -np.inf
    if given is not None:  # they do not fit fewer classes
        return class_predictions(model, scores + np.log(given), ~vanished)
    if learned:
        with np.errstate(divide="ignore"):
            scores += np.log(totals / totals.sum(axis=1, keepdims=True))
    return class_predictions(model, scores, np.ones(len(scores), dtype=bool))


@dataclass(frozen=True, eq=False)
class _Counts:
    """Sparse X, its sums by class and feature, and the row and the weighted size of each value."""

    X: Any
    codes: Ints
    weights: Floats
    by_class: Floats
    by_feature: Floats
    owner: Ints
    removed: Floats

    def row_sums(self, terms: Floats) -> Floats:
        """Return sums over the stored values of each row."""
        return np.asarray(np.bincount(self.owner, terms, minlength=len(self.codes)), dtype=float)


def _count(model: Any, data: TrainingData) -> _Counts:
    X, codes, weights = sparse.csr_array(data.X), data.y, data.weights
    X.eliminate_zeros()
    if getattr(model, "binarize", None) is not None:
        X = sparse.csr_array(binarize(X, threshold=model.binarize))
    n_rows, n_classes = X.shape[0], len(model.classes_)
    by_class = np.bincount(codes, weights, minlength=n_classes).astype(np.float64)
    members = sparse.csr_array((weights, (codes, np.arange(n_rows))), (n_classes, n_rows))
    owner = np.repeat(np.arange(n_rows), np.diff(X.indptr))
    removed = X.data * weights[owner]
    by_feature = (members @ X).toarray()
    return _Counts(X, codes, weights, by_class, by_feature, owner, removed)


def _multinomial(counts: _Counts, alpha: Floats, model: Any) -> Floats:
    smoothed = counts.by_feature + alpha
    scores = np.asarray(counts.X @ (np.log(smoothed) - np.log(smoothed.sum(axis=1))[:, None]).T)
    before = counts.by_feature[counts.codes[counts.owner], counts.X.indices]
    own = subtract(before, counts.removed) + alpha[counts.X.indices]
    own_total = counts.by_feature.sum(axis=1)[counts.codes]
    own_total = subtract(own_total, counts.row_sums(counts.removed)) + alpha.sum()
    own_scores = counts.row_sums(counts.X.data * np.log(own))
    own_scores -= counts.row_sums(counts.X.data) * np.log(own_total)
    scores[np.arange(len(scores)), counts.codes] = own_scores
    return scores


def _bernoulli(counts: _Counts, alpha: Floats, model: Any) -> Floats:
    total = counts.by_class[:, None] + 2 * alpha
    present, absent = counts.by_feature + alpha, total - counts.by_feature - alpha
    scores = np.asarray(counts.X @ (np.log(present) - np.log(absent)).T)
    scores += (np.log(absent) - np.log(total)).sum(axis=1)
    # The own class without the row. Rows of one class and weight share the terms of features that
    # they do not have: all terms are summed once, and those of their features are replaced.
    codes, values, columns = counts.codes, counts.X.data, counts.X.indices
    rest = subtract(counts.by_class[codes], counts.weights)
    kinds = np.column_stack([codes, counts.weights])
    _, first, kind = np.unique(kinds, axis=0, return_index=True, return_inverse=True)
    shared = [
        _log_positive(rest[row] + alpha - counts.by_feature[codes[row]]).sum()
        - np.log(rest[row] + 2 * alpha).sum()
        for row in first
    ]
    before, others = counts.by_feature[codes[counts.owner], columns], rest[counts.owner]
    left = subtract(before, counts.removed)
    terms = values * np.log(left + alpha[columns])
    terms += (1 - values) * np.log(np.maximum(others - left, 0.0) + alpha[columns])
    terms -= _log_positive(others + alpha[columns] - before)
    own_scores = counts.row_sums(terms) + np.array(shared)[kind.reshape(-1)]
    scores[np.arange(len(scores)), codes] = own_scores
    return scores


def _log_positive(values: Floats) -> Floats:
    """Return logarithms, 0 for values <= 0: those of features that all rows of a class have."""
    return np.log(np.where(values > 0, values, 1.0))


def _complement(counts: _Counts, alpha: Floats, model: Any) -> Floats:
    """Return scores from the counts of the other classes (Rennie et al. 2003).

    A row changes the scores of all classes but its own.
    """
    others = counts.by_feature.sum(axis=0) - counts.by_feature + alpha
    lengths, row_removed = counts.row_sums(counts.X.data), counts.row_sums(counts.removed)
    scores = np.empty((len(counts.codes), len(others)))
    for code, smoothed in enumerate(others):
        changes = counts.codes != code
        before = smoothed[counts.X.indices]
        after = subtract(before - alpha[counts.X.indices], counts.removed * changes[counts.owner])
        log_after = np.log(after + alpha[counts.X.indices])
        log_total = np.log(smoothed.sum() - row_removed * changes)
        scores[:, code] = lengths * log_total - counts.row_sums(counts.X.data * log_after)
        if model.norm:
            change = counts.row_sums(log_after - np.log(before))
            scores[:, code] /= len(smoothed) * log_total - np.log(smoothed).sum() - change
    return scores


_LOG_LIKELIHOODS = {
    MultinomialNB: _multinomial,
    BernoulliNB: _bernoulli,
    ComplementNB: _complement,
}
