"""Results of candidates in a checkpoint, so that a search resumes where it ended."""

import platform
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import scipy
import sklearn

from leavezero._version import __version__
from leavezero.evaluation._candidates import Trial
from leavezero.evaluation._fit_and_score import CandidateResult, LOOScores, Task
from leavezero.evaluation._run import Run
from leavezero.evaluation._scoring import MetricScores
from leavezero.execution import OpenCheckpoint, digest


def search_identity(run: Run, random_state: Any, groups: Any) -> dict[str, str]:
    """Return a digest of each part that must be equal for results to be used again.

    Candidates are not part of it: a resumed search may have more of them.
    """
    replicates = run.replicates
    metrics = [
        [n, m.name, m.scorer, m.weight, m.constants, m.per_row] for n, m in run.metrics.items()
    ]
    packages = {module.__name__: module.__version__ for module in (np, scipy, sklearn)}
    packages |= {"python": platform.python_version(), "leavezero": __version__}
    versions = {f"version of {name}": version for name, version in packages.items()}
    versions |= {"platform": f"{platform.system()} {platform.machine()}"}
    parts = {
        "X": run.X,
        "y": run.y,
        "groups": groups,
        "parameters of fit": run.fit_params,
        "random_state": random_state,
        "scoring": metrics,
        "return_train_score": run.training_set is not None,
        "loo": [run.use_loo, run.no_loo_reason, run.use_validation_set],
        "cv": list(run.folds),
        "validation set": [replicates.rows, replicates.n_replicates, run.compared_rows],
    }
    return {name: digest(value) for name, value in parts.items()} | versions


class CheckpointedResults:
    """The results that a checkpoint holds, by the content of a candidate."""

    def __init__(self, store: OpenCheckpoint, run: Run) -> None:
        self._store = store
        self._known = store.load()
        self._keys: dict[tuple[Trial, int | None], str] = {}  # of tasks that are left
        if run.error_score == "raise":  # failed candidates are fitted again, and raise
            self._known = {
                key: payload
                for key, payload in self._known.items()
                if not isinstance(payload, dict)
                or not (payload.get("error") or payload.get("scoring_errors"))
            }

    def split(
        self, run: Run, tasks: Sequence[Task]
    ) -> tuple[list[tuple[Task, list[CandidateResult]]], list[Task]]:
        """Return the tasks whose results are stored, with them, and the tasks that are left.

        A task is split if only some of its trials are stored.
        """
        stored, left = [], []
        for task in tasks:
            keys = {trial: self._key(run, task, trial) for trial in task.trials}
            known = {trial: self._known[key] for trial, key in keys.items() if key in self._known}
            unknown = tuple(trial for trial in task.trials if trial not in known)
            if known:
                with _clear_errors():
                    results = [_decoded(payload, trial) for trial, payload in known.items()]
                stored.append((replace(task, trials=tuple(known)), results))
            if unknown:
                left.append(replace(task, trials=unknown))
                self._keys |= {(trial, task.fold): keys[trial] for trial in unknown}
        return stored, left

    def save(self, task: Task, results: Sequence[CandidateResult]) -> None:
        """Store the results of a finished task in one transaction."""
        keys = [self._keys.pop((trial, task.fold)) for trial in task.trials]
        self._store.save(dict(zip(keys, map(_encoded, results), strict=True)))

    def _key(self, run: Run, task: Task, trial: Trial) -> str:
        estimator = trial.candidate.make_estimator(run.seed)
        fold = [] if task.fold is None else run.folds[task.fold]
        return digest([estimator, trial.training_rows, trial.iteration, run.kept_rows, *fold])


@contextmanager
def _clear_errors() -> Iterator[None]:
    """Raise a clear error for results that a search has not written; digests do not detect them."""
    try:
        yield
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise ValueError(
            "The checkpoint contains results that no search has written. Use another file, or "
            "delete this one to start again."
        ) from error


def _encoded(result: CandidateResult) -> dict[str, Any]:
    """Return a result as nested dicts of numbers, strings and arrays."""
    return {
        "scores": _encoded_scores(result.scores),
        "train_scores": dict(result.train_scores),
        "fit_time": float(result.fit_time),
        "score_time": float(result.score_time),
        "loo": {**vars(result.loo), "scores": _encoded_scores(result.loo.scores)},
        "main_score": float(result.corrected_score),
        "error": result.error,
        "scoring_errors": dict(result.scoring_errors),
        "params": repr(result.trial.candidate.params),  # for people who read the checkpoint
    }


def _decoded(payload: Mapping[str, Any], trial: Trial) -> CandidateResult:
    loo = {**payload["loo"], "scores": _decoded_scores(payload["loo"]["scores"])}
    train_scores, errors = dict(payload["train_scores"]), dict(payload["scoring_errors"])
    texts = [payload["error"], loo["method"], loo["note"], *errors.values()]
    if not all(text is None or isinstance(text, str) for text in texts):
        raise TypeError("Errors and notes must be text.")
    _check_numbers(train_scores.values())
    return CandidateResult(
        trial,
        _decoded_scores(payload["scores"]),
        train_scores,
        float(payload["fit_time"]),
        float(payload["score_time"]),
        LOOScores(**loo),
        corrected_score=float(payload["main_score"]),
        error=payload["error"],
        scoring_errors=errors,
        n_fits=0,
    )


def _encoded_scores(scores: Mapping[str, MetricScores]) -> dict[str, Any]:
    return {name: dict(vars(one)) for name, one in scores.items()}


def _decoded_scores(payload: Mapping[str, Any]) -> dict[str, MetricScores]:
    scores = {name: MetricScores(**one) for name, one in payload.items()}
    for one in scores.values():
        optional = [array for array in (one.per_row, one.predictions) if array is not None]
        _check_numbers([one.replicates, *optional])
    return scores


def _check_numbers(arrays: Iterable[Any]) -> None:
    if any(array.dtype.kind not in "biuf" for array in arrays):
        raise TypeError("Scores must be numbers.")
