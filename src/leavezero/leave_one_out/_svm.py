"""SVC, NuSVC, SVR and NuSVR: approximate leave-one-out by the span rule and a smoothed loss."""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod, LOOPredictions
from leavezero.leave_one_out._newton import MAX_CELLS, to_dense
from leavezero.leave_one_out._svm_span import BinarySVM, SVMKernel, decision_changes
from leavezero.leave_one_out._training_data import (
    class_codes,
    mismatch_error,
    nearly_equal,
    row_weights,
    target_values,
    training_rows,
)

AT_BOUND = 1.0 - 1e-9
OFF_MARGIN = 0.1  # LIBSVM leaves free support vectors within its tolerance, 1e-3, of the margin
MIN_FREE, FEW_FREE = 3, 20  # free support vectors; measured against refits
MAX_LOST = 0.15  # rows of an SVM with few free vectors that the span rule misclassifies
FULL_KERNELS = ("rbf", "linear")  # few vectors do not span rbf, and linear is smoothed
TOO_MANY = "the kernel of its support vectors would need more than 400 MB"


class SVCMethod(LeaveOneOutMethod):
    """SVC and NuSVC with any kernel; several classes by one-vs-one votes, as the model predicts.

    ``predict_proba`` is not available, because ``probability=True`` calibrates on folds inside the
    fit. For NuSVC the SVC with the same solution is used.
    """

    name = "support vector classifier"
    estimator_types = (SVC, NuSVC)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        rows = _training_rows(model, X)
        codes = class_codes(model, y, rows.shape[0])
        expected = np.repeat(np.arange(len(model.classes_)), model.n_support_)
        if not np.array_equal(codes[model.support_], expected):
            raise mismatch_error(model, "its support vectors have other classes in y")
        weights = row_weights(sample_weight, len(codes)) * model.class_weight_[codes]
        kernel, coefs = SVMKernel.from_model(model, rows), _pair_coefs(model)
        scores = kernel.decision_values(coefs) + model.intercept_
        dual_coef = np.zeros((len(codes), coefs.shape[1]))
        dual_coef[model.support_] = coefs
        svms = list(_pairs(model, codes, weights, dual_coef, scores))
        if _is_too_large(svms):
            return LOOPredictions("approximate", {}, unreliable=TOO_MANY)
        n_lost = []
        for pair, svm in enumerate(svms):
            changes, lost = decision_changes(svm, kernel)
            scores[svm.rows, pair] -= changes
            n_lost.append(lost)
        predictions = _predictions(model, scores)
        n_correct = int(np.sum(predictions["predict"] == model.classes_[codes]))
        share = (n_correct + 1.0) / (len(codes) + 2.0)  # positive error of a perfect score, too
        error = float(np.sqrt(len(codes) * share * (1.0 - share)))
        reason = _free_vectors_reason(model, svms, n_lost, error)
        return LOOPredictions("approximate", predictions, unreliable=reason)


class SVRMethod(LeaveOneOutMethod):
    """SVR and NuSVR with any kernel."""

    name = "support vector regression"
    estimator_types = (SVR, NuSVR)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        rows = _training_rows(model, X)
        targets = target_values(model, y, rows.shape[0])
        bounds = model.C * row_weights(sample_weight, len(targets))
        kernel, dual_coef = SVMKernel.from_model(model, rows), np.zeros(len(targets))
        dual_coef[model.support_] = to_dense(model.dual_coef_)[0]
        scores = kernel.decision_values(dual_coef[model.support_]) + model.intercept_
        svm = _regression(model, dual_coef, bounds, targets - scores)
        if _is_too_large([svm]):
            return LOOPredictions("approximate", {}, unreliable=TOO_MANY)
        changes, _ = decision_changes(svm, kernel)
        reason = _free_vectors_reason(model, [svm], [0], 0.0)
        if np.abs(changes).max() > np.ptp(targets):
            reason = "leaving out a row changes its prediction by more than the range of y"
        return LOOPredictions("approximate", {"predict": scores - changes}, unreliable=reason)


def _training_rows(model: Any, X: Table) -> Any:
    rows = training_rows(model, X)
    if tuple(rows.shape) != tuple(model.shape_fit_):
        raise mismatch_error(model, f"it had {model.shape_fit_[0]} rows, X has {rows.shape[0]}")
    if model.kernel == "precomputed" or callable(model.kernel):
        return rows
    fitted = model.support_vectors_
    different = rows[model.support_] - fitted
    values = different.data if sparse.issparse(different) else np.asarray(different)
    if not nearly_equal(values, np.zeros_like(values), float(abs(fitted).max())):
        raise mismatch_error(model, "its support vectors are other rows of X")
    return rows


def _is_too_large(svms: Sequence[BinarySVM]) -> bool:
    counts = [(int(svm.free.sum()), svm.n_bounded) for svm in svms]
    return any(2 * free * (free + bounded) > MAX_CELLS for free, bounded in counts)


def _pair_coefs(model: Any) -> Floats:
    """Return the dual coefficient of each support vector in each pair of classes.

    ``dual_coef_`` has one row per class that a support vector's own class is compared with: class j
    is row j - 1 for the classes before it and row j for those after.
    """
    dual_coef = to_dense(model.dual_coef_)
    own = np.repeat(np.arange(len(model.classes_)), model.n_support_)
    pairs = list(combinations(range(len(model.classes_)), 2))
    coefs = np.zeros((len(own), len(pairs)))
    for pair, (one, other) in enumerate(pairs):
        coefs[own == one, pair] = dual_coef[other - 1, own == one]
        coefs[own == other, pair] = dual_coef[one, own == other]
    return coefs


