"""A rough guess of what candidates cost, from what they are; no clock, so that it repeats."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from leavezero.augment import MAX_REFERENCE_ROWS
from leavezero.engine._plan import Candidate


def fits_are_dear(
    candidates: Sequence[Candidate], n_fits: int, n_rows: int, n_columns: int, n_new_rows: int
) -> bool:
    """Tell whether fits of candidates like these take twice as long as the references or more.

    Orders of magnitude of one core, measured once; a wrong guess costs some seconds or some
    quality of V, never correctness.
    """
    some = candidates[:: max(1, len(candidates) // 8)]
    guesses = [fit_seconds(candidate.configured(0), n_rows, n_columns) for candidate in some]
    return n_fits * float(np.mean(guesses)) >= 2 * reference_seconds(n_rows, n_new_rows)


def reference_seconds(n_rows: int, n_new_rows: int) -> float:
    """Return a guess of what the reference models cost: their fits, and their word on V."""
    learned = min(n_rows, MAX_REFERENCE_ROWS)
    return 0.3 + 1.7e-3 * learned + 3.5e-7 * learned * n_new_rows


def fit_seconds(estimator: Any, n_rows: int, n_columns: int) -> float:
    """Return a guess of what one fit costs.

    Examples
    --------
    >>> from sklearn.ensemble import RandomForestClassifier
    >>> from sklearn.naive_bayes import GaussianNB
    >>> fit_seconds(GaussianNB(), 1000, 20) < fit_seconds(RandomForestClassifier(), 1000, 20)
    True
    """
    while isinstance(estimator, Pipeline):
        estimator = estimator[-1]
    params = estimator.get_params(deep=False)
    boosts = "max_leaf_nodes" in params and "max_iter" in params
    rounds = params.get("max_iter" if boosts else "n_estimators")
    if isinstance(rounds, int | np.integer):  # trees, one after the other
        return float(rounds * (1e-3 + 2e-8 * n_rows * np.log2(n_rows + 1) * np.sqrt(n_columns)))
    if "kernel" in params:
        return 1e-3 + 3e-8 * n_rows**2
    if "hidden_layer_sizes" in params:
        return float(params["max_iter"] * (3e-4 + 2e-6 * n_rows))
    if any(hasattr(value, "fit") for value in params.values()):  # a model around a model
        return 10 * (1e-3 + 2e-8 * n_rows * n_columns)
    return 1e-3 + 2e-8 * n_rows * n_columns
