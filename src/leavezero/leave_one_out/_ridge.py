"""Least squares and ridge: exact leave-one-out from one singular value decomposition.

With the hat matrix H, h_i its diagonal (the leverages) and r_i the residuals, the leave-one-out
residual of row i is r_i / (1 - h_i) (Allen 1974; Golub, Heath and Wahba 1979, equation 2.3).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.linear_model import LinearRegression, Ridge, RidgeClassifier
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_sample_weight

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.leave_one_out._class_scores import partial_predictions, singletons
from leavezero.leave_one_out._loo_method import LeaveOneOutMethod, LOOPredictions, MethodName
from leavezero.leave_one_out._newton import rotate_to_square
from leavezero.leave_one_out._training_data import (
    MAX_CELLS,
    TOO_LARGE,
    class_codes,
    mismatch_error,
    nearly_equal,
    row_weights,
    to_dense,
    training_rows,
)

BALANCED_LABELS = "one row changes the balanced weights of several labels"
CLOSED_SOLVERS = ("svd", "cholesky")
MIN_SINGULAR_VALUE = 1e-10  # relative to the largest
NO_REMAINDER, MIN_REMAINDER = 1e-13, 1e-7  # of 1 - h_i: zero; too small to divide by


class _LeastSquaresMethod(LeaveOneOutMethod):
    """Parameters that both methods share."""

    def unsupported_reason(self, estimator: Any) -> str | None:
        """Return why signed coefficients are not supported."""
        if estimator.positive:
            return "with positive=True leaving out a row may change which coefficients are zero"
        return None


class RidgeMethod(_LeastSquaresMethod):
    """LinearRegression and Ridge, one or several targets, with weights.

    Collinear columns are supported for LinearRegression: its solution of least norm has a closed
    form, too. Solvers that stop before the minimum make the predictions approximate.
    """

    name = "ridge"
    estimator_types = (LinearRegression, Ridge)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        return self.predict_many([model], X, y, sample_weight)[0]

    def predict_many(
        self, models: Sequence[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[LOOPredictions]:
        """Return the predictions of several models from one decomposition of X."""
        decompositions: dict[bool, _Decomposition] = {}
        results = []
        for model in models:
            self.check_supported(model)
            rows = training_rows(model, X)
            weights = row_weights(sample_weight, rows.shape[0])
            targets = np.asarray(y, dtype=np.float64)
            if len(targets) != rows.shape[0]:
                raise mismatch_error(model, f"X has {rows.shape[0]} rows, y {len(targets)}")
            if _is_too_large(rows):
                results.append(LOOPredictions("exact", {}, unreliable=TOO_LARGE))
                continue
            intercept = bool(model.fit_intercept)
            if intercept not in decompositions:
                columns = targets.reshape(len(targets), -1)
                decompositions[intercept] = _decompose(rows, columns, weights, intercept)
            fit = _RidgeFit.from_model(model, decompositions[intercept])
            fitted = np.asarray(model.predict(X))
            columns = fitted.reshape(len(fitted), -1)
            method, reason = _check_fit(model, fit, columns, sparse.issparse(rows))
            scores, has_prediction = fit.loo_predictions(columns)
            predictions = {"predict": scores.reshape(fitted.shape)}
            results.append(partial_predictions(method, predictions, has_prediction, reason))
        return results


class RidgeClassifierMethod(_LeastSquaresMethod):
    """RidgeClassifier with two or more classes or several labels, with weights.

    Balanced class weights change when a row is left out, in the same way for all rows of a class:
    one decomposition per class gives exact predictions.
    """

    name = "ridge classifier"
    estimator_types = (RidgeClassifier,)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        rows, labels = training_rows(model, X), np.asarray(y)
        n_rows = rows.shape[0]
        multilabel = labels.ndim == 2 and labels.shape[1] > 1
        codes = np.zeros(n_rows, np.intp) if multilabel else class_codes(model, y, n_rows)
        balanced = model.class_weight == "balanced"
        if _is_too_large(rows):
            return LOOPredictions("exact", {}, unreliable=TOO_LARGE)
        if multilabel and balanced:
            return LOOPredictions("exact", {}, unreliable=BALANCED_LABELS)
        binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
        targets = np.asarray(binarizer.fit_transform(labels), dtype=np.float64)
        weights = row_weights(sample_weight, n_rows)
        decision = np.asarray(model.decision_function(X))
        columns = decision.reshape(n_rows, -1)
        all_weights = weights
        if model.class_weight is not None:
            all_weights = weights * compute_sample_weight(model.class_weight, labels)
        fit = _RidgeFit.from_rows(model, rows, targets, all_weights)
        method, reason = _check_fit(model, fit, columns, sparse.issparse(rows))
        if balanced:
            scores, has_prediction = _loo_balanced(model, rows, targets, weights, codes)
        else:
            scores, has_prediction = fit.loo_predictions(columns)
        if multilabel:
            predicted = binarizer.inverse_transform(np.where(scores > 0, 1, -1))
        else:
            has_prediction = has_prediction & _without_own_class(scores, codes)
            by_class = scores if scores.shape[1] > 1 else np.column_stack([-scores, scores])
            predicted = model.classes_.take(by_class.argmax(axis=1))
        predictions = {"decision_function": scores.reshape(decision.shape), "predict": predicted}
        return partial_predictions(method, predictions, has_prediction, reason)


def _is_too_large(X: Any) -> bool:
    return bool(X.shape[0] * min(X.shape) > MAX_CELLS)


@dataclass(frozen=True, eq=False)
class _Decomposition:
    """Weighted and centered least squares, Z = U diag(s) Q'."""

    left: Floats  # U
    values: Floats  # s
    targets: Floats
    centered: Floats  # targets minus their mean, times the roots
    shares: Floats  # of the rows in the means; zero without intercept
    roots: Floats  # of the weights


