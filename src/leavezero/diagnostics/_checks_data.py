"""Checks of the training rows: class sizes, order, groups and duplicates."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from leavezero._tables import Featurizer, is_pandas, is_polars, is_text, plain, take_rows
from leavezero._typing import AnyArray, Table
from leavezero.diagnostics._check import Check, not_applicable, severity
from leavezero.diagnostics._check_inputs import CheckInputs
from leavezero.diagnostics._two_sample import random_rows

MAX_DUPLICATES = 0.05  # share of rows
MAX_SORTEDNESS = 4.0  # standard deviations
MIN_ROWS_ORDER = 20  # rows for which an order can be detected
MAX_ROWS_DUPLICATES = 2_000
DUPLICATE_DISTANCE = 1e-6  # rounding error of a distance between equal standardized rows
MAX_FEATURE = 1e100  # squares of larger values may overflow
TOO_LARGE = "Values are too large for distances between rows."
RESPECT_ORDER = (
    "Use a splitter that respects the order or the groups: random folds and generated "
    "validation rows are both optimistic."
)


def check_small_classes(inputs: CheckInputs) -> Check:
    """LZ08: whether every class has enough rows to generate similar ones."""
    if inputs.classes is None:
        return not_applicable("LZ08", "The target is not a single column of classes.")
    labels, counts = np.unique(inputs.known_targets, return_counts=True)
    smallest = int(counts.min())
    level = severity("LZ08", smallest)
    rows = "rows" if inputs.labeled is None else "labeled rows"
    message = f"The smallest class, {plain(labels[counts.argmin()])!r}, has {smallest} {rows}."
    advice = "Collect more rows of this class, or merge it with a similar class."
    return Check("LZ08", level, message, float(smallest), None if level == "ok" else advice)


def check_exchangeable(inputs: CheckInputs) -> Check:
    """LZ11: whether the rows are exchangeable, as generated rows and random folds assume."""
    column = _sorted_column(inputs.X) if inputs.n_train >= MIN_ROWS_ORDER else None
    if column is not None:
        message = f"The rows are sorted by column {column!r}, which may be a time."
        return Check("LZ11", "warning", message, None, RESPECT_ORDER)
    duplicates = _share_of_duplicates(inputs)
    if duplicates is not None and duplicates > MAX_DUPLICATES:
        message = f"{duplicates:.0%} of the rows are duplicates, so all scores are optimistic."
        advice = "Drop the duplicates, or pass groups that keep them together."
        return Check("LZ11", "warning", message, duplicates, advice)
    if inputs.grouped:
        message = "The rows have groups, but rows generated from a distribution do not."
        return Check("LZ11", "note", message, duplicates, RESPECT_ORDER)
    excess = _sortedness(inputs.known_targets)
    if excess > MAX_SORTEDNESS:
        message = (
            "The rows are sorted by the target (neighboring rows agree more often than by chance, "
            f"by {excess:.0f} standard deviations). This is harmless unless the rows were "
            "collected in this order."
        )
        return Check("LZ11", "note", message, excess, RESPECT_ORDER)
    if duplicates is None:
        return not_applicable("LZ11", TOO_LARGE)
    message = f"The rows have no detectable order and no groups; {duplicates:.0%} are duplicates."
    return Check("LZ11", "ok", message, duplicates)


def has_distances(features: Any) -> bool:
    """Return True if distances between rows do not overflow."""
    values = features.data if sparse.issparse(features) else features
    return bool(np.all(np.abs(values) < MAX_FEATURE))


def _sorted_column(X: Table) -> Any:
    """Return the name of a column of times in order, or of numbers in strict order."""
    if is_text(X) or sparse.issparse(X) or len(getattr(X, "shape", ())) != 2:
        return None
    for index in range(X.shape[1]):
        name, values = _column(X, index)
        if values.dtype.kind not in "Miuf":
            continue
        rises, falls = values[1:] > values[:-1], values[1:] < values[:-1]
        # Times may repeat; numbers must not, or columns of few values would be sorted by chance.
        weakly, strictly = rises.any() != falls.any(), rises.all() or falls.all()
        if weakly if values.dtype.kind == "M" else strictly:
            return name
    return None


def _column(X: Any, index: int) -> tuple[Any, AnyArray]:
    if is_pandas(X):
        return plain(X.columns[index]), X.iloc[:, index].to_numpy()
    if is_polars(X):
        return X.columns[index], X[X.columns[index]].to_numpy()
    return index, np.asarray(X[:, index])


def _share_of_duplicates(inputs: CheckInputs) -> float | None:
    """Return the share of rows that are equal to another row; None if it cannot be computed."""
    rng = np.random.default_rng(inputs.seed)
    X = take_rows(inputs.X, random_rows(inputs.n_train, MAX_ROWS_DUPLICATES, rng))
    features = Featurizer().fit(X).transform(X)
    if not has_distances(features):
        return None
    distances = NearestNeighbors(n_neighbors=2).fit(features).kneighbors(features)[0][:, 1]
    return float(np.mean(distances <= DUPLICATE_DISTANCE))


def _sortedness(y: AnyArray) -> float:
    """Return by how many standard deviations neighboring targets agree more than by chance."""
    y = np.asarray(y)
    if y.ndim > 1 or len(y) < MIN_ROWS_ORDER:
        return 0.0
    if y.dtype.kind == "f" and len(np.unique(y)) > MIN_ROWS_ORDER:
        # Autocorrelation at lag 1, with standard deviation 1 / sqrt(n) for independent rows.
        centered = y - y.mean()
        total = float(centered @ centered)
        return float(centered[1:] @ centered[:-1]) / total * np.sqrt(len(y)) if total else 0.0
    proportions = np.unique(y, return_counts=True)[1] / len(y)
    expected = float((proportions**2).sum())
    spread = np.sqrt(expected * (1 - expected) / (len(y) - 1))
    return float((np.mean(y[1:] == y[:-1]) - expected) / spread) if spread else 0.0
