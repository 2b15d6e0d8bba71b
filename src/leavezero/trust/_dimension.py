"""VC dimensions of classifiers that are known, and none that is guessed."""

from math import comb, inf
from typing import Any

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier

_LINEAR = (
    LogisticRegression,
    LinearSVC,
    LinearDiscriminantAnalysis,
    RidgeClassifier,
    SGDClassifier,
    Perceptron,
    BernoulliNB,
    MultinomialNB,
)
_INFINITE = (KNeighborsClassifier, RadiusNeighborsClassifier, GaussianProcessClassifier)


def vc_dimension(estimator: Any, n_features: int) -> float | None:
    """Return an upper bound of the VC dimension of a classifier of two classes.

    Linear models have d + 1, Gaussian naive Bayes at most 2 d + 1, quadratic discriminants at most
    the number of monomials of degree two, a support vector machine with a polynomial kernel that of
    its degree, a tree of depth one the largest k with C(k, k // 2) <= 2 d (Gey, arXiv:1203.0193).
    Neighbours, Gaussian kernels, Gaussian processes and trees without a limit are infinite.

    Parameters
    ----------
    estimator : classifier
        Fitted or not.
    n_features : int
        The number d of columns that it sees.

    Returns
    -------
    float or None
        Infinite where it is; None where it is not known: no number is guessed.

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neural_network import MLPClassifier
    >>> from leavezero.trust import vc_dimension
    >>> vc_dimension(LogisticRegression(), 20), vc_dimension(MLPClassifier(), 20)
    (21, None)
    """
    kind = type(estimator)
    if kind in _LINEAR:
        return n_features + 1
    if kind in _INFINITE:
        return inf
    if kind is GaussianNB:
        return 2 * n_features + 1
    if kind is QuadraticDiscriminantAnalysis:
        return comb(n_features + 2, 2)
    if kind in (SVC, NuSVC):
        degrees = {"linear": 1, "poly": estimator.degree}
        degree = degrees.get(estimator.kernel) if isinstance(estimator.kernel, str) else None
        if degree is not None:
            return comb(n_features + degree, degree)
        return inf if estimator.kernel == "rbf" else None
    if kind is DecisionTreeClassifier:
        return _tree(estimator, n_features)
    return None


def _tree(tree: Any, n_features: int) -> float | None:
    """Return the dimension of a stump, or of a tree that may grow until it is pure."""
    if tree.max_depth == 1:
        k = 1
        while comb(k + 1, (k + 1) // 2) <= 2 * n_features:
            k += 1
        return k
    free = tree.max_depth is None and tree.max_leaf_nodes is None
    unpruned = tree.min_samples_leaf == 1 and tree.min_samples_split == 2
    unpruned = unpruned and tree.ccp_alpha == 0 and tree.min_impurity_decrease == 0
    return inf if free and unpruned else None
