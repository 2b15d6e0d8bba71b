"""Data sets that are made, not measured, so that no real one need be tuned on."""

from collections.abc import Callable

import numpy as np
from sklearn.datasets import make_circles, make_classification, make_friedman1, make_moons

from leavezero._typing import AnyArray, Floats
from leavezero.datasets._registry import Description

N_ROWS = 2_000
_Made = tuple[Floats, AnyArray]


def make(name: str, seed: int) -> _Made:
    """Return the rows of a made data set."""
    X, y = MAKERS[name](seed)
    return X, y


def _gaussians(seed: int) -> _Made:
    """Return two overlapping Gaussians in ten columns: the best rule is linear."""
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=N_ROWS)
    return rng.normal(size=(N_ROWS, 10)) + 0.45 * y[:, None], y


def _checkerboard(seed: int) -> _Made:
    """Return a checkerboard in two of four columns, with a tenth of the labels turned."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, size=(N_ROWS, 4))
    y = (np.floor(X[:, 0]) + np.floor(X[:, 1])).astype(int) % 2
    return X, np.where(rng.random(N_ROWS) < 0.1, 1 - y, y)


MAKERS: dict[str, Callable[[int], _Made]] = {
    "made_checkerboard": _checkerboard,
    "made_circles": lambda seed: make_circles(N_ROWS, noise=0.2, factor=0.5, random_state=seed),
    "made_five_classes": lambda seed: make_classification(
        N_ROWS, 12, n_informative=6, n_classes=5, flip_y=0.05, random_state=seed
    ),
    "made_friedman": lambda seed: make_friedman1(N_ROWS, noise=1.0, random_state=seed),
    "made_gaussians": _gaussians,
    "made_moons": lambda seed: make_moons(N_ROWS, noise=0.3, random_state=seed),
    "made_sparse_signal": lambda seed: make_classification(
        N_ROWS, 30, n_informative=5, n_redundant=2, flip_y=0.1, random_state=seed
    ),
}

_SHAPES = {
    "made_checkerboard": (4, 2),
    "made_circles": (2, 2),
    "made_five_classes": (12, 5),
    "made_friedman": (10, 0),
    "made_gaussians": (10, 2),
    "made_moons": (2, 2),
    "made_sparse_signal": (30, 2),
}
DESCRIPTIONS: dict[str, Description] = {
    name: Description(name, N_ROWS, *shape, "drawn anew for each seed", "none needed")
    for name, shape in _SHAPES.items()
}
