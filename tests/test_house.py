"""The package as a whole keeps its promises."""

import importlib
import inspect
import pkgutil
import subprocess
import sys

import leavezero


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
    ]
    code = f"import sys; sys.modules.update(dict.fromkeys({extras!r})); import leavezero"
    subprocess.run([sys.executable, "-c", code], check=True)
