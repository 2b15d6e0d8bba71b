"""From the results of candidates to ``cv_results_``, intervals and the selection."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from numbers import Real
from typing import Any, Literal, Protocol

import numpy as np
from scipy.stats import rankdata
from sklearn.base import BaseEstimator

from leavezero._random import stream
from leavezero._typing import Bools, Floats, Ints, Params
from leavezero.diagnostics import CandidateScores
from leavezero.evaluation._bias_correction import corrected_scores
from leavezero.evaluation._candidates import Candidate, Key
from leavezero.evaluation._fit_and_score import CandidateResult, common_metric
from leavezero.evaluation._run import Run
from leavezero.evaluation._scoring import (
    mean_scores,
    rounded,
    row_weights,
)

TIED_ERRORS = 2.0  # candidates within so many standard errors of the difference are tied
N_RESAMPLES = 200
TAILS = (0.025, 0.975)  # of 95 % intervals
NORMAL_QUANTILE = 1.96
MAX_UNITS = 1_000  # resampled one by one where rows have no source rows; more are bundled
CHUNK_CELLS = 2**18

ResampledUnits = Literal["training rows", "validation rows", "generated rows"]

# The direction that makes a model simpler, by the last part of a parameter's name.
_LOW = """
    C degree gamma hidden_layer_sizes k learning_rate max_depth max_features max_iter
    max_leaf_nodes n_clusters n_components n_estimators num_leaves
"""
_HIGH = """
    alpha ccp_alpha epsilon l2_regularization min_child_samples min_child_weight
    min_impurity_decrease min_samples_leaf min_samples_split n_neighbors radius reg_alpha
    reg_lambda reg_param var_smoothing
