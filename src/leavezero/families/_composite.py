"""Pipelines and votes: what their parts say about rows that they have not seen."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.compose import ColumnTransformer
from sklearn.cross_decomposition import PLSSVD
from sklearn.ensemble import VotingClassifier, VotingRegressor
from sklearn.feature_extraction import FeatureHasher
from sklearn.feature_extraction.text import HashingVectorizer
from sklearn.feature_selection import SelectorMixin, VarianceThreshold
from sklearn.pipeline import FeatureUnion, Pipeline
from sklearn.utils import get_tags

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Bools, Floats, Table
from leavezero.families._base import MOST_TOGETHER, Family, Kind, Unseen
from leavezero.families._registry import family_of
from leavezero.families._together import blocks_of, digest, fit_each, n_columns

NOTHING = (None, "passthrough", "drop")
METHODS = ("predict", "predict_proba", "decision_function")
MOST_CELLS = 2**27  # of transformed rows that are kept for all: a gibibyte
FEW_TOGETHER = 8  # so that other workers have something to do
PROBE = slice(0, 100)  # rows that tell how wide the others will be


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
        before, last = [step for _, step in model.steps[:-1]], model.steps[-1][1]
        rows = model[:-1].transform(X) if before else X
        told = _family(last).unseen(last, rows, y, sample_weight)
        learned = not all(_learns_nothing(step) for step in before)
        kind: Kind = "approximate" if learned else told.kind
        return Unseen(kind, told.responses, told.known, told.doubt, told.rows)

    def most_together(self, estimator: Any) -> int:
        """Return fewer where only the steps before the last are shared: the rest is one by one."""
        return FEW_TOGETHER if _last_shares(estimator.steps[-1][1])[0] is None else MOST_TOGETHER

    def shares(self, estimator: Any) -> Any:
        """Return the steps before the last one, and what the last one shares by itself."""
        *before, (_, last) = estimator.steps
        asks_more = getattr(estimator, "transform_input", None) is not None  # scikit-learn >= 1.6
        if estimator.memory is not None or estimator.verbose or asks_more or last in NOTHING:
            return None
        prefix, (family, inner) = digest(before), _last_shares(last)
        if prefix is None:
            return None
        return (prefix, "alone") if family is None else (prefix, family.name, inner)

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
        lasts = [one.steps[-1][1] for one in estimators]
        family, _ = _last_shares(lasts[0])
        rows = X
        if len(estimators[0].steps) > 1:
            prefix = estimators[0][:-1]
            rows = prefix.fit_transform(X, y)
            for one in estimators:
                one.steps = [*prefix.steps, one.steps[-1]]
        if family is None or (len(lasts) == 1 and not getattr(family, "pays_alone", False)):
            fit_each(lasts, rows, y, None)
        else:
            family.fit_many(lasts, rows, y)

    def respond_many(self, models: list[Any], X: Table) -> Sequence[Mapping[str, AnyArray]] | None:
        """Return what the last steps say, on rows that the others transform once.

        None if the transformed rows are too many to keep.
        """
        rows = X
        if len(models[0].steps) > 1:
            prefix = models[0][:-1]
            if count_rows(X) * _cells_a_row(prefix.transform(take_rows(X, PROBE))) > MOST_CELLS:
                return None
            rows = prefix.transform(X)
        lasts = [model.steps[-1][1] for model in models]
        family = family_of(lasts[0])
        ready = None if family is None else family.respond_many(lasts, rows)
        return [
            LastStep(last, rows, told)
            for last, told in zip(lasts, ready or [{}] * len(lasts), strict=True)
        ]


class LastStep(Mapping[str, AnyArray]):
    """What a pipeline's last step says of transformed rows, made when it is asked for."""

    def __init__(self, last: Any, rows: Table, ready: Mapping[str, AnyArray]) -> None:
        self._last, self._rows, self._ready = last, rows, ready
        self._methods = [method for method in METHODS if hasattr(last, method)]

    def __getitem__(self, method: str) -> AnyArray:
        if method not in self._methods:
            raise KeyError(method)
        if method in self._ready:
            return self._ready[method]
        ask = getattr(self._last, method)
        parts = [ask(block) for block in blocks_of(self._rows, _cells_a_row(self._rows))]
        return np.concatenate(parts)

    def __iter__(self) -> Iterator[str]:
        return iter(self._methods)

    def __len__(self) -> int:
        return len(self._methods)


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


def _last_shares(last: Any) -> tuple[Family | None, Any]:
    """Return the family that fits last steps together, and what they share; None twice if not."""
    family = family_of(last)
    inner = None if family is None else family.shares(last)
    return (None, None) if inner is None else (family, inner)


def _cells_a_row(rows: Table) -> int:
    """Return how many numbers a row holds: of a sparse matrix those that are stored."""
    if sparse.issparse(rows):
        return 1 + 2 * rows.nnz // max(1, rows.shape[0])  # with the column of each
    return n_columns(rows)


def _family(estimator: Any) -> Family:
    family = family_of(estimator)
    if family is None:
        raise ValueError(f"no family knows {type(estimator).__name__}.")
    return family


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
