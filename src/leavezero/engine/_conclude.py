"""From records to a table of results and a choice."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leavezero._typing import Floats, Ints
from leavezero.engine._confirm import Fold, fold_scores
from leavezero.engine._draw import Replicates
from leavezero.engine._finals import (
    augmented_scores,
    common_metric,
    final_scores,
    metric_named,
    rounded,
    unseen_scores,
)
from leavezero.engine._judge import Verdict, row_weights
from leavezero.engine._metrics import Metric
from leavezero.engine._plan import Candidate
from leavezero.engine._results import metric_names, ranks, results_table
from leavezero.engine._run import Job, Record
from leavezero.engine._select import Rule, Selection, Standing, describe
from leavezero.engine._statistics import N_RESAMPLES, Resampled, Witness, resample
from leavezero.trust import Ballot


@dataclass(frozen=True)
class Confirmation:
    """At most so many candidates get folds."""

    n_candidates: int
    folds: Sequence[Fold]


@dataclass(frozen=True, eq=False)
class Conclusion:
    """The table of results, the choice by the main metric if there is one, and fits for it."""

    table: dict[str, Any]
    selection: Selection | None
    n_confirm_fits: int = 0
    ballot: Ballot | None = None  # the scores that a trust report looks at
    finalists: tuple[Candidate, ...] = ()  # who has these scores

    def first(self, n_candidates: int) -> tuple[Candidate, ...]:
        """Return the winner, and the best of the others."""
        ballot = self.ballot
        assert ballot is not None
        order = sorted(
            range(len(ballot.scores)), key=lambda at: (at != ballot.best, -ballot.scores[at])
        )
        return tuple(self.finalists[at] for at in order[:n_candidates])


def conclude(
    job: Job,
    records: Sequence[Record],
    rule: Rule,
    root: np.random.SeedSequence,
    *,
    confirmation: Confirmation | None = None,
    n_jobs: int | None = None,
) -> Conclusion:
    """Return what the records say; the choice is None where no candidate has a score."""
    finals = {name: _finals(job, records, name) for name in metric_names(records)}
    table = results_table(job, records, finals)
    moved = {name: _moved(records, finals[name], name) for name in finals}
    resampled = {
        name: _add_intervals(table, job, name, moved[name], root, common_metric(job, records, name))
        for name in moved
    }
    winners = _winners(records)
    if job.main is None or not winners:
        return Conclusion(table, None)
    able = [records[row] for row in winners]
    standing = _standing(job, able, [moved[job.main][row] for row in winners])
    drawn, name = resampled[job.main].of(winners), type(rule).__name__
    at, n_fits = rule.choose(standing), 0
    if confirmation is not None:
        chosen = standing.contenders[: confirmation.n_candidates]
        candidates = [able[row].trial.candidate for row in chosen]
        by_folds = fold_scores(job, candidates, confirmation.folds, n_jobs).mean(axis=1)
        n_fits = len(chosen) * len(confirmation.folds)
        at = _confirmed(standing, chosen, by_folds, rule)
        metric = common_metric(job, records, job.main)
        moves = _add_confirmed(table, job.main, [winners[row] for row in chosen], by_folds, metric)
        standing, drawn = standing.moved(moves[winners]), drawn.moved(moves[winners])
    selection = describe(standing, drawn, winners, name, at)
    ballot = _ballot(job, able, standing, drawn, selection, at)
    ballot = replace(ballot, confirmed=confirmation is not None)
    finalists = tuple(record.trial.candidate for record in able)
    return Conclusion(table, selection, n_fits, ballot, finalists)


def _finals(job: Job, records: Sequence[Record], name: str) -> Floats:
    """Return the final score of each record; by the main metric the records have it."""
    if name == job.main:
        return np.array([record.final for record in records])
    return final_scores(job, records, name)


def witness_of(
    replicates: Replicates,
    verdicts: Sequence[Verdict],
    metric: Metric,
    n_given: int,
    kept_rows: Ints | None = None,
) -> Witness:
    """Return what V says of some models, row by row where the score is a mean over rows."""
    V = replicates.rows
    n_given = len(V) if replicates.given else n_given
    bias = np.array([verdict.bias for verdict in verdicts])
    gains = [verdict.gains for verdict in verdicts if verdict.gains is not None]
    if len(gains) < len(verdicts):
        splits = np.array([verdict.scores for verdict in verdicts]) - bias[:, None]
        n_units = splits.shape[1]
        size, weights = len(V) // n_units, np.full(n_units, 1 / n_units)
        return Witness(splits, weights, bias, n_given, size, given=replicates.given)
    weights, origins = _unit_weights(replicates, metric), V.source_rows
    if kept_rows is not None:
        weights = weights[kept_rows] / weights[kept_rows].sum()
        origins = None if origins is None else origins[kept_rows]
    return Witness(np.array(gains), weights, bias, n_given, 1, origins, replicates.given)


def _unit_weights(replicates: Replicates, metric: Metric) -> Floats:
    """Return what share of the final score each row of V has."""
    own = row_weights(replicates, metric)
    weights = np.array(np.ones(len(replicates.rows)) if own is None else own, dtype=np.float64)
    for parts in replicates.parts:
        for part in parts:
            weights[part] /= weights[part].sum() * len(parts) * replicates.n_replicates
    return weights


def _winners(records: Sequence[Record]) -> list[int]:
    """Return the rows that may be chosen: those of the last round reached, if none got so far."""
    scored = [row for row, record in enumerate(records) if np.isfinite(record.main_score)]
    able = [row for row in scored if records[row].trial.may_win]
    if able:
        return able
    whole = [row for row in scored if records[row].trial.passes is None]
    last = max((records[row].trial.round for row in whole), default=0)
    return [row for row in whole if records[row].trial.round == last]


def _witness(job: Job, verdicts: Sequence[Verdict], name: str) -> Witness:
    metric = metric_named(job, name)
    return witness_of(job.replicates, verdicts, metric, job.n_labeled, job.kept_rows)


def _moved(records: Sequence[Record], finals: Floats, name: str) -> list[Verdict | None]:
    """Return V's verdicts, moved to the final scores; None for records without one."""
    biases = finals - augmented_scores(records, name)
    found = [record.verdicts.get(name) for record in records]
    return [
        None if one is None else replace(one, scores=one.scores - one.bias + bias, bias=bias)
        for one, bias in zip(found, biases, strict=True)
    ]


