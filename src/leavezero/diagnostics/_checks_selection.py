"""Checks of the scores (LZ05, LZ06, LZ07, LZ10) and of the best model (LZ04, LZ09, LZ12)."""

from collections.abc import Sequence
from itertools import combinations
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy.stats import spearmanr
from sklearn.pipeline import Pipeline

from leavezero._typing import Floats, Params
from leavezero.diagnostics._check import (
    CV_FINALISTS,
    Check,
    Level,
    format_score,
    measured,
    not_applicable,
    severity,
)
from leavezero.diagnostics._check_inputs import CandidateScores, CheckInputs
from leavezero.diagnostics._risk_bound import risk_bound
from leavezero.diagnostics._vc_dimension import vc_dimension

MIN_VALUES = 3  # candidates for a rank correlation, and values for a range of a parameter
PROPORTIONS = (  # parameters with a maximum of 1
    *("bagging_fraction", "colsample_bytree", "feature_fraction", "l1_ratio", "max_df"),
    *("max_features", "max_samples", "nu", "reg_param", "shrinkage", "subsample"),
)
LOSS_RANGES = {"accuracy": 1.0}  # metrics that are a mean of a bounded loss over rows
NO_MODEL = "There is no best model (refit=False)."


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
    advice = "Use more replicates: n_replicates=30. Or cross-validate the best: cv_finalists=5."
    return Check("LZ05", level, message, share, advice if level == "warning" else None)


def check_rank_agreement(candidates: CandidateScores) -> Check:
    """LZ06: whether different scores rank the candidates alike."""
    components = () if candidates.by_component is None else candidates.by_component
    pairs = {
        "validation and LOO scores": [(candidates.validation, candidates.loo)],
        "the augmenters of the union (lowest)": list(combinations(components, 2)),
    }
    lowest = {}
    for name, scores in pairs.items():
        values = [_rank_correlation(*pair) for pair in scores]
        if known := [value for value in values if value is not None]:
            lowest[name] = min(known)
    if not lowest:
        return not_applicable("LZ06", "Fewer than three candidates have two different scores.")
    worst = min(lowest.values())
    texts = "; ".join(f"{name} {value:+.2f}" for name, value in lowest.items())
    message = f"Rank correlation of the candidates between {texts} (1: same order)."
    return measured("LZ06", worst, message, CV_FINALISTS)


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
    message = "The best candidate is not on the boundary of the grid."
    if on_boundary:
        message = f"The best candidate is on the boundary of the grid ({', '.join(on_boundary)})."
    return measured("LZ07", float(len(on_boundary)), message, "Extend the grid.")


def check_selection_bias(candidates: CandidateScores) -> Check:
    """LZ10: how much of the best score is selection bias."""
    if not np.isfinite(candidates.bias_corrected):
        return not_applicable("LZ10", "The metric cannot be resampled.")
    bias = candidates.best_score - candidates.bias_corrected
    varies = candidates.standard_error > 1e-12 * abs(candidates.best_score)
    errors = bias / candidates.standard_error if varies else 0.0
    corrected = format_score(candidates.bias_corrected)
    message = (
        f"The best score is {format_score(candidates.best_score)}; corrected for selection bias "
        f"it is {corrected} (a difference of {errors:.2f} standard errors)."
    )
    return measured("LZ10", errors, message, f"Report {corrected} instead of the best score.")


def check_permuted_labels(inputs: CheckInputs) -> Check:
    """LZ04: whether candidates fitted to permuted labels score above chance."""
    permutation, candidates = inputs.permutation, inputs.candidates
    if permutation is None or candidates is None:
        reason = "This check fits two more models: call diagnose(permutation=True)."
        return not_applicable("LZ04", reason)
    margin = candidates.validation[candidates.best] - min(permutation.chances)
    share = permutation.largest / max(margin, candidates.standard_error, 1e-12)
    message = (
        f"A candidate fitted to permuted labels scores {permutation.largest:+.3f} relative to "
        f"chance on the validation set, {max(share, 0.0):.0%} of the best candidate's margin."
    )
    return measured("LZ04", share, message, CV_FINALISTS)