"""
SIMPLER = dict.fromkeys(_LOW.split(), "low") | dict.fromkeys(_HIGH.split(), "high")


# Resampling


@dataclass(frozen=True, eq=False)
class RowScores:
    """Scores of candidates split into units: rows of the validation set, or replicates.

    A candidate's score is ``values @ weights + shift``, NaN if it has none. ``source_rows`` are the
    training rows that a unit was generated from, -1 for padding; None if they are unknown.
    ``n_training_rows`` is the size of the training data, ``rows_per_unit`` the number of validation
    rows in a unit.
    """

    values: Floats = field(repr=False)
    weights: Floats = field(repr=False)
    shift: Floats = field(repr=False)
    n_training_rows: int
    rows_per_unit: int = 1
    source_rows: Ints | None = field(default=None, repr=False)
    fixed: bool = False  # the validation set was given, not generated

    def of(self, rows: Sequence[int]) -> "RowScores":
        """Return the scores of some candidates."""
        return replace(self, values=self.values[rows], shift=self.shift[rows])

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

    def margin(self, first: int, second: int) -> Floats:
        """Return the 95 % interval of the difference of two candidates."""
        return np.asarray(np.quantile(self.drawn[first] - self.drawn[second], TAILS))

    def bias_corrected_best(self) -> float:
        """Return the score of the best candidate without its selection bias.

        The bootstrap bias-corrected estimate of Tsamardinos, Greasidou and Borboudakis (2018): the
        best on the units drawn is scored on those left out. The median over resamples replaces
        their mean: R2 of an unstable candidate, which is the best on few of them, has no bound.
        """
        best = np.argmax(self.drawn, axis=0)
        scores = self.left_out[best, np.arange(self.left_out.shape[1])]
        known = np.isfinite(scores)
        return float(np.median(scores[known])) if known.any() else float("nan")


def resample(scores: RowScores, root: np.random.SeedSequence) -> Resamples:
    """Return scores on bootstrap resamples of training rows, or of units without source rows.

    A unit's count is the product of its source rows' counts; it is left out if none was drawn.
    """
    rng = stream(root, "resamples")
    weighted = _weighted_units(scores, rng)
    n_units = weighted.shape[1]
    source, n_drawn = None, n_units
    if scores.source_rows is not None:
        source = list(np.ascontiguousarray(scores.source_rows.T))
        # With unlabeled rows, source rows may exceed the number of labeled ones.
        n_drawn = max(scores.n_training_rows, int(scores.source_rows.max(initial=-1)) + 1)
    means = np.empty((len(scores.values), N_RESAMPLES, 2))
    size = max(1, min(N_RESAMPLES, CHUNK_CELLS // max(1, n_units)))
    for start in range(0, N_RESAMPLES, size):
        counts = np.empty((min(size, N_RESAMPLES - start), 2, n_units))
        for drawn, left_out in counts:
            once = np.bincount(rng.integers(n_drawn, size=n_drawn), minlength=n_drawn)
            drawn[:], left_out[:] = _unit_counts(once, source)
        sums = weighted @ counts.reshape(-1, n_units).T
        totals = np.where(sums[-1] > 0, sums[-1], np.nan)  # NaN without any unit
        means[:, start : start + size] = (sums[:-1] / totals).reshape(-1, len(counts), 2)
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


# Rules


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
        """The candidate with the highest score."""
        return self.best_of(range(len(self.scores)))

    def best_of(self, rows: Iterable[int]) -> int:
        """Return the best of some candidates; ties go to the first in canonical order."""
        return min(rows, key=lambda row: (-self.scores[row], self.keys[row]))

    def within(self, distance: Floats | float) -> list[int]:
        """Return the candidates at most this much below the best, best first."""
        near = np.flatnonzero(self.scores[self.best] - self.scores <= distance)
        return sorted(near.tolist(), key=lambda row: (-self.scores[row], self.keys[row]))

    @cached_property
    def tied(self) -> list[int]:
        """The candidates statistically tied with the best, best first."""
        values = self.row_scores.values
        best = values[self.best]
        errors = [standard_error(best - row, self.row_scores) for row in values]
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
            votes[ranking.best_of(np.flatnonzero(replicate).tolist())] += 1
        return ranking.best_of(np.flatnonzero(votes == votes.max()).tolist())


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
        The 95 % interval of the selected candidate's score on new data, ``low_test_score`` and
        ``high_test_score`` in ``cv_results_``: its score plus and minus 1.96 standard errors of its
        leave-one-out, out-of-bag or fold score, or of the generated rows if it has none. The error
        of the bias correction is not part of it, so that it contains the score on new data less
        often than in 95 % of searches.
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
    interval: tuple[float, float],
) -> Selection:
    """Return the facts about a selection; ``rows`` are the candidates' rows in ``cv_results_``."""
    best, units = ranking.best, ranking.row_scores
    margin, low, high = np.nan, np.nan, np.nan
    if len(ranking.scores) > 1:
        second = next(row for row in ranking.within(np.inf) if row != best)
        margin = float(ranking.scores[best] - ranking.scores[second])
        low, high = resamples.margin(best, second).tolist()
    return Selection(
        index=rows[selected],
        rule=rule,
        n_tied=int(np.sum(ranking.scores == ranking.scores[best])),
        tied=tuple(rows[row] for row in ranking.tied),
        margin=margin,
        margin_low=low,
        margin_high=high,
        standard_error=standard_error(units.values[best], units),
        new_data_low=interval[0],
        new_data_high=interval[1],
        bias_corrected_score=min(resamples.bias_corrected_best(), float(ranking.scores[best])),
        resampled_units=units.resampled_units,
    )


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


# The table of results


@dataclass(frozen=True, eq=False)
class Selected:
    """``cv_results_``, the selection if a metric made one, and what diagnostics need."""

    table: dict[str, Any]
    selection: Selection | None = None
    scores: CandidateScores | None = None
    candidates: tuple[Candidate, ...] = ()  # that ``scores`` refer to

    def best_candidates(self, n: int) -> tuple[Candidate, ...]:
        """Return the selected candidate and the best of the others."""
        scores = self.scores
        assert scores is not None
        others = [at for at in np.argsort(-scores.scores, kind="stable") if at != scores.best]
        return tuple(self.candidates[at] for at in [scores.best, *others][:n])


