"""All calls into the search, its diagnostics and its report."""

import logging
import os
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from leavezero._typing import AnyArray
from leavezero.augment import (
    AugmenterUnion,
    CopulaAugmenter,
    GaussianAugmenter,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    NeighborMixup,
    SoftLabeled,
)
from leavezero.cli._messages import BASELINE, TableError, counted, did_you_mean, label_of
from leavezero.exceptions import (
    AllCandidatesFailedError,
    CandidateFailedWarning,
    SmallClassWarning,
)
from leavezero.execution import summarize_checkpoint
from leavezero.report import plot_comparison, to_svg
from leavezero.search import CandidateSearchLZO

if TYPE_CHECKING:
    from leavezero.cli._prepare_table import PreparedTable, TableOptions

AUGMENTERS: dict[str, Callable[[], Any]] = {
    "auto": lambda: "auto",
    "mixup": LabelInvariantMixup,
    "neighbor-mixup": NeighborMixup,
    "gaussian": GaussianAugmenter,
    "gaussian-mixture": GaussianMixtureAugmenter,
    "copula": CopulaAugmenter,
    "union": lambda: AugmenterUnion([GaussianMixtureAugmenter(), CopulaAugmenter()]),
    "soft-labeled-copula": lambda: SoftLabeled(CopulaAugmenter()),
}
_SCORE_COLUMNS = {
    "score": "mean_test_score",
    "low": "low_test_score",
    "high": "high_test_score",
    "validation_score": "mean_validation_score",
    "loo_score": "mean_loo_score",
    "cv_score": "mean_cv_score",
    "fit_seconds": "mean_fit_time",
}


@dataclass(frozen=True)
class CandidateDone:
    """One finished candidate; its score is None if it failed."""

    n_done: int
    n_all: int
    label: str
    score: float | None


OnCandidate = Callable[[CandidateDone], None]


def make_search(prepared: "PreparedTable", options: "TableOptions") -> CandidateSearchLZO:
    """Return the search over the candidates of a table, not fitted."""
    name = options.augmenter
    if name not in AUGMENTERS:
        advice = did_you_mean(name, list(AUGMENTERS))
        raise TableError(f"--augmenter must name an augmenter, got {name!r}. {advice}")
    return CandidateSearchLZO(
        prepared.candidates,
        augmenter=AUGMENTERS[name](),
        scoring=prepared.scoring,
        cv_finalists=options.cv_finalists,
        n_jobs=options.jobs,
        random_state=options.seed,
        checkpoint=options.checkpoint,
        time_budget=options.time_budget,
    )


def fit_counts(search: Any) -> dict[str, int]:
    """Return the number of fits by purpose."""
    return dict(search.fit_counts_)


def diagnose(search: Any, *, permutation: bool) -> Any:
    """Return the diagnostic report of a fitted search."""
    return search.diagnose(permutation=permutation)


def diagnostics_dict(report: Any) -> dict[str, Any] | None:
    """Return the checks of a diagnostic report as plain values."""
    if report is None:
        return None
    names = ("code", "title", "level", "message", "advice")
    checks = [{name: getattr(check, name) for name in names} for check in report.checks]
    return {"checks": checks, "next_step": report.next_step}


def report_html(search: Any, report: Any, title: str, command: str) -> str:
    """Return the report of a fitted search as one HTML page."""
    page: str = search.to_html(diagnostics=report, title=title, command=command)
    return page


def comparison_svg(comparison: dict[str, Any]) -> str:
    """Return the figure of a comparison."""
    return to_svg(plot_comparison, comparison, label="scores of the candidates by both methods")


def read_checkpoint(path: Path) -> tuple[dict[str, str], list[tuple[str, str, str]], int]:
    """Return the parts of a search, its finished candidates, and the number of damaged ones."""
    try:
        summary = summarize_checkpoint(path)
    except (ValueError, OSError) as error:
        raise TableError(str(error)) from error
    rows = [
        (
            result["params"],
            (result["error"] or "").strip().rpartition("\n")[2] or f"{result['main_score']:.4g}",
            f"{result['fit_time'] + result['score_time']:.3g}",
        )
        for result in summary.results.values()
    ]
    return dict(summary.identity), rows, summary.n_damaged


