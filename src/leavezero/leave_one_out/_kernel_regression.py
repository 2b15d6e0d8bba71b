"""Kernel ridge and Gaussian processes: leave-one-out from the inverse of the kernel matrix.

With A = (K + alpha / W)^-1, W the weights, and the dual coefficients a = A y, the leave-one-out
residual of row i is a_i / A_ii (Rasmussen and Williams 2006, equation 5.12).
"""

from typing import Any

import numpy as np
from scipy import linalg, sparse
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import pairwise_kernels

from leavezero._typing import AnyArray, Floats, Table
from leavezero.leave_one_out._loo_method import (
    MAX_CELLS,
    TOO_LARGE,
    LeaveOneOutMethod,
    LOOPredictions,
    mismatch_error,
    nearly_equal,
    reject_weights,
    row_weights,
    to_dense,
)

MIN_RECIPROCAL_CONDITION = 1e-13
SINGULAR = "the kernel matrix is so close to singular that results are determined by rounding"


class KernelRidgeMethod(LeaveOneOutMethod):
    """KernelRidge with any kernel, also precomputed ones, with weights and several targets."""

    name = "kernel ridge"
    estimator_types = (KernelRidge,)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        y = np.asarray(y, dtype=np.float64)
        n_rows = len(y)
        if not _same_rows(model.X_fit_, X):
            raise mismatch_error(model, "its X_fit_ is different")
        weights = row_weights(sample_weight, n_rows)
        if n_rows**2 > MAX_CELLS:
            return LOOPredictions("exact", {}, unreliable=TOO_LARGE)
        kernel, dual = _kernel_matrix(model), model.dual_coef_.reshape(n_rows, -1)
        targets = y.reshape(n_rows, -1)
        alphas = np.broadcast_to(np.ravel(model.alpha).astype(np.float64), targets.shape[1:])
        fitted = kernel @ dual
        diagonals = np.empty_like(targets)
        for alpha in np.unique(alphas):
            diagonal = _inverse_diagonal(kernel, alpha, weights)
            if diagonal is None:
                return LOOPredictions("exact", {}, unreliable=SINGULAR)
            diagonals[:, alphas == alpha] = diagonal[:, None]
        penalized = (alphas * dual).astype(kernel.dtype)
        _check_solution(model, fitted, targets, penalized, weights)
        # Rows without weight are not part of the fit, so that the fit itself is without them.
        scores = np.where(weights[:, None] > 0, targets - dual / diagonals, fitted)
        return LOOPredictions("exact", {"predict": scores.reshape(y.shape)})


def _kernel_matrix(model: Any) -> Floats:
    """Return the kernel between the training rows of a kernel ridge model."""
    if callable(model.kernel):
        params = model.kernel_params or {}
    else:
        params = {"gamma": model.gamma, "degree": model.degree, "coef0": model.coef0}
    kernel = pairwise_kernels(model.X_fit_, metric=model.kernel, filter_params=True, **params)
    return to_dense(kernel)


class GaussianProcessMethod(LeaveOneOutMethod):
    """GaussianProcessRegressor: exact if no kernel parameter was optimized, else approximate."""

    name = "gaussian process"
    estimator_types = (GaussianProcessRegressor,)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        reject_weights(model, sample_weight)
        y = np.asarray(y, dtype=np.float64)
        _check_process_rows(model, X, y)
        targets = y.reshape(len(y), -1)
        inverse = _triangular_inverse(model.L_)
        diagonal = (inverse**2).sum(axis=0)[:, None]
        scores = targets - (inverse.T @ (inverse @ targets)) / diagonal
        if model.normalize_y:
            # The mean without the row is the level; the standard deviation cancels. The rule is
            # linear in y: a level m adds m (1 - the rule for a column of ones).
            means = (targets.sum(axis=0) - targets) / (len(targets) - 1)
            scores += means * (inverse.T @ inverse.sum(axis=1))[:, None] / diagonal
        optimized = model.optimizer is not None and model.kernel_.n_dims > 0
        shape = y.shape[:1] if targets.shape[1] == 1 else y.shape
        return LOOPredictions(
            "approximate" if optimized else "exact",
            {"predict": scores.reshape(shape)},
            unreliable=SINGULAR if _is_near_singular(model.L_, diagonal[:, 0]) else None,
        )


def _same_rows(fitted: Any, X: Table) -> bool:
    """Return True if X equals the rows that a model keeps."""
    if sparse.issparse(fitted) or sparse.issparse(X):
        both = sparse.issparse(fitted) and sparse.issparse(X) and fitted.shape == X.shape
        return bool(both and abs(fitted - X).max() == 0)
    return bool(np.array_equal(np.asarray(fitted), np.asarray(X)))


def _is_near_singular(lower: Floats, inverse_diagonal: Floats) -> bool:
    """Return True if the largest diagonal entries of L L' and its inverse differ too much."""
    largest = (lower**2).sum(axis=1).max() * inverse_diagonal.max()
    return bool(not largest < 1.0 / MIN_RECIPROCAL_CONDITION)


def _triangular_inverse(lower: Floats) -> Floats:
    """Return L^-1; the squares of its columns sum to the diagonal of (L L')^-1."""
    return np.asarray(linalg.lapack.dtrtri(lower, lower=True)[0])


def _check_solution(
    model: Any, fitted: Floats, targets: Floats, penalized: Floats, weights: Floats
) -> None:
    """Raise if W (K a - y) + alpha a, the equation that the fit solves, is not zero."""
    if fitted.shape != targets.shape:
        raise mismatch_error(model, f"y has shape {targets.shape}, not {fitted.shape}")
    residual = weights[:, None] * (fitted - targets) + penalized
    scale = max(float(np.abs(part).max(initial=0.0)) for part in (fitted, targets, penalized))
    scale *= float(weights.max(initial=0.0))
    if not nearly_equal(residual, np.zeros_like(penalized), scale):
        raise mismatch_error(model, "its dual_coef_ would be different")


def _inverse_diagonal(kernel: Floats, alpha: float, weights: Floats) -> Floats | None:
    """Return the diagonal of (K + alpha / W)^-1, 1 without weight; None if nearly singular."""
    roots = np.sqrt(weights)
    matrix = kernel.copy()  # in single precision, the fit rounds each of these steps, too
    matrix *= np.outer(roots, roots)
    matrix[np.diag_indices_from(matrix)] += alpha
    try:
        lower = linalg.cholesky(matrix.astype(np.float64), lower=True)
    except linalg.LinAlgError:  # the kernel is not positive definite, or alpha is 0
        return None
    diagonal = (_triangular_inverse(lower) ** 2).sum(axis=0)
    if _is_near_singular(lower, diagonal):
        return None
    return np.where(weights > 0, diagonal * weights, 1.0)


def _check_process_rows(model: Any, X: Table, y: Floats) -> None:
    if not hasattr(model, "X_train_"):  # scikit-learn allows predictions from the prior
        raise NotFittedError("GaussianProcessRegressor is not fitted. Call fit first.")
    if not _same_rows(model.X_train_, X):
        raise mismatch_error(model, "its X_train_ is different")
    if model.normalize_y:
        scale = y.std(axis=0)
        y = (y - y.mean(axis=0)) / np.where(scale == 0, 1.0, scale)
    if not nearly_equal(y, np.asarray(model.y_train_), float(np.abs(y).max(initial=0.0))):
        raise mismatch_error(model, "its y_train_ would be different")
