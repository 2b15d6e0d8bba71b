"""Sentences for people who use a command."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import Any

MOST = 5  # names in one sentence
_AS_OPTIONS = (  # what a search calls it, and what the command line does
    (" of CandidateSearchLZO", ""),
    ("its time_budget was", "--time-budget was"),
    ("time_budget was", "--time-budget was"),
    ("the folds of confirm", "--confirm"),
    ("Draw more of V: n_replicates=30; or let", "Let"),  # it always draws ten replicates
    ("confirm=", "--confirm "),
    ('augmenter="auto"', "--augmenter auto"),
    ("model__", ""),
)


def did_you_mean(word: str, known: Sequence[str], most: int = MOST) -> str:
    """Return a sentence that names what is close to a word, or what is known.

    Examples
    --------
    >>> did_you_mean("pric", ["price", "rooms"])
    "Did you mean 'price'?"
    >>> did_you_mean("x", ["price", "rooms"])
    "There are 'price', 'rooms'."
    """
    lowered = {name.lower(): name for name in known}
    close = get_close_matches(word.lower(), list(lowered), n=1)
    if close:
        return f"Did you mean {lowered[close[0]]!r}?"
    return f"There are {listed(known, most)}."


def listed(names: Iterable[str], most: int = MOST) -> str:
    """Return some names, quoted so that no cell of a table can move the cursor."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(name) for name in names[:most]) + more


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    Parameters
    ----------
    number : int
        How many there are.
    noun : str
        What one of them is called.

    Examples
    --------
    >>> from leavezero.tabular import counted
    >>> counted(1, "row"), counted(1234, "row")
    ('1 row', '1,234 rows')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def in_options(value: Any) -> Any:
    """Return plain values in which a search's parameters are called as the command line does.

    Examples
    --------
    >>> in_options({"do": ["Use confirm=5.", "candidate=tree, model__max_depth=3"]})
    {'do': ['Use --confirm 5.', 'tree, max_depth=3']}
    """
    if isinstance(value, dict):
        return {in_options(name): in_options(one) for name, one in value.items()}
    if isinstance(value, list):
        return [in_options(one) for one in value]
    if not isinstance(value, str):
        return value
    value = value.removeprefix("candidate=")
    for searched, said in _AS_OPTIONS:
        value = value.replace(searched, said)
    return value
