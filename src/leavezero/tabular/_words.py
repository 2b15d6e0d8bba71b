"""Names of columns and models in sentences for people."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

MOST = 5  # names in one sentence


def did_you_mean(word: str, known: Sequence[str]) -> str:
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
    return f"There are {listed(known)}."


def listed(names: Iterable[str]) -> str:
    """Return some names, quoted so that no cell of a table can move the cursor."""
    names = list(names)
    more = f" and {len(names) - MOST} more" if len(names) > MOST else ""
    return ", ".join(repr(name) for name in names[:MOST]) + more


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
