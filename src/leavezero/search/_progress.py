"""Messages of a search: progress, callbacks, and failed candidates."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Table
from leavezero._warnings import warn_caller
from leavezero.evaluation import CandidateResult, Run
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning

try:  # experimental, and not in older releases
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]  # where the import above failed
        """Replacement for releases of scikit-learn without callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = [
    "CallbackSupportMixin",
    "Progress",
    "failures",
    "log",
    "report_failures",
    "with_callbacks",
]

_LOGGER = logging.getLogger("leavezero")


def log(message: str, level: int, verbose: int, **fields: Any) -> None:
    """Log a message with extra fields, and print it if verbose is at least the level."""
    _LOGGER.log(logging.INFO if level == 1 else logging.DEBUG, message, extra=fields)
    if verbose >= level:
        print(message, flush=True)


class Progress:
    """Receives every result: prints a line, informs callbacks, returns True to stop."""

    def __init__(self, search: Any, X: Table, y: AnyArray, metadata: Any, n_trials: int) -> None:
        self._search = search
        self._data = {"X": X, "y": y, "metadata": metadata or None}
        self._n_trials = n_trials
        self._n_done = 0
        self._best = -np.inf
        self._best_so_far: dict[str, Any] = {}
        self._context: Any = None
        if hasattr(search, "_init_callback_context"):
            self._context = search._init_callback_context(
                max_subtasks=None, sequential_subtasks=True
            )
            self._context.call_on_fit_task_begin(estimator=search, **self._data)

    def on_result(self, result: CandidateResult) -> bool:
        """Report a result; return True if a callback requests to stop."""
        self._n_done += 1
        self._print(result)
        if self._context is None:
            return False
        task = self._context.subcontext(task_name="candidate")
        task.call_on_fit_task_begin(estimator=self._search, **self._data)
        if result.model is not None and (result.main_score > self._best or not self._best_so_far):
            self._best = result.main_score
            self._best_so_far = {
                "best_estimator_": result.model,
                "best_params_": result.trial.candidate.params,
                "best_score_": result.main_score,
            }
        return bool(
            task.call_on_fit_task_end(
                estimator=self._search,
                reconstruction_attributes=self._best_so_far or None,
                **self._data,
            )
        )

    def end(self) -> None:
        """Inform callbacks that the search has ended."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._search, **self._data)

    def _print(self, result: CandidateResult) -> None:
        owner, verbose = type(self._search).__name__, self._search.verbose
        params, seconds = result.trial.candidate.params, result.fit_time + result.score_time
        outcome = "failed" if result.error else f"score {result.main_score:.4g}"
        log(
            f"{owner}: {self._n_done} of at most {self._n_trials}, {params}: {outcome}, "
            f"{seconds:.2g} s",
            2,
            verbose,
            n_done=self._n_done,
            n_trials=self._n_trials,
            candidate_row=result.trial.row,
            candidate_params=params,
            candidate_score=None if result.error else result.main_score,
            candidate_seconds=seconds,
        )
        if verbose < 3:
            return
        for name, scores in result.scores.items():
            log(f"    {name}: {np.array2string(scores.replicates, precision=3)}", 3, verbose)
        for traceback in (result.error, *result.scoring_errors.values()):
            if traceback:
                log(f"    {traceback}", 3, verbose)


def report_failures(results: Sequence[CandidateResult], run: Run, owner: str) -> None:
    """Warn about candidates that failed; raise if no candidate is left."""
    errors = [r.error for r in results if r.error is not None and r.was_started]
    unscored = [error for result in results for error in result.scoring_errors.values()]
    _raise_if_all_failed(results, run, owner, errors, unscored)
    n, score = len(results), f"their score is {run.error_score!r}"
    if errors:
        _warn(
            f"{len(errors)} of {n} candidates of {owner} failed; {score}. "
            f'Set error_score="raise" to debug. First error:\n{errors[0]}'
        )
    n_left = sum(not result.was_started for result in results)
    if n_left:
        _warn(
            f"{n_left} of {n} candidates of {owner} were not evaluated within time_budget; "
            f"{score}. The best of the others is selected."
        )
    if unscored:
        _warn(
            f"Scoring failed {len(unscored)} times for {n} candidates of {owner}; {score}. "
            f'Set error_score="raise" to debug. First error:\n{unscored[0]}'
        )
    n_not_finite = sum(
        not all(np.all(np.isfinite(scores.replicates)) for scores in result.scores.values())
        for result in results
    )
    if n_not_finite:
        _warn(
            f"{n_not_finite} of {n} candidates of {owner} have scores that are not finite. They "
            "are never selected; check the scorer and the data."
        )


def failures(results: Sequence[CandidateResult]) -> dict[int, str]:
    """Return the tracebacks of failed candidates by their row in ``cv_results_``."""
    messages = {
        row: "\n".join([result.error or "", *result.scoring_errors.values()]).strip()
        for row, result in enumerate(results)
    }
    return {row: message for row, message in messages.items() if message}


def _raise_if_all_failed(
    results: Sequence[CandidateResult],
    run: Run,
    owner: str,
    errors: list[str],
    unscored: list[str],
) -> None:
    started = [result for result in results if result.was_started]
    if len(errors) == len(started) < len(results) or not results:
        raise AllCandidatesFailedError(
            f"No candidate of {owner} was finished within time_budget: {len(errors)} failed, "
            f"{len(results) - len(started)} were not started."
            f"{chr(10).join(['', *errors[:1]])}"
        )
    able = [result for result in started if result.trial.may_win] or started
    lost = [result.error for result in able if result.error is not None]
    if (lost and len(lost) == len(able)) or len(errors) == len(results):
        raise AllCandidatesFailedError(
            f"All {len(lost) or len(errors)} candidates of {owner} failed. First error:\n"
            f"{(lost or errors)[0]}"
        )
    if not run.use_validation_set and not any(result.loo.scores for result in able):
        notes = "; ".join(dict.fromkeys(str(result.loo.note) for result in able))
        raise AllCandidatesFailedError(
            f'loo="only" of {owner} requires candidates with leave-one-out predictions: {notes}. '
            'Use loo="auto".'
        )
    has_metric = any(run.main_metric in (*r.scores, *r.scoring_errors) for r in able)
    if has_metric and not any(np.isfinite(result.main_score) for result in able):
        hint = (
            " If the estimator cannot predict rows outside the range of the training data, use "
            "augmenter=LabelInvariantMixup(). First error:\n"
        )
        raise AllCandidatesFailedError(
            f"All scores of {owner} are NaN. Check the scorer, or the estimator's score method."
            f"{hint + unscored[0] if unscored else ''}"
        )


def _warn(message: str) -> None:
    warn_caller(message, CandidateFailedWarning)
