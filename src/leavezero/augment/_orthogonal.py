"""New rows by a random rotation of a class about its mean."""

from typing import Any, ClassVar

import numpy as np
from scipy.stats import ortho_group

from leavezero._typing import Floats, Ints
from leavezero.augment._strata import ClassConditionalAugmenter, Stratum, StratumDraw

_MAX_COLUMNS = 2_000


class OrthogonalTransform(ClassConditionalAugmenter):
    """Turn the rows of each class about their mean by a random orthogonal matrix.

    The authors' published code has such a transformation beside mix-up; the paper does not
    mention it. It keeps the mean of a class and all distances inside it, and nothing else: where
    columns differ in spread or depend on each other, its rows look nothing like the data. Offered
    for comparison with the published code.

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As for :class:`LabelInvariantMixup`.

    Notes
    -----
    The published code turns about the origin; turning about the class's mean keeps the mean. Each
    draw turns all rows of a class by one matrix, uniformly distributed over all rotations and
    reflections. Constant columns stay as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import OrthogonalTransform
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 5.0], [7.0, 5.0]])
    >>> V = OrthogonalTransform().fit(X, [0, 0, 1, 1]).sample(4, random_state=0)
    >>> np.round(np.linalg.norm(V.X[V.y == 0], axis=1), 6)
    array([1., 1.])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"several outputs"})

    def _fit_stratum(self, stratum: Stratum) -> tuple[Floats, Ints]:
        if stratum.values.shape[1] > _MAX_COLUMNS:
            raise ValueError(
                f"OrthogonalTransform takes at most {_MAX_COLUMNS} columns, got "
                f"{stratum.values.shape[1]}. Use LabelInvariantMixup."
            )
        if len(stratum) == 1:
            self._warn_small(stratum, 2, "its row is copied")
        return stratum.values.mean(axis=0), np.flatnonzero(np.ptp(stratum.values, axis=0) > 0)

    def _sample_stratum(
        self, stratum: Stratum, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> StratumDraw:
        mean, moving = fitted
        rows = rng.integers(len(stratum), size=n_samples)
        values = stratum.values[rows].copy()
        if len(moving):
            turn = rng.choice([-1.0, 1.0], size=(1, 1))
            if len(moving) > 1:
                turn = ortho_group.rvs(len(moving), random_state=rng)
            values[:, moving] = mean[moving] + (values[:, moving] - mean[moving]) @ turn
        return StratumDraw(values, rows[:, None])
