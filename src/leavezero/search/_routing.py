"""Metadata on their way from ``fit`` and ``score`` to the estimator, the scorers and V."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.base import BaseEstimator
from sklearn.metrics import check_scoring
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Floats, Table
from leavezero.augment import ValidationSet
from leavezero.engine import Metric, Replicates, Scoring

_SCORER = "scorer_"


class GroupsConsumer(BaseEstimator):
    """Stands for the augmenter, which takes the groups of rows unless told otherwise."""

    __metadata_request__fit = {"groups": True}  # noqa: RUF012 - scikit-learn reads it from the class

    def fit(self, X: Table, y: AnyArray, *, groups: AnyArray | None = None) -> "GroupsConsumer":
        """Take groups; nothing is learned."""
        return self


@dataclass(frozen=True, eq=False)
class Routed:
    """What goes where."""

    fit: dict[str, dict[str, Any]]  # by the search's member
    score: dict[str, dict[str, Any]]  # by the name of the metric
    groups: AnyArray | None = field(default=None, repr=False)

    @property
    def sample_weight(self) -> Floats | None:
        """The weights that metrics asked for, or None; V can be drawn by one only."""
        found = [params.get("sample_weight") for params in self.score.values()]
        asked = [np.asarray(weight, dtype=np.float64) for weight in found if weight is not None]
        return asked[0] if asked else None

    @property
    def weights_differ(self) -> bool:
        """Whether metrics asked for different weights."""
        found: list[Any] = [params.get("sample_weight") for params in self.score.values()]
        return any(not np.array_equal(found[0], weight) for weight in found[1:])


def router(owner: Any, estimators: Mapping[str, Any], scoring: Scoring) -> MetadataRouter:
    """Return who is asked for what by ``fit`` and ``score`` of a search."""
    found = MetadataRouter(owner=owner)
    to_fit = MethodMapping().add(caller="fit", callee="fit")
    for name, estimator in estimators.items():
        found.add(**{name: estimator}, method_mapping=to_fit)
    to_score = MethodMapping().add(caller="fit", callee="score").add(caller="score", callee="score")
    first = next(iter(estimators.values()))
    for name, metric in scoring.metrics.items():
        scorer = check_scoring(first) if metric.scorer is None else metric.scorer
        found.add(**{f"{_SCORER}{name}": scorer}, method_mapping=to_score)
    return found.add(augmenter=GroupsConsumer(), method_mapping=to_fit)


def route_fit(
    owner: Any, params: Mapping[str, Any], scoring: Scoring, members: Iterable[str], n_rows: int
) -> Routed:
    """Return what of the parameters of ``fit`` goes to the estimator, the metrics and V.

    Without scikit-learn's metadata routing everything goes to the estimator, groups excepted, and
    the weights to the metrics too.
    """
    given = {name: value for name, value in params.items() if value is not None}
    _check_lengths(given, n_rows, type(owner).__name__)
    names = list(scoring.metrics)
    if get_config()["enable_metadata_routing"]:
        routed = process_routing(owner, "fit", **given)
        score = {name: dict(routed[f"{_SCORER}{name}"].score) for name in names}
        fit = {member: dict(routed[member].fit) for member in members}
        return Routed(fit, score, routed["augmenter"].fit.get("groups"))
    groups = given.pop("groups", None)
    weight = {name: value for name, value in given.items() if name == "sample_weight"}
    score = {name: dict(weight) for name in names}
    return Routed(dict.fromkeys(members, given), score, groups)


def route_score(owner: Any, params: Mapping[str, Any], name: str) -> dict[str, Any]:
    """Return what of the parameters of ``score`` goes to a metric."""
    if get_config()["enable_metadata_routing"]:
        return dict(process_routing(owner, "score", **params)[f"{_SCORER}{name}"].score)
    if params:
        raise ValueError(
            f"score of {type(owner).__name__} got the parameters {', '.join(sorted(params))}, "
            "which need metadata routing. Call "
            "sklearn.set_config(enable_metadata_routing=True) and set the scorer's request."
        )
    return {}


def with_params(
    metric: Metric, params: Mapping[str, Any], n_rows: int, drawn: Replicates | None
) -> Metric:
    """Return a metric with its routed parameters, for rows of V or, with None, for given rows.

    A weight reaches a new row as the mean over its origins, another parameter with one entry a
    given row from its first origin.
    """
    weight = params.get("sample_weight")
    if weight is not None:
        weight = np.asarray(weight, dtype=np.float64)
        if drawn is not None:  # V that is drawn from weighted data needs no weights
            weight = None if drawn.weighted or drawn.given else drawn.rows.source_means(weight)
    own = {name: value for name, value in params.items() if name != "sample_weight"}
    aligned = {name: value for name, value in own.items() if _is_by_row(value, n_rows)}
    return replace(
        metric,
        weight=weight,
        constants={name: value for name, value in own.items() if name not in aligned},
        by_row={
            name: _on_rows(name, value, None if drawn is None else drawn.rows)
            for name, value in aligned.items()
        },
    )


def _on_rows(name: str, value: Any, rows: ValidationSet | None) -> AnyArray:
    values = np.asarray(value)
    if rows is None:
        return values
    if rows.source_rows is None:
        raise ValueError(
            f"{name} is routed to the scorer with one entry a row, but rows of V that are drawn "
            "without origins cannot have one. Use an augmenter with origins, such as "
            "LabelInvariantMixup()."
        )
    return np.asarray(take_rows(values, rows.source_rows[:, 0]))


def _is_by_row(value: Any, n_rows: int) -> bool:
    if isinstance(value, str | Mapping) or not hasattr(value, "__len__"):
        return False
    return count_rows(value) == n_rows


def _check_lengths(params: Mapping[str, Any], n_rows: int, owner: str) -> None:
    for name in ("sample_weight", "groups"):
        if name in params and count_rows(params[name]) != n_rows:
            raise ValueError(
                f"{name} given to {owner} has {count_rows(params[name])} entries and X has "
                f"{n_rows} rows. Give one entry for each row."
            )
