"""The curated candidates: models that most tables should be tried with, and small grids."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import SVC, SVR
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from leavezero.tabular._errors import TableError
from leavezero.tabular._pipelines import Taste, make_pipeline_for
from leavezero.tabular._schema import Schema
from leavezero.tabular._target import Target, Task
from leavezero.tabular._words import did_you_mean

Grid = Mapping[str, Sequence[Any]]

_C = (0.01, 0.1, 1.0, 10.0, 100.0)
_SVM_C = (0.1, 1.0, 10.0, 100.0)
_GAMMA = ("scale", 0.01, 0.1)
_FOREST: Grid = {"max_features": ("sqrt", 0.5), "min_samples_leaf": (1, 5)}
_BOOSTING: Grid = {"learning_rate": (0.05, 0.15), "max_leaf_nodes": (7, 31)}
_TREE: Grid = {"max_depth": (3, 6, None), "min_samples_leaf": (1, 5, 20)}
_BOOSTED: dict[str, Any] = {"max_iter": 150, "early_stopping": False}  # it would hold rows back


@dataclass(frozen=True)
class Recipe:
    """A model, what it likes to eat, its grid, and up to how many rows it is tried unasked.

    Examples
    --------
    >>> from leavezero.tabular._models import RECIPES
    >>> RECIPES["classification"]["boosting"].taste
    'native'
    """

    make: Callable[[], Any]
    taste: Taste
    grid: Grid
    most_rows: int | None = None


RECIPES: dict[Task, dict[str, Recipe]] = {
    "classification": {
        "linear": Recipe(lambda: LogisticRegression(max_iter=1_000), "words", {"C": _C}),
        "svm": Recipe(SVC, "words", {"C": _SVM_C, "gamma": _GAMMA}, 10_000),
        "forest": Recipe(lambda: RandomForestClassifier(200), "plain", _FOREST),
        "boosting": Recipe(lambda: HistGradientBoostingClassifier(**_BOOSTED), "native", _BOOSTING),
        "knn": Recipe(
            KNeighborsClassifier, "scaled", {"n_neighbors": (1, 3, 5, 9, 15, 31)}, 50_000
        ),
        "bayes": Recipe(GaussianNB, "scaled", {"var_smoothing": (1e-9, 1e-3, 1e-1)}),
        "tree": Recipe(DecisionTreeClassifier, "plain", _TREE),
    },
    "regression": {
        "linear": Recipe(Ridge, "words", {"alpha": _C}),
        "svm": Recipe(SVR, "words", {"C": _SVM_C, "gamma": _GAMMA}, 10_000),
        "forest": Recipe(lambda: RandomForestRegressor(200), "plain", _FOREST),
        "boosting": Recipe(lambda: HistGradientBoostingRegressor(**_BOOSTED), "native", _BOOSTING),
        "knn": Recipe(KNeighborsRegressor, "scaled", {"n_neighbors": (1, 3, 5, 9, 15, 31)}, 50_000),
        "bayes": Recipe(BayesianRidge, "scaled", {}),
        "tree": Recipe(DecisionTreeRegressor, "plain", _TREE),
    },
}
MODELS = tuple(RECIPES["classification"])


def candidates(
    schema: Schema,
    target: Target,
    models: Sequence[str] | None = None,
    own: Mapping[str, Recipe] | None = None,
) -> tuple[dict[str, tuple[Any, dict[str, list[Any]]]], list[str]]:
    """Return what :class:`leavezero.CandidateSearchLZO` compares, and what there is to say.

    Parameters
    ----------
    schema : Schema
        The columns.
    target : Target
        What is to be predicted.
    models : sequence of str or None, default=None
        Names of curated models; None is all that the number of rows allows, or none beside the
        user's own.
    own : mapping of str to Recipe or None, default=None
        The user's own, from a grid file.

    Returns
    -------
    candidates : dict
        Names, each with a pipeline and a grid.
    notices : list of str
        Which models are left out, and why.

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import Schema, candidates, decide_target, describe_columns
    >>> frame = pd.DataFrame({"a": range(20, 0, -1), "y": ["p", "q"] * 10})
    >>> schema = Schema(describe_columns(frame[["a"]]))
    >>> found, notices = candidates(schema, decide_target(frame, "y"), ["linear", "tree"])
    >>> list(found), found["linear"][1]
    (['linear', 'tree'], {'model__C': [0.01, 0.1, 1.0, 10.0, 100.0]})
    """
    known, n_rows = RECIPES[target.task], len(target.values)
    chosen, notices = dict(own or {}), []
    for name in _wanted(models, bool(own)):
        if name not in known:
            raise TableError(
                f"--models names {name!r}, which is unknown. "
                f"{did_you_mean(name, MODELS, len(MODELS))}"
            )
        recipe = known[name]
        if models is None and recipe.most_rows is not None and n_rows > recipe.most_rows:
            notices.append(
                f"{name} is left out: it is slow beyond {recipe.most_rows:,} rows. "
                f"Name it in --models to have it tried."
            )
        else:
            chosen.setdefault(name, recipe)
    return {name: _pair(recipe, schema, target) for name, recipe in chosen.items()}, notices


def _wanted(models: Sequence[str] | None, has_own: bool) -> Sequence[str]:
    if models is None:
        return () if has_own else MODELS
    return models


def _pair(recipe: Recipe, schema: Schema, target: Target) -> tuple[Any, dict[str, list[Any]]]:
    model, grid = recipe.make(), dict(recipe.grid)
    if isinstance(model, SVR) and recipe is RECIPES["regression"]["svm"]:
        scale = float(f"{np.std(target.values):.2g}")
        model = model.set_params(epsilon=0.1 * scale)
        grid["C"] = [value * scale for value in _SVM_C]  # in units of the target
    if "n_neighbors" in grid:
        grid["n_neighbors"] = [k for k in grid["n_neighbors"] if k < len(target.values)]
    pipeline = make_pipeline_for(schema, model, recipe.taste)
    return pipeline, {f"model__{name}": list(values) for name, values in grid.items()}
