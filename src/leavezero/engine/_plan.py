"""Candidates in an order that does not depend on how the user listed them."""

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Number
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone

from leavezero._typing import Params


@dataclass(frozen=True)
class Candidate:
    """One configuration: parameters to set on the estimator.

    ``position`` is its place among the distinct candidates as the user listed them, ``order``
    its place in the canonical order, by which ties are broken.
    """

    params: dict[str, Any]
    position: int
    order: int


def plan(estimator: Any, proposals: Iterable[Params], owner: str) -> tuple[Candidate, ...]:
    """Return the distinct candidates in canonical order, after a check of their parameters.

    Equal candidates are one. Numbers come in increasing order, then names in alphabetical order,
    then everything else by a digest of its content.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> [c.params for c in plan(SVC(), [{"C": 10}, {"C": 1}, {"C": 10}], "a search")]
    [{'C': 1}, {'C': 10}]
    """
    distinct: dict[tuple[Any, ...], dict[str, Any]] = {}
    for params in proposals:
        key = _canonical_key(params)
        if key not in distinct:
            _check_params(estimator, params, owner)
            distinct[key] = dict(params)
    if not distinct:
        raise ValueError(f"{owner} got an empty grid. Name at least one candidate.")
    positions = {key: position for position, key in enumerate(distinct)}
    return tuple(
        Candidate(distinct[key], positions[key], order)
        for order, key in enumerate(sorted(distinct))
    )


def configure(estimator: Any, params: Params) -> Any:
    """Return an unfitted copy of the estimator with a candidate's parameters set."""
    # Values are copied too: an estimator in a grid must not be shared between candidates.
    values = {name: clone(value, safe=False) for name, value in params.items()}
    return clone(estimator).set_params(**values)


def _check_params(estimator: Any, params: Params, owner: str) -> None:
    try:
        configure(estimator, params)
    except ValueError as error:
        raise ValueError(f"{owner} cannot set {dict(params)!r}. {error}") from error


def _canonical_key(params: Params) -> tuple[Any, ...]:
    return tuple((name, *_value_key(params[name])) for name in sorted(params))


def _value_key(value: Any) -> tuple[int, Any, str]:
    """Return a key that any two values can be compared by, equal only for equal values."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Number) and not isinstance(value, complex) and value == value:
        return (0, value, type(value).__name__)
    if isinstance(value, str):
        return (1, value, "")
    try:
        return (2, joblib.hash(value), "")
    except Exception:  # pickle raises anything; a value without a digest equals itself only
        return (3, f"{value!r} {id(value)}", "")
