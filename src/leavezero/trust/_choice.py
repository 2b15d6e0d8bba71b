"""Findings about the choice: is it clear, do the witnesses agree, is it inside the grid."""

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from leavezero._typing import Floats, Params
from leavezero.trust._advice import CONFIRM, MORE_ROWS, WIDEN
from leavezero.trust._evidence import Ballot
from leavezero.trust._finding import Finding, Level, not_applicable, score_text
from leavezero.trust._levels import level_of

FEWEST_RANKED = 3
SHARES = {  # parameters that end at 1; penalties and rates go on
    "bagging_fraction",
    "colsample_bytree",
    "feature_fraction",
    "l1_ratio",
    "max_df",
    "max_features",
    "max_samples",
    "nu",
    "reg_param",
    "shrinkage",
    "subsample",
}


def stability(ballot: Ballot) -> Finding:
    """LZ05: how often the winner wins over resamples and replicates."""
    if len(ballot.scores) < 2:
        return not_applicable("LZ05", "There is one candidate only.")
    wins, by_replicate = (_wins(s, ballot.best) for s in (ballot.resampled, ballot.splits))
    n_near = len(ballot.contenders) - 1  # beside the best
    level: Level = level_of("LZ05", wins)
    if n_near > 0 and (level == "ok" or ballot.confirmed):
        level = "note"  # ties are worth knowing; folds have been asked already
    others = f"and {n_near} other{'s' if n_near > 1 else ''} cannot be told from it"
    near = others if n_near > 0 else "and stands alone"
    sentence = (
        f"The winner wins in {wins:.0%} of the resamples and {by_replicate:.0%} of the "
        f"replicates, {near}."
    )
    return Finding("LZ05", level, sentence, wins, MORE_ROWS if level == "warning" else None)


def agreement(ballot: Ballot) -> Finding:
    """LZ06: whether V and unseen rows, and the members of a portfolio, rank candidates alike."""
    pairs = {}
    if ballot.by_member is not None:
        found = [_rank_correlation(a, b) for a, b in combinations(ballot.by_member, 2)]
        pairs["the members of the portfolio"] = _lowest(found)
    pairs["V and unseen rows"] = _rank_correlation(ballot.augmented, ballot.unseen)
    known = {who: value for who, value in pairs.items() if value is not None}
    if not known:
        why = "There are no two witnesses that rank at least three candidates."
        return not_applicable("LZ06", why)
    worst = min(known.values())
    level = level_of("LZ06", worst)
    said = "; ".join(f"{who} {value:+.2f}" for who, value in known.items())
    sentence = f"Rank correlations of the candidates: {said} (1 is the same order)."
    return Finding("LZ06", level, sentence, worst, None if level == "ok" else CONFIRM)


def edge(ballot: Ballot) -> Finding:
    """LZ07: whether the winner, and all that cannot be told from it, stand at the grid's edge."""
    won = ballot.params[ballot.best]
    near = [ballot.params[at] for at in ballot.contenders]
    tried = {name: _numbers_of(name, ballot.params) for name in won}
    ranges = {name: values for name, values in tried.items() if len(values) >= FEWEST_RANKED}
    if not ranges:
        return not_applicable("LZ07", "No parameter was tried with three numbers or more.")
    at_edge = [
        f"{name}={won[name]!r} ({'lowest' if won[name] == values[0] else 'highest'} tried)"
        for name, values in ranges.items()
        if won[name] in (values[0], values[-1])
        and not _is_natural(name, won[name], values)
        and all(params.get(name) == won[name] for params in near)
    ]
    if not at_edge:
        return Finding("LZ07", "ok", "The winner stands inside the grid.", 0.0)
    sentence = f"The winner stands at the edge of the grid: {', '.join(at_edge)}."
    count = float(len(at_edge))
    return Finding("LZ07", level_of("LZ07", count), sentence, count, WIDEN)


def curse(ballot: Ballot) -> Finding:
    """LZ10: how much of the best score is luck on V."""
    if not np.isfinite(ballot.corrected):
        return not_applicable("LZ10", "The score cannot be resampled.")
    luck = ballot.raw - ballot.corrected
    varies = ballot.standard_error > 1e-12 * abs(ballot.raw)
    errors = luck / ballot.standard_error if varies else 0.0
    level = level_of("LZ10", errors)
    raw, corrected = score_text(ballot.raw), score_text(ballot.corrected)
    sentence = (
        f"The best score is {raw}, and {corrected} without its luck on V "
        f"({errors:.2f} standard errors)."
    )
    advice = None if level == "ok" else f"Report {corrected} rather than the best score."
    return Finding("LZ10", level, sentence, errors, advice)


def _wins(scores: Floats, best: int) -> float:
    """Return in how many columns the best is not beaten."""
    top = np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)
    return float(np.mean(scores[best] >= top - 1e-12 * np.abs(top)))


def _rank_correlation(first: Floats, second: Floats) -> float | None:
    known = np.isfinite(first) & np.isfinite(second)
    first, second = first[known], second[known]
    if len(first) < FEWEST_RANKED or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return None
    return float(spearmanr(first, second).statistic)


def _lowest(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return min(known) if known else None


def _numbers_of(name: str, params: Sequence[Params]) -> list[float]:
    """Return the numbers that a parameter was tried with, sorted; empty if it had others too."""
    values = [row[name] for row in params if name in row]
    if not all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        return []
    return sorted(set(values))


def _is_natural(name: str, value: Any, values: Sequence[Any]) -> bool:
    """Tell whether a grid cannot well go beyond its end: none, one of a count, all of a share."""
    if value == values[0]:
        return bool(value == 0 or (value == 1 and all(isinstance(v, Integral) for v in values)))
    return bool(value == 1 and name.rpartition("__")[2] in SHARES)
