"""Import skops and skrub without what the commands for saved models do not use.

skops lists the estimators of scikit-learn by importing all its modules, and with them PyTorch,
Dask and pytest if they are installed. skrub imports matplotlib for its reports. Both take seconds.
"""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import sklearn.utils


class _Deferred(ModuleType):
    """A module that is imported when one of its attributes is used."""

    def __getattr__(self, name: str) -> Any:
        if sys.modules.get(self.__name__) is self:
            raise AttributeError(name)
        return getattr(import_module(self.__name__), name)


def import_skops() -> Any:
    """Return ``skops.io``, which may know no estimators of scikit-learn by itself."""
    original = sklearn.utils.all_estimators
    sklearn.utils.all_estimators = list
    try:
        return import_module("skops.io")
    finally:
        sklearn.utils.all_estimators = original


def import_skrub() -> None:
    """Import skrub, and matplotlib only when a plot is made."""
    names = ("matplotlib", "matplotlib.pyplot")
    if any(name in sys.modules for name in ("skrub", *names)):
        return
    sys.modules.update({name: _Deferred(name) for name in names})  # "from" finds them there
    try:
        import_module("skrub")
    finally:
        for name in names:
            del sys.modules[name]
