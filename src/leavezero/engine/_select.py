"""Which candidate is chosen, and how clearly."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from numbers import Real
from typing import Any, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from leavezero._typing import Floats, Params
from leavezero.engine._plan import Key
from leavezero.engine._statistics import Resampled, Source, Witness, lead_errors, standard_error

TOLD_APART = 2.0  # standard errors of the lead beyond which a candidate is out

# Which direction of a parameter makes a model simpler, by the last part of its name.
SIMPLER: dict[str, str] = {
    "C": "low",
    "alpha": "high",
    "ccp_alpha": "high",
    "degree": "low",
    "epsilon": "high",
    "gamma": "low",
    "hidden_layer_sizes": "low",
    "k": "low",
    "l2_regularization": "high",
    "learning_rate": "low",
    "max_depth": "low",
    "max_features": "low",
    "max_iter": "low",
    "max_leaf_nodes": "low",
    "min_child_samples": "high",
    "min_child_weight": "high",
    "min_impurity_decrease": "high",
    "min_samples_leaf": "high",
    "min_samples_split": "high",
    "n_components": "low",
    "n_estimators": "low",
    "n_neighbors": "high",
    "num_leaves": "low",
    "radius": "high",
    "reg_alpha": "high",
    "reg_lambda": "high",
    "reg_param": "high",
    "var_smoothing": "high",
}


@dataclass(frozen=True, eq=False)
class Standing:
    """Everything that a rule may choose by; one entry for each candidate that may win."""

    scores: Floats  # final ones, rounded
    splits: Floats = field(repr=False)  # a column for each replicate
    params: Sequence[Params] = field(repr=False)
    keys: Sequence[Key] = field(repr=False)
    witness: Witness = field(repr=False)

    def first_of(self, rows: Any) -> int:
        """Return the first of some candidates in the order that does not depend on listing."""
        return int(min(rows, key=lambda row: self.keys[row]))

    @property
    def best(self) -> int:
        """The candidate with the highest score; ties go to the first in canonical order."""
        return self.first_of(np.flatnonzero(self.scores == self.scores.max()))

    def among(self, rows: Sequence[int], scores: Floats) -> "Standing":
        """Return the standing of some candidates with other scores."""
        return Standing(
            scores,
            self.splits[rows],
            [self.params[row] for row in rows],
            [self.keys[row] for row in rows],
            replace(self.witness, gains=self.witness.gains[rows], bias=self.witness.bias[rows]),
        )

    def moved(self, by: Floats) -> "Standing":
        """Return the standing with each candidate's score moved."""
        return replace(
            self,
            scores=self.scores + by,
            splits=self.splits + by[:, None],
            witness=replace(self.witness, bias=self.witness.bias + by),
        )

    def within(self, distances: Floats) -> list[int]:
        """Return the candidates that trail the best by no more than a distance, best first."""
        lead = self.scores[self.best] - self.scores
        near = np.flatnonzero(lead <= distances)
        return sorted(near.tolist(), key=lambda row: (-self.scores[row], self.keys[row]))

    @cached_property
    def contenders(self) -> list[int]:
        """The candidates that cannot be told from the best, best first."""
        return self.within(TOLD_APART * lead_errors(self.witness, self.best))


class Rule(Protocol):
    """A way to choose among candidates."""

    def choose(self, standing: Standing) -> int:
        """Return the position of the chosen one."""


class HighestScore:
    """The highest score wins."""

    def choose(self, standing: Standing) -> int:
        """Return the best."""
        return standing.best


class Vote:
    """Each replicate votes for its best candidate; the most votes win, then the higher score."""

    def choose(self, standing: Standing) -> int:
        """Count the votes; a tie inside a replicate goes to the higher score over all."""
        splits = standing.splits
        highest = splits.max(axis=0)
        tops = splits >= highest - 1e-12 * np.abs(highest)
        votes = np.zeros(len(splits))
        for replicate in tops.T:
            votes[_leader(standing, np.flatnonzero(replicate))] += 1
        return _leader(standing, np.flatnonzero(votes == votes.max()))


