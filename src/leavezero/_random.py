"""Independent random streams from one seed."""

import copy
import zlib
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.preprocessing import TargetEncoder

from leavezero._typing import Ints, RandomState

_TWO_TO_32 = 2**32
_DEPRECATED = "deprecated"


def seed_sequence(random_state: RandomState) -> np.random.SeedSequence:
    """Return the root of all random streams of one call.

    An integer always gives the same root, None a new one. A generator is advanced, so that two
    calls with the same generator differ.
    """
    if random_state is None:
        return np.random.SeedSequence()
    if isinstance(random_state, np.random.Generator):
        return np.random.SeedSequence(random_state.integers(_TWO_TO_32, size=4).tolist())
    if isinstance(random_state, np.random.RandomState):
        entropy = random_state.randint(_TWO_TO_32, size=4, dtype=np.uint64)
        return np.random.SeedSequence(entropy.tolist())
    if isinstance(random_state, int | np.integer) and random_state >= 0:
        return np.random.SeedSequence(int(random_state))
    raise ValueError(
        "random_state must be None, a non-negative int, a numpy RandomState or a numpy Generator, "
        f"got {random_state!r}. Use an int for reproducible results."
    )


def stream(root: np.random.SeedSequence, *purpose: str | int) -> np.random.Generator:
    """Return the random generator of one purpose; equal arguments give equal generators.

    A purpose is a sequence of strings and integers, for example ``"replicate", 3``. Generators of
    different purposes are independent.
    """
    return np.random.default_rng(substream(root, *purpose))


def substream(root: np.random.SeedSequence, *purpose: str | int) -> np.random.SeedSequence:
    """Return the root of the streams of one purpose."""
    key = tuple(zlib.crc32(p.encode()) if isinstance(p, str) else p for p in purpose)
    return np.random.SeedSequence(root.entropy, spawn_key=(*root.spawn_key, *key))


def integer_seed(root: np.random.SeedSequence, *purpose: str | int) -> int:
    """Return an integer for the ``random_state`` of an estimator."""
    return int(stream(root, *purpose).integers(2**31 - 1))


def stratified_folds(codes: Ints, n_folds: int, rng: np.random.Generator) -> Ints:
    """Return a random fold per row; sizes differ by at most 1, overall and per class."""
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]
    folds = np.empty(len(codes), dtype=np.intp)
    folds[order] = np.arange(len(codes)) % n_folds
    return folds


def random_rows(n_rows: int, limit: int | None, rng: np.random.Generator) -> Ints:
    """Return the positions of all rows, or of ``limit`` random ones if there are more."""
    if limit is None or n_rows <= limit:
        return np.arange(n_rows)
    return np.sort(rng.choice(n_rows, size=limit, replace=False))


def with_seed(estimator: Any, seed: int) -> Any:
    """Set every ``random_state`` of None inside an estimator to a seed, and return the estimator.

    Splitters that shuffle without a seed are replaced by seeded copies.
    """
    unset: dict[str, Any] = {}
    for name, value in estimator.get_params(deep=True).items():
        if value is None and name.rpartition("__")[2] == "random_state":
            unset[name] = seed
        elif _is_unseeded_splitter(value):
            unset[name] = splitter_with_seed(value, seed)
        elif _is_unseeded_encoder(value) and (is_classifier(estimator) or is_regressor(estimator)):
            unset[f"{name}__cv"] = _folds(value, is_classifier(estimator), seed)
    return estimator.set_params(**unset) if unset else estimator


def splitter_with_seed(splitter: Any, seed: int) -> Any:
    """Return a cross-validation splitter, a seeded copy if it shuffles without a seed."""
    if not _is_unseeded_splitter(splitter):
        return splitter
    seeded = copy.copy(splitter)
    seeded.random_state = seed
    return seeded


def _is_unseeded_splitter(value: Any) -> bool:
    """Return True for a splitter that shuffles without a seed."""
    shuffles = hasattr(value, "split") and getattr(value, "shuffle", True) is not False
    return shuffles and getattr(value, "random_state", 0) is None


def _is_unseeded_encoder(value: Any) -> bool:
    """Return True for a target encoder that shuffles without a seed.

    Its ``random_state`` is deprecated since scikit-learn 1.9: the seed is set through ``cv``.
    """
    if not isinstance(value, TargetEncoder) or getattr(value, "shuffle", True) is False:
        return False
    seeded = getattr(value, "random_state", _DEPRECATED) != _DEPRECATED
    return not seeded and (value.cv is None or isinstance(value.cv, int | np.integer))


def _folds(encoder: TargetEncoder, classes: bool, seed: int) -> KFold | StratifiedKFold:
    """Return the seeded splitter that equals a target encoder's number of folds."""
    kind = StratifiedKFold if classes and encoder.target_type != "continuous" else KFold
    return kind(5 if encoder.cv is None else encoder.cv, shuffle=True, random_state=seed)
