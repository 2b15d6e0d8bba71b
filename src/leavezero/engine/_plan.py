"""Candidates with a key that does not depend on how the user listed them."""

from dataclasses import dataclass, field
from numbers import Number
from typing import Any

import joblib
import numpy as np

from leavezero._typing import Params
from leavezero.engine._mold import Mold, configure

Key = tuple[Any, ...]
ESTIMATOR = "estimator"  # the member of a search with one estimator


@dataclass(frozen=True, eq=False)
class Candidate:
    """One configuration: an estimator, and the parameters to set on it.

    ``params`` is what users read; it may name more than is set. ``key`` orders candidates: numbers
    come in increasing order, then names in alphabetical order, then everything else by a digest of
    its content. Ties are broken by it.
    """

    params: dict[str, Any]
    key: Key
    mold: Mold = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    member: str = ESTIMATOR  # which of a search's estimators it is

    @property
    def estimator(self) -> Any:
        """The estimator as it was given."""
        return self.mold.estimator

    def configured(self, seed: int) -> Any:
        """Return an unfitted model, its open seeds set."""
        return self.mold.cast(self.settings, seed)


class Planner:
    """Makes candidates of parameters; equal candidates are one.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> planner = Planner("a search")
    >>> first = planner.candidate(SVC(), {"C": 10})
    >>> planner.candidate(SVC(), {"C": 10}) is first
    True
    """

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._known: dict[Key, Candidate] = {}
        self._settable: set[tuple[str, ...]] = set()  # names that a member has, one after another
        self._molds: dict[int, Mold] = {}  # by the estimator, which each holds

    def candidate(
        self,
        estimator: Any,
        settings: Params,
        params: Params | None = None,
        member: str = ESTIMATOR,
    ) -> Candidate:
        """Return the candidate with these settings, after a check of their names."""
        params = settings if params is None else params
        key = canonical_key(params)
        if key not in self._known:
            self._check(estimator, settings, member)
            mold = self._molds.setdefault(id(estimator), Mold(estimator))
            self._known[key] = Candidate(dict(params), key, mold, dict(settings), member)
        return self._known[key]

    def _check(self, estimator: Any, settings: Params, member: str) -> None:
        """Set the parameters once; again only where an estimator among them may have others."""
        names = (member, *sorted(settings))
        if names not in self._settable:
            _check_settings(estimator, settings, self._owner)
        if not any(hasattr(value, "get_params") for value in settings.values()):
            self._settable.add(names)

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates so far, in the order in which they were first named."""
        return list(self._known.values())


def canonical_key(params: Params) -> Key:
    """Return what two candidates are compared by; equal only for equal ones."""
    return tuple((name, *_value_key(params[name])) for name in sorted(params))


def _check_settings(estimator: Any, settings: Params, owner: str) -> None:
    try:
        configure(estimator, settings)
    except ValueError as error:
        raise ValueError(f"{owner} cannot set {dict(settings)!r}. {error}") from error


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
