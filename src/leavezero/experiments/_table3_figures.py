"""The figures of Table 3: what each way gains on folds, and what it costs."""

from pathlib import Path
from typing import Any

from leavezero.experiments._comparison import Comparison
from leavezero.experiments._save import save_figure
from leavezero.experiments._table3_results import Table3Results

_MARKERS = "osD^v"


def draw_differences(results: Table3Results, path: str | Path, title: str = "") -> None:
    """Draw each way's accuracy minus the baseline's on every data set, with 95 % intervals.

    Parameters
    ----------
    results : Table3Results
        What to draw.
    path : path
        The file, whose ending says the format.
    title : str, default=""
        What stands above.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leavezero.experiments import Table3, draw_differences, table3_results
    >>> study = Table3(("iris",), repeats=2, draws=1)
    >>> lines = [{"key": key, "result": study(key)} for key in study.keys()]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "differences.svg"
    >>> draw_differences(table3_results(lines), path)
    >>> path.exists()
    True
    """
    names, ways = results.data[::-1], results.ways[1:]
    figure, axes = _empty(height=0.5 * len(names) + 1.4)
    for at, way in enumerate(ways):
        found = [results.difference(way, name) for name in names]
        shift = 0.15 * ((len(ways) - 1) / 2 - at)
        axes.errorbar(
            [middle for middle, _, _ in found],
            [place + shift for place in range(len(names))],
            xerr=[[m - low for m, low, _ in found], [high - m for m, _, high in found]],
            fmt=_MARKERS[at % len(_MARKERS)],
            markersize=4,
            capsize=1.5,
            linewidth=0.8,
            label=way,
        )
    axes.axvline(0.0, color="0.4", linewidth=1)
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(f"accuracy minus that of {results.baseline}, points; right is better")
    _finish(figure, axes, path, title)


def draw_time_against_accuracy(results: Table3Results, path: str | Path, title: str = "") -> None:
    """Draw how much faster than the baseline each way is against what it gains, a dot a data set.

    Parameters
    ----------
    results, path, title
        As for :func:`draw_differences`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leavezero.experiments import Table3, draw_time_against_accuracy, table3_results
    >>> study = Table3(("iris",), repeats=1, draws=1)
    >>> lines = [{"key": key, "result": study(key)} for key in study.keys()]
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "time.svg"
    >>> draw_time_against_accuracy(table3_results(lines), path)
    >>> path.exists()
    True
    """
    figure, axes = _empty(height=4.5)
    for at, way in enumerate(results.ways[1:]):
        axes.scatter(
            [results.speed_up(way, name) for name in results.data],
            [results.difference(way, name)[0] for name in results.data],
            marker=_MARKERS[at % len(_MARKERS)],
            s=22,
            label=way,
        )
    axes.axhline(0.0, color="0.4", linewidth=1)
    axes.axvline(1.0, color="0.4", linewidth=1)
    axes.set_xscale("log")
    axes.set_xlabel(f"times faster than {results.baseline}; right is better")
    axes.set_ylabel(f"accuracy minus that of {results.baseline}, points")
    _finish(figure, axes, path, title)


def draw_critical_differences(
    found: Comparison, path: str | Path, title: str = "", alpha: float = 0.05
) -> None:
    """Draw mean ranks on a line, with bars over ways that cannot be told apart (Demsar 2006).

    Parameters
    ----------
    found : Comparison
        What to draw.
    path : path
        The file, whose ending says the format.
    title : str, default=""
        What stands above.
    alpha : float, default=0.05
        The level of Nemenyi's test.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leavezero.experiments import compare, draw_critical_differences
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "ranks.svg"
    >>> draw_critical_differences(compare({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 5.0]}), path)
    >>> path.exists()
    True
    """
    order = sorted(range(len(found.ways)), key=lambda way: found.ranks[way])
    figure, axes = _empty(height=0.4 * len(order) + 1.6)
    for level, way in enumerate(reversed(order), start=1):  # the best lowest: no label is crossed
        rank = found.ranks[way]
        axes.plot([rank, rank], [0, -level], color="0.3", linewidth=0.8)
        axes.text(rank, -level, f" {found.ways[way]} ({rank:.2f})", va="center", fontsize=8)
    for level, group in enumerate(found.groups(alpha)):
        ends = [found.ranks[found.ways.index(way)] for way in group]
        height = -0.35 - 0.3 * level
        axes.plot([min(ends), max(ends)], [height, height], color="C3", linewidth=3)
    reach = found.critical_difference(alpha)
    axes.errorbar([1 + reach / 2], [0.8], xerr=[[reach / 2], [reach / 2]], color="0.2", capsize=3)
    axes.text(1, 1.1, f"critical difference {reach:.2f}", fontsize=8)
    axes.set_xlim(0.9, len(order) + 0.9)
    axes.set_ylim(-len(order) - 0.7, 1.6)
    axes.xaxis.set_ticks(range(1, len(order) + 1))
    axes.set_xlabel(f"mean rank over {found.n_data} data sets; left is better")
    axes.yaxis.set_visible(False)
    axes.spines["left"].set_visible(False)
    _finish(figure, axes, path, title, legend=False)


def _empty(height: float) -> tuple[Any, Any]:
    from matplotlib.figure import Figure  # extra app

    figure = Figure(figsize=(7.5, height), layout="constrained")
    return figure, figure.subplots()


def _finish(figure: Any, axes: Any, path: str | Path, title: str, legend: bool = True) -> None:
    axes.set_title(title, fontsize=10)
    axes.spines[["top", "right"]].set_visible(False)
    if legend:
        axes.legend(frameon=False, fontsize=8)
    save_figure(figure, path)
