"""Figures of a search on matplotlib axes: for users, and those of the HTML page as SVG."""

import io
import textwrap
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from leavezero._typing import Floats, Ints
from leavezero.diagnostics import format_score
from leavezero.report._summarize import BASELINE, format_number

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
_CURVE_COLORS = ("accent", "training", "good", "tied", "warn", "soft")
_GUIDE: dict[str, Any] = {
    "color": COLORS["soft"],
    "linestyle": "--",
    "linewidth": 1,
}  # lines for comparison
_LEGEND = {"facecolor": COLORS["background"], "edgecolor": "none", "framealpha": 0.8}

WIDTH = 360  # pixels; a phone shows it unscaled
MAX_INTERVALS, MAX_POINTS, MAX_PARAMS = 15, 1_000, 8
MIN_VALUES = 3  # of a parameter that is shown
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


def plot_scores(
    candidates: Sequence[Record],
    metric: str,
    ax: Any = None,
    *,
    labels: str = "above",
    **kwargs: Any,
) -> Any:
    """Plot the score of each candidate with its interval, the first candidate on top.

    Labels are "above" their intervals or, if short, "left" of the axes. ``kwargs`` are those of
    ``Axes.errorbar``.
    """
    ax = _axes(ax, height=0.8 + 0.3 * len(candidates))
    positions = np.arange(len(candidates))
    score, low, high = (_column(candidates, name) for name in ("score", "low", "high"))
    errors = np.nan_to_num(np.abs(np.stack([low, high]) - score))
    for color, at in _by_color(candidates):
        style = {"fmt": "o", "markersize": 5, "capsize": 2, "color": color} | kwargs
        ax.errorbar(score[at], positions[at], xerr=errors[:, at], **style)
    ax.set(xlabel=_plain_label(metric), ylim=(len(candidates) - 0.5, -0.9))
    ax.locator_params(axis="x", nbins=5)
    if labels == "left":
        ax.set_yticks(positions, [_plain_label(one["label"], 22) for one in candidates])
        return ax
    # Each label is inside the axes above its interval: long labels need no margin.
    texts = [_plain_label(one["label"], 55) for one in candidates]
    ax.set_yticks(positions - 0.15, texts, ha="left", va="bottom")
    ax.tick_params(axis="y", length=0, pad=-1)
    ax.grid(visible=False, axis="y")
    return ax


def plot_validation_set(projection: Record, ax: Any = None, **kwargs: Any) -> Any:
    """Plot the density of the training data as color and that of the validation set as lines.

    The projection has "x_edges", "y_edges", and the shares of rows in each cell, "training" and
    "validation". ``kwargs`` are those of ``Axes.pcolormesh``.
    """
    ax = _axes(ax)
    edges = [np.asarray(projection[name], dtype=float) for name in ("x_edges", "y_edges")]
    training, validation = (np.asarray(projection[n]).T for n in ("training", "validation"))
    ax.pcolormesh(*edges, training, **({"cmap": _color_ramp("training"), "vmin": 0} | kwargs))
    centers = [(edge[1:] + edge[:-1]) / 2 for edge in edges]
    if validation.max() > validation.min():  # else there are no contour lines
        levels = validation.max() * np.array([0.1, 0.3, 0.5, 0.7, 0.9])
        ax.contour(*centers, validation, levels=levels, colors=COLORS["accent"], linewidths=1)
    ax.set(xlabel="first component", ylabel="second component")
    ax.set_title("color: training data, lines: validation set")
    return ax


def plot_comparison(comparison: Record, ax: Any = None) -> Any:
    """Plot the held-out scores of two methods on each split, and their means."""
    ax = _axes(ax)
    names = [str(one["split"]) for one in comparison["splits"][::2]] + ["mean"]
    places = np.arange(len(names))
    sizes = np.where(places < places[-1], 30, 80)
    scores, heights = [], np.stack([places - 0.13, places + 0.13])  # equal scores are both seen
    for method, marker, color, height in zip(
        comparison["methods"], "os", ("accent", "training"), heights, strict=True
    ):
        own = [one for one in comparison["splits"] if one["method"] == method["method"]]
        scores.append(np.append(_column(own, "held_out_score"), method["held_out_score"]))
        mean, seconds = f"{method['held_out_score']:.4g}", f"{method['seconds']:.3g} s"
        label = _plain_label(f"{method['method']}: mean {mean}, {seconds} per search", 70)
        style: dict[str, Any] = {"marker": marker, "color": COLORS[color], "zorder": 3}
        ax.scatter(scores[-1], height, s=sizes, label=label, **style)
    ax.plot(np.stack(scores), heights, color=COLORS["soft"], linewidth=1)
    ax.set_yticks(places, [f"split {name}" for name in names[:-1]] + names[-1:])
    label = _plain_label(f"{comparison['metric']} on held-out rows")
    ax.set(xlabel=label, ylim=(len(names) - 0.5, -0.5))
    ax.locator_params(axis="x", nbins=6)
    ax.figure.legend(loc="outside upper left", frameon=False)
    return ax


