"""What the words of a command line ask of a table."""

import re
from pathlib import Path
from typing import Any

from leavezero.cli._paths import refuse_pipe
from leavezero.tabular import Source, TableError, Wish

_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600}
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*([smh]?)", re.ASCII)


def wish_of(
    models: str | None,
    confirm: str | None,
    time_budget: str | None = None,
    *,
    keep: list[str] | None = None,
    drop: list[str] | None = None,
    jobs: int = 1,
    **others: Any,
) -> Wish:
    """Return what the words ask for.

    Examples
    --------
    >>> from leavezero.cli._wishing import wish_of
    >>> wish_of("tree, svm", "auto", "10m", target="y").time_budget
    600.0
    """
    names = None
    if models is not None:
        names = tuple(name.strip() for name in models.split(",") if name.strip())
        if not names:
            raise TableError("--models names nothing. Give names with commas, such as linear,tree.")
    if jobs == 0:
        raise TableError("--jobs must be a number of workers, or -1 for all cores, got 0.")
    return Wish(
        models=names,
        confirm=_confirm(confirm),
        time_budget=_seconds(time_budget),
        keep=tuple(keep or ()),
        drop=tuple(drop or ()),
        jobs=jobs,
        **others,
    )


def named_target(table: Path, target: str | None) -> str:
    """Return the column to predict, or say which there are."""
    refuse_pipe(table)
    if target is not None:
        return target
    names = ", ".join(repr(name) for name in Source.of(table).names)
    raise TableError(f"Name the column to predict with --target. {table} has {names}.")


def _confirm(word: str | None) -> int | str | None:
    if word is None or word == "auto":
        return word
    if word.isdecimal() and int(word) > 0:
        return int(word)
    raise TableError(f"--confirm must be a positive whole number or auto, got {word!r}.")


def _seconds(word: str | None) -> float | None:
    if word is None:
        return None
    found = _DURATION.fullmatch(word.strip().lower())
    if found is None or float(found[1]) == 0:
        raise TableError(f"--time-budget must be a time such as 90s, 10m or 2h, got {word!r}.")
    return float(found[1]) * _UNITS[found[2]]
