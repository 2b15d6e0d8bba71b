"""Classes as Gaussians: one each, or a mixture each."""

import warnings
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

from leavezero._random import integer_seed, seed_sequence
from leavezero._typing import Floats, RandomState
from leavezero.augment._mixture import Mixture, best_mixture
from leavezero.augment._strata import (
    ClassConditionalAugmenter,
    Stratum,
    StratumDraw,
)

MAX_LEARNING_ROWS = 5_000  # of a class
_NUMBERS = frozenset({"numbers as y", "several outputs"})


@dataclass(frozen=True, eq=False)
class ShrunkGaussian:
    """A Gaussian whose covariance is shrunk to a multiple of the identity (Ledoit and Wolf 2004).

    The covariance is ``axes.T @ axes + floor * I``; it is never formed, so that more columns than
    rows cost nothing extra.
    """

    mean: Floats
    axes: Floats
    floor: float

    @classmethod
    def of(cls, rows: Floats) -> "ShrunkGaussian":
        """Learn mean and covariance from rows."""
        mean = rows.mean(axis=0)
        centred = rows - mean
        with warnings.catch_warnings():
            # One row, or one column, has no covariance to shrink; scikit-learn says so.
            warnings.simplefilter("ignore", UserWarning)
            share = float(ledoit_wolf_shrinkage(centred, assume_centered=True))
        axes = centred * np.sqrt((1.0 - share) / len(rows))
        floor = share * float(np.mean(centred**2))
        if len(rows) > rows.shape[1]:  # the same covariance from fewer rows, and no floor to draw
            even = np.sqrt(floor) * np.eye(rows.shape[1])
            axes, floor = np.linalg.qr(np.vstack([axes, even]), mode="r"), 0.0
        return cls(mean, axes, floor)

    @cached_property
    def deviations(self) -> Floats:
        """The standard deviation of each column."""
        return np.asarray(np.sqrt(np.sum(self.axes**2, axis=0) + self.floor))

    def sample(self, n_samples: int, rng: np.random.Generator) -> Floats:
        """Draw rows."""
        rows = rng.standard_normal((n_samples, len(self.axes))) @ self.axes + self.mean
        if self.floor > 0:
            rows += np.sqrt(self.floor) * rng.standard_normal(rows.shape)
        return rows


@dataclass(frozen=True, eq=False)
class _Box:
    """The scale of a class's columns, and the range of their values."""

    shift: Floats
    scale: Floats
    least: Floats
    most: Floats

    @classmethod
    def of(cls, rows: Floats) -> "_Box":
        scale = rows.std(axis=0)
        return cls(
            rows.mean(axis=0), np.where(scale > 0, scale, 1.0), rows.min(axis=0), rows.max(axis=0)
        )

    def scaled(self, rows: Floats) -> Floats:
        return (rows - self.shift) / self.scale

    def unscaled(self, rows: Floats, whole: Any) -> Floats:
        """Return drawn rows in the columns' own units; constant columns and whole numbers stay."""
        values = rows * self.scale
        values += self.shift
        kept = (self.least == self.most) | whole
        if kept.any():
            values[:, kept] = np.clip(values[:, kept], self.least[kept], self.most[kept])
        return values


class GaussianAugmenter(ClassConditionalAugmenter):
    """Draw each class from a Gaussian with a shrunk covariance.

    No new row leans on a single given one, so that memorising is not rewarded; but a class that
    is not one round cloud looks like one, and rigid models look better than they are. The
    cheapest of the generators.

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As for :class:`LabelInvariantMixup`.

    Notes
    -----
    At most 5,000 rows of a class are used to learn it. A class of one row is copied, with a
    warning. Where the target is numbers, features and target are drawn together.

    References
    ----------
    O. Ledoit, M. Wolf. A well-conditioned estimator for large-dimensional covariance matrices.
    Journal of Multivariate Analysis 88(2), 2004.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import GaussianAugmenter
    >>> rng = np.random.default_rng(0)
    >>> X = np.vstack([rng.normal(0, 1, (50, 2)), rng.normal(5, 1, (50, 2))])
    >>> V = GaussianAugmenter().fit(X, np.repeat(["a", "b"], 50)).sample(1000, random_state=0)
    >>> bool(abs(V.X[V.y == "b"].mean() - 5) < 0.3)
    True
    """

    takes: ClassVar[frozenset[str]] = _NUMBERS
    learns_from: ClassVar[int | None] = MAX_LEARNING_ROWS
    keeps_rows: ClassVar[bool] = False

    def _fit_stratum(self, stratum: Stratum) -> tuple[_Box, ShrunkGaussian]:
        rows = stratum.values
        if len(stratum) == 1:
            self._warn_small(stratum, 2, "its row is copied")
        box = _Box.of(rows)
        return box, ShrunkGaussian.of(box.scaled(rows))

    def _sample_stratum(
        self,
        stratum: Stratum,
        fitted: tuple[_Box, ShrunkGaussian],
        n_samples: int,
        rng: np.random.Generator,
    ) -> StratumDraw:
        box, gaussian = fitted
        return StratumDraw(box.unscaled(gaussian.sample(n_samples, rng), _whole(self, stratum)))


