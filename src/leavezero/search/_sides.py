"""V beside the data, counted: places of rows in two components, and histograms for each class."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD

from leavezero._tables import Featurizer, count_rows, is_text, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.trust import Evidence

MOST_PLACED = 2_000  # rows of either side whose place is computed
MOST_CLASSES = 12
N_BINS = 20
MOST_POINTS, MOST_ROWS, MOST_COLUMNS = 500, 10, 30  # of what a report with rows shows


def compare_sides(evidence: Evidence, *, with_rows: bool = False) -> dict[str, Any] | None:
    """Return V beside the data in numbers; None where there is no V.

    Unless rows are asked for, only shares of cells and bins leave: their edges are round numbers,
    and the fewer rows there are the wider the cells.

    Parameters
    ----------
    evidence : Evidence
        The rows of both sides.
    with_rows : bool, default=False
        Whether single rows are shown too.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ValidationSet
    >>> from leavezero.search._sides import compare_sides
    >>> from leavezero.trust import Evidence
    >>> X, y = np.arange(40.0).reshape(20, 2), np.tile(["a", "b"], 10)
    >>> V = ValidationSet(X + 0.5, y)
    >>> found = compare_sides(Evidence(X, y, np.array(["a", "b"]), V, None))
    >>> found["classes"][0]
    {'label': 'a', 'given': 0.5, 'drawn': 0.5}
    """
    V = evidence.V
    if V is None:
        return None
    n_given, n_drawn = evidence.n_given, len(V)
    found: dict[str, Any] = {"n_given": n_given, "n_drawn": n_drawn, "note": None}
    found["sentence"] = f"V has {n_drawn:,} rows, drawn from {n_given:,} given ones."
    found |= _targets(evidence)
    try:
        places = _Places(evidence)
    except (ValueError, TypeError) as error:
        return found | {"note": f"The rows cannot be laid out in a plane: {error}"}
    found["projection"] = places.plane()
    found["histograms"] = list(places.histograms())
    if with_rows:
        found["points"] = places.points()
        found["rows"] = _rows(evidence)
    return found


class _Places:
    """Where some rows of both sides lie, along the two widest directions of the data."""

    def __init__(self, evidence: Evidence) -> None:
        assert evidence.V is not None
        rng = np.random.default_rng(evidence.seed)
        own, new = (_some(n, rng) for n in (evidence.n_given, len(evidence.V)))
        featurizer = Featurizer().fit(evidence.X)
        given = featurizer.transform(take_rows(evidence.X, own))
        drawn = featurizer.transform(take_rows(evidence.V.X, new))
        components = _Components(given, evidence.seed)
        self.given, self.drawn = components.place(given), components.place(drawn)
        self.groups = list(_groups(evidence, own, new))

    def plane(self) -> dict[str, Any]:
        """Return the share of either side's rows in each cell."""
        n_bins = int(np.clip(np.sqrt(len(self.given)) / 1.5, 6, 24))
        edges = [round_edges(self.given[:, at], n_bins) for at in (0, 1)]
        shares = {
            name: _shares_of_cells(places, edges)
            for name, places in (("given", self.given), ("drawn", self.drawn))
        }
        return {"x_edges": edges[0], "y_edges": edges[1], **shares}

    def histograms(self) -> Iterator[dict[str, Any]]:
        """Yield the shares along the first component, for each class."""
        edges = round_edges(self.given[:, 0], N_BINS)
        for label, own, new in self.groups:
            sides = self.given[own, 0], self.drawn[new, 0]
            yield _histogram(edges, *sides) | {"label": label}

    def points(self) -> dict[str, Any]:
        """Return single places."""
        return {
            name: np.round(places[:MOST_POINTS], 4)
            for name, places in (("given", self.given), ("drawn", self.drawn))
        }


class _Components:
    """The two directions in which given rows differ most."""

    def __init__(self, given: Any, seed: int) -> None:
        n_components = min(2, *given.shape)
        if sparse.issparse(given) and given.shape[1] > 2:
            self._model = TruncatedSVD(n_components, random_state=seed).fit(given)
        else:
            self._model = PCA(n_components, random_state=seed).fit(_dense(given))

    def place(self, rows: Any) -> Floats:
        """Return two numbers for each row."""
        rows = rows if isinstance(self._model, TruncatedSVD) else _dense(rows)
        found: Floats = self._model.transform(rows)
        return np.pad(found, ((0, 0), (0, 2 - found.shape[1])))


