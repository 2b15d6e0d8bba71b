"""
A leave-one-out method of your own
==================================

Add leave-one-out predictions for an estimator that leavezero does not know. No fit is added:
predictions follow from the fitted model. ``check_leave_one_out`` compares them with refits.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.utils.validation import check_is_fitted, validate_data

from leavezero import GridSearchLZO
from leavezero.leave_one_out import LeaveOneOutMethod, LOOPredictions, register_leave_one_out
from leavezero.testing import check_leave_one_out

# %%
# The estimator: the nearest class mean, with means shrunk towards the mean of all rows.


class ShrunkenMeans(ClassifierMixin, BaseEstimator):
    """Predict the class whose shrunken mean is nearest."""

    def __init__(self, shrinkage=0.0):
        self.shrinkage = shrinkage

    def fit(self, X, y):
        X, y = validate_data(self, X, y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self.counts_ = np.bincount(codes)
        self.sums_ = np.array([X[codes == code].sum(axis=0) for code in range(len(self.counts_))])
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False)
        return self.classes_[nearest(X, shrunken(self.sums_, self.counts_, self.shrinkage))]


def shrunken(sums, counts, shrinkage):
    """Return the means of the classes; the last axis but one is the class."""
    center = sums.sum(axis=-2, keepdims=True) / counts.sum(axis=-1)[..., None, None]
    return (1 - shrinkage) * sums / counts[..., None] + shrinkage * center


def nearest(X, means):
    """Return the index of the nearest mean of each row."""
    return ((X[:, None, :] - means) ** 2).sum(axis=2).argmin(axis=1)


# %%
# Its leave-one-out method: subtract a row from the sum and the count of its class.


class ShrunkenMeansMethod(LeaveOneOutMethod):
    """Exact leave-one-out predictions of ShrunkenMeans."""

    name = "shrunken means"
    estimator_types = (ShrunkenMeans,)

    def _predict(self, model, X, y, sample_weight):
        X = np.asarray(X, dtype=float)
        own = np.asarray(y)[:, None] == model.classes_
        totals = np.array([X[column].sum(axis=0) for column in own.T])
        if totals.shape != model.sums_.shape or not np.allclose(totals, model.sums_):
            raise ValueError("ShrunkenMeans was not fitted to these rows.")
        sums = model.sums_ - own[:, :, None] * X[:, None, :]
        means = shrunken(sums, model.counts_ - own, model.shrinkage)
        return LOOPredictions("exact", {"predict": model.classes_[nearest(X, means)]})


# %%
# Register it for all searches of this process, and compare it with refits without each row. With
# ``n_jobs`` above 1, register in the module that defines the estimator: workers import that module.

method = register_leave_one_out(ShrunkenMeansMethod())
check_leave_one_out(method, ShrunkenMeans(0.5))

# %%
# Searches use it like a built-in method.

X, y = load_wine(return_X_y=True)
search = GridSearchLZO(ShrunkenMeans(), {"shrinkage": [0.0, 0.3, 0.6, 0.9]}, random_state=0)
search.fit((X - X.mean(axis=0)) / X.std(axis=0), y)
print("best:", search.best_params_)
print("validation score:", np.round(search.cv_results_["mean_validation_score"], 3))
print("LOO score:       ", np.round(search.cv_results_["mean_loo_score"], 3))
print("score:           ", np.round(search.cv_results_["mean_test_score"], 3))