def check_risk_bound(inputs: CheckInputs, divergence: float | None) -> Check:
    """LZ09: the paper's bound (corrected), if the divergence were known exactly."""
    reason = _why_no_bound(inputs, divergence)
    if reason is not None:
        return not_applicable("LZ09", reason)
    assert inputs.validation_set is not None
    assert inputs.candidates is not None
    assert divergence is not None
    model = _last_step(inputs.winner)
    n_features = getattr(model, "n_features_in_", int(np.prod(np.shape(inputs.X)[1:])))
    dimension = vc_dimension(model, n_features)
    if dimension is None or np.isinf(dimension):
        what = "unknown" if dimension is None else "infinite"
        return not_applicable("LZ09", f"The VC dimension of {type(model).__name__} is {what}.")
    bound = risk_bound(
        divergence,
        n_validation=len(inputs.validation_set),
        dimension=dimension,
        n_train=inputs.n_train,
        generated=not inputs.is_user_supplied,
        loss_range=LOSS_RANGES[inputs.candidates.metric],
        n_candidates=len(inputs.candidates.scores),
    )
    caveat = "which is vacuous" if bound.vacuous else "if the divergence is as estimated"
    message = (
        f"With probability 95% the risk is within {bound.tight:.2f} of the loss on the "
        f"validation set ({caveat}). A hold-out set of {inputs.n_train} rows would give "
        f"{bound.hold_out:.3f}."
    )
    return Check("LZ09", "note", message, bound.tight)


def check_label_models(inputs: CheckInputs) -> Check:
    """LZ12: which share of the validation labels comes from models of the best model's type."""
    models = _label_models(inputs.augmenter)
    if not models:
        return not_applicable("LZ12", "The validation set was not labeled by models.")
    if inputs.winner is None:
        return not_applicable("LZ12", NO_MODEL)
    best_type = type(_last_step(inputs.winner))
    share = sum(weight for kind, weight in models if kind is best_type)
    message = (
        f"Models of the best candidate's type, {best_type.__name__}, determine {share:.0%} of the "
        "labels of the validation set."
    )
    pseudo_labeled = getattr(inputs.augmenter, "pseudo_share_", None)
    if pseudo_labeled is not None:
        names = ", ".join(sorted({kind.__name__ for kind, _ in models}))
        pseudo = f"{pseudo_labeled:.0%} of the source rows are pseudo-labeled by {names}."
        message = f"{pseudo} {message}"
    return measured("LZ12", share, message, CV_FINALISTS)


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


def _why_no_bound(inputs: CheckInputs, divergence: float | None) -> str | None:
    """Return why the bound does not apply, None if it does."""
    if inputs.candidates is None:
        return "There are no scores."
    if inputs.candidates.metric not in LOSS_RANGES:
        return f"{inputs.candidates.metric} is not a mean of a bounded loss over rows."
    if divergence is None or inputs.validation_set is None:
        return "The divergence between validation set and training data is unknown."
    if inputs.classes is None or len(inputs.classes) > 2:
        return "VC dimensions are for two classes."
    return NO_MODEL if inputs.winner is None else None


def _last_step(model: Any) -> Any:
    while isinstance(model, Pipeline):
        model = model[-1]
    return model


def _label_models(augmenter: Any) -> list[tuple[type, float]]:
    """Return the type and the weight of each model that labels the validation set."""
    while augmenter is not None:
        if hasattr(augmenter, "label_models_"):
            types = [type(_last_step(model)) for model in augmenter.label_models_]
            return list(zip(types, map(float, augmenter.label_weights_), strict=True))
        augmenter = getattr(augmenter, "augmenter_", None)
    return []
