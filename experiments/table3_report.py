"""Tables and figures of Table 3, with the paper's values next to ours."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd
from scipy import stats

from experiments.figures import MARKERS, new_figure, plot_intervals, plot_ranks, save
from experiments.markdown import (
    NO_VALUE,
    Interval,
    MarkdownTable,
    format_interval,
    format_number,
    format_range,
    make_frame,
    missing_notes,
)
from experiments.paper_values import (
    TABLE3_ACCURACY,
    TABLE3_COLUMNS,
    TABLE3_SECONDS,
    TABLE3_WINS,
    Printed,
)
from experiments.rank_tests import RankComparison, compare_ranks, count_wins, signed_rank_p
from experiments.runner import Line

SCALED, UNSCALED, PUBLISHED = "scaled", "unscaled", "as-published"
MIN_SPLITS = 5  # for an interval
NEAR = 2.5  # points: about the spread over samples of the rows
PAPER = tuple(f"paper: {column}" for column in TABLE3_COLUMNS)


@dataclass(frozen=True, eq=False)
class Table3Results:
    """Accuracies in percent and CPU seconds of each method on each data set.

    ``runs`` has one row per data set, split, sample and method. Means are taken over splits with
    one validation set each, or over validation sets on the first split.
    """

    runs: pd.DataFrame
    over: str  # "splits" or "samples"

    @cached_property
    def data(self) -> list[str]:
        """The data sets, in alphabetical order."""
        return sorted(self.runs["data"].unique(), key=str.lower)

    @cached_property
    def methods(self) -> list[str]:
        """The methods; the first is the baseline, cross-validation."""
        return list(self.runs["method"].unique())

    def values(self, method: str, name: str, over: str | None = None) -> np.ndarray:
        """Return the accuracies over splits or samples."""
        runs, fixed = self.runs, "sample" if (over or self.over) == "splits" else "split"
        chosen = (runs["method"] == method) & (runs["data"] == name) & (runs[fixed] == 0)
        return np.asarray(runs.loc[chosen, "accuracy"], dtype=float)

    def means(self, method: str) -> list[float]:
        """Return the mean accuracy on every data set."""
        return [float(self.values(method, name).mean()) for name in self.data]

    def mean_of(self, column: str) -> pd.DataFrame:
        """Return the mean of a column over all runs, by data set and method."""
        return self.runs.pivot_table(column, "data", "method")

    def difference(self, method: str, name: str, level: float = 0.95) -> Interval:
        """Return the mean difference to the baseline over splits, with its interval.

        The variance is corrected for the rows that splits share (Nadeau and Bengio 2003): training
        sets overlap, and without the correction intervals are far too short.
        """
        base = self.values(self.methods[0], name, "splits")
        differences = self.values(method, name, "splits") - base
        middle, n_splits = float(differences.mean()), len(differences)
        if n_splits < MIN_SPLITS:
            return middle, float("-inf"), float("inf")
        first = self.runs[self.runs["data"] == name].iloc[0]
        share = first["n_test"] / first["n_train"]
        scale = deviation(differences) * float(np.sqrt(1 / n_splits + share))
        reach = float(stats.t.ppf((1 + level) / 2, n_splits - 1)) * scale
        return middle, middle - reach, middle + reach

    def speed_up(self, method: str) -> pd.Series:
        """Return the baseline's seconds divided by the method's, by data set."""
        seconds = self.mean_of("seconds")
        return seconds[self.methods[0]] / seconds[method].clip(lower=1e-9)


def table3_results(lines: Sequence[Line], over: str = "splits") -> Table3Results:
    """Return the results of finished runs."""
    runs = pd.DataFrame(
        [
            {
                **line["key"],
                **values,
                "method": method,
                "accuracy": 100 * values["accuracy"],
                "n_train": line["result"]["n_train"],
                "n_test": line["result"]["n_test"],
            }
            for line in lines
            for method, values in line["result"]["methods"].items()
        ]
    )
    order = [method for method in _METHOD_ORDER if method in set(runs["method"])]
    runs["order"] = runs["method"].map(order.index)
    return Table3Results(runs.sort_values(["order", "data", "split", "sample"]), over)


_METHOD_ORDER = (
    "10-fold CV",
    "10-fold CV, largest C",
    "mix-up, m = n",
    "mix-up, m = 10 n",
    "default",
    "shifted labels, m = n",
    "shifted labels, m = 10 n",
)


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Draw the figures of every part and return its tables."""
    tables: list[MarkdownTable] = []
    for part, found in lines.items():
        results = table3_results(found, over="samples" if part == PUBLISHED else "splits")
        _draw(results, part, folder)
        tables += table3_tables(results, part, missing)
    return {"tables": [*tables, printed_table()]}