def _decompose(X: Any, targets: Floats, weights: Floats, fit_intercept: bool) -> _Decomposition:
    if sparse.issparse(X) and X.shape[1] > X.shape[0]:
        X, _ = rotate_to_square(X, np.zeros((0, X.shape[1])))
    X = to_dense(X)
    roots = np.sqrt(weights)
    shares = weights / weights.sum() if fit_intercept else np.zeros(len(weights))
    centered = roots[:, None] * (targets - shares @ targets)
    left, values, _ = linalg.svd(roots[:, None] * (X - shares @ X), full_matrices=False)
    return _Decomposition(left, values, targets, centered, shares, roots)


@dataclass(frozen=True, eq=False)
class _RidgeFit:
    """The fit of one model: a decomposition cut to its rank, and a penalty for each target."""

    left: Floats
    squares: Floats  # of the singular values, one column
    coordinates: Floats  # U' times the centered targets
    alphas: Floats
    data: _Decomposition

    @classmethod
    def from_model(cls, model: Any, data: _Decomposition) -> "_RidgeFit":
        alphas = np.ravel(np.asarray(getattr(model, "alpha", 0.0), dtype=np.float64))
        alphas = np.broadcast_to(alphas, data.targets.shape[1:])
        # LinearRegression reports its rank. Of centered rows the direction of the intercept has
        # a singular value of rounding, which a penalty makes harmless.
        tolerance = (1e-12 if np.any(alphas > 0) else 1e-7) * data.values.max(initial=0.0)
        rank = getattr(model, "rank_", int((data.values > tolerance).sum()))
        left = data.left[:, :rank]
        return cls(left, data.values[:rank, None] ** 2, left.T @ data.centered, alphas, data)

    @classmethod
    def from_rows(cls, model: Any, X: Any, targets: Floats, weights: Floats) -> "_RidgeFit":
        return cls.from_model(model, _decompose(X, targets, weights, model.fit_intercept))

    def fitted(self) -> Floats:
        """Return the fitted values; targets of rows without weight."""
        kept = self.squares / (self.squares + self.alphas)
        residuals = self.data.centered - self.left @ (kept * self.coordinates)
        roots = np.where(self.data.roots == 0, np.inf, self.data.roots)
        return self.data.targets - residuals / roots[:, None]

    def loo_predictions(self, fitted: Floats) -> tuple[Floats, Bools]:
        """Return the predictions without each row, and which of them exist.

        A penalty a takes the share a / (s_j^2 + a) from direction j, in r and in 1 - h. The rest of
        both is zero for a row that alone determines a direction. Without a penalty the limit of
        r / (1 - h) for a -> 0 is then the fit of least norm without the row: the share is a / s_j^2
        in both, and a cancels.
        """
        left_squares = self.left**2
        remainder = (1.0 - self.data.shares - left_squares.sum(axis=1))[:, None]
        alone = remainder < NO_REMAINDER
        taken = self.alphas / (self.squares + self.alphas)
        rest = self.data.centered - self.left @ self.coordinates
        residuals = np.where(alone, 0.0, rest) + self.left @ (taken * self.coordinates)
        remainder = np.where(alone, 0.0, remainder) + left_squares @ taken
        limit = alone & (self.alphas == 0)
        if limit.any():
            scaled = self.left @ (self.coordinates / self.squares)
            residuals = np.where(limit, scaled, residuals)
            remainder = np.where(limit, left_squares @ (1.0 / self.squares), remainder)
        used = self.data.roots[:, None] > 0
        exists = alone | (remainder > MIN_REMAINDER)
        with np.errstate(divide="ignore", invalid="ignore"):
            scores = self.data.targets - residuals / remainder / self.data.roots[:, None]
        scores = np.where(used, scores, fitted)  # rows without weight are not part of the fit
        return np.where(exists, scores, 0.0), np.asarray((exists | ~used).all(axis=1))