def round_edges(values: Floats, n_bins: int) -> Floats:
    """Return edges of bins at round numbers, which hold all but the outermost values.

    Examples
    --------
    >>> import numpy as np
    >>> round_edges(np.linspace(0.013, 9.87, 50), 5).tolist()
    [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]
    """
    low, high = (float(end) for end in np.quantile(values, [0.01, 0.99]))
    if high - low <= 1e-12 * max(1.0, abs(low), abs(high)):
        low, high = low - 0.5, high + 0.5
    width = (high - low) / n_bins
    power = 10.0 ** np.floor(np.log10(width))
    step = power * min((times for times in (1, 2, 5, 10)), key=lambda t: abs(t * power - width))
    first, last = np.floor(low / step), np.ceil(high / step)
    return np.round(np.arange(first, last + 1) * step, 12)


def _targets(evidence: Evidence) -> dict[str, Any]:
    """Return the share of each class on both sides, or the histograms of a number."""
    assert evidence.V is not None
    if np.ndim(evidence.y) > 1:
        return {}
    if evidence.classes is None:
        own, new = (np.asarray(y, dtype=float) for y in (evidence.given_labels, evidence.V.y))
        return {"target": _histogram(round_edges(own, N_BINS), own, new)}
    given, drawn = evidence.label_shares()
    classes = [
        {"label": str(evidence.classes[at]), "given": float(given[at]), "drawn": float(drawn[at])}
        for at in _largest(given)
    ]
    return {"classes": classes, "n_classes": len(given)}


def _largest(shares: Floats) -> Ints:
    """Return the largest classes, in their own order."""
    return np.sort(np.argsort(-shares, kind="stable")[:MOST_CLASSES])


def _groups(evidence: Evidence, own: Ints, new: Ints) -> Iterator[tuple[str, Bools, Bools]]:
    """Yield a name and the rows of either side: classes, or thirds of a number."""
    assert evidence.V is not None
    if np.ndim(evidence.y) > 1:
        yield "all rows", np.ones(len(own), dtype=bool), np.ones(len(new), dtype=bool)
        return
    given, drawn = evidence.y[own], evidence.V.y[new]
    if evidence.classes is not None:
        for label in evidence.classes[_largest(evidence.label_shares()[0])]:
            yield str(label), given == label, drawn == label
        return
    ends = np.quantile(evidence.y, [1 / 3, 2 / 3])
    places = np.searchsorted(ends, given), np.searchsorted(ends, drawn)
    for at, name in enumerate(("low targets", "middle targets", "high targets")):
        yield name, places[0] == at, places[1] == at


def _histogram(edges: Floats, given: Floats, drawn: Floats) -> dict[str, Any]:
    shares = {
        name: _shares(np.histogram(np.clip(side, edges[0], edges[-1]), edges)[0])
        for name, side in (("given", given), ("drawn", drawn))
    }
    return {"edges": edges, **shares}


def _shares_of_cells(places: Floats, edges: list[Floats]) -> Floats:
    inside = [np.clip(places[:, at], edges[at][0], edges[at][-1]) for at in (0, 1)]
    return _shares(np.histogramdd(inside, bins=edges)[0])


def _shares(counts: AnyArray) -> Floats:
    return np.round(counts / max(1, counts.sum()), 5)


def _some(n_rows: int, rng: np.random.Generator) -> Ints:
    if n_rows <= MOST_PLACED:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, MOST_PLACED, replace=False))


def _dense(rows: Any) -> Floats:
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows, dtype=float)


def _rows(evidence: Evidence) -> dict[str, Any]:
    """Return the first rows of both sides, as text."""
    assert evidence.V is not None
    given = _cells(evidence.X, evidence.y)
    drawn = _cells(evidence.V.X, evidence.V.y)
    return {"columns": _names(evidence.X, len(given[0]) - 1), "given": given, "drawn": drawn}


def _names(X: Table, n_cells: int) -> list[str]:
    names = [str(name) for name in getattr(X, "columns", ())][:n_cells]
    return [*(names or [str(at) for at in range(n_cells)]), "target"]


def _cells(X: Table, y: AnyArray) -> list[list[str]]:
    first = take_rows(X, slice(0, min(MOST_ROWS, count_rows(X))))
    if is_text(first):
        rows = [[text] for text in first]
    else:
        matrix = first.toarray() if sparse.issparse(first) else np.asarray(first)
        rows = matrix.reshape(len(matrix), -1)[:, :MOST_COLUMNS].tolist()
    return [[_text(cell) for cell in [*row, target]] for row, target in zip(rows, y, strict=False)]


def _text(cell: Any) -> str:
    return f"{cell:.6g}" if isinstance(cell, float) else str(cell)