def table3_tables(
    results: Table3Results, part: str, missing: Mapping[str, str]
) -> list[MarkdownTable]:
    """Return the tables of one part."""
    tables = [_accuracy(results, part, missing)]
    if results.over == "splits":
        tables.append(_differences(results, part))
    if len(results.data) > 1:
        tables.append(_tests({m: results.means(m) for m in results.methods}, part))
        tables.append(_distance_from_paper(results, part))
    tables += [_seconds(results, part, missing), _spread(results, part)]
    if results.runs["unconverged"].any():
        tables.append(_unconverged(results, part))
    return tables


def printed_table() -> MarkdownTable:
    """Return the same tests on the values that the paper prints, all 20 data sets."""
    columns = {
        name: [row[at].value for row in TABLE3_ACCURACY.values()]
        for at, name in enumerate(TABLE3_COLUMNS)
    }
    table = _tests(columns, "the paper's printed values")
    counts = ", ".join(map(str, TABLE3_WINS))
    note = f"The paper prints {counts} wins, which are its bold cells."
    return MarkdownTable(table.title, table.frame, (*table.notes, note))


def _accuracy(results: Table3Results, part: str, missing: Mapping[str, str]) -> MarkdownTable:
    def cell(method: str, name: str) -> str:
        values = results.values(method, name)
        error = deviation(values) / np.sqrt(len(values))
        return f"{values.mean():.2f}" + ("" if np.isnan(error) else f" ± {error:.2f}")

    rows = _rows(results, missing, cell, TABLE3_ACCURACY)
    wins = count_wins({method: results.means(method) for method in results.methods})
    rows["wins"] = [*map(str, wins.values()), *map(str, TABLE3_WINS)]
    counts = format_range(len(results.values(results.methods[0], name)) for name in results.data)
    return MarkdownTable(
        f"{part}: accuracy in percent",
        make_frame("data", (*results.methods, *PAPER), rows),
        (
            f"Mean ± standard error over {counts} {results.over}; a tie in two decimals counts as "
            "a win for all. What the paper calls standard errors are, in its published code, "
            "standard deviations over validation sets on one split.",
            *missing_notes(missing),
        ),
    )


def _differences(results: Table3Results, part: str) -> MarkdownTable:
    others = results.methods[1:]
    rows = {
        name: [format_interval(results.difference(method, name)) for method in others]
        for name in results.data
    }
    return MarkdownTable(
        f"{part}: accuracy minus that of {results.methods[0]}, points",
        make_frame("data", others, rows),
        (
            "In parentheses 95 % intervals over splits, corrected for the rows that splits share "
            "(Nadeau and Bengio 2003).",
        ),
    )


def _tests(scores: Mapping[str, Sequence[float]], part: str) -> MarkdownTable:
    comparison, wins = compare_ranks(scores), count_wins(scores)
    baseline = next(iter(scores))
    rows = {}
    for method, rank in zip(scores, comparison.ranks, strict=True):
        gap = float(np.mean(np.subtract(scores[method], scores[baseline])))
        p = signed_rank_p(scores[method], scores[baseline])
        p_cell = NO_VALUE if method == baseline else f"{p:.3f}"
        rows[method] = [f"{rank:.2f}", str(wins[method]), f"{gap:+.2f}", p_cell]
    columns = ("mean rank", "wins", f"minus {baseline}, points", "Wilcoxon p")
    return MarkdownTable(
        f"{part}: comparison over {comparison.n_data} data sets",
        make_frame("method", columns, rows),
        (_friedman(comparison),),
    )


def _friedman(found: RankComparison) -> str:
    groups = "; ".join(", ".join(group) for group in found.groups()) or "none"
    return (
        f"Friedman: chi-square {found.chi_square:.2f} (p {found.chi_square_p:.3f}), Iman-Davenport "
        f"F {found.f_statistic:.2f} (p {found.f_p:.3f}). Nemenyi's critical difference at 0.05: "
        f"{found.critical_difference():.2f}. Without significant difference: {groups}."
    )


def _distance_from_paper(results: Table3Results, part: str) -> MarkdownTable:
    """Return the distance of the first three methods from the paper's three columns."""
    known = [name for name in results.data if name in TABLE3_ACCURACY]
    rows = {}
    for at, (method, column) in enumerate(zip(results.methods, TABLE3_COLUMNS, strict=False)):
        gaps = [
            abs(results.values(method, name).mean() - TABLE3_ACCURACY[name][at].value)
            for name in known
        ]
        near = sum(gap <= NEAR for gap in gaps)
        cells = [f"{np.median(gaps):.2f}", f"{np.mean(gaps):.2f}", f"{near} of {len(gaps)}"]
        rows[method] = [column, *cells]
    return MarkdownTable(
        f"{part}: distance from the paper's printed accuracy, points",
        make_frame(
            "method", ("the paper's column", "median", "mean", f"within {NEAR} points"), rows
        ),
    )


