"""How a support vector classifier's pairs of classes make decision values and labels."""

from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse

from leavezero._typing import AnyArray, Floats


def pair_coefs(model: Any) -> Floats:
    """Return the coefficient of each support vector in each pair of classes.

    ``dual_coef_`` has a row for each class that a support vector's own class is set against: class
    j is row j - 1 for the classes before it and row j for those after.
    """
    dual = dense_coefs(model)
    own = np.repeat(np.arange(len(model.classes_)), model.n_support_)
    pairs = list(combinations(range(len(model.classes_)), 2))
    coefs = np.zeros((len(own), len(pairs)))
    for at, (one, other) in enumerate(pairs):
        for mine, against in ((one, other - 1), (other, one)):
            coefs[own == mine, at] = dual[against, own == mine]
    return coefs


def dense_coefs(model: Any) -> Floats:
    """Return ``dual_coef_``, which is sparse if the rows were."""
    dual = model.dual_coef_
    return np.asarray(dual.toarray() if sparse.issparse(dual) else dual)


def decide(model: Any, scores: Floats) -> dict[str, AnyArray]:
    """Return labels and decision values from the pairs' scores, as the model makes them."""
    n_classes = len(model.classes_)
    if n_classes == 2:
        labels = model.classes_[(scores[:, 0] >= 0).astype(np.intp)]
        return {"predict": labels, "decision_function": scores[:, 0]}
    votes = np.zeros((len(scores), n_classes))
    trust = np.zeros((len(scores), n_classes))
    for at, (one, other) in enumerate(combinations(range(n_classes), 2)):
        first = scores[:, at] > 0
        votes[:, one] += first
        votes[:, other] += ~first
        trust[:, one] += scores[:, at]
        trust[:, other] -= scores[:, at]
    each = votes + trust / (3.0 * (np.abs(trust) + 1.0))  # less than a vote, as scikit-learn does
    by_class = model.decision_function_shape == "ovr"
    winner = (each if model.break_ties and by_class else votes).argmax(axis=1)
    return {"predict": model.classes_[winner], "decision_function": each if by_class else scores}
