"""What users hear of candidates that failed."""

from collections.abc import Sequence

import numpy as np

from leavezero._warning import warn_caller
from leavezero.engine import Job, Record
from leavezero.exceptions import AllCandidatesFailedError, CandidateFailedWarning


def report_failures(records: Sequence[Record], job: Job, owner: str) -> None:
    """Warn of candidates that could not be fitted or scored; raise where none could."""
    errors = [r.error for r in records if r.error is not None and r.judged]
    unscored = [error for record in records for error in record.scoring_errors.values()]
    _raise_if_none_is_left(records, job, owner, errors, unscored)
    score = f"were given the score {job.error_score!r}"
    advice = 'Set error_score="raise" to stop at the first, which ended with'
    if errors:
        _warn(
            f"{len(errors)} of {len(records)} candidates of {owner} failed and {score}. "
            f"{advice}\n{errors[0]}"
        )
    n_left = sum(not record.judged for record in records)
    if n_left:
        _warn(
            f"{n_left} of {len(records)} candidates of {owner} were not judged, because its "
            f"time_budget was spent, and {score}. The best of the others is chosen. Give more "
            "time to hear of all."
        )
    if unscored:
        _warn(
            f"scoring of {owner} failed {len(unscored)} times with {len(records)} candidates, "
            f"which {score}. {advice}\n{unscored[0]}"
        )
    n_odd = sum(not _all_finite(record) for record in records)
    if n_odd:
        _warn(
            f"{n_odd} of {len(records)} candidates of {owner} have scores that are not finite. "
            "Such a candidate is never chosen; check the scorer and the data."
        )


def failures(records: Sequence[Record]) -> dict[int, str]:
    """Return why candidates failed, by their row of the table."""
    told = {
        row: "\n".join([record.error or "", *record.scoring_errors.values()]).strip()
        for row, record in enumerate(records)
    }
    return {row: reason for row, reason in told.items() if reason}


def warn_of_no_folds(owner: str) -> None:
    """Warn that there was no time to confirm the choice."""
    _warn(
        f"time_budget of {owner} was spent before the folds of confirm, and the best is chosen "
        "without them. Give more time."
    )


def _raise_if_none_is_left(
    records: Sequence[Record], job: Job, owner: str, errors: list[str], unscored: list[str]
) -> None:
    if not records:
        raise AllCandidatesFailedError(
            f"No candidate of {owner} was begun before its time_budget was spent. Give more time."
        )
    judged = [record for record in records if record.judged]
    if len(errors) == len(judged) < len(records):
        raise AllCandidatesFailedError(
            f"No candidate of {owner} was finished before its time_budget was spent: "
            f"{len(errors)} failed, and {len(records) - len(judged)} were not judged. Give more "
            f"time.{chr(10).join(['', *errors[:1]])}"
        )
    may_win = [record for record in judged if record.trial.may_win] or judged
    lost = [record.error for record in may_win if record.error is not None]
    if (lost and len(lost) == len(may_win)) or len(errors) == len(records):
        raise AllCandidatesFailedError(
            f"All {len(lost) or len(errors)} candidates of {owner} failed. Mend the data or the "
            f"estimator; the first one ended with\n{(lost or errors)[0]}"
        )
    if not job.draws and not any(record.sight.verdicts for record in may_win):
        notes = "; ".join(dict.fromkeys(str(r.sight.note) for r in may_win))
        raise AllCandidatesFailedError(
            f'{owner} was made with unseen="only", and no candidate can tell what it would say of '
            f'rows that it has not seen: {notes}. Use unseen="auto".'
        )
    known = any(job.main in (*r.verdicts, *r.scoring_errors) for r in may_win)
    if known and not any(np.isfinite(record.main_score) for record in may_win):
        beyond = (
            " If they cannot answer rows beyond the given ones, draw V between these, with "
            "augmenter=LabelInvariantMixup()."
        )
        raise AllCandidatesFailedError(
            f"Every score of {owner} is NaN, so that no candidate can be chosen. Check the scorer, "
            "or the score method of the estimator."
            f"{chr(10).join([beyond, *unscored[:1]]) if unscored else ''}"
        )


def _all_finite(record: Record) -> bool:
    return all(np.all(np.isfinite(verdict.scores)) for verdict in record.verdicts.values())


def _warn(message: str) -> None:
    warn_caller(message, CandidateFailedWarning)
