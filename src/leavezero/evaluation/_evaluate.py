"""Evaluate the candidates that a strategy proposes, as tasks that run in parallel."""

import errno
import logging
import os
import pickle
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from leavezero.evaluation._bias_correction import correct_scores
from leavezero.evaluation._candidates import Strategy, Trial
from leavezero.evaluation._checkpointed_results import CheckpointedResults
from leavezero.evaluation._fit_and_score import CandidateResult, Task, evaluate_task, mean_score
from leavezero.evaluation._run import Run
from leavezero.evaluation._scoring import join_scores, modifies_input
from leavezero.execution import Limits, TaskEnded, run_tasks
from leavezero.joint_fit import JointFit, find_joint_fit

STORE_BYTES = 2**26  # pickled models in memory; further ones are stored on disk

_log = logging.getLogger("leavezero")


@dataclass(frozen=True)
class JointTask:
    """Candidates that were fitted in one task."""

    candidates: tuple[int, ...]  # their rows in ``cv_results_``
    method: str | None = None  # the joint fit that shared their work; None for a single plain fit


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The results of all trials by row, and what stopped the search early, if anything did."""

    results: list[CandidateResult]
    tasks: tuple[JointTask, ...]
    n_fits: int
    interrupt: KeyboardInterrupt | None = None
    is_stopped: bool = False  # by a callback


def evaluate(
    run: Run,
    strategy: Strategy,
    models: "ModelStore",
    *,
    n_jobs: int | None,
    limits: Limits | None = None,
    checkpoint: CheckpointedResults | None = None,
    on_start: Callable[[Trial], Trial] = lambda trial: trial,
    on_result: Callable[[CandidateResult], bool] = lambda result: False,
) -> Evaluation:
    """Fit and score the trials that the strategy proposes, round by round.

    ``on_start`` is called with every trial of a round and may add a callback context to it,
    ``on_result`` with every result; if it returns True, no further trial is started.
    Finished results are kept if the user interrupts (see `deferred_interrupts`). Results in the
    checkpoint are not computed again.
    """
    table: dict[int, CandidateResult] = {}
    tasks: list[JointTask] = []
    n_fits = 0
    interrupt: KeyboardInterrupt | None = None
    stopped = False
    try:
        while not stopped and not _is_spent(limits) and (trials := strategy.ask()):
            trials = [on_start(trial) for trial in trials]
            planned = plan_tasks(trials, run.seed)
            if limits is not None and limits.time_budget is not None:
                planned = _one_of_each_first(planned)
            tasks += [_joint_task(task) for task in planned]
            for result in trial_results(run, planned, n_jobs, limits, checkpoint, evaluate_task):
                n_fits += result.n_fits
                models.add(result)
                table[result.trial.row] = replace(result, model=None)
                stopped = on_result(result)
                if stopped:
                    break
            if not stopped:
                table = {r.trial.row: r for r in _corrected(run, list(table.values()))}
                strategy.tell([table[trial.row] for trial in trials])
    except KeyboardInterrupt as caught:
        interrupt = caught
    results = _corrected(run, list(table.values()))
    results.sort(key=lambda result: result.trial.row)
    return Evaluation(results, tuple(tasks), n_fits, interrupt, stopped)


def _corrected(run: Run, results: list[CandidateResult]) -> list[CandidateResult]:
    return correct_scores(run, results) if run.use_validation_set and run.use_loo else results


def _is_spent(limits: Limits | None) -> bool:
    return limits is not None and limits.spent()


def plan_tasks(trials: Sequence[Trial], seed: int) -> list[Task]:
    """Return the trials as tasks, the largest first; the order depends on the candidates only."""
    groups: dict[Any, list[tuple[Trial, Any]]] = {}
    methods: dict[Any, JointFit] = {}
    for at, trial in enumerate(sorted(trials, key=lambda trial: trial.candidate.key)):
        estimator = trial.candidate.make_estimator(seed)
        is_plain = trial.training_rows is None and trial.context is None
        joint = find_joint_fit(estimator) if is_plain else None
        if joint is None or modifies_input(estimator):
            groups["single", at] = [(trial, 0)]
            continue
        method, key = joint
        name = (method.name, trial.candidate.estimator_name, key)
        methods[name] = method
        groups.setdefault(name, []).append((trial, method.order(estimator)))
    tasks = [task for key, group in groups.items() for task in _split(group, methods.get(key))]
    return sorted(tasks, key=lambda task: -len(task.trials))


def _one_of_each_first(tasks: Sequence[Task]) -> list[Task]:
    """Put one trial of each estimator, from the middle of its grid, before all other tasks.

    Those are in the order of the estimators. The result of a joint task is known when all of it is
    finished. Without this, the slowest model type may use the whole time budget, and others would
    not be started.
    """
    by_estimator: dict[str, list[Trial]] = {}
    for trial in sorted((t for task in tasks for t in task.trials), key=lambda t: t.row):
        by_estimator.setdefault(trial.candidate.estimator_name, []).append(trial)
    if len(by_estimator) == 1:
        return list(tasks)
    first = [own[len(own) // 2] for own in by_estimator.values()]
    others = (tuple(t for t in task.trials if t not in first) for task in tasks)
    rest = [replace(task, trials=own) for task, own in zip(tasks, others, strict=True) if own]
    rest.sort(key=lambda task: min(trial.row for trial in task.trials))
    return [Task((trial,)) for trial in first] + rest


def _split(group: list[tuple[Trial, Any]], method: JointFit | None) -> Iterator[Task]:
    """Yield tasks with at most as many trials as the method fits jointly."""
    size = 1 if method is None else method.max_candidates
    if len(group) > size:
        group = sorted(group, key=lambda pair: pair[1])
    for start in range(0, len(group), size):
        yield Task(tuple(trial for trial, _ in group[start : start + size]), method)


def _joint_task(task: Task) -> JointTask:
    rows = tuple(sorted(trial.row for trial in task.trials))
    is_joint = task.method is not None and len(rows) > 1
    return JointTask(rows, task.method.name if is_joint and task.method else None)


def trial_results(
    run: Run,
    tasks: Sequence[Task],
    n_jobs: int | None,
    limits: Limits | None,
    checkpoint: CheckpointedResults | None,
    function: Callable[[Run, Task], list[CandidateResult]],
) -> Iterator[CandidateResult]:
    """Yield the result of each trial as it is finished; with folds, when all of them are."""
    if run.folds:
        tasks = [replace(task, fold=at) for task in tasks for at in range(len(run.folds))]
    parts: dict[int, dict[int | None, CandidateResult]] = defaultdict(dict)
    for task, found in _finished_tasks(run, tasks, n_jobs, limits, checkpoint, function):
        for result in found:
            if task.fold is None:
                yield result
                continue
            known = parts[result.trial.row]
            known[task.fold] = result
            if len(known) == len(run.folds):
                yield _joined_folds(run, [known[at] for at in range(len(run.folds))])


def _finished_tasks(
    run: Run,
    tasks: Sequence[Task],
    n_jobs: int | None,
    limits: Limits | None,
    checkpoint: CheckpointedResults | None,
    function: Callable[[Run, Task], list[CandidateResult]],
) -> Iterator[tuple[Task, list[CandidateResult]]]:
    """Yield tasks and the results of their trials as they are finished."""
    if checkpoint is not None:
        known, tasks = checkpoint.split(run, tasks)
        yield from known
    finished = run_tasks(
        function,
        run,
        tasks,
        n_jobs=n_jobs,
        limits=limits,
        one_by_one=checkpoint is not None,
        timeout_factor=lambda task: len(task.trials),
    )
    retry: list[Task] = []
    with closing(finished):  # type: ignore[type-var]  # an iterator that is a generator
        for at, found in finished:
            task = tasks[at]
            if not isinstance(found, TaskEnded):
                if checkpoint is not None:
                    checkpoint.save(task, found)
                yield task, found
            elif len(task.trials) > 1 and found.limit != "time_budget":  # one of them is the cause
                retry += [Task((trial,), fold=task.fold) for trial in task.trials]
            else:
                yield task, _ended_results(run, task, found)
    if retry:
        yield from _finished_tasks(run, retry, n_jobs, limits, checkpoint, function)


def _ended_results(run: Run, task: Task, ended: TaskEnded) -> list[CandidateResult]:
    if run.error_score == "raise" and ended.limit != "time_budget":
        errors = {"timeout": TimeoutError, "memory_limit": MemoryError}
        [trial] = task.trials
        raise errors.get(ended.limit, RuntimeError)(f"{trial.candidate.params}: {ended}")
    n_fits = int(ended.limit != "time_budget")
    return [
        CandidateResult(
            trial, {}, {}, ended.seconds, 0.0, error=str(ended), n_fits=n_fits, ended=ended
        )
        for trial in task.trials
    ]


def _joined_folds(run: Run, parts: Sequence[CandidateResult]) -> CandidateResult:
    """Return the results of one trial on all folds as one; a failed fold fails the trial."""
    joined = replace(
        next((part for part in parts if part.error is not None), parts[0]),
        fit_time=float(np.mean([part.fit_time for part in parts])),
        score_time=float(np.mean([part.score_time for part in parts])),
        n_fits=sum(part.n_fits for part in parts),
    )
    if joined.error is not None:
        return joined
    scores = join_scores([part.scores for part in parts])
    return replace(
        joined,
        scores=scores,
        train_scores={
            name: np.concatenate([part.train_scores[name] for part in parts])
            for name in parts[0].train_scores
            if all(name in part.train_scores for part in parts)
        },
        scoring_errors={n: text for part in parts for n, text in part.scoring_errors.items()},
        corrected_score=mean_score(run, scores),
    )


class ModelStore:
    """Fitted models until the best is known: in memory up to a size, then on disk."""

    def __init__(self, keep: bool = True) -> None:
        self._keep = keep
        self._models: dict[int, tuple[Any, bool]] = {}  # model, and whether it is provisional
        self._free_bytes = STORE_BYTES
        self._spans: dict[int, tuple[int, int]] = {}  # start and length of models in the file
        self._file: Any = None  # has no name, so that nothing is left if the process is killed

    def __enter__(self) -> "ModelStore":
        return self

    def __exit__(self, *_: object) -> None:
        self._models.clear()
        if self._file is not None:
            self._file.close()

    def add(self, result: CandidateResult) -> None:
        """Store the model of a result, if models are kept."""
        row, entry = result.trial.row, (result.model, result.provisional)
        if not self._keep or result.model is None:
            return
        self._models[row] = entry
        try:
            content = pickle.dumps(entry)
            if len(content) > self._free_bytes:
                self._spans[row] = self._write(content)
                del self._models[row]
            else:
                self._free_bytes -= len(content)
        except OSError:  # such as a full disk
            _log.warning("A fitted model could not be stored on disk.", exc_info=True)
        except Exception:  # pickle raises anything
            _log.debug("A fitted model cannot be pickled.", exc_info=True)

    def get(self, row: int) -> tuple[Any, bool] | None:
        """Return the model of a row and whether it is provisional; None if it was not stored."""
        if row not in self._spans:
            return self._models.get(row)
        start, length = self._spans[row]
        self._file.seek(start)
        loaded: tuple[Any, bool] = pickle.loads(self._file.read(length))
        return loaded

    def _write(self, content: bytes) -> tuple[int, int]:
        if self._file is None:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - see __exit__
        start = self._file.seek(0, os.SEEK_END)
        if self._file.write(content) < len(content):
            self._file.truncate(start)
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return start, len(content)
