"""Gaussian process regression: leave-one-out from the inverse of the kernel matrix.

With A the inverse of the kernel matrix plus noise, the leave-one-out residual of row i is
(A y)_i / A_ii (Rasmussen and Williams 2006, equation 5.12).
"""

from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError
from sklearn.gaussian_process import GaussianProcessRegressor

from leavezero._typing import AnyArray, Floats, Table
from leavezero.leave_one_out._base import LeaveOneOutMethod, LOOPredictions
from leavezero.leave_one_out._kernel_ridge import (
    SINGULAR,
    is_near_singular,
    same_rows,
    triangular_inverse,
)
from leavezero.leave_one_out._training_data import mismatch_error, nearly_equal, reject_weights


class GaussianProcessMethod(LeaveOneOutMethod):
    """GaussianProcessRegressor: exact if no kernel parameter was optimized, else approximate."""

    name = "gaussian process"
    estimator_types = (GaussianProcessRegressor,)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        reject_weights(model, sample_weight)
        y = np.asarray(y, dtype=np.float64)
        _check_rows(model, X, y)
        targets = y.reshape(len(y), -1)
        inverse = triangular_inverse(model.L_)
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
            unreliable=SINGULAR if is_near_singular(model.L_, diagonal[:, 0]) else None,
        )


def _check_rows(model: Any, X: Table, y: Floats) -> None:
    if not hasattr(model, "X_train_"):  # scikit-learn allows predictions from the prior
        raise NotFittedError("GaussianProcessRegressor is not fitted. Call fit first.")
    if not same_rows(model.X_train_, X):
        raise mismatch_error(model, "its X_train_ is different")
    if model.normalize_y:
        scale = y.std(axis=0)
        y = (y - y.mean(axis=0)) / np.where(scale == 0, 1.0, scale)
    if not nearly_equal(y, np.asarray(model.y_train_), float(np.abs(y).max(initial=0.0))):
        raise mismatch_error(model, "its y_train_ would be different")


METHODS = (GaussianProcessMethod(),)
