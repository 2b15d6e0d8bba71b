"""Fixtures that the tests of searches share."""

import numpy as np
import optuna
import pytest
from sklearn.datasets import make_classification

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    LabelInvariantMixup,
    OptunaSearchLZO,
    RandomizedSearchLZO,
)

FAST = {"augmenter": LabelInvariantMixup(), "n_replicates": 2, "loo": False, "random_state": 0}


def size(grid):
    return int(np.prod([len(values) for values in grid.values()]))


SEARCHES = {
    "GridSearchLZO": GridSearchLZO,
    "RandomizedSearchLZO": lambda model, grid, **params: RandomizedSearchLZO(
        model, grid, n_iter=size(grid), **params
    ),
    "HalvingGridSearchLZO": HalvingGridSearchLZO,
    "HalvingRandomSearchLZO": lambda model, grid, **params: HalvingRandomSearchLZO(
        model, grid, n_candidates=size(grid), **params
    ),
    "OptunaSearchLZO": lambda model, grid, **params: OptunaSearchLZO(
        model, grid, n_trials=8, **params
    ),
    "CandidateSearchLZO": lambda model, grid, **params: CandidateSearchLZO(
        {"model": (model, grid)}, **params
    ),
}


@pytest.fixture(autouse=True)
def _quiet_optuna():
    optuna.logging.set_verbosity(optuna.logging.WARNING)


@pytest.fixture(params=SEARCHES)
def make_search(request):
    """Return a function that creates a fast search of each class over the same grid."""

    def make(estimator, grid, **params):
        return SEARCHES[request.param](estimator, grid, **FAST | params)

    make.owner = request.param
    return make


@pytest.fixture(scope="session")
def grid_search():
    """Return a function that creates a fast grid search by the validation score alone."""
    return lambda estimator, grid, **params: GridSearchLZO(estimator, grid, **FAST | params)


@pytest.fixture(scope="session")
def data():
    """Return 40 rows of two classes that overlap a little."""
    return make_classification(40, 4, flip_y=0.1, random_state=42)
