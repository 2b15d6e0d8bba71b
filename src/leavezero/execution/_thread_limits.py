"""One BLAS and OpenMP thread inside a fit, whatever the number of workers."""

import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

N_THREADS = 1


@contextmanager
def limited_threads() -> Iterator[None]:
    """Return a context in which BLAS and OpenMP use one thread.

    Their sums depend on the number of threads in the last digits. joblib gives its workers fewer
    threads than the main process has, so without a fixed number the scores would depend on
    ``n_jobs``. Several Python threads may use the context at the same time: the last one that
    leaves it restores the numbers of threads.

    Examples
    --------
    >>> from threadpoolctl import threadpool_info
    >>> from leavezero.execution import limited_threads
    >>> with limited_threads():
    ...     {pool["num_threads"] for pool in threadpool_info()}
    {1}
    """
    libraries = _controller(len(sys.modules)).lib_controllers
    own = [library for library in libraries if _is_per_thread(library)]
    before = [library.get_num_threads() for library in own]
    for library in own:
        library.set_num_threads(N_THREADS)
    _PROCESS.enter([library for library in libraries if not _is_per_thread(library)])
    try:
        yield
    finally:
        _PROCESS.leave()
        for library, n_threads in zip(own, before, strict=True):
            library.set_num_threads(n_threads)


class _ProcessThreads:
    """Thread numbers that all Python threads share, and how many of these have limited them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_inside = 0
        self._before: dict[str, tuple[Any, int]] = {}  # by file of the library

    def enter(self, libraries: list[Any]) -> None:
        with self._lock:
            self._n_inside += 1
            for library in libraries:
                # A number that is not ours was there before, or was set by other code meanwhile.
                if (n_threads := library.get_num_threads()) not in (None, N_THREADS):
                    self._before[library.filepath] = (library, n_threads)
                    _set_shared(library, N_THREADS)

    def leave(self) -> None:
        with self._lock:
            self._n_inside -= 1
            if self._n_inside == 0:
                for library, n_threads in self._before.values():
                    if library.get_num_threads() == N_THREADS:
                        _set_shared(library, n_threads)
                self._before.clear()


# The numbers themselves are state of the process, so the count of those who limit them is, too.
_PROCESS = _ProcessThreads()
if hasattr(os, "register_at_fork"):  # the lock may be held by a thread that a fork does not copy
    os.register_at_fork(after_in_child=_PROCESS.__init__)  # type: ignore[misc]


def _is_per_thread(library: Any) -> bool:
    """Return True if each Python thread has its own number of threads of this library."""
    if library.user_api == "openmp":
        return bool(library.prefix != "vcomp")  # Microsoft's is shared by the whole process
    return library.internal_api == "openblas" and library.threading_layer == "openmp"


def _set_shared(library: Any, n_threads: int) -> None:
    """Set a number that all Python threads share.

    threadpoolctl 3.8 ignores every Python thread but the first one that has set OpenBLAS, until
    that one is cleared.
    """
    clear = getattr(library, "clear_controlling_thread", lambda force: None)
    clear(force=True)
    library.set_num_threads(n_threads)
    clear(force=True)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Find libraries with threads; again when an import may have loaded more of them."""
    return ThreadpoolController()
