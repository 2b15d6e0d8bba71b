"""A model chosen for a table, on a terminal."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from leavezero.cli._telling import printable, tell
from leavezero.tabular import (
    Heard,
    TableError,
    Wish,
    label_of,
    make_folder,
    prepare,
    select_model,
    write_results,
)

_SHOWN = 8  # candidates
_WIDTH = 120  # of a file or a pipe, which has none of its own
_LEVELS = {"warning": "Warning", "note": "Note"}


def wish_of(models: str | None, confirm: str | None, **others: Any) -> Wish:
    """Return what the words of a command line ask for."""
    names = None
    if models is not None:
        names = tuple(name.strip() for name in models.split(",") if name.strip())
    return Wish(models=names, confirm=_confirm(confirm), **others)


def _confirm(word: str | None) -> int | str | None:
    if word is None or word == "auto":
        return word
    if word.isdecimal() and int(word) > 0:
        return int(word)
    raise TableError(f"--confirm must be a positive whole number or auto, got {word!r}.")


def select_from_table(
    table: Path, wish: Wish, *, out: Path | None, quiet: bool, as_json: bool
) -> bool:
    """Choose a model, write it to a folder and print what was found; False if interrupted."""
    folder = Path(f"leavezero-{table.name.split('.')[0]}") if out is None else out
    say: Callable[[str], None] = (lambda words: None) if quiet else tell
    with _reading(quiet):
        prepared = prepare(table, wish)
    for notice in prepared.notices:
        say(notice)
    make_folder(folder)
    try:
        with _watching(quiet) as watch:
            selected = select_model(prepared, wish, watch)
    except KeyboardInterrupt:
        tell("Stopped before the first candidate was done. Nothing was written.")
        return False
    for notice in selected.notices[len(prepared.notices) :]:
        say(notice)
    run, to_trust = write_results(selected, folder)
    if to_trust:
        say(f"To load this model, predict needs --trust {' --trust '.join(to_trust)}.")
    if as_json:
        print(json.dumps(run))
    elif not quiet:
        _show(run, folder)
    if selected.interrupted:
        tell(f"Stopped. The best of {len(run['candidates'])} candidates so far is in {folder}.")
    return not selected.interrupted


@contextmanager
def _reading(quiet: bool) -> Iterator[None]:
    console = Console(stderr=True)
    if quiet or not console.is_terminal:
        yield
        return
    with console.status("reading the table"):
        yield


@contextmanager
def _watching(quiet: bool) -> Iterator[Callable[[Heard], None]]:
    """Yield what is called with every candidate, and show the best so far on a terminal."""
    console = Console(stderr=True)
    columns = (TextColumn("searching"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    best = TextColumn("{task.fields[best]}", markup=False)
    silent = quiet or not console.is_terminal
    with Progress(*columns, best, console=console, transient=True, disable=silent) as progress:
        task = progress.add_task("searching", total=None, best="")
        score, words = -float("inf"), ""

        def watch(heard: Heard) -> None:
            nonlocal score, words
            if heard.score is not None and heard.score > score:
                score = heard.score
                words = printable(f"best so far: {heard.label} ({score:.4g})")
            progress.update(task, completed=heard.n_done, total=heard.n_all, best=words)

        yield watch


def _show(run: dict[str, Any], folder: Path) -> None:
    console = Console(highlight=False, markup=False, emoji=False)
    if not console.is_terminal:
        console.width = _WIDTH
    console.print(_table(run))
    for line in (*_costs(run), *_findings(run)):
        console.print(printable(line))
    console.print(printable(f"Model, report.html, results and all that repeats this run: {folder}"))
    model = folder / "model.skops"
    console.print(printable(f"Next: leavezero predict {model} TABLE"))


def _table(run: dict[str, Any]) -> Table:
    rows = run["candidates"]
    title = Text(printable(f"{run['target']}: {run['task']} by {run['metric']}"))
    table = Table(title=title, box=SIMPLE)
    table.add_column("candidate", overflow="fold")
    for name in ("score", "95 % interval", "unseen rows", "fit seconds"):
        table.add_column(name, justify="right")
    for row in rows[:_SHOWN]:
        label = printable(label_of(row["model"], row["params"]))
        cells = [_digits(row["score"]), _interval(row), _digits(row["unseen_score"])]
        style = "bold" if row["chosen"] else None
        table.add_row(Text(label), *cells, f"{row['fit_seconds']:.2f}", style=style)
    if len(rows) > _SHOWN:
        table.caption = Text(f"{len(rows) - _SHOWN} more in results.csv")
    return table


def _digits(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.4f}"


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return f"{row['low']:.4f} to {row['high']:.4f}"


def _costs(run: dict[str, Any]) -> Iterator[str]:
    by_purpose = ", ".join(f"{count} {name}" for name, count in run["fits"].items() if count)
    yield (
        f"{run['n_fits']} fits ({by_purpose}) in {sum(run['seconds'].values()):.1f} s; "
        f"10-fold cross validation of these candidates takes {run['n_fits_of_10_fold_cv']} fits."
    )


def _findings(run: dict[str, Any]) -> Iterator[str]:
    """Yield what asks for something to be done, and what is worth knowing."""
    if run["trust"] is None:
        return
    findings = run["trust"]["findings"]
    for finding in findings:
        if finding["level"] in _LEVELS:
            head = f"{_LEVELS[finding['level']]} {finding['code']}, {finding['title']}"
            yield f"{head}: {finding['sentence']}".replace("model__", "")
    n_fine = sum(finding["level"] == "ok" for finding in findings)
    yield f"{n_fine} of {len(findings)} checks of the score found nothing to doubt."
    if run["trust"]["next_step"] is not None:
        step = run["trust"]["next_step"].replace("confirm=", "--confirm ")
        yield f"What to do next: {step}"
