"""Which candidate is selected, how clearly, and the resampling behind the intervals."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from numbers import Real
from typing import Any, Literal, Protocol

import numpy as np
from sklearn.base import BaseEstimator

from leavezero._random import stream
from leavezero._typing import Bools, Floats, Ints, Params
from leavezero.evaluation._candidates import Key

TIED_ERRORS = 2.0  # candidates within so many standard errors of the difference are tied
N_RESAMPLES = 200
LEVEL = 0.95
NORMAL_QUANTILE = 1.96
MAX_UNITS = 1_000  # resampled one by one where rows have no source rows; more are bundled
CHUNK_CELLS = 2**18

ResampledUnits = Literal["training rows", "validation rows", "generated rows"]

# The direction that makes a model simpler, by the last part of a parameter's name.
_LOW = """
    C degree gamma hidden_layer_sizes k learning_rate max_depth max_features max_iter
    max_leaf_nodes n_components n_estimators num_leaves
"""
_HIGH = """
    alpha ccp_alpha epsilon l2_regularization min_child_samples min_child_weight
    min_impurity_decrease min_samples_leaf min_samples_split n_neighbors radius reg_alpha
    reg_lambda reg_param var_smoothing
"""
SIMPLER = dict.fromkeys(_LOW.split(), "low") | dict.fromkeys(_HIGH.split(), "high")


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores of candidates split into units: rows of the validation set, or replicates.

    A candidate's score is ``values @ weights + shift``. ``source_rows`` are the training rows that
    a unit was generated from, -1 for padding; None if they are unknown. ``n_training_rows`` is the
    size of the training data, ``rows_per_unit`` the number of validation rows in a unit.
    """

    values: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    shift: Floats = field(repr=False)
    n_training_rows: int
    rows_per_unit: int = 1
    source_rows: Ints | None = field(default=None, repr=False)
    fixed: bool = False  # the validation set was given, not generated

    @property
    def resampled_units(self) -> ResampledUnits:
        """What a bootstrap resample consists of."""
        if self.fixed:
            return "validation rows"
        return "generated rows" if self.source_rows is None else "training rows"


@dataclass(frozen=True, eq=False)
class Resamples:
    """Scores of each candidate on bootstrap resamples: on the units drawn and on those left out."""

    drawn: Floats
    left_out: Floats

    def of(self, rows: Sequence[int]) -> "Resamples":
        """Return the scores of some candidates."""
        return Resamples(self.drawn[rows], self.left_out[rows])

    def interval(self) -> tuple[Floats, Floats]:
        """Return the ends of the 95 % interval of each candidate."""
        low, high = np.quantile(self.drawn, _TAILS, axis=1)
        return low, high

    def margin(self, first: int, second: int) -> tuple[float, float]:
        """Return the 95 % interval of the difference of two candidates."""
        low, high = np.quantile(self.drawn[first] - self.drawn[second], _TAILS)
        return float(low), float(high)

    def bias_corrected_best(self) -> float:
        """Return the score of the best candidate without its selection bias.

        The bootstrap bias-corrected estimate of Tsamardinos, Greasidou and Borboudakis (2018): the
        best on the units drawn is scored on those left out.
        """
        best = np.argmax(self.drawn, axis=0)
        scores = self.left_out[best, np.arange(self.left_out.shape[1])]
        known = np.isfinite(scores)
        return float(scores[known].mean()) if known.any() else float("nan")


_TAILS = [(1 - LEVEL) / 2, (1 + LEVEL) / 2]


