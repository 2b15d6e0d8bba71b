"""What rows that a model has not seen add to V, on the runs of a regret study."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from leavezero.engine import (
    Metric,
    Replicates,
    Responses,
    Sight,
    Verdict,
    both_heard,
    judge,
    look,
    resolve_metric,
)
from leavezero.experiments._regret import RegretRun, RegretStudy, quiet_and_single
from leavezero.experiments._regret_table import POOL
from leavezero.experiments._runner import Line

UNSEEN = "unseen alone"
_GENERATORS = {"classes": "mixture and copula", "numbers": "copula", "mixed": "copula"}
_OUT = -1e6  # what a candidate gets that cannot be chosen


@dataclass(frozen=True)
class UnseenStudy:
    """Both witnesses on the runs of a regret study; its lines hold the scores of folds.

    Parameters
    ----------
    study : RegretStudy
        Whose data, splits and V are used.

    Examples
    --------
    >>> from leavezero.experiments import RegretStudy, UnseenStudy
    >>> study = UnseenStudy(RegretStudy(("iris",), "classes", ("auto",), n_splits=1))
    >>> study.ways()
    {'auto': 'auto and unseen'}
    """

    study: RegretStudy

    def ways(self) -> dict[str, str]:
        """Return what both witnesses together are called, by the way that draws V."""
        found = ["auto", _GENERATORS.get(self.study.kind, "mix-up")]
        return {way: f"{way} and unseen" for way in found if way in self.study.selectors}

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share."""
        return {**self.study.protocol(), "study": "unseen"}

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another."""
        return self.study.keys()

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: for each family and the pool, the scores by both witnesses."""
        with quiet_and_single():
            run = self.study.run(key)
            drawn = {way: run.draw(way) for way in self.ways()}
            judged = {
                name: [_Judged(run, candidate, drawn) for candidate in candidates]
                for name, candidates in run.families().items()
            }
            families = {name: self._scores(run, found, drawn) for name, found in judged.items()}
            pool = [one for name in sorted(judged) for one in judged[name]]
            families[POOL] = self._scores(run, pool, drawn)
            notes = {name: [one.sight.note for one in found] for name, found in judged.items()}
            return {"families": families, "notes": notes}

    def _scores(
        self, run: RegretRun, judged: "Sequence[_Judged]", drawn: Mapping[str, Replicates]
    ) -> dict[str, Any]:
        """Return for each metric that all can be judged by the scores by each way."""
        names = [n for n in run.metrics_of([]) if all(n in one.metrics for one in judged)]
        return {name: self._by_metric(run, judged, drawn, name) for name in names}

    def _by_metric(
        self,
        run: RegretRun,
        judged: "Sequence[_Judged]",
        drawn: Mapping[str, Replicates],
        name: str,
    ) -> dict[str, list[float]]:
        told = [one.sight.verdicts.get(name) for one in judged]
        unseen = np.array([np.nan if one is None else one.scores[0] for one in told])
        found = {UNSEEN: np.where(np.isnan(unseen), _OUT, unseen)}
        for way, both in self.ways().items():
            verdicts = [one.verdicts[way][name] for one in judged]
            metric = resolve_metric(name, "the study")
            found[both] = both_heard(drawn[way], metric, verdicts, unseen, run.y)
        return {way: [round(float(s), 5) for s in scores] for way, scores in found.items()}


class _Judged:
    """One candidate, fitted once and judged by both witnesses."""

    def __init__(self, run: RegretRun, candidate: Any, drawn: Mapping[str, Replicates]) -> None:
        model = clone(candidate).fit(run.X, run.y)
        self.metrics: dict[str, Metric] = {
            name: resolve_metric(name, "the study") for name in run.metrics_of([candidate])
        }
        self.sight: Sight = look(model, run.X, run.y, {}, self.metrics, run.classes)
        self.verdicts: dict[str, dict[str, Verdict]] = {}
        for way, V in drawn.items():
            responses = Responses(model, V.rows.X)
            self.verdicts[way] = {
                name: judge(responses, V, metric)["score"] for name, metric in self.metrics.items()
            }


def with_unseen(lines: Iterable[Line], looked: Iterable[Line], ways: Sequence[str]) -> list[Line]:
    """Return the lines of a regret study with those of the unseen study, and some ways only.

    Parameters
    ----------
    lines : list of dict
        Those of a :class:`RegretStudy`.
    looked : list of dict
        Those of the :class:`UnseenStudy` over it; runs without one are left out.
    ways : list of str
        Which ways of the first are kept.

    Examples
    --------
    >>> from leavezero.experiments import with_unseen
    >>> key = {"data": "toy", "split": 0}
    >>> scores = {"test": [0.9, 0.8], "auto": [0.7, 0.8]}
    >>> line = {"key": key, "result": {"families": {"k-NN": {"accuracy": scores}}}}
    >>> more = {name: {"accuracy": {"auto and unseen": [0.8, 0.7]}} for name in ("k-NN", "pool")}
    >>> [joined] = with_unseen([line], [{"key": key, "result": {"families": more}}], ["auto"])
    >>> sorted(joined["result"]["families"]["pool"]["accuracy"])
    ['auto', 'auto and unseen', 'test']
    """
    found = {_key(line): line["result"]["families"] for line in looked}
    return [
        {
            "key": line["key"],
            "result": {"families": _joined(line["result"]["families"], found[_key(line)], ways)},
        }
        for line in lines
        if _key(line) in found
    ]


def _joined(
    families: dict[str, Any], looked: dict[str, Any], ways: Sequence[str]
) -> dict[str, Any]:
    kept = {
        name: {
            metric: {way: scores[way] for way in ("test", *ways)}
            for metric, scores in metrics.items()
        }
        for name, metrics in families.items()
    }
    metrics = {metric for found in kept.values() for metric in found}
    kept[POOL] = {
        metric: {
            way: [s for name in sorted(kept) for s in kept[name][metric][way]]
            for way in ("test", *ways)
        }
        for metric in metrics
        if all(metric in found for found in kept.values())
    }
    return {
        name: {
            metric: {**scores, **looked[name][metric]}
            for metric, scores in found.items()
            if metric in looked[name]
        }
        for name, found in kept.items()
    }


def _key(line: Line) -> tuple[Any, ...]:
    return tuple(sorted(line["key"].items()))
