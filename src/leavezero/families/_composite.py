"""Pipelines and votes: what their parts say about rows that they have not seen."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
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

from leavezero._typing import AnyArray, Bools, Floats, Table
from leavezero.families._base import MOST_TOGETHER, Asked, Family, Kind, Unseen
from leavezero.families._registry import family_of
from leavezero.families._shared_pipeline import (
    ask_pipelines,
    fit_pipelines,
    last_shares,
    pipeline_key,
    remember_pipelines,
    transformed_forks,
    variant_of,
)

NOTHING = (None, "passthrough", "drop")
FEW_TOGETHER = 8  # so that other workers have something to do


class PipelineFamily(Family):
    """A pipeline's last step, on what the steps before it make of the rows.

    Steps that look at no target may have seen the row: their result makes an exact kind
    approximate, unless they learn nothing at all. Steps that look at the target are refused.
    """

    name = "pipeline"
    pays_alone = True  # its last step may, and nothing is lost if not

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a Pipeline itself, not a subclass."""
        return type(estimator) is Pipeline

    def refuses(self, estimator: Any) -> str | None:
        """Return which step stands in the way, and why."""
        for name, step in estimator.steps[:-1]:
            reason = _looks_at_target(step)
            if reason:
                return f"the step {name!r} {reason}"
        return _member_refuses("last step", *estimator.steps[-1])

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return what the last step says about the rows, as if not seen."""
        _or_raise(self.refuses(model))
        last = model.steps[-1][1]
        rows = model[:-1].transform(X) if len(model.steps) > 1 else X
        return _through_steps(model, _family(last).unseen(last, rows, y, sample_weight))

    def unseen_many(
        self, models: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Asked]:
        """Return calls on rows that the steps before the last transform once."""
        asked: dict[int, Asked] = {}
        for fork, rows in transformed_forks(models, X):
            lasts = [model.steps[-1][1] for model in fork]
            calls = _family(lasts[0]).unseen_many(lasts, rows, y, sample_weight)
            asked |= {id(model): call for model, call in zip(fork, calls, strict=True)}
        return [partial(_ask_last, model, asked[id(model)]) for model in models]

    def most_together(self, estimator: Any) -> int:
        """Return fewer where only the steps before the last are shared: the rest is one by one."""
        return FEW_TOGETHER if last_shares(estimator.steps[-1][1])[0] is None else MOST_TOGETHER

    def order_key(self, estimator: Any) -> Any:
        """Return what orders the steps that vary, and what orders the last ones."""
        last = estimator.steps[-1][1]
        family, _ = last_shares(last)
        return variant_of(estimator), 0 if family is None else family.order_key(last)

    def shares(self, estimator: Any) -> Any:
        """Return the steps before the last one, and what the last one shares by itself.

        The number of components of the first PCA may differ where its solver finds all of them;
        where there is none, a vectorizer may differ in the words it keeps and their weights.
        """
        return pipeline_key(estimator)

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit the steps before the last ones once, and the last ones as their own family does.

        The fitted steps are the same objects in all pipelines; nothing changes them any more.
        """
        if sample_weight is not None:
            raise ValueError(
                "a Pipeline takes no sample_weight. Name the step that it is for, as in "
                "ridge__sample_weight."
            )
        fit_pipelines(estimators, X, y)

    def draft_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> list[Any] | None:
        """Return pipelines whose last steps are drafts, where their own family makes such."""
        family, _ = last_shares(estimators[0].steps[-1][1])
        if sample_weight is not None or family is None or not family.makes_drafts:
            return None
        fit_pipelines(estimators, X, y, drafted=True)
        return estimators

    def is_draft(self, model: Any) -> bool:
        """Tell whether the last step is one."""
        last = model.steps[-1][1]
        family = family_of(last)
        return family is not None and family.is_draft(last)

    def remember(self, models: list[Any], X: Table, y: AnyArray) -> None:
        """Let the last steps note what they share, on the rows that they were fitted to."""
        remember_pipelines(models, X, y)

    def respond_many(self, models: list[Any], X: Table) -> Sequence[Mapping[str, AnyArray]] | None:
        """Return what the last steps say, on rows that the others transform once.

        None if the transformed rows are too many to keep.
        """
        return ask_pipelines(models, X)


class VotingFamily(Family):
    """Votes and means of members, each of whose families is known."""

    name = "voting"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is a vote itself, not a subclass."""
        return type(estimator) in (VotingClassifier, VotingRegressor)

    def refuses(self, estimator: Any) -> str | None:
        """Return which member stands in the way, and why."""
        for name, member in estimator.estimators:
            reason = None if member in NOTHING[1:] else _member_refuses("member", name, member)
            if reason:
                return reason
        return None

    def unseen(
        self, model: Any, X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> Unseen:
        """Return the members' vote or mean, each member as if it had not seen the row."""
        _or_raise(self.refuses(model))
        classifier = type(model) is VotingClassifier
        target = model.le_.transform(np.asarray(y)) if classifier else y
        told = [_family(one).unseen(one, X, target, sample_weight) for one in model.estimators_]
        needed = "predict_proba" if classifier and model.voting == "soft" else "predict"
        kind, known, doubt = _kind(told), _known(told), _doubt(told, needed)
        if any(needed not in one.responses for one in told):
            return Unseen(kind, {}, known, doubt)
        voices = np.stack([one.responses[needed] for one in told])
        if not classifier:
            responses = {"predict": np.average(voices, axis=0, weights=_weights(model))}
            return Unseen(kind, responses, known, doubt)
        return Unseen(kind, _elect(model, voices), known, doubt)


