"""Pseudo labels: what other models say about rows whose label is not known."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelPropagation, LabelSpreading, SelfTrainingClassifier

from leavezero._random import with_seed
from leavezero._typing import Floats, Ints

UNKNOWN = -1  # a row without a label, as a code
N_NEIGHBORS = 7
_TAKE_ALL_ROWS = (LabelPropagation, LabelSpreading, SelfTrainingClassifier)


def default_labelers(n_rows: int) -> dict[str, Any]:
    """Return models of different kinds that label rows, by name."""
    n_neighbors = min(N_NEIGHBORS, max(1, n_rows - 1))
    return {
        "spreading": LabelSpreading(kernel="knn", n_neighbors=n_neighbors, alpha=0.8, max_iter=100),
        "self-training": SelfTrainingClassifier(LogisticRegression(max_iter=200)),
        "neighbors": KNeighborsClassifier(1),
    }


def takes_unlabeled(estimator: Any) -> bool:
    """Tell whether an estimator learns from rows without a label.

    These are scikit-learn's semi-supervised estimators, and any with a parameter ``unlabeled``,
    which names the marker.

    Parameters
    ----------
    estimator : estimator
        Any estimator, fitted or not.

    Examples
    --------
    >>> from sklearn.semi_supervised import LabelSpreading
    >>> from sklearn.svm import SVC
    >>> from leavezero.augment import takes_unlabeled
    >>> takes_unlabeled(LabelSpreading()), takes_unlabeled(SVC())
    (True, False)
    """
    return isinstance(estimator, _TAKE_ALL_ROWS) or hasattr(estimator, "unlabeled")


def mean_opinion(
    labelers: Sequence[Any], features: Any, codes: Ints, n_classes: int, seed: int
) -> Floats:
    """Return the mean of the labelers' class probabilities for each row.

    Those that learn from rows without a label see all rows, the others the labelled ones.
    """
    opinions = [_opinion(labeler, features, codes, n_classes, seed) for labeler in labelers]
    return np.mean(opinions, axis=0)


def _opinion(labeler: Any, features: Any, codes: Ints, n_classes: int, seed: int) -> Floats:
    model = with_seed(clone(labeler), seed)
    known = codes != UNKNOWN
    rows = np.arange(len(codes)) if takes_unlabeled(model) else np.flatnonzero(known)
    if isinstance(model, KNeighborsClassifier):
        model.set_params(n_neighbors=min(model.n_neighbors, int(known.sum())))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # the user did not choose these models
        model.fit(features[rows], codes[rows])
        said = np.nan_to_num(np.asarray(model.predict_proba(features), dtype=np.float64))
    answers = np.zeros((len(codes), n_classes))
    answers[:, model.classes_] = said
    silent = answers.sum(axis=1) <= 0  # a part of the graph that no label reaches
    answers[silent] = 1.0 / n_classes
    return answers / answers.sum(axis=1, keepdims=True)


def with_marginal(posterior: Floats, shares: Floats, n_rounds: int = 50) -> Floats:
    """Return probabilities whose mean over rows is the given share of each class.

    Columns are scaled and rows brought back to sum one, in turn; scaling leaves the order of rows
    within a class as it is.

    Examples
    --------
    >>> fair = with_marginal(np.array([[0.9, 0.1], [0.8, 0.2]]), np.array([0.5, 0.5]))
    >>> fair.mean(axis=0).round(3)
    array([0.5, 0.5])
    """
    answers = np.maximum(posterior, 1e-6)
    for _ in range(n_rounds):
        answers = answers * (shares / answers.mean(axis=0))
        answers = answers / answers.sum(axis=1, keepdims=True)
    return answers


def as_dense_or_csr(features: Any) -> Any:
    """Return features in a form in which rows can be taken."""
    return features.tocsr() if sparse.issparse(features) else features
