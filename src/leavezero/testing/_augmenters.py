"""What every augmenter promises, checked on small data."""

import pickle
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Table
from leavezero.augment import ValidationSet

_Data = tuple[Table, AnyArray]
_PLAIN = (bool, int, float, str, type(None))


def check_augmenter(augmenter: Any, data: list[_Data] | None = None) -> None:
    """Raise an AssertionError with a sentence if an augmenter breaks a promise.

    The promises are: parameters are stored unchanged and survive ``clone``; ``fit`` returns the
    augmenter and leaves the data alone; ``sample`` before ``fit`` raises ``NotFittedError``; it
    returns as many rows as asked for, with the columns, the dtypes, the categories and the labels
    of the data, and no missing cell where the data have none; each class has its share of the
    rows; one seed repeats, two seeds differ; origins point at given rows; soft labels are
    probabilities; a fitted augmenter survives pickling.

    Parameters
    ----------
    augmenter : object with fit and sample
        Not fitted; it is copied.
    data : list of (X, y) or None, default=None
        What to try it on. None is numbers with classes, and every kind of table and target that
        the augmenter declares in an attribute ``takes``.

    Examples
    --------
    >>> from leavezero import LabelInvariantMixup
    >>> from leavezero.testing import check_augmenter
    >>> check_augmenter(LabelInvariantMixup(alpha=0.5))
    """
    _check_parameters(augmenter)
    _check_not_fitted(augmenter)
    for X, y in _data_sets(getattr(augmenter, "takes", ())) if data is None else data:
        fitted = clone(augmenter)
        _check_fit(fitted, (X, y))
        for check in _CHECKS:
            check(fitted, (X, y))


def _data_sets(takes: Any) -> Iterator[_Data]:
    """Yield small data of every kind that an augmenter declares."""
    rng = np.random.default_rng(0)
    codes = np.tile([0, 1], 20)
    if "text only" in takes:
        words = np.array(["red", "green", "blue", "round", "square", "long", "short"])
        yield [" ".join(rng.choice(words, 6)) for _ in codes], codes
        return
    dense = rng.normal(size=(40, 3)) + codes[:, None]
    labels = np.repeat(["one", "three", "two"], [25, 10, 15])
    yield dense, codes
    yield rng.normal(size=(50, 4)).astype(np.float32), labels
    yield rng.poisson(3, size=(40, 3)), codes  # whole numbers
    yield np.column_stack([dense, np.ones(40)]), codes  # a constant column
    yield rng.normal(size=(12, 30)), np.tile([0, 1], 6)  # more columns than rows
    if "missing cells" in takes:
        yield np.where(rng.random(dense.shape) < 0.2, np.nan, dense), codes
    if "a sparse matrix" in takes:
        yield sparse.random(40, 60, density=0.1, format="csr", random_state=0), codes
    if "numbers as y" in takes:
        yield dense, dense @ [1.0, 2.0, 3.0] + rng.normal(size=40)
        yield dense, dense[:, :2] + rng.normal(size=(40, 2))
    if "several outputs" in takes:
        yield dense, np.column_stack([codes, np.repeat([0, 1], 20)])
    if "columns that are not numbers" in takes and find_spec("pandas"):
        yield _people(rng), codes


def _people(rng: np.random.Generator) -> Table:
    import pandas as pd  # installed, as was asked

    towns = rng.choice(["Bonn", "Ulm", "Kiel"], 40).astype(object)
    towns[:4] = None
    return pd.DataFrame(
        {
            "age": rng.integers(18, 80, size=40),
            "height": rng.normal(1.7, 0.1, size=40),
            "town": towns,
            "size": pd.Categorical(rng.choice(["S", "M"], 40), ["S", "M", "L"], ordered=True),
            "member": rng.random(40) < 0.5,
            "born": pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(9999, size=40), "D"),
        }
    )


def _check_parameters(augmenter: Any) -> None:
    copy = clone(augmenter)
    for name, value in augmenter.get_params(deep=False).items():
        kept = copy.get_params(deep=False)[name]
        same = kept == value if isinstance(value, _PLAIN) else type(kept) is type(value)
        assert same, f"{augmenter!r} becomes {copy!r} when it is cloned."


def _check_not_fitted(augmenter: Any) -> None:
    try:
        clone(augmenter).sample(3)
    except NotFittedError:
        return
    raise AssertionError(f"{augmenter!r}.sample(3) before fit does not raise NotFittedError.")


def _check_fit(augmenter: Any, data: _Data) -> None:
    X, y = data
    X_before, y_before = pickle.loads(pickle.dumps((X, y)))
    assert augmenter.fit(X, y) is augmenter, f"{augmenter!r}.fit does not return the augmenter."
    augmenter.sample(len(y), random_state=0)
    unchanged = _equal(X, X_before) and _equal(y, y_before)
    assert unchanged, f"{augmenter!r} changes the data that it is fitted on."


def _check_rows(augmenter: Any, data: _Data) -> None:
    X, y = data
    for n_samples in (1, len(y), 3 * len(y) + 1):
        V = augmenter.sample(n_samples, random_state=0)
        assert isinstance(V, ValidationSet), f"{augmenter!r}.sample returns a {type(V).__name__}."
        assert len(V) == n_samples, f"{augmenter!r}.sample({n_samples}) returns {len(V)} rows."
        assert count_rows(V.X) == n_samples, f"{augmenter!r} has other numbers of rows in X and y."
        _check_format(augmenter, X, V.X)
        if y.dtype.kind != "f":
            strangers = {_label(row) for row in V.y} - {_label(row) for row in y}
            assert not strangers, f"{augmenter!r} invents labels: {strangers}."
        new = np.asarray(V.y).dtype
        assert new.kind == y.dtype.kind, f"{augmenter!r} turns y of {y.dtype} into {new}."