class OneStandardError(BaseEstimator):
    """Choose the simplest candidate within one standard error of the best (Breiman et al. 1984).

    Parameters
    ----------
    simpler : dict, callable or None, default=None
        What simpler means. A dict maps names of parameters to "low" or "high", the direction that
        makes a model simpler; with several, a candidate's places in each are added. A callable
        takes a candidate's parameters and returns a number, lower for simpler. None knows the
        common parameters of scikit-learn, XGBoost and LightGBM by the last part of their name:
        among others ``C`` and ``max_depth`` low, ``alpha`` and ``n_neighbors`` high.

    Notes
    -----
    The standard error is the one that the best candidate's score would have on as many rows as
    were given, whatever the size of V.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO, OneStandardError
    >>> X, y = load_iris(return_X_y=True)
    >>> grid = {"C": [0.1, 1, 10, 100]}
    >>> rule = OneStandardError(simpler={"C": "low"})
    >>> search = GridSearchLZO(SVC(), grid, select=rule, random_state=0).fit(X, y)
    >>> search.best_params_
    {'C': 1}
    """

    def __init__(
        self, simpler: Mapping[str, str] | Callable[[Params], float] | None = None
    ) -> None:
        self.simpler = simpler

    def choose(self, standing: Standing) -> int:
        """Return the simplest of those near the best; ties go to the higher score."""
        witness = standing.witness
        error = standard_error(witness.gains[standing.best], witness)
        near = standing.within(np.full(len(standing.scores), error))
        size = self._sizes(standing)
        return min(near, key=lambda row: (size[row], -standing.scores[row], standing.keys[row]))

    def _sizes(self, standing: Standing) -> Floats:
        """Return a number for each candidate, lower for simpler."""
        if callable(self.simpler):
            return np.array([self.simpler(params) for params in standing.params], dtype=float)
        directions = SIMPLER if self.simpler is None else self.simpler
        names = sorted({name for params in standing.params for name in params})
        known = {name: _direction(name, directions) for name in names}
        places = [
            _places([params.get(name, np.nan) for params in standing.params], direction)
            for name, direction in known.items()
            if direction is not None
        ]
        if not places:
            raise ValueError(
                f'select="one_se" does not know which of the parameters {", ".join(names)} make a '
                "model simpler. Give select=OneStandardError(simpler={name: "
                '"low" or "high"}).'
            )
        return np.sum(places, axis=0)


RULES: dict[str, Rule] = {"best": HighestScore(), "one_se": OneStandardError(), "vote": Vote()}


def resolve_rule(select: Any, owner: str) -> Rule:
    """Return the rule that the user named."""
    if isinstance(select, str) and select in RULES:
        return RULES[select]
    if hasattr(select, "choose"):
        return select
    raise ValueError(
        f'select of {owner} must be "best", "one_se", "vote" or an object like OneStandardError(), '
        f"got {select!r}."
    )


@dataclass(frozen=True)
class Selection:
    """How the winner was chosen, and how clearly.

    Parameters
    ----------
    index : int
        The chosen candidate's row in ``cv_results_``.
    rule : str
        By what it was chosen.
    n_tied : int
        How many candidates share the highest score, the best included.
    contenders : tuple of int
        The candidates that cannot be told from the best, best first: they trail it by at most two
        standard errors of the difference on as many rows as were given.
    margin : float
        The best score minus the second best.
    margin_low, margin_high : float
        Its 95 % interval over resamples.
    standard_error : float
        Of the best score, on as many rows as were given.
    corrected_score : float
        The best score without its luck on V (Tsamardinos et al. 2018); what V itself is off by
        stays.
    source : "origins" or "Monte Carlo"
        What the resamples draw: given rows, or, where V's rows have no origins, V's rows or
        replicates; then intervals tell how far the score depends on the draw of V, and are no
        confidence intervals for the risk.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchLZO(SVC(), {"gamma": [1000.0, 0.1]}, random_state=0).fit(X, y)
    >>> search.selection_.contenders, search.selection_.n_tied
    ((1,), 1)
    """

    index: int
    rule: str
    n_tied: int
    contenders: tuple[int, ...]
    margin: float
    margin_low: float
    margin_high: float
    standard_error: float
    corrected_score: float
    source: Source


def describe(
    standing: Standing, resampled: Resampled, rows: Sequence[int], rule: str, at: int
) -> Selection:
    """Return the facts about a choice; ``rows`` are the candidates' rows in the table."""
    best = standing.best
    others = [row for row in standing.within(np.full(len(standing.scores), np.inf)) if row != best]
    margin, low, high = np.nan, np.nan, np.nan
    if others:
        margin = float(standing.scores[best] - standing.scores[others[0]])
        low, high = resampled.margin(best, others[0])
    return Selection(
        index=rows[at],
        rule=rule,
        n_tied=int(np.sum(standing.scores == standing.scores[best])),
        contenders=tuple(rows[row] for row in standing.contenders),
        margin=margin,
        margin_low=low,
        margin_high=high,
        standard_error=standard_error(standing.witness.gains[best], standing.witness),
        corrected_score=min(resampled.corrected_best(), float(standing.scores[best])),
        source=standing.witness.source,
    )


def _leader(standing: Standing, rows: Any) -> int:
    top = np.max(standing.scores[rows])
    return standing.first_of([row for row in rows if standing.scores[row] == top])


def _direction(name: str, directions: Mapping[str, str]) -> str | None:
    return directions.get(name, directions.get(name.rpartition("__")[2]))


def _places(values: Sequence[Any], direction: str) -> Floats:
    """Return where each value stands between the simplest (0) and the most complex (1)."""
    sizes = np.array([_size(value) for value in values])
    order = np.unique(sizes[~np.isnan(sizes)])
    places = np.searchsorted(order, sizes) / max(1, len(order) - 1)
    places = places if direction == "low" else 1.0 - places
    return np.where(np.isnan(sizes), 0.5, places)


def _size(value: Any) -> float:
    """Return a number for a parameter's value; None is no limit, NaN what has no size."""
    if value is None:
        return np.inf
    if isinstance(value, tuple | list):
        return float(np.sum(value))
    return float(value) if isinstance(value, Real) else np.nan
