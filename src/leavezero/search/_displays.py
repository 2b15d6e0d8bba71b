"""Displays of a fitted search, in scikit-learn's convention."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from leavezero.report import plot_scores, plot_validation_set, results_frame
from leavezero.search._summary import brief_summary, compare_samples, metric_column


class _Display(ABC):
    """Base class: subclasses say what they take from a search, how to plot it, and its rows."""

    ax_: Any
    figure_: Any
    _index: str | None = None

    @classmethod
    def from_search(cls, search: Any, *, ax: Any = None, **kwargs: Any) -> Self:
        """Create the display of a fitted search and plot it.

        Parameters
        ----------
        search : fitted search
            Any search of this package.
        ax : matplotlib Axes or None, default=None
            The axes; None creates a figure.
        **kwargs : dict
            Passed to :meth:`plot`.

        Returns
        -------
        display
        """
        check_is_fitted(search, "cv_results_")
        return cls(*cls._extract(search)).plot(ax=ax, **kwargs)

    def plot(self, ax: Any = None, **kwargs: Any) -> Self:
        """Plot on the given or new axes.

        Parameters
        ----------
        ax : matplotlib Axes or None, default=None
            The axes; None creates a figure.
        **kwargs : dict
            Passed to the plotting function.

        Returns
        -------
        self
        """
        self.ax_ = self._plot(ax, **kwargs)
        self.figure_ = self.ax_.figure
        return self

    def frame(self) -> Any:
        """Return the plotted values, and those left out of the plot, as a pandas DataFrame."""
        return results_frame(self._rows(), index=self._index)

    @classmethod
    @abstractmethod
    def _extract(cls, search: Any) -> tuple[Any, ...]: ...

    @abstractmethod
    def _plot(self, ax: Any, **kwargs: Any) -> Any: ...

    @abstractmethod
    def _rows(self) -> Sequence[Mapping[str, Any]]: ...


class SearchDisplay(_Display):
    """Scores of the candidates of a search, with intervals.

    Create it with :meth:`from_search`. Plotting requires matplotlib, :meth:`frame` pandas.

    Parameters
    ----------
    candidates : sequence of mappings
        With "label" and "score", best first.
    metric : str
        The name of the score.

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the last plot.

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

    _index = "row"

    def __init__(self, candidates: Sequence[Mapping[str, Any]], metric: str) -> None:
        self.candidates = candidates
        self.metric = metric

    @classmethod
    def _extract(cls, search: Any) -> tuple[Any, ...]:
        metric = search.scoring if isinstance(search.scoring, str) else metric_column(search)
        return brief_summary(search)["candidates"], metric

    def _plot(self, ax: Any, *, n_candidates: int = 20, **kwargs: Any) -> Any:
        scored = [one for one in self.candidates if one["score"] is not None]
        return plot_scores(scored[:n_candidates], self.metric, ax, **kwargs)

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        rows = []
        for candidate in self.candidates:
            row = {k: v for k, v in candidate.items() if k not in ("params", "metrics")}
            params = {f"param_{name}": value for name, value in candidate["params"].items()}
            rows.append(row | params | candidate["metrics"])
        return rows


class ValidationSetDisplay(_Display):
    """Densities of the training data and the validation set in two principal components.

    Create it with :meth:`from_search`. Plotting requires matplotlib, :meth:`frame` pandas. Only
    counts of rows are shown, no single rows.

    Parameters
    ----------
    projection : mapping
        "x_edges", "y_edges", and the shares of rows in each cell, "training" and "validation".

    Attributes
    ----------
    ax_, figure_ : matplotlib Axes and Figure
        Of the last plot.

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
    >>> round(display.frame()["training"].sum())
    1
    """

    def __init__(self, projection: Mapping[str, Any]) -> None:
        self.projection = projection

    @classmethod
    def _extract(cls, search: Any) -> tuple[Any, ...]:
        validation = compare_samples(search)
        if validation is None:
            raise ValueError(
                f"This {type(search).__name__} has no validation set to display: it was pickled "
                "without the training data, or it generated none."
            )
        if "projection" not in validation:
            raise ValueError(f"ValidationSetDisplay cannot show this search. {validation['note']}")
        return (validation["projection"],)

    def _plot(self, ax: Any, **kwargs: Any) -> Any:
        return plot_validation_set(self.projection, ax, **kwargs)

    def _rows(self) -> Sequence[Mapping[str, Any]]:
        plane = self.projection
        x, y = (
            [sum(ends) / 2 for ends in pairwise(plane[name])] for name in ("x_edges", "y_edges")
        )
        return [
            {"first_component": x[i], "second_component": y[j]}
            | {name: plane[name][i][j] for name in ("training", "validation")}
            for i in range(len(x))
            for j in range(len(y))
        ]
