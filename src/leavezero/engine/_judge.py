"""How well a fitted model does on each replicate of the validation set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from numbers import Number
from typing import Any

import numpy as np

from leavezero._random import stream, substream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment import ValidationSet
from leavezero.engine._calibrate import Speaker, calibrate
from leavezero.engine._combine import Testimony
from leavezero.engine._draw import Lines, Replicates
from leavezero.engine._metrics import Metric, codes_of, metric_for, single
from leavezero.engine._responses import Responses
from leavezero.engine._set_scores import answers_for, line_means, set_score, shares_explained

_RESAMPLING = np.random.SeedSequence(0)  # the same rows for every candidate


@dataclass(frozen=True, eq=False)
class Verdict:
    """What one metric says of one model.

    ``scores`` has an entry for each replicate, ``bias`` included; ``gains`` one for each row of V,
    where the score is a mean over rows: what the row adds to it.
    """

    scores: Floats
    gains: Floats | None = field(default=None, repr=False)
    bias: float = 0.0
    answers: AnyArray | None = field(default=None, repr=False)  # what it was judged by

    def at(self, rows: Ints | None, answered: Ints | None) -> "Verdict":
        """Return the same with the gains of some rows only, and the answers to others."""
        gains, answers = self.gains, self.answers
        if rows is not None and gains is not None:
            gains = gains[rows]
        if answered is not None and answers is not None:
            answers = answers[answered]
        return replace(self, gains=gains, answers=answers)


def judge(
    responses: Responses, replicates: Replicates, metric: Metric, name: str = "score"
) -> dict[str, Verdict]:
    """Return a verdict by one metric; by several, where a callable returns a dictionary.

    The model is asked once for all replicates. Scores are averaged over the members of a
    portfolio.
    """
    metric = metric_for(responses.model, metric)
    if metric.looks_at_rows:
        return _by_rows(responses, replicates, metric, name)
    bias = _bias(responses, replicates, metric)
    gains = _gains(responses, replicates, metric)
    scores = _scores(responses, replicates, metric, gains) + bias
    return {name: Verdict(scores, gains, bias, _answers(responses, replicates, metric))}


def score_replicates(model: Any, replicates: Replicates, metrics: Sequence[Metric]) -> list[Floats]:
    """Return, for each metric that gives one number, the model's score on each replicate."""
    responses = Responses(model, replicates.rows.X, classes=replicates.classes)
    return [judge(responses, replicates, metric)["score"].scores for metric in metrics]


def row_weights(replicates: Replicates, metric: Metric) -> Floats | None:
    """Return how much each row of V counts; None if all count the same.

    V's own weights times those that the metric asked for, which a row has from its origins.
    """
    own = replicates.rows.sample_weight
    if own is None or metric.weight is None:
        return own if metric.weight is None else metric.weight
    return own * metric.weight


def _bias(responses: Responses, replicates: Replicates, metric: Metric) -> float:
    """Return what V's score is off by for this model; 0 where no reference can tell."""
    if replicates.references is None or not metric.needs_labels_only:
        return 0.0
    assert replicates.classes is not None
    known = replicates.calibrations
    if metric.name not in known:
        told = reference_testimony(replicates, metric, None)
        known[metric.name] = calibrate(told.answers, told.unseen - told.on_v)
    labels = responses.all_of("predict")
    return known[metric.name].bias(codes_of(labels, replicates.classes))


def _reference_scores(
    replicates: Replicates, classes: AnyArray, metric: Metric
) -> tuple[Floats, Floats]:
    """Return what the references score on V, and what they score on rows they have not seen."""
    said = replicates.rows.reference_predictions
    assert said is not None
    assert replicates.references is not None
    known = replicates.references
    given = Replicates(ValidationSet(known.truth, classes[known.truth]), 1, classes)

    def score(codes: Ints, rows: Replicates) -> float:
        speaker = Speaker(classes[codes], classes)
        return float(_scores(speaker, rows, metric, _gains(speaker, rows, metric)).mean())

    on_v = np.array([score(column, replicates) for column in said.T])
    honest = np.array([score(column, given) for column in known.loo_predictions.T])
    return on_v, honest


def reference_testimony(replicates: Replicates, metric: Metric, rows: Ints | None) -> Testimony:
    """Return what both witnesses say of the reference models, and their answers to some rows."""
    codes = replicates.rows.reference_predictions
    assert replicates.classes is not None
    assert codes is not None
    known = replicates.reference_scores
    if metric.name not in known:
        known[metric.name] = _reference_scores(replicates, replicates.classes, metric)
    on_v, honest = known[metric.name]
    assert replicates.references is not None
    n_rows = len(replicates.references.truth)
    return Testimony(on_v, honest, codes if rows is None else codes[rows], n_rows=n_rows)


def _answers(responses: Responses, replicates: Replicates, metric: Metric) -> AnyArray | None:
    """Return what a model said, in the form that models are compared by.

    Probabilities where the metric is about them, else codes of labels, of each output where there
    are several, else numbers; None for several outputs of numbers.
    """
    said, classes = responses.asked(), replicates.classes
    if classes is None:
        return _outputs(said, np.asarray(replicates.rows.y))
    if "predict_proba" in said and metric.row_loss is not None:
        return said["predict_proba"].astype(np.float32)
    if "predict" in said:
        return codes_of(said["predict"], classes).astype(np.int16)
    values = said.get("decision_function", said.get("predict_proba"))
    if values is None:
        return None
    codes = values.argmax(axis=1) if values.ndim == 2 else values > 0
    return codes.astype(np.int16)


