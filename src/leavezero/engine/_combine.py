"""Two witnesses, one score: V's bias, learned where rows that a model has not seen tell it."""

from dataclasses import dataclass, field

import numpy as np
from scipy.spatial.distance import cdist, pdist, squareform

from leavezero._typing import AnyArray, Bools, Floats
from leavezero.engine._calibrate import NUGGET, disagreement, krige

MOST_REFERENCES = 200  # candidates that V's bias is learned from
MOST_DIFFERENCES = 2**24  # of numbers; rows beyond that add little to what is a mean over rows
NUGGET_BESIDE_REFERENCES = 0.3  # with so many of them more can be smoothed away
STUDIED_ROWS = 300  # for which the nuggets are; an unseen score of more rows errs less


@dataclass(frozen=True, eq=False)
class Testimony:
    """What both witnesses say of some models, by one metric; an entry a model.

    ``on_v`` is V's plain score, ``unseen`` the score on rows that the model has not seen, NaN
    where it is not known. ``answers`` has a row for each of V's rows (some of them) and a column
    a model: codes of labels, or numbers; or a third axis with the code of each output or the
    probability of each class.
    """

    on_v: Floats
    unseen: Floats
    answers: AnyArray = field(repr=False)
    scale: float = 1.0  # of numbers, so that distances are shares
    n_rows: int = STUDIED_ROWS  # that an unseen score is a mean over

    @property
    def seen_by_both(self) -> Bools:
        """Which models both witnesses judge."""
        return np.isfinite(self.unseen) & np.isfinite(self.on_v)


def combine(testimony: Testimony, references: Testimony | None = None) -> Floats:
    """Return one score for each model, comparable between models with and without unseen rows.

    V's bias for a model is its unseen score minus its score on V. It is kriged over all models for
    which both are known, and reference models, with the distance between answers on V; a model's
    own bias counts with the others, so that neither witness is believed alone. The nugget is the
    variance of an unseen score: it falls with the number of rows.

    Examples
    --------
    >>> import numpy as np
    >>> answers = np.array([[0, 0, 1], [0, 1, 1], [1, 1, 1], [0, 0, 0]])
    >>> told = Testimony(np.array([0.9, 0.8, 0.7]), np.array([0.7, 0.6, np.nan]), answers)
    >>> combine(told).round(2)
    array([0.7, 0.6, 0.5])
    """
    known = np.flatnonzero(testimony.seen_by_both)[:: _stride(testimony.seen_by_both.sum())]
    biases, said = testimony.unseen[known] - testimony.on_v[known], testimony.answers
    if len(known) < said.shape[1]:
        said = said[:, known]
    nuggets = np.full(len(known), _nugget(NUGGET, testimony.n_rows))
    if references is not None:
        biases = np.concatenate([references.unseen - references.on_v, biases])
        said = np.concatenate([references.answers, said], axis=1)
        own = [references.n_rows] * references.answers.shape[1] + [testimony.n_rows] * len(known)
        nuggets = np.array([_nugget(NUGGET_BESIDE_REFERENCES, n_rows) for n_rows in own])
    if len(biases) == 0:
        return testimony.on_v
    to_models = distances(testimony.answers, said, testimony.scale)
    between = to_models[known]
    if references is not None:
        beside = distances(references.answers, said, testimony.scale)
        between = np.concatenate([beside, between])
    return testimony.on_v + krige(between, biases, to_models, nuggets)


def distances(first: AnyArray, second: AnyArray, scale: float = 1.0) -> Floats:
    """Return how differently each pair of models answers: a share of rows, or like one.

    Labels: the share of rows that differ, or of cells of several outputs. Probabilities: the
    total variation, averaged over rows. Numbers: the mean absolute difference over that of the
    targets from their median. Of numbers and probabilities of many models only some rows are
    compared.
    """
    if first.dtype.kind in "iub":
        cells = (np.swapaxes(a, 1, -1).reshape(-1, a.shape[1]) for a in (first, second))
        return disagreement(*cells)
    same, thin = second is first, max(1, first.size * second.shape[1] // MOST_DIFFERENCES)
    first, second = first[::thin], second[::thin]
    unit = 2.0 if first.ndim == 3 else scale
    lines, others = (np.moveaxis(a, 1, 0).reshape(a.shape[1], -1) for a in (first, second))
    apart = squareform(pdist(lines, "cityblock")) if same else cdist(lines, others, "cityblock")
    return np.asarray(apart) / (len(first) * unit)


def _nugget(studied: float, n_rows: int) -> float:
    return studied * STUDIED_ROWS / n_rows


def _stride(n_known: int) -> int:
    return max(1, -(-int(n_known) // MOST_REFERENCES))
