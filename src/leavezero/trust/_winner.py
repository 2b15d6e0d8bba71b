"""Findings about the winner: is it flattered, what does the theory say, who taught V."""

from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from leavezero._typing import Table
from leavezero.trust._advice import CONFIRM
from leavezero.trust._bound import risk_bound
from leavezero.trust._dimension import vc_dimension
from leavezero.trust._evidence import Evidence
from leavezero.trust._finding import Finding, not_applicable
from leavezero.trust._levels import level_of

BOUNDED = {"accuracy": 1.0}  # losses that are a mean over rows, and their width


def optimism(evidence: Evidence) -> Finding:
    """LZ04: whether V flatters candidates that learned permuted labels."""
    found, ballot = evidence.optimism, evidence.ballot
    if found is None or ballot is None:
        why = "It needs a fit or two more: ask with trust(optimism=True)."
        return not_applicable("LZ04", why)
    above = ballot.augmented[ballot.best] - min(found.chances)
    share = found.largest / max(above, ballot.standard_error, 1e-12)
    level = level_of("LZ04", share)
    sentence = (
        f"A candidate that learned permuted labels scores {found.largest:+.3f} beside chance on V: "
        f"{max(share, 0.0):.0%} of what the winner is above it."
    )
    return Finding("LZ04", level, sentence, share, None if level == "ok" else CONFIRM)


def bound(evidence: Evidence, divergence: float | None) -> Finding:
    """LZ09: what the corrected bound of the paper says, if the divergence were the true one."""
    refused = _no_bound(evidence, divergence)
    if refused is not None:
        return not_applicable("LZ09", refused)
    assert evidence.V is not None
    assert evidence.ballot is not None
    assert divergence is not None
    dimension = vc_dimension(_last(evidence.winner), _n_columns(evidence.winner, evidence.X))
    if dimension is None or np.isinf(dimension):
        what = "unknown" if dimension is None else "infinite"
        name = type(_last(evidence.winner)).__name__
        return not_applicable("LZ09", f"The VC dimension of {name} is {what}: there is no bound.")
    found = risk_bound(
        divergence,
        n_rows=len(evidence.V),
        dimension=dimension,
        n_given=evidence.n_given,
        mixed=not evidence.own_rows,
        loss_width=BOUNDED[evidence.ballot.metric],
        n_candidates=len(evidence.ballot.scores),
    )
    says = "which says nothing" if found.vacuous else "if the divergence is no larger than found"
    sentence = (
        f"The risk is within {found.tight:.2f} of the loss on V with 95 % ({says}); as many "
        f"held-out rows would give {found.hold_out:.3f}."
    )
    return Finding("LZ09", "note", sentence, found.tight)


def teachers(evidence: Evidence) -> Finding:
    """LZ12: whether V was labelled by models of the winner's own kind, and how much of it."""
    taught = _teachers(evidence.augmenter)
    if not taught:
        return not_applicable("LZ12", "No model labelled V.")
    if evidence.winner is None:
        return not_applicable("LZ12", "No model was kept.")
    own = type(_last(evidence.winner))
    share = sum(share for kind, share in taught if kind is own)
    sentence = f"Models of the winner's kind have {share:.0%} of the word on V's labels."
    pseudo = getattr(evidence.augmenter, "pseudo_share_", None)
    if pseudo is not None:
        kinds = ", ".join(sorted({kind.__name__ for kind, _ in taught}))
        sentence = f"{pseudo:.0%} of the rows behind V have pseudo labels, by {kinds}. {sentence}"
    level = level_of("LZ12", share)
    return Finding("LZ12", level, sentence, share, None if level == "ok" else CONFIRM)


def _no_bound(evidence: Evidence, divergence: float | None) -> str | None:
    """Return why there is no bound, if there is none."""
    ballot = evidence.ballot
    if ballot is None or ballot.metric not in BOUNDED:
        metric = "The choice" if ballot is None else ballot.metric
        return f"{metric} is not a mean over rows of a loss with bounds."
    if divergence is None or evidence.V is None:
        return "The divergence between V and the data is not known."
    if evidence.classes is None or len(evidence.classes) > 2:
        return "VC dimensions are for two classes."
    if evidence.winner is None:
        return "No model was kept."
    return None


def _last(model: Any) -> Any:
    while isinstance(model, Pipeline):
        model = model[-1]
    return model


def _n_columns(model: Any, X: Table) -> int:
    known = getattr(_last(model), "n_features_in_", None)
    return int(known) if known is not None else int(np.prod(np.shape(X)[1:]))


def _teachers(augmenter: Any) -> list[tuple[type, float]]:
    """Return the kinds of the models that label V, and the share of each one's word."""
    while augmenter is not None:
        if hasattr(augmenter, "label_models_"):
            kinds = [type(_last(teacher)) for teacher in augmenter.label_models_]
            return list(zip(kinds, map(float, augmenter.label_weights_), strict=True))
        augmenter = getattr(augmenter, "augmenter_", None)
    return []
