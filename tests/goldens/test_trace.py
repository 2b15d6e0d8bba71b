"""The number of package modules that a search passes through must not grow."""

import inspect
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_iris
from sklearn.svm import SVC

import leavezero
from leavezero import GridSearchLZO, LabelInvariantMixup

PLAIN = {"augmenter": LabelInvariantMixup(), "loo": False}

MAX_MODULES_DEFAULT = 25
MAX_MODULES_PLAIN = 17
ROOT = str(Path(leavezero.__file__).parent)


def modules_of(search):
    """Return the package modules whose functions are called while a search is fitted to iris."""
    X, y = load_iris(return_X_y=True)
    found = set()

    def profile(frame, event, arg):
        code = frame.f_code
        # Bodies of modules and classes run only at the first import: they are not counted.
        is_function = code.co_flags & inspect.CO_OPTIMIZED
        if event == "call" and is_function and code.co_filename.startswith(ROOT):
            found.add(str(Path(code.co_filename).relative_to(ROOT)))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        search.fit(X, y)
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize(
    ("options", "most"),
    [({}, MAX_MODULES_DEFAULT), (PLAIN, MAX_MODULES_PLAIN)],
    ids=["default", "plain"],
)
def test_search_passes_through_few_modules(options, most):
    search = GridSearchLZO(SVC(), {"C": [1, 10]}, random_state=0, **options)
    found = modules_of(search)
    assert 0 < len(found) <= most, sorted(found)


def test_profiler_is_restored():
    def profile(frame, event, arg):
        return None

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        modules_of(GridSearchLZO(SVC(), {"C": [1]}, random_state=0, **PLAIN))
        assert sys.getprofile() is profile
    finally:
        sys.setprofile(before)
