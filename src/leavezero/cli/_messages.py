"""The error for wrong input, and pieces of messages."""

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

BASELINE = "baseline"  # name of the model that ignores the features


class TableError(ValueError):
    """Unusable table, model file or option; the message names what is required."""


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def quoted(names: Iterable[object], most: int = 10) -> str:
    """Return quoted names.

    Examples
    --------
    >>> quoted(["a", "b", "c"], most=2)
    "'a', 'b' and 1 more"
    """
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(str(name)) for name in names[:most]) + more


def did_you_mean(name: str, known: Sequence[str]) -> str:
    """Return a sentence with the known name closest to a wrong one, or with all known names."""
    by_lower = {one.lower(): one for one in known}
    close = get_close_matches(name.lower(), list(by_lower), n=1)
    return f"Did you mean {by_lower[close[0]]!r}?" if close else f"Available: {quoted(known)}."


def printable(text: str) -> str:
    """Return text with control characters escaped, except line ends."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


def label_of(model: str, params: dict[str, object]) -> str:
    """Return a candidate's model name and parameters as text.

    Examples
    --------
    >>> label_of("svm", {"C": 0.1})
    'svm, C=0.1'
    """
    values = {
        name: f"{value:.4g}" if isinstance(value, float) else value
        for name, value in params.items()
    }
    return ", ".join([model, *(f"{name}={value}" for name, value in values.items())])


def format_score(score: float | None) -> str:
    """Return a score with four decimals, or four digits if it is very large or small."""
    if score is None:
        return ""
    return f"{score:.4f}" if score == 0 or 1e-3 <= abs(score) < 1e5 else f"{score:.4g}"
