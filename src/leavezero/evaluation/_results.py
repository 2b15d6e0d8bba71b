"""From the results of candidates to ``cv_results_`` and the selection."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.stats import rankdata

from leavezero._typing import Floats, Ints
from leavezero.diagnostics import CandidateScores
from leavezero.evaluation._bias_correction import corrected_scores
from leavezero.evaluation._candidates import Candidate
from leavezero.evaluation._evaluate import CandidateResult, Run
from leavezero.evaluation._replicates import Replicates
from leavezero.evaluation._scoring import (
    Metric,
    MetricScores,
    common_metric,
    loo_scores,
    rounded,
    row_weights,
    validation_scores,
)
from leavezero.evaluation._selection import (
    N_RESAMPLES,
    Ranking,
    Resamples,
    RowScores,
    Selection,
    SelectionRule,
    describe_selection,
    resample,
    standard_error,
)


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
        order = sorted(
            range(len(scores.scores)), key=lambda at: (at != scores.best, -scores.scores[at])
        )
        return tuple(self.candidates[at] for at in order[:n])


def select(
    run: Run,
    results: Sequence[CandidateResult],
    rule: SelectionRule,
    root: np.random.SeedSequence,
) -> Selected:
    """Return the table of results and the selected candidate.

    There is no selection if no candidate has a finite score.
    """
    corrected = {name: _corrected(run, results, name) for name in metric_names(results)}
    table = results_table(run, results, corrected)
    shifts = {name: corrected[name] - validation_scores(results, name) for name in corrected}
    resamples = {
        name: _add_intervals(table, run, results, name, shifts[name], root) for name in shifts
    }
    rows = _selectable_rows(results)
    if run.main_metric is None or not rows:
        return Selected(table)
    able = [results[row] for row in rows]
    ranking = _ranking(run, able, shifts[run.main_metric][rows])
    drawn = resamples[run.main_metric].of(rows)
    selected = rule.choose(ranking)
    _, variance = able[selected].held_out(run.main_metric)
    selection = describe_selection(ranking, drawn, rows, type(rule).__name__, selected, variance)
    scores = _candidate_scores(run, able, ranking, drawn, selection, selected)
    scores = replace(scores, cross_validated=bool(able[selected].cv))
    return Selected(table, selection, scores, tuple(result.trial.candidate for result in able))


def _corrected(run: Run, results: Sequence[CandidateResult], name: str) -> Floats:
    if name == run.main_metric:  # computed after each round
        return np.array([result.corrected_score for result in results])
    if not run.use_validation_set:
        return validation_scores(results, name)
    return corrected_scores(run, results, name)


def results_table(
    run: Run, results: Sequence[CandidateResult], corrected: Mapping[str, Floats]
) -> dict[str, Any]:
    """Return columns of equal length with scikit-learn's names, one row per trial."""
    n_rows, n_splits = len(results), run.replicates.n_replicates
    columns: dict[str, Any] = {}
    for name in ("fit_time", "score_time"):
        columns[f"mean_{name}"] = np.array([getattr(result, name) for result in results])
        columns[f"std_{name}"] = np.zeros(n_rows)  # there is one fit per candidate
    for name in dict.fromkeys(name for result in results for name in result.trial.columns):
        columns[name] = np.array([result.trial.columns[name] for result in results])
    params = [result.trial.candidate.params for result in results]
    columns |= _param_columns(params)
    columns["params"] = params
    error_score = np.nan if run.error_score == "raise" else run.error_score
    for name in metric_names(results):
        missing = np.full(n_splits, error_score, dtype=np.float64)
        splits = np.array(
            [r.scores[name].replicates if name in r.scores else missing for r in results]
        )
        means = np.where(np.isnan(corrected[name]), splits.mean(axis=1), corrected[name])
        splits = splits + (means - splits.mean(axis=1))[:, None]
        spread = splits.std(axis=1) if run.folds else _fold_spread(run, results, name)
        columns |= {f"split{r}_test_{name}": column for r, column in enumerate(splits.T)}
        columns[f"mean_test_{name}"] = means
        columns[f"std_test_{name}"] = spread
        columns[f"rank_test_{name}"] = ranks(means)
        if run.use_validation_set:
            columns[f"mean_validation_{name}"] = validation_scores(results, name)
        if run.use_loo:
            columns[f"mean_loo_{name}"] = loo_scores(results, name)
        if any(result.cv for result in results):
            columns[f"mean_cv_{name}"] = np.array(
                [result.cv[name].mean if name in result.cv else np.nan for result in results]
            )
        if any(result.train_scores for result in results):
            train = [np.asarray(r.train_scores.get(name, error_score), float) for r in results]
            columns |= {
                f"split{at}_train_{name}": np.array(
                    [np.broadcast_to(t, n_splits)[at] for t in train]
                )
                for at in range(n_splits)
            }
            columns[f"mean_train_{name}"] = np.array([np.mean(scores) for scores in train])
            columns[f"std_train_{name}"] = np.array([np.std(scores) for scores in train])
    if run.use_loo:
        columns["loo_method"] = np.array([r.loo.method for r in results], dtype=object)
        columns["loo_note"] = np.array([r.loo.note for r in results], dtype=object)
    return columns


