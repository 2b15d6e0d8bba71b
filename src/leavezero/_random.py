"""Independent random streams from one seed."""

import zlib
from typing import Any

import numpy as np

from leavezero._typing import RandomState

_WORD = 2**32


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """Return the root of all streams of one call.

    An integer always gives the same root, None a new one. A generator that the user shares
    between calls is advanced, so that two calls with it differ.

    Examples
    --------
    >>> seed_sequence(7).entropy
    7
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(_WORD, size=4).tolist())
    if isinstance(random_state, np.random.RandomState):
        words = random_state.randint(_WORD, size=4, dtype=np.uint64)
        return np.random.SeedSequence(words.tolist())
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    raise ValueError(
        "random_state must be None, a non-negative int, a numpy RandomState or a numpy Generator, "
        f"got {random_state!r}. Use an int for a result that repeats."
    )


def stream(root: np.random.SeedSequence, *purpose: str | int) -> np.random.Generator:
    """Return the generator of one purpose, the same whenever it is asked for.

    Purposes are names and numbers, for example ``"replicate", 3``. Streams of different purposes
    are independent, and asking for one does not advance another.

    Examples
    --------
    >>> root = seed_sequence(0)
    >>> bool(stream(root, "replicate", 1).random() == stream(root, "replicate", 1).random())
    True
    """
    return np.random.default_rng(substream(root, *purpose))


def substream(root: np.random.SeedSequence, *purpose: str | int) -> np.random.SeedSequence:
    """Return the root of the streams of one purpose."""
    key = tuple(zlib.crc32(p.encode()) if isinstance(p, str) else p for p in purpose)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *key))


def integer_seed(root: np.random.SeedSequence, *purpose: str | int) -> int:
    """Return a seed that any estimator's ``random_state`` takes."""
    return int(stream(root, *purpose).integers(2**31 - 1))


def with_seed(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` of None inside an estimator to a seed, and return the estimator.

    Examples
    --------
    >>> from sklearn.ensemble import BaggingClassifier
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> with_seed(BaggingClassifier(DecisionTreeClassifier()), 5).estimator.random_state
    5
    """
    unset = {
        name: seed
        for name, value in estimator.get_params(deep=True).items()
        if value is None and name.rpartition("__")[2] == "random_state"
    }
    return estimator.set_params(**unset) if unset else estimator
