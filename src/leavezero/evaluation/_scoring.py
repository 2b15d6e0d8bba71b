"""Metrics of a search, and the score of one fitted model on replicates of the validation set."""

import copy
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from numbers import Number
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.metrics import (
    balanced_accuracy_score,
    f1_score,
    get_scorer,
    get_scorer_names,
    jaccard_score,
    make_scorer,
    precision_score,
    r2_score,
    recall_score,
    roc_auc_score,
)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags

from leavezero._random import seed_sequence, stream
from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.evaluation._replicates import Replicates
from leavezero.unsupervised import UnsupervisedScore

SINGLE = "score"  # the name in cv_results_ of a single metric
ESTIMATOR_DEFAULT = "the estimator's default"  # scoring=None, before the estimator is known
SCORE_METHOD = "the estimator's own score method"
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function")
BLOCK_CELLS = 2**23  # predict at most 64 MiB of float64 features at a time
N_BLOCKS = 10  # of rows, for the sampling variance of scores that are no means over rows
FLOAT32_SAFE = 1e-30  # values outside [this, 1 / this] do not fit single precision
_SCORER_TYPE = type(get_scorer("accuracy"))
_LOO_ATTRIBUTES = ("classes_", "feature_names_in_", "get_params", "n_features_in_")
_ACCURACY_METHODS = (ClassifierMixin.score, DummyClassifier.score, KNeighborsClassifier.score)
_R2_METHODS = (RegressorMixin.score, DummyRegressor.score)


