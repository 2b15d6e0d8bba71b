"""A model chosen for a table, on a terminal."""

import json
import shlex
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

from rich.box import SIMPLE
from rich.table import Table
from rich.text import Text

from leavezero.cli._paths import default_folder, folder_for_results
from leavezero.cli._progress import reading, searching
from leavezero.cli._telling import (
    digits,
    nobody,
    plain_console,
    printable,
    tell,
)
from leavezero.tabular import (
    Selected,
    Wish,
    label_of,
    prepare,
    select_model,
    write_results,
)

_SHOWN = 8  # candidates
_LEVELS = {"warning": "Warning", "note": "Note"}


def select_from_table(
    table: Path, wish: Wish, *, out: Path | None, quiet: bool, as_json: bool
) -> bool:
    """Choose a model, write it to a folder and print what was found; False if interrupted."""
    folder = default_folder(table) if out is None else out
    say = nobody if quiet else tell
    with reading(table, quiet) as watch_bytes:
        prepared = prepare(table, wish, watch_bytes)
    for notice in prepared.notices:
        say(notice)
    try:
        with folder_for_results(folder), searching(quiet) as watch:
            selected = select_model(prepared, wish, partial(watch, "searching"))
    except KeyboardInterrupt:
        tell(f"Stopped before the first candidate was done. Nothing was written.{_resume(wish)}")
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
        tell(f"Stopped{_stopped(selected)} is in {folder}.{_resume(wish)}")
    return not selected.interrupted


def _stopped(selected: Selected) -> str:
    """Return when the user lost patience, and what there is."""
    n_done = selected.n_done
    if n_done < selected.n_planned:
        return f". The best of {n_done} candidates so far"
    if selected.wish.confirm is not None and not selected.confirmed:
        return f" before --confirm was done. The choice among all {n_done} candidates without it"
    return f" before all findings were made. The choice among all {n_done} candidates"


def _resume(wish: Wish) -> str:
    return "" if wish.journal is None else " Give the same command again to go on."


def _show(run: dict[str, Any], folder: Path) -> None:
    console = plain_console()
    console.print(_table(run))
    for line in (*_costs(run), *_findings(run)):
        console.print(printable(line))
    console.print(printable(f"Model, report.html, results and all that repeats this run: {folder}"))
    model = shlex.quote(str(folder / "model.skops"))
    console.print(printable(f"Next: leavezero predict {model} TABLE"))


def _table(run: dict[str, Any]) -> Table:
    rows = run["candidates"]
    title = Text(printable(f"{run['target']}: {run['task']} by {run['metric']}"))
    table = Table(title=title, box=SIMPLE)
    table.add_column("candidate", overflow="fold")
    for name in ("score", "95 % interval", "unseen rows", "fit seconds"):
        table.add_column(name, justify="right")
    shown = [row for row in rows if row["score"] is not None][:_SHOWN]
    for row in shown:
        label = printable(label_of(row["model"], row["params"]))
        cells = [digits(row["score"]), _interval(row), digits(row["unseen_score"])]
        style = "bold" if row["chosen"] else None
        table.add_row(Text(label), *cells, f"{row['fit_seconds']:.2f}", style=style)
    if len(rows) > len(shown):
        table.caption = Text(f"{len(rows) - len(shown)} more in results.csv")
    return table


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return f"{digits(row['low'])} to {digits(row['high'])}"


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
            yield f"{head}: {finding['sentence']}"
    n_fine = sum(finding["level"] == "ok" for finding in findings)
    yield f"{n_fine} of {len(findings)} checks of the score found nothing to doubt."
    if run["trust"]["next_step"] is not None:
        yield f"What to do next: {run['trust']['next_step']}"
