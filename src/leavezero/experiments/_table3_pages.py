"""The tables that are made of the results of Table 3, the paper's figures beside ours."""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from leavezero.experiments._comparison import Comparison, compare, count_wins, signed_rank_p
from leavezero.experiments._pages import Page, interval_words, span_words
from leavezero.experiments._paper_figures import (
    TABLE3_ACCURACY,
    TABLE3_COLUMNS,
    TABLE3_SECONDS,
    TABLE3_WINS,
    Printed,
)
from leavezero.experiments._table3_results import Table3Results, deviation

_PAPER = tuple(f"paper: {column}" for column in TABLE3_COLUMNS)
_NO_FIGURE = "-"
NEAR = 2.5  # points: less cannot be told from another draw of the rows


def table3_pages(
    results: Table3Results, part: str, missing: Mapping[str, str] | None = None
) -> list[Page]:
    """Return the tables of one part, in the order in which a reader asks.

    Parameters
    ----------
    results : Table3Results
        What the lines say.
    part : str
        What the part is called.
    missing : dict or None, default=None
        Data sets that could not be had, with the reason; they get a row without a number.

    Examples
    --------
    >>> from leavezero.experiments import Table3, table3_pages, table3_results
    >>> study = Table3(("iris",), repeats=1, draws=1)
    >>> lines = [{"key": key, "result": study(key)} for key in study.keys()]
    >>> [page.title for page in table3_pages(table3_results(lines), "scaled")][:2]
    ['scaled: accuracy in percent', 'scaled: accuracy minus that of 10-fold CV, points']
    """
    missing = missing or {}
    pages = [_accuracy(results, part, missing)]
    if results.over == "splits":
        pages.append(_differences(results, part))
    if len(results.data) > 1:
        pages.append(_tests(results.ways, [results.means(way) for way in results.ways], part))
        pages.append(_beside_printed(results, part))
    pages += [_seconds(results, part, missing), _spread(results, part)]
    if any(any(found.values()) for found in results.unconverged.values()):
        pages.append(_unconverged(results, part))
    return pages


def paper_pages() -> list[Page]:
    """Return the same tests on the figures that the paper prints, all 20 data sets.

    Examples
    --------
    >>> from leavezero.experiments import paper_pages
    >>> paper_pages()[0].rows[0][0]
    '10-fold'
    """
    columns = [
        [row[at].value for row in TABLE3_ACCURACY.values()] for at in range(len(TABLE3_COLUMNS))
    ]
    page = _tests(TABLE3_COLUMNS, columns, "the paper's printed figures")
    counts = ", ".join(str(count) for count in TABLE3_WINS)
    note = f"The paper prints {counts} wins, which are its bold cells."
    return [Page(page.title, page.header, page.rows, (*page.notes, note))]


def _accuracy(results: Table3Results, part: str, missing: Mapping[str, str]) -> Page:
    def cell(way: str, name: str) -> str:
        return _with_error(results.mean(way, name), results.error(way, name))

    wins = count_wins({way: results.means(way) for way in results.ways})
    last = ("wins", *(str(wins[way]) for way in results.ways), *map(str, TABLE3_WINS))
    rows = [*_rows(results, missing, cell, TABLE3_ACCURACY), last]
    counts = sorted({len(results.values(results.baseline, name)) for name in results.data})
    return Page(
        f"{part}: accuracy in percent",
        ("data", *results.ways, *_PAPER),
        tuple(rows),
        (
            f"Mean ± standard error over {span_words(counts)} {results.over}; a tie in two "
            "decimals is a win for all who share it. What the paper calls standard errors are, in "
            "its published code, standard deviations over draws of V on one split.",
            *(f"{name}: not available. {reason}" for name, reason in missing.items()),
        ),
    )


def _differences(results: Table3Results, part: str) -> Page:
    others = results.ways[1:]
    rows = [
        (name, *(interval_words(results.difference(way, name)) for way in others))
        for name in results.data
    ]
    return Page(
        f"{part}: accuracy minus that of {results.baseline}, points",
        ("data", *others),
        tuple(rows),
        (
            "In parentheses 95 % intervals over splits, corrected for the rows that splits share "
            "(Nadeau and Bengio 2003).",
        ),
    )


def _tests(ways: Sequence[str], columns: Sequence[Sequence[float]], part: str) -> Page:
    scores = dict(zip(ways, columns, strict=True))
    found, wins = compare(scores), count_wins(scores)
    base = columns[0]
    rows = []
    for way, rank in zip(ways, found.ranks, strict=True):
        gap = float(np.mean(np.subtract(scores[way], base)))
        p = _NO_FIGURE if way == ways[0] else f"{signed_rank_p(scores[way], base):.3f}"
        rows.append((way, f"{rank:.2f}", str(wins[way]), f"{gap:+.2f}", p))
    return Page(
        f"{part}: ways compared over {found.n_data} data sets",
        ("way", "mean rank", "wins", f"minus {ways[0]}, points", "Wilcoxon p"),
        tuple(rows),
        (_friedman(found),),
    )