@dataclass(frozen=True, eq=False)
class Metric:
    """A scorer with its routed parameters, and the loss of a row where the score is a mean.

    ``scorer`` is None for an estimator with a score method of its own. ``weight`` and ``per_row``
    have one entry for each row that is scored, ``constants`` are the other routed parameters.
    """

    name: str
    scorer: Any = None
    weight: Floats | None = field(default=None, repr=False)
    constants: Mapping[str, Any] = field(default_factory=dict)
    per_row: Mapping[str, AnyArray] = field(default_factory=dict)

    def at(self, rows: Ints) -> "Metric":
        """Return the metric for some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        return replace(self, weight=weight, per_row={n: v[rows] for n, v in self.per_row.items()})

    def params_at(self, rows: Ints) -> dict[str, Any]:
        """Return the routed parameters for some rows."""
        return {**self.constants, **{name: value[rows] for name, value in self.per_row.items()}}

    @property
    def row_loss(self) -> "RowLoss | None":
        """The loss of one row, if the score is its negative mean up to a constant."""
        return None if self.constants or self.per_row else _ROW_LOSSES.get(self.name)

    @property
    def highest(self) -> float:
        """The score of a perfect model; infinity if unknown."""
        if self.needs_features or self.name not in get_scorer_names():
            return np.inf
        if self.name.startswith("neg_") or self.name == "max_error":
            return 0.0
        unbounded = ("mutual_info_score", "positive_likelihood_ratio")
        return np.inf if self.name in unbounded else 1.0

    @property
    def lowest(self) -> float:
        """The lowest possible score; minus infinity if unknown."""
        is_proportion = self.highest == 1.0 and self.name.startswith(_PROPORTIONS)
        return 0.0 if is_proportion else -np.inf

    @property
    def needs_features(self) -> bool:
        """Whether the scorer may look at X itself, not only at the predictions."""
        return self.scorer is None or not isinstance(self.scorer, _SCORER_TYPE)


@dataclass(frozen=True)
class RowLoss:
    """A loss that is averaged over rows: the method that it needs, and the score of zero loss."""

    method: str
    losses: Callable[[AnyArray, ValidationSet, AnyArray | None], Floats]
    best: float
    needs_classes: bool = False


@dataclass(frozen=True, eq=False)
class Scoring:
    """The metrics of a search by their names in ``cv_results_``.

    A callable that returns a dict is one metric here; its names are known once it was called.
    """

    metrics: dict[str, Metric]
    multimetric: bool

    @property
    def scorers(self) -> Any:
        """The value of ``scorer_``: a callable, or a dict of callables."""
        scorers = {
            name: metric.scorer if callable(metric.scorer) else _score_method
            for name, metric in self.metrics.items()
        }
        return scorers if self.multimetric else scorers[SINGLE]

    @property
    def unsupervised(self) -> UnsupervisedScore | None:
        """The single score without a target, which replaces validation set and folds."""
        return unsupervised_score(self.metrics)


def unsupervised_score(metrics: Mapping[str, Metric]) -> UnsupervisedScore | None:
    """Return the single metric if it is a score without a target."""
    scorer = metrics[SINGLE].scorer if SINGLE in metrics else None
    return scorer if isinstance(scorer, UnsupervisedScore) else None


def resolve_scoring(scoring: Any, owner: str) -> Scoring:
    """Return the metrics named by ``scoring``: None, a name, a callable, a list or a dict."""
    if isinstance(scoring, list | tuple | set):
        names = sorted(scoring) if isinstance(scoring, set) else list(scoring)
        if not names or len(set(names)) < len(names) or not all(isinstance(n, str) for n in names):
            raise ValueError(
                f"scoring of {owner} as a list must contain unique names of scorers, got "
                f"{scoring!r}. Use a dict of names and callables for callables."
            )
        return Scoring({name: resolve_metric(name, owner) for name in names}, multimetric=True)
    if isinstance(scoring, Mapping):
        if not scoring or not all(isinstance(name, str) for name in scoring):
            raise ValueError(
                f"scoring of {owner} as a dict must map names to scorers, got {scoring!r}."
            )
        metrics = {name: resolve_metric(scorer, owner) for name, scorer in scoring.items()}
        return Scoring(metrics, multimetric=True)
    return Scoring({SINGLE: resolve_metric(scoring, owner)}, multimetric=False)


def resolve_metric(scoring: Any, owner: str) -> Metric:
    """Return the metric of a scorer's name or a callable; None is the estimator's default."""
    if scoring is None:
        return Metric(ESTIMATOR_DEFAULT)
    if isinstance(scoring, str) and scoring in get_scorer_names():
        return Metric(scoring, get_scorer(scoring))
    if isinstance(scoring, UnsupervisedScore):
        return Metric(scoring.name, scoring)
    if callable(scoring):
        return Metric(_scorer_name(scoring), scoring)
    raise ValueError(
        f"scoring of {owner} must be the name of a scorer or a callable, got {scoring!r}. The "
        f"names are {', '.join(get_scorer_names())}."
    )


def _scorer_name(scorer: Any) -> str:
    """Return the name of scikit-learn's scorer that is equal to a callable, or the callable's."""
    if isinstance(scorer, _SCORER_TYPE):
        names = [(name, get_scorer(name)) for name in get_scorer_names()]
        for name, known in [*names, *_BINARY_SCORERS.items()]:
            if type(known) is type(scorer) and vars(known) == vars(scorer):
                return str(name)
    return str(getattr(scorer, "__name__", type(scorer).__name__))


def metric_for(model: Any, metric: Metric) -> Metric:
    """Return the metric; the default one becomes accuracy, R2 or the model's score method."""
    if metric.name != ESTIMATOR_DEFAULT:
        return metric
    score_method = getattr(type(final_estimator(model)), "score", None)
    if score_method in _ACCURACY_METHODS:
        return replace(metric, name="accuracy", scorer=get_scorer("accuracy"))
    if score_method in _R2_METHODS:
        return replace(metric, name="r2", scorer=get_scorer("r2"))
    return replace(metric, name=SCORE_METHOD)


def final_estimator(estimator: Any) -> Any:
    """Return the last step of a pipeline; other estimators as they are."""
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return estimator


def _score_method(estimator: Any, X: Any, y: Any = None, **params: Any) -> float:
    if not hasattr(estimator, "score"):
        raise ValueError(
            f"score requires a best estimator with the method score, got {estimator!r}. Scores "
            "without a target are those of training rows: see best_score_."
        )
    return float(estimator.score(X, y, **params))


