"""What a journal file holds, as plain data for people."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from leavezero.engine._journal_store import Row, Store


@dataclass(frozen=True)
class Finished:
    """One candidate of a journal."""

    params: str
    score: float  # the mean over replicates of V by the main metric
    seconds: float
    error: str | None  # the last line of its traceback
    model: str | None  # why its model is not kept; None if it is


@dataclass(frozen=True)
class JournalSummary:
    """The search that a journal belongs to, its finished candidates, and how many are in work."""

    parts: Mapping[str, str]
    finished: tuple[Finished, ...]
    n_damaged: int
    n_in_work: int


def summarize_journal(path: str | PathLike[str]) -> JournalSummary:
    """Return what a journal holds; the file is only read."""
    file = Path(path)
    if not file.is_file():
        raise ValueError(f"There is no file {str(path)!r}. Name a journal that a search has made.")
    store = Store(file, only_read=True)
    try:
        parts = {name: shown for name, (_, shown) in store.parts().items()}
        found = store.overview()
        whole = [_finished(row, kept, note) for row, kept, note in found if row is not None]
        return JournalSummary(parts, tuple(whole), len(found) - len(whole), store.at_work())
    finally:
        store.close()


def _finished(row: Row, kept: bool, note: str | None) -> Finished:
    content = json.loads(row.content)
    errors = [content["error"], *(error for _, error in content["scoring_errors"])]
    last = [error.strip().splitlines()[-1] for error in errors if error]
    return Finished(
        row.params,
        content["main_score"],
        content["fit_time"] + content["score_time"],
        last[0] if last else None,
        None if kept else note or "not among the best",
    )
