"""Classes as Gaussian copulas: each column keeps its own distribution."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from leavezero._typing import Bools, Floats, Ints
from leavezero.augment._gaussian import MAX_LEARNING_ROWS, ShrunkGaussian
from leavezero.augment._strata import (
    ClassConditionalAugmenter,
    Stratum,
    StratumDraw,
)

_MIN_ROWS = 3


class CopulaAugmenter(ClassConditionalAugmenter):
    """Draw each class from a Gaussian copula with a shrunk correlation.

    Every column keeps the distribution that it has in its class, whatever its shape, and columns
    depend on each other as ranks of a Gaussian do. No new row leans on a single given one. It
    takes numbers, whole numbers, categories, times and missing cells alike. What it cannot draw is
    a class of several clouds whose columns look alike one by one.

    Parameters
    ----------
    margins : {"smooth", "empirical"}, default="smooth"
        "smooth" spreads the values of a continuous column by a narrow kernel, a quarter of the
        standard deviation times n ** -0.2: wide ones wash out how columns depend on each other;
        "empirical" draws values between given ones. A column with few different values is always
        drawn from those values.

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As for :class:`LabelInvariantMixup`.

    Notes
    -----
    A missing cell is a value like any other: it is drawn as often as it occurs in its class.
    Categories are ordered by name, which limits what can be learned about their dependence to
    what that order shows. At most 5,000 rows of a class are used to learn it. Classes of fewer
    than three rows are copied, with a warning. Where the target is numbers, features and target
    are drawn together.

    References
    ----------
    R. B. Nelsen. An Introduction to Copulas. Springer, 2006.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import CopulaAugmenter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.exponential(size=(200, 2))
    >>> V = CopulaAugmenter("empirical").fit(X, np.repeat([0, 1], 100)).sample(500, random_state=0)
    >>> bool((V.X >= 0).all())
    True
    """

    learns_from: ClassVar[int | None] = MAX_LEARNING_ROWS
    keeps_rows: ClassVar[bool] = False
    takes: ClassVar[frozenset[str]] = frozenset(
        {"missing cells", "columns that are not numbers", "numbers as y", "several outputs"}
    )

    def __init__(self, margins: str = "smooth") -> None:
        self.margins = margins

    def _check_parameters(self) -> None:
        if self.margins not in ("smooth", "empirical"):
            raise ValueError(
                'margins of CopulaAugmenter must be "smooth" or "empirical", '
                f'got {self.margins!r}. Use "smooth" for continuous columns.'
            )

    def _fit_stratum(self, stratum: Stratum) -> tuple["Margins", ShrunkGaussian] | Floats:
        """Return what a class is drawn from: of a small one, its rows."""
        rows: Floats = stratum.values
        if len(stratum) < _MIN_ROWS:
            self._warn_small(stratum, _MIN_ROWS, "its rows are copied")
            return rows
        assert self._codec is not None
        discrete = np.zeros(rows.shape[1], dtype=bool)
        discrete[: len(self._codec.columns)] = self._codec.categories | self._codec.whole
        margins = Margins.of(rows, discrete, smooth=self.margins == "smooth")
        return margins, ShrunkGaussian.of(margins.scores(rows))

    def _sample_stratum(
        self,
        stratum: Stratum,
        fitted: tuple["Margins", ShrunkGaussian] | Floats,
        n_samples: int,
        rng: np.random.Generator,
    ) -> StratumDraw:
        if not isinstance(fitted, tuple):
            return StratumDraw(fitted[rng.integers(len(fitted), size=n_samples)])
        margins, gaussian = fitted
        scores = gaussian.sample(n_samples, rng)
        scores -= gaussian.mean
        scores /= np.maximum(gaussian.deviations, 1e-6)
        return StratumDraw(margins.values_at(ndtr(scores, out=scores), rng))


@dataclass(frozen=True, eq=False)
class Margins:
    """The distributions of columns, each a line: sorted values, and steps to the next ones.

    Missing cells come last; ``n_values`` are there. A column with few different values is a set of
    atoms, without steps; a continuous one is drawn between its values and spread by a kernel of
    its width.
    """

    values: Floats
    steps: Floats
    n_values: Ints
    atoms: Bools
    widths: Floats

    @classmethod
    def of(cls, rows: Floats, discrete: Bools, *, smooth: bool) -> "Margins":
        """Learn the distributions of columns, some of which are known to be discrete."""
        values = np.sort(rows.T, axis=1)
        n_values = np.count_nonzero(~np.isnan(values), axis=1)
        steps = np.nan_to_num(np.diff(values, axis=1, append=np.nan), nan=0.0)
        n_different = np.count_nonzero(steps, axis=1) + np.minimum(1, n_values)
        atoms = discrete | (n_different <= np.maximum(10, n_values // 10))
        steps[atoms] = 0.0
        widths = np.zeros(len(values))
        for at in np.flatnonzero(~atoms) if smooth else ():
            widths[at] = _kernel_width(values[at, : n_values[at]])
        return cls(values, steps, n_values, atoms, widths)

    def scores(self, rows: Floats) -> Floats:
        """Return the normal scores of the mid-ranks of the rows learned from."""
        n_rows = len(rows)
        ranks = np.empty(self.values.shape)
        for line, order, values, n_values in zip(
            ranks, np.argsort(rows.T, axis=1), self.values, self.n_values, strict=True
        ):
            there = values[:n_values]  # sorted, which is what makes the searches cheap
            twice = np.searchsorted(there, there) + np.searchsorted(there, there, side="right")
            line[order[:n_values]] = twice / 2.0
            line[order[n_values:]] = (n_values + n_rows) / 2.0
        return ndtri(np.clip(ranks.T / n_rows, 0.5 / n_rows, 1.0 - 0.5 / n_rows))

    def values_at(self, ranks: Floats, rng: np.random.Generator) -> Floats:
        """Return the values at given ranks in [0, 1]; a column a column."""
        n_columns, n_rows = self.values.shape
        places = ranks * n_rows
        gappy = self.n_values < n_rows
        gone = (places >= self.n_values) & gappy if gappy.any() else None
        places -= np.where(self.atoms, 0.0, 0.5)
        np.clip(places, 0.0, np.maximum(self.n_values - 1, 0), out=places)
        below = places.astype(np.intp)
        places -= below
        below += n_rows * np.arange(n_columns)
        drawn = self.values.take(below) + places * self.steps.take(below)
        if self.widths.any():
            noise = rng.standard_normal(drawn.shape)
            noise *= self.widths
            drawn += noise
        if gone is not None:
            drawn[gone] = np.nan
        return drawn


def _kernel_width(values: Floats) -> float:
    """Return how far a kernel spreads the sorted values of a continuous column."""
    deviation = float(values.std())
    between = _quantile(values, 0.75) - _quantile(values, 0.25)
    return 0.25 * (min(deviation, between / 1.349) or deviation) * len(values) ** -0.2


def _quantile(values: Floats, share: float) -> float:
    """Return a quantile of sorted values, as numpy's does, which costs more than a whole margin."""
    at, part = divmod(share * (len(values) - 1), 1.0)
    low, high = float(values[int(at)]), float(values[min(int(at) + 1, len(values) - 1)])
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1.0 - part)
