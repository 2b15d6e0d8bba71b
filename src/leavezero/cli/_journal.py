"""A journal on a terminal."""

from pathlib import Path

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from leavezero.cli._telling import digits, plain_console, printable
from leavezero.engine import summarize_journal


def show_journal(file: Path) -> None:
    """Print what search a journal belongs to, and each candidate that is finished."""
    found = summarize_journal(file)
    console = plain_console()
    about = Table("part", "of the search", box=SIMPLE)
    for name, shown in found.parts.items():
        about.add_row(_plain(name), _plain(shown))
    console.print(about)
    table = Table("candidate", box=SIMPLE)
    table.add_column("score on V", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column("model")
    for one in found.finished:
        score = "failed" if one.error else digits(one.score)
        model = one.error or ("kept" if one.model is None else f"not kept: {one.model}")
        table.add_row(_plain(one.params), score, f"{one.seconds:.3g}", _plain(model))
    console.print(table)
    damaged = f", {found.n_damaged} damaged" if found.n_damaged else ""
    print(f"{len(found.finished)} finished{damaged}, {found.n_in_work} in work")


def _plain(text: str) -> Text:
    """Return text whose markup and control characters mean nothing to a terminal."""
    return Text(printable(text))
