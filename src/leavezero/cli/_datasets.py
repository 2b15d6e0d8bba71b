"""The named data sets on a terminal."""

from collections.abc import Sequence
from pathlib import Path

from rich.box import SIMPLE
from rich.console import Console
from rich.table import Table

from leavezero.datasets import dataset_names, describe, fetch, find_source

_WIDTH = 120  # of a file or a pipe, which has none of its own


def list_datasets(directory: Path | None) -> None:
    """Print every known data set, its shape, and where it would come from."""
    table = Table(box=SIMPLE)
    table.add_column("name")
    for name in ("rows", "columns", "classes"):
        table.add_column(name, justify="right")
    table.add_column("available from")
    for name in dataset_names(directory):
        table.add_row(name, *_shape(name), _origin(name, directory))
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(table)


def fetch_datasets(names: Sequence[str], directory: Path | None) -> None:
    """Download data sets, and say where each file is."""
    for name in names:
        print(fetch(name, directory))


def _shape(name: str) -> tuple[str, ...]:
    """Return rows, columns and classes; a user's own file is not described."""
    try:
        found = describe(name)
    except ValueError:
        return "", "", ""
    classes = str(found.n_classes) if found.n_classes else "numbers"
    return str(found.n_rows), str(found.n_columns), classes


def _origin(name: str, directory: Path | None) -> str:
    source = find_source(name, directory)
    if source.name:
        return source.name
    if describe(name).openml is not None:
        return "OpenML, with: leavezero datasets fetch"
    return source.reason.partition(": ")[2]
