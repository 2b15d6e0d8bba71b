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
    """Exact leave-one-out of NearestCentroid with means, shrinkage and any priors."""

    name = "nearest centroid"
    estimator_types = (NearestCentroid,)
    takes_weights = False

    def unsupported_reason(self, estimator: Any) -> str | None:
        if estimator.metric != "euclidean":
            return f"its centroids are no means with metric={estimator.metric!r}"
        return None

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        rows = to_dense(data.X)  # as the fit itself does
        origin = rows.mean(axis=0)  # sums of squares stay small
        moments = _class_moments(rows - origin, data.y, len(model.classes_))
        spread = moments.spread()
        check_statistic(model, "within_class_std_dev_", spread)
        variances = 1.0 / moments.counts - 1.0 / len(rows)
        centroids = _shrink(model, moments.means, 0.0 * origin, variances, spread)
        check_statistic(model, "centroids_", centroids + origin)
        return _loo_predictions(model, moments)


@dataclass(frozen=True, eq=False)
class _Moments:
    """Moments by class."""

    rows: Floats
    codes: Ints
    counts: Ints
    means: Floats
    squares: Floats  # sums about the means

    def spread(self) -> Floats:
        """Return the standard deviation of each column within the classes."""
        return np.sqrt(self.squares.sum(axis=0) / (len(self.rows) - len(self.counts)))

    def own(self) -> tuple[Floats, Floats]:
        """Return the mean of each row's class without the row, and the spread without it."""
        count = self.counts[self.codes][:, None]
        rest = np.maximum(count - 1, 1)
        deviations = self.rows - self.means[self.codes]
        all_squares = self.squares.sum(axis=0)
        total = np.maximum(all_squares - deviations**2 * count / rest, 0.0)
        total = np.where(total < 1e-12 * all_squares, 0.0, total)  # only rounding errors
        divisor = len(self.rows) - 1 - (len(self.counts) - singletons(self.codes))
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.means[self.codes] - deviations / rest, np.sqrt(total / divisor[:, None])


def _class_moments(rows: Floats, codes: Ints, n_classes: int) -> _Moments:
    parts = [rows[codes == code] for code in range(n_classes)]
    means = np.array([part.mean(axis=0) for part in parts])
    squares = np.array(
        [((part - mean) ** 2).sum(axis=0) for part, mean in zip(parts, means, strict=True)]
    )
    return _Moments(rows, codes, np.bincount(codes, minlength=n_classes), means, squares)


def _loo_predictions(model: Any, moments: _Moments) -> LOOPredictions:
    rows, codes, n_classes = moments.rows, moments.codes, len(moments.counts)
    n_rest = len(rows) - 1
    vanished = singletons(codes)
    own_means, spread = moments.own()
    units = np.where(spread == 0, 1.0, spread)
    priors, uniform = _loo_priors(model, codes, vanished)
    with np.errstate(divide="ignore"):
        scores = 2 * np.log(priors)
    distances = np.empty(scores.shape)
    for code in range(n_classes):
        own = codes == code
        centroids = np.where(own[:, None], own_means, moments.means[code])
        variances = 1.0 / np.maximum(moments.counts[code] - own, 1) - 1.0 / n_rest
        # All rows have mean zero; without x it is -x / n_rest.
        centroids = _shrink(model, centroids, -rows / n_rest, variances, spread)
        distances[:, code] = np.linalg.norm(rows - centroids, axis=1)
        scores[:, code] -= (((rows - centroids) / units) ** 2).sum(axis=1)
    distances[vanished, codes[vanished]] = np.inf
    scores[vanished, codes[vanished]] = -np.inf
    fixed = not isinstance(model.priors, str)  # fixed priors do not fit fewer classes
    result = class_predictions(model, scores, ~vanished if fixed else np.ones(len(rows), bool))
    # With equal priors NearestCentroid.predict uses distances that are not divided by the spread.
    best = np.where(uniform, distances.argmin(axis=1), scores.argmax(axis=1))
    labels = model.classes_.take(best)
    return replace(result, predictions={**result.predictions, "predict": labels})


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
