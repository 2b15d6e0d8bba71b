"""Least squares with a ridge, lasso or elastic net penalty, or none.

Without an l1 penalty, leave-one-out is exact, from one singular value decomposition: with the hat
matrix H, h_i its diagonal (the leverages) and r_i the residuals, the leave-one-out residual of row
i is r_i / (1 - h_i) (Allen 1974; Golub, Heath and Wahba 1979, equation 2.3).

With an l1 penalty it is approximate: as long as leaving out a row changes no coefficient to or from
zero, the objective is quadratic on the columns with nonzero coefficients, and one Newton step gives
the minimum without the row (Rad and Maleki 2020, section 2.2). scikit-learn's objective is a mean
over the rows, sum_i w_i r_i^2 / (2 sum w) + penalty: without a row the penalty weighs more against
the rest, which the step takes into account.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LassoLars,
    LinearRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils.class_weight import compute_sample_weight

from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.leave_one_out._loo_method import (
    MAX_CELLS,
    TOO_LARGE,
    LeaveOneOutMethod,
    LOOPredictions,
    MethodName,
    OneTargetMethod,
    TrainingData,
    class_codes,
    mismatch_error,
    nearly_equal,
    partial_predictions,
    row_weights,
    singletons,
    to_dense,
    training_rows,
)
from leavezero.leave_one_out._newton import (
    MAX_EXCESS,
    NewtonStep,
    append_constant,
    leverage_reason,
    newton_step,
    rotate_to_square,
)

CLOSED_SOLVERS = ("svd", "cholesky")
MIN_SINGULAR_VALUE = 1e-10  # relative to the largest
NO_REMAINDER, MIN_REMAINDER = 1e-13, 1e-7  # of 1 - h_i: zero; too small to divide by
MAX_CORRELATION = 0.02  # of a column with the residuals
MAX_COLUMNS = 0.5  # with nonzero coefficients, per row


class _LeastSquaresMethod(LeaveOneOutMethod):
    """Parameters that both methods share."""

    def unsupported_reason(self, estimator: Any) -> str | None:
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

    Balanced class weights are those of the fit, which makes the predictions approximate.
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
        if _is_too_large(rows):
            return LOOPredictions("exact", {}, unreliable=TOO_LARGE)
        binarizer = LabelBinarizer(pos_label=1, neg_label=-1)
        targets = np.asarray(binarizer.fit_transform(labels), dtype=np.float64)
        weights = row_weights(sample_weight, n_rows)
        decision = np.asarray(model.decision_function(X))
        columns = decision.reshape(n_rows, -1)
        if model.class_weight is not None:
            weights = weights * compute_sample_weight(model.class_weight, labels)
        data = _decompose(rows, targets, weights, model.fit_intercept)
        fit = _RidgeFit.from_model(model, data)
        method, reason = _check_fit(model, fit, columns, sparse.issparse(rows))
        method = "approximate" if model.class_weight == "balanced" else method
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
    rows = roots[:, None] * (X - shares @ X)
    left, values, _ = linalg.svd(rows, full_matrices=False)
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


def _without_own_class(scores: Floats, codes: Ints) -> Bools:
    """Set the lowest score for a class whose only row is left out; return which rows remain."""
    alone = singletons(codes)
    if scores.shape[1] == 1:
        return ~alone
    scores[alone, codes[alone]] = np.finfo(scores.dtype).min
    return np.ones(len(codes), dtype=bool)


class LassoMethod(OneTargetMethod):
    """Lasso, LassoLars and ElasticNet."""

    name = "lasso"
    estimator_types = (Lasso, LassoLars, ElasticNet)

    def _predict_rows(self, model: Any, data: TrainingData) -> LOOPredictions:
        n_rows, used = len(data.y), np.flatnonzero(model.coef_)
        if max(n_rows, len(used)) * len(used) > MAX_CELLS:
            return LOOPredictions("approximate", {}, unreliable=TOO_LARGE)
        scores = np.asarray(data.X @ model.coef_ + model.intercept_)
        _check_optimality(model, data, scores - data.y)
        step = _step(model, data, used, scores)
        reason = leverage_reason(step.leverages, False)
        if len(used) > MAX_COLUMNS * n_rows:
            reason = (
                f"{len(used)} coefficients are nonzero for {n_rows} rows, and others would be "
                "without a row"
            )
        if int(np.max(model.n_iter_)) >= model.max_iter:
            reason = "the solver has not converged"
        return LOOPredictions("approximate", {"predict": step.scores}, unreliable=reason)


def _penalties(model: Any) -> tuple[float, float]:
    """Return the weights of the l1 norm and of half the squared l2 norm."""
    l1_ratio = float(getattr(model, "l1_ratio", 1.0))
    return model.alpha * l1_ratio, model.alpha * (1.0 - l1_ratio)


def _check_optimality(model: Any, data: TrainingData, errors: Floats) -> None:
    """Raise if a column or the intercept violates the optimality conditions by far.

    No column's |x'r| / sum w may exceed the l1 penalty. The solver's tolerance is relative to the
    targets, and so is ours. The intercept comes from means and is exact up to rounding.
    """
    X, targets, shares = data.X, data.y, data.weights / data.weights.sum()
    l1, l2 = _penalties(model)
    gradient = np.asarray((shares * errors) @ X) + l2 * model.coef_
    excess = (-gradient if model.positive else np.abs(gradient)) - l1
    spread = float(np.sqrt(shares @ (targets - shares @ targets) ** 2))
    squares = X.multiply(X) if sparse.issparse(X) else X * X
    scale = spread * np.sqrt(np.asarray(shares @ squares))
    limit = max(MAX_CORRELATION, MAX_EXCESS * getattr(model, "tol", 0.0)) * scale + 1e-12
    if int(np.max(model.n_iter_)) < model.max_iter and np.any(excess > limit):
        raise mismatch_error(model, "its coefficients do not minimize the loss on them")
    largest = 1.0 + np.abs(targets).max()
    if model.fit_intercept and abs(float(shares @ errors)) > 1e-7 * largest:
        raise mismatch_error(model, "its residuals do not have mean zero on them")


def _step(model: Any, data: TrainingData, used: Ints, scores: Floats) -> NewtonStep:
    """Take the Newton step on the columns with nonzero coefficients."""
    l1, l2 = _penalties(model)
    weights, coef = data.weights, model.coef_[used]
    X, n_columns = data.X[:, used], len(used) + int(model.fit_intercept)
    X = append_constant(X) if model.fit_intercept else X
    if not n_columns:
        return NewtonStep(scores, np.zeros(len(scores)), 0.0)
    gradient, penalties, penalty_gradient = np.zeros((3, n_columns))
    # The l2 penalty of the other rows; the mean weight is used for each row left out.
    penalties[: len(used)] = l2 * float(weights.sum()) * (1.0 - 1.0 / len(weights))
    penalty_gradient[: len(used)] = l1 * np.sign(coef) + l2 * coef
    slopes = weights * (scores - data.y)
    return newton_step(X, scores, slopes, weights, penalties, gradient, penalty_gradient, weights)
