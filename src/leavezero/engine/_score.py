"""How well a fitted model does on each replicate of the validation set."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from leavezero._random import stream, substream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints
from leavezero.augment import ValidationSet
from leavezero.engine._calibrate import Calibration, Speaker, calibrate
from leavezero.engine._draw import Replicates
from leavezero.engine._metrics import Metric, default_metric
from leavezero.engine._responses import Responses
from leavezero.engine._set_scores import SET_SCORES, answers_for

_RESAMPLING = np.random.SeedSequence(0)  # the same rows for every candidate


def score_replicates(
    model: Any, replicates: Replicates, metrics: Sequence[Metric | None]
) -> list[Floats]:
    """Return, for each metric, the model's score on each replicate.

    The model is asked once for all of them. Scores are averaged over the members of a portfolio.
    None is the model's own default metric.
    """
    responses = Responses(model, replicates.rows.X)
    chosen = [default_metric(model) if metric is None else metric for metric in metrics]
    return [
        _score_one(responses, replicates, metric) + _bias(responses, replicates, metric)
        for metric in chosen
    ]


def _bias(responses: Responses, replicates: Replicates, metric: Metric) -> float:
    """Return what V's score is off by for this model; 0 where no reference can tell."""
    if replicates.references is None or metric.looks_at_rows or not metric.needs_labels_only:
        return 0.0
    assert replicates.classes is not None
    known = replicates.calibrations
    if metric.name not in known:
        known[metric.name] = _calibration(replicates, replicates.classes, metric)
    labels = responses.all_of("predict")
    return known[metric.name].bias(np.searchsorted(replicates.classes, labels))


def _calibration(replicates: Replicates, classes: AnyArray, metric: Metric) -> Calibration:
    """Compare what the references score on V with what they score on rows they have not seen."""
    said = replicates.rows.reference_codes
    assert said is not None
    assert replicates.references is not None
    on_v = [
        _score_one(Speaker(classes[column], classes), replicates, metric).mean()
        for column in said.T
    ]
    known = replicates.references
    given = Replicates(ValidationSet(known.truth, classes[known.truth]), 1, classes)
    honest = [
        _score_one(Speaker(classes[column], classes), given, metric)[0] for column in known.honest.T
    ]
    return calibrate(said, np.array(honest) - np.array(on_v))


def _score_one(responses: Responses | Speaker, replicates: Replicates, metric: Metric) -> Floats:
    scores = []
    for at, rows in enumerate(replicates.slices):
        parts = _parts(replicates.rows, rows)
        scores.append(
            np.mean([_score_part(responses, replicates, part, metric, at) for part in parts])
        )
    return np.array(scores)


def _parts(V: ValidationSet, rows: slice) -> list[Ints]:
    """Return the rows of one replicate, split by the members of a portfolio."""
    positions = np.arange(rows.start, rows.stop)
    if V.members is None:
        return [positions]
    members = V.members[rows]
    return [positions[members == member] for member in np.unique(members)]


def _score_part(
    responses: Any, replicates: Replicates, rows: Ints, metric: Metric, replicate: int
) -> float:
    loss = metric.row_loss
    if loss is not None:
        part = replicates.rows.take_labels(rows)
        said = responses.all_of(loss.method)[rows]
        losses = loss.losses(said, part, replicates.classes)
        gains = loss.best - losses.astype(np.float64)  # hits, where the score is accuracy
        return float(np.average(gains, weights=part.sample_weight))
    if metric.looks_at_rows:
        return _score_rows(responses, replicates.rows, rows, metric, replicate)
    return _score_expanded(responses, replicates, rows, metric, replicate)


def _score_expanded(
    responses: Any, replicates: Replicates, rows: Ints, metric: Metric, replicate: int
) -> float:
    """Score soft labels as weighted copies of a row, one for each class."""
    V = replicates.rows
    y, weight = V.y[rows], None if V.sample_weight is None else V.sample_weight[rows]
    at = rows
    if V.posterior is not None:
        assert replicates.classes is not None
        soft = V.posterior[rows]
        row, code = np.nonzero(soft > 0)
        at, y = rows[row], replicates.classes[code]
        weight = soft[row, code] * (1.0 if weight is None else weight[row])
    if metric.name in SET_SCORES and replicates.classes is not None:
        said = answers_for(metric.name, responses)[at]
        return SET_SCORES[metric.name](said, y, weight, replicates.classes)
    if weight is None:
        return float(metric.scorer(responses, at, y))
    try:
        return float(metric.scorer(responses, at, y, sample_weight=weight))
    except TypeError:  # the metric takes no weights
        chosen = _by_weight(weight, replicate)
        return float(metric.scorer(responses, at[chosen], y[chosen]))


def _score_rows(
    responses: Responses, V: ValidationSet, rows: Ints, metric: Metric, replicate: int
) -> float:
    """Score by something that may look at the rows themselves; it knows no weights."""
    if V.sample_weight is not None:
        rows = rows[_by_weight(V.sample_weight[rows], replicate)]
    model = responses.model
    X, y = take_rows(V.X, rows), V.y[rows]
    return float(model.score(X, y) if metric.scorer is None else metric.scorer(model, X, y))


def _by_weight(weight: AnyArray, replicate: int) -> Ints:
    """Return as many rows as there are, drawn by weight."""
    rng = stream(substream(_RESAMPLING, "by weight"), replicate)
    return rng.choice(len(weight), size=len(weight), p=weight / weight.sum())
