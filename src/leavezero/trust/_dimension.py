"""VC dimensions of classifiers that are known, and none that is guessed."""

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
_TREES = (DecisionTreeClassifier, ExtraTreeClassifier)
_FORESTS = (RandomForestClassifier, ExtraTreesClassifier)
_DEEPEST = 60  # a deeper limit is none for any number of rows
_SCALERS = (StandardScaler, MinMaxScaler, MaxAbsScaler, RobustScaler)


def vc_dimension(estimator: Any, n_features: int) -> float | None:
    """Return an upper bound of the VC dimension of a classifier of two classes.

    Linear models have d + 1, Gaussian naive Bayes at most 2 d + 1, quadratic discriminants at most
    the number of monomials of degree two, a support vector machine with a polynomial kernel that of
    its degree, a tree of depth one the largest k with C(k, k // 2) <= 2 d (Gey, arXiv:1203.0193).
    Trees and forests with a limit to their leaves are counted split by split, a vote of T boosted
    models of dimension v has at most 2 (v + 1) (T + 1) log2(e (T + 1)) (Freund and Schapire 1997).
    Neighbours, Gaussian kernels and processes, trees and forests without a limit are infinite. A
    pipeline that only scales columns has the dimension of its last step.

    Parameters
    ----------
    estimator : classifier
        Fitted or not.
    n_features : int
        The number d of columns that it sees, complete numbers all.

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
    if kind is Pipeline:
        return _scaled(estimator, n_features)
    if kind in _LINEAR:
        return n_features + 1
    if kind in _INFINITE:
        return inf
    if kind is GaussianNB:
        return 2 * n_features + 1
    if kind is QuadraticDiscriminantAnalysis:
        return comb(n_features + 2, 2)
    if kind in (SVC, NuSVC):
        return _machine(estimator, n_features)
    if kind in _TREES:
        return _tree(estimator, n_features)
    if kind in _FORESTS:
        return _forest(estimator, n_features)
    return _boosted(estimator, n_features) if kind is AdaBoostClassifier else None


def _scaled(pipeline: Any, n_features: int) -> float | None:
    """Return the last step's dimension if the others only shift and stretch each column."""
    *before, last = (step for _, step in pipeline.steps)
    # Bernoulli naive Bayes has thresholds of its own, which scales would move.
    if isinstance(last, BernoulliNB) or not all(
        type(step) in _SCALERS or step is None or step == "passthrough" for step in before
    ):
        return None
    return vc_dimension(last, n_features)


def _machine(machine: Any, n_features: int) -> float | None:
    degrees = {"linear": 1, "poly": machine.degree}
    degree = degrees.get(machine.kernel) if isinstance(machine.kernel, str) else None
    if degree is not None:
        return comb(n_features + degree, degree)
    return inf if machine.kernel == "rbf" else None


def _tree(tree: Any, n_features: int) -> float | None:
    """Return the dimension of a stump, a bound for so many leaves, or that there is none."""
    if tree.max_depth == 1:
        k = 1
        while comb(k + 1, (k + 1) // 2) <= 2 * n_features:
            k += 1
        return k
    leaves = _leaves(tree)
    if leaves is None:
        return inf if _unpruned(tree) else None
    return _most_rows(lambda m: _log_partitions(m, leaves, n_features) + leaves)


def _forest(forest: Any, n_features: int) -> float | None:
    """Return a bound for the mean of so many trees' leaf values.

    m rows fall into so many patterns of leaves as there are partitions of each tree. Given them,
    the forest is a linear threshold of as many indicators as it has leaves, K in all, with at most
    (e m / K) ** K sign patterns for m >= K.
    """
    leaves = _leaves(forest)
    if leaves is None:
        return inf if _unpruned(forest) else None
    n_trees, total = forest.n_estimators, forest.n_estimators * leaves

    def log_patterns(m: int) -> float:
        signs = total * log2(e * m / total) if m > total else m
        return n_trees * _log_partitions(m, leaves, n_features) + signs

    return _most_rows(log_patterns)


def _boosted(boosted: Any, n_features: int) -> float | None:
    if getattr(boosted, "algorithm", None) == "SAMME.R":  # adds up probabilities: no vote
        return None
    base = DecisionTreeClassifier(max_depth=1) if boosted.estimator is None else boosted.estimator
    one, rounds = vc_dimension(base, n_features), boosted.n_estimators + 1
    if one is None or one < 2 or one == inf:
        return one if one == inf else None
    return int(2 * (one + 1) * rounds * log2(e * rounds))


def _leaves(model: Any) -> int | None:
    """Return the most leaves that a tree may have, None without a limit."""
    deep = model.max_depth is None or model.max_depth > _DEEPEST
    limits = [model.max_leaf_nodes, None if deep else 2**model.max_depth]
    return min((limit for limit in limits if limit is not None), default=None)


def _unpruned(model: Any) -> bool:
    """Tell whether trees may grow until every row has a leaf."""
    grown = model.min_samples_leaf == 1 and model.min_samples_split == 2
    grown = grown and model.min_weight_fraction_leaf == 0
    return bool(grown and model.ccp_alpha == 0 and model.min_impurity_decrease == 0)


def _log_partitions(m: int, leaves: int, n_features: int) -> float:
    """Return log2 of Catalan(L - 1) (d (m - 1)) ** (L - 1).

    There are Catalan(L - 1) shapes with L leaves, and each of the L - 1 splits is one of at most
    d (m - 1) that part m rows.
    """
    log_shapes = (lgamma(2 * leaves - 1) - lgamma(leaves) - lgamma(leaves + 1)) / log(2.0)
    return log_shapes + (leaves - 1) * log2(n_features * max(1, m - 1))


def _most_rows(log_patterns: Callable[[int], float]) -> int:
    """Return the largest m with 2 ** m at most the number of patterns, which grows more slowly."""
    low, high = 1, 2
    while high <= log_patterns(high):
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if middle <= log_patterns(middle) else (low, middle)
    return low
