"""How far a command is, on a terminal and nowhere else."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    SpinnerColumn,
    TextColumn,
    TimeElapsedColumn,
)

from leavezero.cli._telling import printable
from leavezero.tabular import Heard, counted

_BAR = 12  # letters
_BESIDE = 47  # letters of what stands before the best so far


@contextmanager
def reading(path: Path, quiet: bool) -> Iterator[Callable[[int], None]]:
    """Yield what is called with the bytes that are read of a file."""
    total = path.stat().st_size if path.is_file() else None
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with _progress(quiet, *columns) as progress:
        task = progress.add_task("reading the table", total=total)

        def watch(n_bytes: int) -> None:
            done = total is not None and n_bytes >= total
            words = "looking at its columns" if done else "reading the table"
            progress.update(task, completed=n_bytes, description=words)

        yield watch


@contextmanager
def searching(quiet: bool) -> Iterator[Callable[[str, Heard], None]]:
    """Yield what is called with a way of choosing and every candidate, and show the best so far."""
    columns = (TextColumn("{task.description}"), BarColumn(_BAR), MofNCompleteColumn())
    best = TextColumn("{task.fields[best]}", markup=False)
    with _progress(quiet, *columns, TimeElapsedColumn(), best) as progress:
        task = progress.add_task("searching", total=None, best="")
        leaders: dict[str, Heard] = {}

        def watch(way: str, heard: Heard) -> None:
            leader = leaders.get(way, heard)
            if (_score(heard), -heard.n_done) > (_score(leader), -leader.n_done):
                leader = heard
            leaders[way] = leader
            progress.update(
                task,
                description=way,
                completed=heard.n_done,
                total=heard.n_all,
                best=_leading(leader, progress.console.width - _BESIDE),
            )

        yield watch


@contextmanager
def counting(quiet: bool, words: str) -> Iterator[Callable[[int], None]]:
    """Yield what is called with the number of rows that are done."""
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with _progress(quiet, *columns) as progress:
        task = progress.add_task(words, total=None)
        yield lambda done: progress.update(task, description=f"{words}: {counted(done, 'row')}")


def _progress(quiet: bool, *columns: ProgressColumn) -> Progress:
    console = Console(stderr=True)
    silent = quiet or not console.is_terminal
    return Progress(*columns, console=console, transient=True, disable=silent)


def _leading(leader: Heard, room: int) -> str:
    """Return the best so far in so many letters; a line that is too long would hide the count."""
    if leader.score is None:
        return ""
    words = printable(f"best so far {leader.score:.4g}: {leader.label}")
    return words if len(words) <= room else f"{words[: max(room - 1, 0)]}…"


def _score(heard: Heard) -> float:
    return -float("inf") if heard.score is None else heard.score