def _outputs(said: Mapping[str, Any], y: AnyArray) -> AnyArray | None:
    """Return numbers that were said, or codes of the labels of several outputs."""
    told, chances = said.get("predict"), said.get("predict_proba")
    if told is not None and told.ndim == 2 and told.dtype.kind != "f":
        columns = zip(y.T, told.T, strict=True)
        codes = [np.searchsorted(np.unique(given), column) for given, column in columns]
        return np.column_stack(codes).astype(np.int16)
    if told is not None and told.ndim == 1 and told.dtype.kind == "f":
        return single(told)
    if isinstance(chances, list):
        return np.column_stack([one.argmax(axis=1) for one in chances]).astype(np.int16)
    return None


def _gains(responses: Responses | Speaker, replicates: Replicates, metric: Metric) -> Floats | None:
    """Return what each row of V adds to the score; None where it is no mean over rows."""
    loss = metric.row_loss
    if loss is None or (loss.of_classes and replicates.classes is None):
        return None
    losses = loss.losses(responses.all_of(loss.method), replicates.rows, replicates.classes)
    return np.asarray(loss.best - losses)  # hits, where the score is accuracy


def _scores(
    responses: Responses | Speaker, replicates: Replicates, metric: Metric, gains: Floats | None
) -> Floats:
    weight = row_weights(replicates, metric)

    def weights_in(lines: Lines) -> Floats | None:
        return None if weight is None else lines(weight)

    if gains is not None:
        # Hits without weights are summed without rounding, so that equal candidates tie.
        exact = gains.astype(np.float64)
        return replicates.by_part(lambda lines: line_means(lines(exact), weights_in(lines)))
    if _is_explained(replicates, metric) and responses.all_of("predict").ndim == 1:
        said, y = np.asarray(responses.all_of("predict")), np.asarray(replicates.rows.y)
        return replicates.by_part(
            lambda lines: shares_explained(lines(said), lines(y), weights_in(lines))
        )
    found = [
        np.mean([_set_score(responses, replicates, part, metric, at) for part in parts])
        for at, parts in enumerate(replicates.parts)
    ]
    return np.array(found)


def _is_explained(replicates: Replicates, metric: Metric) -> bool:
    """Tell whether the score is R2 of one column of numbers."""
    plain = metric.name == "r2" and not metric.constants and not metric.by_row
    one_column = replicates.classes is None and np.ndim(replicates.rows.y) == 1
    # Of one row scikit-learn warns.
    return plain and one_column and replicates.smallest_part > 1


def _set_score(
    responses: Any, replicates: Replicates, rows: Ints, metric: Metric, replicate: int
) -> float:
    """Score a set of rows; soft labels count as weighted copies of a row, one for each class."""
    V, weight = replicates.rows, row_weights(replicates, metric)
    at, y, weight = rows, V.y[rows], None if weight is None else weight[rows]
    if V.class_probabilities is not None:
        assert replicates.classes is not None
        soft = V.class_probabilities[rows]
        row, code = np.nonzero(soft > 0)
        at, y = rows[row], replicates.classes[code]
        weight = soft[row, code] * (1.0 if weight is None else weight[row])
    faster = set_score(metric.name, replicates.classes)
    if faster is not None and not metric.constants and not metric.by_row:
        said = answers_for(metric.name, responses)[at]
        if said.ndim == 1:
            return faster(said, y, weight, replicates.classes)
    if weight is None:
        return float(metric.scorer(responses, at, y, **metric.params_at(at)))
    try:
        return float(metric.scorer(responses, at, y, sample_weight=weight, **metric.params_at(at)))
    except TypeError:  # the metric takes no weights
        chosen = _by_weight(weight, replicate)
        at, y = at[chosen], y[chosen]
        return float(metric.scorer(responses, at, y, **metric.params_at(at)))


def _by_rows(
    responses: Responses, replicates: Replicates, metric: Metric, name: str
) -> dict[str, Verdict]:
    """Score by something that may look at the rows themselves and may give several numbers."""
    found = [
        [
            _numbers(_score_rows(responses.model, replicates, part, metric, at), metric, name)
            for part in parts
        ]
        for at, parts in enumerate(replicates.parts)
    ]
    return {
        own: Verdict(np.array([np.mean([part[own] for part in parts]) for parts in found]))
        for own in found[0][0]
    }


def _score_rows(
    model: Any, replicates: Replicates, rows: Ints, metric: Metric, replicate: int
) -> Any:
    V, weight = replicates.rows, row_weights(replicates, metric)
    if weight is not None:  # it knows no weights
        rows = rows[_by_weight(weight[rows], replicate)]
    X, y = take_rows(V.X, rows), V.y[rows]
    if metric.scorer is None:
        return model.score(X, y)
    return metric.scorer(model, X, y, **metric.params_at(rows))


def _numbers(value: Any, metric: Metric, name: str) -> dict[str, float]:
    """Return a scorer's answer as named numbers, or raise."""
    named: Mapping[str, Any] = value if isinstance(value, Mapping) else {name: value}
    for own, number in named.items():
        if not isinstance(number, Number | np.number) and np.ndim(number) != 0:
            raise ValueError(
                f"scoring must give a number or a dictionary of numbers, and {metric.name} gave "
                f"{number!r} for {own!r}. Return a float."
            )
    return {own: float(number) for own, number in named.items()}


def _by_weight(weight: AnyArray, replicate: int) -> Ints:
    """Return as many rows as there are, drawn by weight."""
    rng = stream(substream(_RESAMPLING, "by weight"), replicate)
    return rng.choice(len(weight), size=len(weight), p=weight / weight.sum())