def select(
    run: Run,
    results: Sequence[CandidateResult],
    rule: SelectionRule,
    root: np.random.SeedSequence,
) -> Selected:
    """Return the table of results and the selected candidate.

    There is no selection if no candidate has a finite score.
    """
    table = _candidate_columns(results)
    found = {name: _add_metric(table, run, results, name, root) for name in _metric_names(results)}
    if run.use_loo:
        table["loo_method"] = np.array([r.loo.method for r in results], dtype=object)
        table["loo_note"] = np.array([r.loo.note for r in results], dtype=object)
    rows = _selectable_rows(results)
    if run.main_metric is None or not rows:
        return Selected(table)
    able, name = [results[row] for row in rows], run.main_metric
    units, resamples = found[name][0].of(rows), found[name][1].of(rows)
    ranking = Ranking(
        np.array([result.main_score for result in able]),
        np.array([result.scores[name].replicates for result in able]) + units.shift[:, None],
        [result.trial.candidate.params for result in able],
        [result.trial.candidate.key for result in able],
        units,
    )
    selected = rule.choose(ranking)
    low, high = (float(table[f"{end}_test_{name}"][rows[selected]]) for end in ("low", "high"))
    selection = describe_selection(
        ranking, resamples, rows, type(rule).__name__, selected, (low, high)
    )
    scores = CandidateScores(
        metric=common_metric(run, able, name).name,
        params=ranking.params,
        scores=ranking.scores,
        resampled=resamples.drawn,
        validation=mean_scores([r.scores for r in able], name)
        if run.use_validation_set
        else np.full(len(able), np.nan),
        held_out=np.array([result.held_out(name)[0] for result in able]),
        best=selected,
        tied=tuple(ranking.tied),
        bias_corrected=selection.bias_corrected_score,
        standard_error=selection.standard_error,
        cross_validated=bool(run.folds or able[selected].cv),
    )
    return Selected(table, selection, scores, tuple(result.trial.candidate for result in able))


def _candidate_columns(results: Sequence[CandidateResult]) -> dict[str, Any]:
    """Return the columns that do not depend on a metric, with scikit-learn's names."""
    columns: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        columns[f"mean_{name}"] = np.array([getattr(result, name) for result in results])
        columns[f"std_{name}"] = np.zeros(len(results))  # there is one fit per candidate
    for name in dict.fromkeys(name for result in results for name in result.trial.columns):
        columns[name] = np.array([result.trial.columns[name] for result in results])
    params = [result.trial.candidate.params for result in results]
    return columns | param_columns(params) | {"params": params}


def _add_metric(
    table: dict[str, Any],
    run: Run,
    results: Sequence[CandidateResult],
    name: str,
    root: np.random.SeedSequence,
) -> tuple[RowScores, Resamples]:
    """Add the columns of one metric; return the scores of rows and of bootstrap resamples."""
    n_splits = run.replicates.n_replicates
    error_score = np.nan if run.error_score == "raise" else run.error_score
    missing = np.full(n_splits, error_score, dtype=np.float64)
    splits = np.array([r.scores[name].replicates if name in r.scores else missing for r in results])
    validation = mean_scores([result.scores for result in results], name)
    corrected = _corrected(run, results, name)
    means = np.where(np.isnan(corrected), splits.mean(axis=1), corrected)
    splits = splits + (means - splits.mean(axis=1))[:, None]
    units = _row_scores(run, results, name, corrected - validation)
    errors = _score_errors(results, name, units)
    table |= {f"split{r}_test_{name}": column for r, column in enumerate(splits.T)}
    table[f"mean_test_{name}"] = means
    # Replicates vary less than folds of the training rows: the standard deviation is the one for
    # which its quotient by the root of the number of splits is the standard error of the mean.
    table[f"std_test_{name}"] = splits.std(axis=1) if run.folds else np.sqrt(n_splits) * errors
    table[f"rank_test_{name}"] = _ranks(means)
    if run.use_validation_set:
        table[f"mean_validation_{name}"] = validation
    if run.use_loo:
        table[f"mean_loo_{name}"] = mean_scores([r.loo.scores for r in results], name)
    if any(result.cv for result in results):
        table[f"mean_cv_{name}"] = mean_scores([r.cv for r in results], name)
    if any(result.train_scores for result in results):
        known = [r.train_scores.get(name, error_score) for r in results]
        train = np.array([np.broadcast_to(one, n_splits) for one in known], dtype=float)
        table |= {f"split{r}_train_{name}": column for r, column in enumerate(train.T)}
        table[f"mean_train_{name}"] = np.array([np.mean(one) for one in known])
        table[f"std_train_{name}"] = np.array([np.std(one) for one in known])
    metric = common_metric(run, results, name)
    for end, sign in (("low", -1), ("high", 1)):
        values = means + sign * NORMAL_QUANTILE * errors
        table[f"{end}_test_{name}"] = np.clip(values, metric.lowest, metric.highest)
    return units, resample(units, root)


