"""Helpers of the figures; matplotlib is imported when one is drawn."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from experiments.rank_tests import RankComparison

MARKERS = "osD^v"


def new_figure(width: float, height: float, n_panels: int = 1) -> tuple[Any, list[Any]]:
    """Return a figure and its panels, side by side."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    return figure, list(figure.subplots(1, n_panels, sharey=n_panels > 1, squeeze=False)[0])


def save(figure: Any, panels: Sequence[Any], path: Path, title: str, legend: bool = True) -> None:
    """Write a figure: the same bytes from the same values, without a date or random names."""
    from matplotlib import rc_context

    figure.suptitle(title, fontsize=10)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    if legend:
        panels[-1].legend(frameon=False, fontsize=7)
    with rc_context({"svg.hashsalt": "leavezero"}):
        figure.savefig(path, metadata={"Date": None})


def plot_intervals(
    axes: Any, names: Sequence[str], series: dict[str, list[tuple[float, float, float]]]
) -> None:
    """Plot estimates with intervals, one row per name and one marker per series."""
    for at, (label, found) in enumerate(series.items()):
        shift = 0.15 * ((len(series) - 1) / 2 - at)
        axes.errorbar(
            [middle for middle, _, _ in found],
            [place + shift for place in range(len(names))],
            xerr=[[m - low for m, low, _ in found], [high - m for m, _, high in found]],
            fmt=MARKERS[at % len(MARKERS)],
            markersize=4,
            capsize=1.5,
            linewidth=0.8,
            label=label,
        )
    axes.axvline(0.0, color="0.4", linewidth=1)
    axes.set_yticks(range(len(names)), names)


def plot_ranks(comparison: RankComparison, path: Path, title: str, alpha: float = 0.05) -> None:
    """Plot mean ranks with bars over methods that do not differ significantly (Demsar 2006)."""
    order = sorted(range(len(comparison.methods)), key=lambda at: comparison.ranks[at])
    figure, [axes] = new_figure(7.5, 0.4 * len(order) + 1.6)
    for level, at in enumerate(reversed(order), start=1):  # the best lowest: no label is crossed
        rank = comparison.ranks[at]
        axes.plot([rank, rank], [0, -level], color="0.3", linewidth=0.8)
        axes.text(rank, -level, f" {comparison.methods[at]} ({rank:.2f})", va="center", fontsize=8)
    for level, group in enumerate(comparison.groups(alpha)):
        ends = [comparison.ranks[comparison.methods.index(method)] for method in group]
        height = -0.35 - 0.3 * level
        axes.plot([min(ends), max(ends)], [height, height], color="C3", linewidth=3)
    reach = comparison.critical_difference(alpha)
    axes.errorbar([1 + reach / 2], [0.8], xerr=[[reach / 2], [reach / 2]], color="0.2", capsize=3)
    axes.text(1, 1.1, f"critical difference {reach:.2f}", fontsize=8)
    axes.set_xlim(0.9, len(order) + 0.9)
    axes.set_ylim(-len(order) - 0.7, 1.6)
    axes.xaxis.set_ticks(range(1, len(order) + 1))
    axes.set_xlabel(f"mean rank over {comparison.n_data} data sets; left is better")
    axes.yaxis.set_visible(False)
    axes.spines["left"].set_visible(False)
    save(figure, [axes], path, title, legend=False)
