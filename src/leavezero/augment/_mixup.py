"""New rows between two given rows of one class."""

from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.neighbors import NearestNeighbors

from leavezero._tables import Featurizer
from leavezero._typing import Bools, Floats, Ints
from leavezero.augment._strata import ClassConditionalAugmenter, Stratum, StratumDraw

_ANYTHING = frozenset(
    {
        "missing cells",
        "columns that are not numbers",
        "a sparse matrix",
        "numbers as y",
        "several outputs",
    }
)


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
        The classes, sorted; only where the target is one column of classes.
    n_rows_ : int
        The number of given rows.
    n_features_in_ : int
        The number of columns.
    feature_names_in_ : array of shape (n_features_in_,)
        The names of the columns, where X was a frame with string names.

    Notes
    -----
    A row is never paired with itself, unless it is the only one of its class: then it is copied,
    and a warning names the class. A category, and a cell that is missing in one of the two rows,
    is taken from row j with probability ``weight``, from row k otherwise. Whole numbers stay
    whole. Where the target is numbers, partners are drawn among the rows next in y (a tenth of
    all, five at least, on either side), and the targets are mixed with the features' weight.

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

    takes: ClassVar[frozenset[str]] = _ANYTHING
    mixes_rows: ClassVar[bool] = True

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = alpha

    def _check_parameters(self) -> None:
        alpha = self.alpha
        if not isinstance(alpha, Real) or isinstance(alpha, bool) or not 0 < alpha < np.inf:
            raise ValueError(
                f"alpha of LabelInvariantMixup must be a positive finite number, got {alpha!r}. "
                "Use 1.0 to mix evenly over the segment between two rows."
            )

    def _fit_stratum(self, stratum: Stratum) -> Ints | None:
        """Return the rows in increasing order of y where y is numbers."""
        if len(stratum) == 1:
            self._warn_small(stratum, 2, "its row is copied")
        if not stratum.n_targets:
            return None
        targets = stratum.values[:, -stratum.n_targets :]
        targets = targets.toarray() if sparse.issparse(targets) else targets
        # Several targets are ordered along their common direction.
        scaled = (targets - targets.mean(axis=0)) / (targets.std(axis=0) + 1e-300)
        return np.argsort(scaled.sum(axis=1), kind="stable")

    def _sample_stratum(
        self, stratum: Stratum, fitted: Ints | None, n_samples: int, rng: np.random.Generator
    ) -> StratumDraw:
        n_rows = len(stratum)
        first = rng.integers(n_rows, size=n_samples)
        if n_rows == 1:
            second: Ints = first
        elif fitted is None:
            # A step of 1 to n_rows - 1 around the circle reaches every row but the first one.
            second = (first + rng.integers(1, n_rows, size=n_samples)) % n_rows
        else:
            second = _near_in_order(first, fitted, rng)
        weight = rng.beta(self.alpha, self.alpha, size=(n_samples, 1))
        mixed = mix(stratum.values[first], stratum.values[second], weight, rng, stratum.categories)
        return StratumDraw(mixed, np.column_stack([first, second]))


