"""Classes as Gaussian copulas: each column keeps its own distribution."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from leavezero._typing import Floats
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

    def _fit_stratum(self, stratum: Stratum) -> tuple[list["Margin"], Any]:
        if len(stratum) < _MIN_ROWS:
            self._warn_small(stratum, _MIN_ROWS, "its rows are copied")
            return [], None
        rows = stratum.values
        assert self._codec is not None
        n_columns = rows.shape[1]
        discrete = np.zeros(n_columns, dtype=bool)
        discrete[: len(self._codec.columns)] = self._codec.categories | self._codec.whole
        margins = [
            Margin.of(rows[:, at], discrete=bool(discrete[at]), smooth=self.margins == "smooth")
            for at in range(n_columns)
        ]
        scores = np.column_stack([m.scores(rows[:, at]) for at, m in enumerate(margins)])
        return margins, ShrunkGaussian.of(scores)

    def _sample_stratum(
        self,
        stratum: Stratum,
        fitted: tuple[list["Margin"], Any],
        n_samples: int,
        rng: np.random.Generator,
    ) -> StratumDraw:
        margins, gaussian = fitted
        if gaussian is None:
            return StratumDraw(stratum.values[rng.integers(len(stratum), size=n_samples)])
        spread = np.sqrt(np.maximum(gaussian.variances, 1e-12))
        ranks = ndtr((gaussian.sample(n_samples, rng) - gaussian.mean) / spread)
        columns = [margin.values_at(ranks[:, at], rng) for at, margin in enumerate(margins)]
        return StratumDraw(np.column_stack(columns))


@dataclass(frozen=True, eq=False)
class Margin:
    """The distribution of one column: its sorted values, and the share of missing cells.

    A column with few different values is a set of atoms; a continuous one is drawn between its
    sorted values and spread by a kernel of width ``width``.
    """

    values: Floats
    missing: float
    atoms: bool
    width: float

    @classmethod
    def of(cls, column: Floats, *, discrete: bool, smooth: bool) -> "Margin":
        """Learn the distribution of a column."""
        values = np.sort(column[~np.isnan(column)])
        n_values = len(values)
        n_different = np.count_nonzero(values[1:] != values[:-1]) + min(1, n_values)
        few = discrete or bool(n_different <= max(10, n_values // 10))
        width = 0.0
        if smooth and not few:
            deviation = float(values.std())
            between = _quantile(values, 0.75) - _quantile(values, 0.25)
            width = 0.25 * (min(deviation, between / 1.349) or deviation) * n_values**-0.2
        return cls(values, 1.0 - n_values / len(column), few, float(width))

    def scores(self, column: Floats) -> Floats:
        """Return the normal scores of a column's mid-ranks; missing cells come last."""
        share = 1.0 - self.missing
        below = np.searchsorted(self.values, column, side="left")
        upto = np.searchsorted(self.values, column, side="right")
        ranks = share * (below + upto) / (2.0 * max(1, len(self.values)))
        ranks[np.isnan(column)] = 1.0 - self.missing / 2.0
        edge = 0.5 / len(column)
        return ndtri(np.clip(ranks, edge, 1.0 - edge))

    def values_at(self, ranks: Floats, rng: np.random.Generator) -> Floats:
        """Return the values at given ranks in [0, 1]."""
        gone = ranks >= 1.0 - self.missing
        if not len(self.values):
            return np.full(len(ranks), np.nan)
        places = np.clip(ranks / max(1.0 - self.missing, 1e-12), 0.0, 1.0) * len(self.values)
        if self.atoms:
            drawn = self.values[np.minimum(places.astype(np.intp), len(self.values) - 1)]
        else:
            drawn = np.interp(places, np.arange(len(self.values)) + 0.5, self.values)
            drawn = drawn + self.width * rng.standard_normal(len(ranks))
        return np.where(gone, np.nan, drawn) if self.missing > 0 else drawn


def _quantile(values: Floats, share: float) -> float:
    """Return a quantile of sorted values, as numpy's does, which costs more than a whole margin."""
    at, part = divmod(share * (len(values) - 1), 1.0)
    low, high = float(values[int(at)]), float(values[min(int(at) + 1, len(values) - 1)])
    return low + (high - low) * part if part < 0.5 else high - (high - low) * (1.0 - part)
