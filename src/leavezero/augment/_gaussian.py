"""Generate each class from a Gaussian, or from a mixture of Gaussians."""

import threading
import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits  # required by scikit-learn

from leavezero._random import integer_seed, seed_sequence
from leavezero._typing import Floats, RandomState
from leavezero.augment._augmenter import (
    ClassConditionalAugmenter,
    ClassRows,
    ClassSample,
    is_count,
)

MAX_ROWS = 5_000  # per class, for fitting
MIXTURE_SIZES = (1, 2, 3, 5, 8, 13, 21, 34)
MIN_MIXTURE_ROWS = 10
ROWS_PER_COMPONENT = 5
MAX_FULL_COLUMNS = 40  # for full covariances
ROWS_PER_FULL_COLUMN = 3
REG_COVAR = 0.02  # added to the variances of columns of variance one: keeps duplicates apart
_ONE_MIXTURE = threading.Lock()


@dataclass(frozen=True, eq=False)
class ShrunkGaussian:
    """A Gaussian of covariance ``factor.T @ factor + noise * I``, shrunk (Ledoit, Wolf 2004).

    The covariance is never computed: with few rows, time is linear in the number of columns.
    """

    mean: Floats
    factor: Floats
    noise: float

    @classmethod
    def of(cls, rows: Floats) -> "ShrunkGaussian":
        """Estimate mean and covariance from rows."""
        mean = rows.mean(axis=0)
        centered = rows - mean
        share = ledoit_wolf_share(centered)
        noise = share * float(np.mean(centered**2))
        centered *= np.sqrt((1.0 - share) / len(rows))
        if len(rows) <= rows.shape[1]:
            return cls(mean, centered, noise)
        # The same covariance from a square factor, which needs fewer random numbers.
        ridge = np.sqrt(noise) * np.eye(rows.shape[1])
        factor: Any = np.linalg.qr(np.vstack([centered, ridge]), mode="r")
        return cls(mean, factor, 0.0)

    @cached_property
    def deviations(self) -> Floats:
        """The standard deviation of each column."""
        return np.asarray(np.sqrt(np.sum(self.factor**2, axis=0) + self.noise))

    def sample(self, n_samples: int, rng: np.random.Generator) -> Floats:
        """Generate rows."""
        rows = rng.standard_normal((n_samples, len(self.factor))) @ self.factor
        rows += self.mean
        if self.noise > 0:
            rows += np.sqrt(self.noise) * rng.standard_normal(rows.shape)
        return rows


def ledoit_wolf_share(centered: Floats) -> float:
    """Return the shrinkage of Ledoit and Wolf (2004) for centered rows.

    Equal to ``sklearn.covariance.ledoit_wolf_shrinkage``, which always computes products of all
    pairs of columns; the sums of squares of ``X @ X.T`` and ``X.T @ X`` are the same.
    """
    n_rows, n_columns = centered.shape
    if n_columns == 1:
        return 0.0
    norms = np.einsum("ij,ij->i", centered, centered)
    product = centered @ centered.T if n_rows < n_columns else centered.T @ centered
    mean_variance = norms.sum() / (n_rows * n_columns)
    squares = float(np.sum(product**2)) / n_rows**2
    # Named beta and delta in the paper: the error of the covariance, and its distance to the
    # multiple of the identity.
    error = (float(np.sum(norms**2)) / n_rows - squares) / (n_columns * n_rows)
    distance = squares / n_columns - mean_variance**2
    return float(np.clip(error / distance, 0.0, 1.0)) if error > 0 and distance > 0 else 0.0