def results_frame(rows: Sequence[Record], index: str | None = None) -> Any:
    """Return a pandas DataFrame with one row per record."""
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


def _plain_label(value: Any, max_length: int = 40) -> str:
    """Return a text in one short line that matplotlib does not parse as a formula."""
    text = " ".join(str(value).split())
    text = text if len(text) <= max_length else text[: max_length - 1] + "…"
    return text.replace("$", r"\$")


def save_png(path: Path, plot: Callable[..., Any], *args: Any, size: tuple[float, float]) -> None:
    """Write the figure of ``plot(*args, ax=ax)``, with two pixels for each one of the size."""
    with _drawn(plot, *args, size=size) as figure:
        figure.savefig(path, format="png", dpi=2 * _PIXELS_PER_INCH)


def to_svg(
    plot: Callable[..., Any], *args: Any, label: str, size: tuple[float, float], **kwargs: Any
) -> str:
    """Return a figure as SVG in the colors of the page; equal input gives equal bytes.

    The label is the text alternative of the figure. Figures of one page need different ones.
    """
    text = io.StringIO()
    with _drawn(plot, *args, size=size, salt=label, **kwargs) as figure:
        figure.savefig(text, format="svg", metadata={"Date": None})
    return _compact(text.getvalue(), label, size)


@contextmanager
def _drawn(
    plot: Callable[..., Any], *args: Any, size: tuple[float, float], salt: str = "", **kwargs: Any
) -> Iterator[Any]:
    """Yield a drawn figure, in the style in which it has to be saved."""
    figure_module = import_extra("matplotlib.figure", "A figure")
    style = import_extra("matplotlib.style", "A figure")
    inches = tuple(length / _PIXELS_PER_INCH for length in size)
    # Element ids are hashes of the content and the salt: one page has no id twice.
    with style.context(["default", _STYLE | {"svg.hashsalt": salt}]), warnings.catch_warnings():
        # The browser has glyphs that matplotlib's font has not.
        warnings.filterwarnings("ignore", message=r"(?s)Glyph .* missing from")
        warnings.filterwarnings("ignore", message="Matplotlib currently does not support")
        figure = figure_module.Figure(figsize=inches, layout="constrained")
        plot(*args, ax=figure.subplots(), **kwargs)
        yield figure


def _compact(svg: str, label: str, size: tuple[float, float]) -> str:
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
        if "style" in parent.attrib:
            for name, color in COLORS.items():
                parent.set("style", parent.attrib["style"].replace(color, f"var(--{name})"))
    return ElementTree.tostring(root, encoding="unicode")