class CachedPredictions:
    """Predictions of a fitted model for a fixed set of rows, computed once for all metrics.

    Classes that the model was not trained on get probability zero. Without X, only predictions that
    are known exist: leave-one-out ones.
    """

    def __init__(
        self,
        model: Any,
        X: Table | None,
        known: Callable[[str], AnyArray | None] = lambda method: None,
        classes: AnyArray | None = None,
    ) -> None:
        self.model = model
        self.computed: dict[str, AnyArray] = {}  # by method
        self.is_loo = X is None
        self.known = known  # predictions of a method, if they were computed elsewhere
        self.classes = classes
        self._X = X

    def all_rows(self, method: str) -> AnyArray:
        """Return the predictions of one method for all rows."""
        if method not in self.computed:
            values = self.known(method)
            if values is None:
                values = predict_in_blocks(getattr(self.model, method), self._X)
            self.computed[method] = self._expanded(method, values)
        return self.computed[method]

    def _expanded(self, method: str, values: AnyArray) -> AnyArray:
        if method == "predict" and np.ndim(values) == 2 and values.shape[1] == 1:
            return values[:, 0]  # of a model fitted to a y of shape (n, 1)
        if method != "predict_proba" or self.classes is None:
            return values
        trained = getattr(self.model, "classes_", self.classes)
        if len(trained) == len(self.classes):
            return values
        expanded = np.zeros((len(values), len(self.classes)))
        expanded[:, np.searchsorted(self.classes, trained)] = values
        return expanded


class ScoredModel:
    """The model that a scorer receives: predictions of the given X are the stored ones of its rows.

    A model that is known by its leave-one-out predictions has nothing else: its attributes were
    fitted to the rows that are scored.
    """

    def __init__(self, predictions: CachedPredictions, X: Any, rows: Ints) -> None:
        self._predictions, self._X, self._rows = predictions, X, rows

    @property  # type: ignore[misc]  # isinstance(model, Pipeline) of a scorer holds as before
    def __class__(self) -> type:
        return type(self._predictions.model)

    def __sklearn_tags__(self) -> Any:  # scikit-learn 1.6 looks for it in the class
        return get_tags(self._predictions.model)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        predictions, is_loo = self._predictions, self._predictions.is_loo
        if is_loo and name not in (*METHODS, *_LOO_ATTRIBUTES):
            raise AttributeError(f"{name} is not known from leave-one-out predictions")
        value = getattr(predictions.model, name)
        if name == "classes_" and predictions.classes is not None:
            return predictions.classes
        if name not in METHODS:
            return value
        if is_loo and predictions.known(name) is None:
            raise AttributeError(name)

        def method(X: Any) -> Any:
            if X is self._X:
                values = predictions.all_rows(name)
                several = isinstance(values, list)
                return [v[self._rows] for v in values] if several else values[self._rows]
            if is_loo:
                raise AttributeError("leave-one-out predictions are known for X itself only")
            return value(X)

        method.__name__ = name  # scikit-learn reads it
        return method


