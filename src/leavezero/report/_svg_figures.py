"""The figures of the HTML page as SVG, drawn by matplotlib."""

import io
import warnings
from collections.abc import Callable, Sequence
from itertools import combinations
from typing import Any
from xml.etree import ElementTree

import numpy as np

from leavezero._typing import Floats
from leavezero.report._plots import (
    COLORS,
    Record,
    by_color,
    import_extra,
    mark_diagonal,
    plain_label,
    plot_scores,
    plot_validation_set,
)
from leavezero.report._summarize import format_number

WIDTH = 360  # pixels; a phone shows it unscaled
MAX_INTERVALS, MAX_LINES, MAX_POINTS, MAX_PARAMS, MAX_CELLS = 15, 300, 1_000, 8, 16
_PIXELS_PER_INCH = 96
_LINK = "{http://www.w3.org/1999/xlink}href"
_STYLE = {
    "axes.axisbelow": True,
    "axes.edgecolor": COLORS["line"],
    "axes.facecolor": "none",
    "axes.grid": True,
    "axes.labelcolor": COLORS["ink"],
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 8.25,
    "figure.facecolor": COLORS["background"],
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.25,  # points: 11 pixels
    "grid.color": COLORS["line"],
    "grid.linewidth": 0.6,
    "svg.fonttype": "none",  # text remains text: searchable and in the fonts of the page
    "text.color": COLORS["ink"],
    "xtick.color": COLORS["line"],
    "xtick.labelcolor": COLORS["soft"],
    "ytick.color": COLORS["line"],
    "ytick.labelcolor": COLORS["soft"],
}


