"""The models that are tried, with their grids: built-in ones and those of a grid file."""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from reprlib import repr as short
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import is_classifier, is_regressor
from sklearn.compose import ColumnTransformer
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer, OneHotEncoder
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from skrub import tabular_pipeline

from leavezero._typing import AnyArray
from leavezero.cli._output import TableError, check_name
from leavezero.cli._read_table import column_kind, is_text
from leavezero.report import BASELINE

Grid = Mapping[str, Sequence[Any]]


_C = (0.01, 0.1, 1.0, 10.0, 100.0)
_SVM_GRID: Grid = {"C": (0.1, 1.0, 10.0, 100.0), "gamma": ("scale", 0.01, 0.1)}
_KNN_GRID: Grid = {"n_neighbors": (1, 3, 5, 9, 15, 31)}
# with a time budget the candidate after the middle, which is the fastest, is evaluated first
_FOREST_GRID: Grid = {"max_features": (0.5, "sqrt"), "min_samples_leaf": (1, 5)}
_BOOSTING_GRID: Grid = {"learning_rate": (0.05, 0.15), "max_leaf_nodes": (7, 31)}
_LIGHTGBM_GRID: Grid = {"learning_rate": (0.05, 0.15), "num_leaves": (7, 31)}
_TREE_GRID: Grid = {"max_depth": (3, 6, None), "min_samples_leaf": (1, 5, 20)}
_BOOSTING: dict[str, Any] = {
    "max_iter": 150,
    "early_stopping": False,  # it would hold rows out
    "categorical_features": "from_dtype",
}
_LIGHTGBM: dict[str, Any] = {"n_estimators": 150, "n_jobs": 1, "verbose": -1}
_MANY = 40  # categories; skrub encodes up to as many by indicators
_CODES: dict[str, Any] = {  # categories that occur once stand for those that do not occur
    "handle_unknown": "infrequent_if_exist",
    "min_frequency": 2,
    "max_categories": 128,
    "dtype": "float32",
    "sparse_output": False,
}


@dataclass(frozen=True)
class ModelSpec:
    """An estimator, its grid, and the number of rows up to which it is tried by default."""

    make: Callable[[], Any]
    grid: Grid
    max_rows: int | None = None


def _lightgbm(name: str) -> Any:
    return getattr(import_module("lightgbm"), name)(**_LIGHTGBM)


# with a time budget the first ones are evaluated first: fast and strong models
MODELS: dict[str, dict[str, ModelSpec]] = {
    "classification": {
        "linear": ModelSpec(partial(LogisticRegression, max_iter=1_000), {"C": _C}),
        "boosting": ModelSpec(partial(HistGradientBoostingClassifier, **_BOOSTING), _BOOSTING_GRID),
        "lightgbm": ModelSpec(partial(_lightgbm, "LGBMClassifier"), _LIGHTGBM_GRID),
        "forest": ModelSpec(partial(RandomForestClassifier, 200), _FOREST_GRID, 100_000),
        "bayes": ModelSpec(GaussianNB, {"var_smoothing": (1e-9, 1e-3, 1e-1)}),
        "tree": ModelSpec(DecisionTreeClassifier, _TREE_GRID),
        "knn": ModelSpec(KNeighborsClassifier, _KNN_GRID, 50_000),
        "svm": ModelSpec(SVC, _SVM_GRID, 5_000),
    },
    "regression": {
        "linear": ModelSpec(Ridge, {"alpha": _C}),
        "boosting": ModelSpec(partial(HistGradientBoostingRegressor, **_BOOSTING), _BOOSTING_GRID),
        "lightgbm": ModelSpec(partial(_lightgbm, "LGBMRegressor"), _LIGHTGBM_GRID),
        "forest": ModelSpec(partial(RandomForestRegressor, 200), _FOREST_GRID, 100_000),
        "bayes": ModelSpec(BayesianRidge, {}),
        "tree": ModelSpec(DecisionTreeRegressor, _TREE_GRID),
        "knn": ModelSpec(KNeighborsRegressor, _KNN_GRID, 50_000),
        "svm": ModelSpec(SVR, _SVM_GRID, 5_000),
    },
}


def build_candidates(
    X: Any,
    task: str,
    y: AnyArray,
    *,
    models: Sequence[str] = (),
    own: Mapping[str, ModelSpec] | None = None,
    seed: int = 0,
) -> tuple[dict[str, tuple[Any, dict[str, list[Any]]]], list[str]]:
    """Return a pipeline and a grid for each model, and notices on models that are left out.

    Without ``models`` these are the user's own or, if there are none, all built-in ones that the
    number of rows allows. A baseline that ignores X is always among them.
    """
    known = {
        name: spec
        for name, spec in MODELS[task].items()
        if name != "lightgbm" or find_spec("lightgbm") is not None
    }
    chosen, notices = dict(own or {}), []
    for name in models or (() if own else known):
        check_name(name, known, "--models must name models")
        limit = known[name].max_rows
        if not models and limit is not None and len(y) > limit:
            notices.append(
                f"{name} is left out, because it takes much time and memory with more than "
                f"{limit:,} rows. Name it in --models to try it."
            )
        else:
            chosen.setdefault(name, known[name])
    built = {name: _build(spec, X, y, seed) for name, spec in chosen.items()}
    dummy = DummyClassifier(strategy="prior") if task == "classification" else DummyRegressor()
    return {BASELINE: (Pipeline([("model", dummy)]), {})} | built, notices