class NeighborMixup(ClassConditionalAugmenter):
    """Mix each given row with its nearest neighbour of the same class.

    This is what the authors' published code does in place of the paper's Algorithm 2 (with its
    labels set right): every given row serves in turn, its partner is the nearest row of its class
    and the weight is uniform. Its rows lie closer still to the given ones than
    :class:`LabelInvariantMixup`'s, and it flatters flexible models more.

    Parameters
    ----------
    n_neighbors : int, default=1
        The partner is one of so many nearest rows of the class.

    Attributes
    ----------
    classes_, n_rows_, n_features_in_, feature_names_in_
        As for :class:`LabelInvariantMixup`.

    Notes
    -----
    Distances are taken on standardised columns, with two different categories at distance 1;
    the published code takes them on the columns as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.augment import NeighborMixup
    >>> X = np.array([[0.0], [1.0], [9.0], [20.0], [21.0]])
    >>> V = NeighborMixup().fit(X, [0, 0, 0, 1, 1]).sample(5, random_state=0)
    >>> sorted(set(map(tuple, np.sort(V.origins).tolist())))
    [(0, 1), (1, 2), (3, 4)]
    """

    takes: ClassVar[frozenset[str]] = _ANYTHING
    mixes_rows: ClassVar[bool] = True

    def __init__(self, n_neighbors: int = 1) -> None:
        self.n_neighbors = n_neighbors

    def _check_parameters(self) -> None:
        check_n_neighbors(self.n_neighbors, type(self).__name__)

    def _fit_stratum(self, stratum: Stratum) -> Ints:
        if len(stratum) == 1:
            self._warn_small(stratum, 2, "its row is copied")
            return np.zeros((1, 1), dtype=np.intp)
        return nearest_rows(stratum.values, self.n_neighbors, stratum.categories)

    def _sample_stratum(
        self, stratum: Stratum, fitted: Ints, n_samples: int, rng: np.random.Generator
    ) -> StratumDraw:
        rounds = [rng.permutation(len(stratum)) for _ in range(-(-n_samples // len(stratum)))]
        first = np.concatenate([*rounds, np.empty(0, dtype=np.intp)])[:n_samples]
        second = fitted[first, rng.integers(fitted.shape[1], size=n_samples)]
        weight = rng.uniform(0.001, 1.0, size=(n_samples, 1))
        mixed = mix(stratum.values[first], stratum.values[second], weight, rng, stratum.categories)
        return StratumDraw(mixed, np.column_stack([first, second]))


def mix(
    first: Any,
    second: Any,
    weight: Floats,
    rng: np.random.Generator,
    categories: Bools | None = None,
) -> Any:
    """Return ``weight * first + (1 - weight) * second``.

    One of both cells is taken whole where one is missing or the column holds categories.

    Examples
    --------
    >>> import numpy as np
    >>> mix(np.array([[0.0]]), np.array([[4.0]]), np.array([[0.25]]), np.random.default_rng(0))
    array([[3.]])
    """
    if sparse.issparse(first):
        return sparse.csr_matrix(first.multiply(weight) + second.multiply(1.0 - weight))
    # This form gives equal cells back to the bit.
    mixed = second + weight * (first - second)
    whole = np.isnan(mixed)
    if categories is not None:
        whole[:, categories] = True
    if whole.any():
        chosen = np.where(rng.random(mixed.shape) < weight, first, second)
        mixed[whole] = chosen[whole]
    return mixed


def nearest_rows(values: Any, n_neighbors: int, categories: Bools) -> Ints:
    """Return the positions of each row's nearest other rows, one row of positions a row."""
    features = features_of(values, categories)
    n_neighbors = min(n_neighbors, features.shape[0] - 1)
    return NearestNeighbors(n_neighbors=n_neighbors).fit(features).kneighbors(return_distance=False)


def features_of(values: Any, categories: Bools) -> Any:
    """Return encoded rows as features in which distances make sense."""
    if sparse.issparse(values):
        return values
    if not categories.any():
        return Featurizer().fit(values).transform(values)
    objects = values.astype(object)
    for column in np.flatnonzero(categories):
        objects[:, column] = [f"{cell:.0f}" for cell in values[:, column]]
    return Featurizer().fit(objects).transform(objects)


def check_n_neighbors(n_neighbors: Any, owner: str) -> None:
    """Raise unless a number of neighbours is a positive int."""
    wrong = not isinstance(n_neighbors, Integral) or isinstance(n_neighbors, bool)
    if wrong or n_neighbors < 1:
        raise ValueError(
            f"n_neighbors of {owner} must be a positive int, got {n_neighbors!r}. "
            "Use 1 for the nearest row only."
        )


def _near_in_order(first: Ints, order: Ints, rng: np.random.Generator) -> Ints:
    """Return for each row another one that is near it in a given order."""
    n_rows = len(order)
    reach = min(max(5, n_rows // 10), n_rows - 1)
    place = np.empty(n_rows, dtype=np.intp)
    place[order] = np.arange(n_rows)
    width = min(2 * reach + 1, n_rows)
    start = np.clip(place[first] - reach, 0, n_rows - width)
    drawn = start + rng.integers(width - 1, size=len(first))
    drawn += drawn >= place[first]  # step over the row itself
    return order[drawn]
