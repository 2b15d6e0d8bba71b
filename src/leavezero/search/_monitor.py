"""What users see and hear while a search runs, and how they stop it."""

import logging
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Table
from leavezero.engine import Record

try:  # experimental, and not in older releases
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:

    class CallbackSupportMixin:  # type: ignore[no-redef]  # where the import above failed
        """Stands in where scikit-learn has no callbacks."""

    def with_callbacks(method: Any) -> Any:
        """Return the method as it is."""
        return method


__all__ = ["CallbackSupportMixin", "Monitor", "say", "with_callbacks"]

_LOGGER = logging.getLogger("leavezero")


def say(message: str, level: int, verbose: int, **fields: Any) -> None:
    """Log a message, with fields for programs, and print it where the user wants to hear it."""
    _LOGGER.log(logging.INFO if level == 1 else logging.DEBUG, message, extra=fields)
    if verbose >= level:
        print(message, flush=True)


class Monitor:
    """Hears every record: prints a line, tells callbacks, and says when one wants to stop."""

    def __init__(
        self, search: Any, X: Table, y: AnyArray, metadata: dict[str, Any], n_trials: int
    ) -> None:
        self._search = search
        self._data = {"X": X, "y": y, "metadata": metadata or None}
        self._n_trials = n_trials
        self._n_heard = 0
        self._best = -np.inf
        self._context: Any = None
        self._so_far: dict[str, Any] = {}
        if hasattr(search, "_init_callback_context"):
            self._context = search._init_callback_context(
                max_subtasks=None, sequential_subtasks=True
            )
            self._context.call_on_fit_task_begin(estimator=search, **self._data)

    def hear(self, record: Record) -> bool:
        """Take note of a record; return True if a callback asks to stop."""
        self._n_heard += 1
        self._tell_user(record)
        if self._context is None:
            return False
        task = self._context.subcontext(task_name="candidate")
        task.call_on_fit_task_begin(estimator=self._search, **self._data)
        self._remember(record)
        return bool(
            task.call_on_fit_task_end(
                estimator=self._search,
                reconstruction_attributes=self._so_far or None,
                **self._data,
            )
        )

    def end(self) -> None:
        """Tell callbacks that the search is over."""
        if self._context is not None:
            self._context.call_on_fit_task_end(estimator=self._search, **self._data)

    def _remember(self, record: Record) -> None:
        """Keep the best model so far, for callbacks that look at a fitted search."""
        better = record.main_score > self._best or not self._so_far
        if record.model is not None and better:
            self._best = record.main_score
            self._so_far = {
                "best_estimator_": record.model,
                "best_params_": record.trial.candidate.params,
                "best_score_": record.main_score,
            }

    def _tell_user(self, record: Record) -> None:
        owner, verbose = type(self._search).__name__, self._search.verbose
        done = f"{owner}: {self._n_heard} of at most {self._n_trials}"
        params = record.trial.candidate.params
        ended = "failed" if record.error else f"score {record.main_score:.4g}"
        seconds = record.fit_time + record.score_time
        say(
            f"{done}, {params}: {ended}, {seconds:.2g} s",
            2,
            verbose,
            n_done=self._n_heard,
            n_trials=self._n_trials,
            candidate_row=record.trial.row,
            candidate_params=params,
            candidate_score=None if record.error else record.main_score,
            candidate_seconds=seconds,
        )
        if verbose >= 3:
            for name, verdict in record.verdicts.items():
                say(f"    {name}: {np.array2string(verdict.scores, precision=3)}", 3, verbose)
        for traceback in (record.error, *record.scoring_errors.values()):
            if traceback:
                say(f"    {traceback}", 3, verbose)
