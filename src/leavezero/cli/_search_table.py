"""The search over the candidates of a table: options, progress, errors and warnings."""

import logging
import os
import re
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from rich.progress import Progress
from sklearn.exceptions import ConvergenceWarning

from leavezero._typing import AnyArray
from leavezero.augment import (
    AugmenterUnion,
    CopulaAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
)
from leavezero.cli._output import TableError, check_name, counted, printable, progress_bar
from leavezero.cli._prepare_table import PreparedTable, TableOptions
from leavezero.diagnostics import format_score
from leavezero.exceptions import (
    AllCandidatesFailedError,
    CandidateFailedWarning,
    SmallClassWarning,
    TimeBudgetError,
)
from leavezero.execution import summarize_checkpoint
from leavezero.report import BASELINE
from leavezero.search import CandidateSearchLZO

AUGMENTERS: dict[str, Callable[[], Any]] = {
    "auto": lambda: "auto",
    "mixup": LabelInvariantMixup,
    "neighbor-mixup": NeighborMixup,
    "gaussian": GaussianAugmenter,
    "gaussian-mixture": GaussianMixtureAugmenter,
    "copula": CopulaAugmenter,
    "union": lambda: AugmenterUnion([GaussianMixtureAugmenter(), CopulaAugmenter()]),
}
_REPORT_SECONDS = 10  # of the time budget, for the start of workers, checks and the report
_OUT_OF_TIME = "within time_budget"  # in the error of such a candidate
_OWNER = f" of {CandidateSearchLZO.__name__}"
TIME_ADVICE = "Use a longer --time-budget, or fast models in --models."


def make_search(prepared: PreparedTable, options: TableOptions) -> CandidateSearchLZO:
    """Return the search over the candidates of a table, not fitted."""
    check_name(options.augmenter, AUGMENTERS, "--augmenter must name an augmenter")
    budget = options.time_budget
    if budget is not None:
        spent = time.perf_counter() - options.started
        budget = max(budget / 2, 0.9 * budget - _REPORT_SECONDS - spent)
    if prepared.ordered and (options.augmenter, options.cv_finalists) != ("auto", "auto"):
        raise TableError(
            "--time-column cannot be combined with --augmenter or --cv-finalists: all candidates "
            "are scored on later rows."
        )
    return CandidateSearchLZO(
        prepared.candidates,
        augmenter=AUGMENTERS[options.augmenter](),
        scoring=prepared.scoring,
        cv_finalists=options.cv_finalists,
        cv=prepared.cv,
        n_jobs=options.jobs,
        random_state=options.seed,
        checkpoint=options.checkpoint,
        time_budget=budget,
    )


def fit_search(
    search: Any, X: Any, y: AnyArray, options: TableOptions, groups: AnyArray | None = None
) -> None:
    """Fit a search; errors that the user can correct become TableError."""
    params = {} if groups is None else {"groups": groups}
    try:
        try:
            search.fit(X, y, **params)
        except TimeBudgetError:  # the baseline takes no time
            baseline = {BASELINE: search.candidates[BASELINE]}
            search.set_params(candidates=baseline, time_budget=None, checkpoint=None)
            search.fit(X, y, **params)
    except AllCandidatesFailedError as error:
        raise TableError(f"No candidate has a score. {_reason(str(error))}") from error
    except (ValueError, OSError) as error:  # unsuitable augmenter, checkpoint or folder
        text = str(error).replace(_OWNER, "")
        raise TableError(re.sub(r"^\[Errno \d+\] ", "", text)) from error
    errors = [text for text in search.failures_.values() if _OUT_OF_TIME not in text]
    if only_baseline(search) and errors:
        raise TableError(f"Only the baseline has a score. {_reason(errors[0])}")


def only_baseline(search: Any) -> bool:
    """Return whether no other candidate has a score."""
    scores = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    return {params["candidate"] for params, score in scores if np.isfinite(score)} == {BASELINE}


