"""A table of the paper, run again on a terminal."""

import sys
import warnings
from pathlib import Path

from joblib import effective_n_jobs
from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from leavezero.experiments import (
    REPRODUCTIONS,
    Page,
    Plan,
    Reproduction,
    Runnable,
    Wish,
    pages_markdown,
    plan,
    read_lines,
    run_all,
    time_left,
)

_WIDTH = 200  # of a file or a pipe, which has none of its own
_COLUMNS = (
    TextColumn("{task.description}"),
    BarColumn(),
    MofNCompleteColumn(),
    TimeElapsedColumn(),
    TextColumn("{task.fields[left]}"),
)


def reproduce_table(name: str, wish: Wish, *, out: Path, n_jobs: int, report: bool = False) -> None:
    """Run what is not done yet, print the tables, and write them and the figures to a folder.

    With ``report`` nothing is run. Raises ValueError for what the user should word otherwise.
    """
    reproduction = find_reproduction(name)
    found = plan(reproduction, wish)
    folder = out / (f"{name}-quick" if wish.quick else name)
    _tell(f"{reproduction.title}. Lines, tables and figures: {folder}")
    for data, reason in found.missing.items():
        _tell(f"{data} is left out. {reason}")
    done = {} if report else _run(found, folder, n_jobs)
    lines = {part: done.get(part) or _known(folder, part) for part in reproduction.parts}
    lines = {part: told for part, told in lines.items() if told}
    if not lines:
        raise ValueError(f"{folder} holds no finished run yet. Leave --report out to begin.")
    _show(reproduction, lines, found, folder)


def find_reproduction(name: str) -> Reproduction:
    """Return what can be run again under a name."""
    if name not in REPRODUCTIONS:
        raise ValueError(f"Nothing is called {name!r}. Known are {', '.join(REPRODUCTIONS)}.")
    return REPRODUCTIONS[name]


def _run(found: Plan, folder: Path, n_jobs: int) -> dict[str, list[dict[str, object]]]:
    """Run every part, with a bar for each, and return the lines that belong to it."""
    lines = {}
    with Progress(*_COLUMNS, console=Console(stderr=True), transient=True) as progress:
        for part, study in found.studies.items():
            path = folder / f"{part}.jsonl"
            _run_part(part, study, path, progress, n_jobs)
            keys = study.keys()
            lines[part] = [line for line in read_lines(path) if line["key"] in keys]
    return lines


def _known(folder: Path, part: str) -> list[dict[str, object]]:
    """Return what earlier calls have done of a part that was not asked for now."""
    path = folder / f"{part}.jsonl"
    return read_lines(path) if path.exists() else []


def _run_part(part: str, study: Runnable, path: Path, progress: Progress, n_jobs: int) -> None:
    keys, n_workers = study.keys(), effective_n_jobs(n_jobs)
    task = progress.add_task(part, total=len(keys), left="")
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        done = _finished(keys, path)
        progress.update(task, completed=len(done))
        for line in run_all(keys, study, path, protocol=study.protocol(), n_jobs=n_jobs):
            done.append(line)
            left = time_left(keys, done, n_workers)
            words = "" if left is None else f"about {_duration(left)} left"
            progress.update(task, completed=len(done), left=words)
    for warning in heard:
        if issubclass(warning.category, UserWarning):
            _tell(str(warning.message))


def _finished(keys: list[dict[str, object]], path: Path) -> list[dict[str, object]]:
    """Return the runs that an earlier call has done; a foreign file is the runner's to refuse."""
    if not path.exists():
        return []
    try:
        return [line for line in read_lines(path) if line["key"] in keys]
    except (ValueError, KeyError, TypeError):
        return []


def _duration(seconds: float) -> str:
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _show(
    reproduction: Reproduction,
    lines: dict[str, list[dict[str, object]]],
    found: Plan,
    folder: Path,
) -> None:
    pages = reproduction.report(lines, found.missing, folder)
    (folder / "tables.md").write_text(pages_markdown(pages), encoding="utf-8")
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH
    for page in pages:
        console.print(_table(page))
        for note in page.notes:
            console.print(note, style="dim", highlight=False)


def _table(page: Page) -> Table:
    table = Table(title=page.title, box=SIMPLE)
    for at, name in enumerate(page.header):
        table.add_column(name, justify="right" if at else "left")
    for row in page.rows:
        table.add_row(*row)
    return table


def _tell(words: str) -> None:
    print(words, file=sys.stderr)
