"""The warnings of a search: all are heard, and those worth it told in the end."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from sklearn.exceptions import ConvergenceWarning

from leavezero.exceptions import CandidateFailedWarning, SmallClassWarning
from leavezero.tabular._words import counted, in_options


@contextmanager
def listening() -> Iterator[list[warnings.WarningMessage]]:
    """Yield a list that fills with warnings, none of which reach the terminal."""
    with warnings.catch_warnings(record=True) as heard, _silent_workers():
        warnings.simplefilter("always")
        yield heard


def worth_telling(heard: Sequence[warnings.WarningMessage]) -> list[str]:
    """Return what is worth hearing of the warnings of a search, each as one line."""
    messages = [warning.message for warning in heard]
    told = [
        in_options(_sentence(str(one)))
        for one in messages
        if isinstance(one, CandidateFailedWarning | SmallClassWarning)
    ]
    early = sum(isinstance(one, ConvergenceWarning) for one in messages)
    if early:
        told.append(
            f"{counted(early, 'fit')} stopped before converging; they were judged as they are."
        )
    return list(dict.fromkeys(told))


@contextmanager
def _silent_workers() -> Iterator[None]:
    """Keep warnings of other processes off the terminal."""
    name = "PYTHONWARNINGS"
    before = os.environ.get(name)
    os.environ[name] = "ignore"
    try:
        yield
    finally:
        if before is None:
            del os.environ[name]
        else:
            os.environ[name] = before


def _sentence(warning: str) -> str:
    """Return a warning in a line: of the traceback below it the reason is enough."""
    head, _, traceback = warning.partition("\n")
    if not traceback:
        return head
    what, _, _ = head.partition(' Set error_score="raise"')
    return f"{what} The first ended with {traceback.splitlines()[-1]}"
