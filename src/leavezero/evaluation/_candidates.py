"""Candidates, their canonical order, and strategies that propose them round by round."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Number
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from sklearn.base import clone

from leavezero._random import with_seed
from leavezero._typing import Ints, Params
from leavezero.joint_fit import value_digest

if TYPE_CHECKING:
    from leavezero.evaluation._fit_and_score import CandidateResult

Key = tuple[Any, ...]
ESTIMATOR = "estimator"  # the name of the estimator in a search that has only one


@dataclass(frozen=True, eq=False)
class Candidate:
    """An estimator and the parameters to set on it.

    ``params`` is what users read in ``cv_results_``; ``settings`` is what is set on the estimator.
    ``key`` orders candidates: numbers in increasing order, then strings in alphabetical order, then
    everything else by a digest of its content. Ties are broken by it.
    """

    params: dict[str, Any]
    key: Key
    estimator: Any = field(repr=False)
    settings: dict[str, Any] = field(repr=False)
    estimator_name: str = ESTIMATOR

    def make_estimator(self, seed: int) -> Any:
        """Return an unfitted estimator with the parameters set; seeds of None become ``seed``."""
        return with_seed(_configured(self.estimator, self.settings), seed)


class CandidateFactory:
    """Makes candidates from parameters; equal parameters give the same object."""

    def __init__(self, owner: str) -> None:
        self._owner = owner
        self._known: dict[Key, Candidate] = {}

    def candidate(
        self,
        estimator: Any,
        settings: Params,
        params: Params | None = None,
        estimator_name: str = ESTIMATOR,
    ) -> Candidate:
        """Return the candidate with these settings; raise if a name cannot be set."""
        params = settings if params is None else params
        key = canonical_key(params)
        if key not in self._known:
            try:
                _configured(estimator, settings)
            except ValueError as error:
                raise ValueError(f"{self._owner} cannot set {dict(settings)!r}. {error}") from error
            self._known[key] = Candidate(
                dict(params), key, estimator, dict(settings), estimator_name
            )
        return self._known[key]

    @property
    def candidates(self) -> list[Candidate]:
        """All candidates so far, in the order in which they were made."""
        return list(self._known.values())


def canonical_key(params: Params) -> Key:
    """Return a sortable key of parameters, equal only for equal ones."""
    return tuple((name, *_value_key(params[name])) for name in sorted(params))


def _configured(estimator: Any, settings: Params) -> Any:
    return clone(estimator).set_params(**clone(dict(settings), safe=False))


def _value_key(value: Any) -> tuple[int, Any, str]:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Number) and not isinstance(value, complex) and value == value:
        return (0, value, type(value).__name__)
    if isinstance(value, str):
        return (1, value, "")
    digest = value_digest(value)
    # A value without a digest equals only itself.
    return (3, f"{value!r} {id(value)}", "") if digest is None else (2, digest, "")


@dataclass(frozen=True, eq=False)
class Trial:
    """A candidate to fit and score, and its row in ``cv_results_``.

    Parameters
    ----------
    candidate : candidate
        Made by the ``factory`` that ``_strategy`` of a search receives.
    row : int
        The row, counted from 0; each trial of a search has its own.
    training_rows : array of int or None, default=None
        The rows that the candidate is fitted to; None for all.
    may_win : bool, default=True
        False if it is fitted with fewer resources than the returned model must have.
    iteration : int, default=0
        The iteration of successive halving.
    columns : mapping
        Further columns of ``cv_results_``.
    context : object or None, default=None
        The context of scikit-learn's callbacks, which the search sets.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from leavezero.evaluation import CandidateFactory
    >>> from leavezero.search import Trial
    >>> factory = CandidateFactory("ListSearchLZO")
    >>> Trial(factory.candidate(SVC(), {"C": 10}), row=0).candidate.params
    {'C': 10}
    """

    candidate: Candidate
    row: int
    training_rows: Ints | None = field(default=None, repr=False)
    may_win: bool = True
    iteration: int = 0
    columns: Mapping[str, Any] = field(default_factory=dict)
    context: Any = field(default=None, repr=False)


class Strategy(Protocol):
    """Proposes trials round by round and receives their results."""

    @property
    def n_trials(self) -> int:
        """The largest possible number of trials."""

    def ask(self) -> Sequence[Trial]:
        """Return the trials of the next round; none at the end."""

    def tell(self, results: "Sequence[CandidateResult]") -> None:
        """Receive the results of the last round, in the order of its trials."""


class SingleRound:
    """The strategy of a search that proposes all candidates in one round.

    Parameters
    ----------
    candidates : list of candidates
        Made by the ``factory`` that ``_strategy`` of a search receives.

    Examples
    --------
    >>> from sklearn.svm import SVC
    >>> from leavezero.evaluation import CandidateFactory
    >>> from leavezero.search import SingleRound
    >>> factory = CandidateFactory("ListSearchLZO")
    >>> strategy = SingleRound([factory.candidate(SVC(), {"C": c}) for c in (1, 10)])
    >>> [trial.row for trial in strategy.ask()]
    [0, 1]
    """

    def __init__(self, candidates: Sequence[Candidate]) -> None:
        self._trials = [Trial(candidate, row) for row, candidate in enumerate(candidates)]
        self.n_trials = len(self._trials)

    def ask(self) -> Sequence[Trial]:
        """Return all trials at the first call."""
        trials, self._trials = self._trials, []
        return trials

    def tell(self, results: "Sequence[CandidateResult]") -> None:
        """Ignore the results: there is only one round."""