def _check_fit(
    model: Any, fit: _RidgeFit, fitted: Floats, is_sparse: bool
) -> tuple[MethodName, str | None]:
    """Return the kind of predictions and why they are unreliable; raise for other rows."""
    values = np.sqrt(fit.squares[:, 0])
    if np.any(fit.alphas == 0) and len(values) and values[-1] < MIN_SINGULAR_VALUE * values[0]:
        # The model's own coefficients are rounding and cannot be compared.
        return "exact", "columns are so close to collinear that results are rounding"
    used = fit.data.roots > 0
    expected = fit.fitted()[used]
    scale = float(np.abs(fit.data.targets).max(initial=0.0))
    solver = getattr(model, "solver_", "lstsq")
    if solver not in CLOSED_SOLVERS and (solver != "lstsq" or is_sparse):
        stopped = np.abs(expected - fitted[used]).max(initial=0.0) > 0.01 * scale
        reason = "the solver stopped early, or the model was fitted to other rows"
        return "approximate", reason if stopped else None
    if not nearly_equal(expected, fitted[used], scale):
        raise mismatch_error(model, "its fitted values would be different")
    return "exact", None


def _loo_balanced(
    model: Any, X: Any, targets: Floats, weights: Floats, codes: Ints
) -> tuple[Floats, Bools]:
    """Return scores without each row, with class weights balanced without it."""
    scores, has_prediction = np.zeros_like(targets), np.zeros(len(codes), dtype=bool)
    counts = np.bincount(codes)
    for code in range(len(counts)):
        left = counts - (np.arange(len(counts)) == code)
        by_class = left.sum() / ((left > 0).sum() * np.maximum(left, 1))
        fit = _RidgeFit.from_rows(model, X, targets, weights * by_class[codes])
        loo_scores, exists = fit.loo_predictions(np.zeros_like(targets))
        own = codes == code
        scores[own] = loo_scores[own]
        has_prediction[own] = (exists & (weights > 0))[own]
    return scores, has_prediction


def _without_own_class(scores: Floats, codes: Ints) -> Bools:
    """Set the lowest score for a class whose only row is left out; return which rows remain."""
    alone = singletons(codes)
    if scores.shape[1] == 1:
        return ~alone
    scores[alone, codes[alone]] = np.finfo(scores.dtype).min
    return np.ones(len(codes), dtype=bool)
