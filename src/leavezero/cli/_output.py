"""Messages, tables and files of the commands, and exit codes."""

import json
import os
import re
import sys
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table
from rich.text import Text

# signs before numbers are no formulas
_FORMULA = re.compile(r"[=@\t\r]|[+-](?!\s*[\d.,]*([eE][+-]?\d+)?\s*%?$)")
_WIDTH = 120  # columns of output that is not a terminal


class TableError(ValueError):
    """Unusable table, model file or option; the message names what is required."""


@contextmanager
def exit_codes(debug: bool = False) -> Iterator[None]:
    """Exit with 2 after wrong input and with 1 after a failure, with a message on stderr."""
    try:
        yield
    except (typer.Exit, BrokenPipeError):  # typer ends quietly if nobody reads on, such as head
        raise
    except KeyboardInterrupt as error:
        print_notice("Interrupted.")
        raise typer.Exit(1) from error
    except Exception as error:  # top level of the program: no traceback unless --debug
        if debug:
            raise
        if isinstance(error, TableError):
            print_notice(str(error))
            raise typer.Exit(2) from error
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = " ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))
        print_notice(f"{type(error).__name__}: {reason}\nAdd --debug to see the traceback.")
        raise typer.Exit(1) from error


def counted(number: int, noun: str) -> str:
    """Return a number with its noun."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def quoted(names: Iterable[object], most: int = 10) -> str:
    """Return quoted names."""
    names = list(names)
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(repr(str(name)) for name in names[:most]) + more


def check_name(name: str, known: Collection[str], required: str) -> None:
    """Raise with the closest known name, or all of them, if a name is not known."""
    if name not in known:
        by_lower = {one.lower(): one for one in known}
        close = get_close_matches(name.lower(), list(by_lower), n=1)
        hint = f"Did you mean {by_lower[close[0]]!r}?" if close else f"Available: {quoted(known)}."
        raise TableError(f"{required}, got {name!r}. {hint}")


def printable(text: str) -> str:
    """Return text with control characters escaped, except line ends."""
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


def print_notice(*texts: str) -> None:
    """Print messages on stderr, with control characters escaped."""
    for text in texts:
        print(printable(text), file=sys.stderr)


def print_lines(*lines: str | Table) -> None:
    """Print text and tables on stdout; markup in the text has no effect."""
    console = _stdout()
    for line in lines:
        console.print(line if isinstance(line, Table) else printable(line))


def count_lines(*lines: str | Table) -> int:
    """Return the number of lines that :func:`print_lines` prints, wrapped ones included."""
    console = _stdout()
    texts = (line if isinstance(line, Table) else Text(printable(line)) for line in lines)
    return sum(len(console.render_lines(text)) for text in texts)


def _stdout() -> Console:
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH
    return console


def print_results(
    values: dict[str, Any], lines: Iterable[str | Table], *, quiet: bool, as_json: bool
) -> None:
    """Print results as JSON or as lines."""
    if as_json:
        print(json.dumps(values))
    elif not quiet:
        print_lines(*lines)


def make_table(
    title: str, texts: Iterable[str], numbers: Iterable[str], rows: Iterable[Iterable[object]]
) -> Table:
    """Return a table with columns of text on the left and columns of numbers on the right."""
    table = Table(title=Text(printable(title)), box=SIMPLE)
    for name in texts:
        table.add_column(name, overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(*(Text(printable(str(cell))) for cell in row))
    return table


def progress_bar(quiet: bool) -> Progress:
    """Return a progress bar on stderr, whose tasks have a field ``text``."""
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(12),
        MofNCompleteColumn(),
        TimeRemainingColumn(elapsed_when_finished=True),
        TextColumn("{task.fields[text]}", markup=False),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )


@contextmanager
def output_directory(path: Path) -> Iterator[None]:
    """Create a directory before anything is computed; remove it if it stays empty on failure."""
    created = [one for one in (path, *path.parents) if not one.exists()]
    try:
        path.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=path):
            pass
    except OSError as error:
        raise TableError(
            f"--out must be a directory that can be written to, got {str(path)!r}: "
            f"{error.strerror}."
        ) from error
    try:
        yield
    except BaseException:
        for one in created:
            if not any(one.iterdir()):
                one.rmdir()
        raise


@contextmanager
def part_file(path: Path) -> Iterator[Path]:
    """Return a path for writing, in a new folder; at the end the file is moved to its place.

    Nobody else can write to the folder, so that no link is followed, and no file is overwritten
    that has the name by chance.
    """
    with TemporaryDirectory(dir=path.parent, prefix=".leavezero-") as folder:
        part = Path(folder, path.name)
        yield part
        os.replace(part, path)


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    with part_file(path) as part:
        part.write_text(text, encoding="utf-8", newline="")


def escape_formulas(frame: Any) -> Any:
    """Return a frame whose strings no spreadsheet evaluates: ' is put before a formula."""

    def escaped(cell: Any) -> Any:
        return f"'{cell}" if isinstance(cell, str) and _FORMULA.match(cell) else cell

    texts = {name: frame[name].map(escaped) for name in frame.select_dtypes(exclude="number")}
    return frame.assign(**texts).rename(columns=escaped)


def write_results(path: Path, csv: Path, values: dict[str, Any]) -> dict[str, Any]:
    """Write values as JSON, and their candidates or splits as CSV; return what was written."""
    import pandas as pd

    # NaN and infinities become None
    found: dict[str, Any] = json.loads(
        json.dumps(values, default=repr), parse_constant=lambda constant: None
    )
    write_text(path, json.dumps(found, indent=1) + "\n")
    table = escape_formulas(pd.DataFrame(found.get("candidates") or found["splits"]))
    if "params" in table:
        table["params"] = table["params"].map(json.dumps)
    write_text(csv, table.to_csv(index=False, lineterminator="\n"))
    return found
