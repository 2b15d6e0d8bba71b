"""Upper bounds of the VC dimension of scikit-learn classifiers."""

from collections.abc import Callable
from math import comb, e, inf, lgamma, log, log2
from typing import Any

from sklearn.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.gaussian_process import GaussianProcessClassifier
from sklearn.linear_model import LogisticRegression, Perceptron, RidgeClassifier, SGDClassifier
from sklearn.naive_bayes import BernoulliNB, GaussianNB, MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler
from sklearn.svm import SVC, LinearSVC, NuSVC
from sklearn.tree import DecisionTreeClassifier, ExtraTreeClassifier

LINEAR = (
    *(LogisticRegression, LinearSVC, LinearDiscriminantAnalysis, RidgeClassifier),
    *(SGDClassifier, Perceptron, BernoulliNB, MultinomialNB),
)
INFINITE = (KNeighborsClassifier, RadiusNeighborsClassifier, GaussianProcessClassifier)
SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)
MAX_DEPTH = 60  # a larger max_depth limits no tree in practice


def vc_dimension(estimator: Any, n_features: int) -> float | None:
    """Return an upper bound of the VC dimension of a binary classifier.

    With d features: linear models d + 1; Gaussian naive Bayes 2 d + 1; quadratic discriminant
    analysis and SVMs with polynomial kernels the number of monomials; trees of depth one the
    largest k with C(k, k // 2) <= 2 d (Gey, arXiv:1203.0193); trees and forests with a limited
    number of leaves by counting splits; AdaBoost of T models of dimension v
    2 (v + 1) (T + 1) log2(e (T + 1)) (Freund and Schapire 1997). Nearest neighbors, Gaussian
    kernels and processes, and unlimited trees and forests have infinite dimension. A pipeline of
    scalers has the dimension of its last step.

    Parameters
    ----------
    estimator : classifier
    n_features : int, the number d of numerical features

    Returns
    -------
    float or None, if no bound is known

    Examples
    --------
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.neural_network import MLPClassifier
    >>> from leavezero.diagnostics import vc_dimension
    >>> vc_dimension(LogisticRegression(), 20), vc_dimension(MLPClassifier(), 20)
    (21, None)
    """
    # Exact types: a subclass may have another decision function.
    kind = type(estimator)
    if kind is Pipeline:
        return _pipeline(estimator, n_features)
    if kind in LINEAR:
        return n_features + 1
    if kind in INFINITE:
        return inf
    if kind is GaussianNB:
        return 2 * n_features + 1
    if kind is QuadraticDiscriminantAnalysis:
        return comb(n_features + 2, 2)
    if kind in (SVC, NuSVC):
        return _svm(estimator, n_features)
    if kind in (DecisionTreeClassifier, ExtraTreeClassifier):
        return _tree(estimator, n_features)
    if kind in (RandomForestClassifier, ExtraTreesClassifier):
        return _forest(estimator, n_features)
    return _ada_boost(estimator, n_features) if kind is AdaBoostClassifier else None


def _pipeline(pipeline: Any, n_features: int) -> float | None:
    """Return the dimension of the last step if the other steps only shift and scale columns."""
    *before, last = (step for _, step in pipeline.steps)
    # BernoulliNB has fixed thresholds, which scaling would move.
    if isinstance(last, BernoulliNB) or not all(
        type(step) in SCALERS or step is None or step == "passthrough" for step in before
    ):
        return None
    return vc_dimension(last, n_features)


def _svm(svm: Any, n_features: int) -> float | None:
    if svm.kernel in ("linear", "poly"):
        degree = 1 if svm.kernel == "linear" else svm.degree
        return comb(n_features + degree, degree)
    return inf if svm.kernel == "rbf" else None


def _tree(tree: Any, n_features: int) -> float | None:
    if tree.max_depth == 1:
        k = 1
        while comb(k + 1, (k + 1) // 2) <= 2 * n_features:
            k += 1
        return k
    leaves = _max_leaves(tree)
    if leaves is None:
        return inf if _is_unlimited(tree) else None
    return _max_shattered(lambda m: _log_partitions(m, leaves, n_features) + leaves)


def _forest(forest: Any, n_features: int) -> float | None:
    """Return a bound for the sign of a mean of leaf values.

    For fixed partitions of m rows by all trees, the forest is a linear threshold function of as
    many indicators as it has leaves, K in all, with at most (e m / K) ** K sign patterns for
    m >= K.
    """
    leaves = _max_leaves(forest)
    if leaves is None:
        return inf if _is_unlimited(forest) else None
    n_trees, total = forest.n_estimators, forest.n_estimators * leaves

    def log_patterns(m: int) -> float:
        signs = total * log2(e * m / total) if m > total else m
        return n_trees * _log_partitions(m, leaves, n_features) + signs

    return _max_shattered(log_patterns)


def _ada_boost(boosting: Any, n_features: int) -> float | None:
    if getattr(boosting, "algorithm", None) == "SAMME.R":  # sums probabilities instead of votes
        return None
    base = DecisionTreeClassifier(max_depth=1) if boosting.estimator is None else boosting.estimator
    dimension, rounds = vc_dimension(base, n_features), boosting.n_estimators + 1
    if dimension is None or dimension == inf:
        return dimension
    # The theorem requires a dimension of at least 2.
    return int(2 * (dimension + 1) * rounds * log2(e * rounds)) if dimension >= 2 else None


def _max_leaves(model: Any) -> int | None:
    """Return the largest possible number of leaves of a tree, None if it is unlimited."""
    deep = model.max_depth is None or model.max_depth > MAX_DEPTH
    limits = [model.max_leaf_nodes, None if deep else 2**model.max_depth]
    return min((limit for limit in limits if limit is not None), default=None)


def _is_unlimited(model: Any) -> bool:
    """Return True if trees grow until every leaf is pure."""
    limits = (model.min_weight_fraction_leaf, model.ccp_alpha, model.min_impurity_decrease)
    return model.min_samples_leaf == 1 and model.min_samples_split == 2 and not any(limits)


def _log_partitions(m: int, leaves: int, n_features: int) -> float:
    """Return log2 of Catalan(L - 1) (d (m - 1)) ** (L - 1), a bound on the partitions of m rows.

    There are Catalan(L - 1) tree shapes with L leaves, and each of the L - 1 splits is one of at
    most d (m - 1).
    """
    log_shapes = (lgamma(2 * leaves - 1) - lgamma(leaves) - lgamma(leaves + 1)) / log(2.0)
    return log_shapes + (leaves - 1) * log2(n_features * max(1, m - 1))


def _max_shattered(log_patterns: Callable[[int], float]) -> int:
    """Return the largest m with m <= log_patterns(m), which grows more slowly than m."""
    low, high = 1, 2
    while high <= log_patterns(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle <= log_patterns(middle) else (low, middle)
    return low
