"""The second witness: what a model says of given rows as if it had not seen them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats, Ints, Table
from leavezero.augment import ValidationSet
from leavezero.engine._draw import Replicates
from leavezero.engine._judge import Verdict, judge
from leavezero.engine._metrics import Metric, metric_for
from leavezero.engine._responses import METHODS, Responses
from leavezero.families import Unseen, family_of

Ask = Callable[[], Unseen]


@dataclass(frozen=True, eq=False)
class Sight:
    """Verdicts on unseen rows by the metrics that could be asked, and why there are no others."""

    verdicts: Mapping[str, Verdict] = field(default_factory=dict)
    kind: str | None = None
    note: str | None = None

    def at(self, rows: Ints) -> "Sight":
        """Return the same with the gains of some given rows only."""
        return replace(self, verdicts={n: v.at(rows, None) for n, v in self.verdicts.items()})


class Told(Responses):
    """Answers from what a family told about the given rows; other methods are not there."""

    def __init__(self, model: Any, said: Mapping[str, AnyArray]) -> None:
        super().__init__(model, None)
        self._said = dict(said)

    def __getattr__(self, name: str) -> Any:
        if name in METHODS and name not in self._said:
            raise AttributeError(name)
        return super().__getattr__(name)

    def all_of(self, method: str) -> AnyArray:
        """Return what was told of all rows."""
        if method not in self._said:
            raise AttributeError(method)
        return self._said[method]


def look(
    model: Any,
    X: Table,
    y: AnyArray,
    fit_params: Mapping[str, Any],
    metrics: Mapping[str, Metric],
    classes: AnyArray | None,
    ask: Ask | None = None,
    whole: Replicates | None = None,
) -> Sight:
    """Return what is known of a fitted model on rows it has not seen, without another fit.

    A family that cannot answer, or warns of its answer, leaves a note and no verdict. ``ask`` is
    called for the answer where models fitted together have one in common; ``whole`` is
    ``given_rows(y, classes)``, where several models are asked of the same.
    """
    family, refused = family_of(model), refusal(model, fit_params)
    if family is None or refused is not None:
        return Sight(note=refused)
    try:
        if ask is None:
            ask = partial(family.unseen, model, X, y, fit_params.get("sample_weight"))
        unseen = ask()
    except Exception as error:  # a second opinion never costs a candidate its first
        return Sight(note=f"the family {family.name} failed: {error}")
    if unseen.doubt is not None:
        return Sight(kind=unseen.kind, note=unseen.doubt)
    return _judged(model, unseen, y, metrics, classes, whole)


def refusal(model: Any, fit_params: Mapping[str, Any]) -> str | None:
    """Return why a model, fitted or not, cannot be asked of unseen rows; None if it can."""
    family = family_of(model)
    if family is None:
        return f"no family knows {type(model).__name__}"
    others = sorted(set(fit_params) - {"sample_weight"})
    if others:
        return f"fit was given {', '.join(others)}, which families do not know"
    return family.refuses(model)


def given_rows(y: AnyArray, classes: AnyArray | None) -> Replicates:
    """Return given rows, named by their position, in the place of V."""
    return Replicates(ValidationSet(np.arange(len(y)), y), 1, classes, given=True)


def _judged(
    model: Any,
    unseen: Unseen,
    y: AnyArray,
    metrics: Mapping[str, Metric],
    classes: AnyArray | None,
    whole: Replicates | None,
) -> Sight:
    known = _rows_with_response(unseen, len(y))
    if len(known) == 0:
        return Sight(kind=unseen.kind, note="no row has a response")
    all_of_them = unseen.rows is None and len(known) == len(y)
    picked = known if unseen.rows is None and not all_of_them else slice(None)
    told = Told(model, {name: said[picked] for name, said in unseen.responses.items()})
    rows = whole if all_of_them and whole is not None else given_rows(y[known], classes)
    verdicts: dict[str, Verdict] = {}
    notes = []
    for name, metric in metrics.items():
        own = metric_for(model, metric).at(known)
        if own.looks_at_rows:
            notes.append(f"{own.name} looks at rows, and unseen ones are known by responses only")
            continue
        try:
            [verdict] = judge(told, rows, own, name).values()
        except (AttributeError, ValueError) as error:
            notes.append(
                f"{own.name} cannot be computed from {', '.join(unseen.responses)}: {error}"
            )
            continue
        gains = verdict.gains if all_of_them else _everywhere(verdict.gains, known, len(y))
        verdicts[name] = Verdict(verdict.scores, gains)
    return Sight(verdicts, unseen.kind, "; ".join(notes) or None)


def _rows_with_response(unseen: Unseen, n_rows: int) -> Ints:
    """Return the given row that each response is about."""
    if unseen.rows is not None:
        return unseen.rows
    return np.arange(n_rows) if unseen.known is None else np.flatnonzero(unseen.known)


def _everywhere(gains: Floats | None, known: Ints, n_rows: int) -> Floats | None:
    """Return the mean gain of each given row, that of all rows where a row has none."""
    if gains is None:
        return None
    counts = np.bincount(known, minlength=n_rows)
    sums = np.bincount(known, gains, minlength=n_rows)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), gains.mean())
    return means.astype(gains.dtype)