def predict_in_blocks(method: Any, X: Table) -> Any:
    """Return a bound method's predictions for all rows, in blocks of bounded memory."""
    shape: tuple[int, ...] = getattr(X, "shape", (0,))
    n_columns = int(np.prod(shape[1:])) if len(shape) > 1 else 1
    size = max(1, BLOCK_CELLS // max(1, n_columns))
    model = getattr(method, "__self__", None)
    blocks = (take_rows(X, slice(at, at + size)) for at in range(0, count_rows(X), size))
    parts = [method(*copied_if_modified(model, block)) for block in blocks]
    if isinstance(parts[0], list):  # probabilities of several outputs
        return [np.concatenate(outputs) for outputs in zip(*parts, strict=True)]
    return np.concatenate(parts)


def modifies_input(model: Any) -> bool:
    """Return True if a parameter such as ``copy_X=False`` allows the model to change its input."""
    if isinstance(model, list | tuple):  # steps of a pipeline
        return any(modifies_input(part) for part in model)
    if not hasattr(model, "get_params"):
        return False
    return any(
        (name.startswith("copy") and not value) or modifies_input(value)
        for name, value in vars(model).items()
        if name == name.strip("_")  # neither private nor fitted
    )


def copied_if_modified(model: Any, *tables: Any) -> tuple[Any, ...]:
    """Return the tables, as copies if the model may change them."""
    return copy.deepcopy(tables) if modifies_input(model) else tables


@dataclass(frozen=True, eq=False)
class MetricScores:
    """Scores of one model by one metric.

    ``replicates`` has the score on each replicate. ``per_row`` has the contribution of each row,
    if the score is a mean over rows. ``predictions`` are those that the score was computed from, in
    a form by which models are compared: class codes, probabilities or values. ``variance`` is the
    sampling variance of a leave-one-out or fold score.
    """

    replicates: Floats
    per_row: Floats | None = field(default=None, repr=False)
    predictions: AnyArray | None = field(default=None, repr=False)
    variance: float = np.nan

    @property
    def mean(self) -> float:
        """The mean over replicates."""
        return float(np.mean(self.replicates))

    def restricted(self, per_row: Ints | None, compared: Ints | None) -> "MetricScores":
        """Return the same with the per-row scores and the predictions of some rows only."""
        kept, predictions = self.per_row, self.predictions
        if per_row is not None and kept is not None:
            kept = kept[per_row]
        if compared is not None and predictions is not None:
            predictions = predictions[compared]
        return replace(self, per_row=kept, predictions=predictions)


def score_model(
    predictions: CachedPredictions, replicates: Replicates, metric: Metric, name: str = SINGLE
) -> dict[str, MetricScores]:
    """Return the scores by one metric; several if a callable returns a dict.

    A replicate's score is the mean over the components of an augmenter union.
    """
    metric = metric_for(predictions.model, metric)
    weights = row_weights(replicates, metric)
    per_row = _per_row_scores(predictions, replicates, metric)
    if per_row is not None:
        # Hits are summed exactly in float64, so that equal candidates tie.
        means = {name: replicates.replicate_means(per_row.astype(np.float64), weights)}
    else:
        scores = [
            [_block_scores(predictions, replicates, rows, metric, name, weights, r) for rows in one]
            for r, one in enumerate(replicates.blocks)
        ]
        means = {
            key: np.array([np.mean([block[key] for block in blocks]) for blocks in scores])
            for key in scores[0][0]
        }
    compared = _comparable_predictions(predictions, replicates, metric)
    variance = _row_variance(predictions, replicates, metric, per_row)
    return {key: MetricScores(one, per_row, compared, variance) for key, one in means.items()}


def _row_variance(
    predictions: CachedPredictions, replicates: Replicates, metric: Metric, per_row: Floats | None
) -> float:
    """Return the sampling variance of a mean over real rows; NaN for other scores.

    R2 is one, too: of 1 minus the squared error divided by the variance of the target.
    """
    y = np.asarray(replicates.rows.y)
    if not replicates.fixed or metric.needs_features:
        return np.nan
    if per_row is None and metric.name == "r2" and y.ndim == 1:
        losses = _squared_losses(predictions.all_rows("predict"), replicates.rows, None)
        per_row = losses.astype(np.float64) / (float(np.var(y)) or 1.0)
    if per_row is None:
        return np.nan
    return float(np.var(per_row, dtype=np.float64)) / max(1, len(y) - 1)


def block_variance(
    predictions: CachedPredictions, replicates: Replicates, metric: Metric, name: str = SINGLE
) -> float:
    """Return the sampling variance of a score, estimated from those of ten blocks of rows."""
    n_rows = len(replicates.rows.y)
    scores = []
    for block in range(N_BLOCKS):
        rows = np.arange(block, n_rows, N_BLOCKS)
        with suppress(ValueError), warnings.catch_warnings():  # a class may be missing
            warnings.simplefilter("ignore")
            scores.append(_block_scores(predictions, replicates, rows, metric, name)[name])
    known = np.array(scores)[np.isfinite(scores)] if scores else np.array([])
    return float(np.var(known, ddof=1)) / len(known) if len(known) > 1 else np.nan


def join_scores(parts: Sequence[Mapping[str, MetricScores]]) -> dict[str, MetricScores]:
    """Return the scores on all folds by each metric that no fold lacks, with their variance."""
    joined: dict[str, MetricScores] = {}
    n_folds = len(parts)
    for name in [name for name in parts[0] if all(name in part for part in parts)]:
        scores = [part[name] for part in parts]
        means = np.array([one.mean for one in scores])
        per_row = [one.per_row for one in scores if one.per_row is not None]
        if len(per_row) == n_folds:
            rows = np.concatenate(per_row)
            variance = float(np.var(rows, dtype=np.float64)) / max(1, len(rows) - 1)
        else:
            variance = float(np.mean([one.variance for one in scores])) / n_folds
            if np.isnan(variance) and n_folds > 1:  # not a mean over rows, such as AUC
                variance = float(np.var(means, ddof=1)) / n_folds
        joined[name] = MetricScores(means, variance=variance)
    return joined


def mean_scores(scores: Iterable[Mapping[str, MetricScores]], name: str) -> Floats:
    """Return the mean score of each model by a metric; NaN where it has none."""
    return np.array([one[name].mean if name in one else np.nan for one in scores])


def rounded(score: float) -> float:
    """Return a score with 12 digits, so that equal proportions tie."""
    return float(f"{score:.12g}")


def row_weights(replicates: Replicates, metric: Metric) -> Floats | None:
    """Return the weight of each row: the validation set's own times the metric's; None: equal."""
    own = replicates.rows.sample_weight
    if own is None or metric.weight is None:
        return own if metric.weight is None else metric.weight
    return own * metric.weight


def _per_row_scores(
    predictions: CachedPredictions, replicates: Replicates, metric: Metric
) -> Floats | None:
    loss = None if metric.needs_features else metric.row_loss
    if loss is None or (loss.needs_classes and replicates.classes is None):
        return None
    values = predictions.all_rows(loss.method)
    if metric.name == "accuracy" and replicates.classes is None and _has_fractions(values):
        return None  # of a regressor: the scorer raises
    return np.asarray(loss.best - loss.losses(values, replicates.rows, replicates.classes))


def _block_scores(
    predictions: CachedPredictions,
    replicates: Replicates,
    rows: Ints,
    metric: Metric,
    name: str,
    weights: Floats | None = None,
    replicate: int = 0,
) -> dict[str, float]:
    """Return the scores of a block of rows; a metric that takes no weights scores a resample."""
    y, weight = replicates.rows.y, None if weights is None else weights[rows]
    if weight is not None and not metric.needs_features:
        params = metric.params_at(rows) | {"sample_weight": weight}
        with suppress(TypeError):  # the metric takes no weights
            model = ScoredModel(predictions, rows, rows)  # row numbers in the role of X
            return {name: float(metric.scorer(model, rows, y[rows], **params))}
    if weight is not None:
        rows = rows[_resampled_by_weight(weight, replicate)]
    if metric.needs_features:
        return _feature_scores(predictions, replicates, metric, rows, name)
    model = ScoredModel(predictions, rows, rows)
    scorer = _FAST_SCORERS.get(metric.name, metric.scorer)
    return {name: float(scorer(model, rows, y[rows], **metric.params_at(rows)))}


def _feature_scores(
    predictions: CachedPredictions, replicates: Replicates, metric: Metric, rows: Ints, name: str
) -> dict[str, float]:
    """Return the scores of some rows by a callable, or by the model's own score method."""
    X = take_rows(replicates.rows.X, rows)
    data = [X] if replicates.rows.y is None else [X, replicates.rows.y[rows]]
    if metric.scorer is None:
        return _as_numbers(predictions.model.score(*data), metric, name)
    params = metric.params_at(rows)
    try:
        value = metric.scorer(ScoredModel(predictions, X, rows), *data, **params)
    except (AttributeError, TypeError):  # such as for the steps of a pipeline, model[0]
        if predictions.is_loo:
            raise
        value = metric.scorer(predictions.model, *data, **params)
    return _as_numbers(value, metric, name)


def _as_numbers(value: Any, metric: Metric, name: str) -> dict[str, float]:
    named: Mapping[str, Any] = value if isinstance(value, Mapping) else {name: value}
    for key, number in named.items():
        if not isinstance(number, Number | np.number) and np.ndim(number) != 0:
            raise ValueError(
                f"scoring must return a number or a dict of numbers, {metric.name} returned "
                f"{number!r} for {key!r}."
            )
    return {key: float(number) for key, number in named.items()}


def _resampled_by_weight(weight: AnyArray, replicate: int) -> Ints:
    """Return as many row numbers as there are weights, sampled in proportion to them."""
    rng = stream(seed_sequence(0), "by weight", replicate)  # the same rows for every candidate
    return rng.choice(len(weight), size=len(weight), p=weight / weight.sum())


def _comparable_predictions(
    predictions: CachedPredictions, replicates: Replicates, metric: Metric
) -> AnyArray | None:
    """Return predictions by which models are compared; None if they cannot be.

    Probabilities if the metric scores them, else class codes (of each output if there are several),
    else the values of a single regression output.
    """
    computed, classes = predictions.computed, replicates.classes
    if classes is None:
        return _comparable_outputs(computed, np.asarray(replicates.rows.y))
    if "predict_proba" in computed and metric.row_loss is not None:
        return computed["predict_proba"].astype(np.float32)
    if "predict" in computed:
        return np.searchsorted(classes, computed["predict"]).astype(np.int16)
    values = computed.get("decision_function", computed.get("predict_proba"))
    if values is None:
        return None
    codes = values.argmax(axis=1) if values.ndim == 2 else values > 0
    return codes.astype(np.int16)


def _comparable_outputs(computed: Mapping[str, Any], y: AnyArray) -> AnyArray | None:
    values, probabilities = computed.get("predict"), computed.get("predict_proba")
    if values is not None and values.ndim == 2 and values.dtype.kind != "f":
        columns = zip(y.T, values.T, strict=True)
        codes = [np.searchsorted(np.unique(labels), column) for labels, column in columns]
        return np.column_stack(codes).astype(np.int16)
    if values is not None and values.ndim == 1 and values.dtype.kind == "f":
        return _as_float32(values)
    if isinstance(probabilities, list):
        return np.column_stack([one.argmax(axis=1) for one in probabilities]).astype(np.int16)
    return None


def _zero_one_losses(labels: AnyArray, rows: ValidationSet, classes: AnyArray | None) -> Floats:
    """Return 1 for each misclassified row."""
    wrong = np.asarray(labels) != np.asarray(rows.y)
    return (wrong.any(axis=1) if wrong.ndim == 2 else wrong).astype(np.float32)


def _has_fractions(values: AnyArray) -> bool:
    return values.dtype.kind == "f" and bool(np.any(values != np.rint(values)))


def _log_losses(values: AnyArray, rows: ValidationSet, classes: AnyArray | None) -> Floats:
    """Return the negative log-probability of each row's label."""
    assert classes is not None
    probabilities = np.asarray(values, dtype=np.float64)
    eps = np.finfo(probabilities.dtype).eps
    logs = np.log(np.clip(probabilities / probabilities.sum(axis=1, keepdims=True), eps, 1.0))
    return -logs[np.arange(len(logs)), np.searchsorted(classes, rows.y)].astype(np.float32)


def _squared_losses(values: AnyArray, rows: ValidationSet, classes: AnyArray | None) -> Floats:
    return _mean_over_outputs((1.0 * values - rows.y) ** 2)


def _absolute_losses(values: AnyArray, rows: ValidationSet, classes: AnyArray | None) -> Floats:
    return _mean_over_outputs(np.abs(1.0 * values - rows.y))


def _mean_over_outputs(losses: AnyArray) -> Floats:
    return _as_float32(losses.mean(axis=1) if losses.ndim == 2 else losses)


def _as_float32(values: AnyArray) -> Floats:
    """Return values in single precision, unless they are too large or too small for it."""
    largest = np.abs(values).max(initial=0.0)
    fits = largest == 0.0 or FLOAT32_SAFE <= largest <= 1.0 / FLOAT32_SAFE
    return values.astype(np.float32) if fits else values


def _roc_auc(y: AnyArray, values: AnyArray, **params: Any) -> float:
    """Return the area under the ROC curve of two classes by ranks (Mann and Whitney 1947).

    Equal to ``roc_auc_score``, which takes many times longer for the small blocks of a replicate.
    """
    labels = np.unique(y)
    is_binary = y.ndim == values.ndim == 1 and len(labels) == 2
    if params or not is_binary or not np.isfinite(values).all():
        return float(roc_auc_score(y, values, **params))
    positive = y == labels[1]
    n_positive = np.count_nonzero(positive)
    ranks = rankdata(values)[positive].sum() - n_positive * (n_positive + 1) / 2
    return float(ranks / (n_positive * (len(y) - n_positive)))


def _r2(y: AnyArray, values: AnyArray, **params: Any) -> float:
    """Return the R2 of one output; equal to ``r2_score``, see `_roc_auc`."""
    has_numbers = y.dtype.kind in "fiu" and values.dtype.kind in "fiu"
    if not params and has_numbers and y.ndim == values.ndim == 1:
        with np.errstate(all="ignore"):
            squared_error = np.sum(np.subtract(y, values, dtype=np.float64) ** 2)
            squared_deviation = len(y) * np.var(y, dtype=np.float64)
        if np.isfinite(squared_error) and 0 < squared_deviation < np.inf:
            return float(1.0 - squared_error / squared_deviation)
    return float(r2_score(y, values, **params))


def _class_ratio(
    y: AnyArray,
    labels: AnyArray,
    *,
    ratio: Callable[[Ints, Ints, Ints], tuple[AnyArray, Ints]],
    exact: Callable[..., float],
    average: str,
    **params: Any,
) -> float:
    """Return a ratio of the counts of each class, averaged over classes; see `_roc_auc`."""
    if not params and y.ndim == labels.ndim == 1 and y.dtype.kind == labels.dtype.kind in "biuU":
        classes, codes = np.unique(np.concatenate([y, labels]), return_inverse=True)
        own, predicted = codes[: len(y)], codes[len(y) :]
        hits, *counts = (
            np.bincount(one, minlength=len(classes))
            for one in (own[own == predicted], predicted, own)
        )
        if average == "micro":
            hits, *counts = (count.sum(keepdims=True) for count in (hits, *counts))
        upper, lower = ratio(hits, *counts)
        is_one = len(classes) == 2 and classes[1] == 1
        if lower.all() and (is_one or average != "binary"):
            if average == "binary":
                return float(upper[1] / lower[1])
            weights = counts[1] if average == "weighted" else None
            return float(np.average(upper / lower, weights=weights))
    return float(exact(y, labels, average=average, **params))


def _balanced_accuracy(y: AnyArray, labels: AnyArray, average: str, **params: Any) -> float:
    return float(balanced_accuracy_score(y, labels, **params))


# From the numbers of hits, of predictions and of rows of each class.
_CLASS_RATIOS = {
    "f1": (f1_score, lambda hits, predicted, own: (2 * hits, predicted + own)),
    "jaccard": (jaccard_score, lambda hits, predicted, own: (hits, predicted + own - hits)),
    "precision": (precision_score, lambda hits, predicted, own: (hits, predicted)),
    "recall": (recall_score, lambda hits, predicted, own: (hits, own)),
}
# Without the average that get_scorer passes although it is the default.
_BINARY_SCORERS = {name: make_scorer(exact) for name, (exact, _) in _CLASS_RATIOS.items()}
_FAST_SCORERS = {
    "roc_auc": make_scorer(_roc_auc, response_method=("decision_function", "predict_proba")),
    "r2": make_scorer(_r2),
    "balanced_accuracy": make_scorer(
        partial(
            _class_ratio,
            ratio=_CLASS_RATIOS["recall"][1],
            exact=_balanced_accuracy,
            average="macro",
        )
    ),
} | {
    name if average == "binary" else f"{name}_{average}": make_scorer(
        partial(_class_ratio, ratio=ratio, exact=exact, average=average)
    )
    for name, (exact, ratio) in _CLASS_RATIOS.items()
    for average in ("binary", "macro", "micro", "weighted")
}
_ROW_LOSSES = {
    "accuracy": RowLoss("predict", _zero_one_losses, 1.0),
    "neg_log_loss": RowLoss("predict_proba", _log_losses, 0.0, needs_classes=True),
    "neg_mean_squared_error": RowLoss("predict", _squared_losses, 0.0),
    "neg_mean_absolute_error": RowLoss("predict", _absolute_losses, 0.0),
}
_PROPORTIONS = (
    *("accuracy", "average_precision", "balanced_accuracy", "f1", "jaccard", "precision"),
    *("recall", "roc_auc", "top_k_accuracy"),
)
