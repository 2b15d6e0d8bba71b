"""Leave-one-out of voting ensembles: votes or means of the members' leave-one-out predictions."""

from typing import Any

import numpy as np
from sklearn.ensemble import VotingClassifier, VotingRegressor

from leavezero._typing import AnyArray, Floats, Table
from leavezero.leave_one_out._base import LeaveOneOutMethod, LOOPredictions
from leavezero.leave_one_out._pipeline import part_method, part_reason


class VotingMethod(LeaveOneOutMethod):
    """Leave-one-out of VotingClassifier and VotingRegressor."""

    name = "voting"

    def handles(self, estimator: Any) -> bool:
        """Return True for the two classes themselves."""
        return type(estimator) in (VotingClassifier, VotingRegressor)

    def unsupported_reason(self, estimator: Any) -> str | None:
        """Return which member is not supported, and why."""
        for name, member in estimator.estimators:
            reason = None if _is_dropped(member) else part_reason("member", name, member)
            if reason is not None:
                return reason
        return None

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        classifier = type(model) is VotingClassifier
        target = model.le_.transform(np.asarray(y)) if classifier else y
        members = [
            part_method(member).predict(member, X, target, sample_weight)
            for member in model.estimators_
        ]
        methods = {member.method for member in members}
        method = methods.pop() if len(methods) == 1 else "approximate"
        masks = [member.has_prediction for member in members if member.has_prediction is not None]
        has_prediction = np.logical_and.reduce(masks) if masks else None
        unreliable = next((member.unreliable for member in members if member.unreliable), None)

        needed = "predict_proba" if classifier and model.voting == "soft" else "predict"
        if any(needed not in member.predictions for member in members):
            unreliable = unreliable or f"a member has no leave-one-out {needed}"
            return LOOPredictions(method, {}, has_prediction, unreliable)
        values = np.stack([member.predictions[needed] for member in members])
        predictions = _combine(model, values)
        return LOOPredictions(method, predictions, has_prediction, unreliable)


def _is_dropped(member: Any) -> bool:
    return isinstance(member, str) and member in ("drop", "passthrough")


def _combine(model: Any, values: AnyArray) -> dict[str, AnyArray]:
    """Return what the ensemble's methods return for the members' predictions."""
    weights: Floats | None = None
    if model.weights is not None:
        pairs = zip(model.estimators, model.weights, strict=True)
        weights = np.array([w for (_, member), w in pairs if not _is_dropped(member)], dtype=float)
    if type(model) is VotingRegressor:
        return {"predict": np.average(values, axis=0, weights=weights)}
    if model.voting == "soft":
        means = np.average(values, axis=0, weights=weights)
        return {"predict": model.classes_[means.argmax(axis=1)], "predict_proba": means}
    votes = np.zeros((values.shape[1], len(model.classes_)))
    for codes, weight in zip(
        values, weights if weights is not None else np.ones(len(values)), strict=True
    ):
        votes[np.arange(len(codes)), codes] += weight
    return {"predict": model.classes_[votes.argmax(axis=1)]}


METHODS = (VotingMethod(),)
