"""What a candidate is judged by, and its value on rows with weights and soft labels."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.metrics import get_scorer, get_scorer_names
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import Pipeline

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment import ValidationSet

DEFAULT = "the default of each model"
OWN_SCORE = "the estimator's own score method"
TINY = 1e-30  # below it single precision has few digits, and soon none
_SCORER = type(get_scorer("accuracy"))
_ACCURACIES = (ClassifierMixin.score, KNeighborsClassifier.score)  # the same, given X


@dataclass(frozen=True, eq=False)
class Metric:
    """A scorer, and the loss of a row where the score is a mean over rows.

    ``scorer`` is None for an estimator with a score method of its own. What is routed to it:
    weights of the rows it is to score, and other parameters, those with an entry for each of these
    rows apart.
    """

    name: str
    scorer: Any = None
    weight: Floats | None = field(default=None, repr=False)
    constants: Mapping[str, Any] = field(default_factory=dict)
    by_row: Mapping[str, AnyArray] = field(default_factory=dict)

    def at(self, rows: Ints) -> "Metric":
        """Return the metric for some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        by_row = {name: value[rows] for name, value in self.by_row.items()}
        return replace(self, weight=weight, by_row=by_row)

    def params_at(self, rows: Ints) -> dict[str, Any]:
        """Return the routed parameters for some rows of V."""
        return {**self.constants, **{name: value[rows] for name, value in self.by_row.items()}}

    @property
    def row_loss(self) -> "RowLoss | None":
        """The loss of each row, where the score is one minus, or minus, its mean."""
        return None if self.constants or self.by_row else _ROW_LOSSES.get(self.name)

    @property
    def highest(self) -> float:
        """The score of a perfect model, as far as it is known."""
        if self.looks_at_rows or self.name not in get_scorer_names():
            return np.inf
        if self.name.startswith("neg_") or self.name == "max_error":
            return 0.0
        return np.inf if self.name == "positive_likelihood_ratio" else 1.0

    @property
    def lowest(self) -> float:
        """The score that no model is below, as far as it is known."""
        is_share = self.highest == 1.0 and self.name.startswith(_SHARES)
        return 0.0 if is_share else -np.inf

    @property
    def needs_labels_only(self) -> bool:
        """Whether predicted labels are all that the metric asks for."""
        return self.name in _OF_LABELS

    @property
    def looks_at_rows(self) -> bool:
        """Whether the scorer may look at X itself, and not only at what the model says of it."""
        return self.scorer is None or not isinstance(self.scorer, _SCORER)


@dataclass(frozen=True)
class RowLoss:
    """A loss that is averaged over rows: the method it needs, and the score of no loss."""

    method: str
    losses: Callable[[AnyArray, ValidationSet, AnyArray | None], Floats]
    best: float
    of_classes: bool = False  # of one output


def resolve_metric(scoring: Any, owner: str) -> Metric:
    """Return the metric that the user named; for None the one that stands for a model's own."""
    if scoring is None:
        return Metric(DEFAULT)
    if isinstance(scoring, str):
        try:
            return Metric(scoring, get_scorer(scoring))
        except ValueError as error:
            raise ValueError(
                f"scoring of {owner} must be a scorer's name or a callable, got {scoring!r}. "
                f"Use one of {', '.join(get_scorer_names())}."
            ) from error
    if callable(scoring):
        return Metric(getattr(scoring, "__name__", type(scoring).__name__), scoring)
    raise ValueError(
        f"scoring of {owner} must be a scorer's name or a callable, got {scoring!r}. "
        'Use "accuracy" or "neg_log_loss".'
    )


def metric_for(model: Any, metric: Metric) -> Metric:
    """Return the metric, with a default made that of the model."""
    if metric.name != DEFAULT:
        return metric
    own = default_metric(model)
    return replace(metric, name=own.name, scorer=own.scorer)


def default_metric(model: Any) -> Metric:
    """Return the metric of ``model.score``; scikit-learn's defaults by a faster way."""
    while isinstance(model, Pipeline):
        model = model[-1]
    score = getattr(type(model), "score", None)
    if score in _ACCURACIES:
        return _known("accuracy")
    return _known("r2") if score is RegressorMixin.score else Metric(OWN_SCORE)


