"""What a worker does: fit and score one task after another, and say what came of it."""

import os
import pickle
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from multiprocessing.connection import Connection
from typing import Any, cast

import numpy as np
from sklearn import config_context, get_config

from leavezero.engine._run import run_group
from leavezero.engine._workers_cargo import Spans, dumps, unpack

BEGUN = b"begun"
DONE, FAILED, RAISED = "done", "failed", "raised"


@dataclass(frozen=True)
class Surroundings:
    """What code may depend on beside its arguments, as it is in the main process."""

    path: list[str] = field(default_factory=lambda: list(sys.path))
    argv: list[str] = field(default_factory=lambda: list(sys.argv))
    folder: str = field(default_factory=os.getcwd)
    environment: dict[str, str] = field(default_factory=lambda: dict(os.environ))
    config: dict[str, Any] = field(default_factory=get_config)
    filters: Sequence[Any] = field(default_factory=lambda: list(warnings.filters))

    def settle(self) -> None:
        """Make them those of this process."""
        sys.path[:], sys.argv[:] = self.path, self.argv
        os.chdir(self.folder)
        os.environ.clear()
        os.environ.update(self.environment)

    @contextmanager
    def around(self) -> Iterator[None]:
        """Return a context with the user's configuration of scikit-learn and of warnings."""
        with config_context(**self.config), warnings.catch_warnings():
            warnings.resetwarnings()
            warnings.filters[:] = list(self.filters)  # type: ignore[index]  # a list, in fact
            yield


def work(line_end: int, data: int) -> None:
    """Do what comes over the line until its other end is closed."""
    line = Connection(line_end)
    np.random.seed()  # noqa: NPY002 - what is forked has the state of what it was forked from
    try:
        surroundings, spans = _settled(line.recv_bytes())
        while True:
            reply = _reply(line, line.recv_bytes(), surroundings, data, spans)
            line.send_bytes(reply)
    except (EOFError, ConnectionError):  # nobody listens any more
        return


def _settled(message: bytes) -> tuple[Surroundings, Spans]:
    path, rest = pickle.loads(message)
    sys.path[:] = path  # before anything is looked for there
    surroundings, spans = pickle.loads(rest)
    surroundings.settle()
    return surroundings, spans


def _reply(
    line: Connection, message: bytes, surroundings: Surroundings, data: int, spans: Spans
) -> bytes:
    """Return what came of a task, as bytes.

    Every task reads the data anew, so that what one writes to them no other sees.
    """
    try:
        group, floor = pickle.loads(message)
        job = unpack(data, spans)
    except Exception:
        return _packed(FAILED, f"A worker could not read the task.\n{traceback.format_exc()}")
    line.send_bytes(BEGUN)  # what it took to import is not the candidate's
    try:
        with surroundings.around():
            records = run_group(job, group, floor)
    except Exception as error:
        return _packed(RAISED, _sendable(error))
    except BaseException:  # a candidate's KeyboardInterrupt is not the user's
        return _packed(FAILED, traceback.format_exc())
    known = cast(Any, None)  # where the records go, their trials are
    return _packed(DONE, [replace(record, trial=known) for record in records])


def _packed(kind: str, content: Any) -> bytes:
    try:
        return dumps((kind, content))
    except Exception:  # pickle raises anything
        return dumps((FAILED, f"The fitted model cannot be sent back.\n{traceback.format_exc()}"))


def _sendable(error: Exception) -> Exception:
    """Return an error that another process can read, with its traceback."""
    text = "".join(traceback.format_exception(error))
    try:
        copied = pickle.loads(dumps(error))
        copied.add_note(f"In a worker:\n{text}")
    except Exception:  # pickle raises anything
        return RuntimeError(text)
    return copied
