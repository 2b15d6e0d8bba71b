"""The augmentations of the paper and its published code: mix-up and random rotations."""

from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from scipy.stats import ortho_group
from sklearn.neighbors import NearestNeighbors

from leavezero._tables import Featurizer
from leavezero._typing import Floats, Ints
from leavezero.augment._augmenter import (
    ALTERNATIVES,
    ClassConditionalAugmenter,
    ClassRows,
    ClassSample,
    is_count,
    is_positive,
)

_MAX_ROTATED_COLUMNS = 2_000


class _Mixup(ClassConditionalAugmenter):
    """Base class of augmenters whose rows are mixes of two rows."""

    takes: ClassVar[frozenset[str]] = frozenset(ALTERNATIVES) - {"text"}
    mixes_rows: ClassVar[bool] = True
    min_rows: ClassVar[int] = 2


class LabelInvariantMixup(_Mixup):
    """Mix two training rows of a class and keep its label (arXiv:2012.13309, Algorithm 2).

    Each generated row is ``weight * x_j + (1 - weight) * x_k`` for two different training rows j
    and k of one class and ``weight`` from Beta(alpha, alpha). The rows are close to the training
    rows, so flexible models that memorize them, such as 1-NN, get scores that are too high.

    Parameters
    ----------
    alpha : float, default=1.0
        Shape of the Beta distribution: 1, as in the authors' code, is uniform on the segment
        between two rows, small values stay near one of them, large values near the middle.

    Notes
    -----
    The only row of a class is copied, with a warning. A category, and a value that is missing in
    one of the two rows, is copied from row j with probability ``weight``, else from row k. Integers
    stay integers. For a regression target, row k is among the nearest rows in the order of y (a
    tenth of all rows, at least five, on either side), and targets are mixed with the same weight.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero import LabelInvariantMixup
    >>> X = np.array([[0.0], [1.0], [10.0], [11.0]])
    >>> validation_set = LabelInvariantMixup().fit(X, [0, 0, 1, 1]).sample(6, random_state=0)
    >>> np.bincount(validation_set.y)
    array([3, 3])
    """

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def _check_parameters(self) -> None:
        self._require("alpha", is_positive(self.alpha), "be a positive finite number")

    def _fit_class(self, one: ClassRows) -> Ints | None:
        """Return the order of rows by y for a regression target."""
        if not one.n_targets:
            return None
        targets = one.values[:, -one.n_targets :]
        targets = targets.toarray() if sparse.issparse(targets) else targets
        # Several targets are ordered by the sum of their standardized values.
        scaled = (targets - targets.mean(axis=0)) / (targets.std(axis=0) + 1e-300)
        return np.argsort(scaled.sum(axis=1), kind="stable")

    def _sample_class(
        self, one: ClassRows, fitted: Ints | None, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        n_rows = len(one)
        first = rng.integers(n_rows, size=n_samples)
        if n_rows == 1:
            second: Ints = first
        elif fitted is None:
            # A cyclic step of 1 to n_rows - 1 reaches every row except the first one.
            second = (first + rng.integers(1, n_rows, size=n_samples)) % n_rows
        else:
            second = _near_in_order(first, fitted, rng)
        weight = rng.beta(self.alpha, self.alpha, size=(n_samples, 1))
        return _mixed(one, first, second, weight, rng)


class NeighborMixup(_Mixup):
    """Mix each training row with its nearest neighbor of the same class.

    This is the mix-up of the authors' published code: all training rows are used in turn, and the
    weight is uniform. Flexible models are favored more than by :class:`LabelInvariantMixup`.
    Columns are standardized (unlike the published code), different categories have distance 1.

    Parameters
    ----------
    n_neighbors : int, default=1
        The partner is one of the ``n_neighbors`` nearest rows of the class.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import NeighborMixup
    >>> X = np.array([[0.0], [1.0], [9.0], [20.0], [21.0]])
    >>> validation_set = NeighborMixup().fit(X, [0, 0, 0, 1, 1]).sample(5, random_state=0)
    >>> sorted(set(map(tuple, np.sort(validation_set.source_rows).tolist())))
    [(0, 1), (1, 2), (3, 4)]
    """

    def __init__(self, n_neighbors: int = 1) -> None:
        self.n_neighbors = n_neighbors

    def _check_parameters(self) -> None:
        self._require("n_neighbors", is_count(self.n_neighbors), "be a positive int")

    def _fit_class(self, one: ClassRows) -> Ints:
        """Return the positions of each row's nearest other rows."""
        if len(one) == 1:
            return np.zeros((1, 1), dtype=np.intp)
        neighbors = NearestNeighbors(n_neighbors=min(self.n_neighbors, len(one) - 1))
        return neighbors.fit(_features(one)).kneighbors(return_distance=False)

    def _sample_class(
        self, one: ClassRows, fitted: Ints, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        rounds = [rng.permutation(len(one)) for _ in range(-(-n_samples // len(one)))]
        first = np.concatenate([*rounds, np.empty(0, dtype=np.intp)])[:n_samples]
        second = fitted[first, rng.integers(fitted.shape[1], size=n_samples)]
        weight = rng.uniform(0.001, 1.0, size=(n_samples, 1))
        return _mixed(one, first, second, weight, rng)


class OrthogonalTransform(ClassConditionalAugmenter):
    """Rotate the rows of each class about their mean by a random orthogonal matrix.

    The authors' published code has this transformation, about the origin; the paper does not
    mention it. If columns differ in variance or are correlated, its rows do not resemble the
    data. Each call of ``sample`` uses one matrix per class, uniformly distributed over all
    rotations and reflections. Constant columns are kept.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import OrthogonalTransform
    >>> X = np.array([[0.0, 1.0], [0.0, -1.0], [5.0, 5.0], [7.0, 5.0]])
    >>> validation_set = OrthogonalTransform().fit(X, [0, 0, 1, 1]).sample(4, random_state=0)
    >>> np.round(np.linalg.norm(validation_set.X[validation_set.y == 0], axis=1), 6)
    array([1., 1.])
    """

    takes: ClassVar[frozenset[str]] = frozenset({"several outputs"})
    min_rows: ClassVar[int] = 2

    def _fit_class(self, one: ClassRows) -> tuple[Floats, Ints]:
        if one.values.shape[1] > _MAX_ROTATED_COLUMNS:
            raise ValueError(
                f"OrthogonalTransform requires at most {_MAX_ROTATED_COLUMNS} columns, got "
                f"{one.values.shape[1]}. Use LabelInvariantMixup."
            )
        return one.values.mean(axis=0), np.flatnonzero(np.ptp(one.values, axis=0) > 0)

    def _sample_class(
        self, one: ClassRows, fitted: Any, n_samples: int, rng: np.random.Generator
    ) -> ClassSample:
        mean, varying = fitted
        rows = rng.integers(len(one), size=n_samples)
        values = one.values[rows].copy()
        if len(varying):
            rotation = rng.choice([-1.0, 1.0], size=(1, 1))
            if len(varying) > 1:
                rotation = ortho_group.rvs(len(varying), random_state=rng)
            values[:, varying] = mean[varying] + (values[:, varying] - mean[varying]) @ rotation
        return ClassSample(values, rows[:, None])


def _mixed(
    one: ClassRows, first: Ints, second: Ints, weight: Floats, rng: np.random.Generator
) -> ClassSample:
    """Return ``weight * first + (1 - weight) * second`` of two rows each.

    Categories, and values of which one is missing, are copied from one of the two rows.
    """
    x, other = one.values[first], one.values[second]
    source_rows = np.column_stack([first, second])
    if sparse.issparse(x):
        mixed = sparse.csr_matrix(x.multiply(weight) + other.multiply(1.0 - weight))
        return ClassSample(mixed, source_rows)
    mixed = other + weight * (x - other)  # this form returns equal values exactly
    copied = np.isnan(mixed) | one.categorical
    if copied.any():
        chosen = np.where(rng.random(mixed.shape) < weight, x, other)
        mixed[copied] = chosen[copied]
    return ClassSample(mixed, source_rows)


def _features(one: ClassRows) -> Any:
    """Return the rows as features for distances."""
    table = one.values
    if sparse.issparse(table):
        return table
    if one.categorical.any():
        table = table.astype(object)
        for column in np.flatnonzero(one.categorical):
            table[:, column] = [f"{cell:.0f}" for cell in one.values[:, column]]
    return Featurizer().fit(table).transform(table)


def _near_in_order(first: Ints, order: Ints, rng: np.random.Generator) -> Ints:
    """Return for each row another row that is near it in the given order."""
    n_rows = len(order)
    reach = min(max(5, n_rows // 10), n_rows - 1)
    place = np.empty(n_rows, dtype=np.intp)
    place[order] = np.arange(n_rows)
    width = min(2 * reach + 1, n_rows)
    start = np.clip(place[first] - reach, 0, n_rows - width)
    chosen = start + rng.integers(width - 1, size=len(first))
    chosen += chosen >= place[first]  # skip the row itself
    return order[chosen]
