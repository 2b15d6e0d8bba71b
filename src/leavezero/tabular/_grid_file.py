"""The user's own candidates, from a TOML file."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast, get_args

from sklearn.base import is_classifier, is_regressor

from leavezero.tabular._errors import TableError
from leavezero.tabular._models import MODELS, RECIPES, Grid, Recipe
from leavezero.tabular._pipelines import Taste
from leavezero.tabular._target import Task
from leavezero.tabular._words import did_you_mean

_KEYS = ("estimator", "params", "grid", "prepare")


def read_grid(path: str | Path, task: Task) -> dict[str, Recipe]:
    r"""Read candidates from a TOML file: a table for each, with ``grid`` and what it is.

    Parameters
    ----------
    path : str or Path
        The file. A table with the name of a curated model has a ``grid`` of its own for it; any
        other names an ``estimator`` by its address, such as ``sklearn.svm.NuSVC``, with ``params``
        that are fixed, a ``grid``, and ``prepare``: "words", "scaled", "plain" or "native".
    task : "classification" or "regression"
        What the estimators must be.

    Returns
    -------
    dict of str to Recipe

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import read_grid
    >>> path = Path(tempfile.mkdtemp()) / "grid.toml"
    >>> _ = path.write_text("[linear]\ngrid = {C = [1, 2]}")
    >>> read_grid(path, "classification")["linear"].grid
    {'C': [1, 2]}
    """
    try:
        tables = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise TableError(f"There is no file {str(path)!r}, which --grid names.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise TableError(f"{path} is no TOML: {error}.") from error
    if not tables:
        raise TableError(
            f"{path} names no candidate. Write [linear] and a line grid = {{C = [1]}}."
        )
    return {name: _recipe(name, table, task, path) for name, table in tables.items()}


def _recipe(name: str, table: Any, task: Task, path: str | Path) -> Recipe:
    if not isinstance(table, Mapping):
        raise TableError(f"{name!r} in {path} must be a table. Write [{name}] above its lines.")
    for key in table:
        if key not in _KEYS:
            raise TableError(
                f"[{name}] in {path} has an unknown key {key!r}. {did_you_mean(key, _KEYS)}"
            )
    grid = _grid(name, table.get("grid", {}), path)
    if "estimator" not in table:
        if name not in MODELS:
            raise TableError(
                f"[{name}] in {path} is no curated model and names no estimator. Add a line such "
                'as estimator = "sklearn.svm.NuSVC".'
            )
        curated = replace(RECIPES[task][name], grid=grid)
        return _checked(_with_params(curated, table), name, task, path)
    taste = table.get("prepare", "scaled")
    if taste not in get_args(Taste):
        raise TableError(
            f"prepare of [{name}] in {path} must be one of {', '.join(get_args(Taste))}, "
            f"got {taste!r}."
        )
    made = Recipe(_class(name, table["estimator"], path), cast(Taste, taste), grid)
    return _checked(_with_params(made, table), name, task, path)


def _grid(name: str, grid: Any, path: str | Path) -> Grid:
    if not isinstance(grid, Mapping) or not all(
        isinstance(values, list) and values for values in grid.values()
    ):
        raise TableError(
            f"grid of [{name}] in {path} must give a list for each parameter, got {grid!r}."
        )
    return dict(grid)


def _class(name: str, address: Any, path: str | Path) -> Any:
    module, _, attribute = str(address).rpartition(".")
    try:
        return getattr(import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise TableError(
            f"estimator of [{name}] in {path} must be the address of a class, such as "
            f'"sklearn.svm.NuSVC", got {address!r}.'
        ) from error


def _with_params(recipe: Recipe, table: Mapping[str, Any]) -> Recipe:
    params = dict(table.get("params", {}))
    return replace(recipe, make=partial(_made, recipe.make, params)) if params else recipe


def _made(make: Any, params: dict[str, Any]) -> Any:
    return make().set_params(**params)


def _checked(recipe: Recipe, name: str, task: Task, path: str | Path) -> Recipe:
    """Return the recipe, if its model can be made and does what is asked."""
    try:
        model = recipe.make()
    except (TypeError, ValueError) as error:
        reason = str(error).rstrip(".")
        raise TableError(
            f"The estimator of [{name}] in {path} cannot be made: {reason}."
        ) from error
    fits = is_classifier if task == "classification" else is_regressor
    if not hasattr(model, "fit") or not fits(model):
        raise TableError(
            f"The estimator of [{name}] in {path} does no {task}. Name another, or set --task."
        )
    known = list(model.get_params())
    for parameter in recipe.grid:
        if parameter not in known:
            raise TableError(
                f"grid of [{name}] in {path} names {parameter!r}, which is no parameter of "
                f"{type(model).__name__}. {did_you_mean(parameter, known)}"
            )
    return recipe
