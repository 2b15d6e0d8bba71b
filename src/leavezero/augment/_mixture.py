"""Gaussian mixtures of several sizes and shapes for the same rows, and the best of them by BIC.

The steps are those of scikit-learn's GaussianMixture (same stop, same floor): from the same start
both end in the same mixture up to rounding. What the rows give is computed once for all sizes: the
products of their columns. With them both halves of a step are one matrix product each, and no
step costs more than that. Most sizes and shapes are soon seen to be worse than another, and only
those that may still be the best climb to their end.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import attrgetter

import numpy as np
from sklearn.cluster import kmeans_plusplus

from leavezero._typing import Floats

SIZES = (1, 2, 3, 5, 8, 13, 21, 34)
FLOOR = 0.02  # added to variances of columns of variance one
ROUNDS = 10  # of k-means before the first step
STEPS = 100
NOTHING = 10 * np.finfo(np.float64).eps  # rows of a component without any
GAIN = 1e-3  # of the mean log-likelihood, below which the steps end
FULL_COLUMNS = 40
ROWS_A_COLUMN = 3
ROWS_A_COMPONENT = 5


@dataclass(frozen=True, eq=False)
class Mixture:
    """Gaussians with weights; a root times its transpose is a covariance, a line a diagonal one."""

    weights: Floats
    means: Floats
    roots: Floats

    def part(self, components: slice) -> "Mixture":
        """Return some components as a mixture of their own."""
        weights = self.weights[components]
        return Mixture(weights / weights.sum(), self.means[components], self.roots[components])

    def sample(self, n_samples: int, rng: np.random.Generator) -> Floats:
        """Draw rows, those of a component together."""
        sizes = rng.multinomial(n_samples, self.weights)
        parts = []
        for size, mean, root in zip(sizes, self.means, self.roots, strict=True):
            noise = rng.standard_normal((size, len(mean)))
            parts.append(mean + (noise * root if root.ndim == 1 else noise @ root.T))
        return np.concatenate(parts)


def best_mixture(rows: Floats, max_components: int, seed: int) -> Mixture | None:
    """Return the mixture of least BIC, or None where a single full Gaussian is the best.

    Full covariances are tried where there are rows enough to learn them. The rows' columns are
    taken to have variance one.
    """
    n_rows, n_columns = rows.shape
    shapes: list[_Moments] = [_Diagonal(rows)]
    if 1 < n_columns <= FULL_COLUMNS and n_rows >= ROWS_A_COLUMN * n_columns:
        shapes.append(_Full(rows))
    most = max(1, min(max_components, n_rows // ROWS_A_COMPONENT))
    starts = _clusters(rows, [size for size in SIZES if size <= most], seed)
    best = _highest([_Climb(moments, shares) for moments in shapes for shares in starts]).mixture
    is_full = n_columns == 1 or best.roots.ndim == 3
    return None if is_full and len(best.weights) == 1 else best


def _clusters(rows: Floats, sizes: Sequence[int], seed: int) -> list[Floats]:
    """Return where mixtures of several sizes start: for each component a one at its rows.

    All sizes share one run of k-means++: its first seeds are those of fewer clusters. Clusters
    need not come to rest, as the mixture moves on from them.
    """
    seeds, _ = kmeans_plusplus(rows, max(sizes), random_state=seed)
    return [_nearly_settled(rows, seeds[:size]) for size in sizes]


def _nearly_settled(rows: Floats, centers: Floats) -> Floats:
    """Return the clusters after some rounds of k-means; one without rows begins again amid all."""
    for _ in range(ROUNDS):
        nearness = centers @ rows.T - 0.5 * (centers**2).sum(axis=1, keepdims=True)
        shares = np.equal.outer(np.arange(len(centers)), nearness.argmax(axis=0)).astype(float)
        before, centers = centers, (shares @ rows) / np.maximum(1.0, shares.sum(axis=1)[:, None])
        if np.array_equal(before, centers):
            break
    return shares


class _Moments(ABC):
    """What rows give to each step: a line for each statistic, the columns and their number last."""

    def __init__(self, columns: Floats, products: Iterable[Floats]) -> None:
        self.n_columns, self.n_rows = columns.shape
        self.lines = np.vstack([*products, columns, np.ones((1, self.n_rows))])

    @abstractmethod
    def roots_of(self, products: Floats, means: Floats) -> Floats:
        """Return the roots of covariances from the components' mean products."""

    @abstractmethod
    def precisions_of(self, roots: Floats) -> tuple[Floats, Floats]:
        """Return what weighs the products in log-densities, and logarithms of determinants."""

    @abstractmethod
    def shifted(self, weights: Floats, means: Floats) -> Floats:
        """Return the precisions times the means."""

    def mixture_of(self, shares: Floats) -> Mixture:
        """Return the mixture that fits best where each row belongs to components by shares."""
        sums = shares @ self.lines.T
        counts = sums[:, -1:] + NOTHING
        means = sums[:, -1 - self.n_columns : -1] / counts
        roots = self.roots_of(sums[:, : -1 - self.n_columns] / counts, means)
        return Mixture(counts[:, 0] / self.n_rows, means, roots)

    def log_densities(self, mixture: Mixture) -> Floats:
        """Return the logarithm of each component's part in the density of each row."""
        weights, half_logs = self.precisions_of(mixture.roots)
        shifts = self.shifted(weights, mixture.means)
        constants = -0.5 * (self.n_columns * np.log(2.0 * np.pi) + (shifts * mixture.means).sum(1))
        constants += np.log(mixture.weights) - half_logs
        return np.hstack([weights, shifts, constants[:, None]]) @ self.lines

    def bic(self, size: int, log_likelihood: float) -> float:
        """Return Schwarz's criterion for the mean over rows: the less, the better."""
        n_numbers = size * (len(self.lines) - 1) + size - 1
        return float(n_numbers * np.log(self.n_rows) - 2.0 * log_likelihood * self.n_rows)


