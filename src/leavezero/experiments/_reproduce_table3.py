"""Table 3 as something that can be run again."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from leavezero.experiments._comparison import compare
from leavezero.experiments._pages import Page
from leavezero.experiments._paper_figures import TABLE3_ACCURACY
from leavezero.experiments._reproductions import Reproduction, Wish
from leavezero.experiments._runner import Line
from leavezero.experiments._table3 import MAX_ITER_UNSCALED, Table3
from leavezero.experiments._table3_figures import (
    draw_critical_differences,
    draw_differences,
    draw_time_against_accuracy,
)
from leavezero.experiments._table3_pages import paper_pages, table3_pages
from leavezero.experiments._table3_results import Table3Results, table3_results

SCALED, UNSCALED, PUBLISHED = "scaled", "unscaled", "as-published"
_SLOW_REPEATS = 3  # of the parts whose fits take long
_QUICK_REPEATS = 5


def _study(part: str, names: tuple[str, ...], wish: Wish) -> Table3:
    """Return the runs of one part; a quick run only has fewer of them."""
    repeats = wish.repeats or (_QUICK_REPEATS if wish.quick else 100)
    few = min(repeats, 2 if wish.quick else _SLOW_REPEATS)
    common = Table3(names, seed=wish.seed, directory=wish.directory)
    slow = replace(common, scaled=False, max_iter=MAX_ITER_UNSCALED)
    if part == SCALED:
        return replace(common, repeats=repeats, draws=few if wish.quick else 10)
    if part == UNSCALED:
        return replace(slow, repeats=few, draws=1)
    return replace(slow, published=True, draws=few)


def _report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> list[Page]:
    """Draw the figures of every part, and return its tables."""
    pages = []
    for part, found in lines.items():
        results = table3_results(found, over="draws" if part == PUBLISHED else "splits")
        _draw(results, part, folder)
        pages += table3_pages(results, part, missing)
    return pages + paper_pages()


def _draw(results: Table3Results, part: str, folder: Path) -> None:
    title = f"Table 3, {part}: {len(results.data)} data sets"
    if results.over == "splits":
        draw_differences(results, folder / f"{part}-differences.svg", title)
        draw_time_against_accuracy(results, folder / f"{part}-time.svg", title)
    if len(results.data) > 1:
        found = compare({way: results.means(way) for way in results.ways})
        draw_critical_differences(found, folder / f"{part}-ranks.svg", title)


TABLE3 = Reproduction(
    "table3",
    "C of a linear SVM by 10-fold CV and by leave-zero-out, 20 data sets",
    data=tuple(TABLE3_ACCURACY),
    quick_data=("balance", "dim", "glass", "iris", "sonar", "testSet", "vote", "wine"),
    parts=(SCALED, UNSCALED, PUBLISHED),
    study=_study,
    report=_report,
    extra_data=("segment7",),
)
