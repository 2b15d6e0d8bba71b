"""Pipelines whose steps before the last are the same, but for one that may vary."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.pipeline import Pipeline

from leavezero._tables import count_rows, take_rows
from leavezero._typing import AnyArray, Table
from leavezero.families._base import Family
from leavezero.families._registry import family_of
from leavezero.families._shared_pca import (
    fit_transform_many,
    is_cuttable,
    number_asked,
    transform_many,
    without_number,
)
from leavezero.families._shared_words import (
    choice,
    fit_vectorize_many,
    is_countable,
    vectorize_many,
    without_choice,
)
from leavezero.families._together import NOT_LEARNED, blocks_of, digest, fit_each, n_columns

METHODS = ("predict", "predict_proba", "decision_function")
MOST_CELLS = 2**27  # of transformed rows that are kept for all: a gibibyte
PROBE = slice(0, 100)  # rows that tell how wide the others will be

Fork = list[Any]  # pipelines with the same steps before the last


@dataclass(frozen=True, eq=False)
class Varied:
    """A kind of step in which pipelines that are fitted together may differ.

    ``alike`` makes such steps equal, ``variant`` tells them apart and orders them; the other two
    do for all of them what a step's own methods do.
    """

    covers: Callable[[Any], bool]
    alike: Callable[[Any], Any]
    variant: Callable[[Any], Any]
    fit_transform: Callable[[list[Any], Table], list[Table]]
    transform: Callable[[list[Any], Table], list[Table]]


VARIED = (  # of several steps in a pipeline, the first kind counts
    Varied(is_cuttable, without_number, number_asked, fit_transform_many, transform_many),
    Varied(is_countable, without_choice, choice, fit_vectorize_many, vectorize_many),
)


def pipeline_key(pipeline: Any) -> Any:
    """Return the steps before the last one, and what the last one shares by itself.

    None if a pipeline is more than its steps, or ends in none, or if a step has no digest.
    """
    last = pipeline.steps[-1][1]
    alone = last is None or isinstance(last, str) or not _is_only_steps(pipeline)
    if alone or _is_heard(pipeline):
        return None
    prefix, (family, inner) = digest(_before(pipeline)), last_shares(last)
    if prefix is None:
        return None
    return (prefix, "alone") if family is None else (prefix, family.name, inner)


def last_shares(last: Any) -> tuple[Family | None, Any]:
    """Return the family that fits last steps together, and what they share; None twice if not."""
    family = family_of(last)
    inner = None if family is None else family.shares(last)
    return (None, None) if inner is None else (family, inner)


def variant_of(pipeline: Any) -> Any:
    """Return what tells a pipeline's varied step from those of others, in an order."""
    leaves = _leaves(pipeline.steps[:-1])
    return next((_kind(leaf).variant(leaf) for leaf in leaves[_place(leaves) :]), None)


def fit_pipelines(pipelines: list[Any], X: Table, y: AnyArray, *, drafted: bool = False) -> None:
    """Fit the steps before the last ones once, and the last ones as their own family does.

    Last steps may become drafts if that is wanted.
    """
    forks = _forks(pipelines)
    firsts = [_leaves(fork[0].steps[:-1]) for fork in forks]
    place = _place(firsts[0])
    head, rows = _fit_steps(firsts[0][:place], X, y)
    varied = [leaf for first in firsts for leaf in first[place : place + 1]]
    parts = _kind(varied[0]).fit_transform(varied, rows) if varied else [rows]
    for fork, first, part in zip(forks, firsts, parts, strict=True):
        tail, made = _fit_steps(first[place + 1 :], part, y)
        for one in fork:
            steps = _refilled(one.steps[:-1], iter([*head, *first[place : place + 1], *tail]))
            one.steps = [*steps, one.steps[-1]]
        lasts = _fit_lasts([one.steps[-1][1] for one in fork], made, y, drafted)
        for one, last in zip(fork, lasts, strict=True):
            one.steps[-1] = (one.steps[-1][0], last)


def remember_pipelines(models: list[Any], X: Table, y: AnyArray) -> None:
    """Let the last steps note what they share, on the rows that they were fitted to."""
    family = family_of(models[0].steps[-1][1])
    if family is not None:
        for fork, rows in transformed_forks(models, X):
            family.remember([model.steps[-1][1] for model in fork], rows, y)


def transformed_forks(models: list[Any], X: Table) -> Iterator[tuple[Fork, Table]]:
    """Return pipelines parted by the rows that their steps before the last make, and these rows."""
    forks = _forks(models)
    return zip(forks, _transformed(forks, X), strict=True)


def ask_pipelines(models: list[Any], X: Table) -> list["LastStep"] | None:
    """Return what the last steps say, on rows that the others transform once.

    None if the transformed rows are too many to keep.
    """
    forks = _forks(models)
    if len(models[0].steps) > 1:
        width = sum(map(_cells_a_row, _owners(_transformed(forks, take_rows(X, PROBE)))))
        if count_rows(X) * width > MOST_CELLS:
            return None
    said = {}
    for fork, rows in transformed_forks(models, X):
        lasts = [model.steps[-1][1] for model in fork]
        family = family_of(lasts[0])
        ready = None if family is None else family.respond_many(lasts, rows)
        for model, last, told in zip(fork, lasts, ready or [{}] * len(lasts), strict=True):
            said[id(model)] = LastStep(last, rows, told)
    return [said[id(model)] for model in models]


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


