"""The validation set compared with the training data: shares, a projection and histograms."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA, TruncatedSVD

from leavezero._tables import Featurizer, count_rows, is_text, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.diagnostics import CheckInputs

_MAX_PROJECTED = 2_000  # rows of either sample
_MAX_CLASSES = 12
_N_BINS = 20
_MAX_POINTS, _MAX_ROWS, _MAX_COLUMNS = 500, 10, 30  # of a report with rows
_SAMPLES = ("training", "validation")


def compare_validation_set(
    inputs: CheckInputs, *, with_rows: bool = False
) -> dict[str, Any] | None:
    """Compare the validation set with the training data.

    Without ``with_rows`` the result has only shares of cells and bins, whose edges are round
    numbers and which are wider for fewer rows, so that no single row can be read from it.

    Parameters
    ----------
    inputs : CheckInputs
        Both samples; the scores are not used.
    with_rows : bool, default=False
        Whether to add single rows.

    Returns
    -------
    dict or None
        None without a validation set.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import ValidationSet
    >>> from leavezero.diagnostics import CheckInputs
    >>> from leavezero.search._validation_summary import compare_validation_set
    >>> X, y = np.arange(40.0).reshape(20, 2), np.tile(["a", "b"], 10)
    >>> inputs = CheckInputs(X, y, np.unique(y), ValidationSet(X + 0.5, y), None)
    >>> compare_validation_set(inputs)["classes"][0]
    {'label': 'a', 'training': 0.5, 'validation': 0.5}
    """
    validation_set = inputs.validation_set
    if validation_set is None:
        return None
    n_rows = {"training": count_rows(inputs.X), "validation": count_rows(validation_set.X)}
    source = f"generated from {n_rows['training']:,} training rows"
    if inputs.is_user_supplied:
        source = "given by the user"
    found: dict[str, Any] = {"n_rows": n_rows, "note": None}
    found["sentence"] = f"The validation set has {n_rows['validation']:,} rows, {source}."
    found |= _compare_targets(inputs, validation_set)
    try:
        projected, rows = _project(inputs.X, validation_set.X)
    except (ValueError, TypeError) as error:
        return found | {"note": f"The rows cannot be projected to a plane: {error}"}
    found["projection"] = _count_cells(projected)
    edges = round_edges(projected[0][:, 0], _N_BINS)
    found["histograms"] = [
        {"label": label}
        | _histograms(edges, [at[chosen, 0] for at, chosen in zip(projected, masks, strict=True)])
        for label, masks in _groups(inputs, validation_set.y, rows)
    ]
    if with_rows:
        points = [np.round(sample[:_MAX_POINTS], 4) for sample in projected]
        found["points"] = dict(zip(_SAMPLES, points, strict=True))
        found["rows"] = _first_rows(inputs, validation_set)
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


def _compare_targets(inputs: CheckInputs, validation_set: ValidationSet) -> dict[str, Any]:
    """Return the share of each class in both samples, or histograms of a regression target."""
    if np.ndim(inputs.y) > 1:
        return {}
    if inputs.classes is None:
        targets = [np.asarray(y, float) for y in (inputs.known_targets, validation_set.y)]
        return {"target": _histograms(round_edges(targets[0], _N_BINS), targets)}
    shares = inputs.target_proportions()
    classes = [
        {"label": str(inputs.classes[i])}
        | {name: float(share[i]) for name, share in zip(_SAMPLES, shares, strict=True)}
        for i in _largest(shares[0])
    ]
    return {"classes": classes, "n_classes": len(shares[0])}


def _largest(shares: Floats) -> Ints:
    """Return the largest classes, in their order."""
    return np.sort(np.argsort(-shares, kind="stable")[:_MAX_CLASSES])


def _project(X: Table, X_val: Table) -> tuple[list[Floats], list[Ints]]:
    """Return two principal components of some rows of both samples, and which rows."""
    rng = np.random.default_rng(0)
    featurizer = Featurizer().fit(X)
    rows: list[Ints] = []
    features = []
    for table in (X, X_val):
        n_rows = count_rows(table)
        rows.append(np.sort(rng.permutation(n_rows)[:_MAX_PROJECTED]))
        features.append(featurizer.transform(take_rows(table, rows[-1])))
    n_components = min(2, *features[0].shape)
    model = PCA(n_components, random_state=0)
    if sparse.issparse(features[0]) and features[0].shape[1] > 2:
        model = TruncatedSVD(n_components, random_state=0)  # takes sparse matrices
    else:
        features = [_dense(table) for table in features]
    model.fit(features[0])
    missing = ((0, 0), (0, 2 - n_components))  # a single column has a single component
    return [np.pad(model.transform(table), missing) for table in features], rows


def _count_cells(projected: list[Floats]) -> dict[str, Any]:
    """Return the share of the rows of both samples in each cell of the plane."""
    n_bins = int(np.clip(np.sqrt(len(projected[0])) / 1.5, 6, 24))
    edges = [round_edges(projected[0][:, axis], n_bins) for axis in (0, 1)]
    found: dict[str, Any] = dict(zip(("x_edges", "y_edges"), edges, strict=True))
    for name, sample in zip(_SAMPLES, projected, strict=True):
        inside = [np.clip(sample[:, axis], *edges[axis][[0, -1]]) for axis in (0, 1)]
        found[name] = _shares(np.histogramdd(inside, bins=edges)[0])
    return found


def _groups(
    inputs: CheckInputs, y_val: AnyArray, rows: list[Ints]
) -> Iterator[tuple[str, list[Bools]]]:
    """Yield a label and the rows of both samples: of each class, or of thirds of the target."""
    if np.ndim(inputs.y) > 1:
        yield "all rows", [np.ones(len(chosen), dtype=bool) for chosen in rows]
        return
    targets = [y[chosen] for y, chosen in zip((inputs.y, y_val), rows, strict=True)]
    if inputs.classes is not None:
        for label in inputs.classes[_largest(inputs.target_proportions()[0])]:
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


def _first_rows(inputs: CheckInputs, validation_set: ValidationSet) -> dict[str, Any]:
    """Return the first rows of both samples as text."""
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
