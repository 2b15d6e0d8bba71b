"""Displays of a fitted search, in scikit-learn's convention."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

from leavezero.report import draw_findings, draw_planes, draw_scores, frame_of

_LEFT_OUT = ("params", "metrics")  # entries of a candidate that are tables themselves


class SearchDisplay:
    """Scores of the candidates of a search, with intervals.

    Make one with :meth:`from_search`. Drawing needs matplotlib, :meth:`frame` pandas.

    Parameters
    ----------
    candidates : sequence of mappings
        With "label" and "score", best first.
    metric : str
        What the score is.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search import SearchDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchLZO(SVC(), {"C": [0.001, 1]}, n_replicates=1, random_state=0)
    >>> display = SearchDisplay.from_search(search.fit(X, y), ax=Figure().subplots())
    >>> display.frame()["label"].tolist()
    ['C=1', 'C=0.001']
    """

    ax_: Any
    figure_: Any

    def __init__(self, candidates: Sequence[Mapping[str, Any]], metric: str) -> None:
        self.candidates = candidates
        self.metric = metric

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None, n_candidates: int = 20) -> Self:
        """Return a display of a fitted search, drawn.

        Parameters
        ----------
        search : fitted search
            Any search of this package.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        n_candidates : int, default=20
            How many are drawn, the best first; :meth:`frame` has all.
        """
        summary = search._brief()
        display = cls(summary["candidates"], summary["run"]["metric"])
        return display.plot(ax=ax, n_candidates=n_candidates)

    def plot(self, ax: Any = None, *, n_candidates: int = 20, **options: Any) -> Self:
        """Draw the scores with their intervals; options go to ``Axes.errorbar``."""
        scored = [one for one in self.candidates if one["score"] is not None]
        self.ax_ = draw_scores(scored[:n_candidates], self.metric, ax, **options)
        self.figure_ = self.ax_.figure
        return self

    def frame(self) -> Any:
        """Return a pandas frame with a row for each candidate, best first."""
        return frame_of([_flat(one) for one in self.candidates], index="row")


class TrustDisplay:
    """The findings about a search.

    Make one with :meth:`from_search`. Drawing needs matplotlib, :meth:`frame` pandas.

    Parameters
    ----------
    findings : sequence of mappings
        With "code", "title" and "level".

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search import TrustDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchLZO(SVC(), {"C": [0.001, 1]}, n_replicates=1, random_state=0)
    >>> display = TrustDisplay.from_search(search.fit(X, y), ax=Figure().subplots())
    >>> display.frame().loc["LZ01", "level"]
    'ok'
    """

    ax_: Any
    figure_: Any

    def __init__(self, findings: Sequence[Mapping[str, Any]]) -> None:
        self.findings = findings

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None, trust: Any = None) -> Self:
        """Return a display of what ``search.trust()`` finds, drawn.

        Parameters
        ----------
        search : fitted search
            Any search of this package.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        trust : TrustReport or None, default=None
            The findings, if they were made before.
        """
        report = trust or search._findings() or search.trust()
        return cls(report.to_dict()["findings"]).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw a mark for each finding; options go to ``Axes.scatter``."""
        self.ax_ = draw_findings(self.findings, ax, **options)
        self.figure_ = self.ax_.figure
        return self

    def frame(self) -> Any:
        """Return a pandas frame with a row for each finding."""
        return frame_of(self.findings, index="code")


class ValidationSetDisplay:
    """The validation set beside the data, in two components.

    Make one with :meth:`from_search`. Drawing needs matplotlib, :meth:`frame` pandas. Rows are
    counted: none is shown.

    Parameters
    ----------
    projection : mapping
        "x_edges", "y_edges", and the shares "given" and "drawn" of each cell.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Where it was drawn last.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> from leavezero.search import ValidationSetDisplay
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchLZO(SVC(), {"C": [0.001, 1]}, n_replicates=1, random_state=0)
    >>> display = ValidationSetDisplay.from_search(search.fit(X, y), ax=Figure().subplots())
    >>> round(display.frame()["given"].sum())
    1
    """

    ax_: Any
    figure_: Any

    def __init__(self, projection: Mapping[str, Any]) -> None:
        self.projection = projection

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None) -> Self:
        """Return a display of a fitted search that drew a validation set, drawn.

        Parameters
        ----------
        search : fitted search
            Any search of this package that drew a validation set.
        ax : matplotlib Axes or None, default=None
            Where to draw; None makes a figure.
        """
        sides = search._sides() or {"note": "There is no V, or the given rows are gone."}
        if "projection" not in sides:
            raise ValueError(
                f"ValidationSetDisplay cannot show this {type(search).__name__}. {sides['note']}"
            )
        return cls(sides["projection"]).plot(ax=ax)

    def plot(self, ax: Any = None, **options: Any) -> Self:
        """Draw the densities of both; options go to ``Axes.pcolormesh``."""
        self.ax_ = draw_planes(self.projection, ax, **options)
        self.figure_ = self.ax_.figure
        return self

    def frame(self) -> Any:
        """Return a pandas frame with a row for each cell of the plane."""
        return frame_of(_cells(self.projection))


def _flat(candidate: Mapping[str, Any]) -> dict[str, Any]:
    """Return a candidate with its parameters and further metrics as entries of their own."""
    kept = {name: value for name, value in candidate.items() if name not in _LEFT_OUT}
    params = {f"param_{name}": value for name, value in candidate["params"].items()}
    return kept | params | dict(candidate["metrics"])


def _cells(projection: Mapping[str, Any]) -> list[dict[str, Any]]:
    middles = [_middles(projection[name]) for name in ("x_edges", "y_edges")]
    return [
        {
            "first_component": x,
            "second_component": y,
            "given": projection["given"][i][j],
            "drawn": projection["drawn"][i][j],
        }
        for i, x in enumerate(middles[0])
        for j, y in enumerate(middles[1])
    ]


def _middles(edges: Sequence[float]) -> list[float]:
    return [(low + high) / 2 for low, high in pairwise(edges)]
