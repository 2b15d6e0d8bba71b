"""The tables and studies that a command runs again, by name."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from leavezero.datasets import find_source, load
from leavezero.experiments._pages import Page
from leavezero.experiments._runner import Line


class Runnable(Protocol):
    """What the runner needs of a study.

    Examples
    --------
    >>> from leavezero.experiments import Runnable, Table3
    >>> study: Runnable = Table3(("iris",))
    >>> study.protocol()["study"]
    'table 3'
    """

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share, as plain values."""

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another."""

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run."""


@dataclass(frozen=True)
class Wish:
    """What the user asks of a reproduction.

    Parameters
    ----------
    directory : str or None, default=None
        Where the files of the data sets are.
    data : tuple of str, default=()
        The data sets; all that belong to it where empty.
    parts : tuple of str, default=()
        The parts; all where empty.
    repeats : int or None, default=None
        How often; None is the reproduction's own number.
    seed : int, default=0
        Of everything.
    quick : bool, default=False
        Fewer data sets and repeats, on the same path.

    Examples
    --------
    >>> from leavezero.experiments import Wish
    >>> Wish(quick=True).repeats is None
    True
    """

    directory: str | None = None
    data: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    repeats: int | None = None
    seed: int = 0
    quick: bool = False


@dataclass(frozen=True)
class Reproduction:
    """A table of the paper, or a study of ours, as something that can be run again.

    Parameters
    ----------
    name : str
        The word by which it is asked for.
    title : str
        What it is.
    data : tuple of str
        The data sets that belong to it.
    quick_data : tuple of str
        Those that a quick run looks at.
    parts : tuple of str
        What its parts are called; each is a file of lines.
    extra_data : tuple of str
        Data sets that it takes if they are asked for.
    study : callable
        ``study(part, names, wish)`` returns what the runner runs.
    report : callable
        ``report(lines, missing, folder)`` draws figures into the folder and returns the tables;
        ``lines`` by part, ``missing`` the reasons by data set.

    Examples
    --------
    >>> from leavezero.experiments import REPRODUCTIONS
    >>> REPRODUCTIONS["table3"].parts
    ('scaled', 'unscaled', 'as-published')
    """

    name: str
    title: str
    data: tuple[str, ...]
    quick_data: tuple[str, ...]
    parts: tuple[str, ...]
    study: Callable[[str, tuple[str, ...], Wish], Runnable]
    report: Callable[[Mapping[str, list[Line]], Mapping[str, str], Path], list[Page]]
    extra_data: tuple[str, ...] = ()


@dataclass(frozen=True)
class Plan:
    """What will be run, and which data sets could not be had.

    Parameters
    ----------
    studies : dict
        What the runner runs, by part.
    missing : dict
        The reason by data set.

    Examples
    --------
    >>> from leavezero.experiments import REPRODUCTIONS, Wish, plan
    >>> found = plan(REPRODUCTIONS["table3"], Wish(data=("iris", "dim"), repeats=1))
    >>> list(found.studies), list(found.missing)
    (['scaled', 'unscaled', 'as-published'], ['dim'])
    """

    studies: dict[str, Runnable]
    missing: dict[str, str]


def plan(reproduction: Reproduction, wish: Wish) -> Plan:
    """Return what will be run of a reproduction; raise for names that it does not know.

    Every data set is loaded once, so that a file of the wrong shape is found before any run.

    Parameters
    ----------
    reproduction : Reproduction
        One of ``REPRODUCTIONS``.
    wish : Wish
        What the user asks for.

    Examples
    --------
    >>> from leavezero.experiments import REPRODUCTIONS, Wish, plan
    >>> plan(REPRODUCTIONS["table3"], Wish(data=("moon",)))
    Traceback (most recent call last):
    ValueError: table3 has no data set 'moon'. Known are balance, breast, ...
    """
    owner = reproduction.name
    known = (*reproduction.data, *reproduction.extra_data)
    _check_known(owner, "data set", wish.data, known)
    _check_known(owner, "part", wish.parts, reproduction.parts)
    wanted = wish.data or (reproduction.quick_data if wish.quick else reproduction.data)
    sources = {name: find_source(name, wish.directory) for name in wanted}
    names = tuple(name for name, source in sources.items() if source.name)
    for name in names:
        load(name, wish.directory)
    missing = {name: source.reason for name, source in sources.items() if not source.name}
    if not names:
        raise ValueError(f"No data set of {owner} is available. " + " ".join(missing.values()))
    parts = wish.parts or reproduction.parts
    return Plan({part: reproduction.study(part, names, wish) for part in parts}, missing)


def _check_known(owner: str, what: str, names: Sequence[str], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(f"{owner} has no {what} {name!r}. Known are {', '.join(known)}.")
