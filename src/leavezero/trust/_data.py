"""Findings about the given rows: enough of each class, and in no order that matters."""

from typing import Any

import numpy as np

from leavezero._tables import Featurizer, is_pandas, is_polars, is_text, plain, take_rows
from leavezero._typing import AnyArray, Table
from leavezero.trust._advice import IN_ORDER, MORE_OF_CLASS, TWINS
from leavezero.trust._evidence import Evidence
from leavezero.trust._finding import Finding, not_applicable
from leavezero.trust._levels import level_of
from leavezero.trust._rows import TOO_LARGE, TWIN, measurable, nearest_distances

TWINS_WARN = 0.05  # share of rows with an equal row
SORTED_NOTE = 4.0  # standard deviations by which neighbours in the table are too much alike
MOST_LOOKED_AT = 2_000
FEWEST_ROWS = 20


def small_classes(evidence: Evidence) -> Finding:
    """LZ08: whether every class has rows enough to draw more like them."""
    if evidence.classes is None:
        return not_applicable("LZ08", "The target is not one column of classes.")
    labels, counts = np.unique(evidence.given_labels, return_counts=True)
    fewest = int(counts.min())
    level = level_of("LZ08", fewest)
    what = "rows" if evidence.labeled is None else "labelled rows"
    sentence = f"The smallest class, {plain(labels[counts.argmin()])!r}, has {fewest} {what}."
    advice = None if level == "ok" else MORE_OF_CLASS
    return Finding("LZ08", level, sentence, float(fewest), advice)


def exchangeable(evidence: Evidence) -> Finding:
    """LZ11: whether rows could be in any order, as leave-zero-out and random folds assume."""
    clock = _clock(evidence.X) if evidence.n_given >= FEWEST_ROWS else None
    if clock is not None:
        sentence = f"The rows are in the order of {clock}, which looks like a time."
        return Finding("LZ11", "warning", sentence, None, IN_ORDER)
    twins = _share_of_twins(evidence)
    if twins is not None and twins > TWINS_WARN:
        sentence = f"{twins:.0%} of the rows have an equal row: no row of a pair is really unseen."
        return Finding("LZ11", "warning", sentence, twins, TWINS)
    if evidence.grouped:
        sentence = "The rows come in groups; rows drawn by a generator know nothing of them."
        return Finding("LZ11", "note", sentence, twins, IN_ORDER)
    excess = _sortedness(evidence.given_labels)
    if excess > SORTED_NOTE:
        sentence = (
            f"The table is sorted by its target (neighbours agree {excess:.0f} standard deviations "
            "more than by chance): harmless if somebody sorted it, not if the rows came so."
        )
        return Finding("LZ11", "note", sentence, excess, IN_ORDER)
    if twins is None:
        return not_applicable("LZ11", TOO_LARGE)
    return Finding("LZ11", "ok", "The rows show no order, no groups and hardly any twins.", twins)


def _clock(X: Table) -> str | None:
    """Return the name of a column of times in order, or of one that rises or falls row by row."""
    if is_text(X) or not hasattr(X, "shape") or len(X.shape) != 2 or hasattr(X, "tocsr"):
        return None
    for at in range(X.shape[1]):
        name, values = _column(X, at)
        if values.dtype.kind not in "Miuf":
            continue
        steps = np.diff(values.astype(np.int64) if values.dtype.kind == "M" else values)
        strictly = values.dtype.kind != "M"  # several rows may have one time, and no two one number
        if _all_one_way(steps, strictly) or _all_one_way(-steps, strictly):
            return f"the column {name!r}"
    return None


def _all_one_way(steps: AnyArray, strictly: bool) -> bool:
    return bool(np.all(steps > 0) if strictly else np.all(steps >= 0) and np.any(steps > 0))


def _column(X: Any, at: int) -> tuple[Any, AnyArray]:
    if is_pandas(X):
        return plain(X.columns[at]), X.iloc[:, at].to_numpy()
    if is_polars(X):
        return X.columns[at], X[X.columns[at]].to_numpy()
    return at, np.asarray(X[:, at])


def _share_of_twins(evidence: Evidence) -> float | None:
    """Return the share of rows that equal another one, if known; of text, of the same words."""
    rows = np.arange(evidence.n_given)
    if len(rows) > MOST_LOOKED_AT:
        rng = np.random.default_rng(evidence.seed)
        rows = np.sort(rng.choice(rows, size=MOST_LOOKED_AT, replace=False))
    X = take_rows(evidence.X, rows)
    features = Featurizer().fit(X).transform(X)
    if not measurable(features):
        return None
    return float(np.mean(nearest_distances(features) <= TWIN))


def _sortedness(y: AnyArray) -> float:
    """Return by how many standard deviations neighbours in the table agree more than by chance."""
    y = np.asarray(y)
    if y.ndim > 1 or len(y) < FEWEST_ROWS:
        return 0.0
    if y.dtype.kind == "f" and len(np.unique(y)) > FEWEST_ROWS:
        centred = y - y.mean()
        total = float(centred @ centred)
        return float(centred[1:] @ centred[:-1]) / total * np.sqrt(len(y)) if total else 0.0
    shares = np.unique(y, return_counts=True)[1] / len(y)
    expected = float((shares**2).sum())
    spread = np.sqrt(expected * (1 - expected) / (len(y) - 1))
    return float((np.mean(y[1:] == y[:-1]) - expected) / spread) if spread else 0.0