def _corrected(run: Run, results: Sequence[CandidateResult], name: str) -> Floats:
    if name == run.main_metric:  # computed after each round
        return np.array([result.corrected_score for result in results])
    if not run.use_validation_set:
        return mean_scores([result.scores for result in results], name)
    return corrected_scores(run, results, name)


def _score_errors(results: Sequence[CandidateResult], name: str, units: RowScores) -> Floats:
    """Return the standard errors of held-out scores; without one, that of the generated rows."""
    errors = np.nan_to_num([standard_error(values, units) for values in units.values])
    variances = np.array([result.held_out(name)[1] for result in results])
    return np.where(np.isnan(variances), errors, np.sqrt(variances))


def _metric_names(results: Sequence[CandidateResult]) -> list[str]:
    """Return the names of all metrics, in the order in which they were given."""
    names = dict.fromkeys(name for result in results for name in result.scores)
    return list(names | dict.fromkeys(n for result in results for n in result.scoring_errors))


def _ranks(scores: Floats) -> Ints:
    """Return 1 for the highest score; ties share the better rank, NaN comes last."""
    comparable = [-np.inf if np.isnan(score) else rounded(score) for score in scores]
    return rankdata(-np.array(comparable), method="min").astype(np.int32)


def param_columns(params: list[dict[str, Any]]) -> dict[str, Any]:
    """Return a masked column for each parameter that any candidate sets."""
    columns = {}
    for name in dict.fromkeys(name for row in params for name in row):
        present = [name in row for row in params]
        values = [row[name] for row in params if name in row]
        column = np.ma.MaskedArray(
            np.empty(len(params), dtype=_common_dtype(values)), mask=np.logical_not(present)
        )
        for at, value in zip(np.flatnonzero(present), values, strict=True):
            column[at] = value
        columns[f"param_{name}"] = column
    return columns


def _common_dtype(values: list[Any]) -> Any:
    if all(isinstance(value, bool | np.bool_) for value in values):
        return np.bool_
    is_number = [isinstance(v, int | float | np.number) and not isinstance(v, bool) for v in values]
    if all(is_number):
        return np.result_type(*[np.asarray(value) for value in values])
    return object


def _selectable_rows(results: Sequence[CandidateResult]) -> list[int]:
    """Return the rows that may be selected.

    If a search ends before the last round of halving, those are the rows of the last round begun.
    """
    scored = [row for row, result in enumerate(results) if np.isfinite(result.main_score)]
    able = [row for row in scored if results[row].trial.may_win]
    if able:
        return able
    last = max((results[row].trial.iteration for row in scored), default=0)
    return [row for row in scored if results[row].trial.iteration == last]


def _row_scores(
    run: Run, results: Sequence[CandidateResult], name: str, shift: Floats
) -> RowScores:
    """Return the scores by row, or by replicate if the score is no mean over rows."""
    rows, fixed = run.replicates.rows, run.replicates.fixed
    n_training_rows = len(rows) if fixed else run.n_labeled
    scores = [result.scores.get(name) for result in results]
    if any(one is not None and one.per_row is None for one in scores):
        n_units = run.replicates.n_replicates
        values = _stacked([None if one is None else one.replicates for one in scores], n_units)
        weights, size = np.full(n_units, 1 / n_units), len(rows) // n_units
        return RowScores(values, weights, shift, n_training_rows, size, fixed=fixed)
    weights, source_rows = _row_shares(run, name), rows.source_rows
    if run.kept_rows is not None:
        weights = weights[run.kept_rows] / weights[run.kept_rows].sum()
        source_rows = None if source_rows is None else source_rows[run.kept_rows]
    values = _stacked([None if one is None else one.per_row for one in scores], len(weights))
    return RowScores(values, weights, shift, n_training_rows, 1, source_rows, fixed)


def _stacked(rows: Sequence[Floats | None], length: int) -> Floats:
    missing = np.full(length, np.nan, dtype=np.float32)
    return np.array([missing if row is None else row for row in rows])


def _row_shares(run: Run, name: str) -> Floats:
    """Return the weight that each validation row has in the mean over replicates."""
    replicates = run.replicates
    own = row_weights(replicates, run.metric(name))
    weights = np.array(np.ones(len(replicates.rows)) if own is None else own, dtype=np.float64)
    for blocks in replicates.blocks:
        for block in blocks:
            weights[block] /= weights[block].sum() * len(blocks) * replicates.n_replicates
    return weights
