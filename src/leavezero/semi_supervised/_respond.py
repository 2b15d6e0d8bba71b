"""What models that were fitted together say of new rows."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from leavezero._typing import Floats, Table
from leavezero.semi_supervised._solve import probabilities
from leavezero.semi_supervised._together import values_at

if TYPE_CHECKING:
    from leavezero.semi_supervised._smir import SMIRClassifier


def predict_proba_many(models: Sequence["SMIRClassifier"], X: Table) -> list[Floats]:
    """Return the class probabilities of rows by each of several models.

    Models that were fitted together and have a kernel in common share its values.

    Parameters
    ----------
    models : sequence of SMIRClassifier
        Fitted, to the same columns.
    X : array or sparse matrix of shape (n_rows, n_features)

    Returns
    -------
    list of array of shape (n_rows, n_classes)
        In the order of the models.

    Examples
    --------
    >>> from leavezero.semi_supervised import SMIRClassifier, fit_many, predict_proba_many
    >>> X, y = [[0.0], [0.1], [1.0], [1.1]], [0, -1, 1, -1]
    >>> models = fit_many([SMIRClassifier(gamma=gamma) for gamma in (0.01, 0.1)], X, y)
    >>> [said.argmax(axis=1).tolist() for said in predict_proba_many(models, [[0.2], [0.9]])]
    [[0, 1], [0, 1]]
    """
    for model in models:
        check_is_fitted(model)
    rows = validate_data(models[0], X, accept_sparse="csr", dtype=np.float64, reset=False)
    groups: dict[Any, list[int]] = {}
    for at, model in enumerate(models):
        groups.setdefault((id(model._kernel), id(model._support)), []).append(at)
    said: list[Any] = [None] * len(models)
    for places in groups.values():
        first = models[places[0]]
        coefs = [models[at].coef_ for at in places]
        values = values_at(first._kernel, rows, first._support, np.hstack(coefs))
        ends = np.cumsum([coef.shape[1] for coef in coefs])[:-1]
        for at, part in zip(places, np.split(values, ends, axis=1), strict=True):
            said[at] = probabilities(part, models[at].class_prior_)
    return said
