"""Linear support vector machines of liblinear: one Newton step, or the span rule for the hinge."""

from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.svm import LinearSVC, LinearSVR

from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Family, Unseen
from leavezero.families._doubts import doubt_leverage, doubt_solution
from leavezero.families._fitted_to import (
    TOO_LARGE,
    fitted_codes,
    fitted_numbers,
    fitted_rows,
    fitted_weights,
    step_columns,
    too_large,
    with_class_weight,
    with_constant,
)
from leavezero.families._newton import Step, leave_out
from leavezero.families._wide import Products, products_of

SMOOTH = ("squared_hinge", "squared_epsilon_insensitive")
KINK = "the hinge has no second derivative and liblinear keeps no multipliers for the span rule"


class LinearSVCFamily(Family):
    """LinearSVC with the squared hinge, each class against the rest."""

    name = "linear support vector classifier"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a LinearSVC itself, not a subclass."""
        return type(estimator) is LinearSVC

    def refuses(self, estimator: Any) -> str | None:
        """Return why a loss, a penalty or a scheme is not covered."""
        if estimator.penalty != "l2":
            return "one Newton step needs a smooth penalty, and this one is l1"
        if estimator.multi_class != "ovr":
            return f"multi_class={estimator.multi_class!r} has one loss for all classes"
        return None if estimator.loss in SMOOTH else f"{KINK}; SVC(kernel='linear') does"

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return labels and decision values, each as if the row were not seen."""
        rows = fitted_rows(model, X)
        codes = fitted_codes(model, y, rows.shape[0])
        weights = model.C * with_class_weight(model, codes, sample_weight, rows.shape[0])
        if too_large(rows.shape[0], rows.shape[1]):
            return Unseen("approximate", {}, doubt=TOO_LARGE)
        columns, coefs = _with_intercept(model, rows)
        products = cache(partial(products_of, columns))
        positives = range(1, 2) if len(coefs) == 1 else range(len(coefs))
        steps = [
            _hinge_step(columns, coef, np.where(codes == positive, 1.0, -1.0), weights, products)
            for coef, positive in zip(coefs, positives, strict=True)
        ]
        scores = np.column_stack([step.scores for step, _ in steps])
        apart = bool(np.all(_labels(columns @ coefs.T) == codes))
        nothing = float(weights.sum())
        doubts = [_doubt(model, step, worth > nothing, apart) for step, worth in steps]
        responses = {
            "predict": model.classes_[_labels(scores)],
            "decision_function": scores if len(coefs) > 1 else scores[:, 0],
        }
        return Unseen("approximate", responses, doubt=next(filter(None, doubts), None))


class LinearSVRFamily(Family):
    """LinearSVR with the squared loss outside its tube."""

    name = "linear support vector regression"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a LinearSVR itself, not a subclass."""
        return type(estimator) is LinearSVR

    def refuses(self, estimator: Any) -> str | None:
        """Return why a loss is not covered."""
        return None if estimator.loss in SMOOTH else f"{KINK}; SVR(kernel='linear') does"

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return predictions, each as if the row were not seen."""
        rows = fitted_rows(model, X)
        targets = fitted_numbers(model, y, rows.shape[0])
        weights = model.C * fitted_weights(sample_weight, rows.shape[0])
        if too_large(rows.shape[0], rows.shape[1]):
            return Unseen("approximate", {}, doubt=TOO_LARGE)
        columns, coefs = _with_intercept(model, rows)
        scores = columns @ coefs[0]
        misses = scores - targets
        outside = np.sign(misses) * np.maximum(np.abs(misses) - model.epsilon, 0.0)
        step, worth = _quadratic_step(columns, coefs[0], scores, weights * outside, weights)
        nothing = float(weights @ np.maximum(np.abs(targets) - model.epsilon, 0.0) ** 2)
        doubt = _doubt(model, step, worth > nothing, False)
        return Unseen("approximate", {"predict": step.scores}, doubt=doubt)


def _with_intercept(model: Any, rows: Any) -> tuple[Any, Floats]:
    """Return rows and coefficients; the intercept is one of them, as liblinear penalizes it."""
    columns, coefs = step_columns(rows, np.atleast_2d(model.coef_), True)
    if not model.fit_intercept:
        return columns, coefs
    constant = float(model.intercept_scaling)
    intercepts = np.atleast_1d(model.intercept_)[:, None] / constant
    return with_constant(columns, constant), np.hstack([coefs, intercepts])


def _hinge_step(
    columns: Any, coef: Floats, signs: Floats, weights: Floats, products: Products
) -> tuple[Step, float]:
    scores = columns @ coef
    inside = np.maximum(1.0 - signs * scores, 0.0)
    return _quadratic_step(columns, coef, scores, -weights * signs * inside, weights, products)


def _quadratic_step(
    columns: Any,
    coef: Floats,
    scores: Floats,
    half_slopes: Floats,
    weights: Floats,
    products: Products | None = None,
) -> tuple[Step, float]:
    """Return the step of a loss w z^2, flat where its half slope w z is zero, and the objective.

    The decrement is a share of the objective, because the loss has no unit of its own.
    """
    curvatures = 2.0 * weights * (half_slopes != 0.0)
    penalties = np.ones(columns.shape[1])
    gradient = 2.0 * half_slopes @ columns + coef
    step = leave_out(
        columns,
        scores,
        2.0 * half_slopes,
        curvatures,
        penalties,
        gradient,
        products=products,
    )
    heights = np.divide(half_slopes**2, weights, out=np.zeros(len(weights)), where=weights > 0)
    worth = float(heights.sum() + coef @ coef / 2.0)
    return replace(step, decrement=step.decrement / max(worth, 1e-300)), worth


def _labels(scores: Floats) -> AnyArray:
    if scores.shape[1] == 1:
        return (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(scores.argmax(axis=1))


def _doubt(model: Any, step: Step, worse: bool, apart: bool) -> str | None:
    """Return the doubt; ``worse`` says that the coefficients do worse than none at all.

    liblinear may stop far above the minimum, but never there: then the rows are others.
    """
    excess = np.inf if worse else 0.0
    return doubt_solution(model, step.decrement, 1, excess) or doubt_leverage(step.leverages, apart)


FAMILIES = (LinearSVCFamily(), LinearSVRFamily())