class GaussianMixtureAugmenter(ClassConditionalAugmenter):
    """Draw each class from a Gaussian mixture whose size and shape are chosen by BIC.

    No new row leans on a single given one, and a class may have several clouds. Good where the
    columns are continuous and the rows are many for the columns; with few rows it falls back to
    few components.

    Parameters
    ----------
    max_components : int, default=5
        Mixtures of 1, 2, 3, 5, 8, ... components up to this number are tried.
    random_state : int, RandomState, Generator or None, default=None
        Starts the mixtures.

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As for :class:`LabelInvariantMixup`.

    Notes
    -----
    Full covariances are tried where a class has at least three times as many rows as columns and
    at most 40 columns, diagonal ones always, and no component may have fewer than five rows on
    average. A shrunk Gaussian stands in for classes of fewer than ten rows. At most 2,000 rows of
    a class are used to learn it.

    References
    ----------
    G. Schwarz. Estimating the dimension of a model. Annals of Statistics 6(2), 1978.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import GaussianMixtureAugmenter
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 1)) + np.repeat([0, 20, 10], [50, 50, 100])[:, None]
    >>> y = np.repeat([0, 1], 100)
    >>> V = GaussianMixtureAugmenter(random_state=0).fit(X, y).sample(300, random_state=0)
    >>> bool(np.any(np.abs(V.X[V.y == 0] - 10) < 4))  # class 0 has a gap in the middle
    False
    """

    takes: ClassVar[frozenset[str]] = _NUMBERS
    learns_from: ClassVar[int | None] = 2_000
    keeps_rows: ClassVar[bool] = False

    def __init__(self, max_components: int = 5, random_state: RandomState = None) -> None:
        self.max_components = max_components
        self.random_state = random_state

    def _check_parameters(self) -> None:
        if not isinstance(self.max_components, int | np.integer) or self.max_components < 1:
            raise ValueError(
                "max_components of GaussianMixtureAugmenter must be a positive int, got "
                f"{self.max_components!r}. Use GaussianAugmenter for one Gaussian a class."
            )
        self._seeds = seed_sequence(self.random_state)

    def _fit_stratum(self, stratum: Stratum) -> tuple[_Box, ShrunkGaussian | Mixture]:
        rows = stratum.values
        if len(stratum) == 1:
            self._warn_small(stratum, 2, "its row is copied")
        box = _Box.of(rows)
        scaled = box.scaled(rows)
        seed = integer_seed(self._seeds, "mixture", stratum.code)
        mixture = best_mixture(scaled, self.max_components, seed) if len(rows) >= 10 else None
        # A single full Gaussian is left to the shrunk one, which is never worse.
        return box, mixture or ShrunkGaussian.of(scaled)

    def _sample_stratum(
        self,
        stratum: Stratum,
        fitted: tuple[_Box, ShrunkGaussian | Mixture],
        n_samples: int,
        rng: np.random.Generator,
    ) -> StratumDraw:
        box, model = fitted
        return StratumDraw(box.unscaled(model.sample(n_samples, rng), _whole(self, stratum)))


def _whole(augmenter: ClassConditionalAugmenter, stratum: Stratum) -> Any:
    """Return which columns hold whole numbers; targets never do."""
    assert augmenter._codec is not None
    return np.append(augmenter._codec.whole, np.zeros(stratum.n_targets, dtype=bool))
