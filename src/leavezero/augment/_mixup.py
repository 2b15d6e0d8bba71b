"""New rows between two given rows of one class."""

import warnings
from numbers import Real

import numpy as np

from leavezero._tables import plain
from leavezero._typing import Floats, Ints
from leavezero.augment._base import ClassConditionalAugmenter, ClassDraw
from leavezero.exceptions import SmallClassWarning


class LabelInvariantMixup(ClassConditionalAugmenter):
    """Mix two given rows of a class, and keep its label (Li et al. 2020, Algorithm 2).

    Every new row is ``weight * x_j + (1 - weight) * x_k`` with two different given rows j and k
    of one class and ``weight`` drawn from Beta(alpha, alpha). The classes have the shares that
    they have in the data.

    This is the paper's own augmentation. Its rows lie close to the given ones, so that a model
    that has memorised the data looks better on them than it is: it suits rigid models, such as
    linear ones, and flatters flexible ones, such as 1-nearest-neighbour.

    Parameters
    ----------
    alpha : float, default=1.0
        Shape of the Beta distribution: 1 mixes evenly over the segment between two rows, small
        values stay near one of them, large values near the middle. The paper leaves it open; its
        authors' code uses 1.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The classes, sorted.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of shape (n_features_in_,)
        The names of the columns, where X was a frame with string names.

    Notes
    -----
    A row is never paired with itself, unless it is the only one of its class: then it is copied,
    and a warning names the class. Where a cell is missing in one of the two rows, the cell of
    row j is taken with probability ``weight``, that of row k otherwise. Columns of whole numbers
    stay whole numbers.

    References
    ----------
    W. Li, C. Geng, S. Chen. Leave Zero Out: Towards a No-Cross-Validation Approach for Model
    Selection. arXiv:2012.13309, 2020.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero import LabelInvariantMixup
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> V = LabelInvariantMixup().fit(X, [0, 0, 1, 1]).sample(6, random_state=0)
    >>> np.bincount(V.y)
    array([3, 3])
    >>> bool(np.all(V.X[V.y == 0] <= 1))
    True
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def _check_parameters(self) -> None:
        alpha = self.alpha
        if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < np.inf:
            raise ValueError(
                f"alpha of LabelInvariantMixup must be a positive finite number, got {alpha!r}. "
                "Use 1.0 to mix evenly over the segment between two rows."
            )

    def _fit(self, values: Floats, codes: Ints) -> None:
        self._rows: list[Floats] = []
        super()._fit(values, codes)

    def _fit_class(self, code: int, values: Floats) -> None:
        if len(values) == 1:
            warnings.warn(
                f"Class {plain(self.classes_[code])!r} has a single row, so that "
                "LabelInvariantMixup can only copy it. Add rows of this class, or expect its "
                "part of the score to be too good.",
                SmallClassWarning,
                stacklevel=2,
            )
        self._rows.append(values)

    def _sample_class(self, code: int, n_samples: int, rng: np.random.Generator) -> ClassDraw:
        rows = self._rows[code]
        first = rng.integers(len(rows), size=n_samples)
        # A step of 1 to len - 1 around the circle reaches every row but the first one.
        step = rng.integers(1, len(rows), size=n_samples) if len(rows) > 1 else 0
        second = (first + step) % len(rows)
        weight = rng.beta(self.alpha, self.alpha, size=(n_samples, 1))
        return ClassDraw(
            mix(rows[first], rows[second], weight, rng), np.column_stack([first, second])
        )


def mix(first: Floats, second: Floats, weight: Floats, rng: np.random.Generator) -> Floats:
    """Return ``weight * first + (1 - weight) * second``; one of both cells where one is missing.

    Examples
    --------
    >>> import numpy as np
    >>> mix(np.array([[0.0]]), np.array([[4.0]]), np.array([[0.25]]), np.random.default_rng(0))
    array([[3.]])
    """
    # This form gives equal cells back to the bit, and cannot leave the segment by rounding at 1.
    mixed = second + weight * (first - second)
    incomplete = np.isnan(mixed)
    if incomplete.any():
        chosen = np.where(rng.random(mixed.shape) < weight, first, second)
        mixed[incomplete] = chosen[incomplete]
    return mixed
