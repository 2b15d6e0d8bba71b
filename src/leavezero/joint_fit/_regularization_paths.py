"""Models along their penalty: ridge, lasso and elastic net, and SMIR."""

import warnings
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import ElasticNet, Lasso, Ridge, RidgeClassifier, enet_path
from sklearn.preprocessing import LabelBinarizer
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit._joint_fit import (
    JointFit,
    JointlyFitted,
    copy_fitted_attributes,
    fit_plainly,
    lazy_predictions_in_blocks,
    params_key,
)
from leavezero.semi_supervised import SMIRClassifier, fit_many, predict_proba_many

CLOSED_FORM_SOLVERS = ("auto", "svd", "cholesky")
PATH_TOLERANCE = 0.01  # relative to that of a plain fit, whose last sweep goes far below it
SAME_COEF = 1e-9  # of the largest coefficient: allowed difference between two exact solvers


class RidgePath(JointFit):
    """Ridge and RidgeClassifier along ``alpha``, from one eigendecomposition.

    Coefficients equal those of plain fits to about 1e-9 of the largest one.
    """

    name = "ridge path"
    estimator_types = (Ridge, RidgeClassifier)
    along = "alpha"
    max_candidates = 256

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the penalty."""
        is_closed_form = estimator.solver in CLOSED_FORM_SOLVERS and not estimator.positive
        if not is_closed_form or not _is_penalty(estimator.alpha):
            return None
        return params_key(estimator, self.along)

    def fit(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> JointlyFitted:
        """Fit plainly from the least penalty on until both ways agree, and then decompose.

        Rounding errors are largest for the least penalty: once the decomposition reproduces the
        coefficients of a plain fit, it is as precise for all larger penalties.
        """
        ordered = sorted(estimators, key=self.order)
        decomposition = None
        for index, first in enumerate(ordered):
            fit_plainly(first, X, y, sample_weight)
            if sparse.issparse(X) or first.coef_.dtype != np.float64:
                continue
            if decomposition is None:
                decomposition = _Decomposition.of(first, X, y, sample_weight)
            error = np.abs(decomposition.solve(first, first)[0] - first.coef_).max(initial=0.0)
            if error <= SAME_COEF * np.abs(first.coef_).max(initial=0.0):
                for other in ordered[index + 1 :]:
                    coef, intercept = decomposition.solve(other, first)
                    copy_fitted_attributes(first, other, coef_=coef, intercept_=intercept)
                break
        multilabel = type(estimators[0]) is RidgeClassifier and np.ndim(y) > 1
        return JointlyFitted(estimators, shared=not multilabel)

    def predict(self, fitted: JointlyFitted, X: Table) -> list[Mapping[str, AnyArray]] | None:
        """Return predictions from one matrix product, equal up to rounding."""
        return _linear_predictions(fitted.models, X) if fitted.shared else None


class ElasticNetPath(JointFit):
    """Lasso and ElasticNet along ``alpha``, each solution the start of the next one.

    Joint and plain fits are both within the solver's tolerance ``tol`` of the minimum.
    """

    name = "elastic net path"
    estimator_types = (Lasso, ElasticNet)
    along = "alpha"

    def key(self, estimator: Any) -> Hashable | None:
        """Return all parameters but the penalty."""
        random = estimator.selection != "cyclic" or estimator.warm_start
        if random or not _is_penalty(estimator.alpha) or not _l1_ratio(estimator) > 0:
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

    def predict(self, fitted: JointlyFitted, X: Table) -> list[Mapping[str, AnyArray]] | None:
        """Return predictions from one matrix product, equal up to rounding."""
        return _linear_predictions(fitted.models, X)


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

    def predict(self, fitted: JointlyFitted, X: Table) -> list[Mapping[str, AnyArray]]:
        """Return labels and probabilities; the kernel is computed once."""
        return [
            {"predict": model.classes_[values.argmax(axis=1)], "predict_proba": values}
            for model, values in zip(
                fitted.models, predict_proba_many(fitted.models, X), strict=True
            )
        ]


@dataclass(frozen=True, eq=False)
class _Decomposition:
    """Z'Z = Q diag(s) Q' of centered and weighted rows Z, and the targets t in its directions.

    The coefficients for a penalty p are Q diag(1 / (s + p)) Q'Z't, computed as ``directions``
    diag(1 / (``squares`` + p)) ``coordinates``.
    """

    directions: Floats
    squares: Floats
    coordinates: Floats
    mean: Floats
    target_mean: Floats

    @classmethod
    def of(cls, model: Any, X: Table, y: AnyArray, sample_weight: Any) -> "_Decomposition":
        """Decompose the smaller of Z'Z and ZZ'."""
        rows = check_array(X, dtype=np.float64)
        labels = np.asarray(y)
        weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)
        if type(model) is RidgeClassifier:
            targets = LabelBinarizer(pos_label=1, neg_label=-1).fit_transform(labels)
            if model.class_weight is not None:
                weights = weights * compute_sample_weight(model.class_weight, labels)
        else:
            targets = labels.reshape(len(rows), -1)
        centered, centered_targets, mean, target_mean = _centered(
            rows, np.asarray(targets, dtype=np.float64), weights, model.fit_intercept
        )
        if rows.shape[0] >= rows.shape[1]:
            squares, directions = linalg.eigh(centered.T @ centered)
            coordinates = directions.T @ (centered.T @ centered_targets)
        else:
            squares, left = linalg.eigh(centered @ centered.T)
            directions, coordinates = centered.T @ left, left.T @ centered_targets
        return cls(directions, np.maximum(squares, 0.0), coordinates, mean, target_mean)

    def solve(self, model: Any, like: Any) -> tuple[Floats, Any]:
        """Return coefficients and intercept of a model, in the shapes of another's."""
        scaled = self.coordinates / (self.squares + float(model.alpha))[:, None]
        coef = (self.directions @ scaled).T
        if not model.fit_intercept:
            return coef.reshape(like.coef_.shape), like.intercept_
        intercept = (self.target_mean - self.mean @ coef.T).reshape(np.shape(like.intercept_))
        return coef.reshape(like.coef_.shape), intercept if intercept.ndim else intercept[()]


