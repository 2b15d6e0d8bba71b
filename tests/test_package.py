"""Public names, their documentation, and what importing the package requires."""

import ast
import dataclasses
import importlib
import inspect
import math
import re
import subprocess
import sys

import pytest

PACKAGES = [
    "leavezero",
    "leavezero.augment",
    "leavezero.diagnostics",
    "leavezero.exceptions",
    "leavezero.leave_one_out",
    "leavezero.search",
    "leavezero.semi_supervised",
    "leavezero.testing",
    "leavezero.unsupervised",
]
OPTIONAL = [
    *("distributed", "jinja2", "lightgbm", "matplotlib", "optuna", "pandas", "polars", "pyarrow"),
    *("ray", "rich", "skops", "skrub", "typer", "xgboost"),
]


def public_objects():
    """Yield each public class and function once, with the name of its package."""
    seen = set()
    for package in PACKAGES[::-1]:
        module = importlib.import_module(package)
        for name in module.__all__:
            value = getattr(module, name)
            if (inspect.isclass(value) or inspect.isfunction(value)) and name not in seen:
                seen.add(name)
                yield pytest.param(value, id=f"{package}.{name}")


def documented_parameters(value):
    """Return the entries of the section Parameters: what follows the colon, by name."""
    section = re.search(
        r"^Parameters\n-+\n(.*?)(?=^\w[^\n]*\n-{3,}|\Z)",
        inspect.getdoc(value) or "",
        flags=re.DOTALL | re.MULTILINE,
    )
    found = {}
    for entry in re.findall(r"^(\S.*)$", section[1] if section else "", flags=re.MULTILINE):
        names, _, description = entry.partition(" : ")
        found |= {name.strip().lstrip("*"): description for name in names.split(",")}
    return found


def has_parameters(value):
    """Return False for exceptions and for records, which the package makes itself."""
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    is_record = dataclasses.is_dataclass(value) and not documented_parameters(value)
    is_abstract = inspect.isabstract(value) and not documented_parameters(value)
    return not (is_error or is_record or is_abstract)


def equals_default(text, default):
    """Return whether a documented default is the one of the signature."""
    if text == "nan":
        return isinstance(default, float) and math.isnan(default)
    try:
        return bool(ast.literal_eval(text) == default)
    except ValueError:  # the name of a public constant
        diagnostics = importlib.import_module("leavezero.diagnostics")
        return getattr(diagnostics, text, None) is default


@pytest.mark.parametrize("value", list(public_objects()))
def test_documentation(value):
    """Every public object has an example; parameters and defaults match the signature."""
    text = inspect.getdoc(value) or ""
    is_error = inspect.isclass(value) and issubclass(value, Exception)
    assert text
    assert is_error or ">>>" in text
    if not has_parameters(value):
        return
    signature, documented = inspect.signature(value).parameters, documented_parameters(value)
    assert set(signature) == set(documented)
    for name, description in documented.items():
        default = signature[name].default
        given = re.search(r"default=(.*)$", description)
        if given:
            assert equals_default(given[1], default), name
        elif inspect.isfunction(value) and description:
            assert default is inspect.Parameter.empty, name


@pytest.mark.parametrize("package", PACKAGES)
def test_public_names_are_sorted_and_exist(package):
    module = importlib.import_module(package)
    assert inspect.getdoc(module)
    assert len(set(module.__all__)) == len(module.__all__)
    assert all(hasattr(module, name) for name in module.__all__)


def run(code):
    """Run code in a new process and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def test_import_requires_no_optional_package():
    """Only numpy, scipy, scikit-learn and joblib are required."""
    run(f"import sys; sys.modules.update(dict.fromkeys({OPTIONAL!r})); from leavezero import *")


def test_packages_are_imported_at_first_use():
    assert run(f"import leavezero; print({', '.join(PACKAGES)})").count("<module") == len(PACKAGES)


def test_public_names_are_imported_at_first_use():
    """So that the help page of the command line needs no scikit-learn."""
    loaded = "print(*{'sklearn', 'pandas', 'leavezero.search'} & set(sys.modules))"
    assert run(f"import sys, leavezero.cli._commands; {loaded}") == ""
    assert "GridSearchLZO" in run("import leavezero; print(dir(leavezero))")
    # skops looks names of SciPy up in all imported modules
    assert run(f"import sys, leavezero; hasattr(leavezero, 'expit'); {loaded}") == ""
    code = f"import pickle, sys, leavezero; print(leavezero.augment.__name__); {loaded}; "
    code += "print(pickle.dumps(leavezero.GridSearchLZO))"
    augment, search, pickled = run(code).split("\n")
    assert augment == "leavezero.augment"
    assert "leavezero.search" not in search
    assert "leavezero.search._grid" in pickled
    with pytest.raises(AttributeError, match="module 'leavezero' has no attribute 'GridSearch'"):
        importlib.import_module("leavezero").GridSearch  # noqa: B018