def page_figures(summary: Record) -> dict[str, list[tuple[str, str]]]:
    """Return titles and figures for which a summary has data, by their part of the page."""
    metric, held_out = summary["run"]["metric"], summary["held_out"] or {}
    scored = [one for one in summary["candidates"] if one["score"] is not None]
    types, validation = summary["model_types"], summary["validation"] or {}
    figures: dict[str, list[tuple[str, str]]] = {}

    def add(part: str, label: str, height: float, plot: Any, *args: Any, **kwargs: Any) -> None:
        svg = to_svg(plot, *args, label=label, size=(WIDTH, height), **kwargs)
        figures.setdefault(part, []).append((label, svg))

    models = [one for one in types if one["name"] != BASELINE]
    if len(models) > 1:
        label, height = f"{metric} by model type", 80 + 26 * len(models)
        rows, line = [{**one, "label": one["name"]} for one in models], summary["baseline"]
        title = "" if line is None else f"baseline {format_score(line)}"
        add("scores", label, height, _plot_intervals, rows, metric, line, title)
    elif scored:
        best = scored[:MAX_INTERVALS]
        label = f"{metric} of the best {len(best)} candidates"
        add("scores", label, 50 + 30 * len(best), plot_scores, best, metric)
    if held_out.get("confusion"):
        n_classes = len(held_out["confusion"]["labels"])
        label, height = "Confusion matrix", 170 + 24 * n_classes
        add("held_out", label, height, _plot_confusion, held_out["confusion"])
    if held_out.get("curves"):
        label = f"{held_out['curves']['kind']} curve{'s' * (len(held_out['curves']['lines']) > 1)}"
        add("held_out", label, 300, _plot_curves, held_out["curves"])
    if held_out.get("reliability"):
        add("held_out", "Reliability diagram", 300, _plot_reliability, held_out["reliability"])
    if held_out.get("observed"):
        label = "Observed and predicted values"
        add("held_out", label, 300, _plot_cells, held_out["observed"], "observed", diagonal=True)
        label = "Residuals and predicted values"
        add("held_out", label, 300, _plot_cells, held_out["residuals"], "observed - predicted")
    if held_out.get("importances"):
        columns = held_out["importances"]
        label, height = "The most important columns", 60 + 26 * len(columns)
        title = f"decrease of {metric} if shuffled"
        add("importances", label, height, _plot_intervals, columns, title, 0.0, "")
    if types:
        own = [one for one in scored if one["type"] == types[0]["name"]][:MAX_POINTS]
        params = [one for one in types[0]["params"] if len(one["values"]) >= MIN_VALUES]
        for param in params[:MAX_PARAMS]:
            add("params", f"{metric} by {param['name']}", 220, _plot_param, own, param, metric)
    if "projection" in validation:
        label = "Training data and validation set in a plane"
        add("validation", label, 320, plot_validation_set, validation["projection"])
    return figures


def _plot_intervals(
    rows: Sequence[Record], metric: str, line: float | None, title: str, ax: Any
) -> None:
    """Plot scores with intervals and as text, and a line to compare them with."""
    plot_scores(rows, metric, ax, labels="left")
    for at, row in enumerate(rows):
        text = format_score(row["score"], rows[0]["score"])
        ax.text(1.02, at, text, va="center", transform=ax.get_yaxis_transform())
    if line is not None:
        ax.axvline(line, **_GUIDE | {"color": COLORS["training"]})
        ax.set_title(title, color=COLORS["training"], loc="left")


def _plot_confusion(confusion: Record, ax: Any) -> None:
    """Plot the counts; the strength of the color is the share of the row."""
    counts = np.array(confusion["counts"])
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    edges = np.arange(len(counts) + 1) - 0.5
    ax.pcolormesh(edges, edges, shares, cmap=_color_ramp("accent"), vmin=0, vmax=1)
    size = 8.25 if len(counts) <= 5 else 6
    for (row, column), count in np.ndenumerate(counts):
        color = COLORS["background" if shares[row, column] > 0.4 else "ink"]
        text = f"{count:,}"
        ax.text(column, row, text, color=color, ha="center", va="center", fontsize=size)
    labels = [_plain_label(name, 12) for name in confusion["labels"]]
    ax.set_xticks(range(len(labels)), labels, rotation=90 if len(labels) > 4 else 0)
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="predicted", ylabel="observed", ylim=(len(counts) - 0.5, -0.5))
    ax.grid(visible=False)


