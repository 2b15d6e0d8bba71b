"""Candidates that share work and are fitted together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from leavezero.engine._plan import Candidate
from leavezero.engine._strategy import Trial
from leavezero.families import Family, family_of

# What each living candidate shares with which seed: the plan is asked for it again.
_KNOWN: WeakKeyDictionary[Candidate, tuple[int, tuple[Family | None, Any]]] = WeakKeyDictionary()


@dataclass(frozen=True, eq=False)
class Group:
    """Trials that are one task, and the family that fits them where they are several."""

    trials: tuple[Trial, ...]
    family: Any = None

    @property
    def shares(self) -> bool:
        """Whether its family fits and asks the models, not each by itself."""
        several = len(self.trials) > 1
        return self.family is not None and (several or self.family.pays_alone)


@dataclass(frozen=True)
class Task:
    """Candidates that are fitted together, or one that is fitted by itself.

    Parameters
    ----------
    candidates : tuple of int
        Their rows in the table of results.
    family : str or None
        The family that does for all of them at once what they share; None where nothing is shared.

    Examples
    --------
    >>> from leavezero.engine import Task
    >>> Task((0, 2), "boosting").candidates
    (0, 2)
    """

    candidates: tuple[int, ...]
    family: str | None = None


def plan_of(trials: Sequence[Trial], seed: int) -> tuple[Task, ...]:
    """Return the tasks of a search, those with most candidates first."""
    return tuple(
        Task(
            tuple(sorted(trial.row for trial in group.trials)),
            None if len(group.trials) == 1 else group.family.name,
        )
        for group in longest_first(groups_of(trials, seed))
    )


def longest_first(groups: Sequence[Group]) -> list[Group]:
    """Return groups in the order in which several workers are done soonest."""
    return sorted(groups, key=lambda group: -len(group.trials))


def groups_of(trials: Sequence[Trial], seed: int) -> list[Group]:
    """Return all trials in groups, both in an order that depends on the candidates only."""
    ordered = sorted(trials, key=lambda trial: trial.candidate.key)
    together: dict[Any, list[Trial]] = {}
    families: dict[Any, Family] = {}
    for at, trial in enumerate(ordered):
        family, shared = _shared(trial, seed)
        key = ("alone", at) if family is None else (family.name, trial.candidate.member, shared)
        together.setdefault(key, []).append(trial)
        if family is not None:
            families[key] = family
    return [
        Group(tuple(part), families.get(key))
        for key, found in together.items()
        for part in _parts(found, families.get(key), seed)
    ]


def _parts(trials: list[Trial], family: Family | None, seed: int) -> list[list[Trial]]:
    """Return the trials of a group in parts that are not too large."""
    if family is None:
        return [trials]
    most = family.most_together(trials[0].candidate.configured(seed))
    if len(trials) > most:
        trials = sorted(trials, key=lambda t: family.order_key(t.candidate.configured(seed)))
    return [trials[start : start + most] for start in range(0, len(trials), most)]


def _shared(trial: Trial, seed: int) -> tuple[Family | None, Any]:
    """Return the family that may fit a trial together with others, and what they must share."""
    if trial.rows is not None or trial.passes is not None:
        return None, None
    known = _KNOWN.get(trial.candidate)
    if known is None or known[0] != seed:
        estimator = trial.candidate.configured(seed)
        family = family_of(estimator)
        shared = None if family is None else family.shares(estimator)
        known = (seed, (None, None) if shared is None else (family, shared))
        _KNOWN[trial.candidate] = known
    return known[1]
