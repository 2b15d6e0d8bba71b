"""Parts that all studies share."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from experiments.markdown import MarkdownTable
from leavezero._typing import Floats

FIRST_SEED = 1000  # measures were chosen on the draws of smaller seeds
CHOSEN, NEW = "designs used to choose the measure", "new designs"
Record = dict[str, Any]  # the results of one design, by method
Simulate = Callable[[np.random.Generator], Floats]


@dataclass(frozen=True)
class Study:
    """Designs, the function that runs one with a number of draws, and the report of all."""

    designs: Sequence[str]
    run: Callable[[str, int], Record]
    report: Callable[[Mapping[str, Record], int], list[MarkdownTable]]
    n_draws: int


def generators(n_draws: int) -> list[np.random.Generator]:
    """Return one generator per draw."""
    return [np.random.default_rng(FIRST_SEED + draw) for draw in range(n_draws)]


def mean_and_error(values: Any, digits: int = 3) -> str:
    """Return the mean with its standard error in brackets; a dash without values."""
    known = np.asarray(values, dtype=float)
    if len(known) < 2 or np.isnan(known).any():
        return "-"
    error = known.std(ddof=1) / np.sqrt(len(known))
    return f"{known.mean():.{digits}f} ({error:.{digits}f})"


def design_means(
    records: Mapping[str, Any], new: Sequence[str], digits: int = 3
) -> dict[str, list[str]]:
    """Return the means over designs, with errors over designs, of chosen and of new ones.

    A record has one row per draw and one column per method.
    """
    rows = {}
    groups = {CHOSEN: [d for d in records if d not in new], NEW: [d for d in records if d in new]}
    for name, designs in groups.items():
        if designs:
            means = np.array([np.mean(records[design], axis=0) for design in designs])
            rows[name] = [mean_and_error(column, digits) for column in means.T]
    return rows