def _check_format(augmenter: Any, X: Table, X_new: Table) -> None:
    if isinstance(X, list):
        assert all(isinstance(row, str) for row in X_new), f"{augmenter!r} draws no strings."
        return
    assert isinstance(X_new, type(X)) or sparse.issparse(X), (
        f"{augmenter!r} turns {type(X).__name__} into {type(X_new).__name__}."
    )
    assert X_new.shape[1:] == X.shape[1:], f"{augmenter!r} changes the columns."
    if hasattr(X, "columns"):
        assert list(X_new.columns) == list(X.columns), f"{augmenter!r} changes the names."
        for name in X.columns:
            old, new = X[name], X_new[name]
            assert old.dtype == new.dtype, f"{augmenter!r} turns {old.dtype} into {new.dtype}."
            assert old.isna().any() or not new.isna().any(), f"{augmenter!r} invents gaps."
            if old.dtype.kind not in "iufM":
                strangers = set(new.dropna()) - set(old.dropna())
                assert not strangers, f"{augmenter!r} invents the values {strangers}."
        return
    assert X_new.dtype == X.dtype, f"{augmenter!r} turns {X.dtype} into {X_new.dtype}."
    given, new = _cells(X), _cells(X_new)
    assert not np.isinf(new).any(), f"{augmenter!r} invents missing or infinite cells."
    if not np.isnan(given).any():
        assert not np.isnan(new).any(), f"{augmenter!r} invents missing or infinite cells."
    constant = (given == given[0]).all(axis=0)
    same = np.allclose(new[:, constant], given[0, constant])
    assert same, f"{augmenter!r} changes a constant column."


def _check_label_marginal(augmenter: Any, data: _Data) -> None:
    _, y = data
    if y.dtype.kind == "f":
        return
    labels, counts = np.unique(y, axis=0, return_counts=True)
    V = augmenter.sample(10 * len(y), random_state=0)
    soft = V.posterior
    if soft is not None:
        drawn = soft.sum(axis=0)
    else:
        drawn = np.array([sum(_label(row) == _label(label) for row in V.y) for label in labels])
    expected = counts * 10
    # An augmenter may draw labels at random, or from what it learned; then counts spread.
    slack = 5 * np.sqrt(expected) if soft is None else 0.35 * len(V)
    assert np.all(np.abs(drawn - expected) <= slack), (
        f"{augmenter!r} draws {drawn} rows of classes {labels.tolist()} where {expected} are "
        "expected."
    )


def _check_posterior(augmenter: Any, data: _Data) -> None:
    _, y = data
    V = augmenter.sample(2 * len(y), random_state=0)
    if V.posterior is None:
        return
    proper = np.all(V.posterior >= 0) and np.allclose(V.posterior.sum(axis=1), 1)
    assert proper, f"{augmenter!r} gives soft labels that are no probabilities."
    fits = V.posterior.shape[1] == len(np.unique(y))
    assert fits, f"{augmenter!r} gives soft labels without a column for each class."


def _check_seeds(augmenter: Any, data: _Data) -> None:
    _, y = data
    first, again, other = (augmenter.sample(len(y), random_state=s) for s in (1, 1, 2))
    assert _same(first, again), f"{augmenter!r} draws other rows with the same seed."
    assert not _same(first, other), f"{augmenter!r} draws the same rows with another seed."


def _check_origins(augmenter: Any, data: _Data) -> None:
    _, y = data
    V = augmenter.sample(2 * len(y), random_state=0)
    if V.origins is None:
        return
    assert V.origins.ndim == 2, f"{augmenter!r} must give origins with a row for each new row."
    inside = (V.origins >= -1) & (V.origins < len(y))
    assert inside.all(), f"{augmenter!r} names origins that are no given rows."


def _check_pickle(augmenter: Any, data: _Data) -> None:
    copy = pickle.loads(pickle.dumps(augmenter))
    same = _same(augmenter.sample(9, random_state=0), copy.sample(9, random_state=0))
    assert same, f"{augmenter!r} draws other rows after pickling."


def _same(first: ValidationSet, second: ValidationSet) -> bool:
    return _equal(first.X, second.X) and _equal(first.y, second.y)


def _equal(first: Any, second: Any) -> bool:
    if hasattr(first, "equals"):
        return bool(first.equals(second))
    if isinstance(first, list) or getattr(first, "dtype", np.dtype(float)).kind in "OUS":
        return list(map(_label, first)) == list(map(_label, second))
    return np.array_equal(_cells(first), _cells(second), equal_nan=True)


def _cells(X: Any) -> AnyArray:
    return np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=np.float64)


def _label(row: Any) -> Any:
    return tuple(row.tolist()) if isinstance(row, np.ndarray) else row


_CHECKS: tuple[Callable[[Any, _Data], None], ...] = (
    _check_rows,
    _check_label_marginal,
    _check_posterior,
    _check_seeds,
    _check_origins,
    _check_pickle,
)