def _is_only_steps(pipeline: Any) -> bool:
    """Tell whether a pipeline does what its steps do one by one, with no cache and no voice."""
    routes = getattr(pipeline, "transform_input", None) is not None
    return pipeline.memory is None and not pipeline.verbose and not routes


def _is_nest(step: Any) -> bool:
    return type(step) is Pipeline and _is_only_steps(step)


def _is_heard(pipeline: Any) -> bool:
    """Tell whether an unfitted pipeline, or one inside, carries more than parameters: callbacks."""
    more = vars(pipeline).keys() - pipeline.get_params(deep=False).keys() - set(NOT_LEARNED)
    return bool(more) or any(_is_heard(step) for _, step in pipeline.steps if _is_nest(step))


def _before(pipeline: Any) -> Any:
    """Return what is equal before the last steps of pipelines that are fitted together."""
    leaves = _leaves(pipeline.steps[:-1])
    place = _place(leaves)
    same = [_kind(leaf).alike(leaf) if at == place else leaf for at, leaf in enumerate(leaves)]
    return _names(pipeline.steps[:-1]), same


def _names(steps: list[Any]) -> list[Any]:
    return [(name, _names(step.steps) if _is_nest(step) else None) for name, step in steps]


def _leaves(steps: list[Any]) -> list[Any]:
    """Return the steps in order, those of pipelines inside in their place."""
    found = []
    for _, step in steps:
        found += _leaves(step.steps) if _is_nest(step) else [step]
    return found


def _place(leaves: list[Any]) -> int:
    """Return where the step is that may vary; the end if there is none."""
    places = (at for kind in VARIED for at, leaf in enumerate(leaves) if kind.covers(leaf))
    return next(places, len(leaves))


def _kind(step: Any) -> Varied:
    return next(kind for kind in VARIED if kind.covers(step))


def _forks(pipelines: list[Any]) -> list[Fork]:
    """Return pipelines that share something, parted by the step that varies."""
    forks: dict[Any, Fork] = {}
    for pipeline in pipelines:
        forks.setdefault(variant_of(pipeline), []).append(pipeline)
    return list(forks.values())


def _fit_steps(steps: list[Any], X: Table, y: AnyArray) -> tuple[list[Any], Table]:
    """Fit steps one after the other; return them and the rows that they make."""
    if not steps:
        return [], X
    line = _line(steps)
    rows = line.fit_transform(X, y)
    return [step for _, step in line.steps], rows


def _transformed(forks: list[Fork], X: Table) -> list[Table]:
    """Return what the fitted steps before the last make of rows, for each fork."""
    firsts = [_leaves(fork[0].steps[:-1]) for fork in forks]
    place = _place(firsts[0])
    rows = _line(firsts[0][:place]).transform(X) if place else X
    varied = [leaf for first in firsts for leaf in first[place : place + 1]]
    parts = _kind(varied[0]).transform(varied, rows) if varied else [rows]
    tails = [first[place + 1 :] for first in firsts]
    return [
        _line(tail).transform(part) if tail else part
        for tail, part in zip(tails, parts, strict=True)
    ]


def _line(steps: list[Any]) -> Pipeline:
    return Pipeline([(str(at), step) for at, step in enumerate(steps)])


def _refilled(steps: list[Any], leaves: Iterator[Any]) -> list[Any]:
    """Return steps with fitted ones in their place, also in the pipelines inside."""
    filled = []
    for name, step in steps:
        if _is_nest(step):
            step.steps = _refilled(step.steps, leaves)
        filled.append((name, step if _is_nest(step) else next(leaves)))
    return filled


def _fit_lasts(lasts: list[Any], rows: Table, y: AnyArray, drafted: bool) -> list[Any]:
    """Return the last steps, fitted or as drafts."""
    family, _ = last_shares(lasts[0])
    if family is None or (len(lasts) == 1 and not getattr(family, "pays_alone", False)):
        fit_each(lasts, rows, y, None)
        return lasts
    drafts = family.draft_many(lasts, rows, y) if drafted else None
    if drafts is None:
        family.fit_many(lasts, rows, y)
    return lasts if drafts is None else drafts


def _owners(tables: list[Table]) -> list[Table]:
    """Return the tables that hold the numbers: columns cut from one are not counted again."""
    held = [one if getattr(one, "base", None) is None else one.base for one in tables]
    return list({id(one): one for one in held}.values())


def _cells_a_row(rows: Table) -> int:
    """Return how many numbers a row holds: of a sparse matrix those that are stored."""
    if sparse.issparse(rows):
        return 1 + 2 * rows.nnz // max(1, rows.shape[0])  # with the column of each
    return n_columns(rows)
