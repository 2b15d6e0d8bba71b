"""Class probabilities of labeled rows without their labels, from one fit of SMIR.

Rows of a fold stay in the training data as unlabeled rows, so the kernel and its decomposition
are the same in every fold.
"""

from dataclasses import dataclass, field

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_is_fitted

from leavezero._random import seed_sequence, stratified_folds, stream
from leavezero._typing import Bools, Floats, Ints, RandomState
from leavezero.semi_supervised._smir_classifier import MAX_LABELS_OF_FOLDS, SMIRClassifier
from leavezero.semi_supervised._smir_labels import class_prior
from leavezero.semi_supervised._smir_solver import class_scale, labeled_kernel, probabilities


@dataclass(frozen=True, eq=False)
class HeldOutScores:
    """Class probabilities of labeled rows whose labels were held out.

    Parameters
    ----------
    rows : array of int of shape (n_labeled,)
        Indices of the labeled rows.
    scores : array of shape (n_repeats, n_labeled, n_classes)
        Class probabilities; empty, with ``n_repeats`` 0, if there is a reason.
    reason : str or None
        Why there are no scores.

    Examples
    --------
    >>> from leavezero.semi_supervised import SMIRClassifier, held_out_scores
    >>> model = SMIRClassifier().fit([[0.0], [0.1], [1.0]], [0, -1, 1])
    >>> held_out_scores(model).reason
    'class 0 has only one labeled row'
    """

    rows: Ints = field(repr=False)
    scores: Floats = field(repr=False)
    reason: str | None = None


def held_out_scores(
    model: SMIRClassifier,
    n_repeats: int = 4,
    n_folds: int = 5,
    random_state: RandomState = 0,
) -> HeldOutScores:
    """Return the class probabilities of each labeled row with its label held out.

    The result equals that of models fitted with the labels of a fold replaced by the marker of
    unlabeled rows, but is computed from the fitted model.

    Parameters
    ----------
    model : SMIRClassifier
        Fitted.
    n_repeats : int, default=4
        Number of random partitions of the labeled rows into folds.
    n_folds : int, default=5
        Number of stratified folds, at most the number of labels of the smallest class.
    random_state : int, RandomState, Generator or None, default=0
        An integer gives the same folds for every model with the same labels.

    Returns
    -------
    HeldOutScores
        Without scores if a class has only one label or there are more than 2,000 labels.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.semi_supervised import SMIRClassifier, held_out_scores
    >>> X = np.array([[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]])
    >>> model = SMIRClassifier(width=1.0).fit(X, [0, 0, -1, 1, 1, -1])
    >>> held_out_scores(model, n_repeats=2).scores.argmax(axis=2).tolist()
    [[0, 0, 1, 1], [0, 0, 1, 1]]
    """
    check_is_fitted(model)
    for name, value, minimum in (("n_repeats", n_repeats, 1), ("n_folds", n_folds, 2)):
        if not isinstance(value, int | np.integer) or value < minimum:
            raise ValueError(
                f"{name} of held_out_scores must be an int of at least {minimum}, got {value!r}."
            )
    labels = model._labels
    reason = _unavailable_reason(model)
    if reason is not None:
        return HeldOutScores(labels.rows, np.empty((0, len(labels.rows), labels.n_classes)), reason)
    root = seed_sequence(random_state)
    n_folds = min(n_folds, int(np.bincount(labels.codes).min()))
    partitions = [
        stratified_folds(labels.codes, n_folds, stream(root, "repeat", repeat))
        for repeat in range(n_repeats)
    ]
    return HeldOutScores(labels.rows, _fold_probabilities(model, partitions))


def _unavailable_reason(model: SMIRClassifier) -> str | None:
    if model._labeled_rows is None:
        return f"the model has more than {MAX_LABELS_OF_FOLDS} labeled rows"
    counts = np.bincount(model._labels.codes)
    if counts.min() < 2:
        name = model._labels.classes[counts.argmin()]
        name = name.item() if isinstance(name, np.generic) else name
        return f"class {name!r} has only one labeled row"
    return None


def _fold_probabilities(model: SMIRClassifier, partitions: list[Ints]) -> Floats:
    """Return the probabilities of held-out rows for each partition into folds."""
    labeled, params = model._labeled_rows, model._params
    codes, n_classes = model._labels.codes, model._labels.n_classes
    p = labeled.inverse_penalties(params, n_classes)
    R = labeled_kernel(labeled, p)
    column_sums = labeled.vectors @ (labeled.spectrum * p * labeled.sums)  # of C, over all rows
    Y = np.eye(n_classes)[codes]
    inverses: dict[int, Floats] = {}  # by the number of labels that remain
    scores = np.empty((len(partitions), *Y.shape))
    for folds, result in zip(partitions, scores, strict=True):
        for fold in np.unique(folds):
            out = folds == fold
            left = int((~out).sum())
            if left not in inverses:
                identity = np.eye(len(R))
                factor = linalg.cho_factor(R + left * identity, overwrite_a=True)
                inverses[left] = np.asarray(linalg.cho_solve(factor, identity))
            prior = class_prior(params.prior, codes[~out], n_classes)
            values, kept_values, Z = _without_fold(inverses[left], Y, out, left)
            scale = class_scale(column_sums[~out] @ Z, kept_values, prior, labeled.n_rows)
            result[out] = probabilities(values * scale, prior)
    return scores


def _without_fold(inverse: Floats, Y: Floats, out: Bools, n_left: int) -> tuple[Floats, ...]:
    """Return held-out values, values at the other labeled rows, and Z of those, for a fold F.

    With G = (R + l I)^-1, l the number of labels that remain, and Z = G Y, removing the labels of F
    gives Z - G[:, F] G[F, F]^-1 Z[F] and the held-out values Y[F] - G[F, F]^-1 Z[F] (block form of
    the leave-one-out residuals of a linear smoother).
    """
    Z = inverse @ Y
    residuals = linalg.solve(inverse[np.ix_(out, out)], Z[out], assume_a="pos")
    Z = (Z - inverse[:, out] @ residuals)[~out]
    return Y[out] - residuals, Y[~out] - n_left * Z, Z
