"""Warnings that point at the user's own line, whatever stands between."""

import inspect
import os
import warnings
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
