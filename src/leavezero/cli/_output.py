"""Output on the terminal and to files, and exit codes."""

import csv
import json
import math
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile
from typing import TYPE_CHECKING, Any

import typer
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table
from rich.text import Text

from leavezero.cli._messages import TableError, format_score, printable

if TYPE_CHECKING:
    from leavezero.cli._search_table import CandidateDone

REQUIRED = ("pandas", "pyarrow", "skops", "skrub")
_WIDTH = 120  # columns of output that is not a terminal


@contextmanager
def exit_codes(debug: bool = False) -> Iterator[None]:
    """Exit with 2 after wrong input and with 1 after a failure, with a message on stderr."""
    missing = [name for name in REQUIRED if find_spec(name) is None]
    if missing:
        print_notice(
            f"This command requires {' and '.join(missing)}. "
            'Install with: pip install "leavezero[app]"'
        )
        raise typer.Exit(1)
    try:
        yield
    except TableError as error:
        if debug:
            raise
        print_notice(str(error))
        raise typer.Exit(2) from error
    except KeyboardInterrupt as error:
        print_notice("Interrupted.")
        raise typer.Exit(1) from error
    except Exception as error:  # top level of the program: no traceback unless --debug
        if debug:
            raise
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        reason = " ".join(dict.fromkeys([*lines[:1], *lines[-1:]]))
        print_notice(f"{type(error).__name__}: {reason}\nAdd --debug to see the traceback.")
        raise typer.Exit(1) from error


def print_notice(text: str) -> None:
    """Print a message on stderr, with control characters escaped."""
    print(printable(text), file=sys.stderr)


def print_lines(lines: Iterable[str | Table]) -> None:
    """Print text and tables on stdout; markup in the text has no effect."""
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH
    for line in lines:
        console.print(line if isinstance(line, Table) else printable(line))


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


@contextmanager
def search_progress(quiet: bool) -> Iterator[Callable[[str, "CandidateDone"], None]]:
    """Yield a function of the search's name and each finished candidate; shows the best so far."""
    with _progress(quiet, TextColumn("{task.fields[best]}", markup=False)) as progress:
        task = progress.add_task("searching", total=None, best="")
        best: dict[str, tuple[float, str]] = {}

        def update(name: str, done: "CandidateDone") -> None:
            score = float("-inf") if done.score is None else done.score
            if score >= best.get(name, (score, ""))[0]:
                text = printable(f"best so far {format_score(done.score)}: {done.label}")
                best[name] = score, text[: max(20, progress.console.width - 60)]
            progress.update(
                task,
                description=name,
                completed=done.n_done,
                total=done.n_all,
                best=best[name][1],
            )

        yield update


@contextmanager
def row_progress(quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield a function of the number of rows that are done."""
    with _progress(quiet) as progress:
        task = progress.add_task("predicting", total=None)
        yield lambda done: progress.update(task, completed=done)


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


def write_text(path: Path, text: str) -> None:
    """Write a file completely or not at all."""
    part = path.with_name(path.name + ".part")
    part.write_text(text, encoding="utf-8", newline="")
    os.replace(part, path)


def write_json(path: Path, values: Any) -> Any:
    """Write plain values as JSON, without NaN and infinities; return what was written."""
    values = _finite(values)
    write_text(path, json.dumps(values, indent=1, allow_nan=False) + "\n")
    return values


def write_candidates(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write one CSV row per candidate."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(row | {"params": json.dumps(_finite(row["params"]))} for row in rows)
    os.replace(part, path)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(name): _finite(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(one) for one in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else repr(value)


def _progress(quiet: bool, *columns: TextColumn) -> Progress:
    console = Console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(12),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        *columns,
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    )
