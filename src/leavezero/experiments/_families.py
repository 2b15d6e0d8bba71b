"""Families of models, each a grid of candidates that one would search over."""

from typing import Any

from sklearn.base import BaseEstimator
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

_LEAVES = (1, 2, 4, 8, 16, 32)
_NEIGHBORS = (1, 3, 5, 9, 15, 25, 41)


def classifier_families(n_columns: int) -> dict[str, list[BaseEstimator]]:
    """Return the candidates of each family of classifiers, for standardised features.

    Parameters
    ----------
    n_columns : int
        The number of features, which sets the widths of kernels.

    Examples
    --------
    >>> from leavezero.experiments import classifier_families
    >>> len(classifier_families(10)["k-NN"])
    7
    """
    return {
        "k-NN": [KNeighborsClassifier(k) for k in _NEIGHBORS],
        "linear SVM": [SVC(kernel="linear", C=2.0**p) for p in (-7, -5, -3, -1, 1, 3, 5)],
        "RBF SVM": [
            SVC(C=strength, gamma=width / n_columns)
            for strength in (0.1, 1.0, 10.0, 100.0)
            for width in (1 / 16, 1 / 4, 1.0, 4.0)
        ],
        "logistic": [LogisticRegression(C=10.0**p, max_iter=300) for p in range(-3, 4)],
        "tree": [DecisionTreeClassifier(min_samples_leaf=k, random_state=0) for k in _LEAVES],
        "forest": [
            RandomForestClassifier(50, min_samples_leaf=k, max_features=m, random_state=0)
            for k in (1, 4, 12)
            for m in ("sqrt", None)
        ],
        "naive Bayes": [GaussianNB(var_smoothing=v) for v in (1e-9, 1e-4, 1e-2, 0.1, 1.0, 10.0)],
        "boosting": [
            HistGradientBoostingClassifier(
                max_iter=40,
                learning_rate=rate,
                max_leaf_nodes=leaves,
                min_samples_leaf=10,
                early_stopping=False,
                random_state=0,
            )
            for rate in (0.03, 0.1, 0.3)
            for leaves in (4, 16)
        ],
        "MLP": [
            MLPClassifier((24,), alpha=a, max_iter=120, learning_rate_init=0.01, random_state=0)
            for a in (1e-4, 0.1, 3.0, 30.0)
        ],
    }


def regressor_families(n_columns: int) -> dict[str, list[BaseEstimator]]:
    """Return the candidates of each family of regressors, for standardised features.

    Parameters
    ----------
    n_columns : int
        The number of features, which sets the widths of kernels.

    Examples
    --------
    >>> from leavezero.experiments import regressor_families
    >>> sorted(regressor_families(10))
    ['SVR', 'boosting', 'forest', 'k-NN', 'ridge', 'tree']
    """
    return {
        "ridge": [Ridge(10.0**p) for p in range(-3, 5)],
        "k-NN": [KNeighborsRegressor(k) for k in _NEIGHBORS],
        "tree": [DecisionTreeRegressor(min_samples_leaf=k, random_state=0) for k in _LEAVES],
        "forest": [
            RandomForestRegressor(50, min_samples_leaf=k, max_features=m, random_state=0)
            for k in (1, 4, 12)
            for m in ("sqrt", 1.0)
        ],
        "boosting": [
            HistGradientBoostingRegressor(
                max_iter=40,
                learning_rate=rate,
                max_leaf_nodes=leaves,
                min_samples_leaf=10,
                early_stopping=False,
                random_state=0,
            )
            for rate in (0.03, 0.1, 0.3)
            for leaves in (4, 16)
        ],
        "SVR": [
            SVR(C=strength, gamma=width / n_columns, epsilon=0.05)
            for strength in (0.1, 1.0, 10.0, 100.0)
            for width in (1 / 16, 1 / 4, 1.0)
        ],
    }


def text_families() -> dict[str, list[Any]]:
    """Return the candidates of each family for sparse counts or TF-IDF features.

    Examples
    --------
    >>> from leavezero.experiments import text_families
    >>> sorted(text_families())
    ['k-NN', 'linear SVM', 'logistic']
    """
    return {
        "k-NN": [KNeighborsClassifier(k) for k in _NEIGHBORS],
        "linear SVM": [SVC(kernel="linear", C=2.0**p) for p in (-7, -5, -3, -1, 1, 3, 5)],
        "logistic": [LogisticRegression(C=10.0**p, max_iter=300) for p in range(-3, 4)],
    }
