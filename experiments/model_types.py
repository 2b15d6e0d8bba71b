"""Model types of the regret study, each an estimator and a grid that one would search."""

from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero._typing import Table

ModelType = tuple[Any, dict[str, list[Any]]]  # estimator and grid

# Ensembles are small, so that folds of all candidates take seconds with 300 rows.
_NEIGHBORS = {"n_neighbors": [1, 3, 5, 9, 15, 25, 41]}
_TREE: dict[str, list[Any]] = {"max_depth": [2, 5, None], "min_samples_leaf": [1, 4, 12, 30]}
_RATES = [0.05, 0.15, 0.4]
_HIST: dict[str, list[Any]] = {
    "max_iter": [15, 40],
    "learning_rate": _RATES,
    "max_leaf_nodes": [3, 10],
}
_HIST_PARAMS = {"min_samples_leaf": 10, "early_stopping": False, "random_state": 0}
_GRADIENT = {"n_estimators": [8, 20, 50], "max_depth": [1, 2, 3, 5]}
_GRADIENT_PARAMS = {"max_features": "sqrt", "random_state": 0}
_LIGHTGBM: dict[str, list[Any]] = {
    "n_estimators": [15, 40],
    "learning_rate": _RATES,
    "num_leaves": [3, 10],
}
_LIGHTGBM_PARAMS: dict[str, Any] = {
    "min_child_samples": 10,
    "n_jobs": 1,
    "verbose": -1,
    "random_state": 0,
}
_MLP: dict[str, list[Any]] = {
    "alpha": [1e-3, 0.1, 1.0, 10.0, 50.0],
    "hidden_layer_sizes": [(8,), (32,)],
}
_MLP_PARAMS = {"max_iter": 60, "learning_rate_init": 0.01, "random_state": 0}


def model_types(task: str, X: Table) -> dict[str, ModelType]:
    """Return the model types by name, in alphabetical order.

    Parameters
    ----------
    task : {"classification", "regression"}
        The kind of target; a regression target is expected to have unit variance.
    X : table
        The training rows. Arrays are expected to be complete and standardized; data frames are
        prepared by pipelines.
    """
    prepare = _preprocessing() if hasattr(X, "dtypes") else None
    prepared: Any = X if prepare is None else prepare.fit_transform(X)
    make = _regressors if task == "regression" else _classifiers
    # As gamma="scale": one over the sum of the variances of the columns.
    found = make(1.0 / max(float(np.var(prepared, axis=0).sum()), 1e-9))
    if prepare is not None:
        found = {name: _in_pipeline(prepare, *pair) for name, pair in found.items()}
    return dict(sorted(found.items()))


def _classifiers(gamma: float) -> dict[str, ModelType]:
    return {
        "k-NN": (KNeighborsClassifier(), _NEIGHBORS),
        "linear SVM": (SVC(kernel="linear"), {"C": [2.0**p for p in range(-7, 6, 2)]}),
        "RBF SVM": (SVC(), _kernel_grid(gamma)),
        "logistic": (LogisticRegression(max_iter=300), {"C": [10.0**p for p in range(-3, 4)]}),
        "tree": (DecisionTreeClassifier(random_state=0), _TREE),
        "forest": (RandomForestClassifier(30, random_state=0), _forest_grid(None)),
        "naive Bayes": (GaussianNB(), {"var_smoothing": [1e-9, 1e-4, 1e-2, 0.1, 1.0, 10.0]}),
        "hist. boosting": (HistGradientBoostingClassifier(**_HIST_PARAMS), _HIST),
        "gradient boosting": (GradientBoostingClassifier(**_GRADIENT_PARAMS), _GRADIENT),
        "LightGBM": (LGBMClassifier(**_LIGHTGBM_PARAMS), _LIGHTGBM),
        "MLP": (MLPClassifier(**_MLP_PARAMS), _MLP),
    }


def _regressors(gamma: float) -> dict[str, ModelType]:
    return {
        "ridge": (Ridge(), {"alpha": [10.0**p for p in range(-3, 5)]}),
        "SVR": (SVR(epsilon=0.05), _kernel_grid(gamma)),
        "k-NN": (KNeighborsRegressor(), _NEIGHBORS),
        "tree": (DecisionTreeRegressor(random_state=0), _TREE),
        "forest": (RandomForestRegressor(30, random_state=0), _forest_grid(1.0)),
        "hist. boosting": (HistGradientBoostingRegressor(**_HIST_PARAMS), _HIST),
        "gradient boosting": (GradientBoostingRegressor(**_GRADIENT_PARAMS), _GRADIENT),
        "LightGBM": (LGBMRegressor(**_LIGHTGBM_PARAMS), _LIGHTGBM),
        "MLP": (MLPRegressor(**_MLP_PARAMS), _MLP),
    }


def _kernel_grid(gamma: float) -> dict[str, list[Any]]:
    return {"C": [0.1, 1.0, 10.0, 100.0], "gamma": [w * gamma for w in (1 / 16, 1 / 2, 2.0)]}


def _forest_grid(all_features: float | None) -> dict[str, list[Any]]:
    return {"min_samples_leaf": [1, 4, 12], "max_features": ["sqrt", all_features]}


def _preprocessing() -> Any:
    """Return a transformer that fills missing values, standardizes and encodes categories."""
    numeric = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    encoder = OneHotEncoder(
        handle_unknown="infrequent_if_exist", min_frequency=2, sparse_output=False
    )
    return make_column_transformer(
        (numeric, make_column_selector(dtype_include="number")),
        (encoder, make_column_selector(dtype_exclude="number")),
    )


def _in_pipeline(prepare: Any, estimator: Any, grid: dict[str, list[Any]]) -> ModelType:
    pipeline = Pipeline([("prepare", prepare), ("model", estimator)])
    return pipeline, {f"model__{name}": values for name, values in grid.items()}