def _reason(error: str) -> str:
    return f"First error: {error.strip().splitlines()[-1]}"


def candidate_label(params: dict[str, Any]) -> str:
    """Return a candidate's model name and parameters as text."""
    texts = [
        f"{name.removeprefix('model__')}={f'{value:.4g}' if isinstance(value, float) else value}"
        for name, value in params.items()
        if name != "candidate"
    ]
    return ", ".join([params["candidate"], *texts])


@contextmanager
def search_progress(quiet: bool) -> Iterator[Callable[[str], None]]:
    """Show finished candidates and the best so far; yield a function that starts a new bar."""
    logger = logging.getLogger("leavezero")
    level, propagate = logger.level, logger.propagate
    with progress_bar(quiet) as progress:
        handler = _ProgressHandler(progress)
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        try:
            yield handler.start
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate


class _ProgressHandler(logging.Handler):
    """Shows the candidates that a search logs as finished."""

    def __init__(self, progress: Progress) -> None:
        super().__init__(logging.DEBUG)
        self._progress, self._best = progress, -np.inf
        self._task = progress.add_task("searching", total=None, text="")

    def start(self, name: str) -> None:
        self._best = -np.inf
        self._progress.reset(self._task, description=name, total=None, text="")

    def emit(self, record: logging.LogRecord) -> None:
        values = record.__dict__  # fields of `extra` are attributes
        if "candidate" not in values.get("candidate_params", ()):
            return
        score = values["candidate_score"]
        if score is not None and score >= self._best:
            label = candidate_label(values["candidate_params"])
            text = printable(f"best so far {format_score(score)}: {label}")
            self._best = score
            width = max(20, self._progress.console.width - 43)  # left by the other columns
            self._progress.update(self._task, text=text[:width])
        done, total = values["n_done"], values["n_trials"]
        self._progress.update(self._task, completed=done, total=total)
        if done == total:
            self._progress.update(self._task, description="checking")


@contextmanager
def recorded_warnings(verbose: bool = False) -> Iterator[list[str]]:
    """Yield a list to which the warnings worth a notice are added at the end; others are hidden."""
    notices: list[str] = []
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = "ignore"  # for worker processes
    try:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            yield notices
    finally:
        os.environ.pop("PYTHONWARNINGS")
        os.environ.update({} if before is None else {"PYTHONWARNINGS": before})
    for message in (warning.message for warning in caught):
        if isinstance(message, CandidateFailedWarning | SmallClassWarning):
            head, _, traceback = str(message).partition("\n")
            if _OUT_OF_TIME in head:
                continue  # the summary counts these candidates
            head = head.partition(' Set error_score="raise"')[0].replace(_OWNER, "")
            head = head.replace("time_budget", "--time-budget")
            last = [f"First error: {line}" for line in traceback.splitlines()[-1:]]
            notices.append(" ".join([head, *last]))
    n_early = sum(issubclass(warning.category, ConvergenceWarning) for warning in caught)
    if n_early and verbose:
        notices.append(f"{counted(n_early, 'fit')} stopped before convergence.")
    notices[:] = dict.fromkeys(notices)


def read_checkpoint(path: Path) -> tuple[dict[str, str], list[tuple[str, str, str]], int]:
    """Return the parts of a search, its finished candidates, and the number of damaged ones."""
    try:
        summary = summarize_checkpoint(path)
    except (ValueError, OSError) as error:
        raise TableError(str(error)) from error
    if not summary.identity:
        raise TableError(f"{path} is empty: no search has used it as checkpoint.")
    try:
        rows = [
            (
                result["params"],
                (result["error"] or "").strip().rpartition("\n")[2]
                or f"{result['main_score']:.4g}",
                f"{result['fit_time'] + result['score_time']:.3g}",
            )
            for result in summary.results.values()
            if "params" in result  # others are scores on single folds
        ]
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise TableError(f"{path} contains results that no search has written.") from error
    return dict(summary.identity), rows, summary.n_damaged
