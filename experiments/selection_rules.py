"""Selection rules that were tried, on the tuning sets: their regret and their fits.

Every candidate is fitted once on all rows and once on each of five folds. Each rule then selects
from these scores, so that all rules have the same fits, folds and validation sets.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any
from unittest.mock import patch

import numpy as np

from experiments.markdown import MarkdownTable, make_frame, missing_notes
from experiments.model_types import ModelType, model_types
from experiments.regret import quiet_single_thread
from experiments.regret_data import PARTS, Split, make_split
from experiments.regret_methods import TEST, run_search
from experiments.runner import Experiment, Line, Options
from leavezero import GridSearchLZO
from leavezero.evaluation import CandidateResult, FoldPlan, Run, cross_validate_some
from leavezero.evaluation import _bias_correction as correction
from leavezero.evaluation import _fold_scores as folds_module
from leavezero.evaluation._evaluate import plan_tasks
from leavezero.evaluation._fit_and_score import evaluate_task
from leavezero.evaluation._scoring import join_scores

PARTS_TRIED = ("tuning-300", "tuning-1000", "regression-tuning-300", "regression-tuning-1000")
ALL = 10**6  # candidates on folds
DEFAULT = "default"

Changes = Mapping[tuple[ModuleType, str], Any]  # other values of constants


@dataclass(frozen=True)
class Rule:
    """A variant of the default: other constants, or another number of candidates on folds."""

    changes: Changes
    n_candidates: int | None = None  # on folds; None: as the default chooses
    uses_validation_set: bool = True
    uses_loo: bool = False  # LOO scores, and folds only for candidates without them


RULES = {
    DEFAULT: Rule({}),
    "no folds": Rule({}, n_candidates=0),
    "all candidates on folds": Rule({}, n_candidates=ALL),
    "5-fold CV": Rule({}, n_candidates=ALL, uses_validation_set=False),
    "LOO, else folds with as many fits": Rule({}, uses_validation_set=False, uses_loo=True),
    "folds of at least 2 candidates": Rule({(folds_module, "WANTED_GROUPS"): 2}),
    "folds of at least 8 candidates": Rule({(folds_module, "WANTED_GROUPS"): 8}),
    "noise variance of folds x 1": Rule({(folds_module, "EXTRA_VARIANCE"): 1.0}),
    "noise variance of folds x 3": Rule({(folds_module, "EXTRA_VARIANCE"): 3.0}),
    "prior of the bias / 5": Rule({(correction, "PRIOR_MEDIAN"): 0.01}),
    "prior of the bias x 4": Rule({(correction, "PRIOR_MEDIAN"): 0.2}),
    "narrow prior of the bias": Rule({(correction, "PRIOR_LOG_DEVIATION"): 1.0}),
    "slope 1 in regression": Rule({(correction, "REGRESSION_SLOPE"): 1.0}),
    "slope 0.25 in regression": Rule({(correction, "REGRESSION_SLOPE"): 0.25}),
}


class _EvaluatedSearch(GridSearchLZO):
    """A search that ends before folds and selection, with the results of all candidates."""

    def _select(
        self, request: Any, run: Any, evaluation: Any, models: Any, checkpoint: Any
    ) -> None:
        self.run_, self.results_ = run, evaluation.results
        self.folds_ = request.fold_plan.folds


@dataclass(frozen=True)
class RuleStudy:
    """The runs of one part: a run is one split of one data set, for all model types and rules.

    The result has for each model type and rule the regret in points and the fits per candidate.
    """

    part: str
    data: tuple[str, ...]
    n_splits: int
    seed: int = 0
    folder: str | None = None

    def protocol(self) -> dict[str, Any]:
        """Return what all runs share."""
        return {"study": "rules", "part": self.part, "rules": list(RULES), "seed": self.seed}

    def keys(self) -> list[dict[str, Any]]:
        """Return the runs, first splits first."""
        return [{"data": name, "split": s} for s in range(self.n_splits) for name in self.data]

    def __call__(self, key: dict[str, Any]) -> dict[str, Any]:
        """Do one run."""
        part = PARTS[self.part]
        with quiet_single_thread():
            split = make_split(part, key["data"], key["split"], seed=self.seed, folder=self.folder)
            types = model_types(part.task, split.X)
            return {"types": {name: _run_rules(pair, split, part) for name, pair in types.items()}}


def _run_rules(model_type: ModelType, split: Split, part: Any) -> dict[str, list[float]]:
    [metric] = part.metrics
    found = run_search(TEST, model_type, split, [metric])[metric]["columns"][TEST]
    test = np.array(found, dtype=float)
    search = _EvaluatedSearch(*model_type, random_state=split.number).fit(split.X, split.y)
    run, results = search.run_, search.results_
    tasks = plan_tasks([result.trial for result in results], run.seed)
    fold_run = replace(run, folds=search.folds_, training_set=None)
    parts = [
        {
            result.trial.row: result.scores
            for task in tasks
            for result in evaluate_task(fold_run, replace(task, fold=at))
        }
        for at in range(len(search.folds_))
    ]
    regrets = {}
    for name, rule in RULES.items():
        with _patched(rule.changes, parts):
            scores, n_fits = _scores(rule, run, results, search.folds_)
        selected = int(np.nanargmax(scores))
        regret = 100 * float(np.nanmax(test) - test[selected])
        regrets[name] = [round(regret, 4), round(1 + n_fits / len(results), 3)]
    return regrets


def _scores(
    rule: Rule, run: Run, results: Sequence[CandidateResult], folds: Sequence[Any]
) -> tuple[Any, int]:
    """Return the scores of all candidates by a rule, and its number of fits on folds."""
    if rule.uses_loo:
        return _loo_or_fold_scores(run, results, folds)
    n_fits = 0
    if rule.n_candidates != 0:
        plan = FoldPlan(folds, rule.n_candidates, may_be_fewer=True)
        results, n_fits = cross_validate_some(run, results, plan, n_jobs=None)
    if rule.uses_validation_set:
        return [result.main_score for result in results], n_fits
    assert run.main_metric is not None
    return [result.cv[run.main_metric].mean for result in results], n_fits


def _loo_or_fold_scores(
    run: Run, results: Sequence[CandidateResult], folds: Sequence[Any]
) -> tuple[Any, int]:
    """Return LOO scores, or the scores on as many folds as give about one fit per candidate."""
    assert run.main_metric is not None
    scores = np.array(
        [r.loo.scores[run.main_metric].mean if r.loo.scores else np.nan for r in results]
    )
    missing = np.flatnonzero(np.isnan(scores)).tolist()
    if not missing:
        return scores, 0
    _, n_fits = folds_module._cross_validated(run, results, missing, folds[:1], None, None, None)
    folds = folds[: max(1, len(results) // n_fits)]
    found, n_fits = folds_module._cross_validated(run, results, missing, folds, None, None, None)
    for row in missing:
        scores[row] = found[row][run.main_metric].mean
    return scores, n_fits


@contextmanager
def _patched(changes: Changes, parts: Sequence[Mapping[int, Any]]) -> Iterator[None]:
    """Change constants, and look up the scores of folds that are known."""

    def cross_validated(
        run: Run, results: Any, rows: Sequence[int], folds: Sequence[Any], *_: Any
    ) -> tuple[dict[int, Any], int]:
        joined = {
            row: folds_module.usable_scores(join_scores([p[row] for p in parts[: len(folds)]]))
            for row in rows
        }
        tasks = plan_tasks([results[row].trial for row in rows], run.seed)
        n_models = [1 if folds_module._is_one_fit(run, t) else len(t.trials) for t in tasks]
        return joined, len(folds) * sum(n_models)

    with ExitStack() as stack:
        for (module, name), value in changes.items():
            stack.enter_context(patch.object(module, name, value))
        stack.enter_context(patch.object(folds_module, "_cross_validated", cross_validated))
        yield


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Any
) -> dict[str, list[MarkdownTable]]:
    """Return one table: rules, and for each part mean regret and fits per candidate."""
    parts = [part for part in PARTS_TRIED if part in lines]
    rows = {}
    for rule in RULES:
        means = []
        for part in parts:
            types = [line["result"]["types"] for line in lines[part]]
            regret, fits = np.mean([found[rule] for one in types for found in one.values()], axis=0)
            means.append(f"{regret:.2f} ({fits:.2f})")
        rows[rule] = means
    notes = (
        "Mean regret in points over data sets and model types; in parentheses fits per candidate.",
        *missing_notes(missing),
    )
    title = "Selection rules that were tried, on the tuning sets"
    return {"tried": [MarkdownTable(title, make_frame("rule", parts, rows), notes)]}


def _study(part: str, data: tuple[str, ...], options: Options) -> RuleStudy:
    return RuleStudy(part, data, options.repeats or 1, options.seed, options.folder)


RULES_TRIED = Experiment(
    "rules",
    "Regret of variants of the default on the tuning sets",
    data={name: PARTS[name].data for name in PARTS_TRIED},
    quick_data={"tuning-300": ("breast_cancer",)},
    study=_study,
    report=report,
    folder="rules",
)