def _standing(job: Job, records: Sequence[Record], verdicts: Sequence[Verdict | None]) -> Standing:
    assert job.main is not None
    known = [verdict for verdict in verdicts if verdict is not None]  # who may win has one
    return Standing(
        np.array([record.main_score for record in records]),
        np.array([verdict.scores for verdict in known]),
        [record.trial.candidate.params for record in records],
        [record.trial.candidate.key for record in records],
        _witness(job, known, job.main),
    )


def _ballot(
    job: Job,
    records: Sequence[Record],
    standing: Standing,
    drawn: Resampled,
    selection: Selection,
    best: int,
) -> Ballot:
    """Return the scores of those that could win, as a trust report wants them."""
    assert job.main is not None
    silent = np.full(len(records), np.nan)
    return Ballot(
        metric=common_metric(job, records, job.main).name,
        params=standing.params,
        scores=standing.scores,
        splits=standing.splits,
        resampled=drawn.inside,
        augmented=augmented_scores(records, job.main) if job.draws else silent,
        unseen=unseen_scores(records, job.main),
        by_member=_member_scores(job, standing.witness),
        best=best,
        contenders=tuple(standing.contenders),
        corrected=selection.corrected_score,
        standard_error=selection.standard_error,
    )


def _member_scores(job: Job, witness: Witness) -> Floats | None:
    """Return what each member of a portfolio says of each candidate; None if there is one."""
    members = job.replicates.rows.component
    if members is None or witness.unit_rows > 1:
        return None
    members = members if job.kept_rows is None else members[job.kept_rows]
    parts = [members == member for member in np.unique(members)]
    return np.stack(
        [witness.gains[:, p] @ (witness.weights[p] / witness.weights[p].sum()) for p in parts]
    )


def _add_intervals(
    table: dict[str, Any],
    job: Job,
    name: str,
    verdicts: Sequence[Verdict | None],
    root: np.random.SeedSequence,
    metric: Metric,
) -> Resampled:
    """Add the ends of each score's interval; return the scores over resamples, NaN for some."""
    known = [row for row, verdict in enumerate(verdicts) if verdict is not None]
    inside = np.full((len(verdicts), N_RESAMPLES), np.nan)
    outside = inside.copy()
    if known:
        found = resample(_witness(job, [v for v in verdicts if v is not None], name), root)
        inside[known], outside[known] = found.inside, found.outside
    drawn = Resampled(inside, outside)
    for end, scores in zip(("low", "high"), drawn.interval(), strict=True):
        table[f"{end}_test_{name}"] = np.clip(scores, metric.lowest, metric.highest)
    return drawn


def _confirmed(standing: Standing, chosen: list[int], by_folds: Floats, rule: Rule) -> int:
    """Choose among the confirmed by the mean of both scores; without folds' word, by V."""
    scores = (standing.scores[chosen] + by_folds) / 2
    known = np.flatnonzero(np.isfinite(scores))
    if len(known) == 0:
        return rule.choose(standing)
    rows = [chosen[at] for at in known]
    among = standing.among(rows, np.array([rounded(score) for score in scores[known]]))
    return rows[rule.choose(among)]


def _add_confirmed(
    table: dict[str, Any], name: str, rows: Sequence[int], by_folds: Floats, metric: Metric
) -> Floats:
    """Add the folds' word, and return by how much each score moves, its interval with it.

    Scores of the others move by the mean of what it changed.
    """
    own = table[f"mean_test_{name}"]
    confirmed = np.full(len(own), np.nan)
    confirmed[list(rows)] = by_folds
    moves = (confirmed - own) / 2
    moves = np.where(np.isnan(moves), _mean_of_known(moves), moves)
    table[f"mean_confirm_{name}"] = confirmed
    table[f"mean_test_{name}"] = own + moves
    for end in ("low", "high"):
        ends = table[f"{end}_test_{name}"] + moves
        table[f"{end}_test_{name}"] = np.clip(ends, metric.lowest, metric.highest)
    table[f"rank_test_{name}"] = ranks(table[f"mean_test_{name}"])
    return moves


def _mean_of_known(numbers: Floats) -> float:
    known = numbers[np.isfinite(numbers)]
    return float(known.mean()) if len(known) else 0.0
