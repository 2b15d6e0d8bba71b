"""The validation set compared with the training data: shares, a projection and histograms."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD

from leavezero._tables import Featurizer, count_rows, is_text, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table

_MAX_PROJECTED = 2_000  # rows of either sample
_MAX_CLASSES = 12
_N_BINS = 20
_MAX_POINTS, _MAX_ROWS, _MAX_COLUMNS = 500, 10, 30  # of a report with rows
_SAMPLES = ("training", "validation")


def compare_validation_set(inputs: Any, *, with_rows: bool = False) -> dict[str, Any] | None:
    """Compare the validation set with the training data.

    Without ``with_rows`` the result has only shares of cells and bins, whose edges are round
    numbers and which are wider for fewer rows, so that no single row can be read from it.

    Parameters
    ----------
    inputs : CheckInputs
        Of which X, y, classes, validation_set, augmenter and labeled are used.
    with_rows : bool, default=False
        Whether to add single rows.

    Returns
    -------
    dict or None
        None without a validation set.

    Examples
    --------
    >>> import numpy as np
    >>> from types import SimpleNamespace
    >>> from leavezero.augment import ValidationSet
    >>> from leavezero.search._validation_summary import compare_validation_set
    >>> X, y = np.arange(40.0).reshape(20, 2), np.tile(["a", "b"], 10)
    >>> inputs = SimpleNamespace(X=X, y=y, classes=np.unique(y), augmenter=None, labeled=None,
    ...                          validation_set=ValidationSet(X + 0.5, y))
    >>> compare_validation_set(inputs)["classes"][0]
    {'label': 'a', 'training': 0.5, 'validation': 0.5}
    """
    validation_set = inputs.validation_set
    if validation_set is None:
        return None
    n_rows = {"training": count_rows(inputs.X), "validation": count_rows(validation_set.X)}
    source = f"generated from {n_rows['training']:,} training rows"
    if hasattr(inputs.augmenter, "fixed_rows"):
        source = "given by the user"
    found: dict[str, Any] = {"n_rows": n_rows, "note": None}
    found["sentence"] = f"The validation set has {n_rows['validation']:,} rows, {source}."
    found |= _compare_targets(inputs)
    try:
        projected, rows = _project(inputs, list(n_rows.values()))
    except (ValueError, TypeError) as error:
        return found | {"note": f"The rows cannot be projected to a plane: {error}"}
    found["projection"] = _count_cells(projected)
    edges = round_edges(projected[0][:, 0], _N_BINS)
    found["histograms"] = [
        {"label": label}
        | _histograms(edges, [at[chosen, 0] for at, chosen in zip(projected, masks, strict=True)])
        for label, masks in _groups(inputs, rows)
    ]
    if with_rows:
        points = [np.round(sample[:_MAX_POINTS], 4) for sample in projected]
        found["points"] = dict(zip(_SAMPLES, points, strict=True))
        found["rows"] = _first_rows(inputs)
    return found


def round_edges(values: Floats, n_bins: int) -> Floats:
    """Return edges of about so many bins at round numbers, which contain 98 % of the values.

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
    step = power * min((1, 2, 5, 10), key=lambda factor: abs(factor * power - width))
    return np.round(np.arange(np.floor(low / step), np.ceil(high / step) + 1) * step, 12)


def _compare_targets(inputs: Any) -> dict[str, Any]:
    """Return the share of each class in both samples, or histograms of a regression target."""
    if np.ndim(inputs.y) > 1:
        return {}
    y_train = inputs.y if inputs.labeled is None else inputs.y[inputs.labeled]
    if inputs.classes is None:
        targets = [np.asarray(y, dtype=float) for y in (y_train, inputs.validation_set.y)]
        return {"target": _histograms(round_edges(targets[0], _N_BINS), targets)}
    training, validation = _class_shares(inputs, y_train)
    classes = [
        {"label": str(inputs.classes[i]), "training": training[i], "validation": validation[i]}
        for i in _largest(training)
    ]
    return {"classes": classes, "n_classes": len(training)}


def _class_shares(inputs: Any, y_train: AnyArray) -> tuple[list[float], list[float]]:
    """Return the share of each class in both samples; weights and soft labels count."""
    validation_set, n_classes = inputs.validation_set, len(inputs.classes)
    training = np.bincount(np.searchsorted(inputs.classes, y_train), minlength=n_classes)
    weight = validation_set.sample_weight
    probabilities = validation_set.class_probabilities
    if probabilities is None:
        probabilities = np.eye(n_classes)[np.searchsorted(inputs.classes, validation_set.y)]
    validation: list[float] = np.average(probabilities, axis=0, weights=weight).tolist()
    return (training / len(y_train)).tolist(), validation


