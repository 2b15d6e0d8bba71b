"""One kernel between new rows and training rows, for all models with the same kernel parameters."""

from collections.abc import Hashable
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.svm import SVC, SVR, NuSVC, NuSVR
from sklearn.utils import check_array

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    Predictions,
    predict_in_blocks,
)

KERNEL_PARAMS = {
    "linear": (),
    "rbf": ("gamma",),
    "sigmoid": ("gamma", "coef0"),
    "poly": ("gamma", "coef0", "degree"),
}

MAX_CELLS = 2**23  # coefficients of all support vectors in all pairs of classes


class SharedKernel(JointFit):
    """SVC, NuSVC, SVR and NuSVR with one kernel; all other parameters may differ.

    Each model is a plain fit. Decision values are equal up to rounding (LIBSVM computes distances
    in another order), labels wherever no decision value is zero up to rounding.
    """

    name = "shared kernel"
    estimator_types = (SVC, SVR, NuSVC, NuSVR)
    max_candidates = 16  # fits are not shared: leave something to other workers

    def key(self, estimator: Any) -> Hashable | None:
        """Return the kernel and its parameters; None for functions and precomputed kernels."""
        if not isinstance(estimator.kernel, str) or estimator.kernel not in KERNEL_PARAMS:
            return None
        values = [repr(getattr(estimator, name)) for name in KERNEL_PARAMS[estimator.kernel]]
        return (type(estimator), estimator.kernel, *values)

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit each model, and compute the width of their kernel."""
        models = super().fit(estimators, X, y, sample_weight).models
        return JointlyFitted(models, shared=svm_gamma(models[0], X))

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return labels and decision values, or predictions, from one kernel."""
        models = fitted.models
        n_support = sum(len(model.support_) for model in models)
        n_scores = sum(len(model.intercept_) for model in models)
        if method not in ("predict", "decision_function") or n_support * n_scores > MAX_CELLS:
            return None
        vectors, coefs = _support(models)
        sparse_rows = sparse.issparse(X)
        if not vectors.shape[0] or sparse.issparse(vectors) != sparse_rows:
            return None
        intercepts = np.concatenate([model.intercept_ for model in models])
        ends = np.cumsum([len(model.intercept_) for model in models])[:-1]
        kernel, classifier = models[0].kernel, hasattr(models[0], "classes_")
        params = {name: getattr(models[0], name) for name in KERNEL_PARAMS[kernel]}
        if "gamma" in params:
            params["gamma"] = fitted.shared
        shift = 0.0
        if kernel == "rbf" and not sparse_rows:
            # Distances do not depend on the origin, and keep their digits near it.
            shift = vectors.mean(axis=0)
            vectors = vectors - shift

        def predict_block(block: Table) -> list[AnyArray]:
            rows = check_array(block, accept_sparse="csr", dtype=np.float64)
            rows = rows if sparse_rows else rows - shift
            scores = pairwise_kernels(rows, vectors, metric=kernel, **params) @ coefs
            parts = np.split(scores + intercepts, ends, axis=1)
            if not classifier:
                return [part[:, 0].copy() for part in parts]
            decide = svm_labels if method == "predict" else svm_decision_values
            return [decide(model, part) for model, part in zip(models, parts, strict=True)]

        return predict_in_blocks(predict_block, X, sum(coefs.shape))


def svm_gamma(model: Any, X: Table) -> float | None:
    """Return gamma as the fit took it, by scikit-learn's documented rules."""
    if "gamma" not in KERNEL_PARAMS.get(model.kernel, ()):
        return None
    if not isinstance(model.gamma, str):
        return float(model.gamma)
    rows = check_array(X, accept_sparse="csr", dtype=np.float64)
    if model.gamma == "auto":
        return 1.0 / rows.shape[1]
    squares = rows.multiply(rows).mean() - rows.mean() ** 2 if sparse.issparse(rows) else rows.var()
    return 1.0 / (rows.shape[1] * float(squares)) if squares != 0 else 1.0


def _support(models: list[Any]) -> tuple[Any, Floats]:
    """Return the support vectors of all models, and a column of coefficients per score."""
    indices, first = np.unique(
        np.concatenate([model.support_ for model in models]), return_index=True
    )
    own_vectors = [model.support_vectors_ for model in models]
    is_sparse = sparse.issparse(own_vectors[0])
    stacked = sparse.vstack(own_vectors, "csr") if is_sparse else np.vstack(own_vectors)
    columns = []
    for model in models:
        own = pair_coefs(model) if hasattr(model, "classes_") else _dense_coefs(model).T
        full = np.zeros((len(indices), own.shape[1]))
        full[np.searchsorted(indices, model.support_)] = own
        columns.append(full)
    return stacked[first], np.hstack(columns)


def pair_coefs(model: Any) -> Floats:
    """Return the coefficient of each support vector in each pair of classes.

    ``dual_coef_`` has one row per other class: class j is in row j - 1 for support vectors of the
    classes before it, and in row j for those of the classes after it.
    """
    dual = _dense_coefs(model)
    own = np.repeat(np.arange(len(model.classes_)), model.n_support_)
    pairs = list(combinations(range(len(model.classes_)), 2))
    coefs = np.zeros((len(own), len(pairs)))
    for index, (one, other) in enumerate(pairs):
        coefs[own == one, index] = dual[other - 1, own == one]
        coefs[own == other, index] = dual[one, own == other]
    return coefs


def _dense_coefs(model: Any) -> Floats:
    dual = model.dual_coef_
    return np.asarray(dual.toarray() if sparse.issparse(dual) else dual)


def svm_labels(model: Any, scores: Floats) -> AnyArray:
    """Return labels from the scores of pairs of classes, as LIBSVM does."""
    if len(model.classes_) == 2:  # LIBSVM has the opposite sign, and gives 0 to the second class
        return model.classes_[(scores[:, 0] >= 0).astype(np.intp)]
    if model.break_ties and model.decision_function_shape == "ovr":
        return model.classes_[svm_decision_values(model, scores).argmax(axis=1)]
    return model.classes_[_sum_by_class(scores > 0, scores <= 0, model).argmax(axis=1)]


def svm_decision_values(model: Any, scores: Floats) -> Floats:
    """Return what ``decision_function`` returns, from the scores of pairs of classes."""
    if len(model.classes_) == 2:
        return scores[:, 0].copy()
    if model.decision_function_shape == "ovo":
        return scores.copy()
    confidence = _sum_by_class(scores, -scores, model)
    # The sum of confidences counts less than a vote, as in scikit-learn.
    votes = _sum_by_class(scores >= 0, scores < 0, model)
    return votes + confidence / (3.0 * (np.abs(confidence) + 1.0))


def _sum_by_class(first: AnyArray, second: AnyArray, model: Any) -> Floats:
    """Return sums by class of what the first and the second class of each pair get."""
    sums = np.zeros((len(first), len(model.classes_)))
    for index, (one, other) in enumerate(combinations(range(len(model.classes_)), 2)):
        sums[:, one] += first[:, index]
        sums[:, other] += second[:, index]
    return sums
