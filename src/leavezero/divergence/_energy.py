"""The energy distance between two samples of any columns."""

from dataclasses import dataclass

import numpy as np
from sklearn.metrics import pairwise_distances

from leavezero._random import seed_sequence, stream
from leavezero._tables import Featurizer
from leavezero._typing import Floats, RandomState, Table
from leavezero.divergence._features import chosen_rows
from leavezero.divergence._samples import check_at_least, check_samples, stacked, taken


@dataclass(frozen=True)
class EnergyDistance:
    """An energy distance, and how rare it would be between samples of one law.

    Parameters
    ----------
    value : float
        ``2 E|x - x_v| - E|x - x'| - E|x_v - x_v'|``, at least 0, and 0 only for equal laws.
    p_value : float or None
        The share of random exchanges of rows between the samples that give as much; None if it
        was not asked for.

    Examples
    --------
    >>> from leavezero.divergence import EnergyDistance
    >>> EnergyDistance(0.2).p_value is None
    True
    """

    value: float
    p_value: float | None = None


def energy_distance(
    X: Table,
    X_v: Table,
    *,
    n_permutations: int = 0,
    max_rows: int = 1000,
    random_state: RandomState = None,
) -> EnergyDistance:
    """Return the energy distance between two samples (Szekely and Rizzo 2013).

    Two rows are as far apart as the root of the mean of their columns' squared distances: numbers
    in units of their spread, two different categories 1, a missing cell filled by the median
    and 1 spread of its flag away. (A plain sum over the columns would see each column alone, and
    not how they go together.) It ranks samples; it is no Jensen-Shannon divergence and bounds none.

    Parameters
    ----------
    X, X_v : array, frame, sparse matrix or sequence of strings
        The samples, with the same columns.
    n_permutations : int, default=0
        How many exchanges of rows the p-value counts; 0 for none. It is valid for independent
        samples: V drawn from X is not independent of X.
    max_rows : int, default=1000
        At most so many rows of each sample are used, drawn at random.
    random_state : int, RandomState, Generator or None, default=None
        An int for a distance that repeats.

    Returns
    -------
    EnergyDistance

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.divergence import energy_distance
    >>> rng = np.random.default_rng(0)
    >>> near = energy_distance(rng.normal(size=(100, 2)), rng.normal(size=(100, 2)))
    >>> far = energy_distance(rng.normal(size=(100, 2)), rng.normal(3.0, size=(100, 2)))
    >>> near.value < 0.05 < far.value
    True
    """
    owner = "energy_distance"
    X, X_v = check_samples(X, X_v, owner)
    check_at_least(n_permutations, 0, "n_permutations", owner)
    check_at_least(max_rows, 1, "max_rows", owner)
    root = seed_sequence(random_state)
    rows, rows_v = chosen_rows(X, X_v, max_rows, root)
    both = stacked([taken(X, rows), taken(X_v, rows_v)])
    distances = _distances(both)
    side = np.repeat([1.0 / len(rows), -1.0 / len(rows_v)], [len(rows), len(rows_v)])
    value = float(_energies(distances, side[:, None])[0])
    if n_permutations == 0:
        return EnergyDistance(value)
    rng = stream(root, "permutations")
    exchanged = np.column_stack([rng.permutation(side) for _ in range(n_permutations)])
    as_much = int((_energies(distances, exchanged) >= value - 1e-12).sum())
    return EnergyDistance(value, (1 + as_much) / (1 + n_permutations))


def _distances(table: Table) -> Floats:
    features = Featurizer().fit(table).transform(table)
    n_columns = table.shape[1] if hasattr(table, "shape") else 1  # documents have none
    return pairwise_distances(features) / np.sqrt(n_columns)


def _energies(distances: Floats, sides: Floats) -> Floats:
    """Return the energy distance for each column of signed weights that sum to 0."""
    return np.maximum(0.0, -(sides * (distances @ sides)).sum(axis=0))
