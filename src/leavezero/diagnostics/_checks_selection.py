"""Checks of the selection: stability, rank agreement, boundary of the grid, selection bias."""

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.stats import spearmanr

from leavezero._typing import Floats, Params
from leavezero.diagnostics._check import (
    CV_FINALISTS,
    Check,
    Level,
    format_score,
    not_applicable,
    severity,
)
from leavezero.diagnostics._check_inputs import CandidateScores

MIN_VALUES = 3  # candidates for a rank correlation, and values for a range of a parameter
PROPORTIONS = {  # parameters with a maximum of 1
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


def check_stability(candidates: CandidateScores) -> Check:
    """LZ05: how often the best candidate is first on resamples and replicates."""
    if len(candidates.scores) < 2:
        return not_applicable("LZ05", "There is only one candidate.")
    share, by_replicate = (
        _share_first(scores, candidates.best)
        for scores in (candidates.resampled, candidates.splits)
    )
    n_tied = len(candidates.tied) - 1  # without the best
    level: Level = severity("LZ05", share)
    if n_tied > 0 and (level == "ok" or candidates.cross_validated):
        level = "note"  # a tie is information; after cross-validation there is nothing left to do
    others = {0: "no other candidate is", 1: "1 other candidate is"}
    message = (
        f"The best candidate is first in {share:.0%} of the resamples and {by_replicate:.0%} of "
        f"the replicates; {others.get(n_tied, f'{n_tied} other candidates are')} statistically "
        "tied with it."
    )
    advice = (
        "Use more replicates (n_replicates=30) or cross-validate the best candidates "
        "(cv_finalists=5)."
    )
    return Check("LZ05", level, message, share, advice if level == "warning" else None)


def check_rank_agreement(candidates: CandidateScores) -> Check:
    """LZ06: whether different scores rank the candidates alike."""
    pairs = {"validation and LOO scores": [(candidates.validation, candidates.loo)]}
    if candidates.by_component is not None:
        pairs["the augmenters of the union (lowest)"] = list(
            combinations(candidates.by_component, 2)
        )
    lowest = {}
    for name, scores in pairs.items():
        values = [_rank_correlation(*pair) for pair in scores]
        known = [value for value in values if value is not None]
        if known:
            lowest[name] = min(known)
    if not lowest:
        return not_applicable("LZ06", "Fewer than three candidates have two different scores.")
    worst = min(lowest.values())
    level = severity("LZ06", worst)
    texts = "; ".join(f"{name} {value:+.2f}" for name, value in lowest.items())
    message = f"Rank correlation of the candidates between {texts} (1: same order)."
    return Check("LZ06", level, message, worst, None if level == "ok" else CV_FINALISTS)


def check_boundary(candidates: CandidateScores) -> Check:
    """LZ07: whether the best candidate and all tied ones are on the boundary of the grid."""
    best = candidates.params[candidates.best]
    values = {name: _numerical_values(name, candidates.params) for name in best}
    ranges = {name: tried for name, tried in values.items() if len(tried) >= MIN_VALUES}
    if not ranges:
        return not_applicable("LZ07", "No parameter has three or more numerical values.")
    on_boundary = [
        f"{name}={best[name]!r}"
        for name, tried in ranges.items()
        if best[name] in (tried[0], tried[-1])
        and not _is_natural_limit(name, best[name], tried)
        and all(candidates.params[index].get(name) == best[name] for index in candidates.tied)
    ]
    if not on_boundary:
        message = "The best candidate is not on the boundary of the grid."
        return Check("LZ07", "ok", message, 0.0)
    message = f"The best candidate is on the boundary of the grid ({', '.join(on_boundary)})."
    count = float(len(on_boundary))
    return Check("LZ07", severity("LZ07", count), message, count, "Extend the grid.")


def check_selection_bias(candidates: CandidateScores) -> Check:
    """LZ10: how much of the best score is selection bias."""
    if not np.isfinite(candidates.bias_corrected):
        return not_applicable("LZ10", "The metric cannot be resampled.")
    bias = candidates.best_score - candidates.bias_corrected
    varies = candidates.standard_error > 1e-12 * abs(candidates.best_score)
    errors = bias / candidates.standard_error if varies else 0.0
    level = severity("LZ10", errors)
    corrected = format_score(candidates.bias_corrected)
    message = (
        f"The best score is {format_score(candidates.best_score)}; corrected for selection bias "
        f"it is {corrected} (a difference of {errors:.2f} standard errors)."
    )
    advice = None if level == "ok" else f"Report {corrected} instead of the best score."
    return Check("LZ10", level, message, errors, advice)


def _share_first(scores: Floats, best: int) -> float:
    """Return the share of columns in which no candidate has a higher score than the best."""
    top = np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=0)
    return float(np.mean(scores[best] >= top - 1e-12 * np.abs(top)))


def _rank_correlation(first: Floats, second: Floats) -> float | None:
    known = np.isfinite(first) & np.isfinite(second)
    first, second = first[known], second[known]
    if len(first) < MIN_VALUES or np.ptp(first) == 0.0 or np.ptp(second) == 0.0:
        return None
    return float(spearmanr(first, second).statistic)


def _numerical_values(name: str, params: Sequence[Params]) -> list[float]:
    """Return the sorted values of a parameter, none if some are not numerical."""
    values = [row[name] for row in params if name in row]
    if not all(isinstance(v, Real) and not isinstance(v, bool) for v in values):
        return []
    return sorted(set(values))


def _is_natural_limit(name: str, value: Any, tried: Sequence[Any]) -> bool:
    """Return True for a limit of the parameter itself: 0, a count of 1, a proportion of 1."""
    if value == tried[0]:
        return bool(value == 0 or (value == 1 and all(isinstance(v, Integral) for v in tried)))
    return bool(value == 1 and name.rpartition("__")[2] in PROPORTIONS)
