"""Leave-one-out of the nearest centroid classifier."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.neighbors import NearestCentroid

from leavezero._typing import Bools, Floats, Ints
from leavezero.leave_one_out._class_scores import class_predictions, loo_class_totals, singletons
from leavezero.leave_one_out._loo_method import (
    LOOPredictions,
    OneTargetMethod,
    TrainingData,
    check_statistic,
    to_dense,
)


class NearestCentroidMethod(OneTargetMethod):
    """Exact leave-one-out of NearestCentroid: means or medians, shrinkage and any priors."""

    name = "nearest centroid"
    estimator_types = (NearestCentroid,)
    takes_weights = False

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        rows = to_dense(data.X)  # as the fit itself does
        origin = rows.mean(axis=0)  # sums of squares stay small
        moments = _class_moments(model, rows - origin, data.y)
        spread = moments.spread()
        check_statistic(model, "within_class_std_dev_", spread)
        variances = 1.0 / moments.counts - 1.0 / len(rows)
        centroids = _shrink(model, moments.centroids, 0.0 * origin, variances, spread)
        check_statistic(model, "centroids_", centroids + origin)
        return _loo_predictions(model, moments)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Moments by class, and the centroid of each row's class without the row."""

    rows: Floats
    codes: Ints
    counts: Ints
    means: Floats
    centroids: Floats
    squares: Floats  # about the means
    own_centroids: Floats

    def _squares_about_centroids(self) -> Floats:
        # sum (x - a)^2 = sum (x - mean)^2 + n (mean - a)^2
        return self.squares + self.counts[:, None] * (self.means - self.centroids) ** 2

    def spread(self) -> Floats:
        """Return the standard deviation of each column within the classes."""
        total = self._squares_about_centroids().sum(axis=0)
        return np.sqrt(total / (len(self.rows) - len(self.counts)))

    def loo_spread(self) -> Floats:
        """Return the same without each row."""
        count = self.counts[self.codes][:, None]
        rest = np.maximum(count - 1, 1)
        deviations = self.rows - self.means[self.codes]
        mean = self.means[self.codes] - deviations / rest
        about = self._squares_about_centroids()
        squares = np.maximum(self.squares[self.codes] - deviations**2 * count / rest, 0.0)
        own = np.where(count > 1, squares + rest * (mean - self.own_centroids) ** 2, 0.0)
        total = np.maximum(about.sum(axis=0) - about[self.codes] + own, 0.0)
        total = np.where(total < 1e-12 * about.sum(axis=0), 0.0, total)  # only rounding errors
        divisor = len(self.rows) - 1 - (len(self.counts) - singletons(self.codes))
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.sqrt(total / divisor[:, None])


def _class_moments(model: Any, rows: Floats, codes: Ints) -> _Moments:
    shape = len(model.classes_), rows.shape[1]
    means, centroids, squares = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    own = np.zeros_like(rows)
    for code in range(len(means)):
        members = rows[codes == code]
        means[code] = members.mean(axis=0)
        deviations = members - means[code]
        squares[code] = (deviations**2).sum(axis=0)
        if model.metric == "manhattan":
            centroids[code], own[codes == code] = np.median(members, axis=0), loo_medians(members)
        else:
            centroids[code] = means[code]
            own[codes == code] = means[code] - deviations / max(len(members) - 1, 1)
    counts = np.bincount(codes, minlength=len(means))
    return _Moments(rows, codes, counts, means, centroids, squares, own)


def loo_medians(members: Floats) -> Floats:
    """Return the median of each column without each row, from one sort; a single row itself."""
    count = len(members) - 1
    if count == 0:
        return members
    order = members.argsort(axis=0, kind="stable")
    ranks = order.argsort(axis=0, kind="stable")
    ordered = np.take_along_axis(members, order, axis=0)
    low, high = (count - 1) // 2, count // 2
    # Ranks above the removed one decrease by one.
    at_low = np.take_along_axis(ordered, low + (ranks <= low), axis=0)
    at_high = np.take_along_axis(ordered, high + (ranks <= high), axis=0)
    return np.asarray(at_low + (at_high - at_low) / 2)


def _loo_predictions(model: Any, moments: _Moments) -> LOOPredictions:
    rows, codes, n_classes = moments.rows, moments.codes, len(moments.counts)
    n_rest = len(rows) - 1
    vanished = singletons(codes)
    spread = moments.loo_spread()
    units = np.where(spread == 0, 1.0, spread)
    priors, uniform = _loo_priors(model, codes, vanished)
    with np.errstate(divide="ignore"):
        scores = 2 * np.log(priors)
    distances = np.empty(scores.shape)
    for code in range(n_classes):
        own = codes == code
        centroids = np.where(own[:, None], moments.own_centroids, moments.centroids[code])
        variances = 1.0 / np.maximum(moments.counts[code] - own, 1) - 1.0 / n_rest
        # All rows have mean zero; without x it is -x / n_rest.
        centroids = _shrink(model, centroids, -rows / n_rest, variances, spread)
        distances[:, code] = _norm(model, rows - centroids)
        scores[:, code] -= _norm(model, (rows - centroids) / units) ** 2
    distances[vanished, codes[vanished]] = np.inf
    scores[vanished, codes[vanished]] = -np.inf
    fixed = not isinstance(model.priors, str)  # fixed priors do not fit fewer classes
    result = class_predictions(model, scores, ~vanished if fixed else np.ones(len(rows), bool))
    # With equal priors NearestCentroid.predict uses distances that are not divided by the spread.
    best = np.where(uniform, distances.argmin(axis=1), scores.argmax(axis=1))
    labels = model.classes_.take(best)
    return replace(result, predictions={**result.predictions, "predict": labels})


def _norm(model: Any, gaps: Floats) -> Floats:
    return np.asarray(np.linalg.norm(gaps, 1 if model.metric == "manhattan" else 2, axis=1))


def _loo_priors(model: Any, codes: Ints, vanished: Bools) -> tuple[Floats, Bools]:
    """Return the priors without each row, and the rows for which they are equal."""
    n_rows, n_classes = len(codes), len(model.classes_)
    uniform = np.tile(1.0 / (n_classes - vanished)[:, None], (1, n_classes))
    if not isinstance(model.priors, str):
        priors = np.tile(model.class_prior_, (n_rows, 1))
    elif model.priors == "uniform":
        priors = uniform
    else:
        priors = loo_class_totals(codes, np.ones(n_rows), n_classes) / (n_rows - 1)
    return priors, (np.isclose(priors, uniform) | (priors == 0)).all(axis=1)


def _shrink(
    model: Any, centroids: Floats, mean: Floats, variances: Floats, spread: Floats
) -> Floats:
    """Return centroids shrunk towards the mean of all rows.

    Tibshirani et al. (2002, PNAS 99): soft thresholding of the difference in units of
    m_k (s_j + s_0), where m_k^2 are the ``variances`` of the centroids and s_0 is the median of the
    spreads s_j.
    """
    if not model.shrink_threshold:
        return centroids
    units = spread + np.median(spread, axis=-1, keepdims=True)
    units = np.sqrt(variances)[:, None] * units
    steps = (centroids - mean) / units
    shrunk = np.sign(steps) * np.maximum(np.abs(steps) - model.shrink_threshold, 0.0)
    return np.asarray(mean + units * shrunk)
