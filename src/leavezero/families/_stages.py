"""Boosting and forests whose number of members is all that differs: the largest is grown once."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.utils import check_array

from leavezero._tables import count_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.families._base import Family
from leavezero.families._together import (
    blocks_of,
    fit_each,
    fit_one,
    hand_on,
    is_seed,
    n_columns,
    settings_key,
)

GRADIENT = (GradientBoostingClassifier, GradientBoostingRegressor)
HISTOGRAM = (HistGradientBoostingClassifier, HistGradientBoostingRegressor)
ADAPTIVE = (AdaBoostClassifier, AdaBoostRegressor)
FORESTS = (
    RandomForestClassifier,
    RandomForestRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
)
AUTO_STOPS = 10_000  # rows from which on early_stopping="auto" of histogram boosting stops early

Answers = dict[str, AnyArray]


class BoostingFamily(Family):
    """Gradient and adaptive boosting: stages are fitted, and answer, once.

    A model with few stages is the beginning of one with more, so a fit that grows passes through
    all of them: bit for bit, given a seed. With early stopping it would not, and each is fitted by
    itself. Nothing is known of rows that a model has not seen.

    Examples
    --------
    >>> from sklearn.ensemble import GradientBoostingRegressor
    >>> from leavezero.families._stages import BoostingFamily
    >>> few, many = (GradientBoostingRegressor(n_estimators=k, random_state=0) for k in (2, 9))
    >>> BoostingFamily().fit_many([few, many], [[0.0], [1.0], [2.0]], [0.0, 1.0, 5.0])
    >>> len(few.estimators_), few.get_params()["warm_start"]
    (2, False)
    """

    name = "boosting"

    def covers(self, estimator: Any) -> bool:
        """Tell whether the estimator is one of scikit-learn's boosted ensembles itself."""
        return type(estimator) in (*GRADIENT, *ADAPTIVE)

    def shares(self, estimator: Any) -> Any:
        """Return all parameters but the number of stages."""
        return stages_key(estimator)

    def fit_many(
        self, estimators: list[Any], X: Table, y: AnyArray, sample_weight: Floats | None = None
    ) -> None:
        """Fit the stages of all estimators once; equal to plain fits bit for bit."""
        fit_stages(estimators, X, y, sample_weight)

    def respond_many(self, models: list[Any], X: Table) -> list[Answers] | None:
        """Return what each model says, from one walk through the stages of the largest.

        Labels are those of the models, scores and probabilities theirs up to rounding.
        """
        return respond_stages(models, X)


def stages_key(estimator: Any) -> Any:
    """Return what an ensemble shares with others of any size; None if sizes do not nest.

    Out-of-bag scores that were asked for would have to be made for each size.
    """
    if not is_seed(estimator.random_state) or _stops_early(estimator):
        return None
    if type(estimator) in FORESTS and estimator.oob_score:
        return None
    return settings_key(estimator, _size_name(estimator))


def fit_stages(estimators: list[Any], X: Table, y: AnyArray, sample_weight: Any) -> None:
    """Fit ensembles that differ in size only."""
    if not nest_without_stops(estimators, X):
        fit_each(estimators, X, y, sample_weight)
    elif type(estimators[0]) in (*FORESTS, *ADAPTIVE):
        _cut(estimators, X, y, sample_weight)
    else:
        _grow(estimators, X, y, sample_weight)


def respond_stages(models: list[Any], X: Table) -> list[Answers] | None:
    """Return the answers of ensembles that were fitted together; None if no walk is shorter."""
    largest = max(models, key=size_of)
    largest = getattr(largest, "whole", largest)  # a draft is the beginning of another
    if not _walks(models, largest):
        return None
    sizes = {_length(model) for model in models}
    parts = [dict(_walk(largest, block, sizes)) for block in blocks_of(X, n_columns(X))]
    wholes = {size: np.concatenate([part[size] for part in parts]) for size in parts[0]}
    return [_answers(model, wholes[_length(model)]) for model in models]


def beginning(draft: Any, X: Table) -> Answers:
    """Return what the first stages of a model say of rows."""
    size = size_of(draft)
    parts = [dict(_walk(draft.whole, block, {size})) for block in blocks_of(X, n_columns(X))]
    return _answers(draft, np.concatenate([part[size] for part in parts]))


def size_of(estimator: Any) -> Any:
    """Return of how many members an ensemble is."""
    return getattr(estimator, _size_name(estimator))


def nest_without_stops(estimators: list[Any], X: Table) -> bool:
    """Tell whether each is the beginning of any larger one.

    Sizes that are no numbers of members are left to the plain fit to refuse.
    """
    n_rows = count_rows(X)
    return all(
        isinstance(size_of(one), int | np.integer)
        and size_of(one) > 0
        and not _stops_early(one, n_rows)
        for one in estimators
    )


