"""How to repeat a run: a search written as Python code."""

import inspect
import sys
from collections.abc import Iterator
from typing import Any

import numpy
import sklearn

from leavezero._version import __version__
from leavezero.report import shown

MOST_LETTERS = 20_000  # of one parameter
_PLACES = ("estimator", "param_grid", "param_distributions", "candidates")  # given by position


def how_to_repeat(search: Any, command: str | None = None) -> dict[str, Any]:
    """Return the lines that make the same search again, in Python and in the shell.

    Parameters
    ----------
    search : search
        Fitted or not.
    command : str or None, default=None
        What was typed, if the search was run by a command.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search._repeat import how_to_repeat
    >>> print(how_to_repeat(GridSearchLZO(SVC(), {"C": [1, 10]}, random_state=0))["python"])
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
    python = _python(search)
    notes = []
    if search.random_state is None:
        notes.append("No random_state was set: a new run draws another V. Set an integer.")
    elif not isinstance(search.random_state, int | numpy.integer):
        notes.append("random_state was a generator, which has moved on. Set an integer.")
    if "<" in python:
        notes.append("What stands in angle brackets has no short code and must be filled in.")
    shell = command or "python repeat.py  # the lines above, after X and y were read"
    return {"python": python, "shell": shell, "notes": notes}


def _python(search: Any) -> str:
    settings = search.get_params(deep=False)
    changed = _changed(search, settings)
    lines = [f"    {shown(settings[name], MOST_LETTERS)}," for name in _PLACES if name in settings]
    lines += [f"    {name}={shown(value, MOST_LETTERS)}," for name, value in changed.items()]
    given = ", ".join(["X", "y", *(f"{name}={name}" for name in _more_given(search))])
    made = "\n".join([f"search = {type(search).__name__}(", *lines, ")", f"search.fit({given})"])
    return "\n".join([*sorted(set(_imports(search))), "", made])


def _more_given(search: Any) -> list[str]:
    """Return the names of what a fit was given beside X and y, as far as it is still known."""
    kept = getattr(search, "_kept", None)
    if kept is None:
        return []
    names = {name for params in kept.job.fit_params.values() for name in params}
    return sorted(names | ({"groups"} if kept.groups is not None else set()))


def _changed(search: Any, settings: dict[str, Any]) -> dict[str, Any]:
    """Return what was set other than by default, but for what has no place here."""
    defaults = inspect.signature(type(search)).parameters
    return {
        name: value
        for name, value in settings.items()
        if name not in _PLACES and shown(value) != shown(defaults[name].default)
    }


def _imports(value: Any) -> Iterator[str]:
    """Yield a line for each class that the code names."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list | tuple):
        for one in value:
            yield from _imports(one)
    elif hasattr(value, "get_params") and not isinstance(value, type):
        kind = type(value)
        yield f"from {_public(kind)} import {kind.__name__}"
        for one in value.get_params(deep=False).values():
            yield from _imports(one)
    elif hasattr(value, "dist") and hasattr(value, "args"):
        yield f"from scipy.stats import {value.dist.name}"


def _public(kind: type) -> str:
    """Return the shortest module that has a class."""
    parts = kind.__module__.split(".")
    for size in range(1, len(parts) + 1):
        module = ".".join(parts[:size])
        if getattr(sys.modules.get(module), kind.__name__, None) is kind:
            return module
    return kind.__module__


def versions() -> str:
    """Return what the run was made with, as a sentence."""
    return (
        f"Made by leavezero {__version__} with scikit-learn {sklearn.__version__}, numpy "
        f"{numpy.__version__} and Python {sys.version.partition(' ')[0]}."
    )
