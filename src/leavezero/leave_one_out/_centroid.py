"""Leave-one-out of the nearest centroid classifier."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.neighbors import NearestCentroid

from leavezero._typing import Bools, Floats, Ints
from leavezero.leave_one_out._loo_method import (
    LOOPredictions,
    OneTargetMethod,
    TrainingData,
    check_statistic,
    class_predictions,
    loo_class_totals,
    singletons,
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
        rows, codes = to_dense(data.X), data.y  # dense, as in the fit itself
        origin = rows.mean(axis=0)
        rows = rows - origin  # sums of squares stay small
        n_rows, n_classes = len(rows), len(model.classes_)
        counts = np.bincount(codes, minlength=n_classes)
        means = np.array([rows[codes == code].mean(axis=0) for code in range(n_classes)])
        squares = ((rows - means[codes]) ** 2).sum(axis=0)
        spread = np.sqrt(squares / (n_rows - n_classes))  # within the classes
        check_statistic(model, "within_class_std_dev_", spread)
        centroids = _shrink(model, means, 0.0 * origin, 1.0 / counts - 1.0 / n_rows, spread)
        check_statistic(model, "centroids_", centroids + origin)
        return _loo_predictions(model, rows, codes, counts, means)


def _loo_predictions(
    model: Any, rows: Floats, codes: Ints, counts: Ints, means: Floats
) -> LOOPredictions:
    """Return predictions for rows with mean zero, from counts and means of the classes."""
    n_rest, n_classes = len(rows) - 1, len(counts)
    vanished = singletons(codes)
    # Without a row, the mean of its class moves and the sum of squares about the means falls.
    count, deviations = counts[codes][:, None], rows - means[codes]
    rest, squares = np.maximum(count - 1, 1), (deviations**2).sum(axis=0)
    own_means = means[codes] - deviations / rest
    left = np.maximum(squares - deviations**2 * count / rest, 0.0)
    left = np.where(left < 1e-12 * squares, 0.0, left)  # only rounding errors
    with np.errstate(divide="ignore", invalid="ignore"):
        spread = np.sqrt(left / (n_rest - n_classes + vanished)[:, None])
    units = np.where(spread == 0, 1.0, spread)
    priors, uniform = _loo_priors(model, codes, vanished)
    with np.errstate(divide="ignore"):
        scores = 2 * np.log(priors)
    distances = np.empty(scores.shape)
    for code in range(n_classes):
        own = codes == code
        centroids = np.where(own[:, None], own_means, means[code])
        variances = 1.0 / np.maximum(counts[code] - own, 1) - 1.0 / n_rest
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