def _fold_spread(run: Run, results: Sequence[CandidateResult], name: str) -> Floats:
    """Return the standard deviation that each score would have over folds of the training data.

    A fold has ``1 / n_replicates`` of the training rows, so that the standard deviation divided by
    the root of the number of splits is the standard error of the mean, as it is of folds.
    Replicates themselves vary less: they all come from the same training rows.
    """
    errors = np.zeros(len(results))
    known = [row for row, result in enumerate(results) if name in result.scores]
    if known:
        scores = [results[row].scores[name] for row in known]
        units = _row_scores(run, scores, np.zeros(len(known)), name)
        errors[known] = [standard_error(values, units) for values in units.values]
    variances = np.array([result.held_out(name)[1] for result in results])
    errors = np.where(np.isnan(variances), errors, np.sqrt(variances))
    return np.sqrt(run.replicates.n_replicates) * errors


def metric_names(results: Sequence[CandidateResult]) -> list[str]:
    """Return the names of all metrics, in the order in which they were given."""
    names = dict.fromkeys(name for result in results for name in result.scores)
    return list(names | dict.fromkeys(n for result in results for n in result.scoring_errors))


def ranks(scores: Floats) -> Ints:
    """Return 1 for the highest score; ties share the better rank, NaN comes last."""
    comparable = [-np.inf if np.isnan(score) else rounded(score) for score in scores]
    return rankdata(-np.array(comparable), method="min").astype(np.int32)


def _param_columns(params: list[dict[str, Any]]) -> dict[str, Any]:
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


def _ranking(run: Run, results: Sequence[CandidateResult], shifts: Floats) -> Ranking:
    assert run.main_metric is not None
    scores = [result.scores[run.main_metric] for result in results]
    return Ranking(
        np.array([result.main_score for result in results]),
        np.array([one.replicates for one in scores]) + shifts[:, None],
        [result.trial.candidate.params for result in results],
        [result.trial.candidate.key for result in results],
        _row_scores(run, scores, shifts, run.main_metric),
    )


def _row_scores(run: Run, scores: Sequence[MetricScores], shifts: Floats, name: str) -> RowScores:
    """Return the scores of models by row, or by replicate if the score is no mean over rows."""
    replicates, rows, fixed = run.replicates, run.replicates.rows, run.replicates.fixed
    n_training_rows = len(rows) if fixed else run.n_labeled
    per_row = [one.per_row for one in scores]
    if any(values is None for values in per_row):
        values = np.array([one.replicates for one in scores])
        n_units = values.shape[1]
        weights, size = np.full(n_units, 1 / n_units), len(rows) // n_units
        return RowScores(values, weights, shifts, n_training_rows, size, fixed=fixed)
    weights, source_rows = _row_shares(replicates, run.metric(name)), rows.source_rows
    if run.kept_rows is not None:
        weights = weights[run.kept_rows] / weights[run.kept_rows].sum()
        source_rows = None if source_rows is None else source_rows[run.kept_rows]
    return RowScores(np.array(per_row), weights, shifts, n_training_rows, 1, source_rows, fixed)


def _row_shares(replicates: Replicates, metric: Metric) -> Floats:
    """Return the weight that each validation row has in the mean over replicates."""
    own = row_weights(replicates, metric)
    weights = np.array(np.ones(len(replicates.rows)) if own is None else own, dtype=np.float64)
    for blocks in replicates.blocks:
        for block in blocks:
            weights[block] /= weights[block].sum() * len(blocks) * replicates.n_replicates
    return weights


def _add_intervals(
    table: dict[str, Any],
    run: Run,
    results: Sequence[CandidateResult],
    name: str,
    shifts: Floats,
    root: np.random.SeedSequence,
) -> Resamples:
    """Add the 95 % interval of each score; return the resampled scores, NaN where missing."""
    known = [row for row, result in enumerate(results) if name in result.scores]
    drawn = np.full((len(results), N_RESAMPLES), np.nan)
    left_out = drawn.copy()
    if known:
        scores = [results[row].scores[name] for row in known]
        found = resample(_row_scores(run, scores, shifts[known], name), root)
        drawn[known], left_out[known] = found.drawn, found.left_out
    resamples = Resamples(drawn, left_out)
    metric = common_metric(run, results, name)
    for end, values in zip(("low", "high"), resamples.interval(), strict=True):
        table[f"{end}_test_{name}"] = np.clip(values, metric.lowest, metric.highest)
    return resamples


def _candidate_scores(
    run: Run,
    results: Sequence[CandidateResult],
    ranking: Ranking,
    resamples: Resamples,
    selection: Selection,
    selected: int,
) -> CandidateScores:
    """Return the scores of the selectable candidates in the form that diagnostics use."""
    name = run.main_metric
    assert name is not None
    missing = np.full(len(results), np.nan)
    return CandidateScores(
        metric=common_metric(run, results, name).name,
        params=ranking.params,
        scores=ranking.scores,
        splits=ranking.replicates,
        resampled=resamples.drawn,
        validation=validation_scores(results, name) if run.use_validation_set else missing,
        held_out=np.array([result.held_out(name)[0] for result in results]),
        by_component=_component_scores(run, ranking.row_scores),
        best=selected,
        tied=tuple(ranking.tied),
        bias_corrected=selection.bias_corrected_score,
        standard_error=selection.standard_error,
    )


def _component_scores(run: Run, scores: RowScores) -> Floats | None:
    """Return each candidate's score on the rows of each component of an augmenter union."""
    component = run.replicates.rows.component
    if component is None or scores.rows_per_unit > 1:
        return None
    component = component if run.kept_rows is None else component[run.kept_rows]
    masks = [component == one for one in np.unique(component)]
    return np.stack(
        [scores.values[:, m] @ (scores.weights[m] / scores.weights[m].sum()) for m in masks]
    )
