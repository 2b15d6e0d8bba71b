"""The validation set: all replicates together, drawn once before any fit."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.base import clone

from leavezero._random import integer_seed, stream, with_seed
from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import ReferenceModels, ValidationSet
from leavezero.engine._threads import limited_threads

Lines = Callable[[AnyArray], AnyArray]
MAX_ROWS = 200_000  # of all replicates together, where their size is a share of the data


@dataclass(frozen=True, eq=False)
class Replicates:
    """Independent draws of V of one size, one below the other.

    ``classes`` are those of the data, sorted, where the target is one column of classes; the
    columns of a posterior follow them. ``references`` are models whose honest score is known.
    """

    rows: ValidationSet
    n_replicates: int
    classes: AnyArray | None = None
    references: ReferenceModels | None = None
    given: bool = False  # the user's own rows, not drawn
    weighted: bool = False  # drawn from weighted data
    calibrations: dict[str, Any] = field(default_factory=dict, repr=False)  # by metric
    reference_scores: dict[str, Any] = field(default_factory=dict, repr=False)  # by metric

    @cached_property
    def parts(self) -> list[list[Ints]]:
        """The rows of each replicate, split by the members of a portfolio."""
        replicates = np.split(np.arange(len(self.rows)), self.n_replicates)
        members = self.rows.component
        if members is None:
            return [[rows] for rows in replicates]
        return [
            [rows[members[rows] == one] for one in np.unique(members[rows])] for rows in replicates
        ]

    @cached_property
    def _parts_by_size(self) -> list[tuple[Ints, Lines]]:
        """The numbers of the parts of one size, and how their rows come side by side."""
        parts = [part for several in self.parts for part in several]
        sizes = np.array([len(part) for part in parts])
        numbers = [np.flatnonzero(sizes == size) for size in np.unique(sizes)]
        return [(same, _lines([parts[number] for number in same])) for same in numbers]

    @cached_property
    def _n_parts(self) -> Ints:
        return np.array([len(parts) for parts in self.parts])

    def by_part(self, score: Callable[[Lines], Floats]) -> Floats:
        """Return the mean over the parts of each replicate of what is scored for each part.

        ``score`` is given what brings values of all rows into lines, one a part, and returns a
        number a line.
        """
        sizes = self._n_parts
        scores = np.empty(sizes.sum())
        for numbers, lines in self._parts_by_size:
            scores[numbers] = score(lines)
        return np.asarray(np.add.reduceat(scores, np.cumsum(sizes) - sizes) / sizes)

    @cached_property
    def smallest_part(self) -> int:
        """How many rows the smallest part of a replicate has."""
        return min(len(part) for parts in self.parts for part in parts)


def _lines(parts: list[Ints]) -> Lines:
    """Return what brings values of all rows into lines; a view, where rows follow one another."""
    rows = np.stack(parts)
    first, last = int(rows[0, 0]), int(rows[-1, -1]) + 1
    if np.array_equal(rows.ravel(), np.arange(first, last)):
        return partial(_following, first, rows.shape)
    return partial(_picked, rows)


def _following(first: int, shape: tuple[int, ...], values: AnyArray) -> AnyArray:
    return values[first : first + shape[0] * shape[1]].reshape(*shape, *values.shape[1:])


def _picked(rows: Ints, values: AnyArray) -> AnyArray:
    return values[rows]


def draw_replicates(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    *,
    sample_weight: AnyArray | None = None,
    groups: AnyArray | None = None,
    n_replicates: int,
    validation_size: float,
    root: np.random.SeedSequence,
    owner: str,
) -> tuple[Any, Replicates]:
    """Fit the augmenter to the data and draw V; return both.

    Each replicate has its own random stream, so that more of them leave the first ones as they
    were. Weights reach a row of V from its origins; where the augmenter knows none, V is drawn
    from the weighted data instead.
    """
    size = replicate_size(validation_size, n_replicates, count_rows(X), owner)
    # scikit-learn's own models, inside augmenters, do not know every array library yet.
    with limited_threads(), config_context(array_api_dispatch=False):
        return _draw(augmenter, X, y, sample_weight, groups, n_replicates, size, root)


def _draw(
    augmenter: Any,
    X: Table,
    y: AnyArray,
    sample_weight: AnyArray | None,
    groups: AnyArray | None,
    n_replicates: int,
    size: int,
    root: np.random.SeedSequence,
) -> tuple[Any, Replicates]:
    given = {} if groups is None else {"groups": groups}
    fitted = with_seed(clone(augmenter), integer_seed(root, "augmenter")).fit(X, y, **given)
    one_column_of_names = np.ndim(y) == 1 and np.asarray(y).dtype.kind != "f"
    classes = getattr(fitted, "classes_", np.unique(y) if one_column_of_names else None)
    fixed = getattr(fitted, "fixed_rows", None)
    if fixed is not None:
        return fitted, Replicates(fixed, 1, classes, given=True)
    weighted = False
    if sample_weight is not None and fitted.sample(1, stream(root, "glance")).source_rows is None:
        fitted.fit(X, y, sample_weight=sample_weight, **given)  # V is drawn by weight instead
        weighted = True
    rows = ValidationSet.concatenate(_some(fitted, size, range(n_replicates), root))
    references = None if rows.reference_predictions is None else fitted.reference_models_
    return fitted, Replicates(rows, n_replicates, classes, references, weighted=weighted)


def _some(
    fitted: Any, size: int, replicates: range, root: np.random.SeedSequence
) -> list[ValidationSet]:
    return [fitted.sample(size, stream(root, "replicate", r)) for r in replicates]


def draw_more(
    fitted: Any, drawn: Replicates, n_replicates: int, root: np.random.SeedSequence
) -> Replicates:
    """Return V with more replicates by the augmenter that drew it; the first are as they were."""
    size, more = len(drawn.rows) // drawn.n_replicates, range(drawn.n_replicates, n_replicates)
    with limited_threads(), config_context(array_api_dispatch=False):
        rows = ValidationSet.concatenate([drawn.rows, *_some(fitted, size, more, root)])
    nothing: dict[str, Any] = {}  # is known yet of references on the larger V
    return replace(
        drawn,
        rows=rows,
        n_replicates=n_replicates,
        calibrations=nothing,
        reference_scores=dict(nothing),
    )


def replicate_size(validation_size: float, n_replicates: int, n_samples: int, owner: str) -> int:
    """Return the number of rows of one replicate.

    Examples
    --------
    >>> replicate_size(1.0, 10, 150, "a search"), replicate_size(1.0, 10, 10**6, "a search")
    (150, 20000)
    """
    if not _is(n_replicates, Integral) or n_replicates < 1:
        raise ValueError(
            f"n_replicates of {owner} must be a positive int, got {n_replicates!r}. "
            "Use 1 for a single augmented copy."
        )
    if _is(validation_size, Integral) and validation_size >= 1:
        return int(validation_size)
    if _is(validation_size, Real) and 0 < validation_size < np.inf:
        share = round(validation_size * n_samples)
        return int(max(1, min(share, MAX_ROWS // n_replicates)))
    raise ValueError(
        f"validation_size of {owner} must be a positive int (rows) or a positive float (share of "
        f"the given rows), got {validation_size!r}. Use 1.0 for as many rows as were given."
    )


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not isinstance(value, bool)
