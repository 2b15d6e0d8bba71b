"""Which given rows have a label, where candidates learn from rows without one."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline
from sklearn.utils import assert_all_finite
from sklearn.utils.multiclass import check_classification_targets

from leavezero._tables import plain
from leavezero._typing import AnyArray, Bools, Ints
from leavezero.augment import check_labels, takes_unlabeled
from leavezero.engine import Candidate
from leavezero.semi_supervised import marked_rows, plain_labels

MARKER = -1  # scikit-learn's
STAND_IN = "?"  # marks rows among names, if no class is called so


@dataclass(frozen=True, eq=False)
class Labels:
    """The target in a form that sorts, and which of its rows have a label.

    Parameters
    ----------
    target : array of shape (n_samples, ...)
        The labels, and ``marker`` where there is none.
    rows : array of int or None
        The labelled rows; None where every row has a label.
    marker : object
        What marks the others: the candidates' marker, or a stand-in where labels do not sort
        beside that one.
    written : tuple
        The candidates' marker where there is a stand-in for it, and else nothing.

    Examples
    --------
    >>> from leavezero.semi_supervised import SMIRClassifier
    >>> y = np.array(["b", None, "a"], dtype=object)
    >>> labels = read_labels([SMIRClassifier(unlabeled=None)], y, "a search")
    >>> labels.target.tolist(), labels.rows.tolist(), labels.written
    (['b', '?', 'a'], [0, 2], (None,))
    """

    target: AnyArray
    rows: Ints | None = None
    marker: Any = MARKER
    written: tuple[Any, ...] = ()


def read_labels(estimators: Iterable[Any], target: AnyArray, owner: str) -> Labels:
    """Return what is labelled, or raise where candidates cannot learn from the rest.

    Only semi-supervised estimators have a marker; for others -1 is a class like others.
    """
    last = [last_step(estimator) for estimator in estimators]
    semi = [estimator for estimator in last if takes_unlabeled(estimator)]
    if not semi or target.ndim > 1:
        return Labels(target)
    marker, marked = _marker(semi, target, owner)
    labels = plain_labels(target[~marked])
    _check_classes(labels, marker, owner)
    if not marked.any():
        return Labels(labels)
    others = dict.fromkeys(type(one).__name__ for one in last if not takes_unlabeled(one))
    if others:
        raise ValueError(
            f"y given to {owner} marks rows as unlabelled ({marker!r}), and {', '.join(others)} "
            "cannot learn from these. Compare semi-supervised estimators only, or wrap it in "
            "SelfTrainingClassifier."
        )
    found = Labels(target, np.flatnonzero(~marked), marker)
    return found if sorts(target) else _with_stand_in(labels, found, owner)


def has_marker(estimators: Iterable[Any]) -> bool:
    """Tell whether any of the estimators learns from rows without a label."""
    return any(takes_unlabeled(last_step(estimator)) for estimator in estimators)


def configured(candidates: Sequence[Candidate]) -> list[Any]:
    """Return an estimator for each way in which candidates may differ in their marker."""
    ways: dict[Any, Candidate] = {}
    for one in candidates:
        bearing = [
            (name, repr(value))
            for name, value in sorted(one.settings.items())
            if name.rpartition("__")[2] == "unlabeled" or hasattr(value, "get_params")
        ]
        ways.setdefault((id(one.estimator), *bearing), one)
    return [one.configured(0) for one in ways.values()]


def last_step(estimator: Any) -> Any:
    """Return what predicts in a pipeline."""
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    return estimator


def sorts(target: AnyArray) -> bool:
    """Tell whether labels can be put in order as they are written, and are no mere objects."""
    if target.dtype.kind == "O":
        return all(isinstance(value, str) for value in target.ravel())
    return target.dtype.kind != "f" or not np.isnan(target).any()


def sortable(target: AnyArray) -> AnyArray:
    """Return labels that sort: as they are, or numbered in the order in which they come.

    Examples
    --------
    >>> sortable(np.array(["b", None, "a", None], dtype=object)).tolist()
    [0, 1, 2, 1]
    """
    if target.ndim > 1 or sorts(target):
        return target
    missing = marked_rows(target, None)
    numbers: dict[Any, int] = {}
    names = [None if gap else value for gap, value in zip(missing, target.tolist(), strict=True)]
    return np.array([numbers.setdefault(name, len(numbers)) for name in names])


def _marker(semi: Sequence[Any], target: AnyArray, owner: str) -> tuple[Any, Bools]:
    """Return the candidates' marker and the rows that have it, or raise if they do not agree."""
    given = [plain(getattr(estimator, "unlabeled", MARKER)) for estimator in semi]
    markers = {repr(marker): marker for marker in given}
    names = sorted(markers)
    rows = {name: marked_rows(target, markers[name]) for name in names}
    first = rows[names[0]]
    if any(not np.array_equal(first, other) for other in rows.values()):
        raise ValueError(
            f"The candidates of {owner} mark rows without a label differently, by "
            f"{' and '.join(names)}, and y holds one of these: what marks a row for one candidate "
            "would be a class for another. Give all candidates the same marker."
        )
    return markers[names[0]], first


def _check_classes(labels: AnyArray, marker: Any, owner: str) -> None:
    """Raise unless labels are at least two classes that sort."""
    if marked_rows(labels, None).any():
        raise ValueError(
            f"Input y contains NaN or None in rows that count as labelled: {owner} takes rows that "
            f"are {marker!r} for unlabelled. Write {marker!r} there, or use an estimator with "
            "unlabeled=None."
        )
    kinds = sorted({type(value).__name__ for value in labels.tolist()})
    if "str" in kinds and len(kinds) > 1:
        raise ValueError(
            f"y given to {owner} has labels of several kinds, {' and '.join(kinds)}, that cannot "
            "be sorted. Give names only or numbers only."
        )
    check_labels(labels, marker, owner)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)


def _with_stand_in(labels: AnyArray, found: Labels, owner: str) -> Labels:
    """Return the same labels with a marker of their own kind."""
    if labels.dtype.kind == "b":
        raise ValueError(
            f"y given to {owner} holds True and False beside rows without a label. Give 0 and 1 or "
            "names instead."
        )
    marker: Any = STAND_IN
    if labels.dtype.kind != "O":
        marker = min(MARKER, labels.min() - 1)
    while marker in labels.tolist():
        marker += STAND_IN
    target = np.full(len(found.target), marker, dtype=labels.dtype)
    target[found.rows] = labels
    return Labels(target, found.rows, marker, (found.marker,))