def _largest(shares: list[float]) -> Ints:
    """Return the largest classes, in their order."""
    return np.sort(np.argsort(-np.asarray(shares), kind="stable")[:_MAX_CLASSES])


def _project(inputs: Any, n_rows: list[int]) -> tuple[list[Floats], list[Ints]]:
    """Return two principal components of some rows of both samples, and which rows."""
    rng = np.random.default_rng(0)
    rows: list[Ints] = [
        np.sort(rng.choice(n, _MAX_PROJECTED, replace=False))
        if n > _MAX_PROJECTED
        else np.arange(n)
        for n in n_rows
    ]
    featurizer = Featurizer().fit(inputs.X)
    tables = [
        featurizer.transform(take_rows(X, chosen))
        for X, chosen in zip((inputs.X, inputs.validation_set.X), rows, strict=True)
    ]
    n_components = min(2, *tables[0].shape)
    model = PCA(n_components, random_state=0)
    if sparse.issparse(tables[0]) and tables[0].shape[1] > 2:
        model = TruncatedSVD(n_components, random_state=0)  # remains sparse
    else:
        tables = [_dense(table) for table in tables]
    model.fit(tables[0])
    missing = ((0, 0), (0, 2 - n_components))  # a single column has a single component
    return [np.pad(model.transform(table), missing) for table in tables], rows


def _count_cells(projected: list[Floats]) -> dict[str, Any]:
    """Return the share of the rows of both samples in each cell of the plane."""
    n_bins = int(np.clip(np.sqrt(len(projected[0])) / 1.5, 6, 24))
    edges = [round_edges(projected[0][:, axis], n_bins) for axis in (0, 1)]
    found: dict[str, Any] = dict(zip(("x_edges", "y_edges"), edges, strict=True))
    for name, sample in zip(_SAMPLES, projected, strict=True):
        inside = [np.clip(sample[:, axis], *edges[axis][[0, -1]]) for axis in (0, 1)]
        found[name] = _shares(np.histogramdd(inside, bins=edges)[0])
    return found


def _groups(inputs: Any, rows: list[Ints]) -> Iterator[tuple[str, list[Bools]]]:
    """Yield a label and the rows of both samples: of each class, or of thirds of the target."""
    if np.ndim(inputs.y) > 1:
        yield "all rows", [np.ones(len(chosen), dtype=bool) for chosen in rows]
        return
    targets = [
        y[chosen] for y, chosen in zip((inputs.y, inputs.validation_set.y), rows, strict=True)
    ]
    if inputs.classes is not None:
        shares = np.bincount(
            np.searchsorted(inputs.classes, inputs.y), minlength=len(inputs.classes)
        )
        for label in inputs.classes[_largest(shares.tolist())]:
            yield f"class {label}", [y == label for y in targets]
        return
    thirds = np.quantile(inputs.y, [1 / 3, 2 / 3])
    for third, label in enumerate(("low targets", "middle targets", "high targets")):
        yield label, [np.searchsorted(thirds, y) == third for y in targets]


def _histograms(edges: Floats, samples: list[Floats]) -> dict[str, Any]:
    """Return the shares of both samples in bins; values outside count in the outermost bins."""
    counts = [np.histogram(np.clip(sample, edges[0], edges[-1]), edges)[0] for sample in samples]
    return {"edges": edges} | dict(zip(_SAMPLES, map(_shares, counts), strict=True))


def _shares(counts: AnyArray) -> Floats:
    return np.round(counts / max(1, counts.sum()), 5)


def _dense(table: Any) -> Floats:
    return table.toarray() if sparse.issparse(table) else np.asarray(table, dtype=float)


def _first_rows(inputs: Any) -> dict[str, Any]:
    """Return the first rows of both samples as text."""
    validation_set = inputs.validation_set
    training = _cells(inputs.X, inputs.y)
    n_columns = len(training[0]) - 1
    names = [str(name) for name in getattr(inputs.X, "columns", range(n_columns))][:n_columns]
    validation = _cells(validation_set.X, validation_set.y)
    return {"columns": [*names, "target"], "training": training, "validation": validation}


def _cells(X: Table, y: AnyArray) -> list[list[str]]:
    first = take_rows(X, slice(0, min(_MAX_ROWS, count_rows(X))))
    if is_text(first):
        rows = [[text] for text in first]
    else:
        matrix = first.toarray() if sparse.issparse(first) else np.asarray(first)
        rows = matrix.reshape(len(matrix), -1)[:, :_MAX_COLUMNS].tolist()
    return [
        [f"{cell:.6g}" if isinstance(cell, float) else str(cell) for cell in [*row, target]]
        for row, target in zip(rows, y, strict=False)
    ]
