"""The number of threads inside a fit, the same whatever the number of workers."""

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

THREADS_PER_FIT = 1


def limited_threads() -> AbstractContextManager[Any]:
    """Return a context in which BLAS and OpenMP use one thread.

    Their sums depend on the number of threads in the last digits. joblib gives its workers fewer
    threads than the main process has, so that without a fixed number a search with two workers
    could choose another model than a search with one (docs/decisions/0003).
    """
    return _controller(len(sys.modules)).limit(limits=THREADS_PER_FIT)


@lru_cache(maxsize=1)
def _controller(n_modules: int) -> ThreadpoolController:
    """Look for libraries with threads; again when more modules have brought more of them."""
    return ThreadpoolController()
