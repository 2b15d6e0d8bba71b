"""Whether a warning is worth heeding: findings beside regret, on the runs of a regret study."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone

from leavezero._random import seed_sequence, substream
from leavezero.engine import (
    Candidate,
    Conclusion,
    HighestScore,
    Job,
    Planner,
    Record,
    Replicates,
    Responses,
    Trial,
    conclude,
    judge,
    look,
    optimism_of,
    resolve_metric,
    with_finals,
)
from leavezero.experiments._regret import RegretRun, RegretStudy, quiet_and_single
from leavezero.experiments._regret_table import POOL
from leavezero.trust import Evidence, Optimism, TrustReport, examine

WAYS = ("mix-up", "mixture and copula", "auto")
METRIC = "accuracy"
_OF_ROWS = ("LZ01", "LZ02", "LZ03", "LZ08", "LZ11")  # the same for all families of a run
_OF_CHOICE = ("LZ04", "LZ05", "LZ06", "LZ07", "LZ10")


@dataclass(frozen=True)
class TrustStudy:
    """The findings about every choice of a regret study, and the regret of that choice.

    Parameters
    ----------
    study : RegretStudy
        Whose data, splits and V are used.

    Examples
    --------
    >>> from leavezero.experiments import RegretStudy, TrustStudy
    >>> study = RegretStudy(("iris",), "classes", ("mix-up", "auto"), n_splits=1)
    >>> TrustStudy(study).ways()
    ['mix-up', 'auto']
    """

    study: RegretStudy

    def ways(self) -> list[str]:
        """Return the ways that draw V."""
        return [way for way in WAYS if way in self.study.selectors]

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share."""
        return {**self.study.protocol(), "study": "trust"}

    def keys(self) -> list[dict[str, Any]]:
        """Return what tells one run from another."""
        return self.study.keys()

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run: for each way and family the regret, and each finding's figure and level."""
        with quiet_and_single():
            run = self.study.run(key)
            drawn = {way: run.draw(way) for way in self.ways()}
            entrants = _entrants(run, drawn)
            return {"ways": {way: _by_family(run, way, drawn[way], entrants) for way in drawn}}


@dataclass(frozen=True, eq=False)
class _Entrant:
    """One candidate, fitted once: its word on V by each way, on unseen rows and on test rows."""

    family: str
    candidate: Candidate
    records: Mapping[str, Record]
    test: float


def _entrants(run: RegretRun, drawn: Mapping[str, Replicates]) -> list[_Entrant]:
    metric, planner = resolve_metric(METRIC, "the study"), Planner("the study")
    found: list[_Entrant] = []
    for family, estimators in sorted(run.families().items()):
        for estimator, params in zip(estimators, _varied(estimators), strict=True):
            named = {"family": family, **params}
            candidate = planner.candidate(estimator, {}, named)
            model = clone(estimator).fit(run.X, run.y)
            sight = look(model, run.X, run.y, {}, {METRIC: metric}, run.classes)
            records = {}
            for way, V in drawn.items():
                verdicts = judge(Responses(model, V.rows.X), V, metric, METRIC)
                trial = Trial(candidate, len(found))
                records[way] = Record(trial, verdicts, {}, 0.0, 0.0, sight=sight)
            test = float(np.mean(model.predict(run.X_test) == run.y_test))
            found.append(_Entrant(family, candidate, records, test))
    return found


def _varied(estimators: Sequence[Any]) -> list[dict[str, Any]]:
    """Return the parameters in which the candidates of a family differ."""
    params = [estimator.get_params(deep=False) for estimator in estimators]
    names = sorted({name for one in params for name in one})
    varied = [n for n in names if len({repr(one.get(n)) for one in params}) > 1]
    return [{name: one[name] for name in varied if name in one} for one in params]


def _by_family(
    run: RegretRun, way: str, V: Replicates, entrants: Sequence[_Entrant]
) -> dict[str, Any]:
    """Return the findings and the regret of the choice in each family and in the pool."""
    metric = resolve_metric(METRIC, "the study")
    root = substream(seed_sequence(run.study.seed), "trust", run.number)
    job = Job(run.X, run.y, V, metrics={METRIC: metric}, main=METRIC, seed=0, looks=True)
    groups = {name: [e for e in entrants if e.family == name] for name in run.families()}
    groups[POOL] = list(entrants)
    ends = {name: _concluded(job, way, members, root) for name, members in groups.items()}
    augmenter = run.augmenters[way]
    flattered = {name: conclusion.first(2) for name, conclusion in ends.items()}
    asked = list({c.key: c for two in flattered.values() for c in two}.values())
    told = optimism_of(job, asked, augmenter, root)
    place = {candidate.key: at for at, candidate in enumerate(asked)}
    base = Evidence(run.X, run.y, run.classes, V.rows, augmenter, by_auto=way == "auto")
    shared = examine(base, _OF_ROWS)
    found = {}
    for name, members in groups.items():
        at = [place[candidate.key] for candidate in flattered[name]]
        own = Optimism(*(tuple(values[i] for i in at) for values in (told.scores, told.chances)))
        report = _report(base, shared, ends[name], own)
        tests = [member.test for member in members]
        ballot = ends[name].ballot
        assert ballot is not None
        found[name] = {
            "regret": round(100 * (max(tests) - tests[ballot.best]), 3),
            "findings": {f.code: [_rounded(f.figure), f.level] for f in report},
        }
    return found


def _concluded(
    job: Job, way: str, members: Sequence[_Entrant], root: np.random.SeedSequence
) -> Conclusion:
    records = [
        replace(e.records[way], trial=replace(e.records[way].trial, row=row))
        for row, e in enumerate(members)
    ]
    return conclude(job, with_finals(job, records), HighestScore(), root)


def _report(
    base: Evidence, shared: TrustReport, conclusion: Conclusion, optimism: Optimism
) -> TrustReport:
    """Return the findings about one choice; those of rows are taken from the run."""
    evidence = replace(base, ballot=conclusion.ballot, optimism=optimism)
    return TrustReport((*shared, *examine(evidence, _OF_CHOICE)), 0.0)


def _rounded(figure: float | None) -> float | None:
    return None if figure is None or not np.isfinite(figure) else round(float(figure), 5)
