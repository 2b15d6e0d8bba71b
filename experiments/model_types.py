"""Model types of the regret study, each an estimator and a grid that one would search."""

from typing import Any

from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero._typing import Table

ModelType = tuple[Any, dict[str, list[Any]]]  # estimator and grid

# Classifiers with leave-one-out or out-of-bag predictions.
WITH_LOO = ("linear SVM", "RBF SVM", "k-NN", "logistic", "forest", "naive Bayes")

_NEIGHBORS = {"n_neighbors": [1, 3, 5, 9, 15, 25, 41]}
_LEAVES = {"min_samples_leaf": [1, 2, 4, 8, 16, 32]}
_STRENGTHS = [0.1, 1.0, 10.0, 100.0]
_BOOSTING: dict[str, list[Any]] = {"learning_rate": [0.03, 0.1, 0.3], "max_leaf_nodes": [4, 16]}
_BOOSTING_PARAMS = {"max_iter": 40, "min_samples_leaf": 10, "early_stopping": False}


def model_types(kind: str, X: Table) -> dict[str, ModelType]:
    """Return the model types for a kind of data, by name in alphabetical order.

    Parameters
    ----------
    kind : {"classification", "regression", "mixed", "text"}
        Features are expected to be standardized, except for "mixed" tables with categories and
        missing values, which pipelines prepare, and for sparse text features.
    X : table
        The training rows; their number of columns determines the widths of kernels.
    """
    n_columns = X.shape[1]
    found = _regressors(n_columns) if kind == "regression" else _classifiers(n_columns)
    if kind == "text":
        found = {name: found[name] for name in ("k-NN", "linear SVM", "logistic")}
    if kind == "mixed":
        names = ("k-NN", "logistic", "tree", "forest", "boosting")
        found = {name: _with_preprocessing(found[name], X) for name in names}
    return dict(sorted(found.items()))


def _classifiers(n_columns: int) -> dict[str, ModelType]:
    return {
        "k-NN": (KNeighborsClassifier(), _NEIGHBORS),
        "linear SVM": (SVC(kernel="linear"), {"C": [2.0**p for p in range(-7, 6, 2)]}),
        "RBF SVM": (
            SVC(),
            {"C": _STRENGTHS, "gamma": [w / n_columns for w in (1 / 16, 1 / 4, 1.0, 4.0)]},
        ),
        "logistic": (LogisticRegression(max_iter=300), {"C": [10.0**p for p in range(-3, 4)]}),
        "tree": (DecisionTreeClassifier(random_state=0), _LEAVES),
        "forest": (
            RandomForestClassifier(50, random_state=0),
            {"min_samples_leaf": [1, 4, 12], "max_features": ["sqrt", None]},
        ),
        "naive Bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-4, 1e-2, 0.1, 1.0, 10.0]}),
        "boosting": (
            HistGradientBoostingClassifier(**_BOOSTING_PARAMS, random_state=0),
            _BOOSTING,
        ),
        "MLP": (
            MLPClassifier((24,), max_iter=120, learning_rate_init=0.01, random_state=0),
            {"alpha": [1e-4, 0.1, 3.0, 30.0]},
        ),
    }


def _regressors(n_columns: int) -> dict[str, ModelType]:
    return {
        "ridge": (Ridge(), {"alpha": [10.0**p for p in range(-3, 5)]}),
        "k-NN": (KNeighborsRegressor(), _NEIGHBORS),
        "tree": (DecisionTreeRegressor(random_state=0), _LEAVES),
        "forest": (
            RandomForestRegressor(50, random_state=0),
            {"min_samples_leaf": [1, 4, 12], "max_features": ["sqrt", 1.0]},
        ),
        "boosting": (HistGradientBoostingRegressor(**_BOOSTING_PARAMS, random_state=0), _BOOSTING),
        "SVR": (
            SVR(epsilon=0.05),
            {"C": _STRENGTHS, "gamma": [w / n_columns for w in (1 / 16, 1 / 4, 1.0)]},
        ),
    }


def _with_preprocessing(model_type: ModelType, X: Table) -> ModelType:
    """Return a pipeline that fills missing values, standardizes numbers and encodes categories."""
    estimator, grid = model_type
    prepare: Any = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    if hasattr(X, "dtypes"):
        encoder = OneHotEncoder(
            handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=False
        )
        prepare = make_column_transformer(
            (prepare, make_column_selector(dtype_include="number")),
            (encoder, make_column_selector(dtype_exclude="number")),
        )
    pipeline = Pipeline([("prepare", prepare), ("model", estimator)])
    return pipeline, {f"model__{name}": values for name, values in grid.items()}