def _centered(
    rows: Floats, targets: Floats, weights: Floats, fit_intercept: bool
) -> tuple[Floats, Floats, Floats, Floats]:
    """Return rows and targets times root weights, both centered if there is an intercept."""
    mean, target_mean = np.zeros(rows.shape[1]), np.zeros(targets.shape[1])
    if fit_intercept:
        shares = weights / weights.sum()
        mean, target_mean = shares @ rows, shares @ targets
    roots = np.sqrt(weights)[:, None]
    return roots * (rows - mean), roots * (targets - target_mean), mean, target_mean


def _follow_path(first: Any, others: list[Any], X: Table, y: AnyArray, sample_weight: Any) -> None:
    """Set the fitted attributes of the models for which the path from the first one converges."""
    rows, targets = check_array(X, dtype=np.float64), np.asarray(y, dtype=np.float64)[:, None]
    weights = np.ones(len(rows)) if sample_weight is None else np.asarray(sample_weight)
    # The objective is a mean over the rows, in which weights have the mean 1.
    weights = weights * (len(rows) / weights.sum())
    centered, centered_targets, mean, target_mean = _centered(
        rows, targets, weights, first.fit_intercept
    )
    columns, target = np.asfortranarray(centered), np.ascontiguousarray(centered_targets[:, 0])
    tall = len(rows) > rows.shape[1]
    alphas = np.unique([float(other.alpha) for other in others])[::-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the plain fit will warn
        _, coefs, gaps, n_iters = enet_path(
            columns,
            target,
            l1_ratio=_l1_ratio(first),
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
                learned["intercept_"] = (target_mean - mean @ coef)[0]
            copy_fitted_attributes(first, other, **learned)


def _is_penalty(alpha: Any) -> bool:
    """Return True for one positive and finite number, not one per target."""
    return isinstance(alpha, Real) and 0 < float(alpha) < np.inf


def _l1_ratio(model: Any) -> float:
    return 1.0 if type(model) is Lasso else float(model.l1_ratio)


def _linear_predictions(models: list[Any], X: Table) -> list[Mapping[str, AnyArray]]:
    """Return the predictions of linear models from one product with all coefficients."""
    classifier = hasattr(models[0], "classes_")
    coefs = [np.atleast_2d(model.coef_) for model in models]
    ends = np.cumsum([len(coef) for coef in coefs])[:-1]
    weights = np.concatenate(coefs).T
    intercepts = np.concatenate(
        [np.broadcast_to(m.intercept_, len(coef)) for m, coef in zip(models, coefs, strict=True)]
    )

    def predict_block(method: str, block: Table) -> list[AnyArray]:
        rows = check_array(block, accept_sparse="csr", dtype=np.float64)
        scores = np.split(rows @ weights + intercepts, ends, axis=1)
        if classifier and method == "predict":
            return [_labels(*pair) for pair in zip(models, scores, strict=True)]
        # Regression with one target and binary classification return vectors.
        vector = len(coefs[0]) == 1 and (classifier or models[0].coef_.ndim == 1)
        return [part[:, 0].copy() if vector else part.copy() for part in scores]

    methods = ("predict", "decision_function") if classifier else ("predict",)
    return lazy_predictions_in_blocks(len(models), methods, predict_block, X, len(intercepts))


def _labels(model: Any, scores: Floats) -> AnyArray:
    """Return the class with the highest score, or by the sign of the only one."""
    best = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(model.classes_)[best]
