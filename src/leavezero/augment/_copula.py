"""Generate each class from a Gaussian copula: each column keeps its own distribution."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from leavezero._typing import Bools, Floats, Ints
from leavezero.augment._augmenter import ClassConditionalAugmenter, ClassRows, ClassSample
from leavezero.augment._gaussian import MAX_ROWS, ShrunkGaussian


class CopulaAugmenter(ClassConditionalAugmenter):
    """Generate each class from a Gaussian copula (Nelsen 2006) with a shrunk correlation.

    Each column keeps its distribution within the class, whatever its shape, and the ranks of
    columns are correlated as those of a Gaussian. No generated row depends on a single training
    row. Numbers, integers, categories, times and missing values are supported. It cannot generate
    a class of several clusters that differ only in combinations of columns.

    Notes
    -----
    The values of a continuous column are interpolated, with noise: a kernel of a quarter of the
    standard deviation times n ** -0.2 (wider kernels weaken the correlations). A column with few
    distinct values is sampled from these values. A missing value is generated as often as it occurs
    in its class. Categories are sorted by name, so only dependence that this order shows is kept.
    At most 5,000 rows per class are used for fitting. Classes of fewer than three rows are copied,
    with a warning. For a regression target, features and target are generated jointly.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import CopulaAugmenter
    >>> X, y = np.random.default_rng(0).exponential(size=(200, 2)), np.repeat([0, 1], 100)
    >>> bool((CopulaAugmenter().fit(X, y).sample(500, random_state=0).X >= 0).all())
    True
    """

    min_rows: ClassVar[int] = 3
    max_rows: ClassVar[int | None] = MAX_ROWS
    keeps_rows: ClassVar[bool] = False
    takes: ClassVar[frozenset[str]] = frozenset(
        {"missing values", "non-numeric columns", "regression targets", "several outputs"}
    )

    def _fit_class(self, one: ClassRows) -> tuple["Margins", ShrunkGaussian] | Floats:
        """Return the distribution of a class, or the rows of a small class."""
        rows: Floats = one.values
        if len(one) < self.min_rows:
            return rows
        assert self._codec is not None
        discrete = np.zeros(rows.shape[1], dtype=bool)
        discrete[: len(self._codec.columns)] = self._codec.categorical | self._codec.integer
        margins = Margins.of(rows, discrete)
        return margins, ShrunkGaussian.of(normal_scores(rows, margins.n_values))

    def _sample_class(
        self, one: ClassRows, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        if not isinstance(fitted, tuple):
            return ClassSample(fitted[rng.integers(len(fitted), size=n_samples)])
        margins, gaussian = fitted
        scores = gaussian.sample(n_samples, rng)
        scores -= gaussian.mean
        scores /= np.maximum(gaussian.deviations, 1e-6)
        return ClassSample(margins.quantiles(ndtr(scores, out=scores), rng))


@dataclass(frozen=True, eq=False)
class Margins:
    """The distribution of each column.

    Row j of ``values`` is the sorted column j, with its ``n_values[j]`` present values first. A
    discrete column is sampled from its values, a continuous one is interpolated between them,
    with Gaussian noise of standard deviation ``widths[j]``.
    """

    values: Floats
    n_values: Ints
    discrete: Bools
    widths: Floats

    @classmethod
    def of(cls, rows: Floats, discrete: Bools) -> "Margins":
        """Learn the distributions of columns, some of which are known to be discrete."""
        values = np.sort(rows.T, axis=1)
        n_values = np.count_nonzero(~np.isnan(values), axis=1)
        n_distinct = np.count_nonzero(np.diff(values, axis=1) > 0, axis=1) + 1
        discrete = discrete | (n_distinct <= np.maximum(10, n_values // 10))
        widths = np.zeros(len(values))
        if not discrete.all():
            widths[~discrete] = _kernel_widths(values[~discrete], n_values[~discrete])
        return cls(values, n_values, discrete, widths)

    def quantiles(self, ranks: Floats, rng: np.random.Generator) -> Floats:
        """Return the values of each column at ranks in [0, 1]."""
        n_columns, n_rows = self.values.shape
        # One row per column: each lookup then stays within a few cached values of one column.
        places = np.multiply(ranks.T, n_rows, order="C")
        present = self.n_values[:, None]
        missing = (places >= present) & (present < n_rows)
        places -= np.where(self.discrete, 0.0, 0.5)[:, None]
        last = np.maximum(present - 1, 0)
        np.clip(places, 0.0, last, out=places)
        below = places.astype(np.intp)
        places -= below
        places[self.discrete] = 0.0  # no interpolation
        first = n_rows * np.arange(n_columns)[:, None]  # in the flattened values
        low = self.values.take(below + first)
        places *= self.values.take(np.minimum(below + 1, last) + first) - low
        low += places
        low[missing] = np.nan
        rows = np.ascontiguousarray(low.T)
        if self.widths.any():
            rows += rng.standard_normal(rows.shape) * self.widths
        return rows


def normal_scores(rows: Floats, n_values: Ints) -> Floats:
    """Return the normal quantiles of the mid-ranks of each column; missing values rank last."""
    n_rows = len(rows)
    ranks = rankdata(rows, axis=0, nan_policy="omit") - 0.5
    missing = np.isnan(ranks)
    if missing.any():
        ranks[missing] = np.broadcast_to((n_values + n_rows) / 2.0, rows.shape)[missing]
    ranks /= n_rows
    return np.asarray(ndtri(np.clip(ranks, 0.5 / n_rows, 1.0 - 0.5 / n_rows, out=ranks)))


def _kernel_widths(values: Floats, n_values: Ints) -> Floats:
    """Return the standard deviation of the noise per column, from a robust estimate of scale."""
    quantile = np.nanquantile if np.isnan(values).any() else np.quantile
    lower, upper = quantile(values, [0.25, 0.75], axis=1)
    deviation = np.nanstd(values, axis=1)
    robust = np.minimum(deviation, (upper - lower) / 1.349)
    return np.asarray(0.25 * np.where(robust > 0, robust, deviation) * n_values**-0.2)
