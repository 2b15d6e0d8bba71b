"""What families that fit estimators together have in common: what is equal, what is handed on."""

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping
from inspect import signature
from typing import Any
from weakref import WeakKeyDictionary

import joblib
import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Table

NOT_LEARNED = ("_metadata_request", "_sklearn_output_config")  # what users set by methods
PLAIN = (bool, int, float, str)  # values that differ where they look different
_PARAMS: WeakKeyDictionary[type, list[str]] = WeakKeyDictionary()  # names, by class
BLOCK_CELLS = 2**22  # of rows that are answered at a time: 32 MiB of float64


def settings_key(estimator: Any, *varied: str) -> Any:
    """Return what is equal for estimators of a class whose parameters differ in some only.

    None if a parameter has no digest.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> settings_key(Ridge(1.0), "alpha") == settings_key(Ridge(2.0), "alpha")
    True
    """
    others = {name: value for name, value in own_params(estimator).items() if name not in varied}
    plain = all(value is None or type(value) in PLAIN for value in others.values())
    found = repr(sorted(others.items())) if plain else digest(others)  # a digest takes longer
    return None if found is None else (type(estimator).__name__, found)


def digest(value: Any) -> str | None:
    """Return a digest of anything that can be pickled; None for the rest."""
    try:
        return str(joblib.hash(value))
    except Exception:  # pickle raises anything
        return None


def fit_each(estimators: Iterable[Any], X: Table, y: AnyArray, sample_weight: Any) -> None:
    """Fit estimators one by one, as plain fits do."""
    for estimator in estimators:
        fit_one(estimator, X, y, sample_weight)


def fit_one(estimator: Any, X: Table, y: AnyArray, sample_weight: Any) -> Any:
    """Fit an estimator, with weights only where there are any, and return it."""
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    estimator.fit(X, y, **weights)
    return estimator


def hand_on(
    source: Any, target: Any, changed: Mapping[str, Any] | None = None, shared: Iterable[Any] = ()
) -> None:
    """Give an unfitted estimator what a fitted one has learned, but for what has changed.

    Objects in ``shared`` are the same for both; all else is copied.
    """
    changed = {} if changed is None else changed
    kept = {*own_params(target), *NOT_LEARNED, *changed}
    learned = {name: value for name, value in vars(source).items() if name not in kept}
    memo: dict[int, Any] = {id(thing): thing for thing in shared}
    vars(target).update(copy.deepcopy(learned, memo), **changed)


def own_params(estimator: Any) -> dict[str, Any]:
    """Return an estimator's own parameters; scikit-learn reads all signatures at every call."""
    kind = type(estimator)
    if kind.get_params is not BaseEstimator.get_params:
        return dict(estimator.get_params(deep=False))
    if kind not in _PARAMS:
        known = signature(kind).parameters.values()
        _PARAMS[kind] = sorted(one.name for one in known if one.kind is not one.VAR_KEYWORD)
    return {name: getattr(estimator, name) for name in _PARAMS[kind]}


def is_seed(random_state: Any) -> bool:
    """Tell whether a random state gives the same stream in every fit."""
    return isinstance(random_state, int | np.integer)


def blocks_of(X: Table, cells_a_row: int) -> Iterator[Table]:
    """Yield the rows in blocks of bounded memory."""
    size = max(1, BLOCK_CELLS // max(1, cells_a_row))
    for start in range(0, count_rows(X), size):
        yield take_rows(X, slice(start, start + size))


def n_columns(X: Table) -> int:
    """Return the number of columns of a table, 1 for anything else."""
    shape = getattr(X, "shape", (0,))
    return int(np.prod(shape[1:])) if len(shape) > 1 else 1


class WhenAsked(Mapping[str, AnyArray]):
    """Answers by method, each made when it is taken.

    Examples
    --------
    >>> import numpy as np
    >>> WhenAsked(predict=lambda: np.zeros(1))["predict"].tolist()
    [0.0]
    """

    def __init__(self, **methods: Callable[[], AnyArray]) -> None:
        self._methods = methods

    def __getitem__(self, method: str) -> AnyArray:
        return self._methods[method]()

    def __contains__(self, method: object) -> bool:
        return method in self._methods

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)


def linear_scores(models: list[Any], X: Table) -> list[Floats]:
    """Return what each linear model scores, from one product with all coefficients."""
    coefs = [np.atleast_2d(model.coef_) for model in models]
    ends = np.cumsum([len(coef) for coef in coefs])
    levels = np.concatenate(
        [np.broadcast_to(m.intercept_, len(c)) for m, c in zip(models, coefs, strict=True)]
    )
    weights = np.concatenate(coefs)
    lines = np.empty((len(weights), count_rows(X)))  # a model's scores lie side by side
    start = 0
    for block in blocks_of(X, n_columns(X)):
        rows = check_array(block, accept_sparse="csr", dtype=np.float64)
        part = lines[:, start : start + rows.shape[0]]
        if sparse.issparse(rows):
            part[:] = (rows @ weights.T).T
        else:
            np.matmul(weights, rows.T, out=part)
        start += rows.shape[0]
    lines += levels[:, None]
    return [lines[end - len(coef) : end].T for end, coef in zip(ends, coefs, strict=True)]


def scored_labels(model: Any, scores: Floats) -> AnyArray:
    """Return the class of each row: the highest score, or the sign of the only one."""
    best = scores.argmax(axis=1) if scores.shape[1] > 1 else (scores[:, 0] > 0).astype(np.intp)
    return np.asarray(model.classes_)[best]