def _friedman(found: Comparison) -> str:
    groups = "; ".join(", ".join(group) for group in found.groups()) or "none"
    return (
        f"Friedman: chi-square {found.chi_square:.2f} (p {found.chi_square_p:.3f}), Iman-Davenport "
        f"F {found.f_statistic:.2f} (p {found.f_p:.3f}). Nemenyi's critical difference at 0.05: "
        f"{found.critical_difference():.2f}. Not told apart: {groups}."
    )


def _beside_printed(results: Table3Results, part: str) -> Page:
    """Return how far the first three ways are from the columns that the paper prints of them."""
    known = [name for name in results.data if name in TABLE3_ACCURACY]
    rows = []
    for at, (way, column) in enumerate(zip(results.ways, TABLE3_COLUMNS, strict=False)):
        gaps = [abs(results.mean(way, name) - TABLE3_ACCURACY[name][at].value) for name in known]
        near = sum(gap <= NEAR for gap in gaps)
        rows.append(
            (
                way,
                column,
                f"{np.median(gaps):.2f}",
                f"{np.mean(gaps):.2f}",
                f"{near} of {len(gaps)}",
            )
        )
    return Page(
        f"{part}: distance from the paper's printed accuracy, points",
        ("way", "the paper's column", "median", "mean", f"within {NEAR} points"),
        tuple(rows),
    )


def _seconds(results: Table3Results, part: str, missing: Mapping[str, str]) -> Page:
    def cell(way: str, name: str) -> str:
        return f"{results.seconds[way][name]:.2f}"

    ours = (f"{results.median_speed_up(way):.2f}" for way in results.ways)
    theirs = (f"{_printed_speed_up(at):.2f}" for at in range(len(TABLE3_COLUMNS)))
    rows = [
        *_rows(results, missing, cell, TABLE3_SECONDS),
        ("median speed-up", *ours, *theirs),
    ]
    return Page(
        f"{part}: seconds of the processor",
        ("data", *results.ways, *_PAPER),
        tuple(rows),
        ("Of one thread, for the whole choice; the last row is the first column over each.",),
    )


def _printed_speed_up(column: int) -> float:
    """Return the paper's median speed-up; a printed zero has none."""
    ratios = [
        row[0].value / row[column].value for row in TABLE3_SECONDS.values() if row[column].value
    ]
    return float(np.median(ratios))


def _spread(results: Table3Results, part: str) -> Page:
    def cell(way: str, name: str) -> str:
        kinds = (results.splits, results.draws) if results.over == "splits" else (results.draws,)
        return " / ".join(_number(deviation(found[way][name])) for found in kinds)

    rows = [
        (name, *(cell(way, name) for way in results.ways), *_errors(TABLE3_ACCURACY.get(name)))
        for name in results.data
    ]
    what = "over splits / over draws" if results.over == "splits" else "over draws"
    return Page(
        f"{part}: standard deviation of the accuracy {what}, points",
        ("data", *results.ways, *_PAPER),
        tuple(rows),
        ("Draws are of V, or of the folds, on the first split; the paper's are of that kind.",),
    )


def _unconverged(results: Table3Results, part: str) -> Page:
    rows = [
        (name, *(f"{results.unconverged[way][name]:.1f}" for way in results.ways))
        for name in results.data
    ]
    return Page(
        f"{part}: fits that reached the solver's limit, mean number in a choice",
        ("data", *results.ways),
        tuple(rows),
    )


def _rows(
    results: Table3Results,
    missing: Mapping[str, str],
    cell: Callable[[str, str], str],
    printed: Mapping[str, tuple[Printed, ...]],
) -> list[tuple[str, ...]]:
    """Return a row for each data set, those without a number included, in alphabetical order."""
    rows = []
    for name in sorted({*results.data, *missing}, key=str.lower):
        ours = ["not available" if name in missing else cell(way, name) for way in results.ways]
        theirs = printed.get(name, (_NO_FIGURE,) * len(TABLE3_COLUMNS))
        rows.append((name, *ours, *map(str, theirs)))
    return rows


def _errors(printed: tuple[Printed, ...] | None) -> tuple[str, ...]:
    if printed is None:
        return (_NO_FIGURE,) * len(TABLE3_COLUMNS)
    return tuple(pair.error for pair in printed)


def _with_error(mean: float, error: float) -> str:
    return f"{mean:.2f}" if np.isnan(error) else f"{mean:.2f} ± {error:.2f}"


def _number(value: float) -> str:
    return _NO_FIGURE if np.isnan(value) else f"{value:.2f}"