def _family(estimator: Any) -> Family:
    family = family_of(estimator)
    if family is None:
        raise ValueError(f"no family knows {type(estimator).__name__}.")
    return family


def _ask_last(model: Any, ask: Asked) -> Unseen:
    return _through_steps(model, ask())


def _through_steps(model: Any, told: Unseen) -> Unseen:
    """Return what a pipeline's last step told, of a kind that its steps before allow."""
    learned = not all(_learns_nothing(step) for _, step in model.steps[:-1])
    return replace(told, kind="approximate") if learned else told


def _or_raise(reason: str | None) -> None:
    if reason:
        raise ValueError(f"Unseen rows are not available: {reason}.")


def _member_refuses(role: str, name: str, estimator: Any) -> str | None:
    family = None if isinstance(estimator, str) else family_of(estimator)
    if family is None:
        kind = estimator if isinstance(estimator, str) else type(estimator).__name__
        return f"no family knows the {role} {name!r}, {kind}"
    reason = family.refuses(estimator)
    return None if reason is None else f"of the {role} {name!r}: {reason}"


def _parts(step: Any) -> Iterator[Any] | None:
    """Yield the parts of a step that is made of others; None if it is one."""
    if isinstance(step, Pipeline):
        return (part for _, part in step.steps)
    if isinstance(step, FeatureUnion):
        return (part for _, part in step.transformer_list)
    if isinstance(step, ColumnTransformer):
        return (part for _, part, _ in step.transformers)
    return None


def _looks_at_target(step: Any) -> str | None:
    """Return why a step is taken to use the target; None if it does not.

    Tags tell for most; SelectKBest and its like depend on their score function, and the wrappers of
    models on those, so all selection but that by variance counts.
    """
    if isinstance(step, str) or step is None:
        return None
    parts = _parts(step)
    if parts is not None:
        return next((reason for part in parts if (reason := _looks_at_target(part))), None)
    learned = f"learns from the target ({type(step).__name__}), that of the row too"
    if isinstance(step, PLSSVD):
        return learned
    if isinstance(step, SelectorMixin) and not isinstance(step, VarianceThreshold):
        return learned
    try:
        tags = get_tags(step)
    except (AttributeError, TypeError, ValueError):
        return f"does not tell whether it learns from the target ({type(step).__name__})"
    supervised = tags.target_tags.required or tags.estimator_type in ("classifier", "regressor")
    return learned if supervised else None


def _learns_nothing(step: Any) -> bool:
    if isinstance(step, str) or step is None:
        return True
    parts = _parts(step)
    if parts is not None:
        return all(_learns_nothing(part) for part in parts)
    if isinstance(step, (HashingVectorizer, FeatureHasher)):  # no tag before scikit-learn 1.7
        return True
    return not get_tags(step).requires_fit


def _kind(told: list[Unseen]) -> Kind:
    kinds = {one.kind for one in told}
    return kinds.pop() if len(kinds) == 1 else "approximate"


def _known(told: list[Unseen]) -> Bools | None:
    masks = [one.known for one in told if one.known is not None]
    return np.logical_and.reduce(masks) if masks else None


def _doubt(told: list[Unseen], needed: str) -> str | None:
    doubts = [one.doubt for one in told if one.doubt]
    if not doubts and any(needed not in one.responses for one in told):
        return f"a member has no {needed} for rows that it has not seen"
    return doubts[0] if doubts else None


def _weights(model: Any) -> Floats | None:
    """Return the weights of the members that were not dropped."""
    if model.weights is None:
        return None
    pairs = zip(model.estimators, model.weights, strict=True)
    return np.array([weight for (_, member), weight in pairs if member != "drop"], dtype=float)


def _elect(model: Any, voices: AnyArray) -> dict[str, AnyArray]:
    """Return labels, and probabilities of a soft vote, as VotingClassifier makes them."""
    weights = _weights(model)
    if model.voting == "soft":
        chances = np.average(voices, axis=0, weights=weights)
        return {
            "predict": model.classes_[chances.argmax(axis=1)],
            "predict_proba": chances,
        }
    ballots = np.zeros((voices.shape[1], len(model.classes_)))
    for at, voice in enumerate(voices):
        ballots[np.arange(len(voice)), voice] += 1.0 if weights is None else weights[at]
    return {"predict": model.classes_[ballots.argmax(axis=1)]}


FAMILIES = (PipelineFamily(), VotingFamily())
