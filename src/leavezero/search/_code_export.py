"""A search as Python code that repeats it."""

import inspect
import sys
from collections.abc import Iterator, Sequence
from typing import Any

import numpy
import sklearn

from leavezero._version import __version__
from leavezero.report import format_value

_MAX_LENGTH = 20_000  # characters of one parameter
_POSITIONAL = ("estimator", "param_grid", "param_distributions", "candidates")


def code_to_repeat(
    search: Any, command: str | None = None, fit_params: Sequence[str] = ()
) -> dict[str, Any]:
    """Return the code that repeats a search, in Python and in the shell.

    Parameters
    ----------
    search : search
        Fitted or not.
    command : str or None, default=None
        The shell command that ran the search, if any.
    fit_params : sequence of str, default=()
        The names of further arguments of ``fit``, such as "groups".

    Returns
    -------
    dict
        "python", "shell", and "notes": what the code lacks to give the same result.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search._code_export import code_to_repeat
    >>> print(code_to_repeat(GridSearchLZO(SVC(), {"C": [1, 10]}, random_state=0))["python"])
    from leavezero import GridSearchLZO
    from sklearn.svm import SVC
    <BLANKLINE>
    search = GridSearchLZO(
        SVC(),
        {'C': [1, 10]},
        random_state=0,
    )
    search.fit(X, y)
    """
    python = _python_code(search, fit_params)
    notes = []
    if search.random_state is None:
        notes.append("random_state is None: another run samples another validation set.")
    elif not isinstance(search.random_state, int | numpy.integer):
        notes.append("random_state is a generator, whose state has changed. Use an integer.")
    if "<" in python:
        notes.append("Parts in angle brackets have no short code; replace them.")
    shell = command or "python repeat.py  # the lines above, after loading X and y"
    return {"python": python, "shell": shell, "notes": notes}


def versions() -> str:
    """Return the versions of the main packages as a sentence."""
    return (
        f"Made by leavezero {__version__} with scikit-learn {sklearn.__version__}, numpy "
        f"{numpy.__version__} and Python {sys.version.partition(' ')[0]}."
    )


def _python_code(search: Any, fit_params: Sequence[str]) -> str:
    params = search.get_params(deep=False)
    defaults = inspect.signature(type(search)).parameters
    arguments = [format_value(params[name], _MAX_LENGTH) for name in _POSITIONAL if name in params]
    arguments += [
        f"{name}={format_value(value, _MAX_LENGTH)}"
        for name, value in params.items()
        if name not in _POSITIONAL and format_value(value) != format_value(defaults[name].default)
    ]
    data = ", ".join(["X", "y", *(f"{name}={name}" for name in fit_params)])
    lines = [
        *sorted(set(_imports(search))),
        "",
        f"search = {type(search).__name__}(",
        *(f"    {argument}," for argument in arguments),
        ")",
        f"search.fit({data})",
    ]
    return "\n".join(lines)


def _imports(value: Any) -> Iterator[str]:
    """Yield an import for each class and distribution in the code."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for item in value:
            yield from _imports(item)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        cls = type(value)
        yield f"from {_public_module(cls)} import {cls.__name__}"
        for item in value.get_params(deep=False).values():
            yield from _imports(item)
    elif hasattr(value, "dist") and hasattr(value, "args"):  # a frozen distribution
        yield f"from scipy.stats import {value.dist.name}"


def _public_module(cls: type) -> str:
    """Return the shortest module path that has the class."""
    parts = cls.__module__.split(".")
    for size in range(1, len(parts) + 1):
        module = ".".join(parts[:size])
        if getattr(sys.modules.get(module), cls.__name__, None) is cls:
            return module
    return cls.__module__