@cache
def _known(name: str) -> Metric:
    """Return one of scikit-learn's metrics, made once: its scorers are copied when asked for."""
    return Metric(name, get_scorer(name))


def codes_of(labels: AnyArray, classes: AnyArray) -> Ints:
    """Return the number of each label among the sorted classes.

    Examples
    --------
    >>> import numpy as np
    >>> codes_of(np.array(["b", "a"]), np.array(["a", "b"])).tolist()
    [1, 0]
    """
    if len(classes) == 2:  # a search takes ten times as long
        return (np.asarray(labels) == classes[1]).astype(np.intp)
    return np.searchsorted(classes, labels)


def zero_one_losses(
    responses: AnyArray, rows: ValidationSet, classes: AnyArray | None = None
) -> Floats:
    """Return 1 for each row whose label was missed, 0 for the others; a share for soft labels."""
    if rows.class_probabilities is not None:
        assert classes is not None
        said = codes_of(responses, classes)
        hit = rows.class_probabilities[np.arange(len(said)), np.minimum(said, len(classes) - 1)]
        return (1.0 - hit).astype(np.float32)
    missed = np.asarray(responses) != np.asarray(rows.y)
    return (missed.any(axis=1) if missed.ndim == 2 else missed).astype(np.float32)


def log_losses(responses: AnyArray, rows: ValidationSet, classes: AnyArray | None = None) -> Floats:
    """Return minus the log-probability of each row's label, averaged over soft labels."""
    assert classes is not None
    probabilities = np.asarray(responses, dtype=np.float64)
    tiny = np.finfo(probabilities.dtype).eps
    logs = np.log(np.clip(probabilities / probabilities.sum(axis=1, keepdims=True), tiny, 1.0))
    if rows.class_probabilities is not None:
        return -np.sum(rows.class_probabilities * logs, axis=1).astype(np.float32)
    return -logs[np.arange(len(logs)), np.searchsorted(classes, rows.y)].astype(np.float32)


def squared_losses(
    responses: AnyArray, rows: ValidationSet, classes: AnyArray | None = None
) -> Floats:
    """Return the squared error of each row, averaged over outputs."""
    return _over_outputs((np.asarray(responses) - rows.y) ** 2)


def absolute_losses(
    responses: AnyArray, rows: ValidationSet, classes: AnyArray | None = None
) -> Floats:
    """Return the absolute error of each row, averaged over outputs."""
    return _over_outputs(np.abs(np.asarray(responses) - rows.y))


def _over_outputs(losses: AnyArray) -> Floats:
    return single(losses.mean(axis=1) if losses.ndim == 2 else losses)


def single(numbers: Floats) -> Floats:
    """Return numbers in single precision, if their size bears that."""
    largest = np.abs(numbers).max(initial=0.0)
    return numbers if 0.0 < largest < TINY or largest > 1.0 / TINY else numbers.astype(np.float32)


_OF_LABELS = frozenset(
    {
        "accuracy",
        "balanced_accuracy",
        "f1",
        "f1_macro",
        "f1_micro",
        "f1_weighted",
        "jaccard",
        "jaccard_macro",
        "jaccard_weighted",
        "matthews_corrcoef",
        "precision",
        "precision_macro",
        "precision_weighted",
        "recall",
        "recall_macro",
        "recall_weighted",
    }
)
_SHARES = (
    "accuracy",
    "average_precision",
    "balanced_accuracy",
    "f1",
    "jaccard",
    "precision",
    "recall",
    "roc_auc",
    "top_k_accuracy",
)
_ROW_LOSSES = {
    "accuracy": RowLoss("predict", zero_one_losses, 1.0),
    "neg_log_loss": RowLoss("predict_proba", log_losses, 0.0, of_classes=True),
    "neg_mean_squared_error": RowLoss("predict", squared_losses, 0.0),
    "neg_mean_absolute_error": RowLoss("predict", absolute_losses, 0.0),
}
