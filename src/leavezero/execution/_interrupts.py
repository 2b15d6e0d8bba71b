"""Ctrl-C that takes effect only where no result can be lost."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class _WaitingHandler:
    """A handler of SIGINT that calls another one where interrupts are allowed, or at the second.

    It stores whether they are, so that no function of a search needs an argument for it.
    """

    def __init__(self, handler: Any) -> None:
        self._handler = handler
        self.is_allowed = False
        self.n_received = 0
        self.is_pending = False

    def __call__(self, number: int, frame: Any) -> None:
        self.n_received += 1
        self.is_pending = not self.is_allowed and self.n_received == 1
        if not self.is_pending:
            self.is_allowed = False  # what is finished now is not interrupted
            self._handler(number, frame)

    def call_if_pending(self) -> None:
        """Deliver an interrupt that has waited."""
        if self.is_pending:
            self.is_pending = False
            self._handler(signal.SIGINT, None)


@contextmanager
def deferred_interrupts() -> Iterator[None]:
    """Return a context in which Ctrl-C waits until its end, or until it is allowed.

    A second one does not wait. Python runs signal handlers in the main thread only.
    """
    before = _handler()
    if not callable(before):
        yield
        return
    waiting = _WaitingHandler(before)
    signal.signal(signal.SIGINT, waiting)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        waiting.call_if_pending()


@contextmanager
def allowed_interrupts() -> Iterator[None]:
    """Return a context inside of `deferred_interrupts` in which Ctrl-C takes effect at once."""
    waiting = _handler()
    if not isinstance(waiting, _WaitingHandler):
        yield
        return
    waiting.is_allowed = True
    try:
        waiting.call_if_pending()
        yield
    finally:
        waiting.is_allowed = False


def _handler() -> Any:
    """Return the handler of SIGINT; None in other threads than the main one."""
    is_main = threading.current_thread() is threading.main_thread()
    return signal.getsignal(signal.SIGINT) if is_main else None
