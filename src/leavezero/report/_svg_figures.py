"""Figures drawn by matplotlib: those of the HTML page as SVG, others as PNG."""

import io
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from leavezero._typing import Floats
from leavezero.diagnostics import format_score
from leavezero.report._plots import (
    COLORS,
    Record,
    by_color,
    color_ramp,
    import_extra,
    mark_diagonal,
    plain_label,
    plot_scores,
    plot_validation_set,
)
from leavezero.report._summarize import BASELINE, format_number

WIDTH = 360  # pixels; a phone shows it unscaled
MAX_INTERVALS, MAX_POINTS, MAX_PARAMS, MAX_CELLS = 15, 1_000, 8, 16
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


def page_figures(summary: Record) -> dict[str, list[str]]:
    """Return the figures for which a summary has data, by their part of the page."""
    metric, held_out = summary["run"]["metric"], summary["held_out"] or {}
    scored = [one for one in summary["candidates"] if one["score"] is not None]
    types, validation = summary["model_types"], summary["validation"] or {}
    figures: dict[str, list[str]] = {}

    def add(part: str, label: str, height: float, plot: Any, *args: Any, **kwargs: Any) -> None:
        svg = to_svg(plot, *args, label=label, size=(WIDTH, height), **kwargs)
        figures.setdefault(part, []).append(svg)

    models = [one for one in types if one["name"] != BASELINE]
    several = len(models) > 1
    if several:
        label, height = f"{metric} by model type, with intervals", 80 + 26 * len(models)
        add("scores", label, height, _plot_models, models, metric, summary["baseline"])
    elif scored:
        best = scored[:MAX_INTERVALS]
        label = f"{metric} of the best {len(best)} candidates, with intervals"
        add("scores", label, 50 + 30 * len(best), plot_scores, best, metric)
    if held_out.get("confusion"):
        n_classes = len(held_out["confusion"]["labels"])
        label, height = "Confusion matrix", 170 + 24 * n_classes
        add("held_out", label, height, _plot_confusion, held_out["confusion"])
    if held_out.get("curves"):
        label = f"{held_out['curves']['kind']} curve"
        add("held_out", label, 300, _plot_curves, held_out["curves"])
    if held_out.get("reliability"):
        add("held_out", "Reliability diagram", 300, _plot_reliability, held_out["reliability"])
    if held_out.get("observed"):
        label = "Observed values over predictions"
        add("held_out", label, 300, _plot_cells, held_out["observed"], "observed", diagonal=True)
        label = "Residuals over predictions"
        add("held_out", label, 300, _plot_cells, held_out["residuals"], "observed - predicted")
    if held_out.get("importances"):
        columns = held_out["importances"]
        label, height = f"Decrease of {metric} if a column is permuted", 60 + 26 * len(columns)
        add("importances", label, height, _plot_importances, columns, f"decrease of {metric}")
    if types:
        own = [one for one in scored if one["type"] == types[0]["name"]][:MAX_POINTS]
        params = [one for one in types[0]["params"] if len(one["values"]) >= MIN_VALUES]
        for param in params[:MAX_PARAMS]:
            add("params", f"{metric} over {param['name']}", 220, _plot_param, own, param, metric)
    if "projection" in validation:
        label = "Training data and validation set in a plane"
        add("validation", label, 320, plot_validation_set, validation["projection"])
    return figures


def _plot_models(models: Sequence[Record], metric: str, baseline: float | None, ax: Any) -> None:
    """Plot scores with intervals, and a line at the score of the baseline."""
    plot_scores([{**one, "label": one["name"]} for one in models], metric, ax, labels="left")
    if baseline is not None:
        ax.axvline(baseline, color=COLORS["training"], linestyle="--", linewidth=1)
        label = f"baseline {format_score(baseline)}"
        ax.set_title(label, color=COLORS["training"], loc="left")


def _plot_importances(columns: Sequence[Record], metric: str, ax: Any) -> None:
    plot_scores(columns, metric, ax, labels="left")
    ax.axvline(0, color=COLORS["soft"], linestyle="--", linewidth=1)


