"""How far scores on V are subject to chance, from the gains of one scoring pass.

A witness is a table of gains: a row for each candidate, a column for each unit (a row of V, or a
replicate where the score is no mean over rows). Everything here is arithmetic on such a table, so
that another witness needs no other code.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from leavezero._random import stream
from leavezero._typing import Floats, Ints
from leavezero.engine._threads import limited_threads

N_RESAMPLES = 200
LEVEL = 0.95
_CHUNK_CELLS = 2**20

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
    n_candidates, n_units = witness.gains.shape
    n_drawn = n_units
    if witness.origins is not None:  # where only some given rows have a label, more have a number
        n_drawn = max(witness.n_given, int(witness.origins.max(initial=-1)) + 1)
    rng = stream(root, "resamples")
    inside = np.empty((n_candidates, n_resamples))
    outside = np.empty((n_candidates, n_resamples))
    size = max(1, _CHUNK_CELLS // max(1, n_units))
    with limited_threads():
        for start in range(0, n_resamples, size):
            here = slice(start, min(start + size, n_resamples))
            counts = _bootstrap_counts(n_drawn, here.stop - start, rng)
            drawn, left = _unit_counts(counts, witness.origins)
            inside[:, here] = _mean_gains(witness, drawn)
            outside[:, here] = _mean_gains(witness, left)
    return Resampled(inside, outside)


def standard_error(gains: Floats, witness: Witness) -> float:
    """Return the standard error that these gains would have as a mean over as many given rows.

    Rows of V are not independent rows of data, however many are drawn; n given rows carry no more
    information than n rows do. The variance of a unit is scaled to that size.
    """
    centre = float(np.average(gains, weights=witness.weights))
    variance = float(np.average((gains - centre) ** 2, weights=witness.weights))
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


def _bootstrap_counts(n_drawn: int, n_resamples: int, rng: np.random.Generator) -> Ints:
    """Return how often each of n things is drawn when n are drawn with replacement."""
    drawn = rng.integers(n_drawn, size=(n_resamples, n_drawn))
    drawn += n_drawn * np.arange(n_resamples)[:, None]
    return np.bincount(drawn.ravel(), minlength=n_resamples * n_drawn).reshape(drawn.shape)


def _unit_counts(counts: Ints, origins: Ints | None) -> tuple[Floats, Floats]:
    """Return how often each unit was drawn, and whether it was left out altogether."""
    if origins is None:
        return counts.astype(np.float32), (counts == 0).astype(np.float32)
    padded = np.concatenate([counts, np.ones((len(counts), 1), dtype=counts.dtype)], axis=1)
    drawn = np.ones((len(counts), len(origins)), dtype=np.float32)
    left = np.ones((len(counts), len(origins)), dtype=bool)
    for place in origins.T:  # position -1 is the one of the padding
        drawn *= padded[:, place]
        left &= (padded[:, place] == 0) | (place < 0)
    return drawn, left.astype(np.float32)


def _mean_gains(witness: Witness, counts: Floats) -> Floats:
    scale = float(witness.weights.max(initial=0.0)) or 1.0  # tiny weights would lose digits
    weights = (witness.weights / scale).astype(np.float32)
    total = (counts @ weights).astype(np.float64)
    safe = np.where(total > 0, total, np.nan)
    return (witness.gains * weights) @ counts.T / safe + witness.bias[:, None]
