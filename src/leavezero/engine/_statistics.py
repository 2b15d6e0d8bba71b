"""How far scores on V are subject to chance, from the gains of one scoring pass.

A witness is a table of gains: a row for each candidate, a column for each unit (a row of V, or a
replicate where the score is no mean over rows). Everything here is arithmetic on such a table, so
that another witness needs no other code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Literal

import numpy as np

from leavezero._random import stream
from leavezero._typing import Bools, Floats, Ints
from leavezero.engine._threads import limited_threads

N_RESAMPLES = 200
LEVEL = 0.95
MOST_UNITS = 1_000  # that are resampled one by one, where they stand for themselves
_CHUNK_CELLS = 2**18

Source = Literal["origins", "given rows", "Monte Carlo"]


@dataclass(frozen=True, eq=False)
class Witness:
    """What one witness says of all candidates.

    A candidate's score is ``gains @ weights + bias``. ``origins`` are the given rows behind each
    unit, -1 where a place is not used; None where a unit stands for itself. ``n_given`` rows of
    data stand behind V; a unit is made of ``unit_rows`` rows of V.
    """

    gains: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    bias: Floats = field(repr=False)
    n_given: int
    unit_rows: int = 1
    origins: Ints | None = field(default=None, repr=False)
    given: bool = False  # V's rows are the user's own, not drawn

    @property
    def source(self) -> Source:
        """What is resampled: given rows, or draws of V, which say nothing of the risk."""
        if self.given:
            return "given rows"
        return "Monte Carlo" if self.origins is None else "origins"


@dataclass(frozen=True, eq=False)
class Resampled:
    """Scores over resamples: on what was drawn, and on what was not; a column a resample."""

    inside: Floats
    outside: Floats

    def of(self, rows: Sequence[int]) -> "Resampled":
        """Return the scores of some candidates."""
        return Resampled(self.inside[rows], self.outside[rows])

    def moved(self, by: Floats) -> "Resampled":
        """Return the scores of candidates, each moved."""
        return Resampled(self.inside + by[:, None], self.outside + by[:, None])

    def interval(self, level: float = LEVEL) -> tuple[Floats, Floats]:
        """Return the lower and the upper end of each candidate's score."""
        tails = [(1 - level) / 2, (1 + level) / 2]
        low, high = np.quantile(self.inside, tails, axis=1)
        return low, high

    def margin(self, first: int, second: int, level: float = LEVEL) -> tuple[float, float]:
        """Return the interval of one candidate's lead over another."""
        lead = self.inside[first] - self.inside[second]
        low, high = np.quantile(lead, [(1 - level) / 2, (1 + level) / 2])
        return float(low), float(high)

    def corrected_best(self) -> float:
        """Return what the best of these candidates is worth, its luck on V taken off.

        The bootstrap bias-corrected estimate of Tsamardinos, Greasidou and Borboudakis (2018): the
        best on what was drawn is scored on what was not. It corrects selection on V only, not what
        V is off by.
        """
        best = np.argmax(self.inside, axis=0)
        found = self.outside[best, np.arange(self.outside.shape[1])]
        known = np.isfinite(found)
        return float(found[known].mean()) if known.any() else float("nan")


