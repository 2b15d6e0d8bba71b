"""Models along their penalty: ridge, lasso and elastic net, and SMIR."""

import warnings
from collections.abc import Hashable
from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, Ridge, enet_path
from sklearn.utils import check_array

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    Predictions,
    copy_fitted_attributes,
    fit_plainly,
    params_key,
)
from leavezero.semi_supervised import SMIRClassifier, fit_many, predict_proba_many

PATH_TOLERANCE = 0.01  # relative to that of a plain fit, whose last sweep goes far below it


class RidgeGroup(JointFit):
    """Ridge along ``alpha``: plain fits, whose leave-one-out scores share one decomposition."""

    name = "ridge"
    estimator_types = (Ridge,)

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the penalty; None for slow solvers."""
        is_fast = estimator.solver in ("auto", "svd", "cholesky")
        return params_key(estimator, "alpha") if is_fast else None


class ElasticNetPath(JointFit):
    """Lasso and ElasticNet along ``alpha``, each solution the start of the next one.

    Joint and plain fits are both within the solver's tolerance ``tol`` of the minimum.
    """

    name = "elastic net path"
    estimator_types = (Lasso, ElasticNet)
    along = "alpha"

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the penalty."""
        is_cyclic = estimator.selection == "cyclic" and not estimator.warm_start
        is_penalty = isinstance(estimator.alpha, Real) and 0 < float(estimator.alpha) < np.inf
        if not is_cyclic or not is_penalty or not estimator.l1_ratio > 0:
            return None
        return params_key(estimator, self.along)

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit the largest penalty plainly, and the others along a path from there.

        Those for which the path does not converge are fitted plainly, and warn.
        """
        first = fit_plainly(max(estimators, key=self.order), X, y, sample_weight)
        dense = not sparse.issparse(X) and first.coef_.dtype == np.float64 and np.ndim(y) == 1
        others = [estimator for estimator in estimators if estimator is not first]
        if others and dense and int(np.max(first.n_iter_)) < first.max_iter:
            _follow_path(first, others, X, y, sample_weight)
        for other in others:
            if not hasattr(other, "coef_"):
                fit_plainly(other, X, y, sample_weight)
        return JointlyFitted(estimators)


class SMIRPath(JointFit):
    """SMIRClassifier along ``gamma``, ``offset`` and ``prior``.

    Models and predictions equal those of plain fits up to rounding.
    """

    name = "SMIR path"
    estimator_types = (SMIRClassifier,)

    def key(self, estimator: Any) -> Hashable | None:
        """Return the parameters of the kernel."""
        return params_key(estimator, "gamma", "offset", "prior")

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit the models with one decomposition."""
        if sample_weight is not None:
            raise ValueError("SMIRClassifier.fit takes no sample_weight.")
        return JointlyFitted(fit_many(estimators, X, y))

    def predict(self, fitted: JointlyFitted, X: Table, method: str) -> Predictions | None:
        """Return labels or probabilities; the kernel is computed once."""
        probabilities = predict_proba_many(fitted.models, X)
        if method == "predict_proba":
            return probabilities
        pairs = zip(fitted.models, probabilities, strict=True)
        return [model.classes_[values.argmax(axis=1)] for model, values in pairs]


def _follow_path(first: Any, others: list[Any], X: Table, y: AnyArray, sample_weight: Any) -> None:
    """Set the fitted attributes of the models for which the path from the first one converges."""
    rows, targets = check_array(X, dtype=np.float64), np.asarray(y, dtype=np.float64)
    weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)
    # The objective is a mean over the rows, in which weights have the mean 1.
    weights = weights * (len(rows) / weights.sum())
    mean, target_mean = np.zeros(rows.shape[1]), 0.0
    if first.fit_intercept:
        mean, target_mean = weights @ rows / len(rows), weights @ targets / len(rows)
    roots = np.sqrt(weights)
    columns = np.asfortranarray(roots[:, None] * (rows - mean))
    target = roots * (targets - target_mean)
    tall = len(rows) > rows.shape[1]
    alphas = np.unique([float(other.alpha) for other in others])[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the plain fit will warn
        _, coefs, gaps, n_iters = enet_path(
            columns,
            target,
            l1_ratio=first.l1_ratio,  # 1 for Lasso
            alphas=alphas,
            precompute=columns.T @ columns if tall else False,
            Xy=columns.T @ target if tall else None,
            check_input=False,  # else the products are checked again for every penalty
            coef_init=first.coef_.copy(),  # it is overwritten
            return_n_iter=True,
            positive=first.positive,
            tol=PATH_TOLERANCE * first.tol,
            max_iter=first.max_iter,
        )
    for other in others:
        index = int(np.flatnonzero(alphas == float(other.alpha))[0])
        if n_iters[index] < other.max_iter:
            coef = coefs[:, index].copy()
            learned = {"coef_": coef, "dual_gap_": gaps[index], "n_iter_": int(n_iters[index])}
            if other.fit_intercept:
                learned["intercept_"] = target_mean - mean @ coef
            copy_fitted_attributes(first, other, **learned)
