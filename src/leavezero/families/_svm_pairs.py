"""A support vector classifier as machines of two classes, one for each pair of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from leavezero._typing import AnyArray, Floats, Ints
from leavezero.families._plane import Plane
from leavezero.families._svm_votes import dense_coefs, pair_coefs


@dataclass(frozen=True, eq=False)
class Learned:
    """What LIBSVM learns, by the names of a fitted machine's attributes."""

    support_: Ints
    n_support_: Ints
    dual_coef_: Floats
    intercept_: Floats
    classes_: AnyArray | None = None  # none of a regression
    class_weight_: Floats | None = None


@dataclass(frozen=True, eq=False)
class Pair:
    """The rows of two classes; the first has sign one. Bounds are those of their multipliers."""

    rows: Ints
    signs: Floats
    bounds: Floats


@dataclass(frozen=True, eq=False)
class Classes:
    """What a classifier is fitted to: the class of each row, and the bound of its multiplier."""

    classes: AnyArray
    codes: Ints
    class_weight: Floats
    bounds: Floats

    @cached_property
    def pairs(self) -> list[Pair]:
        """Each two classes, in LIBSVM's order."""
        found = []
        for one, other in combinations(range(len(self.classes)), 2):
            rows = np.flatnonzero((self.codes == one) | (self.codes == other))
            signs = np.where(self.codes[rows] == one, 1.0, -1.0)
            found.append(Pair(rows, signs, self.bounds[rows]))
        return found

    def planes(self, learned: Learned) -> list[Plane]:
        """Return the machine of each pair."""
        sizes = np.zeros((len(self.codes), len(self.pairs)))
        sizes[learned.support_] = np.abs(pair_coefs(learned))
        levels = self._turn * learned.intercept_
        return [
            Plane(sizes[pair.rows, at], float(levels[at])) for at, pair in enumerate(self.pairs)
        ]

    def learned(self, planes: Sequence[Plane]) -> Learned:
        """Return what LIBSVM would have learned, from the machine of each pair."""
        dual = np.zeros((len(self.classes) - 1, len(self.codes)))
        pairs = combinations(range(len(self.classes)), 2)
        for (one, other), pair, plane in zip(pairs, self.pairs, planes, strict=True):
            against = np.where(self.codes[pair.rows] == one, other - 1, one)
            dual[against, pair.rows] = pair.signs * plane.multipliers
        support = np.flatnonzero(np.any(dual != 0.0, axis=0))
        support = support[np.argsort(self.codes[support], kind="stable")]
        return Learned(
            support,
            np.bincount(self.codes[support], minlength=len(self.classes)),
            self._turn * dual[:, support],
            self._turn * np.array([plane.intercept for plane in planes]),
            self.classes,
            self.class_weight,
        )

    @property
    def _turn(self) -> float:
        """The sign of the first class's scores: of two classes the second is above zero."""
        return -1.0 if len(self.classes) == 2 else 1.0


def classes_of(machine: Any, y: AnyArray, weights: Floats) -> Classes | None:
    """Return what an SVC is fitted to; None if that is one class, or a row has no weight."""
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    if len(classes) < 2:
        return None
    by_class = compute_class_weight(machine.class_weight, classes=classes, y=y)
    bounds = machine.C * weights * by_class[codes]
    return Classes(classes, codes, by_class, bounds) if np.all(bounds > 0.0) else None


def learned_by(model: Any) -> Learned:
    """Return what a fitted machine has learned."""
    return Learned(
        model.support_,
        model.n_support_,
        dense_coefs(model),
        model.intercept_,
        getattr(model, "classes_", None),
        getattr(model, "class_weight_", None),
    )