def _plot_confusion(confusion: Record, ax: Any) -> None:
    """Plot the counts; the strength of the color is the share of the row."""
    counts = np.array(confusion["counts"])
    shares = counts / np.maximum(1, counts.sum(axis=1, keepdims=True))
    edges = np.arange(len(counts) + 1) - 0.5
    ax.pcolormesh(edges, edges, shares, cmap=color_ramp("accent"), vmin=0, vmax=1)
    size = 8.25 if len(counts) <= 5 else 6
    for (row, column), count in np.ndenumerate(counts):
        color = COLORS["background" if shares[row, column] > 0.4 else "ink"]
        text = f"{count:,}"
        ax.text(column, row, text, color=color, ha="center", va="center", fontsize=size)
    labels = [plain_label(name, 12) for name in confusion["labels"]]
    ax.set_xticks(range(len(labels)), labels, rotation=90 if len(labels) > 4 else 0)
    ax.set_yticks(range(len(labels)), labels)
    ax.set(xlabel="predicted", ylabel="observed", ylim=(len(counts) - 0.5, -0.5))
    ax.grid(visible=False)


def _plot_curves(curves: Record, ax: Any) -> None:
    colors = ("accent", "training", "good", "tied", "warn", "soft")
    names = ("recall", "precision") if curves["kind"] != "ROC" else ()
    names = names or ("false positive rate", "true positive rate")
    for color, line in zip(colors, curves["lines"], strict=False):
        label = f"{plain_label(line['label'], 20)}: {line['area']:.3f}"
        ax.plot(line["x"], line["y"], color=COLORS[color], linewidth=1.5, label=label)
    if curves["kind"] == "ROC":
        mark_diagonal(ax)
    else:
        ax.axhline(curves["share"], color=COLORS["soft"], linestyle="--", linewidth=1)
    ax.set(xlabel=names[0], ylabel=names[1], xlim=(-0.02, 1.02), ylim=(-0.02, 1.02))
    title = "class: area" if curves["kind"] == "ROC" else "class: average precision"
    ax.legend(title=title, loc="best", frameon=False)


def _plot_reliability(reliability: Record, ax: Any) -> None:
    x, y = np.array(reliability["predicted"]), np.array(reliability["observed"])
    ends = np.abs(np.array([reliability["low"], reliability["high"]]) - y)
    style = {"fmt": "o-", "markersize": 4, "capsize": 2, "linewidth": 1}
    ax.errorbar(x, y, yerr=ends, color=COLORS["accent"], **style)
    low = max(0.0, min(x.min(), np.min(reliability["low"])) - 0.03)
    ax.set(xlim=(low, 1.02), ylim=(low, 1.02))
    mark_diagonal(ax)
    ax.set(xlabel="probability of the predicted class", ylabel="share of correct predictions")


def _plot_cells(cells: Record, name: str, ax: Any, *, diagonal: bool = False) -> None:
    """Plot one dot per cell, whose area is the number of rows in it."""
    counts = np.array(cells["counts"])
    sizes = 4 + 56 * counts / counts.max()
    ax.scatter(cells["x"], cells["y"], s=sizes, color=COLORS["accent"], alpha=0.7, linewidths=0)
    if diagonal:
        mark_diagonal(ax)
    else:
        ax.axhline(0, color=COLORS["soft"], linestyle="--", linewidth=1)
    ax.set(xlabel="predicted", ylabel=name)
    ax.locator_params(axis="x", nbins=5)


def _plot_param(candidates: Sequence[Record], param: Record, metric: str, ax: Any) -> None:
    """Plot the scores over one parameter, with a line through the best of each value."""
    x, y = _places(candidates, param), np.array([one["score"] for one in candidates])
    values = np.unique(x[~np.isnan(x)])
    ax.plot(values, [y[x == value].max() for value in values], color=COLORS["soft"], linewidth=1)
    for color, at in by_color(candidates):
        ax.scatter(x[at], y[at], color=color, s=22, alpha=0.8)
    places, labels = zip(*_ticks(param), strict=True)
    ax.set_xticks(places, labels)
    # All parameters have the same vertical axis, which contains the interval of the best: smaller
    # differences are not to be seen.
    ends = [*y, *(candidates[0].get(name) or y[0] for name in ("low", "high"))]
    margin = 0.05 * np.ptp(ends) or 0.01
    ax.set(xlabel=plain_label(param["name"]), ylabel=plain_label(metric))
    ax.set_ylim(min(ends) - margin, max(ends) + margin)


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
