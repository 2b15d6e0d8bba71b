"""Logistic regression, Poisson, gamma and Tweedie regression: approximate by one Newton step."""

from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.linear_model import (
    GammaRegressor,
    LogisticRegression,
    PoissonRegressor,
    TweedieRegressor,
)

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.leave_one_out._loo_method import TrainingData, class_weighted, to_dense
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

GRADIENT_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")  # stop at a small gradient
BLOCK_CELLS = 2_000_000  # entries of the matrices of classes by classes in memory at a time
MAX_LOG_CHANGE = 1.0  # a row whose absence changes its mean by a factor e


class LogisticMethod(NewtonMethod):
    """LogisticRegression with a squared penalty or none, two classes or more.

    Class weights are those of the fit, including balanced ones, which a fit without the row would
    change by a share of 1 / n.
    """

    name = "logistic regression"
    estimator_types = (LogisticRegression,)

    def unsupported_reason(self, estimator: Any) -> str | None:
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
    n_classes, scores = len(coef), X @ coef.T
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


class GLMMethod(NewtonMethod):
    """Poisson, gamma and Tweedie regression with a log or identity link.

    The objective is a weighted mean over the rows plus alpha |b|^2 / 2, so that each row left out
    takes its share of the penalty with it.
    """

    name = "generalized linear model"
    estimator_types = (PoissonRegressor, GammaRegressor, TweedieRegressor)

    def _step(self, model: Any, data: TrainingData) -> tuple[dict[str, AnyArray], str | None]:
        weights, total = data.weights, float(data.weights.sum())
        remaining_penalty = model.alpha * total * (1.0 - 1.0 / len(weights))
        X, (coef,), penalties = newton_columns(model, data.X, model.coef_[None], remaining_penalty)
        penalty_gradient = np.where(penalties > 0, model.alpha * coef, 0.0)
        scores = X @ coef
        log_link = _has_log_link(model)
        slopes, curvatures = _derivatives(_power(model), log_link, scores, data.y)
        gradient = (weights * slopes) @ X + total * penalty_gradient
        step = newton_step(
            X,
            scores,
            weights * slopes,
            weights * curvatures,
            penalties,
            gradient,
            penalty_gradient,
            weights,
        )
        excess = gradient_excess(model, gradient, total)
        # The decrement in units of the slopes' variance, because a deviance has no unit of its own.
        noise = float(np.mean(slopes**2)) / max(float(np.mean(curvatures)), 1e-300) or 1.0
        reason = convergence_reason(model, step.decrement / noise / n_coefs(model), excess)
        changes = np.abs(step.scores - scores).max(initial=0.0)
        if reason is None and log_link and changes > MAX_LOG_CHANGE:
            reason = "leaving out a row changes its predicted mean by more than the factor e"
        means = np.exp(step.scores) if log_link else step.scores
        return {"predict": means}, reason or leverage_reason(step.leverages, False)


def _power(model: Any) -> float:
    return {PoissonRegressor: 1.0, GammaRegressor: 2.0}.get(type(model)) or float(model.power)


def _has_log_link(model: Any) -> bool:
    if type(model) is not TweedieRegressor or model.link == "log":
        return True
    return bool(model.link == "auto" and model.power > 0)


def _derivatives(
    power: float, log_link: bool, scores: Floats, targets: Floats
) -> tuple[Floats, Floats]:
    """Return two derivatives of half the Tweedie deviance with respect to the scores.

    The derivative with respect to the mean m is (m - y) / m^p, p the power. Where the second one is
    not positive, far from the data, its expectation is used.
    """
    means = np.exp(scores) if log_link else scores
    if log_link:
        slopes = (means - targets) * means ** (1.0 - power)
        expected = means ** (2.0 - power)
        curvatures = (2.0 - power) * expected - (1.0 - power) * targets * means ** (1.0 - power)
    else:
        slopes = (means - targets) * means**-power
        expected = means**-power
        curvatures = expected - power * (means - targets) * means ** (-power - 1.0)
    return slopes, np.where(curvatures > 0.0, curvatures, expected)
