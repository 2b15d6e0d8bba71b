"""Targets in which some rows have no label, for semi-supervised candidates."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from leavezero._tables import plain
from leavezero._typing import AnyArray, Bools, Ints
from leavezero.augment import check_labels, takes_unlabeled
from leavezero.evaluation import final_estimator
from leavezero.semi_supervised import marked_rows, plain_labels

MARKER = -1  # scikit-learn's
STRING_MARKER = "?"  # for string labels, if no class has that name


@dataclass(frozen=True, eq=False)
class Target:
    """The target in a form that sorts, and which of its rows have a label."""

    values: AnyArray  # the labels, and ``marker`` where there is none
    labeled: Ints | None = None  # the labeled rows; None if every row has a label
    marker: Any = MARKER  # the candidates' marker, or another one if labels do not sort with it
    with_own_marker: AnyArray | None = None  # for candidates, if their marker was replaced


def read_target(estimators: Iterable[Any], y: AnyArray, owner: str) -> Target:
    """Return which rows are labeled; raise if a candidate cannot use the unlabeled ones."""
    last_steps = [final_estimator(estimator) for estimator in estimators]
    semi_supervised = [step for step in last_steps if takes_unlabeled(step)]
    if not semi_supervised or y.ndim > 1:
        return Target(y)
    marker, is_marked = _find_marked(semi_supervised, y, owner)
    labels = plain_labels(y[~is_marked])
    _check_labels(labels, marker, owner)
    if not is_marked.any():
        return Target(labels)
    others = dict.fromkeys(type(s).__name__ for s in last_steps if not takes_unlabeled(s))
    if others:
        raise ValueError(
            f"y passed to {owner} marks rows as unlabeled ({marker!r}), which {', '.join(others)} "
            "cannot use. Search semi-supervised estimators only, or wrap others in "
            "SelfTrainingClassifier."
        )
    target = Target(y, np.flatnonzero(~is_marked), marker)
    return target if _is_sortable(y) else _with_sortable_marker(labels, target, owner)


def sortable_codes(y: AnyArray) -> AnyArray:
    """Return labels that sort: as they are, or numbered in order of appearance."""
    if y.ndim > 1 or _is_sortable(y):
        return y
    missing = marked_rows(y, None)
    codes: dict[Any, int] = {}
    labels = [None if gap else value for gap, value in zip(missing, y.tolist(), strict=True)]
    return np.array([codes.setdefault(label, len(codes)) for label in labels])


def _is_sortable(y: AnyArray) -> bool:
    if y.dtype.kind == "O":
        return all(isinstance(value, str) for value in y.ravel())
    return y.dtype.kind != "f" or not np.isnan(y).any()


def _find_marked(estimators: Sequence[Any], y: AnyArray, owner: str) -> tuple[Any, Bools]:
    """Return the candidates' marker and the rows that have it; raise if candidates differ."""
    markers = {repr(m): m for m in (plain(getattr(e, "unlabeled", MARKER)) for e in estimators)}
    names = sorted(markers)
    marked = [marked_rows(y, markers[name]) for name in names]
    if any(not np.array_equal(marked[0], other) for other in marked[1:]):
        raise ValueError(
            f"All candidates of {owner} must mark unlabeled rows alike, got the markers "
            f"{' and '.join(names)}, of which y contains some."
        )
    return markers[names[0]], marked[0]


def _check_labels(labels: AnyArray, marker: Any, owner: str) -> None:
    if marked_rows(labels, None).any():
        raise ValueError(
            f"Input y contains NaN or None in labeled rows: {owner} treats only {marker!r} as "
            f"unlabeled. Replace them by {marker!r}, or use an estimator with unlabeled=None."
        )
    types = sorted({type(value).__name__ for value in labels.tolist()})
    if "str" in types and len(types) > 1:
        raise ValueError(
            f"The labels passed to {owner} must have one type, got {' and '.join(types)}."
        )
    check_labels(labels, marker, owner)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)


def _with_sortable_marker(labels: AnyArray, target: Target, owner: str) -> Target:
    if labels.dtype.kind == "b":
        raise ValueError(
            f"y passed to {owner} contains booleans and unlabeled rows. Use 0 and 1 or strings."
        )
    marker: Any = STRING_MARKER
    if labels.dtype.kind != "O":
        marker = min(MARKER, labels.min() - 1)
    while marker in labels.tolist():
        marker += STRING_MARKER
    values = np.full(len(target.values), marker, dtype=labels.dtype)
    values[target.labeled] = labels
    keeps_dtype = labels.dtype.kind == "f" and isinstance(target.marker, float)
    with_own_marker = np.full(
        len(values), target.marker, dtype=labels.dtype if keeps_dtype else object
    )
    with_own_marker[target.labeled] = labels
    return Target(values, target.labeled, marker, with_own_marker)
