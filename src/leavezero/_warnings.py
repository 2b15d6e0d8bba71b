"""Warnings that point at the user's own line, whatever stands between."""

import inspect
import os
import warnings
from pathlib import Path

import joblib
import sklearn

INSIDE = tuple(
    f"{Path(found).parent}{os.sep}"
    for found in (__file__, sklearn.__file__, joblib.__file__)
    if found
)


def warn_caller(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn about the call that came from outside of this package, scikit-learn and joblib.

    Examples
    --------
    >>> import warnings
    >>> from leavezero._warnings import warn_caller
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_caller("Beware.")
    >>> str(caught[0].message)
    'Beware.'
    """
    frame, level = inspect.currentframe(), 1
    while frame is not None and frame.f_code.co_filename.startswith(INSIDE):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
