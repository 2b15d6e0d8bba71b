"""A support vector machine of two classes, and the rule by which LIBSVM stops at it."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from leavezero._typing import Bools, Floats

BALANCE = 1e-9  # of all multipliers: what their signed sum may be by rounding


@dataclass(frozen=True, eq=False)
class Plane:
    """A machine of two classes: its multipliers, exact at their bounds, and its intercept.

    ``violation`` is by how much the conditions of optimality are missed, as LIBSVM counts it; zero
    stands for its own machines too.
    """

    multipliers: Floats
    intercept: float
    violation: float = 0.0


def stopped_at(
    signs: Floats, bounds: Floats, multipliers: Floats, product: Callable[[Floats], Floats]
) -> Plane:
    """Return the machine of these multipliers, with the intercept that LIBSVM would take.

    ``product`` gives the kernel of all rows times coefficients.
    """
    multipliers = _balanced(signs, bounds, multipliers)
    levels = signs - product(multipliers * signs)  # what puts each row on its margin
    above_zero, below_bound = multipliers > 0.0, multipliers < bounds
    up = np.where(signs > 0.0, below_bound, above_zero)
    down = np.where(signs > 0.0, above_zero, below_bound)
    least, most = _extreme(levels, up, -np.inf), -_extreme(-levels, down, -np.inf)
    free = above_zero & below_bound
    intercept = levels[free].mean() if free.any() else 0.5 * (least + most)
    balanced = abs(float(multipliers @ signs)) <= BALANCE * float(multipliers.sum())
    return Plane(multipliers, float(intercept), least - most if balanced else np.inf)


def _balanced(signs: Floats, bounds: Floats, multipliers: Floats) -> Floats:
    """Return multipliers whose signed sum is zero; the free ones make up for what is missing."""
    free = (multipliers > 0.0) & (multipliers < bounds)
    if not free.any():
        return multipliers
    rooms = np.where(free, np.minimum(multipliers, bounds - multipliers), 0.0)
    excess = float(multipliers @ signs)
    moved = multipliers - signs * rooms * (excess / float(rooms.sum()))
    return np.clip(moved, 0.0, bounds)


def _extreme(values: Floats, among: Bools, otherwise: float) -> float:
    return float(values[among].max(initial=otherwise))
