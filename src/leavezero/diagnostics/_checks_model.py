"""Checks of the best model: permuted labels, risk bound, label models of the same type."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from leavezero._typing import Table
from leavezero.diagnostics._check import CV_FINALISTS, Check, not_applicable, severity
from leavezero.diagnostics._check_inputs import CheckInputs
from leavezero.diagnostics._risk_bound import risk_bound
from leavezero.diagnostics._vc_dimension import vc_dimension

LOSS_RANGES = {"accuracy": 1.0}  # metrics that are a mean of a bounded loss over rows
NO_MODEL = "There is no best model (refit=False)."


def check_permuted_labels(inputs: CheckInputs) -> Check:
    """LZ04: whether candidates fitted to permuted labels score above chance."""
    permutation, candidates = inputs.permutation, inputs.candidates
    if permutation is None or candidates is None:
        reason = "This check fits two more models: call diagnose(permutation=True)."
        return not_applicable("LZ04", reason)
    margin = candidates.validation[candidates.best] - min(permutation.chances)
    share = permutation.largest / max(margin, candidates.standard_error, 1e-12)
    level = severity("LZ04", share)
    message = (
        f"A candidate fitted to permuted labels scores {permutation.largest:+.3f} relative to "
        f"chance on the validation set, {max(share, 0.0):.0%} of the best candidate's margin."
    )
    return Check("LZ04", level, message, share, None if level == "ok" else CV_FINALISTS)


def check_risk_bound(inputs: CheckInputs, divergence: float | None) -> Check:
    """LZ09: the paper's bound (corrected), if the divergence were known exactly."""
    reason = _why_no_bound(inputs, divergence)
    if reason is not None:
        return not_applicable("LZ09", reason)
    assert inputs.validation_set is not None
    assert inputs.candidates is not None
    assert divergence is not None
    model = _last_step(inputs.winner)
    dimension = vc_dimension(model, _n_features(model, inputs.X))
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
    level = severity("LZ12", share)
    message = (
        f"Models of the best candidate's type, {best_type.__name__}, determine {share:.0%} of the "
        "labels of the validation set."
    )
    pseudo_labeled = getattr(inputs.augmenter, "pseudo_share_", None)
    if pseudo_labeled is not None:
        names = ", ".join(sorted({kind.__name__ for kind, _ in models}))
        message = (
            f"{pseudo_labeled:.0%} of the source rows are pseudo-labeled by {names}. {message}"
        )
    return Check("LZ12", level, message, share, None if level == "ok" else CV_FINALISTS)


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


def _n_features(model: Any, X: Table) -> int:
    known = getattr(model, "n_features_in_", None)
    return int(known) if known is not None else int(np.prod(np.shape(X)[1:]))


def _label_models(augmenter: Any) -> list[tuple[type, float]]:
    """Return the type and the weight of each model that labels the validation set."""
    while augmenter is not None:
        if hasattr(augmenter, "label_models_"):
            types = [type(_last_step(model)) for model in augmenter.label_models_]
            return list(zip(types, map(float, augmenter.label_weights_), strict=True))
        augmenter = getattr(augmenter, "augmenter_", None)
    return []
