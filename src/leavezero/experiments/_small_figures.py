"""The figures on few rows: score against test, bias against n, spread against m."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from leavezero.experiments._runner import Line
from leavezero.experiments._save import save_figure
from leavezero.experiments._small_pages import RIVALS, draws_table
from leavezero.experiments._small_results import BIAS, SmallResults
from leavezero.experiments._small_ways import FACTORS, RESUBSTITUTION

_MARKERS = "osD^v"


def draw_calibration(results: SmallResults, path: str | Path, title: str = "") -> None:
    """Draw the chosen model's score against its test accuracy, a panel for each way.

    Parameters
    ----------
    results : SmallResults
        What to draw; a dot is a data set, a family and an n.
    path : path
        The file, whose ending says the format.
    title : str, default=""
        What stands above.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leavezero.experiments import draw_calibration, small_results
    >>> found = {"k-NN": {"best": 0.9, "ways": {"10-fold CV": [0.7, 0.8, -0.05, 0.1]}}}
    >>> line = {"key": {"data": "toy", "n": 20, "sample": 0}, "result": {"families": found}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "calibration.svg"
    >>> draw_calibration(small_results([line]), path)
    >>> path.exists()
    True
    """
    ways = [way for way in RIVALS if way in results.ways]
    figure, panels = _panels(len(ways))
    for axes, way in zip(panels, ways, strict=True):
        for at, n in enumerate(results.sizes):
            dots = np.vstack([results.dots[family, way, n] for family in results.families])
            axes.scatter(
                dots[:, 1], dots[:, 0], s=12, marker=_MARKERS[at % len(_MARKERS)], label=f"n = {n}"
            )
        axes.axline((50, 50), slope=1, color="0.4", linewidth=1)
        axes.set_title(way, fontsize=8)
        axes.set_xlabel("test accuracy, percent")
    panels[0].set_ylabel("score, percent")
    _finish(figure, panels, path, title)


def draw_bias(results: SmallResults, path: str | Path, title: str = "") -> None:
    """Draw the mean bias of all candidates against n, a panel for each family.

    Parameters
    ----------
    results, path, title
        As for :func:`draw_calibration`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leavezero.experiments import draw_bias, small_results
    >>> found = {"k-NN": {"best": 0.9, "ways": {"10-fold CV": [0.7, 0.8, -0.05, 0.1]}}}
    >>> line = {"key": {"data": "toy", "n": 20, "sample": 0}, "result": {"families": found}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "bias.svg"
    >>> draw_bias(small_results([line]), path)
    >>> path.exists()
    True
    """
    ways = [way for way in (*RIVALS, RESUBSTITUTION) if way in results.ways]
    figure, panels = _panels(len(results.families))
    for axes, family in zip(panels, results.families, strict=True):
        for at, way in enumerate(ways):
            bias = [results.mean(BIAS, family, way, n) for n in results.sizes]
            marker = _MARKERS[at % len(_MARKERS)]
            axes.plot(results.sizes, bias, marker=marker, markersize=4, linewidth=1, label=way)
        axes.axhline(0.0, color="0.4", linewidth=1)
        axes.set_xscale("log")
        axes.set_xticks(results.sizes, [str(n) for n in results.sizes])
        axes.minorticks_off()
        axes.set_title(family, fontsize=8)
        axes.set_xlabel("n")
    panels[0].set_ylabel("score minus test accuracy, points")
    _finish(figure, panels, path, title)


def draw_spread(lines: Iterable[Line], path: str | Path, title: str = "") -> None:
    """Draw the spread of score and of test accuracy over draws of V against m, by family.

    Parameters
    ----------
    lines : list of dict
        Those of :class:`SmallDraws`.
    path, title
        As for :func:`draw_calibration`.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from leavezero.experiments import draw_spread
    >>> found = {"k-NN": {"1": [0.1, 0.02, 0.8], "10": [0.03, 0.01, 0.8], "100": [0.01, 0.0, 0.8]}}
    >>> line = {"key": {"data": "toy", "n": 20, "sample": 0}, "result": {"families": found}}
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "spread.svg"
    >>> draw_spread([line], path)
    >>> path.exists()
    True
    """
    table = draws_table(lines)
    families = list(dict.fromkeys(family for family, _ in table))
    figure, panels = _panels(len(families))
    for axes, family in zip(panels, families, strict=True):
        for at, (n, found) in enumerate((n, f) for (name, n), f in table.items() if name == family):
            color = f"C{at}"
            axes.plot(FACTORS, found[:, 0], "o-", color=color, linewidth=1, label=f"score, n = {n}")
            axes.plot(FACTORS, found[:, 1], "s--", color=color, linewidth=1, label=f"test, n = {n}")
        axes.set_xscale("log")
        axes.set_title(family, fontsize=8)
        axes.set_xlabel("m / n")
    panels[0].set_ylabel("standard deviation over draws of V, points")
    _finish(figure, panels, path, title)


def _panels(count: int) -> tuple[Any, list[Any]]:
    from matplotlib.figure import Figure  # extra app

    figure = Figure(figsize=(3.0 * count + 1.0, 3.6), layout="constrained")
    return figure, list(figure.subplots(1, count, sharey=True, squeeze=False)[0])


def _finish(figure: Any, panels: list[Any], path: str | Path, title: str) -> None:
    figure.suptitle(title, fontsize=10)
    for axes in panels:
        axes.spines[["top", "right"]].set_visible(False)
    panels[-1].legend(frameon=False, fontsize=7)
    save_figure(figure, path)