class _Diagonal(_Moments):
    """Components whose columns are independent."""

    def __init__(self, rows: Floats) -> None:
        super().__init__(rows.T, [rows.T**2])

    def roots_of(self, products: Floats, means: Floats) -> Floats:
        return np.sqrt(products - means**2 + FLOOR)

    def precisions_of(self, roots: Floats) -> tuple[Floats, Floats]:
        return -0.5 / roots**2, np.log(roots).sum(axis=1)

    def shifted(self, weights: Floats, means: Floats) -> Floats:
        return -2.0 * weights * means


class _Full(_Moments):
    """Components of any covariance; of each product of two columns one half is kept."""

    def __init__(self, rows: Floats) -> None:
        columns = np.ascontiguousarray(rows.T)
        self._half = np.triu_indices(len(columns))
        super().__init__(columns, (x * columns[at:] for at, x in enumerate(columns)))

    def _squares(self, halves: Floats) -> Floats:
        """Return symmetric matrices from their halves."""
        squares = np.empty((len(halves), self.n_columns, self.n_columns))
        one, other = self._half
        squares[:, one, other] = squares[:, other, one] = halves
        return squares

    def roots_of(self, products: Floats, means: Floats) -> Floats:
        covariances = self._squares(products) - means[:, :, None] * means[:, None]
        return np.linalg.cholesky(covariances + FLOOR * np.eye(self.n_columns))

    def precisions_of(self, roots: Floats) -> tuple[Floats, Floats]:
        inverses = np.linalg.inv(roots)
        precisions = -(np.swapaxes(inverses, 1, 2) @ inverses)
        at = np.arange(self.n_columns)
        precisions[:, at, at] *= 0.5
        return precisions[:, *self._half], np.log(roots[:, at, at]).sum(axis=1)

    def shifted(self, weights: Floats, means: Floats) -> Floats:
        squares = self._squares(weights)
        at = np.arange(self.n_columns)
        squares[:, at, at] *= 2.0
        return -(squares @ means[:, :, None])[:, :, 0]


@dataclass(eq=False)
class _Climb:
    """How far a mixture has come: the shares of its components in the rows, and its BIC.

    It arrives where a step gains little, and one more maximization later it is over.
    """

    moments: _Moments
    shares: Floats
    mixture: Mixture = field(init=False)
    bic: float = np.inf
    gain: float = np.inf  # of the last step
    arrived: bool = False
    over: bool = False

    def step(self, mixture: Mixture, log_densities: Floats) -> None:
        """Take a mixture, and each row's shares from what its components say of the row."""
        self.mixture, self.over = mixture, self.arrived
        top = log_densities.max(axis=0)
        self.shares = np.exp(log_densities - top)
        total = self.shares.sum(axis=0)
        self.shares /= total
        bic = self.moments.bic(len(self.shares), float(np.mean(top + np.log(total))))
        self.bic, self.gain = bic, abs(bic - self.bic)
        self.arrived = self.gain < 2.0 * self.moments.n_rows * GAIN


def _highest(climbs: list[_Climb]) -> _Climb:
    """Return the climb that ends at the least BIC, by expectation and maximization.

    Who is so far behind that steps like the last would not do, as many as are left, gives up.
    """
    going = climbs
    for steps_left in range(STEPS, -1, -1):
        for moments in {one.moments: None for one in going}:
            _step_together(moments, [one for one in going if one.moments is moments])
        least = min(one.bic for one in climbs)
        going = [one for one in going if not one.over and one.bic - least <= steps_left * one.gain]
        if not going:
            break
    return min(climbs, key=attrgetter("bic"))


def _step_together(moments: _Moments, climbs: list[_Climb]) -> None:
    """Take a step of several climbs in one product: it costs little more than that of one."""
    whole = moments.mixture_of(np.vstack([one.shares for one in climbs]))
    log_densities = moments.log_densities(whole)
    start = 0
    for one in climbs:
        part = slice(start, start + len(one.shares))
        one.step(whole.part(part), log_densities[part])
        start = part.stop
