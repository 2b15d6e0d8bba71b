"""Warnings that point at the user's own line, whatever stands between."""

import inspect
import os
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import joblib
import sklearn

INSIDE = tuple(
    f"{Path(found).parent}{os.sep}" for found in (__file__, sklearn.__file__, joblib.__file__)
)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the call that came from outside of this package, scikit-learn and joblib."""
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def first_only(category: type[Warning]) -> Iterator[None]:
    """Show only the first warning of a category; other categories are not affected."""
    caught: list[warnings.WarningMessage] = []
    try:
        with warnings.catch_warnings(record=True) as caught:
            yield
    finally:
        first = next((one for one in caught if issubclass(one.category, category)), None)
        for one in caught:
            if one is first or not issubclass(one.category, category):
                # The filters have been applied to it.
                warnings.showwarning(one.message, one.category, one.filename, one.lineno)