def _pairs(
    model: Any, codes: Ints, weights: Floats, dual_coef: Floats, scores: Floats
) -> Iterator[BinarySVM]:
    """Yield the SVM of each pair of classes."""
    first_sign = -1.0 if len(model.classes_) == 2 else 1.0  # binary: above zero is the second
    for pair, (one, other) in enumerate(combinations(range(len(model.classes_)), 2)):
        rows = np.flatnonzero((codes == one) | (codes == other))
        signs = np.where(codes[rows] == one, first_sign, -first_sign)
        coefs, margins = dual_coef[rows, pair], signs * scores[rows, pair]
        sizes = np.abs(coefs) / np.maximum(weights[rows], 1e-300)
        bound = model.C if isinstance(model, SVC) else sizes.max(initial=0.0)
        bounded = sizes >= bound * AT_BOUND
        free = (sizes > 0.0) & ~bounded
        slack = np.abs(margins - 1.0)
        if 2 * np.sum(slack[free] > OFF_MARGIN) > np.sum(free):
            raise mismatch_error(model, "its free support vectors are not on the margin")
        rises = bounded == (signs > 0.0)
        yield BinarySVM(
            rows,
            coefs,
            free,
            rise_limit=np.where(rises, slack, np.inf),
            fall_limit=np.where(rises, np.inf, slack),
            margin=np.where(margins > 0.0, margins, np.inf),
            upper_bound=bound * weights[rows],
            distances=(margins - 1.0)[:, None],
        )


def _regression(model: Any, dual_coef: Floats, bounds: Floats, residuals: Floats) -> BinarySVM:
    """Return the SVM of a regression, whose free vectors are on the boundary of the tube."""
    sizes = np.abs(dual_coef)
    bounded = sizes >= bounds * AT_BOUND
    free = (sizes > 0.0) & ~bounded
    # NuSVR learns epsilon, so that it is read off the free vectors.
    epsilon = float(np.median(np.abs(residuals[free]))) if free.any() else 0.0
    scale = float(np.std(residuals)) + epsilon
    off = np.abs(np.abs(residuals[free]) - epsilon)
    if free.any() and np.median(off) > OFF_MARGIN * scale:
        raise mismatch_error(model, "its free support vectors are not on the boundary of the tube")
    rise_limit = np.abs(np.where(bounded, residuals - epsilon, epsilon + residuals))
    fall_limit = np.abs(np.where(bounded, residuals + epsilon, epsilon - residuals))
    rise_limit[bounded & (dual_coef < 0)] = np.inf
    fall_limit[bounded & (dual_coef > 0)] = np.inf
    return BinarySVM(
        np.arange(len(dual_coef)),
        dual_coef,
        free,
        rise_limit,
        fall_limit,
        margin=np.zeros(len(dual_coef)),
        upper_bound=bounds,
        distances=np.column_stack([residuals - epsilon, residuals + epsilon]),
    )


def _free_vectors_reason(
    model: Any, svms: Sequence[BinarySVM], n_lost: Sequence[int], error: float
) -> str | None:
    """Return why few free support vectors make the predictions unreliable.

    If these cannot span everything, a few are enough unless most rows are at their bound, so that
    the free ones alone determine the intercept, or the span rule misclassifies many rows
    (``n_lost``, by SVM). ``error`` is the standard error of the number of correct rows.
    """
    counts = [int(svm.free.sum()) for svm in svms]
    if model.kernel in FULL_KERNELS:
        few = [
            n_free
            for svm, n_free, lost in zip(svms, counts, n_lost, strict=True)
            if (n_free < MIN_FREE and 2 * svm.n_bounded > len(svm.rows))
            or (n_free < FEW_FREE and lost > MAX_LOST * len(svm.rows))
        ]
    else:
        few = [n for n in counts if n < (FEW_FREE if sum(n_lost) > error else MIN_FREE)]
    if not few:
        return None
    return f"the SVM has only {min(few)} free support vectors, too few for the span rule"


def _predictions(model: Any, scores: Floats) -> dict[str, AnyArray]:
    """Return labels and decision values from the scores of pairs, as the model does."""
    n_classes = len(model.classes_)
    if n_classes == 2:
        labels = model.classes_[(scores[:, 0] >= 0).astype(np.intp)]
        return {"predict": labels, "decision_function": scores[:, 0]}
    votes, confidence = np.zeros((2, len(scores), n_classes))
    for pair, (one, other) in enumerate(combinations(range(n_classes), 2)):
        for_one = scores[:, pair] > 0
        votes[:, one] += for_one
        votes[:, other] += ~for_one
        confidence[:, one] += scores[:, pair]
        confidence[:, other] -= scores[:, pair]
    # scikit-learn breaks ties of votes by confidence, scaled to less than one vote.
    combined = votes + confidence / (3.0 * (np.abs(confidence) + 1.0))
    ovr = model.decision_function_shape == "ovr"
    best = (combined if model.break_ties and ovr else votes).argmax(axis=1)
    return {"predict": model.classes_[best], "decision_function": combined if ovr else scores}


METHODS = (SVCMethod(), SVRMethod())
