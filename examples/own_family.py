"""
A family of your own
====================

Teach leavezero what an estimator of your own would say of rows it has not seen, and which work
its candidates share. Both are facts about the estimator; ``check_family`` holds them to brute
force.
"""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.utils.validation import check_is_fitted, validate_data

from leavezero import GridSearchLZO
from leavezero.families import Family, Unseen, register_family
from leavezero.testing import check_family

# %%
# An estimator that nobody knows but you: the nearest class mean, drawn towards that of all rows.


class ShrunkenMeans(ClassifierMixin, BaseEstimator):
    """Give a row the class whose mean is nearest; means are drawn towards that of all rows."""

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
        means = shrunken(self.sums_, self.counts_, self.shrinkage)
        distances = ((X[:, None, :] - means) ** 2).sum(axis=2)
        return self.classes_[distances.argmin(axis=1)]


def shrunken(sums, counts, shrinkage):
    """Return the classes' means; the last axis but one is the class."""
    centre = sums.sum(axis=-2, keepdims=True) / counts.sum(axis=-1)[..., None, None]
    return (1 - shrinkage) * sums / counts[..., None] + shrinkage * centre


# %%
# What is known about it. ``unseen`` takes a row out of the sum of its class, which is exact and
# needs no other fit. ``shares`` and ``fit_many`` say that the sums do not depend on the shrinkage:
# all candidates of a grid cost one pass over the rows.


class ShrunkenMeansFamily(Family):
    """A row leaves its class's sum, and with it the mean of all."""

    name = "shrunken means"

    def covers(self, estimator):
        return type(estimator) is ShrunkenMeans

    def refuses(self, estimator):
        return None

    def unseen(self, model, X, y, sample_weight=None):
        X, codes = np.asarray(X, dtype=float), np.searchsorted(model.classes_, y)
        own = codes[:, None] == np.arange(len(model.classes_))
        totals = np.array([X[column].sum(axis=0) for column in own.T])
        if X.shape[1] != model.n_features_in_ or not np.allclose(totals, model.sums_):
            raise ValueError("ShrunkenMeans was not fitted to these rows.")
        sums = model.sums_ - own[:, :, None] * X[:, None, :]
        means = shrunken(sums, model.counts_ - own, model.shrinkage)
        distances = ((X[:, None, :] - means) ** 2).sum(axis=2)
        return Unseen("exact", {"predict": model.classes_[distances.argmin(axis=1)]})

    def shares(self, estimator):
        return "sums"  # all shrinkages have the same sums; None would mean a fit of its own

    def fit_many(self, estimators, X, y, sample_weight=None):
        first, *others = estimators
        first.fit(X, y)
        for other in others:
            for name in ("classes_", "counts_", "sums_", "n_features_in_"):
                setattr(other, name, getattr(first, name))


# %%
# Registered, it is known to every search of this process. ``check_family`` compares what it says
# with fits that leave each row out, and what it fits together with plain fits.

family = register_family(ShrunkenMeansFamily())
check_family(family, [ShrunkenMeans(0.0), ShrunkenMeans(0.5)])

# %%
# A search hears both witnesses now, from one pass over the rows.

X, y = load_wine(return_X_y=True)
search = GridSearchLZO(ShrunkenMeans(), {"shrinkage": [0.0, 0.3, 0.6, 0.9]}, random_state=0)
search.fit((X - X.mean(axis=0)) / X.std(axis=0), y)
print("chosen", search.best_params_)
print("on V       ", np.round(search.cv_results_["mean_augmented_score"], 3))
print("not seen   ", np.round(search.cv_results_["mean_unseen_score"], 3))
print("both heard ", np.round(search.cv_results_["mean_test_score"], 3))