def resample(
    witness: Witness, root: np.random.SeedSequence, n_resamples: int = N_RESAMPLES
) -> Resampled:
    """Return scores over resamples of the given rows, or of V's units where it has no origins.

    A unit weighs the product of its origins' counts, and is outside where none was drawn.
    """
    rng = stream(root, "resamples")
    places = None if witness.origins is None else list(np.ascontiguousarray(witness.origins.T))
    lines = _lines(witness, rng)
    n_units = lines.shape[1]
    n_drawn = n_units if places is None else _n_drawn(witness)
    scores = np.empty((len(witness.gains), n_resamples, 2))
    size = max(1, min(n_resamples, _CHUNK_CELLS // max(1, n_units)))
    counts = np.empty((size, 2, n_units))  # used again and again: fresh memory is dear
    with limited_threads():
        for start in range(0, n_resamples, size):
            here = counts[: n_resamples - start]
            for drawn, left in here:
                drawn[:], left[:] = _unit_counts(_bootstrap_counts(n_drawn, rng), places)
            scores[:, start : start + size] = _mean_gains(lines, here)
    scores += witness.bias[:, None, None]
    return Resampled(scores[:, :, 0], scores[:, :, 1])


def standard_error(gains: Floats, witness: Witness) -> float:
    """Return the standard error that these gains would have as a mean over as many given rows.

    Rows of V are not independent rows of data, however many are drawn; n given rows carry no more
    information than n rows do. The variance of a unit is scaled to that size.
    """
    weights, total = witness.weights, witness.weights.sum()
    away = gains - weights @ gains / total
    variance = float(weights @ away**2 / total)
    n_units = len(gains)
    if witness.unit_rows > 1 and n_units > 1:  # few units: the unbiased estimate matters
        variance *= n_units / (n_units - 1)
    return float(np.sqrt(variance * witness.unit_rows / witness.n_given))


def lead_errors(witness: Witness, best: int) -> Floats:
    """Return the standard error of the best candidate's lead over each."""
    gains = witness.gains
    return np.array([standard_error(gains[best] - row, witness) for row in gains])


def anytime_radius(n_units: float, n_aimed: float, level: float = LEVEL) -> float:
    """Return how many standard deviations a mean of n units is off by at most, at any n.

    Half the width of a confidence sequence: it may be looked at after every unit. By the
    normal mixture of Robbins for means with estimated variance (Waudby-Smith, Arbour, Sinha,
    Kennedy and Ramdas, 2021), tightest near ``n_aimed`` units; it needs dozens of them.

    Examples
    --------
    >>> from leavezero.engine._statistics import anytime_radius
    >>> round(anytime_radius(100, 100), 2), round(anytime_radius(10_000, 100), 3)
    (0.3, 0.036)
    """
    tail = -2 * np.log(1 - level)
    growth = n_units * (tail + np.log(tail + 1)) / n_aimed
    bound = np.log(np.sqrt(growth + 1) / (1 - level))
    return float(np.sqrt(2 * (growth + 1) / (n_units * growth) * bound))


def _lines(witness: Witness, rng: np.random.Generator) -> Floats:
    """Return weighted gains, a line a candidate, and the weights.

    Many units that stand for themselves are put into bundles, whose mean has the same spread.
    """
    gains, weights = witness.gains, witness.weights
    if witness.origins is not None or len(weights) <= MOST_UNITS:
        return np.vstack([gains * weights, weights])
    bundles = rng.permutation(len(weights)) % MOST_UNITS  # neighbors may be alike
    sums = [np.bincount(bundles, line * weights, MOST_UNITS) for line in gains]
    return np.stack([*sums, np.bincount(bundles, weights, MOST_UNITS)])


def _n_drawn(witness: Witness) -> int:
    """Return of how many given rows, and how many of them, a resample is made."""
    assert witness.origins is not None
    # Where only some given rows have a label, more than those have a number.
    return max(witness.n_given, int(witness.origins.max(initial=-1)) + 1)


def _bootstrap_counts(n_drawn: int, rng: np.random.Generator) -> Ints:
    """Return how often each of n things is drawn when n are drawn with replacement."""
    return np.bincount(rng.integers(n_drawn, size=n_drawn), minlength=n_drawn)


def _unit_counts(counts: Ints, places: Sequence[Ints] | None) -> tuple[Ints, Bools]:
    """Return how often each unit was drawn, and whether it was left out altogether."""
    if places is None:
        return counts, counts == 0
    padded = np.append(counts, 1)  # position -1 is the one of the padding
    there = [padded[place] for place in places]
    left = [(count == 0) | (place < 0) for count, place in zip(there, places, strict=True)]
    return reduce(np.multiply, there), reduce(np.logical_and, left)


def _mean_gains(lines: Floats, counts: Floats) -> Floats:
    """Return means of lines over units by their counts, NaN without any; weights come last."""
    n_resamples, n_kinds, n_units = counts.shape
    sums = lines @ counts.reshape(-1, n_units).T
    means = sums[:-1] / np.where(sums[-1] > 0, sums[-1], np.nan)
    return means.reshape(-1, n_resamples, n_kinds)
