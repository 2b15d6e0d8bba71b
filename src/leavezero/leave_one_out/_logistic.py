"""Logistic regression: approximate leave-one-out by one Newton step."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import LogisticRegression

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.leave_one_out._newton import (
    JITTER,
    MIN_REMAINDER,
    NewtonMethod,
    convergence_reason,
    gradient_excess,
    leverage_reason,
    n_coefs,
    newton_columns,
    newton_step,
    size_reason,
)
from leavezero.leave_one_out._training_data import TrainingData, class_weighted, to_dense

GRADIENT_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")  # stop at a small gradient
BLOCK_CELLS = 2_000_000  # entries of the matrices of classes by classes in memory at a time


class LogisticMethod(NewtonMethod):
    """LogisticRegression with a squared penalty or none, two classes or more.

    Class weights are those of the fit, including balanced ones, which a fit without the row would
    change by a share of 1 / n.
    """

    name = "logistic regression"
    estimator_types = (LogisticRegression,)

    def unsupported_reason(self, estimator: Any) -> str | None:
        """Return why the penalty or the multi-class scheme is not supported."""
        if _penalty(estimator) not in ("l2", None):
            return "one Newton step requires a smooth penalty, got one with an l1 part"
        scheme = getattr(estimator, "multi_class", "deprecated")  # scikit-learn < 1.8
        if scheme not in ("deprecated", "auto"):
            return f"multi_class={scheme!r} is deprecated"
        return None

    def _unavailable_reason(self, model: Any, data: TrainingData) -> str | None:
        if len(model.coef_) > 1 and model.solver == "liblinear":  # scikit-learn < 1.8
            return "liblinear fits each class against the rest"
        return size_reason(model, data.X, len(model.coef_))

    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        step = _multinomial_step if len(model.coef_) > 1 else _binary_step
        return step(model, data.X, data.y, class_weighted(model, data))


def _penalty(model: Any) -> str | None:
    """Return the kind of penalty (scikit-learn 1.8 deprecates the parameter ``penalty``)."""
    if model.penalty != "deprecated":
        return str(model.penalty) if model.penalty is not None else None
    return "l2" if not model.l1_ratio else "l1"


def _strength(model: Any) -> float:
    return 0.0 if _penalty(model) is None else 1.0 / model.C


def _binary_step(
    model: Any, X: Any, codes: Ints, weights: Floats
) -> tuple[dict[str, AnyArray], str | None]:
    liblinear = model.solver == "liblinear"
    X, (coef,), penalties = newton_columns(model, X, model.coef_, _strength(model), liblinear)
    scores = X @ coef
    probabilities = expit(scores)
    slopes = weights * (probabilities - codes)
    curvatures = weights * probabilities * (1.0 - probabilities)
    gradient = slopes @ X + penalties * coef
    step = newton_step(X, scores, slopes, curvatures, penalties, gradient)
    separated = bool(np.all((scores > 0) == codes))
    positive = expit(step.scores)
    predictions = {
        "predict": model.classes_[(step.scores > 0).astype(np.intp)],
        "predict_proba": np.column_stack([1.0 - positive, positive]),
        "decision_function": step.scores,
    }
    reason = _unreliable(model, step.decrement, gradient, weights.sum(), step.leverages, separated)
    return predictions, reason


def _multinomial_step(
    model: Any, X: Any, codes: Ints, weights: Floats
) -> tuple[dict[str, AnyArray], str | None]:
    """Take the Newton step for several classes.

    The scalars of one score are replaced, for a row x with class probabilities p, one-hot label t
    and weight w, by the gradient g = w (p - t), the Hessian W = w (diag(p) - pp') and the matrix A
    of classes by classes with A_km = x' (H^-1)_km x.
    """
    X, coef, penalties = newton_columns(model, to_dense(X), model.coef_, _strength(model))
    n_classes = len(coef)
    scores = X @ coef.T
    probabilities = softmax(scores, axis=1)
    slopes = (probabilities - np.eye(n_classes)[codes]) * weights[:, None]
    gradient = slopes.T @ X + penalties * coef
    inverse = np.linalg.inv(_hessian(X, probabilities, weights, penalties))
    decrement = float(gradient.ravel() @ inverse @ gradient.ravel())
    parts = inverse.reshape(n_classes, X.shape[1], n_classes, X.shape[1])

    loo_scores, leverages = np.empty_like(scores), np.empty(len(codes))
    size = max(1, BLOCK_CELLS // n_classes**2)
    for rows in np.split(np.arange(len(codes)), range(size, len(codes), size)):
        p = probabilities[rows]
        curvatures = np.eye(n_classes) * p[:, None] - p[:, :, None] * p[:, None]
        blocks = _quadratic_forms(X[rows], parts)
        products = (weights[rows, None, None] * curvatures) @ blocks
        leverages[rows] = np.abs(np.linalg.eigvals(products)).max(axis=1)
        remainder = np.eye(n_classes) * (1.0 + MIN_REMAINDER) - products
        moves = blocks @ np.linalg.solve(remainder, slopes[rows, :, None])  # A (I - WA)^-1 g
        loo_scores[rows] = scores[rows] + moves[:, :, 0]

    predictions = {
        "predict": model.classes_[loo_scores.argmax(axis=1)],
        "predict_proba": softmax(loo_scores, axis=1),
        "decision_function": loo_scores,
    }
    separated = bool(np.all(scores.argmax(axis=1) == codes))
    reason = _unreliable(model, decrement, gradient, weights.sum(), leverages, separated)
    return predictions, reason


def _hessian(X: Floats, probabilities: Floats, weights: Floats, penalties: Floats) -> Floats:
    """Return the Hessian over (class, column).

    The same shift of all classes changes no probability, so that only the penalty has a curvature
    in that direction. A constant added there makes the matrix invertible and changes no
    probability either.
    """
    n_classes, n_columns = probabilities.shape[1], X.shape[1]
    hessian = np.empty((n_classes, n_columns, n_classes, n_columns))
    for k in range(n_classes):
        for m in range(k + 1):
            curvatures = weights * probabilities[:, k] * (float(k == m) - probabilities[:, m])
            hessian[k, :, m] = hessian[m, :, k] = (X * curvatures[:, None]).T @ X
    matrix = hessian.reshape(n_classes * n_columns, -1)
    scale = max(float(np.trace(matrix)) / len(matrix), 1e-300)
    matrix[np.diag_indices_from(matrix)] += np.tile(penalties, n_classes) + JITTER * scale
    columns = np.arange(n_columns)
    hessian[:, columns, :, columns] += scale / n_classes
    return matrix


def _quadratic_forms(X: Floats, parts: Floats) -> Floats:
    """Return x' (H^-1)_km x for each row x and classes k and m."""
    n_classes = len(parts)
    forms = np.empty((len(X), n_classes, n_classes))
    for k in range(n_classes):
        for m in range(k + 1):
            forms[:, k, m] = forms[:, m, k] = np.einsum("ij,ij->i", X @ parts[k, :, m], X)
    return forms


def _unreliable(
    model: Any,
    decrement: float,
    gradient: Floats,
    total_weight: float,
    leverages: Floats,
    separated: bool,
) -> str | None:
    decrement /= n_coefs(model)
    excess = 0.0  # sag and saga stop at small changes of coefficients, liblinear at relative ones
    if model.solver in GRADIENT_SOLVERS:
        excess = gradient_excess(model, gradient, total_weight)
    elif model.solver == "liblinear" and decrement > 0.5:
        excess = np.inf
    reason = convergence_reason(model, decrement, excess)
    return reason or leverage_reason(leverages, separated)