def read_grid_file(path: Path, task: str) -> dict[str, ModelSpec]:
    """Return the models of a TOML file, which has one table per model.

    A table named as a built-in model replaces its ``grid`` and sets ``params``; any other table
    names an ``estimator`` by its import path.
    """
    try:
        tables = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise TableError(f"--grid {str(path)!r} cannot be read: {error.strerror}.") from error
    except (ValueError, RecursionError) as error:  # also of encodings and numbers
        raise TableError(f"--grid {path} is not valid TOML: {error}.") from error
    if not tables:
        raise TableError(f"--grid {path} names no model. Add [linear] and grid = {{C = [1]}}.")
    return {name: _read_spec(name, table, task, path) for name, table in tables.items()}


def _build(spec: ModelSpec, X: Any, y: AnyArray, seed: int) -> tuple[Any, dict[str, list[Any]]]:
    model, grid = spec.make(), dict(spec.grid)
    if spec is MODELS["regression"]["svm"]:
        scale = float(f"{np.std(y):.2g}")  # C and epsilon are in units of the target
        model.set_params(epsilon=0.1 * scale)
        grid["C"] = [value * scale for value in grid["C"]]
    if "n_neighbors" in grid:
        grid["n_neighbors"] = [k for k in grid["n_neighbors"] if k < len(y)]
    pipeline = _make_pipeline(model, X)
    # both searches of a comparison fit the same models, and candidates share fitted steps
    unset = [
        name
        for name, value in pipeline.get_params().items()
        if name.rpartition("__")[2] == "random_state" and value is None
    ]
    pipeline.set_params(**dict.fromkeys(unset, seed))
    return pipeline, {f"model__{name}": list(values) for name, values in grid.items()}


def _make_pipeline(model: Any, X: Any) -> Pipeline:
    """Return skrub's pipeline for a model; numeric columns of X bypass its vectorizer."""
    # X is cleaned already, and the vectorizer takes milliseconds per column and call.
    (_, vectorizer), *others = tabular_pipeline(model).steps[:-1]
    names = [name for name in X.columns if not pd.api.types.is_numeric_dtype(X[name].dtype)]
    codes = [name for name in names if "squashingscaler" in dict(others) and _has_codes(X[name])]
    columns = [
        ("vectorize", vectorizer, [name for name in names if name not in codes]),
        ("encode", OneHotEncoder(**_CODES), codes),
    ]
    steps = list(others)
    if names:
        used = [part for part in columns if part[2]]
        transformer = ColumnTransformer(used, remainder="passthrough")
        steps.insert(0, ("columns", transformer.set_output(transform="pandas")))
    if type(model).__module__.startswith("lightgbm"):
        steps.append(("array", FunctionTransformer(np.asarray)))  # it rejects some column names
    return Pipeline([*steps, ("model", model)])


def _has_codes(column: Any) -> bool:
    """Return whether a column has many categories that are repeated and are not text.

    skrub describes these by parts of the strings. A linear function of such parts may have any
    value for a category that the training data do not have.
    """
    if column_kind(column) != "string":
        return False
    return _MANY < column.nunique() <= len(column) / 3 and not is_text(column)


def _read_spec(name: str, table: Any, task: str, path: Path) -> ModelSpec:
    where = f"[{name}] in {path}"
    if not isinstance(table, dict) or not set(table) <= {"estimator", "grid", "params"}:
        raise TableError(f"{where} must be a table of estimator, grid, params, got {short(table)}.")
    grid, params = table.get("grid", {}), table.get("params", {})
    if not isinstance(grid, dict) or not all(isinstance(v, list) and v for v in grid.values()):
        raise TableError(f"grid of {where} must have a list for each parameter, got {short(grid)}.")
    if "estimator" not in table and name not in MODELS[task]:
        raise TableError(
            f"{where} is not a built-in model and requires an estimator, such as "
            'estimator = "sklearn.svm.NuSVC".'
        )
    try:
        if "estimator" in table:
            module, _, attribute = str(table["estimator"]).rpartition(".")
            make = getattr(import_module(module), attribute)
            if not isinstance(make, type):  # a file must not call any function, such as sys.exit
                raise TypeError(f"{table['estimator']} is not a class")
            spec = ModelSpec(make, grid)
        else:
            spec = replace(MODELS[task][name], grid=grid or MODELS[task][name].grid)
        model = spec.make().set_params(**params)
        model.set_params(**{one: values[0] for one, values in grid.items()})
    except (ImportError, AttributeError, TypeError, ValueError, SystemExit) as error:
        reason = str(error).rstrip(".")
        raise TableError(
            f"The estimator of {where} cannot be created: {reason}. It must be the import path of "
            'a class, such as "sklearn.svm.NuSVC", and have the parameters in params and grid.'
        ) from error
    fits = is_classifier if task == "classification" else is_regressor
    if not hasattr(model, "fit") or not fits(model):
        raise TableError(f"The estimator of {where} cannot do {task}. Use another, or set --task.")
    return replace(spec, make=lambda: spec.make().set_params(**params))