def _size_name(estimator: Any) -> str:
    return "max_iter" if isinstance(estimator, HISTOGRAM) else "n_estimators"


def _stops_early(estimator: Any, n_rows: int = 0) -> bool:
    """Tell whether a fit to so many rows may end before its last stage."""
    if isinstance(estimator, HISTOGRAM):
        stops = estimator.early_stopping
        return n_rows > AUTO_STOPS if stops == "auto" else bool(stops)
    return getattr(estimator, "n_iter_no_change", None) is not None


def _grow(estimators: list[Any], X: Table, y: AnyArray, sample_weight: Any) -> None:
    """Let one model grow to each size in turn, and hand on what it is then."""
    grown, reached = clone(estimators[0]).set_params(warm_start=True), 0
    for estimator in sorted(estimators, key=size_of):
        if size_of(estimator) > reached:
            reached = size_of(estimator)
            fit_one(grown.set_params(**{_size_name(grown): reached}), X, y, sample_weight)
        hand_on(grown, estimator, shared=np.ravel(getattr(grown, "estimators_", [])))


def _cut(estimators: list[Any], X: Table, y: AnyArray, sample_weight: Any) -> None:
    """Fit the largest, and give the others its first members."""
    largest = fit_one(max(estimators, key=size_of), X, y, sample_weight)
    each = ("estimators_", "estimator_weights_", "estimator_errors_")
    for estimator in estimators:
        if estimator is not largest:
            first = {
                name: vars(largest)[name][: size_of(estimator)].copy()
                for name in each
                if name in vars(largest)
            }
            hand_on(largest, estimator, first)


def _walks(models: list[Any], largest: Any) -> bool:
    """Tell whether the models are the beginnings of the largest, and can be heard as it grows."""
    kind = type(largest)
    if kind is AdaBoostRegressor:  # a median, not a sum
        return False
    if issubclass(kind, HISTOGRAM):
        return not any(model.do_early_stopping_ for model in models)
    if getattr(largest, "n_outputs_", 1) > 1 or len(getattr(largest, "classes_", (0, 1))) < 2:
        return False
    return all(
        np.ravel(model.estimators_)[0] is np.ravel(largest.estimators_)[0] for model in models
    )


def _length(model: Any) -> int:
    """Return how many stages there are: adaptive boosting ends when nothing is left to learn."""
    return int(model.n_iter_) if isinstance(model, HISTOGRAM) else len(model.estimators_)


def _walk(largest: Any, X: Table, sizes: set[int]) -> Iterator[tuple[int, Floats]]:
    """Yield, for each size, sums of the first members' voices as the model would make them."""
    if type(largest) in FORESTS:
        yield from _walk_trees(largest, X, sizes)
        return
    staged = getattr(largest, "staged_decision_function", None) or largest.staged_predict
    for at, said in enumerate(staged(X), start=1):
        if at in sizes:
            yield at, np.array(said)


def _walk_trees(forest: Any, X: Table, sizes: set[int]) -> Iterator[tuple[int, Floats]]:
    """Yield means over the first trees, summed in their order as the forest sums them."""
    # Trees read float32, and may or may not take missing cells: the first one checks.
    rows = check_array(X, accept_sparse="csr", dtype=np.float32, ensure_all_finite=False)
    method = "predict_proba" if hasattr(forest, "classes_") else "predict"
    total: Any = 0.0
    for at, tree in enumerate(forest.estimators_, start=1):
        total += getattr(tree, method)(rows, check_input=at == 1)
        if at in sizes:
            yield at, total / at


def _answers(model: Any, said: Floats) -> Answers:
    """Return the answers by method."""
    if not hasattr(model, "classes_"):
        return {"predict": said.reshape(len(said))}
    if type(model) in FORESTS:
        return {"predict": model.classes_.take(said.argmax(axis=1)), "predict_proba": said}
    scores = said.reshape(len(said), -1)
    if scores.shape[1] > 1:
        chances = softmax(scores / _spread(model), axis=1)
        labels = model.classes_[scores.argmax(axis=1)]
        return {"predict": labels, "predict_proba": chances, "decision_function": scores}
    scores = scores[:, 0]
    second = expit(scores / _spread(model))
    # A score of 0 is of the second class for gradient boosting, of the first for the others.
    yes = scores >= 0 if type(model) in GRADIENT else scores > 0
    return {
        "predict": model.classes_[yes.astype(np.intp)],
        "predict_proba": np.column_stack([1.0 - second, second]),
        "decision_function": scores,
    }


def _spread(model: Any) -> float:
    """Return by what scores are divided before they become probabilities."""
    if type(model) is AdaBoostClassifier:
        return float(max(len(model.classes_) - 1, 1))
    return 0.5 if getattr(model, "loss", None) == "exponential" else 1.0


FAMILIES = (BoostingFamily(),)