def _seconds(results: Table3Results, part: str, missing: Mapping[str, str]) -> MarkdownTable:
    seconds = results.mean_of("seconds")
    rows = _rows(results, missing, lambda m, name: f"{seconds.loc[name, m]:.2f}", TABLE3_SECONDS)
    ours = (f"{results.speed_up(method).median():.2f}" for method in results.methods)
    printed = (f"{_printed_speed_up(at):.2f}" for at in range(len(TABLE3_COLUMNS)))
    rows["median speed-up"] = [*ours, *printed]
    return MarkdownTable(
        f"{part}: CPU seconds",
        make_frame("data", (*results.methods, *PAPER), rows),
        ("One thread, for the whole selection; last row: first column divided by each.",),
    )


def _printed_speed_up(column: int) -> float:
    """Return the paper's median speed-up, without printed zeros."""
    ratios = [
        row[0].value / row[column].value for row in TABLE3_SECONDS.values() if row[column].value
    ]
    return float(np.median(ratios))


def _spread(results: Table3Results, part: str) -> MarkdownTable:
    kinds = ("splits", "samples") if results.over == "splits" else ("samples",)

    def cell(method: str, name: str) -> str:
        found = (deviation(results.values(method, name, over)) for over in kinds)
        return " / ".join(map(format_number, found))

    rows = {}
    for name in results.data:
        printed = TABLE3_ACCURACY.get(name)
        errors = [NO_VALUE] * len(PAPER) if printed is None else [pair.error for pair in printed]
        rows[name] = [*(cell(method, name) for method in results.methods), *errors]
    return MarkdownTable(
        f"{part}: standard deviation of the accuracy over {' / over '.join(kinds)}, points",
        make_frame("data", (*results.methods, *PAPER), rows),
        ("Samples are validation sets, or folds, on the first split, as in the paper.",),
    )


def _unconverged(results: Table3Results, part: str) -> MarkdownTable:
    means = results.mean_of("unconverged")
    rows = {
        name: [f"{means.loc[name, method]:.1f}" for method in results.methods]
        for name in results.data
    }
    title = f"{part}: fits that reached the solver's limit, mean number per selection"
    return MarkdownTable(title, make_frame("data", results.methods, rows))


def _rows(
    results: Table3Results,
    missing: Mapping[str, str],
    cell: Callable[[str, str], str],
    printed: Mapping[str, tuple[Printed, ...]],
) -> dict[str, list[str]]:
    """Return the cells of each data set, also of missing ones, in alphabetical order."""
    rows = {}
    for name in sorted({*results.data, *missing}, key=str.lower):
        is_known = name in results.data
        ours = [cell(m, name) if is_known else "not available" for m in results.methods]
        rows[name] = [*ours, *map(str, printed.get(name, (NO_VALUE,) * len(PAPER)))]
    return rows


def deviation(values: np.ndarray) -> float:
    """Return the standard deviation; NaN for one value."""
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _draw(results: Table3Results, part: str, folder: Path) -> None:
    title = f"Table 3, {part}: {len(results.data)} data sets"
    if results.over == "splits":
        _draw_differences(results, folder / f"{part}-differences.svg", title)
        _draw_time(results, folder / f"{part}-time.svg", title)
    if len(results.data) > 1:
        scores = {method: results.means(method) for method in results.methods}
        plot_ranks(compare_ranks(scores), folder / f"{part}-ranks.svg", title)


def _draw_differences(results: Table3Results, path: Path, title: str) -> None:
    names = results.data[::-1]
    figure, [axes] = new_figure(7.5, 0.5 * len(names) + 1.4)
    series = {m: [results.difference(m, name) for name in names] for m in results.methods[1:]}
    plot_intervals(axes, names, series)
    axes.set_xlabel(f"accuracy minus that of {results.methods[0]}, points; right is better")
    save(figure, [axes], path, title)


def _draw_time(results: Table3Results, path: Path, title: str) -> None:
    figure, [axes] = new_figure(7.5, 4.5)
    for at, method in enumerate(results.methods[1:]):
        speed_up = results.speed_up(method)
        axes.scatter(
            [speed_up[name] for name in results.data],
            [results.difference(method, name)[0] for name in results.data],
            marker=MARKERS[at % len(MARKERS)],
            s=22,
            label=method,
        )
    axes.axhline(0.0, color="0.4", linewidth=1)
    axes.axvline(1.0, color="0.4", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel(f"times faster than {results.methods[0]}; right is better")
    axes.set_ylabel(f"accuracy minus that of {results.methods[0]}, points")
    save(figure, [axes], path, title)
