"""Two ways of choosing for a table, on a terminal."""

import json
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
    Wish,
    compare_ways,
    counted,
    plan_comparison,
    prepare,
    write_comparison,
)


def compare_on_table(
    table: Path,
    wish: Wish,
    *,
    n_folds: int,
    test_share: float,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> bool:
    """Let both ways choose, write what came of it and print it; False if interrupted."""
    folder = default_folder(table) if out is None else out
    say = nobody if quiet else tell
    with reading(table, quiet) as watch_bytes:
        prepared = prepare(table, wish, watch_bytes)
    plan = plan_comparison(prepared.target, n_folds, test_share, wish.seed)
    told = (*prepared.notices, *plan.notices)
    for notice in told:
        say(notice)
    try:
        with folder_for_results(folder), searching(quiet) as watch:
            compared = compare_ways(prepared, wish, plan, watch)
    except KeyboardInterrupt:
        tell("Stopped before both had chosen. Nothing was written.")
        return False
    for notice in compared.notices[len(told) :]:
        say(notice)
    run = write_comparison(compared, folder)
    if as_json:
        print(json.dumps(run))
    elif not quiet:
        _show(run, folder)
    return True


def _show(run: dict[str, Any], folder: Path) -> None:
    console = plain_console()
    console.print(_table(run))
    for sentence in run["sentences"]:
        console.print(printable(sentence))
    console.print(printable(f"Every candidate, a figure and all that repeats this: {folder}"))


def _table(run: dict[str, Any]) -> Table:
    n_test = run["table"]["n_test"]
    title = f"{run['target']}: {run['metric']} on {counted(n_test, 'row')} held back"
    table = Table(title=Text(printable(title)), box=SIMPLE)
    table.add_column("way")
    table.add_column("its choice", overflow="fold")
    known = any(way["cpu_seconds"] is not None for way in run["ways"])
    costs = ("fits", "seconds", "CPU seconds") if known else ("fits", "seconds")
    for name in ("score said", "test score", "regret", *costs):
        table.add_column(name, justify="right")
    for way in run["ways"]:
        figures = [digits(way[name]) for name in ("said", "test", "regret")]
        spent = [f"{way['n_fits']:,}", _seconds(way["wall_seconds"]), _seconds(way["cpu_seconds"])]
        label = Text(printable(way["label"]))
        table.add_row(way["name"], label, *figures, *spent[: len(costs)])
    best = run["candidates"][0]
    label = Text(printable(best["label"]))
    table.add_row("best on test rows", label, "", digits(best["test_score"]), digits(0.0))
    return table


def _seconds(figure: float | None) -> str:
    return "" if figure is None else f"{figure:.1f}"
