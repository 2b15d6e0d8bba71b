"""Logistic regression: approximate leave-one-out by one Newton step."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.families._base import Asked, Family, Unseen
from leavezero.families._doubts import doubt_leverage, doubt_solution
from leavezero.families._fitted_to import (
    TOO_LARGE,
    fitted_codes,
    fitted_rows,
    step_columns,
    too_large,
    with_class_weight,
    with_constant,
)
from leavezero.families._logistic_many import solve_logistic
from leavezero.families._newton import CLOSEST, JITTER, Step, leave_out
from leavezero.families._newton_many import Pairs, leave_out_many
from leavezero.families._together import (
    WhenAsked,
    fit_one,
    hand_on,
    linear_scores,
    scored_labels,
    settings_key,
)
from leavezero.families._wide import Products, products_of

GRADIENT_SOLVERS = ("lbfgs", "newton-cg", "newton-cholesky")


class LogisticFamily(Family):
    """LogisticRegression with a squared penalty or none, two classes or more.

    Class weights are taken as they were in the fit, "balanced" ones too: a fit without the row
    would change them by a share of 1 / n.
    """

    name = "logistic regression"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a LogisticRegression itself, not a subclass."""
        return type(estimator) is LogisticRegression

    def refuses(self, estimator: Any) -> str | None:
        """Return why a penalty or a scheme is not covered."""
        if _penalty(estimator) not in ("l2", None):
            return "one Newton step needs a smooth penalty, and part of this one is l1"
        scheme = getattr(estimator, "multi_class", "deprecated")  # until scikit-learn 1.7
        if scheme not in ("deprecated", "auto"):
            return f"multi_class={scheme!r} is deprecated; leave it to its default"
        return None

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return labels, probabilities and scores, each as if the row were not seen."""
        rows = fitted_rows(model, X)
        return _unseen(model, rows, y, sample_weight, partial(products_of, rows))

    def unseen_many(
        self, models: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Asked]:
        """Return calls that share the products of wide rows, or the steps of all models."""
        rows = fitted_rows(models[0], X)
        products = cache(partial(products_of, rows))
        alone: list[Asked] = [
            partial(_unseen, model, rows, y, sample_weight, products) for model in models
        ]
        if len(models) == 1 or not _in_pairs(models[0], rows):
            return alone
        shared = cache(partial(_steps, models, rows, y, sample_weight))
        return [
            partial(_from_shared, at, model, shared, alone[at]) for at, model in enumerate(models)
        ]

    def shares(self, estimator: Any) -> Any:
        """Return all parameters but C, for the default solver with a squared penalty."""
        scheme = getattr(estimator, "multi_class", "deprecated")  # until scikit-learn 1.7
        smooth = estimator.solver == "lbfgs" and _penalty(estimator) == "l2"
        if not smooth or scheme not in ("deprecated", "auto"):
            return None
        return settings_key(estimator, "C")

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit the weakest penalty plainly, and the others together, to its tolerance or nearer.

        Two classes of rows with few columns are solved by Newton's method, if the weakest penalty
        converges; others from the strongest penalty to the weakest, each from where the last one
        ended. Both this and the plain fit end within the solver's tolerance of the minimum; one
        that does not converge is fitted plainly.
        """
        weakest = max(estimators, key=lambda one: float(one.C))
        others = [one for one in estimators if one is not weakest]
        fit_one(weakest, X, y, sample_weight)
        converged = int(np.max(weakest.n_iter_)) < weakest.max_iter
        if converged and weakest.coef_.dtype == np.float64 and _in_pairs(weakest, X):
            others = _solve_others(weakest, others, fitted_rows(weakest, X), y, sample_weight)
        if others:
            self._walk(others, X, y, sample_weight)

    def _walk(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> None:
        walker = clone(estimators[0]).set_params(warm_start=True)
        for estimator in sorted(estimators, key=lambda one: float(one.C)):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fit_one(walker.set_params(C=estimator.C), X, y, sample_weight)
            if int(np.max(walker.n_iter_)) < walker.max_iter:
                hand_on(walker, estimator)
            else:
                fit_one(estimator, X, y, sample_weight)

    def respond_many(self, models: list[Any], X: Table) -> Sequence[Mapping[str, AnyArray]]:
        """Return labels, probabilities and scores from one product, up to rounding."""
        said = linear_scores(models, X)
        return [_say(model, scores) for model, scores in zip(models, said, strict=True)]


def _in_pairs(model: Any, X: Any) -> bool:
    """Tell whether a fitted model has one score, and its rows few enough columns for all pairs."""
    if sparse.issparse(X) or len(model.coef_) > 1 or model.solver not in GRADIENT_SOLVERS:
        return False
    return Pairs.fit_into_memory(count_rows(X), model.coef_.shape[1] + 1)


def _solve_others(
    fitted: Any, others: list[Any], rows: Floats, y: AnyArray, sample_weight: Any
) -> list[Any]:
    """Hand on solutions for other penalties; return those that have none."""
    codes = fitted_codes(fitted, y, len(rows))
    weights = with_class_weight(fitted, codes, sample_weight, len(rows))
    columns, _, _ = _with_intercept(fitted, rows)
    penalties = np.array([_penalties(one, columns.shape[1]) for one in others])
    found = solve_logistic(Pairs(columns), codes, weights, penalties, fitted.tol)
    for at, one in enumerate(others):
        if found.solved[at] and found.n_steps[at] < one.max_iter:
            learned = {"coef_": found.coefs[at][None, : rows.shape[1]].copy()}
            if one.fit_intercept:
                learned["intercept_"] = found.coefs[at][-1:].copy()
            hand_on(fitted, one, {**learned, "n_iter_": found.n_steps[at : at + 1].copy()})
    return [one for one in others if not hasattr(one, "coef_")]


def _say(model: Any, scores: Floats) -> WhenAsked:
    def chances() -> Floats:
        if scores.shape[1] > 1:
            return np.asarray(softmax(scores, axis=1))
        second = expit(scores[:, 0])
        return np.column_stack([1.0 - second, second])

    return WhenAsked(
        predict=lambda: scored_labels(model, scores),
        predict_proba=chances,
        decision_function=lambda: scores if scores.shape[1] > 1 else scores[:, 0],
    )


def _penalty(model: Any) -> str | None:
    """Return the kind of penalty, said either way (scikit-learn 1.8 deprecated ``penalty``)."""
    if model.penalty != "deprecated":
        return str(model.penalty) if model.penalty is not None else None
    return "l2" if not model.l1_ratio else "l1"


def _strength(model: Any) -> float:
    return 0.0 if _penalty(model) is None else 1.0 / model.C


def _unseen(
    model: Any,
    rows: Any,
    y: AnyArray,
    sample_weight: Floats | None,
    products: Products,
) -> Unseen:
    codes = fitted_codes(model, y, rows.shape[0])
    weights = with_class_weight(model, codes, sample_weight, rows.shape[0])
    n_scores = len(model.coef_)
    if too_large(rows.shape[0], rows.shape[1], n_scores):
        return Unseen("approximate", {}, doubt=TOO_LARGE)
    if n_scores == 1:
        return _binary(model, rows, codes, weights, products)
    if model.solver == "liblinear":  # until scikit-learn 1.7
        return Unseen("approximate", {}, doubt="liblinear fits each class against the rest")
    return _multinomial(model, rows, codes, weights)


def _with_intercept(model: Any, rows: Any) -> tuple[Any, Floats, Floats]:
    """Return the rows with a column for the intercept, the penalties, and the coefficients.

    liblinear takes the intercept for the coefficient of a constant column and penalizes it.
    """
    alone = len(model.coef_) == 1 and _strength(model) > 0.0
    columns, coef = step_columns(rows, model.coef_, alone)
    penalties = np.full(columns.shape[1], _strength(model))
    if not model.fit_intercept:
        return columns, penalties, coef
    constant, strength = 1.0, 0.0
    if model.solver == "liblinear":
        constant, strength = float(model.intercept_scaling), _strength(model)
    return (
        with_constant(columns, constant),
        np.append(penalties, strength),
        np.hstack([coef, model.intercept_[:, None] / constant]),
    )


def _penalties(model: Any, n_columns: int) -> Floats:
    """Return the penalty of each column, that of the intercept last, for a solver by gradients."""
    penalties = np.full(n_columns, _strength(model))
    if model.fit_intercept:
        penalties[-1] = 0.0
    return penalties


@dataclass(frozen=True, eq=False)
class _Steps:
    """What models of the same rows say of them with and without each, a column or line a model."""

    codes: Ints
    total: float  # of the weights
    scores: Floats
    gradients: Floats
    steps: list[Step]


def _steps(models: list[Any], rows: Floats, y: AnyArray, sample_weight: Any) -> _Steps | None:
    """Return the steps of all models; None where each must take its own."""
    codes = fitted_codes(models[0], y, len(rows))
    weights = with_class_weight(models[0], codes, sample_weight, len(rows))
    columns, _, _ = _with_intercept(models[0], rows)
    coefs = np.concatenate([model.coef_ for model in models])
    if models[0].fit_intercept:
        coefs = np.hstack([coefs, [model.intercept_ for model in models]])
    penalties = np.array([_penalties(model, columns.shape[1]) for model in models])
    scores = columns @ coefs.T
    chances = expit(scores)
    first = weights[:, None] * (chances - codes[:, None])
    second = weights[:, None] * chances * (1.0 - chances)
    gradients = first.T @ columns + penalties * coefs
    steps = leave_out_many(Pairs(columns), scores, first, second, penalties, gradients)
    return None if steps is None else _Steps(codes, weights.sum(), scores, gradients, steps)


def _from_shared(at: int, model: Any, shared: Callable[[], _Steps | None], alone: Asked) -> Unseen:
    """Return the answer of one of several models."""
    known = shared()
    if known is None:
        return alone()
    scores, gradient = known.scores[:, at], known.gradients[at]
    return _answer(model, known.steps[at], scores, gradient, known.codes, known.total)


def _binary(model: Any, rows: Any, codes: Ints, weights: Floats, products: Products) -> Unseen:
    columns, penalties, coef = _with_intercept(model, rows)
    scores = columns @ coef[0]
    chances = expit(scores)
    first = weights * (chances - codes)
    second = weights * chances * (1.0 - chances)
    gradient = first @ columns + penalties * coef[0]
    # liblinear's constant column is one of those that count
    known = None if model.solver == "liblinear" else products
    step = leave_out(columns, scores, first, second, penalties, gradient, products=known)
    return _answer(model, step, scores, gradient, codes, weights.sum())


def _answer(
    model: Any, step: Step, scores: Floats, gradient: Floats, codes: Ints, total: float
) -> Unseen:
    apart = bool(np.all((scores > 0) == codes))
    doubt = _doubt(model, (step.decrement, step.leverages), gradient, total, apart)
    positive = expit(step.scores)
    responses = {
        "predict": model.classes_[(step.scores > 0).astype(np.intp)],
        "predict_proba": np.column_stack([1.0 - positive, positive]),
        "decision_function": step.scores,
    }
    return Unseen("approximate", responses, doubt=doubt)


def _multinomial(model: Any, rows: Any, codes: Ints, weights: Floats) -> Unseen:
    """Take the step with a block of classes by classes for each row.

    In place of the scalars of one score stand, for row i with class probabilities p and label t,
    the gradient w (p - t), the Hessian w (diag(p) - pp') and the block A = (I x x') H^-1 (I x x).
    """
    columns, penalties, coef = _with_intercept(model, rows)
    scores = columns @ coef.T
    chances = softmax(scores, axis=1)
    first = chances.copy()
    first[np.arange(len(codes)), codes] -= 1.0
    first *= weights[:, None]
    gradient = first.T @ columns + penalties * coef
    inverse = np.linalg.inv(_hessian(columns, chances, weights, penalties))
    blocks = _blocks(columns, inverse, len(coef))
    curvature = weights[:, None, None] * (
        np.eye(len(coef)) * chances[:, None] - chances[:, :, None] * chances[:, None]
    )
    unseen, leverages = _block_step(scores, first, curvature, blocks)
    decrement = float(gradient.ravel() @ inverse @ gradient.ravel())
    apart = bool(np.all(scores.argmax(axis=1) == codes))
    doubt = _doubt(model, (decrement, leverages), gradient, weights.sum(), apart)
    responses = {
        "predict": model.classes_[unseen.argmax(axis=1)],
        "predict_proba": softmax(unseen, axis=1),
        "decision_function": unseen,
    }
    return Unseen("approximate", responses, doubt=doubt)


def _hessian(columns: Floats, chances: Floats, weights: Floats, penalties: Floats) -> Floats:
    """Return the Hessian over (class, column).

    The same shift of all classes changes no probability, so nothing but the penalty holds it;
    a constant in that direction makes an inverse exist and moves no probability either.
    """
    n_classes, n_columns = chances.shape[1], columns.shape[1]
    hessian = np.empty((n_classes, n_columns, n_classes, n_columns))
    for one in range(n_classes):
        for other in range(one + 1):
            shared = (1.0 if one == other else 0.0) - chances[:, other]
            part = (columns * (weights * chances[:, one] * shared)[:, None]).T @ columns
            hessian[one, :, other] = hessian[other, :, one] = part
    whole = hessian.reshape(n_classes * n_columns, -1)
    scale = max(float(np.trace(whole)) / len(whole), 1e-300)
    at = np.arange(len(whole))
    whole[at, at] += np.tile(penalties, n_classes) + JITTER * scale
    whole += np.kron(np.ones((n_classes, n_classes)), np.eye(n_columns)) * (scale / n_classes)
    return whole


def _blocks(columns: Floats, inverse: Floats, n_classes: int) -> Floats:
    """Return for each row the block of x' (H^-1)_kl x over classes k and l."""
    parts = inverse.reshape(n_classes, columns.shape[1], n_classes, columns.shape[1])
    blocks = np.empty((len(columns), n_classes, n_classes))
    for one in range(n_classes):
        for other in range(one + 1):
            values = np.einsum("ij,ij->i", columns @ parts[one, :, other], columns)
            blocks[:, one, other] = blocks[:, other, one] = values
    return blocks


def _block_step(
    scores: Floats, first: Floats, curvature: Floats, blocks: Floats
) -> tuple[Floats, Floats]:
    """Return scores + A (I - WA)^-1 g for each row, and the largest eigenvalue of WA."""
    products = curvature @ blocks
    leverages = np.abs(np.linalg.eigvals(products)).max(axis=1)
    rest = np.eye(scores.shape[1]) * (1.0 + CLOSEST) - products
    pushed = np.linalg.solve(rest, first[:, :, None])
    return scores + (blocks @ pushed)[:, :, 0], leverages


def _doubt(
    model: Any, step: tuple[float, Floats], gradient: Floats, total: float, apart: bool
) -> str | None:
    decrement, leverages = step
    excess = 0.0  # sag and saga look at the coefficients, liblinear at relative changes
    if model.solver in GRADIENT_SOLVERS:
        excess = float(np.abs(gradient).max()) / (total * max(model.tol, 1e-8))
    elif model.solver == "liblinear" and decrement > 0.5 * gradient.size:
        excess = np.inf
    return doubt_solution(model, decrement, gradient.size, excess) or doubt_leverage(
        leverages, apart
    )


FAMILIES = (LogisticFamily(),)
