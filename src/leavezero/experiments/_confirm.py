"""What a few folds add to leave-zero-out, on the runs of a regret study."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from leavezero.engine import (
    Replicates,
    Responses,
    Standing,
    Verdict,
    judge,
    resolve_metric,
    witness_of,
)
from leavezero.experiments._regret import RegretRun, RegretStudy, quiet_and_single
from leavezero.experiments._regret_table import POOL
from leavezero.experiments._runner import Line

MOST = 5
METRIC = "accuracy"
WAY = "auto"
CONFIRMED = f"auto, confirm={MOST}"
TWO_FOLD = "auto and 2-fold CV of all"
_KEPT = ("test", WAY, "5-fold CV", "10-fold CV")
_OUT = -10.0  # what a candidate gets that is not confirmed


@dataclass(frozen=True)
class ConfirmStudy:
    """Who would get folds, and 2-fold scores of all, on the runs of a regret study.

    Parameters
    ----------
    study : RegretStudy
        Whose data, splits and V are used; its lines hold the 5-fold and 10-fold scores.

    Examples
    --------
    >>> from leavezero.experiments import ConfirmStudy, RegretStudy
    >>> study = ConfirmStudy(RegretStudy(("iris",), "classes", ("auto",), n_splits=1))
    >>> study.keys()
    [{'data': 'iris', 'split': 0}]
    """

    study: RegretStudy

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share."""
        return {**self.study.protocol(), "study": "confirm", "most": MOST}

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another."""
        return self.study.keys()

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: the contenders of each family and of the pool, and 2-fold scores."""
        with quiet_and_single():
            run = self.study.run(key)
            V = run.draw(WAY)
            families = run.families()
            verdicts = {
                name: [_verdict(run, candidate, V) for candidate in candidates]
                for name, candidates in families.items()
            }
            places = [(name, at) for name, found in verdicts.items() for at in range(len(found))]
            pool = contenders_of([verdicts[name][at] for name, at in places], V, len(run.y))
            return {
                "contenders": {
                    name: contenders_of(found, V, len(run.y)) for name, found in verdicts.items()
                },
                "pool": [list(places[row]) for row in pool],
                "2-fold CV": {
                    name: [run.by_folds(candidate, 2, [METRIC])[METRIC] for candidate in found]
                    for name, found in families.items()
                },
            }


def contenders_of(verdicts: Sequence[Verdict], V: Replicates, n_given: int) -> list[int]:
    """Return the candidates that V cannot tell from the best, best first, at most five."""
    metric = resolve_metric(METRIC, "the study")
    scores = np.array([verdict.scores.mean() for verdict in verdicts])
    standing = Standing(
        scores,
        scores[:, None],
        [{}] * len(scores),
        [(at,) for at in range(len(scores))],
        witness_of(V, verdicts, metric, n_given),
    )
    return standing.contenders[:MOST]


def with_confirmed(lines: Iterable[Line], confirmed: Iterable[Line]) -> list[Line]:
    """Return the lines of a regret study with two more ways, from those of the confirm study.

    One way decides among at most five contenders by the mean of V's and the 5-fold score, the other
    among all candidates by the mean of V's and the 2-fold score. The pool has contenders of its
    own.

    Parameters
    ----------
    lines : list of dict
        Those of a :class:`RegretStudy`.
    confirmed : list of dict
        Those of the :class:`ConfirmStudy` over it; runs without one are left out.

    Examples
    --------
    >>> from leavezero.experiments import with_confirmed
    >>> scores = {way: [0.9, 0.8] for way in ("test", "auto", "5-fold CV", "10-fold CV")}
    >>> key = {"data": "toy", "split": 0}
    >>> line = {"key": key, "result": {"families": {"k-NN": {"accuracy": scores}}}}
    >>> looked = {"contenders": {"k-NN": [1]}, "pool": [["k-NN", 1]], "2-fold CV": {"k-NN": [0, 1]}}
    >>> [joined] = with_confirmed([line], [{"key": key, "result": looked}])
    >>> joined["result"]["families"]["k-NN"]["accuracy"]["auto, confirm=5"]
    [-10.0, 0.8]
    """
    found = {_key(line): line["result"] for line in confirmed}
    return [
        {"key": line["key"], "result": {"families": _joined(line["result"], found[_key(line)])}}
        for line in lines
        if _key(line) in found
    ]


def _joined(result: dict[str, Any], confirmed: dict[str, Any]) -> dict[str, Any]:
    scores = {name: found[METRIC] for name, found in result["families"].items()}
    folds = confirmed["2-fold CV"]
    joined = {
        name: _two_more(scores[name], confirmed["contenders"][name], folds[name]) for name in scores
    }
    places = [[name, at] for name in scores for at in range(len(folds[name]))]
    joined[POOL] = _two_more(
        {way: [s for name in scores for s in scores[name][way]] for way in _KEPT},
        [places.index(place) for place in confirmed["pool"]],
        [score for name in scores for score in folds[name]],
    )
    return {name: {METRIC: found} for name, found in joined.items()}


def _two_more(
    scores: dict[str, list[float]], rows: list[int], two_fold: list[float]
) -> dict[str, list[float]]:
    on_v, by_folds = np.array(scores[WAY]), np.array(scores["5-fold CV"])
    chosen = np.full(len(on_v), _OUT)
    chosen[rows] = (on_v[rows] + by_folds[rows]) / 2
    both = (on_v + np.array(two_fold)) / 2
    kept = {way: scores[way] for way in _KEPT}
    return {**kept, CONFIRMED: chosen.tolist(), TWO_FOLD: both.tolist()}


def _verdict(run: RegretRun, candidate: Any, V: Replicates) -> Verdict:
    model = clone(candidate).fit(run.X, run.y)
    return judge(Responses(model, V.rows.X), V, resolve_metric(METRIC, "the study"))["score"]


def _key(line: Line) -> tuple[Any, ...]:
    return tuple(sorted(line["key"].items()))
