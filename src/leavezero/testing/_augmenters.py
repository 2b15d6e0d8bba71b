"""What every augmenter promises, checked on small data."""

import pickle
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from leavezero._typing import AnyArray, Floats
from leavezero.augment import ValidationSet

_Data = tuple[Floats, AnyArray]


def check_augmenter(augmenter: Any) -> None:
    """Raise an AssertionError with a sentence if an augmenter breaks a promise.

    The promises are: parameters are stored unchanged and survive ``clone``; ``fit`` returns the
    augmenter and leaves the data alone; ``sample`` before ``fit`` raises ``NotFittedError``; it
    returns as many finite rows as asked for, with the columns, the dtype and the labels of the
    data; each class has its share of the rows; one seed repeats, two seeds differ; origins point
    at given rows; a fitted augmenter survives pickling.

    Parameters
    ----------
    augmenter : object with fit and sample
        Not fitted; it is copied.

    Examples
    --------
    >>> from leavezero import LabelInvariantMixup
    >>> from leavezero.testing import check_augmenter
    >>> check_augmenter(LabelInvariantMixup(alpha=0.5))
    """
    _check_parameters(augmenter)
    _check_not_fitted(augmenter)
    for data in _data_sets():
        for check in _CHECKS:
            check(clone(augmenter), data)


def _data_sets() -> Iterator[_Data]:
    """Yield two classes of numbers, and three unequal classes of strings in float32."""
    rng = np.random.default_rng(0)
    codes = np.repeat([0, 1], 20)
    yield rng.normal(size=(40, 3)) + codes[:, None], codes
    labels = np.repeat(["one", "three", "two"], [25, 10, 15])
    yield rng.normal(size=(50, 4)).astype(np.float32), labels


def _check_parameters(augmenter: Any) -> None:
    copy = clone(augmenter)
    assert repr(copy) == repr(augmenter), f"{augmenter!r} becomes {copy!r} when it is cloned."


def _check_not_fitted(augmenter: Any) -> None:
    try:
        clone(augmenter).sample(3)
    except NotFittedError:
        return
    raise AssertionError(f"{augmenter!r}.sample(3) before fit does not raise NotFittedError.")


def _check_fit(augmenter: Any, data: _Data) -> None:
    X, y = data
    X_before, y_before = X.copy(), y.copy()
    assert augmenter.fit(X, y) is augmenter, f"{augmenter!r}.fit does not return the augmenter."
    augmenter.sample(len(y), random_state=0)
    unchanged = np.array_equal(X, X_before) and np.array_equal(y, y_before)
    assert unchanged, f"{augmenter!r} changes the data that it is fitted on."


def _check_rows(augmenter: Any, data: _Data) -> None:
    X, y = data
    augmenter.fit(X, y)
    for n_samples in (1, len(y), 3 * len(y) + 1):
        V = augmenter.sample(n_samples, random_state=0)
        assert isinstance(V, ValidationSet), f"{augmenter!r}.sample returns a {type(V).__name__}."
        assert len(V) == n_samples, f"{augmenter!r}.sample({n_samples}) returns {len(V)} rows."
        assert V.X.shape == (n_samples, X.shape[1]), f"{augmenter!r} changes the columns."
        assert V.X.dtype == X.dtype, f"{augmenter!r} turns {X.dtype} into {V.X.dtype}."
        assert np.isfinite(V.X).all(), f"{augmenter!r} invents missing or infinite cells."
        assert set(V.y) <= set(y), f"{augmenter!r} invents labels: {set(V.y) - set(y)}."


def _check_label_marginal(augmenter: Any, data: _Data) -> None:
    X, y = data
    labels, counts = np.unique(y, return_counts=True)
    n_samples = 10 * len(y)
    V = augmenter.fit(X, y).sample(n_samples, random_state=0)
    drawn = np.array([np.count_nonzero(V.y == label) for label in labels])
    expected = counts * 10
    # An augmenter may draw labels at random; then the counts spread like binomial ones.
    slack = 5 * np.sqrt(expected)
    assert np.all(np.abs(drawn - expected) <= slack), (
        f"{augmenter!r} draws {drawn} rows of classes {labels} where {expected} are expected."
    )


def _check_seeds(augmenter: Any, data: _Data) -> None:
    X, y = data
    augmenter.fit(X, y)
    first, again, other = (augmenter.sample(len(y), random_state=s) for s in (1, 1, 2))
    assert _same(first, again), f"{augmenter!r} draws other rows with the same seed."
    assert not _same(first, other), f"{augmenter!r} draws the same rows with another seed."


def _check_origins(augmenter: Any, data: _Data) -> None:
    X, y = data
    V = augmenter.fit(X, y).sample(2 * len(y), random_state=0)
    if V.origins is None:
        return
    assert V.origins.ndim == 2, f"{augmenter!r} must give origins with a row for each new row."
    inside = (V.origins >= -1) & (V.origins < len(y))
    assert inside.all(), f"{augmenter!r} names origins that are no given rows."


def _check_pickle(augmenter: Any, data: _Data) -> None:
    X, y = data
    augmenter.fit(X, y)
    copy = pickle.loads(pickle.dumps(augmenter))
    same = _same(augmenter.sample(9, random_state=0), copy.sample(9, random_state=0))
    assert same, f"{augmenter!r} draws other rows after pickling."


def _same(first: ValidationSet, second: ValidationSet) -> bool:
    return np.array_equal(first.X, second.X) and np.array_equal(first.y, second.y)


_CHECKS: tuple[Callable[[Any, _Data], None], ...] = (
    _check_fit,
    _check_rows,
    _check_label_marginal,
    _check_seeds,
    _check_origins,
    _check_pickle,
)