def to_svg(
    plot: Callable[..., Any],
    *args: Any,
    label: str,
    size: tuple[float, float] = (560, 470),
    themed: bool = False,
    **kwargs: Any,
) -> str:
    """Return a figure as SVG text; equal input gives equal bytes.

    Parameters
    ----------
    plot : callable
        Called as ``plot(*args, ax=ax, **kwargs)``.
    *args, **kwargs : object
        Arguments of the plot.
    label : str
        The text alternative of the figure. Figures of one page need different ones.
    size : pair of float, default=(560, 470)
        Width and height in pixels.
    themed : bool, default=False
        Whether colors are CSS variables of the page instead of fixed colors.

    Examples
    --------
    >>> from leavezero.report import plot_scores, to_svg
    >>> svg = to_svg(plot_scores, [{"label": "C=1", "score": 0.9}], "accuracy", label="Scores")
    >>> svg.startswith('<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="Scores"')
    True
    """
    figure_module = import_extra("matplotlib.figure", "A figure")
    style = import_extra("matplotlib.style", "A figure")
    inches = tuple(length / _PIXELS_PER_INCH for length in size)
    text = io.StringIO()
    # Element ids are hashes of the content and the salt: one page has no id twice.
    with style.context(["default", _STYLE | {"svg.hashsalt": label}]), warnings.catch_warnings():
        # The browser has glyphs that matplotlib's font has not.
        warnings.filterwarnings("ignore", message=r"(?s)Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure = figure_module.Figure(figsize=inches, layout="constrained")
        plot(*args, ax=figure.subplots(), **kwargs)
        figure.savefig(text, format="svg", metadata={"Date": None})
    return _compact(text.getvalue(), label, size, themed)


def _compact(svg: str, label: str, size: tuple[float, float], themed: bool) -> str:
    """Keep what a browser needs of matplotlib's SVG, so that several fit into one page."""
    old = ElementTree.fromstring(svg)
    root = ElementTree.Element("svg", xmlns="http://www.w3.org/2000/svg", role="img")
    root.attrib |= {"aria-label": label, "viewBox": old.attrib["viewBox"]}
    root.attrib |= {"width": f"{size[0]:g}", "height": f"{size[1]:g}"}
    root.extend(part for part in old if not part.tag.endswith("metadata"))
    for parent in root.iter():
        parent.tag = parent.tag.rpartition("}")[2]
        parent.text = (parent.text or "").strip() if parent.tag != "text" else parent.text
        parent.tail = None
        for style in parent.findall("{*}style"):  # would apply to the whole page
            parent.remove(style)
        if parent.tag == "g":
            parent.attrib.pop("id", None)
        if _LINK in parent.attrib:  # HTML does not need the namespace
            parent.set("href", parent.attrib.pop(_LINK))
        if "d" in parent.attrib:
            parent.set("d", " ".join(parent.attrib["d"].split()))
        if themed and "style" in parent.attrib:
            for name, color in COLORS.items():
                parent.set("style", parent.attrib["style"].replace(color, f"var(--{name})"))
    return ElementTree.tostring(root, encoding="unicode")


def page_figures(summary: Record) -> dict[str, list[str]]:
    """Return the figures for which a summary has data, by their part of the page."""
    metric = summary["run"]["metric"]
    scored = [one for one in summary["candidates"] if one["score"] is not None]
    first, best = scored[:MAX_POINTS], scored[:MAX_INTERVALS]
    varied = [param for param in summary["params"] if len(param["values"]) > 1]
    widest = sorted(varied, key=lambda param: -len(param["values"]))[:3]
    validation = summary["validation"] or {}
    figures: dict[str, list[str]] = {}

    def add(part: str, label: str, height: float, plot: Any, *args: Any, **kwargs: Any) -> None:
        size = (kwargs.pop("width", WIDTH), height)
        svg = to_svg(plot, *args, label=label, size=size, themed=True, **kwargs)
        figures.setdefault(part, []).append(svg)

    if scored:
        label = f"Scores of the best {len(best)} candidates with intervals"
        add("scores", label, 50 + 30 * len(best), plot_scores, best, metric)
    for param in varied[:MAX_PARAMS]:
        add("params", f"{metric} over {param['name']}", 220, _plot_param, first, param, metric)
    for pair in combinations(widest, 2):
        label = f"{metric} over {pair[0]['name']} and {pair[1]['name']}"
        add("pairs", label, 300, _plot_pair, first, *pair)
    for other, name in (("loo", "LOO score"), ("train", "training score")):
        both = [c for c in first if c.get(other) is not None and c.get("validation") is not None]
        if len(both) > 1:
            label = f"Validation score over {name}"
            add(other, label, 260, _plot_agreement, both, other, name)
    if len(scored) > 1 and len(varied) > 1:
        lines, axes = scored[:MAX_LINES], varied[:MAX_PARAMS]
        label, width = f"Parameters and {metric} of {len(lines)} candidates", 90 * len(axes) + 90
        add("parallel", label, 280, _plot_parallel, lines, axes, metric, width=max(560, width))
    if "projection" in validation:
        label, points = "Training data and validation set in a plane", validation.get("points")
        add("validation", label, 340, plot_validation_set, validation["projection"], points=points)
    for one in validation.get("histograms", ()):
        label = f"First component, {one['label']}"
        add("validation", label, 160, _plot_histogram, one, label)
    if "target" in validation:
        add("validation", "Target", 160, _plot_histogram, validation["target"], "Target")
    return figures


def _plot_param(candidates: Sequence[Record], param: Record, metric: str, ax: Any) -> None:
    """Plot the scores over one parameter, with a line through the best of each value."""
    x, y = _places(candidates, param), np.array([one["score"] for one in candidates])
    values = np.unique(x[~np.isnan(x)])
    ax.plot(values, [y[x == value].max() for value in values], color=COLORS["soft"], linewidth=1)
    _scatter(ax, candidates, x, y)
    _label_axis(ax.xaxis, param)
    ax.set_ylabel(plain_label(metric))


def _plot_pair(candidates: Sequence[Record], across: Record, up: Record, ax: Any) -> None:
    """Plot the best score of each pair of values as the strength of a color."""
    x, y = _places(candidates, across), _places(candidates, up)
    # Candidates are sorted: of those with the same values, the best remains.
    cells = {(x[i], y[i]): i for i in reversed(range(len(x))) if not np.isnan(x[i] + y[i])}
    scores = np.array([candidates[i]["score"] for i in cells.values()])
    width, height = (1 / (min(len(p["values"]), 2 * MAX_CELLS) - 1) for p in (across, up))
    small = max(len(across["values"]), len(up["values"])) <= 6
    for place, i in cells.items():
        one, spread = candidates[i], np.ptp(scores)
        strength = 0.1 + 0.89 * (one["score"] - scores.min()) / spread if spread > 0 else 0.6
        bar = (place[0], height, width, place[1] - height / 2)
        ax.bar(*bar, color=COLORS["accent"], alpha=strength)
        if one["best"]:
            ax.bar(*bar, fill=False, edgecolor=COLORS["ink"], linewidth=1.5, zorder=3)
        if small:
            color = COLORS["background" if strength > 0.55 else "ink"]
            ax.text(*place, format_number(one["score"]), color=color, ha="center", va="center")
    ax.grid(visible=False)
    _label_axis(ax.xaxis, across)
    _label_axis(ax.yaxis, up)


def _plot_agreement(candidates: Sequence[Record], other: str, name: str, ax: Any) -> None:
    x, y = (np.array([one[key] for one in candidates]) for key in (other, "validation"))
    _scatter(ax, candidates, x, y)
    mark_diagonal(ax)
    ax.set(xlabel=name, ylabel="validation score")


def _plot_parallel(
    candidates: Sequence[Record], params: Sequence[Record], metric: str, ax: Any
) -> None:
    """Plot one line per candidate through the values of its parameters to its score."""
    scores = np.array([one["score"] for one in candidates])
    low, spread = scores.min(), np.ptp(scores)
    heights = [_places(candidates, param) for param in params]
    heights.append((scores - low) / spread if spread > 0 else 0 * scores)
    for color, at in by_color(candidates):
        style = {"linewidth": 2.5} if candidates[at[0]]["best"] else {"linewidth": 1, "alpha": 0.5}
        ax.plot(np.array(heights)[:, at], color=color, **style)
    marks = (0, 0.5, 1) if spread else (0,)
    ticks = [_ticks(param) for param in params]
    ticks.append([(at, format_number(low + at * spread)) for at in marks])
    box = {"facecolor": COLORS["background"], "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
    for axis, labels in enumerate(ticks):
        for height, label in labels:
            ax.text(axis + 0.03, height, label, va="center", bbox=box)
    names = [*(param["name"] for param in params), metric]
    ax.set_xticks(range(len(names)), [plain_label(name, 16) for name in names])
    ax.set(yticks=[], xlim=(-0.1, len(params) + 0.35))
    ax.spines["left"].set_visible(False)


def _plot_histogram(one: Record, title: str, ax: Any) -> None:
    ax.stairs(one["validation"], one["edges"], fill=True, color=COLORS["accent"], alpha=0.5)
    ax.stairs(one["training"], one["edges"], color=COLORS["training"], linewidth=1.5)
    ax.set(yticks=[], title=plain_label(title, 48))


def _scatter(ax: Any, candidates: Sequence[Record], x: Floats, y: Floats) -> None:
    for color, at in by_color(candidates):
        ax.scatter(x[at], y[at], color=color, s=22, alpha=0.8)


def _key(value: Any) -> tuple[str, Any]:
    """Return an identity under which 1 and 1.0 are equal, and 1 and True are not."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    return ("number", float(value)) if number else (type(value).__name__, value)


def _positions(param: Record) -> Floats:
    """Return positions of the values in [0, 1]: in equal steps, or by size for many numbers."""
    values = param["values"]
    if not param["numeric"] or len(values) <= MAX_CELLS:
        return np.linspace(0, 1, len(values))
    numbers = np.array(values, dtype=float)
    if numbers[0] > 0 and numbers[-1] / 50 > numbers[0]:
        numbers = np.log(numbers)
    numbers = numbers / np.abs(numbers).max()  # the range of huge floats overflows
    return (numbers - numbers[0]) / (numbers[-1] - numbers[0])


def _places(candidates: Sequence[Record], param: Record) -> Floats:
    """Return the position of each candidate's value; NaN if it has none."""
    name, keys = param["name"], map(_key, param["values"])
    position = dict(zip(keys, _positions(param), strict=True))
    params = [one["params"] for one in candidates]
    return np.array([position[_key(one[name])] if name in one else np.nan for one in params])


def _ticks(param: Record) -> list[tuple[float, str]]:
    """Return positions and labels of at most five values, in about equal distances."""
    places, values = _positions(param), param["values"]
    wanted = np.linspace(0, 1, min(5, len(places)))
    chosen = np.unique([np.abs(places - at).argmin() for at in wanted])
    label = format_number if param["numeric"] else lambda value: plain_label(value, 12)
    return [(float(places[i]), label(values[i])) for i in chosen]


def _label_axis(axis: Any, param: Record) -> None:
    places, labels = zip(*_ticks(param), strict=True)
    axis.set_ticks(places, labels=labels)
    axis.set_label_text(plain_label(param["name"]))
