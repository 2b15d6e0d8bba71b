"""Figures of a search on matplotlib axes, and tables of the plotted values."""

from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from leavezero._typing import Floats, Ints

Record = Mapping[str, Any]

COLORS = {  # by the name of the CSS variable that replaces each in the HTML page
    "background": "#ffffff",
    "ink": "#1b1f24",
    "soft": "#57606a",
    "line": "#d0d7de",
    "accent": "#0b5cad",
    "tied": "#6a4fb3",
    "training": "#b35900",
    "warn": "#a40e26",
    "good": "#116329",
}
_CANDIDATE_COLORS = {"other": "soft", "tied": "tied", "best": "accent"}  # best is drawn last


def plot_scores(
    candidates: Sequence[Record],
    metric: str,
    ax: Any = None,
    *,
    labels: str = "above",
    **kwargs: Any,
) -> Any:
    """Plot the score of each candidate with its interval, the first candidate on top.

    Parameters
    ----------
    candidates : sequence of mappings
        With "label" and "score"; optional "low", "high", "best" and "tied".
    metric : str
        The label of the horizontal axis.
    ax : matplotlib Axes or None, default=None
        Drawn on and returned; None creates a figure with pyplot.
    labels : "above" or "left", default="above"
        Whether a label is above its interval or, if short, left of the axes.
    **kwargs : dict
        Passed to ``Axes.errorbar``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from leavezero.report import plot_scores
    >>> candidates = [{"label": "C=1", "score": 0.9}]
    >>> plot_scores(candidates, "accuracy", Figure().subplots()).get_xlabel()
    'accuracy'
    """
    ax = _axes(ax, height=0.8 + 0.3 * len(candidates))
    positions = np.arange(len(candidates))
    score, low, high = (_column(candidates, name) for name in ("score", "low", "high"))
    errors = np.nan_to_num(np.abs(np.stack([low, high]) - score))
    for color, at in by_color(candidates):
        style = {"fmt": "o", "markersize": 5, "capsize": 2, "color": color} | kwargs
        ax.errorbar(score[at], positions[at], xerr=errors[:, at], **style)
    ax.set(xlabel=plain_label(metric), ylim=(len(candidates) - 0.5, -0.9))
    ax.locator_params(axis="x", nbins=5)
    if labels == "left":
        ax.set_yticks(positions, [plain_label(one["label"], 22) for one in candidates])
        return ax
    # Each label is inside the axes above its interval: long labels need no margin.
    texts = [plain_label(one["label"], 55) for one in candidates]
    ax.set_yticks(positions - 0.15, texts, ha="left", va="bottom")
    ax.tick_params(axis="y", length=0, pad=-1)
    ax.grid(visible=False, axis="y")
    return ax


def plot_validation_set(projection: Record, ax: Any = None, **kwargs: Any) -> Any:
    """Plot the density of the training data as color and that of the validation set as lines.

    Parameters
    ----------
    projection : mapping
        "x_edges", "y_edges", and the shares of rows in each cell, "training" and "validation".
    ax : matplotlib Axes or None, default=None
        Drawn on and returned; None creates a figure with pyplot.
    **kwargs : dict
        Passed to ``Axes.pcolormesh``.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from leavezero.report import plot_validation_set
    >>> shares, edges = [[0.5, 0.0], [0.0, 0.5]], {"x_edges": [0, 1, 2], "y_edges": [0, 1, 2]}
    >>> projection = edges | {"training": shares, "validation": shares}
    >>> plot_validation_set(projection, Figure().subplots()).get_xlabel()
    'first component'
    """
    ax = _axes(ax)
    edges = [np.asarray(projection[name], dtype=float) for name in ("x_edges", "y_edges")]
    training, validation = (np.asarray(projection[n]).T for n in ("training", "validation"))
    ax.pcolormesh(*edges, training, **({"cmap": color_ramp("training"), "vmin": 0} | kwargs))
    centers = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    if validation.max() > validation.min():  # else there are no contour lines
        levels = validation.max() * np.array([0.1, 0.3, 0.5, 0.7, 0.9])
        ax.contour(*centers, validation, levels=levels, colors=COLORS["accent"], linewidths=1)
    ax.set(xlabel="first component", ylabel="second component")
    ax.set_title("color: training data, lines: validation set")
    return ax


