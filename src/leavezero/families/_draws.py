"""Which rows each member of an ensemble drew."""

from copy import copy
from typing import Any

import numpy as np

from leavezero._typing import Bools, Floats, Ints
from leavezero.families._fitted_to import other_rows
from leavezero.families._stages import FORESTS


def drawn_rows(model: Any, n_rows: int, sample_weight: Floats | None = None) -> Bools:
    """Return for each member, a row each, which of the given rows it drew."""
    members = _samples(model, n_rows)
    expected = _expected_draws(model, n_rows, sample_weight)
    if expected is not None and len(members[0]) != expected:
        raise other_rows(
            model, f"its members drew {len(members[0])} rows each, from X it would be {expected}"
        )
    drawn = np.zeros((len(members), n_rows), dtype=np.bool_)
    try:
        for inside, samples in zip(drawn, members, strict=True):
            inside[samples] = True
    except IndexError:
        raise other_rows(model, f"its members drew rows beyond the {n_rows} of X") from None
    return drawn


def _samples(model: Any, n_rows: int) -> list[Ints]:
    """Return the numbers of the rows that each member drew.

    A forest draws them again whenever it is asked, with a new random state for each tree, which
    costs as much as predicting. One that is seeded anew gives the same numbers; the forest's own
    first and last tree tell whether this release draws so, from so many rows and without weights.
    """
    if type(model) not in FORESTS:
        return list(model.estimators_samples_)
    ends = copy(model)
    ends.estimators_ = [model.estimators_[0], model.estimators_[-1]]
    told = ends.estimators_samples_
    again = _draw_again(ends.estimators_, n_rows, len(told[0]))
    if not all(np.array_equal(one, other) for one, other in zip(told, again, strict=True)):
        return list(model.estimators_samples_)
    return _draw_again(model.estimators_, n_rows, len(told[0]))


def _draw_again(trees: list[Any], n_rows: int, n_draws: int) -> list[Ints]:
    """Return the numbers that trees draw from so many rows, one random state for all trees."""
    stream = np.random.RandomState(0)
    draws: list[Ints] = []
    for tree in trees:
        stream.seed(tree.random_state)
        draws.append(stream.randint(0, n_rows, n_draws))
    return draws


def _expected_draws(model: Any, n_rows: int, sample_weight: Floats | None) -> int | None:
    """Return how many rows a member draws from so many; None if that does not depend on them."""
    if model.max_samples is None:
        return n_rows
    weighted = sample_weight is not None or getattr(model, "class_weight", None) is not None
    if isinstance(model.max_samples, float) and model.max_samples == 1.0 and not weighted:
        return n_rows
    return None  # shares are rounded, and may be of the weights, in ways that releases differ in
