"""What the commands for tables say besides their results, and how they end."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import typer
from rich.console import Console

from leavezero.trust import score_text

_TOOLS = ("pandas", "pyarrow", "skops")
_WIDTH = 120  # of a file or a pipe, which has none of its own


def needs_tools() -> None:
    """End with 1 where the tools for tables and models are not installed."""
    missing = [name for name in _TOOLS if find_spec(name) is None]
    if missing:
        tell(
            f"This command needs {' and '.join(missing)}. "
            'Install it with: pip install "leavezero[app]"'
        )
        raise typer.Exit(1)


@contextmanager
def plain_endings(debug: bool) -> Iterator[None]:
    """End with 2 where the user should say something else, with 1 where something failed.

    Either says so in a sentence or two on stderr; ``debug`` lets the traceback through.
    """
    from leavezero.tabular import TableError  # needs the tools of the extra

    try:
        yield
    except KeyboardInterrupt as stop:
        tell("Stopped.")
        raise typer.Exit(1) from stop
    except Exception as error:
        if debug:
            raise
        wrong_words = isinstance(error, TableError)
        reason = str(error) if wrong_words else f"{type(error).__name__}: {_short(error)}"
        tell(reason if wrong_words else f"{reason}\nAdd --debug to see where.")
        raise typer.Exit(2 if wrong_words else 1) from error


def tell(words: str) -> None:
    """Say something on stderr, without anything that moves a cursor."""
    print(printable(words), file=sys.stderr)


def nobody(words: str) -> None:
    """Say nothing."""


def printable(words: str) -> str:
    """Return words in which control characters stand as escapes; lines stay lines."""
    return "".join(
        one if one.isprintable() or one == "\n" else one.encode("unicode_escape").decode()
        for one in words
    )


def plain_console() -> Console:
    """Return what prints results: no cell of a table means anything to it but itself."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH
    return console


def digits(figure: float | None) -> str:
    """Return a score as tables show it; one that is not known is empty."""
    return "" if figure is None else score_text(figure)


def _short(error: Exception) -> str:
    """Return the first and the last line of a message that may hold a traceback."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return " ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))
