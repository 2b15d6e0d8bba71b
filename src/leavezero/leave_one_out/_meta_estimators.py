"""Leave-one-out of pipelines and voting ensembles, from that of their parts."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSSVD
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from leavezero._typing import AnyArray, Floats, Table
from leavezero.joint_fit import transform_before_last, type_name
from leavezero.leave_one_out._loo_method import (
    LeaveOneOutMethod,
    LOOPredictions,
    find_leave_one_out,
)


class PipelineMethod(LeaveOneOutMethod):
    """Leave-one-out of a pipeline whose earlier steps do not use the target.

    The earlier steps were fitted to all rows. Exact predictions of the last step are therefore
    approximate, unless the earlier steps are stateless.
    """

    name = "pipeline"
    estimator_types = (Pipeline,)

    def unsupported_reason(self, estimator: Any) -> str | None:
        for name, step in estimator.steps[:-1]:
            if (reason := _target_reason(step)) is not None:
                return f"the step {name!r} {reason}"
        return _part_reason("last step", *estimator.steps[-1])

    def predict_many(
        self, models: Sequence[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[LOOPredictions]:
        """Return the predictions of several pipelines; those with the same steps share work."""
        groups: dict[Any, list[int]] = {}
        for index, model in enumerate(models):
            self.check_supported(model)
            steps = tuple(id(step) for _, step in model.steps[:-1])
            method = find_leave_one_out(model.steps[-1][1])
            groups.setdefault((steps, id(method)), []).append(index)
        results: dict[int, LOOPredictions] = {}
        for group in groups.values():
            group_models = [models[index] for index in group]
            results |= zip(group, _predict_group(group_models, X, y, sample_weight), strict=True)
        return [results[index] for index in range(len(models))]

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        return _predict_group([model], X, y, sample_weight)[0]


def _predict_group(
    models: Sequence[Any], X: Table, y: AnyArray, sample_weight: Floats | None
) -> list[LOOPredictions]:
    """Return the predictions of pipelines with the same earlier steps."""
    first, lasts = models[0], [model.steps[-1][1] for model in models]
    rows = transform_before_last(first, X)
    method = find_leave_one_out(lasts[0])
    assert method is not None  # else the pipeline would be unsupported
    results = method.predict_many(lasts, rows, y, sample_weight)
    if all(_is_stateless(step) for _, step in first.steps[:-1]):
        return results
    return [
        replace(result, method="approximate" if result.method == "exact" else result.method)
        for result in results
    ]


def _part_reason(role: str, name: str, estimator: Any) -> str | None:
    """Return why a step or a member has no leave-one-out predictions."""
    method = None if isinstance(estimator, str) else find_leave_one_out(estimator)
    if method is None:
        what = estimator if isinstance(estimator, str) else type_name(estimator)
        return f"the {role} {name!r} ({what}) has no leave-one-out method"
    reason = method.unsupported_reason(estimator)
    return None if reason is None else f"of the {role} {name!r}: {reason}"


def _parts(step: Any) -> Iterator[Any] | None:
    """Return the parts of a composite step; None for any other step."""
    if isinstance(step, Pipeline):
        return (part for _, part in step.steps)
    if isinstance(step, FeatureUnion):
        return (part for _, part in step.transformer_list)
    if isinstance(step, ColumnTransformer):
        return (part for _, part, _ in step.transformers)
    return None


def _target_reason(step: Any) -> str | None:
    """Return why a step is taken to use the target; None if it does not.

    Tags decide for most steps. SelectKBest and similar ones depend on their score function, and
    wrappers of models on those models, so all feature selection except by variance counts.
    """
    if isinstance(step, str) or step is None:
        return None
    parts = _parts(step)
    if parts is not None:
        return next((reason for part in parts if (reason := _target_reason(part))), None)
    reason = f"({type(step).__name__}) is fitted to the target of all rows"
    selects = isinstance(step, SelectorMixin) and not isinstance(step, VarianceThreshold)
    if selects or isinstance(step, PLSSVD):
        return reason
    try:
        tags = get_tags(step)
    except (AttributeError, TypeError, ValueError):
        return f"({type(step).__name__}) has no tags that show whether it uses the target"
    supervised = tags.target_tags.required or tags.estimator_type in ("classifier", "regressor")
    return reason if supervised else None


def _is_stateless(step: Any) -> bool:
    if isinstance(step, str) or step is None:
        return True
    parts = _parts(step)
    if parts is not None:
        return all(_is_stateless(part) for part in parts)
    if isinstance(step, (HashingVectorizer, FeatureHasher)):  # no tag before scikit-learn 1.7
        return True
    return not get_tags(step).requires_fit


class VotingMethod(LeaveOneOutMethod):
    """Leave-one-out of VotingClassifier and VotingRegressor."""

    name = "voting"
    estimator_types = (VotingClassifier, VotingRegressor)

    def unsupported_reason(self, estimator: Any) -> str | None:
        members = [member for member in estimator.estimators if not _is_dropped(member[1])]
        reasons = (_part_reason("member", *member) for member in members)
        return next(filter(None, reasons), None)

    def _predict(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None
    ) -> LOOPredictions:
        classifier = type(model) is VotingClassifier
        target = model.le_.transform(np.asarray(y)) if classifier else y
        members = []
        for member in model.estimators_:
            found = find_leave_one_out(member)
            assert found is not None  # else the ensemble would be unsupported
            members.append(found.predict(member, X, target, sample_weight))
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
    given = np.ones(len(model.estimators)) if model.weights is None else model.weights
    pairs = zip(model.estimators, given, strict=True)
    weights = np.array([w for (_, member), w in pairs if not _is_dropped(member)], dtype=float)
    if type(model) is VotingRegressor:
        return {"predict": np.average(values, axis=0, weights=weights)}
    if model.voting == "soft":
        means = np.average(values, axis=0, weights=weights)
        return {"predict": model.classes_[means.argmax(axis=1)], "predict_proba": means}
    votes = np.zeros((values.shape[1], len(model.classes_)))
    for codes, weight in zip(values, weights, strict=True):
        votes[np.arange(len(codes)), codes] += weight
    return {"predict": model.classes_[votes.argmax(axis=1)]}
