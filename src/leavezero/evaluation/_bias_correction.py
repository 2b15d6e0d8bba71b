"""Correct validation scores by their bias, estimated from leave-one-out and fold scores."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from scipy.linalg import helmert
from scipy.spatial.distance import cdist

from leavezero._typing import AnyArray, Floats
from leavezero.evaluation._fit_and_score import CandidateResult, common_metric
from leavezero.evaluation._replicates import Replicates
from leavezero.evaluation._run import Run
from leavezero.evaluation._scoring import Metric, mean_scores

# Prior of the variance of the bias per unit of distance: its median in units of the variance of one
# row's score, and the standard deviation of its logarithm. The prior is wide: where validation and
# held-out scores disagree, the variance is estimated to be large, and held-out scores decide.
PRIOR_MEDIAN = 0.05
PRIOR_LOG_DEVIATION = 2.0
# Generated regression targets follow the features less closely than real ones, so that differences
# of validation scores say less about differences of held-out scores.
REGRESSION_SLOPE = 0.5
# Rows made from one or two training rows, such as mix-up, are predicted best by models that
# memorize the training rows. They have no part in the ranking if most candidates have a held-out
# score, otherwise a small one: a model that fails on them fails on new rows, too.
SOURCE_ROWS_SLOPE = 0.25
MAX_KNOWN = 200  # models with a held-out score that the bias is interpolated from
MAX_COMPARED_CELLS = 2**24  # of values; the distance is a mean over rows and needs no more
HALF_WEIGHT_LABELS = 10  # labels with which the correction has half its weight


@dataclass(frozen=True, eq=False)
class PairedScores:
    """Validation and held-out scores of some models by one metric, one entry per model.

    ``held_out`` are leave-one-out, out-of-bag or fold scores, NaN where a model has none, and
    ``variance`` their sampling variances. ``predictions`` has one row per validation row and one
    column per model: class codes or values, or a third axis with the probability of each class or
    the code of each output.
    """

    validation: Floats
    held_out: Floats
    variance: Floats
    predictions: AnyArray = field(repr=False)
    scale: float = 1.0  # of regression targets, so that distances have no unit
    n_rows: int = 300  # that a held-out score is a mean over
    slope: float = 1.0  # expected change of the held-out score per change of the validation score

    @property
    def expected(self) -> Floats:
        """The held-out scores that validation scores predict, up to a constant."""
        return self.slope * self.validation

    @property
    def bias(self) -> Floats:
        """Expected score minus held-out score; NaN where one is missing."""
        return self.expected - self.held_out


def correct_scores(run: Run, results: Sequence[CandidateResult]) -> list[CandidateResult]:
    """Return the results with their corrected score by the main metric."""
    corrected = np.full(len(results), np.nan)
    if run.main_metric is not None:
        corrected = corrected_scores(run, results, run.main_metric)
    return [
        replace(result, corrected_score=float(score))
        for result, score in zip(results, corrected, strict=True)
    ]


def corrected_scores(run: Run, results: Sequence[CandidateResult], name: str) -> Floats:
    """Return the score of each result by one metric; NaN where it has none."""
    corrected = np.full(len(results), np.nan)
    scored = [at for at, result in enumerate(results) if name in result.scores]
    # In canonical order, so that the last digit does not depend on the order of the grid.
    scored.sort(key=lambda at: (results[at].trial.candidate.key, results[at].trial.row))
    some = [results[at] for at in scored]
    if not some:
        return corrected
    held_out = np.array([result.held_out(name) for result in some])
    every = [result.scores[name].predictions for result in some]
    predictions = [one for one in every if one is not None]
    corrected[scored] = combine(
        mean_scores([result.scores for result in some], name),
        held_out[:, 0],
        held_out[:, 1],
        np.stack(predictions, axis=1) if len(predictions) == len(some) else None,
        common_metric(run, some, name),
        run.replicates,
        run.y,
        n_labels=None if run.labeled is None else len(run.labeled),
    )
    return corrected


def combine(
    validation: Floats,
    held_out: Floats,
    variance: Floats,
    predictions: AnyArray | None,
    metric: Metric,
    replicates: Replicates,
    y: AnyArray,
    *,
    n_labels: int | None = None,
) -> Floats:
    """Return one score per model from validation scores and held-out scores.

    ``held_out`` is NaN where unknown. ``predictions`` on the validation set are None if models
    cannot be compared; then all scores are shifted by the mean bias. ``n_labels`` is the number of
    labeled rows where others have no label. The validation set is then generated with the help of
    the others, so the fewer labels there are, the less the held-out scores change the ranking.
    """
    if np.all(np.isnan(held_out)):
        return validation
    if predictions is None:
        shifted = validation + np.nanmean(held_out - validation)
        scores = np.where(np.isnan(held_out), shifted, held_out)
        return _within_range(scores, validation, held_out, metric)
    n_rows = len(y) if n_labels is None else n_labels
    scale = _target_scale(replicates, y)
    slope = _slope(replicates, y, n_labels, held_out)
    models = PairedScores(validation, held_out, variance, predictions, scale, n_rows, slope)
    scores = interpolate_bias(models)
    if n_labels is not None:
        share = HALF_WEIGHT_LABELS / (n_labels + HALF_WEIGHT_LABELS)
        scores = _moved_towards(scores, validation, share)
    return _within_range(scores, validation, held_out, metric)


def interpolate_bias(models: PairedScores) -> Floats:
    """Return validation score, times the slope, minus interpolated bias of each model.

    The bias is interpolated by a Gaussian process over models with an unknown mean (ordinary
    kriging, Cressie 1993, section 3.2). Its variogram is proportional to the distance between the
    models' predictions; the factor is estimated. The noise of an observed bias is the sampling
    variance of the held-out score.

    Examples
    --------
    >>> import numpy as np
    >>> predictions = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]])
    >>> validation, held_out = np.array([0.9, 0.8, 0.7]), np.array([0.7, 0.6, np.nan])
    >>> models = PairedScores(validation, held_out, np.full(3, 1e-3), predictions)
    >>> interpolate_bias(models).round(2)
    array([0.7, 0.6, 0.5])
    """
    known = np.flatnonzero(np.isfinite(models.bias))
    known = known[:: max(1, -(-len(known) // MAX_KNOWN))]
    bias, noise = models.bias[known], models.variance[known]
    predictions = models.predictions[:, known]
    if len(bias) == 0:
        return models.validation
    noise = _positive(noise, bias)
    between = distances(predictions, predictions, models.scale)
    to_models = distances(models.predictions, predictions, models.scale)
    prior_median = PRIOR_MEDIAN * models.n_rows * float(np.median(noise))
    factor = bias_variance(between, bias, noise, prior_median)
    return models.expected - krige(factor * between, bias, factor * to_models, noise)


def bias_variance(between: Floats, bias: Floats, noise: Floats, prior_median: float) -> float:
    """Return the variance of the bias per unit of distance.

    It maximizes the restricted likelihood (of differences, which do not depend on the mean) times
    a log-normal prior, over a grid of values.
    """
    if len(bias) < 2:
        return prior_median
    contrasts = helmert(len(bias))
    # In units of the noise: the contrasts have covariance variance * signal + identity.
    root = np.linalg.cholesky(contrasts * noise @ contrasts.T)
    whitened = np.linalg.solve(root, contrasts)
    signal, vectors = np.linalg.eigh(-whitened @ between @ whitened.T)
    signal = np.maximum(signal, 0.0)  # distances are conditionally negative definite
    observed = (vectors.T @ whitened @ bias) ** 2
    logs = np.linspace(-12.0, 24.0, 145)
    variances = prior_median * np.exp(logs)
    spread = 1.0 + variances[:, None] * signal
    log_likelihood = -0.5 * np.sum(observed / spread + np.log(spread), axis=1)
    log_prior = -0.5 * (logs / PRIOR_LOG_DEVIATION) ** 2
    return float(variances[np.argmax(log_likelihood + log_prior)])


def _positive(noise: Floats, bias: Floats) -> Floats:
    """Return noise variances above zero: unknown ones are the median, zeros the lowest other."""
    known = noise[np.isfinite(noise) & (noise > 0)]
    if len(known) == 0:
        return np.full(len(noise), max(1e-6 * float(np.mean(bias**2)), 1e-30))
    least = max(float(known.min()), 1e-12 * float(np.var(bias)))  # for the linear system
    return np.maximum(np.where(np.isfinite(noise), noise, np.median(known)), least)


def krige(between: Floats, bias: Floats, to_models: Floats, noise: Floats) -> Floats:
    """Return the bias of models by their distances to those whose bias is known.

    With D the distances between known models, w solves ``(diag(noise) - D) w + m 1 = bias`` and
    ``1' w = 0``; the bias of a model at distances d is ``m - d' w``.
    """
    n_known = len(bias)
    system = np.ones((n_known + 1, n_known + 1))
    system[:-1, :-1] = np.diag(noise) - between
    system[-1, -1] = 0.0
    solution = np.linalg.solve(system, np.append(bias, 0.0))
    return np.asarray(solution[-1] - to_models @ solution[:-1])


def distances(first: AnyArray, second: AnyArray, scale: float = 1.0) -> Floats:
    """Return the distance between the predictions of each pair of models (columns).

    Labels: the share of rows (of cells, if there are several outputs) that differ. Probabilities:
    the total variation, averaged over rows. Values: the mean absolute difference divided by
    ``scale``.
    """
    if first.dtype.kind in "iub":
        cells = [np.swapaxes(a, 1, -1).reshape(-1, a.shape[1]) for a in (first, second)]
        equal = np.zeros((first.shape[1], second.shape[1]))
        for code in np.intersect1d(cells[0], cells[1]):
            hits = [(codes == code).astype(np.float32) for codes in cells]
            equal += hits[0].T @ hits[1]  # counts below 2^24 are exact
        return 1.0 - equal / len(cells[0])
    thin = max(1, first.size * second.shape[1] // MAX_COMPARED_CELLS)
    first, second = first[::thin], second[::thin]
    unit = 2.0 if first.ndim == 3 else scale
    vectors = [np.moveaxis(a, 1, 0).reshape(a.shape[1], -1) for a in (first, second)]
    return np.asarray(cdist(*vectors, "cityblock")) / (len(first) * unit)


def _within_range(scores: Floats, validation: Floats, held_out: Floats, metric: Metric) -> Floats:
    """Return scores within the metric's range, moved together so that their order is kept.

    If the best score exceeds the highest possible one, all scores move down until the best equals
    the larger of its own two scores; likewise at the lower end.
    """
    if np.all(np.isnan(scores)):
        return scores
    best = int(np.nanargmax(scores))
    own = np.clip([validation[best], held_out[best]], metric.lowest, metric.highest)
    if scores[best] > metric.highest:
        scores = scores + (np.nan_to_num(own.max(), nan=metric.highest) - scores[best])
    elif scores[best] < metric.lowest:
        scores = scores + (np.nan_to_num(own.min(), nan=metric.lowest) - scores[best])
    return np.maximum(scores, metric.lowest)


def _moved_towards(scores: Floats, others: Floats, share: float) -> Floats:
    """Return scores moved towards the others by a share of the difference; their mean stays."""
    known = np.isfinite(scores) & np.isfinite(others)
    difference = others[known] - scores[known]
    moved = scores.copy()
    moved[known] += share * (difference - difference.mean())
    return moved


def _slope(replicates: Replicates, y: AnyArray, n_labels: int | None, held_out: Floats) -> float:
    """Return the expected change of the held-out score per change of the validation score."""
    if replicates.rows.source_rows is not None and n_labels is None:
        return SOURCE_ROWS_SLOPE if 2 * np.isnan(held_out).sum() > len(held_out) else 0.0
    is_regression = replicates.classes is None and y.dtype.kind == "f"
    return REGRESSION_SLOPE if is_regression else 1.0


def _target_scale(replicates: Replicates, y: AnyArray) -> float:
    """Return the mean absolute deviation of a regression target from its median; 1 for classes."""
    if replicates.classes is not None:
        return 1.0
    spread = float(np.mean(np.abs(y - np.median(y, axis=0))))
    return spread if spread > 0 else 1.0
