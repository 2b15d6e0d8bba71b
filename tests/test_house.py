"""The package as a whole keeps its promises."""

import ast
import dataclasses
import importlib
import inspect
import math
import pkgutil
import re
import subprocess
import sys

import leavezero

# These need no list of parameters. None may be added.
BY_ONE_SENTENCE = {
    "leavezero.experiments.Runnable",  # a protocol, which nobody calls
    "leavezero.search.BaseSearchLZO",  # GridSearchLZO describes what all searches share
}


def public_names():
    """Yield every public name of the package and its rooms."""
    rooms = [leavezero] + [
        importlib.import_module(f"leavezero.{room.name}")
        for room in pkgutil.iter_modules(leavezero.__path__)
        if not room.name.startswith("_")
    ]
    for room in rooms:
        for name in room.__all__:
            yield f"{room.__name__}.{name}", getattr(room, name)


def test_every_public_class_and_function_has_an_example():
    """The doctests run them; engine records that users never meet are excepted."""
    lacking = [
        name
        for name, thing in public_names()
        if (inspect.isclass(thing) or inspect.isfunction(thing))
        and not name.startswith("leavezero.engine.")
        and ">>>" not in (inspect.getdoc(thing) or "")
    ]
    assert lacking == []


def test_every_public_name_is_documented():
    """Constants are exempt by having their type's own docstring."""
    for name, thing in public_names():
        assert inspect.getdoc(thing), name


def described(thing):
    """Return the parameters that a docstring describes, each with what is said of its kind."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}|\Z)",
        inspect.getdoc(thing) or "",
        flags=re.DOTALL | re.MULTILINE,
    )
    found = {}
    for entry in re.findall(r"^(\S.*)$", section[1] if section else "", flags=re.MULTILINE):
        names, _, kind = entry.partition(" : ")
        found |= {name.strip().lstrip("*"): kind for name in names.split(",")}
    return found


def with_parameters():
    """Yield name, parameters and described parameters of everything that users call.

    Records that the package itself makes may have their fields described beside them.
    """
    for name, thing in public_names():
        if name.startswith("leavezero.engine.") or name in BY_ONE_SENTENCE:
            continue
        error = inspect.isclass(thing) and issubclass(thing, Exception)
        record = dataclasses.is_dataclass(thing) and not described(thing)
        if (inspect.isfunction(thing) or inspect.isclass(thing)) and not error and not record:
            yield name, inspect.signature(thing).parameters, described(thing)


def test_every_parameter_is_described():
    """And nothing is described that is no parameter."""
    wrong = {
        name: set(taken) ^ set(told)
        for name, taken, told in with_parameters()
        if set(taken) != set(told)
    }
    assert wrong == {}


def test_documented_defaults_are_those_of_the_signature():
    """Whoever leaves a parameter out gets what was said."""
    wrong = [
        (name, parameter, kind)
        for name, taken, told in with_parameters()
        for parameter, kind in told.items()
        if (said := re.search(r"default=(.*)$", kind))
        and not same_default(said[1], taken[parameter].default)
    ]
    assert wrong == []


def test_parameters_of_estimators_and_functions_say_their_defaults():
    """Records, which are made by the package, are excepted."""
    silent = [
        (name, parameter)
        for name, taken, told in with_parameters()
        for parameter, kind in told.items()
        if kind
        and "default=" not in kind
        and taken[parameter].default is not inspect.Parameter.empty
        and not name.rpartition(".")[2][0].isupper()
    ]
    assert silent == []


def same_default(said, default):
    """Tell whether the words name the value: a literal, nan, or a public constant."""
    if said == "nan":
        return isinstance(default, float) and math.isnan(default)
    try:
        return bool(ast.literal_eval(said) == default)
    except ValueError:
        return any(
            getattr(importlib.import_module(room), said, None) is default
            for room in ("leavezero.trust", "leavezero.experiments")
        )


def test_importing_the_package_needs_none_of_the_extras():
    """numpy, scipy, scikit-learn and joblib are enough."""
    extras = [
        "typer",
        "rich",
        "pandas",
        "pyarrow",
        "jinja2",
        "matplotlib",
        "skops",
        "polars",
        "optuna",
        "lightgbm",
        "xgboost",
    ]
    code = f"import sys; sys.modules.update(dict.fromkeys({extras!r})); import leavezero"
    subprocess.run([sys.executable, "-c", code], check=True)
