"""Metadata routing: what of the parameters of ``fit`` and ``score`` goes where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.utils import check_array
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.augment import ValidationSet
from leavezero.evaluation import Metric, Replicates, Scoring

LARGEST_WEIGHT = 1e150  # products with squared errors must be finite
_SCORER = "scorer_"


class GroupsConsumer(BaseEstimator):
    """Represents the augmenter in the router; it requests groups."""

    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - scikit-learn reads it from the class

    def fit(self, X: Table, y: AnyArray, *, groups: AnyArray | None = None) -> "GroupsConsumer":
        """Do nothing."""
        return self


@dataclass(frozen=True, eq=False)
class RoutedParams:
    """Parameters of ``fit`` by consumer."""

    fit: Mapping[str, Mapping[str, Any]]  # by estimator name
    score: Mapping[str, Mapping[str, Any]]  # by metric name
    groups: AnyArray | None = field(default=None, repr=False)
    sample_weight: Floats | None = field(default=None, repr=False)  # of the first metric with any
    weights_differ: bool = False  # between metrics
    has_metadata: bool = False  # of metrics, with one entry per training row, except weights


def make_router(owner: Any, estimators: Mapping[str, Any], scoring: Scoring) -> MetadataRouter:
    """Return the metadata router of a search."""
    router = MetadataRouter(owner=owner)
    to_fit = MethodMapping().add(caller="fit", callee="fit")
    for name, estimator in estimators.items():
        router.add(**{name: estimator}, method_mapping=to_fit)
    to_score = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
    first = next(iter(estimators.values()))
    for name, metric in scoring.metrics.items():
        scorer = check_scoring(first) if metric.scorer is None else metric.scorer
        router.add(**{f"{_SCORER}{name}": scorer}, method_mapping=to_score)
    return router.add(augmenter=GroupsConsumer(), method_mapping=to_fit)


def route_fit(
    owner: Any, params: Mapping[str, Any], scoring: Scoring, names: Iterable[str], n_rows: int
) -> RoutedParams:
    """Return the parameters of ``fit`` by consumer.

    Without metadata routing, groups go to the augmenter and everything else to the estimator;
    ``sample_weight`` also goes to the metrics.
    """
    given = {name: value for name, value in params.items() if value is not None}
    for name in ("sample_weight", "groups"):
        if name not in given:
            continue
        shape = np.shape(given[name])
        if shape != (n_rows,):
            raise ValueError(
                f"{name} passed to {type(owner).__name__} must have one entry per row of X "
                f"({n_rows}), got {shape[0] if len(shape) == 1 else f'an array of shape {shape}'}."
            )
    if "sample_weight" in given:
        try:
            weight = given["sample_weight"]
            numbers = check_array(
                weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight"
            )
            if np.abs(numbers).max(initial=0.0) > LARGEST_WEIGHT:
                raise ValueError(f"they must be at most {LARGEST_WEIGHT:g}, or products overflow.")
            if not np.any(weight):
                raise ValueError("Sample weights must contain at least one non-zero number.")
        except (OverflowError, TypeError, ValueError) as error:
            raise ValueError(
                f"sample_weight passed to {type(owner).__name__} must have finite numbers: {error}"
            ) from error
    metrics = list(scoring.metrics)
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(owner, "fit", **given)
        score = {name: dict(routed[f"{_SCORER}{name}"].score) for name in metrics}
        fit = {name: dict(routed[name].fit) for name in names}
        return _with_weights(fit, score, n_rows, routed["augmenter"].fit.get("groups"))
    groups = given.pop("groups", None)
    weight = {name: value for name, value in given.items() if name == "sample_weight"}
    score = {name: dict(weight) for name in metrics}
    return _with_weights(dict.fromkeys(names, given), score, n_rows, groups)


def _with_weights(
    fit: Mapping[str, Any], score: Mapping[str, Any], n_rows: int, groups: AnyArray | None
) -> RoutedParams:
    weights: list[Any] = [params.get("sample_weight") for params in score.values()]
    present = [np.asarray(weight, dtype=np.float64) for weight in weights if weight is not None]
    differ = any(not np.array_equal(weights[0], other) for other in weights[1:])
    weight = present[0] if present else None
    others = [v for one in score.values() for name, v in one.items() if name != "sample_weight"]
    has_metadata = any(_is_per_row(value, n_rows) for value in others)
    return RoutedParams(fit, score, groups, weight, differ, has_metadata)


def route_score(owner: Any, params: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return the parameters of ``score`` for a metric."""
    if get_config()["enable_metadata_routing"]:
        return dict(process_routing(owner, "score", **params)[f"{_SCORER}{name}"].score)
    if params:
        raise ValueError(
            f"Passing {', '.join(sorted(params))} to score of {type(owner).__name__} is only "
            "supported if metadata routing is enabled: call "
            "sklearn.set_config(enable_metadata_routing=True) and set the scorer's request."
        )
    return {}


def with_params(
    metric: Metric, params: Mapping[str, Any], n_rows: int, replicates: Replicates | None
) -> Metric:
    """Return a metric with its routed parameters, for validation rows or (None) training rows.

    The weight of a generated row is the mean over its source rows; another parameter with one entry
    per training row is taken from the first source row.
    """
    weight = params.get("sample_weight")
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64)
        if replicates is not None:  # rows sampled from weighted data need no weights
            unweighted = replicates.weighted or replicates.fixed
            weight = None if unweighted else replicates.rows.source_means(weight)
    others = {name: value for name, value in params.items() if name != "sample_weight"}
    per_row = {name: value for name, value in others.items() if _is_per_row(value, n_rows)}
    return replace(
        metric,
        weight=weight,
        constants={name: value for name, value in others.items() if name not in per_row},
        per_row={
            name: _at_rows(name, value, None if replicates is None else replicates.rows)
            for name, value in per_row.items()
        },
    )


def _at_rows(name: str, value: Any, rows: ValidationSet | None) -> AnyArray:
    values = np.asarray(value)
    if rows is None:
        return values
    if rows.source_rows is None:
        raise ValueError(
            f"{name} is routed to the scorer with one entry per row, which requires an augmenter "
            "whose rows have source rows, such as LabelInvariantMixup()."
        )
    return np.asarray(take_rows(values, rows.source_rows[:, 0]))


def _is_per_row(value: Any, n_rows: int) -> bool:
    if isinstance(value, str | Mapping) or not hasattr(value, "__len__"):
        return False
    return count_rows(value) == n_rows
