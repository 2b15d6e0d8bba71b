"""Folds over the labelled rows alone, with all rows without a label in every training part."""

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from sklearn.base import clone

from leavezero._random import seed_sequence, stream
from leavezero._tables import take_rows
from leavezero._typing import AnyArray, Floats, Ints, RandomState, Table
from leavezero.augment import labeled_rows
from leavezero.semi_supervised import SMIRClassifier, fit_many, predict_proba_many


def labeled_fold_accuracy(
    estimators: Sequence[Any],
    X: Table,
    y: AnyArray,
    *,
    n_folds: int = 2,
    held_out: Literal["kept", "dropped"] = "kept",
    unlabeled: Any = -1,
    random_state: RandomState = 0,
) -> Floats:
    """Return each estimator's share of hits on labelled rows whose label it was not given.

    What is usually done where some rows have no label, for comparison with leave-zero-out: only
    labelled rows are dealt into folds. A class whose labels are all in one fold is never hit.

    Parameters
    ----------
    estimators : sequence of semi-supervised classifiers
        Not fitted themselves; settings of SMIRClassifier are fitted together.
    X : array or sparse matrix of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Classes, and the marker in rows without one.
    n_folds : int, default=2
        Rows of a class are dealt to the folds in turn.
    held_out : "kept" or "dropped", default="kept"
        Whether rows of a fold stay in the training part as rows without a label, or leave it as in
        the published code of SMIR.
    unlabeled : object, default=-1
        What marks a row without a label.
    random_state : int, RandomState, Generator or None, default=0
        Of the dealing.

    Returns
    -------
    array of shape (n_estimators,)

    Examples
    --------
    >>> from sklearn.semi_supervised import LabelSpreading
    >>> from leavezero.experiments import labeled_fold_accuracy
    >>> X = [[0.0], [0.1], [0.2], [1.0], [1.1], [1.2]]
    >>> labeled_fold_accuracy([LabelSpreading()], X, [0, 0, -1, 1, 1, -1])
    array([1.])
    """
    if not isinstance(n_folds, int) or n_folds < 2:
        raise ValueError(
            f"n_folds of labeled_fold_accuracy must be an int of at least 2, got {n_folds!r}."
        )
    if held_out not in ("kept", "dropped"):
        raise ValueError(
            f'held_out of labeled_fold_accuracy must be "kept" or "dropped", got {held_out!r}.'
        )
    table, target = X if hasattr(X, "shape") else np.asarray(X), np.asarray(y)
    rows = np.flatnonzero(labeled_rows(target, unlabeled, "labeled_fold_accuracy"))
    folds = _deal(target[rows], n_folds, random_state)
    hits = np.zeros(len(estimators))
    for fold in range(n_folds):
        out = rows[folds == fold]
        part = _training_part(table, target, out, unlabeled, keep=held_out == "kept")
        said = _answers(estimators, *part, take_rows(table, out), unlabeled)
        hits += (said == target[out]).sum(axis=1)
    return hits / len(rows)


def _deal(labels: AnyArray, n_folds: int, random_state: RandomState) -> Ints:
    """Return the fold of each labelled row; rows of a class go to the folds in turn."""
    rng = stream(seed_sequence(random_state), "labeled folds")
    shuffled = rng.permutation(len(labels))
    order = shuffled[np.argsort(labels[shuffled], kind="stable")]
    folds = np.empty(len(labels), dtype=np.intp)
    folds[order] = np.arange(len(labels)) % n_folds
    return folds


def _training_part(
    X: Table, y: AnyArray, out: Ints, unlabeled: Any, *, keep: bool
) -> tuple[Table, AnyArray]:
    """Return all rows but the labels of some, or without these rows."""
    if keep:
        hidden = y.copy()
        hidden[out] = unlabeled
        return X, hidden
    rest = np.setdiff1d(np.arange(len(y)), out)
    return take_rows(X, rest), y[rest]


def _answers(
    estimators: Sequence[Any], X: Table, y: AnyArray, rows: Table, unlabeled: Any
) -> AnyArray:
    """Return what each estimator, fitted to a training part, says of the rows of a fold."""
    left = np.unique(y[[value != unlabeled for value in y.tolist()]])
    if len(left) == 1:  # nothing to learn
        return np.full((len(estimators), rows.shape[0]), left[0])
    models = [clone(estimator) for estimator in estimators]
    if all(type(model) is SMIRClassifier for model in models):
        fit_many(models, X, y)
        said = predict_proba_many(models, rows)
        return np.stack([left[scores.argmax(axis=1)] for scores in said])
    return np.stack([model.fit(X, y).predict(rows) for model in models])