def plot_comparison(comparison: Record, ax: Any = None) -> Any:
    """Plot the held-out scores of two methods on each split, and their means.

    Parameters
    ----------
    comparison : mapping
        "metric", "methods" (two mappings with "method", "held_out_score" and "seconds") and
        "splits", mappings with "split", "method" and "held_out_score".
    ax : matplotlib Axes or None, default=None
        Drawn on and returned; None creates a figure with pyplot.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from leavezero.report import plot_comparison
    >>> methods = [{"method": name, "held_out_score": 0.9, "seconds": 1.0} for name in "ab"]
    >>> splits = [{"split": 1, "method": name, "held_out_score": 0.9} for name in "ab"]
    >>> comparison = {"metric": "accuracy", "methods": methods, "splits": splits}
    >>> plot_comparison(comparison, Figure().subplots()).get_xlabel()
    'accuracy on held-out rows'
    """
    ax = _axes(ax)
    names = [str(one["split"]) for one in comparison["splits"][::2]] + ["mean"]
    places = np.arange(len(names))
    scores = []
    for method, marker, color in zip(
        comparison["methods"], "os", ("accent", "training"), strict=True
    ):
        own = [one for one in comparison["splits"] if one["method"] == method["method"]]
        scores.append(np.append(_column(own, "held_out_score"), method["held_out_score"]))
        mean, seconds = f"{method['held_out_score']:.4g}", f"{method['seconds']:.3g} s"
        label = plain_label(f"{method['method']}: mean {mean}, {seconds} per search", 70)
        style: dict[str, Any] = {"marker": marker, "color": COLORS[color], "zorder": 3}
        ax.scatter(
            scores[-1], places, s=np.where(places < places[-1], 30, 80), label=label, **style
        )
    ax.hlines(places, *scores, color=COLORS["soft"], linewidth=1)
    ax.set_yticks(places, [f"split {name}" for name in names[:-1]] + names[-1:])
    label = plain_label(f"{comparison['metric']} on held-out rows")
    ax.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
    ax.locator_params(axis="x", nbins=6)
    ax.figure.legend(loc="outside upper left", frameon=False)
    return ax


def results_frame(rows: Sequence[Record], index: str | None = None) -> Any:
    """Return a pandas DataFrame with one row per record.

    Parameters
    ----------
    rows : sequence of mapping
        The records; missing entries become NaN.
    index : str or None, default=None
        The column that becomes the index.

    Examples
    --------
    >>> from leavezero.report import results_frame
    >>> results_frame([{"C": 1, "score": 0.5}], index="C").loc[1, "score"]
    np.float64(0.5)
    """
    frame = import_extra("pandas", "A data frame").DataFrame(list(rows))
    return frame if index is None else frame.set_index(index)


def import_extra(module: str, feature: str) -> Any:
    """Import a module of the extra "app", or raise with the command that installs it."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise ImportError(
            f'{feature} requires {name}. Install it with pip install "leavezero[app]".'
        ) from error


def plain_label(value: Any, max_length: int = 40) -> str:
    """Return a text in one short line that matplotlib does not parse as a formula."""
    text = " ".join(str(value).split())
    text = text if len(text) <= max_length else text[: max_length - 1] + "…"
    return text.replace("$", r"\$")


def by_color(candidates: Sequence[Record]) -> Iterator[tuple[str, Ints]]:
    """Yield a color and the positions of its candidates: other, tied, best."""
    kinds = ["best" if c.get("best") else "tied" if c.get("tied") else "other" for c in candidates]
    for kind, color in _CANDIDATE_COLORS.items():
        at = np.flatnonzero([one == kind for one in kinds])
        if len(at):
            yield COLORS[color], at


def color_ramp(color: str) -> Any:
    """Return a colormap from transparent to a color, which suits light and dark pages."""
    colors = import_extra("matplotlib.colors", "A figure")
    rgb = colors.to_rgb(COLORS[color])
    return colors.ListedColormap([(*rgb, alpha) for alpha in np.linspace(0, 1, 65) ** 0.7])


def mark_diagonal(ax: Any, **kwargs: Any) -> None:
    """Draw the line on which both coordinates are equal."""
    middle = np.mean(ax.get_xlim())
    style = {"color": COLORS["soft"], "linestyle": "--", "linewidth": 1}
    ax.axline((middle, middle), slope=1, **(style | kwargs))


def _axes(ax: Any, height: float = 4.8) -> Any:
    if ax is not None:
        return ax
    pyplot = import_extra("matplotlib.pyplot", "A figure")
    return pyplot.subplots(figsize=(6.4, max(2.4, height)), layout="constrained")[1]


def _column(rows: Sequence[Record], name: str) -> Floats:
    values = [row.get(name) for row in rows]
    return np.array([np.nan if value is None else value for value in values], dtype=float)
