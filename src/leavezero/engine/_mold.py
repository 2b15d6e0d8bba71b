"""Unfitted models of many settings, copied from one estimator."""

import copy
from typing import Any

from sklearn.base import BaseEstimator, clone

from leavezero._random import affects_seeding, with_seed
from leavezero._typing import Params

# What a clone has beside its parameters, and may be copied with them.
_SET_BY_METHODS = {"_metadata_request", "_sklearn_output_config"}
_PLAIN = (type(None), bool, int, float, str)  # what else it was given when it was made


def configure(estimator: Any, settings: Params) -> Any:
    """Return an unfitted copy of the estimator with a candidate's parameters set."""
    # Values are copied too: an estimator in a grid must not be shared between candidates.
    values = {name: clone(value, safe=False) for name, value in settings.items()}
    return clone(estimator).set_params(**values)


class Mold:
    """An estimator, of which candidates are unfitted copies with parameters and seeds set.

    scikit-learn's ``clone`` and ``set_params`` ask for all signatures again and again, which takes
    longer than some fits. Where both do what they do for plain estimators, a seeded clone is
    copied instead, and the parameters are set where they belong; the models are the same.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> Mold(Ridge()).cast({"alpha": 3.0}, seed=7)
    Ridge(alpha=3.0, random_state=7)
    """

    def __init__(self, estimator: Any) -> None:
        self.estimator = estimator
        self._blanks: dict[int, Any] = {}  # a seeded clone for each seed
        self._owners: dict[tuple[Any, ...], dict[str, Any] | None] = {}

    def __reduce__(self) -> tuple[Any, ...]:
        return Mold, (self.estimator,)

    def cast(self, settings: Params, seed: int) -> Any:
        """Return an unfitted model with these settings, its open seeds set."""
        owners = None if _may_change_others(settings) else self._owners_of(settings, seed)
        if owners is None:
            return with_seed(configure(self.estimator, settings), seed)
        copies: dict[int, Any] = {}
        model = _copied(self._blanks[seed], copies)
        for name, value in settings.items():
            owner = copies[id(owners[name])]
            setattr(owner, name.rpartition("__")[2], clone(value, safe=False))
        return model

    def _owners_of(self, settings: Params, seed: int) -> dict[str, Any] | None:
        """Return which part of the blank has each parameter; None if it is not for us to set."""
        key = (seed, *sorted(settings))
        if key not in self._owners:
            if seed not in self._blanks:
                self._blanks[seed] = with_seed(clone(self.estimator), seed)
            self._owners[key] = _owners(self._blanks[seed], settings)
        return self._owners[key]


def _copied(blank: Any, copies: dict[int, Any]) -> Any:
    """Return a copy of a blank, and note the copies of its parts by what they were."""
    if all(isinstance(value, _PLAIN) for value in vars(blank).values()):  # nothing to share
        copies[id(blank)] = copy.copy(blank)
        return copies[id(blank)]
    return copy.deepcopy(blank, copies)


def _may_change_others(settings: Params) -> bool:
    """Tell whether a value is an estimator, which has parameters, or bears on open seeds."""
    return any(
        hasattr(value, "get_params") or affects_seeding(name, value)
        for name, value in settings.items()
    )


def _owners(blank: Any, settings: Params) -> dict[str, Any] | None:
    deep = blank.get_params(deep=True)
    parts = [part for part in (blank, *deep.values()) if hasattr(part, "get_params")]
    if not all(_is_plain(part) for part in parts):
        return None
    owners = {}
    for name in settings:
        head, _, own = name.rpartition("__")
        owner = deep.get(head) if head else blank
        plain = getattr(type(owner), "set_params", None) is BaseEstimator.set_params
        if not plain or own not in vars(owner):
            return None
        owners[name] = owner
    return owners


def _is_plain(part: Any) -> bool:
    """Tell whether a copy of an unfitted estimator is what a clone would be."""
    clones = getattr(type(part), "__sklearn_clone__", None) is BaseEstimator.__sklearn_clone__
    if not clones or hasattr(part, "__deepcopy__"):
        return False
    known = {*part.get_params(deep=False), *_SET_BY_METHODS}
    more = [value for name, value in vars(part).items() if name not in known]
    return all(isinstance(value, _PLAIN) for value in more)
