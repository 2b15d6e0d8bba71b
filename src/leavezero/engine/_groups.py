"""Candidates that share work and are fitted together."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

from leavezero.engine._own_rows import writes_in_place
from leavezero.engine._plan import Candidate
from leavezero.engine._strategy import Trial
from leavezero.families import Family, family_of


@dataclass(frozen=True, eq=False)
class Sharing:
    """The family that may fit a candidate together with others, and how."""

    family: Family
    shared: Any  # what they must have in common
    most: int  # of them in one task
    order: Any  # along which more are parted


# What each living candidate shares with which seed: the plan is asked for it again.
_KNOWN: WeakKeyDictionary[Candidate, tuple[int, Sharing | None]] = WeakKeyDictionary()


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
    together: dict[Any, list[tuple[Trial, Sharing | None]]] = {}
    for at, trial in enumerate(ordered):
        how = _sharing(trial, seed)
        key = (
            ("alone", at) if how is None else (how.family.name, trial.candidate.member, how.shared)
        )
        together.setdefault(key, []).append((trial, how))
    return [group for found in together.values() for group in _parts(found)]


def _parts(found: list[tuple[Trial, Sharing | None]]) -> list[Group]:
    """Return trials that share something as groups that are not too large."""
    trial, how = found[0]
    if how is None:
        return [Group((trial,))]
    if len(found) > how.most:
        found = sorted(found, key=lambda pair: pair[1].order if pair[1] is not None else 0)
    trials = [trial for trial, _ in found]
    return [
        Group(tuple(trials[start : start + how.most]), how.family)
        for start in range(0, len(trials), how.most)
    ]


def _sharing(trial: Trial, seed: int) -> Sharing | None:
    """Return how a trial may be fitted together with others; None if it may not."""
    if trial.rows is not None or trial.passes is not None:
        return None
    known = _KNOWN.get(trial.candidate)
    if known is None or known[0] != seed:
        known = (seed, _sharing_of(trial.candidate.configured(seed)))
        _KNOWN[trial.candidate] = known
    return known[1]


def _sharing_of(estimator: Any) -> Sharing | None:
    family = family_of(estimator)
    shared = None if family is None else family.shares(estimator)
    if family is None or shared is None or writes_in_place(estimator):
        return None
    return Sharing(family, shared, family.most_together(estimator), family.order_key(estimator))