def _plot_curves(curves: Record, ax: Any) -> None:
    for color, line in zip(_CURVE_COLORS, curves["lines"], strict=False):
        label = f"{_plain_label(line['label'], 20)}: {line['area']:.3f}"
        ax.plot(line["x"], line["y"], color=COLORS[color], linewidth=1.5, label=label)
    ax.set(xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    if curves["kind"] == "ROC":
        _mark_diagonal(ax)
        ax.set(xlabel="false positive rate", ylabel="true positive rate")
        ax.legend(title="class: area", loc="best", **_LEGEND)
    else:
        ax.axhline(curves["share"], **_GUIDE)
        ax.set(xlabel="recall", ylabel="precision")
        ax.legend(title="class: average precision", loc="best", **_LEGEND)


def _plot_reliability(reliability: Record, ax: Any) -> None:
    x, y = np.array(reliability["predicted"]), np.array(reliability["observed"])
    ends = np.abs(np.array([reliability["low"], reliability["high"]]) - y)
    style = {"fmt": "o-", "markersize": 4, "capsize": 2, "linewidth": 1}
    ax.errorbar(x, y, yerr=ends, color=COLORS["accent"], **style)
    low = max(0.0, min(x.min(), np.min(reliability["low"])) - 0.03)
    ax.set(xlim=(low, 1.02), ylim=(low, 1.02))
    _mark_diagonal(ax)
    ax.set(xlabel="probability of the predicted class", ylabel="share of correct predictions")


def _plot_cells(cells: Record, name: str, ax: Any, *, diagonal: bool = False) -> None:
    """Plot one dot per cell, whose area is the number of rows in it."""
    counts = np.array(cells["counts"])
    sizes = 4 + 56 * counts / counts.max()
    ax.scatter(cells["x"], cells["y"], s=sizes, color=COLORS["accent"], alpha=0.7, linewidths=0)
    if diagonal:
        _mark_diagonal(ax)
    else:
        ax.axhline(0, **_GUIDE)
    ax.set(xlabel="predicted", ylabel=name)
    ax.locator_params(axis="x", nbins=5)


def _plot_param(candidates: Sequence[Record], param: Record, metric: str, ax: Any) -> None:
    """Plot the scores over one parameter, with a line through the best of each value."""
    name, values = param["name"], param["values"]
    own = [one for one in candidates if name in one["params"]]
    # equal steps between values; 1 and True are different ones
    position = {(isinstance(value, bool), value): at for at, value in enumerate(values)}
    given = [one["params"][name] for one in own]
    x = np.array([position[isinstance(value, bool), value] for value in given])
    y = np.array([one["score"] for one in own])
    places = np.unique(x)
    ax.plot(places, [y[x == place].max() for place in places], color=COLORS["soft"], linewidth=1)
    for color, at in _by_color(own):
        ax.scatter(x[at], y[at], color=color, s=22, alpha=0.8)
    ticks = np.unique(np.linspace(0, len(values) - 1, 7).round().astype(int))
    labels = [format_number(v) if param["numeric"] else _plain_label(v, 12) for v in values]
    ax.set_xticks(ticks, [labels[at] for at in ticks])
    # All parameters have the same vertical axis, which contains the interval of the best: smaller
    # differences are not to be seen.
    scores = [one["score"] for one in candidates]
    ends = [*scores, *(candidates[0].get(name) or scores[0] for name in ("low", "high"))]
    margin = 0.05 * np.ptp(ends) or 0.01
    ax.set(xlabel=_plain_label(param["name"]), ylabel=textwrap.fill(_plain_label(metric), 24))
    ax.set_ylim(min(ends) - margin, max(ends) + margin)


def _by_color(candidates: Sequence[Record]) -> Iterator[tuple[str, Ints]]:
    """Yield a color and the positions of its candidates: other, tied, best."""
    kinds = ["best" if c.get("best") else "tied" if c.get("tied") else "other" for c in candidates]
    for kind, color in _CANDIDATE_COLORS.items():
        at = np.flatnonzero([one == kind for one in kinds])
        if len(at):
            yield COLORS[color], at


def _color_ramp(color: str) -> Any:
    """Return a colormap from transparent to a color, which suits light and dark pages."""
    colors = import_extra("matplotlib.colors", "A figure")
    rgb = colors.to_rgb(COLORS[color])
    return colors.ListedColormap([(*rgb, alpha) for alpha in np.linspace(0, 1, 65) ** 0.7])


def _mark_diagonal(ax: Any) -> None:
    """Draw the line on which both coordinates are equal."""
    middle = np.mean(ax.get_xlim())
    ax.axline((middle, middle), slope=1, **_GUIDE)


def _axes(ax: Any, height: float = 4.8) -> Any:
    if ax is not None:
        return ax
    pyplot = import_extra("matplotlib.pyplot", "A figure")
    return pyplot.subplots(figsize=(6.4, max(2.4, height)), layout="constrained")[1]


def _column(rows: Sequence[Record], name: str) -> Floats:
    values = [row.get(name) for row in rows]
    return np.array([np.nan if value is None else value for value in values], dtype=float)
