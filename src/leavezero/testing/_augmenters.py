"""Conformance checks of augmenters, on small data."""

import pickle
from collections.abc import Iterator
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


def check_augmenter(augmenter: Any, data: list[_Data] | None = None) -> None:
    """Raise an AssertionError if an augmenter violates a requirement of the searches.

    Parameters must survive ``clone``; ``fit`` must return the augmenter and not change the data;
    ``sample`` before ``fit`` must raise ``NotFittedError``, and after it return the requested
    number of rows with the columns, dtypes, categories, labels and label marginal of the training
    data, and missing values only if these have any; rows depend on the seed only, before and after
    pickling; ``source_rows`` are training rows.

    Parameters
    ----------
    augmenter : object with fit and sample
        Not fitted; it is cloned.
    data : list of (X, y) or None, default=None
        The data sets for the checks. None for numeric tables with classes, and every kind of
        table and target that is listed in an attribute ``takes`` of the augmenter.

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
        _check_fit(fitted, X, y)
        _check_rows(fitted, X, y)
        _check_label_marginal(fitted, y)
        _check_optional_fields(fitted, y)
        _check_seeds(fitted, y)


def _data_sets(takes: Any) -> Iterator[_Data]:
    rng, codes = np.random.default_rng(0), np.tile([0, 1], 20)
    if "text only" in takes:
        words = np.array(["red", "green", "blue", "round", "square", "long", "short"])
        yield [" ".join(rng.choice(words, 6)) for _ in codes], codes
        return
    dense = rng.normal(size=(40, 3)) + codes[:, None]
    yield dense, codes
    yield rng.normal(size=(50, 4)).astype("f"), np.repeat(["one", "three", "two"], [25, 10, 15])
    yield rng.poisson(3, size=(40, 3)), codes  # integers
    yield np.column_stack([dense, np.ones(40)]), codes  # a constant column
    yield rng.normal(size=(12, 30)), np.tile([0, 1], 6)  # more columns than rows
    if "missing values" in takes:
        yield np.where(rng.random(dense.shape) < 0.2, np.nan, dense), codes
    if "sparse matrices" in takes:
        yield sparse.random(40, 60, density=0.1, format="csr", random_state=0), codes
    if "regression targets" in takes:
        yield dense, dense @ [1.0, 2.0, 3.0] + rng.normal(size=40)
        yield dense, dense[:, :2] + rng.normal(size=(40, 2))
    if "several outputs" in takes:
        yield dense, np.column_stack([codes, np.repeat([0, 1], 20)])
    if "non-numeric columns" in takes and find_spec("pandas"):
        yield _mixed_frame(rng), codes


def _mixed_frame(rng: np.random.Generator) -> Table:
    import pandas as pd  # optional dependency

    towns = rng.choice(["Bonn", "Ulm", "Kiel"], 40).astype(object)
    towns[:4] = None
    columns = {
        "age": rng.integers(18, 80, size=40),
        "height": rng.normal(1.7, 0.1, size=40),
        "town": towns,
        "size": pd.Categorical(rng.choice(["S", "M"], 40), ["S", "M", "L"], ordered=True),
        "member": rng.random(40) < 0.5,
        "born": pd.to_datetime(rng.integers(9999, size=40), unit="D"),
    }
    return pd.DataFrame(columns)


def _check_parameters(augmenter: Any) -> None:
    copy = clone(augmenter)
    for name, value in augmenter.get_params(deep=False).items():
        kept = copy.get_params(deep=False)[name]
        plain = value is None or isinstance(value, bool | int | float | str)
        same = kept == value if plain else type(kept) is type(value)
        assert same, f"{augmenter!r} becomes {copy!r} if it is cloned."


def _check_not_fitted(augmenter: Any) -> None:
    try:
        clone(augmenter).sample(3)
    except NotFittedError:
        return
    raise AssertionError(f"{augmenter!r}.sample(3) before fit does not raise NotFittedError.")


def _check_fit(augmenter: Any, X: Table, y: AnyArray) -> None:
    X_before, y_before = pickle.loads(pickle.dumps((X, y)))
    assert augmenter.fit(X, y) is augmenter, f"{augmenter!r}.fit does not return the augmenter."
    augmenter.sample(len(y), random_state=0)
    unchanged = _equal(X, X_before) and _equal(y, y_before)
    assert unchanged, f"{augmenter!r} changes the training data."


def _check_rows(augmenter: Any, X: Table, y: AnyArray) -> None:
    for n_samples in (1, len(y), 3 * len(y) + 1):
        new = augmenter.sample(n_samples, random_state=0)
        kind = type(new).__name__
        assert isinstance(new, ValidationSet), f"{augmenter!r}.sample returns a {kind}."
        assert len(new) == n_samples, f"{augmenter!r}.sample({n_samples}) returns {len(new)} rows."
        assert count_rows(new.X) == n_samples, f"{augmenter!r} returns X and y of different length."
        _check_format(augmenter, X, new.X)
        if y.dtype.kind != "f":
            unknown = {_label(row) for row in new.y} - {_label(row) for row in y}
            assert not unknown, f"{augmenter!r} generates unknown labels: {unknown}."
        dtype = np.asarray(new.y).dtype
        assert dtype.kind == y.dtype.kind, f"{augmenter!r} turns y of {y.dtype} into {dtype}."


def _check_format(augmenter: Any, X: Table, X_new: Table) -> None:
    if isinstance(X, list):
        assert all(isinstance(row, str) for row in X_new), f"{augmenter!r} must generate strings."
        return
    kinds = f"{type(X).__name__} into {type(X_new).__name__}"
    assert isinstance(X_new, type(X)) or sparse.issparse(X), f"{augmenter!r} turns {kinds}."
    assert X_new.shape[1:] == X.shape[1:], f"{augmenter!r} changes the number of columns."
    if hasattr(X, "columns"):
        _check_frame(augmenter, X, X_new)
        return
    assert X_new.dtype == X.dtype, f"{augmenter!r} turns {X.dtype} into {X_new.dtype}."
    old, new = _cells(X), _cells(X_new)
    invalid = np.isinf(new).any() or (np.isnan(new).any() and not np.isnan(old).any())
    assert not invalid, f"{augmenter!r} generates missing or infinite values."
    constant = (old == old[0]).all(axis=0)
    unchanged = np.allclose(new[:, constant], old[0, constant])
    assert unchanged, f"{augmenter!r} changes a constant column."


def _check_frame(augmenter: Any, X: Any, X_new: Any) -> None:
    assert list(X_new.columns) == list(X.columns), f"{augmenter!r} changes the column names."
    for name in X.columns:
        old, new = X[name], X_new[name]
        assert old.dtype == new.dtype, f"{augmenter!r} turns {old.dtype} into {new.dtype}."
        complete = old.isna().any() or not new.isna().any()
        assert complete, f"{augmenter!r} generates missing values."
        if old.dtype.kind not in "iufM":
            unknown = set(new.dropna()) - set(old.dropna())
            assert not unknown, f"{augmenter!r} generates the unknown values {unknown}."


def _check_label_marginal(augmenter: Any, y: AnyArray) -> None:
    if y.dtype.kind == "f":
        return
    labels, counts = np.unique(y, axis=0, return_counts=True)
    new = augmenter.sample(10 * len(y), random_state=0)
    expected = counts * 10
    found = np.array([sum(_label(row) == _label(label) for row in new.y) for label in labels])
    tolerance = 5 * np.sqrt(expected)  # an augmenter may sample the labels at random
    close = np.all(np.abs(found - expected) <= tolerance)
    names = f"the classes {labels.tolist()}"
    assert close, f"{augmenter!r} generates {found} rows of {names} instead of {expected}."


def _check_optional_fields(augmenter: Any, y: AnyArray) -> None:
    new = augmenter.sample(2 * len(y), random_state=0)
    sources = new.source_rows
    if sources is not None:
        assert sources.ndim == 2, f"{augmenter!r} must return two-dimensional source_rows."
        inside = (sources >= -1) & (sources < len(y))
        assert inside.all(), f"{augmenter!r} returns source_rows that are not training rows."


def _check_seeds(augmenter: Any, y: AnyArray) -> None:
    first, again, other = (augmenter.sample(len(y), random_state=seed) for seed in (1, 1, 2))
    assert _same(first, again), f"{augmenter!r} generates different rows with the same seed."
    assert not _same(first, other), f"{augmenter!r} generates the same rows with another seed."
    loaded = pickle.loads(pickle.dumps(augmenter)).sample(len(y), random_state=1)
    assert _same(first, loaded), f"{augmenter!r} generates different rows after pickling."


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
