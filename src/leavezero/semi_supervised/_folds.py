"""What a fitted model would say of its labelled rows if their labels had not been given.

Held-out rows stay in the training set as rows without a label, so that the kernel and its
decomposition are the same in every fold.
"""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from leavezero._random import seed_sequence, stream
from leavezero._typing import Bools, Floats, Ints, RandomState
from leavezero.semi_supervised._labels import class_prior, one_hot
from leavezero.semi_supervised._solve import (
    LabeledRows,
    Setting,
    class_scale,
    gram,
    probabilities,
    row_masses,
)

if TYPE_CHECKING:
    from leavezero.semi_supervised._smir import SMIRClassifier

MOST_LABELS = 2_000  # with more, a fitted model does not keep what folds need


@dataclass(frozen=True, eq=False)
class HeldOut:
    """What a model says of labelled rows whose labels it was not given.

    Parameters
    ----------
    rows : array of int of shape (n_labeled,)
        Positions of the labelled rows in the table.
    scores : array of shape (n_repeats, n_labeled, n_classes)
        Probabilities of the classes; nothing, ``n_repeats`` 0, if there is a reason.
    reason : str or None
        Why there are no scores.

    Examples
    --------
    >>> from leavezero.semi_supervised import SMIRClassifier, held_out_scores
    >>> model = SMIRClassifier().fit([[0.0], [0.1], [1.0]], [0, -1, 1])
    >>> held_out_scores(model).reason
    'class 0 has one label, and without it none'
    """

    rows: Ints = field(repr=False)
    scores: Floats = field(repr=False)
    reason: str | None = None


def held_out_scores(
    model: "SMIRClassifier",
    n_repeats: int = 4,
    n_folds: int = 5,
    random_state: RandomState = 0,
) -> HeldOut:
    """Return the class probabilities of each labelled row as if its label were not given.

    Nothing is fitted again: the labels of a fold are taken out of the model's system of the size
    of the labelled set. The result equals that of a model fitted with these labels replaced by
    the marker.

    Parameters
    ----------
    model : SMIRClassifier
        Fitted.
    n_repeats : int, default=4
        How often the labelled rows are dealt into folds anew.
    n_folds : int, default=5
        In how many parts, each held out once; never more than the smallest class has labels. The
        rows of each class are dealt to the folds in turn.
    random_state : int, RandomState, Generator or None, default=0
        An integer gives the same folds to every model with the same labels.

    Returns
    -------
    HeldOut
        Without scores, with a reason, where a class has one label.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import SMIRClassifier, held_out_scores
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> model = SMIRClassifier(width=1.0).fit(X, [0, 0, -1, 1, 1, -1])
    >>> held_out_scores(model).scores.argmax(axis=2).tolist()
    [[0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1], [0, 0, 1, 1]]
    """
    check_is_fitted(model)
    labels, labeled = model._labels, model._labeled_rows
    for name, number, least in (("n_repeats", n_repeats, 1), ("n_folds", n_folds, 2)):
        if not isinstance(number, int | np.integer) or number < least:
            raise ValueError(
                f"{name} of held_out_scores must be an int of at least {least}, got {number!r}."
            )
    reason = _refusal(model)
    if reason is not None or labeled is None:
        return HeldOut(labels.rows, np.empty((0, len(labels.rows), len(labels.classes))), reason)
    root = seed_sequence(random_state)
    n_folds = min(n_folds, int(np.bincount(labels.codes).min()))
    folds = [
        deal(labels.codes, n_folds, stream(root, "repeat", repeat)) for repeat in range(n_repeats)
    ]
    n_classes = len(labels.classes)
    scores = unseen_by_folds(labeled, labels.codes, n_classes, model._setting, np.array(folds))
    return HeldOut(labels.rows, scores)


def deal(codes: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """Return the number of each labelled row's fold; rows of a class go to the folds in turn.

    Examples
    --------
    >>> np.bincount(deal(np.array([0, 0, 0, 1, 1, 1]), 3, np.random.default_rng(0))).tolist()
    [2, 2, 2]
    """
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.intp)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds


def unseen_by_folds(
    labeled: LabeledRows, codes: Ints, n_classes: int, setting: Setting, folds: Ints
) -> Floats:
    """Return the probabilities of held-out rows, for each way of dealing them into folds.

    With l_t the number of labels that remain, V = (R + l_t I)^-1 and Z = V Y, taking out the
    labels of fold F gives Z - V[:, F] V[F, F]^-1 Z[F], and the values Y[F] - V[F, F]^-1 Z[F] in F.
    """
    penalties = labeled.inverse_penalties(setting, n_classes)
    system, masses = gram(labeled, penalties), row_masses(labeled, penalties)
    targets = one_hot(codes, n_classes)
    inverses: dict[int, Floats] = {}
    scores = np.empty((len(folds), *targets.shape))
    for dealt, result in zip(folds, scores, strict=True):
        for fold in np.unique(dealt):
            out = dealt == fold
            left = int((~out).sum())
            if left not in inverses:
                inverses[left] = _inverse(system, left)
            prior = class_prior(setting.prior, codes[~out], n_classes)
            values, scale = _without(
                inverses[left], masses, targets, out, prior, labeled.n_rows, left
            )
            result[out] = probabilities(values * scale, prior)
    return scores


def _refusal(model: "SMIRClassifier") -> str | None:
    labels = model._labels
    if model._labeled_rows is None:
        return f"the model has more than {MOST_LABELS} labels and keeps nothing for folds"
    counts = np.bincount(labels.codes)
    if counts.min() < 2:
        name = labels.classes[counts.argmin()]
        name = name.item() if isinstance(name, np.generic) else name
        return f"class {name!r} has one label, and without it none"
    return None


def _inverse(system: Floats, n_left: int) -> Floats:
    matrix = system + n_left * np.eye(len(system))
    return np.asarray(
        linalg.cho_solve(linalg.cho_factor(matrix, overwrite_a=True), np.eye(len(system)))
    )


def _without(
    inverse: Floats,
    masses: Floats,
    targets: Floats,
    out: Bools,
    prior: Floats,
    n_rows: int,
    n_left: int,
) -> tuple[Floats, Floats]:
    """Return the values of held-out rows, and the classes' scale without their labels."""
    weights = inverse @ targets
    step = linalg.solve(inverse[np.ix_(out, out)], weights[out], assume_a="pos")
    weights = weights - inverse[:, out] @ step
    kept = targets[~out] - n_left * weights[~out]
    scale = class_scale(masses[~out] @ weights[~out], kept, prior, n_rows)
    return targets[out] - step, scale