@dataclass(frozen=True, eq=False)
class Mixture:
    """A Gaussian mixture; a root is a Cholesky factor of a covariance, or standard deviations."""

    weights: Floats
    means: Floats
    roots: Floats

    @classmethod
    def of(cls, rows: Floats, max_components: int, seed: int) -> "Mixture | None":
        """Fit the mixture of least BIC to standardized rows; None for a single full Gaussian."""
        n_rows, n_columns = rows.shape
        shapes = ["diag"]
        if 1 < n_columns <= MAX_FULL_COLUMNS and n_rows >= ROWS_PER_FULL_COLUMN * n_columns:
            shapes.append("full")
        most = max(1, min(max_components, n_rows // ROWS_PER_COMPONENT))
        mixtures = [
            GaussianMixture(size, covariance_type=shape, reg_covar=REG_COVAR, random_state=seed)
            for shape in shapes
            for size in MIXTURE_SIZES
            if size <= most
        ]
        with warnings.catch_warnings():
            # Fewer distinct rows than components, or 100 steps of EM were not enough.
            warnings.simplefilter("ignore", ConvergenceWarning)
            # Threads would wait for each other longer than such small fits take. The limit is that
            # of the whole process: of two at once, one would restore the limit of the other.
            with _ONE_MIXTURE, threadpool_limits(1):
                bics = [mixture.fit(rows).bic(rows) for mixture in mixtures]
        best = mixtures[int(np.argmin(bics))]
        is_full = best.covariance_type == "full"
        if best.n_components == 1 and (is_full or n_columns == 1):
            return None
        root = np.linalg.cholesky if is_full else np.sqrt
        return cls(best.weights_, best.means_, root(best.covariances_))

    def sample(self, n_samples: int, rng: np.random.Generator) -> Floats:
        """Generate rows, ordered by component."""
        sizes = rng.multinomial(n_samples, self.weights / self.weights.sum())
        rows = rng.standard_normal((n_samples, self.means.shape[1]))
        parts = np.split(rows, np.cumsum(sizes)[:-1])  # views
        for part, mean, root in zip(parts, self.means, self.roots, strict=True):
            part[:] = mean + (part * root if root.ndim == 1 else part @ root.T)
        return rows


class GaussianAugmenter(ClassConditionalAugmenter):
    """Generate each class from a Gaussian with a shrunk covariance (Ledoit and Wolf 2004).

    No generated row depends on a single training row, so memorizing is not rewarded. A class that
    is not one ellipsoidal cluster is generated as one, and rigid models score too well. At most
    5,000 rows per class are used for fitting. A class of one row is copied, with a warning.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import GaussianAugmenter
    >>> X = np.random.default_rng(0).normal(loc=5, size=(100, 2))
    >>> fitted = GaussianAugmenter().fit(X, np.repeat(["a", "b"], 50))
    >>> bool(abs(fitted.sample(1000, random_state=0).X.mean() - 5) < 0.3)
    True
    """

    takes: ClassVar[frozenset[str]] = frozenset({"regression targets", "several outputs"})
    min_rows: ClassVar[int] = 2
    max_rows: ClassVar[int | None] = MAX_ROWS
    keeps_rows: ClassVar[bool] = False

    def _fit_class(self, one: ClassRows) -> Any:
        assert self._codec is not None
        integer = np.append(self._codec.integer, np.zeros(one.n_targets, dtype=bool))
        low, high = one.values.min(axis=0), one.values.max(axis=0)
        unbounded = (low < high) & ~integer  # constants and integers stay within their range
        low[unbounded], high[unbounded] = -np.inf, np.inf
        scaler = StandardScaler().set_output(transform="default").fit(one.values)
        distribution = self._fit_distribution(scaler.transform(one.values), one.code)
        return scaler, (low, high), distribution

    def _fit_distribution(self, rows: Floats, code: int) -> Any:
        """Fit a distribution with a method ``sample(n_samples, rng)`` to standardized rows."""
        return ShrunkGaussian.of(rows)

    def _sample_class(
        self, one: ClassRows, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        scaler, bounds, distribution = fitted
        rows = distribution.sample(n_samples, rng)
        rows *= scaler.scale_
        rows += scaler.mean_
        return ClassSample(np.clip(rows, *bounds))


class GaussianMixtureAugmenter(GaussianAugmenter):
    """Generate each class from a Gaussian mixture; BIC (Schwarz 1978) selects its size and shape.

    No generated row depends on a single training row, and a class may have several clusters. It
    suits continuous columns and many rows per column; few rows give few components.

    Parameters
    ----------
    max_components : int, default=5
        Mixtures of 1, 2, 3, 5, 8, ... components up to this number are compared.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the initialization of the mixtures.

    Notes
    -----
    The mixtures are those of :class:`sklearn.mixture.GaussianMixture`. Diagonal covariances are
    always compared; full ones if a class has at most 40 columns and at least three times as many
    rows. Components have at least five rows on average. A single full component and a class of
    fewer than ten rows is a shrunk Gaussian. At most 2,000 rows per class are used for fitting.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import GaussianMixtureAugmenter
    >>> X = np.random.default_rng(0).normal(size=(200, 1)) + np.tile([0, 20], 100)[:, None]
    >>> fitted = GaussianMixtureAugmenter(random_state=0).fit(X, np.repeat([0, 1], 100))
    >>> bool(np.any(abs(fitted.sample(300, random_state=0).X - 10) < 4))  # two clusters: 0, 20
    False
    """

    max_rows: ClassVar[int | None] = 2_000

    def __init__(self, max_components: int = 5, random_state: RandomState = None) -> None:
        self.max_components = max_components
        self.random_state = random_state

    def _check_parameters(self) -> None:
        self._require("max_components", is_count(self.max_components), "be a positive int")
        self._root = seed_sequence(self.random_state)

    def _fit_distribution(self, rows: Floats, code: int) -> ShrunkGaussian | Mixture:
        mixture = None
        if len(rows) >= MIN_MIXTURE_ROWS:
            seed = integer_seed(self._root, "mixture", code)
            mixture = Mixture.of(rows, self.max_components, seed)
        return mixture or ShrunkGaussian.of(rows)
