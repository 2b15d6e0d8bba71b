"""Leave-one-out of Gaussian naive Bayes: moments and the smoothing term without each row."""

from typing import Any, NamedTuple

import numpy as np
from sklearn.naive_bayes import GaussianNB

from leavezero._typing import AnyArray, Floats, Table
from leavezero.leave_one_out._base import LeaveOneOutMethod, LOOPredictions
from leavezero.leave_one_out._class_scores import class_predictions, loo_class_totals, singletons
from leavezero.leave_one_out._training_data import (
    check_statistic,
    class_codes,
    row_weights,
    training_rows,
)

_CANCELLATION = 1e-3  # a sum of squares that shrinks below this share is summed again


class GaussianNBMethod(LeaveOneOutMethod):
    """Exact leave-one-out of GaussianNB, with weights and any priors."""

    name = "Gaussian naive Bayes"

    def handles(self, estimator: Any) -> bool:
        """Return True for GaussianNB itself."""
        return type(estimator) is GaussianNB

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        rows = training_rows(model, X)
        codes = class_codes(model, y, len(rows))
        weights = row_weights(sample_weight, len(rows))
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
            means, variances = (
                np.tile(moment.mean, (len(rows), 1)),
                np.tile(moment.variance, (len(rows), 1)),
            )
            means[own], variances[own] = _loo_moments(rows[own], weights[own])
            variances += smoothing[:, None]
            with np.errstate(divide="ignore", invalid="ignore"):  # variance 0 without smoothing
                terms = np.log(2 * np.pi * variances) + (rows - means) ** 2 / variances
            scores[:, code] = -0.5 * terms.sum(axis=1)

        totals = loo_class_totals(codes, weights, n_classes)
        vanished = singletons(codes) | (totals[np.arange(len(rows)), codes] == 0)
        scores[vanished, codes[vanished]] = -np.inf
        if model.priors is not None:  # they do not fit fewer classes
            return class_predictions(model, scores + np.log(model.class_prior_), ~vanished)
        with np.errstate(divide="ignore"):
            scores += np.log(totals / totals.sum(axis=1, keepdims=True))
        return class_predictions(model, scores, np.ones(len(rows), dtype=bool))


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


METHODS = (GaussianNBMethod(),)
