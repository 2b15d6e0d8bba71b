"""Which fitted models stay alive until the winner is known."""

import pickle
import tempfile
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from leavezero.engine._run import Record

IN_MEMORY = 2**26  # bytes of pickled models; more are put on disk


class Keeper(Protocol):
    """Says which models a worker should send back, and holds them."""

    def floor(self) -> float:
        """Return the score below which a model need not be sent back."""

    def offer(self, record: Record) -> None:
        """See a record, with its model if it reached the floor."""

    def model_of(self, row: int) -> Any:
        """Return the model of a row of the table."""

    def close(self) -> None:
        """Let go of everything."""


class BestModel:
    """Keeps the best model so far, where the highest score wins."""

    def __init__(self) -> None:
        self._best: Record | None = None

    def floor(self) -> float:
        """Return the best score so far."""
        return -np.inf if self._best is None else self._best.main_score

    def offer(self, record: Record) -> None:
        """Take the record if it is the best; ties go to the first in canonical order."""
        best = self._best
        if record.model is None or np.isnan(record.main_score):
            return
        if best is None or record.main_score > best.main_score or _first_of_tied(record, best):
            self._best = record

    def model_of(self, row: int) -> Any:
        """Return the model of the best row; no other is kept."""
        assert self._best is not None
        assert self._best.trial.row == row
        return self._best.model

    def close(self) -> None:
        """Let the model go."""
        self._best = None


class AllModels:
    """Keeps every model, on disk where they are large; any of them may be chosen."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="leavezero-")  # private to the user
        self._in_memory: dict[int, Any] = {}
        self._left = IN_MEMORY

    def floor(self) -> float:
        """Return a score that every model reaches."""
        return -np.inf

    def offer(self, record: Record) -> None:
        """Put the model away."""
        if record.model is None:
            return
        row = record.trial.row
        try:
            content = pickle.dumps(record.model)
        except Exception:  # pickle raises anything
            content = b""
        self._in_memory.pop(row, None)
        if len(content) <= self._left:
            self._left -= len(content)
            self._in_memory[row] = record.model
        else:
            self._path(row).write_bytes(content)

    def model_of(self, row: int) -> Any:
        """Return a model that was put away by this very object."""
        if row in self._in_memory:
            return self._in_memory[row]
        return pickle.loads(self._path(row).read_bytes())

    def close(self) -> None:
        """Remove the files."""
        self._in_memory.clear()
        self._folder.cleanup()

    def _path(self, row: int) -> Path:
        return Path(self._folder.name) / f"{row}.pickle"


class NoModel:
    """Keeps nothing, where no model is to be handed back."""

    def floor(self) -> float:
        """Return a score that no model reaches."""
        return np.inf

    def offer(self, record: Record) -> None:
        """Let the model go."""

    def model_of(self, row: int) -> Any:
        """Return None."""

    def close(self) -> None:
        """Do nothing."""


def _first_of_tied(record: Record, best: Record) -> bool:
    same = record.main_score == best.main_score
    return bool(same and record.trial.candidate.key < best.trial.candidate.key)