def fit_search(search: Any, X: Any, y: AnyArray, options: "TableOptions") -> None:
    """Fit a search; errors that the user can correct become TableError."""
    started = time.monotonic()
    try:
        search.fit(X, y)
    except AllCandidatesFailedError as error:
        reason = f"First error: {str(error).strip().splitlines()[-1]}"
        if options.time_budget is not None and time.monotonic() - started >= options.time_budget:
            reason = "Use a longer --time-budget, or fast models in --models."
        raise TableError(f"No candidate has a score. {reason}") from error
    except (ValueError, PermissionError) as error:  # unsuitable augmenter, other checkpoint
        raise TableError(str(error)) from error
    scores = zip(search.cv_results_["params"], search.cv_results_["mean_test_score"], strict=True)
    if {params["candidate"] for params, score in scores if np.isfinite(score)} == {BASELINE}:
        errors = [text.splitlines()[-1] for text in search.failures_.values()]
        raise TableError(f"Only the baseline has a score. First error: {''.join(errors[:1])}")


def candidate_rows(search: Any) -> list[dict[str, Any]]:
    """Return one plain row per candidate, the selected one first and the others by rank."""
    table, best = search.cv_results_, int(search.best_index_)
    order = sorted(
        range(len(table["params"])), key=lambda at: (at != best, table["rank_test_score"][at])
    )
    return [_candidate_row(search, table, at, at == best) for at in order]


def split_params(params: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return a candidate's model name and the parameters of the model itself.

    Examples
    --------
    >>> split_params({"candidate": "svm", "model__C": 1.0})
    ('svm', {'C': 1.0})
    """
    own = {name.removeprefix("model__"): value for name, value in params.items()}
    return str(own.pop("candidate")), own


@contextmanager
def candidates_reported(on_candidate: OnCandidate | None) -> Iterator[None]:
    """Call a function with each candidate that a search logs as finished."""
    if on_candidate is None:
        yield
        return
    logger, handler = logging.getLogger("leavezero"), _CandidateHandler(on_candidate)
    level, propagate = logger.level, logger.propagate
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    logger.propagate = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
        logger.propagate = propagate


@contextmanager
def recorded_warnings() -> Iterator[list[str]]:
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
    notices += _worth_a_notice([warning.message for warning in caught])


class _CandidateHandler(logging.Handler):
    """Passes on log records of finished candidates."""

    def __init__(self, on_candidate: OnCandidate) -> None:
        super().__init__(logging.DEBUG)
        self._on_candidate = on_candidate

    def emit(self, record: logging.LogRecord) -> None:
        values = record.__dict__  # fields of `extra` are attributes
        if "candidate" in values.get("candidate_params", ()):
            label = label_of(*split_params(values["candidate_params"]))
            score = values["candidate_score"]
            self._on_candidate(CandidateDone(values["n_done"], values["n_trials"], label, score))


def _candidate_row(search: Any, table: dict[str, Any], at: int, best: bool) -> dict[str, Any]:
    model, params = split_params(table["params"][at])
    scores: dict[str, float | None] = {}
    for name, column in _SCORE_COLUMNS.items():
        value = table[column][at] if column in table else np.nan
        scores[name] = float(value) if np.isfinite(value) else None
    error = search.failures_.get(at, "").splitlines()
    return {
        "rank": int(table["rank_test_score"][at]),
        "selected": best,
        "model": model,
        "params": {name: _plain(value) for name, value in params.items()},
        **scores,
        "error": error[-1] if error else None,
    }


def _plain(value: Any) -> Any:
    value = value.item() if isinstance(value, np.generic) else value
    return value if isinstance(value, str | int | float | None) else repr(value)


def _worth_a_notice(messages: list[Any]) -> list[str]:
    notices = []
    for message in messages:
        if isinstance(message, CandidateFailedWarning | SmallClassWarning):
            head, _, traceback = str(message).partition("\n")
            head = head.partition(' Set error_score="raise"')[0]
            last = traceback.splitlines()[-1:]
            notices.append(" ".join([head, *(f"First error: {line}" for line in last)]))
    n_early = sum(isinstance(message, ConvergenceWarning) for message in messages)
    if n_early:
        notices.append(f"{counted(n_early, 'fit')} stopped before convergence.")
    return list(dict.fromkeys(notices))
