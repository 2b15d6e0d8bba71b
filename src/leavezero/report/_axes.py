"""The same pictures on a user's own axes, by matplotlib, and the frames behind them."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

LEVELS = ("not applicable", "ok", "note", "warning")
_COLORS = {"not applicable": "0.7", "ok": "C2", "note": "C1", "warning": "C3"}


def draw_scores(
    candidates: Sequence[Mapping[str, Any]], metric: str, ax: Any = None, **options: Any
) -> Any:
    """Return axes with a score and its interval for each candidate, the first on top.

    Parameters
    ----------
    candidates : sequence of mappings
        With "label" and "score", and where known "low" and "high".
    metric : str
        The name of the horizontal axis.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.
    **options : dict
        For ``Axes.errorbar``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from leavezero.report import draw_scores
    >>> ax = draw_scores([{"label": "C=1", "score": 0.9}], "accuracy", Figure().subplots())
    >>> ax.get_xlabel()
    'accuracy'
    """
    ax = _axes(ax)
    scores = _column(candidates, "score")
    ends = [np.abs(_column(candidates, end) - scores) for end in ("low", "high")]
    places = np.arange(len(candidates))
    style = {"fmt": "o", "capsize": 2, "linewidth": 1} | options
    ax.errorbar(scores, places, xerr=np.nan_to_num(ends), **style)
    ax.set_yticks(places, [candidate["label"] for candidate in candidates])
    ax.invert_yaxis()
    ax.set_xlabel(metric)
    return ax


def draw_findings(findings: Sequence[Mapping[str, Any]], ax: Any = None, **options: Any) -> Any:
    """Return axes with a mark for each finding, the further right the more it asks for.

    Parameters
    ----------
    findings : sequence of mappings
        With "code", "title" and "level".
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.
    **options : dict
        For ``Axes.scatter``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from leavezero.report import draw_findings
    >>> finding = {"code": "LZ08", "title": "small classes", "level": "ok"}
    >>> ax = draw_findings([finding], Figure().subplots())
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['LZ08 small classes']
    """
    ax = _axes(ax)
    places = [LEVELS.index(finding["level"]) for finding in findings]
    colors = [_COLORS[finding["level"]] for finding in findings]
    ax.scatter(places, range(len(findings)), **({"c": colors, "s": 60} | options))
    names = [f"{finding['code']} {finding['title']}" for finding in findings]
    ax.set_yticks(range(len(findings)), names)
    ax.set_xticks(range(len(LEVELS)), LEVELS)
    ax.invert_yaxis()
    ax.grid(axis="y", linewidth=0.3)
    return ax


def draw_planes(projection: Mapping[str, Any], ax: Any = None, **options: Any) -> Any:
    """Return axes with the density of the data as color and that of V as lines.

    Parameters
    ----------
    projection : mapping
        "x_edges", "y_edges", and the shares "given" and "drawn" of each cell.
    ax : matplotlib Axes or None, default=None
        Where to draw; None makes a figure.
    **options : dict
        For ``Axes.pcolormesh``.

    Returns
    -------
    matplotlib Axes

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from leavezero.report import draw_planes
    >>> plane = {"x_edges": [0, 1, 2], "y_edges": [0, 1, 2],
    ...          "given": [[0.5, 0.0], [0.0, 0.5]], "drawn": [[0.4, 0.1], [0.1, 0.4]]}
    >>> draw_planes(plane, Figure().subplots()).get_xlabel()
    'first component'
    """
    ax = _axes(ax)
    x_edges, y_edges = (np.asarray(projection[name]) for name in ("x_edges", "y_edges"))
    given, drawn = (np.asarray(projection[name]).T for name in ("given", "drawn"))
    ax.pcolormesh(x_edges, y_edges, given, **({"cmap": "Greys"} | options))
    middles = [(edges[1:] + edges[:-1]) / 2 for edges in (x_edges, y_edges)]
    ax.contour(*middles, drawn, levels=6, linewidths=1)
    ax.set_xlabel("first component")
    ax.set_ylabel("second component")
    ax.set_title("the data in gray, V in lines")
    return ax


def frame_of(rows: Sequence[Mapping[str, Any]], index: str | None = None) -> Any:
    """Return a pandas frame with a row for each record.

    Parameters
    ----------
    rows : sequence of mapping
        The records; each may lack some of the columns.
    index : str or None, default=None
        The column that becomes the index.

    Examples
    --------
    >>> from leavezero.report import frame_of
    >>> frame_of([{"C": 1, "score": 0.5}], index="C").loc[1, "score"]
    np.float64(0.5)
    """
    import pandas as pd  # only where a frame is wanted

    frame = pd.DataFrame(list(rows))
    return frame if index is None else frame.set_index(index)


def _axes(ax: Any) -> Any:
    """Return the user's axes, or those of a new figure that a notebook shows."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt  # only where something is drawn
    except ImportError as error:
        raise ImportError(
            "A display needs matplotlib, which is not installed. Use pip install 'leavezero[app]'."
        ) from error
    return plt.subplots(layout="constrained")[1]


def _column(rows: Sequence[Mapping[str, Any]], name: str) -> Any:
    found = [row.get(name) for row in rows]
    return np.array([np.nan if value is None else value for value in found], dtype=float)