def resample(scores: RowScores, root: np.random.SeedSequence) -> Resamples:
    """Return scores on bootstrap resamples of training rows, or of units without source rows.

    A unit's count is the product of its source rows' counts; it is left out if none was drawn.
    """
    rng = stream(root, "resamples")
    source = None
    if scores.source_rows is not None:
        source = list(np.ascontiguousarray(scores.source_rows.T))
    weighted = _weighted_units(scores, rng)
    n_units = weighted.shape[1]
    n_drawn = n_units
    if scores.source_rows is not None:
        # With unlabeled rows, source rows may exceed the number of labeled ones.
        n_drawn = max(scores.n_training_rows, int(scores.source_rows.max(initial=-1)) + 1)
    means = np.empty((len(scores.values), N_RESAMPLES, 2))
    size = max(1, min(N_RESAMPLES, CHUNK_CELLS // max(1, n_units)))
    for start in range(0, N_RESAMPLES, size):
        counts = np.empty((min(size, N_RESAMPLES - start), 2, n_units))
        for drawn, left_out in counts:
            once = np.bincount(rng.integers(n_drawn, size=n_drawn), minlength=n_drawn)
            drawn[:], left_out[:] = _unit_counts(once, source)
        means[:, start : start + size] = _unit_means(weighted, counts)
    means += scores.shift[:, None, None]
    return Resamples(means[:, :, 0], means[:, :, 1])


def _weighted_units(scores: RowScores, rng: np.random.Generator) -> Floats:
    """Return the weighted values of each candidate, and the weights as the last row.

    Many units without source rows are put into random bundles, whose means have the same spread.
    """
    values, weights = scores.values, scores.weights
    if scores.source_rows is not None or len(weights) <= MAX_UNITS:
        return np.vstack([values * weights, weights])
    bundle = rng.permutation(len(weights)) % MAX_UNITS
    sums = [np.bincount(bundle, row * weights, MAX_UNITS) for row in values]
    return np.stack([*sums, np.bincount(bundle, weights, MAX_UNITS)])


def _unit_counts(counts: Ints, source: Sequence[Ints] | None) -> tuple[Ints, Bools]:
    """Return how often each unit was drawn, and whether it was left out."""
    if source is None:
        return counts, counts == 0
    padded = np.append(counts, 1)  # the padding -1 refers to the last entry
    drawn = [padded[rows] for rows in source]
    left_out = [(count == 0) | (rows < 0) for count, rows in zip(drawn, source, strict=True)]
    return reduce(np.multiply, drawn), reduce(np.logical_and, left_out)


def _unit_means(weighted: Floats, counts: Floats) -> Floats:
    """Return weighted means over units by their counts; NaN without any."""
    n_resamples, n_kinds, n_units = counts.shape
    sums = weighted @ counts.reshape(-1, n_units).T
    means = sums[:-1] / np.where(sums[-1] > 0, sums[-1], np.nan)
    return means.reshape(-1, n_resamples, n_kinds)


def standard_error(values: Floats, scores: RowScores) -> float:
    """Return the standard error of a mean of such values over as many rows as the training data.

    However many rows are generated, they carry no more information than the training rows, so the
    variance of a unit is scaled to that size.
    """
    weights, total = scores.weights, scores.weights.sum()
    centered = values - weights @ values / total
    variance = float(weights @ centered**2 / total)
    n_units = len(values)
    if scores.rows_per_unit > 1 and n_units > 1:  # few units: use the unbiased estimate
        variance *= n_units / (n_units - 1)
    return float(np.sqrt(variance * scores.rows_per_unit / scores.n_training_rows))


@dataclass(frozen=True, eq=False)
class Ranking:
    """What a selection rule may use; one entry for each candidate that may be selected."""

    scores: Floats  # corrected and rounded
    replicates: Floats = field(repr=False)  # one column per replicate
    params: Sequence[Params] = field(repr=False)
    keys: Sequence[Key] = field(repr=False)
    row_scores: RowScores = field(repr=False)

    @property
    def best(self) -> int:
        """The candidate with the highest score; ties go to the first in canonical order."""
        return self.first_of(np.flatnonzero(self.scores == self.scores.max()))

    def first_of(self, rows: Any) -> int:
        """Return the first of some candidates in canonical order."""
        return int(min(rows, key=lambda row: self.keys[row]))

    def within(self, distance: Floats | float) -> list[int]:
        """Return the candidates at most this much below the best, best first."""
        near = np.flatnonzero(self.scores[self.best] - self.scores <= distance)
        return sorted(near.tolist(), key=lambda row: (-self.scores[row], self.keys[row]))

    @cached_property
    def tied(self) -> list[int]:
        """The candidates statistically tied with the best, best first."""
        values = self.row_scores.values
        errors = [standard_error(values[self.best] - row, self.row_scores) for row in values]
        return self.within(TIED_ERRORS * np.array(errors))


class SelectionRule(Protocol):
    """A rule that selects one of the candidates."""

    def choose(self, ranking: Ranking) -> int:
        """Return the position of the selected candidate."""


class HighestScore:
    """Select the highest score."""

    def choose(self, ranking: Ranking) -> int:
        """Return the best."""
        return ranking.best


class Vote:
    """Select the candidate that is best in most replicates."""

    def choose(self, ranking: Ranking) -> int:
        """Count the votes; ties go to the higher score over all replicates."""
        highest = ranking.replicates.max(axis=0)
        is_best = ranking.replicates >= highest - 1e-12 * np.abs(highest)
        votes = np.zeros(len(ranking.scores))
        for replicate in is_best.T:
            votes[_best_of(ranking, np.flatnonzero(replicate))] += 1
        return _best_of(ranking, np.flatnonzero(votes == votes.max()))


class OneStandardError(BaseEstimator):
    """Select the simplest candidate within one standard error of the best (Breiman et al. 1984).

    Parameters
    ----------
    simpler : dict, callable or None, default=None
        What simpler means. A dict maps names of parameters to "low" or "high", the direction that
        makes a model simpler; with several parameters, the relative positions are added. A
        callable takes a candidate's parameters and returns a number, lower for simpler. None uses
        the common parameters of scikit-learn, XGBoost and LightGBM by the last part of their name:
        among others ``C`` and ``max_depth`` low, ``alpha`` and ``n_neighbors`` high.

    Notes
    -----
    The standard error is that of the best candidate's score on as many rows as the training data,
    whatever the size of the validation set.

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

    def choose(self, ranking: Ranking) -> int:
        """Return the simplest candidate near the best; ties go to the higher score."""
        units = ranking.row_scores
        near = ranking.within(standard_error(units.values[ranking.best], units))
        size = self._complexity(ranking)
        return min(near, key=lambda row: (size[row], -ranking.scores[row], ranking.keys[row]))

    def _complexity(self, ranking: Ranking) -> Floats:
        if callable(self.simpler):
            return np.array([self.simpler(params) for params in ranking.params], dtype=float)
        directions = SIMPLER if self.simpler is None else self.simpler
        names = sorted({name for params in ranking.params for name in params})
        last = {name: name.rpartition("__")[2] for name in names}
        known = {name: directions.get(name, directions.get(last[name])) for name in names}
        positions = [
            _relative_position([params.get(name, np.nan) for params in ranking.params], direction)
            for name, direction in known.items()
            if direction is not None
        ]
        if not positions:
            raise ValueError(
                'select="one_se" requires a parameter with a known direction of simplicity, got '
                f"{', '.join(names)}. Use select=OneStandardError(simpler={{name: "
                '"low" or "high"}).'
            )
        return np.sum(positions, axis=0)


RULES: dict[str, SelectionRule] = {
    "best": HighestScore(),
    "one_se": OneStandardError(),
    "vote": Vote(),
}


def resolve_rule(select: Any, owner: str) -> SelectionRule:
    """Return the selection rule of a name or an object."""
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
    """The selected candidate, and how clearly it was selected.

    Parameters
    ----------
    index : int
        The selected candidate's row in ``cv_results_``.
    rule : str
        The name of the selection rule.
    n_tied : int
        The number of candidates with exactly the highest score, the best included.
    tied : tuple of int
        The candidates statistically tied with the best, best first: at most two standard errors
        of the difference below it, on as many rows as the training data.
    margin : float
        The best score minus the second best.
    margin_low, margin_high : float
        Its 95 % bootstrap interval.
    standard_error : float
        Of the best score, on as many rows as the training data.
    new_data_low, new_data_high : float
        The 95 % interval of the selected candidate's score on new data: its score plus and minus
        1.96 standard errors of its leave-one-out, out-of-bag or fold score, or of the generated
        rows if it has none. The error of the bias correction itself is not part of it.
    bias_corrected_score : float
        The best score without its selection bias (Tsamardinos et al. 2018). A bias of the
        validation set itself is not removed.
    resampled_units : "training rows", "validation rows" or "generated rows"
        What the bootstrap resamples. With generated rows, intervals show how far scores depend on
        the sample of the validation set; they are no confidence intervals for the risk.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.svm import SVC
    >>> from leavezero import GridSearchLZO
    >>> X, y = load_iris(return_X_y=True)
    >>> search = GridSearchLZO(SVC(), {"gamma": [1000.0, 0.1]}, random_state=0).fit(X, y)
    >>> search.selection_.tied, search.selection_.n_tied
    ((1,), 1)
    """

    index: int
    rule: str
    n_tied: int
    tied: tuple[int, ...]
    margin: float
    margin_low: float
    margin_high: float
    standard_error: float
    new_data_low: float
    new_data_high: float
    bias_corrected_score: float
    resampled_units: ResampledUnits


def describe_selection(
    ranking: Ranking,
    resamples: Resamples,
    rows: Sequence[int],
    rule: str,
    selected: int,
    variance: float = np.nan,
) -> Selection:
    """Return the facts about a selection; ``rows`` are the candidates' rows in ``cv_results_``.

    ``variance`` is the sampling variance of the selected candidate's held-out score.
    """
    best, units = ranking.best, ranking.row_scores
    error = np.sqrt(variance)
    if not np.isfinite(error):
        error = standard_error(units.values[selected], units)
    others = [row for row in ranking.within(np.inf) if row != best]
    margin, low, high = np.nan, np.nan, np.nan
    if others:
        margin = float(ranking.scores[best] - ranking.scores[others[0]])
        low, high = resamples.margin(best, others[0])
    return Selection(
        index=rows[selected],
        rule=rule,
        n_tied=int(np.sum(ranking.scores == ranking.scores[best])),
        tied=tuple(rows[row] for row in ranking.tied),
        margin=margin,
        margin_low=low,
        margin_high=high,
        standard_error=standard_error(units.values[best], units),
        new_data_low=float(ranking.scores[selected] - NORMAL_QUANTILE * error),
        new_data_high=float(ranking.scores[selected] + NORMAL_QUANTILE * error),
        bias_corrected_score=min(resamples.bias_corrected_best(), float(ranking.scores[best])),
        resampled_units=units.resampled_units,
    )


def _best_of(ranking: Ranking, rows: Any) -> int:
    highest = np.max(ranking.scores[rows])
    return ranking.first_of([row for row in rows if ranking.scores[row] == highest])


def _relative_position(values: Sequence[Any], direction: str) -> Floats:
    """Return the position of each value between the simplest (0) and the most complex (1)."""
    sizes = np.array([_size(value) for value in values])
    order = np.unique(sizes[~np.isnan(sizes)])
    position = np.searchsorted(order, sizes) / max(1, len(order) - 1)
    position = position if direction == "low" else 1.0 - position
    return np.where(np.isnan(sizes), 0.5, position)


def _size(value: Any) -> float:
    """Return the size of a parameter's value; None means unlimited, NaN that it has no size."""
    if value is None:
        return np.inf
    if isinstance(value, tuple | list):
        return float(np.sum(value))
    return float(value) if isinstance(value, Real) else np.nan
