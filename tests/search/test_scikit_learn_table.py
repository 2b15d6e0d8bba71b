"""docs/scikit-learn-tests.md is complete and names tests that exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest
import sklearn

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "scikit-learn-tests.md"
THEIRS = Path(sklearn.__file__).parent / "model_selection" / "tests" / "test_search.py"


def rows():
    """Return what the table says of each of scikit-learn's tests."""
    return dict(re.findall(r"^\| `(test\w+)` \| (.+) \|$", PAGE.read_text(), flags=re.MULTILINE))


@cache
def functions_of(path):
    """Return the names of the test functions of a file, those of classes included."""
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    names = [node.name for node in nodes if isinstance(node, functions)]
    return {name for name in names if name.startswith("test")}


def test_the_table_has_every_test_of_the_installed_scikit_learn():
    """A newer release that tests more of its searches is noticed."""
    if not THEIRS.exists():
        pytest.skip("this build of scikit-learn comes without its tests")
    lacking = sorted(functions_of(THEIRS) - rows().keys())
    assert not lacking, (
        f"docs/scikit-learn-tests.md lacks these tests of scikit-learn {sklearn.__version__}: "
        f"{', '.join(lacking)}. Write ours, or the reason why there is none, into a row each."
    )


def test_every_row_names_a_test_or_a_reason():
    """An answer is a test of ours or a sentence."""
    bare = [
        name for name, answer in rows().items() if "`tests/" not in answer and "." not in answer
    ]
    assert rows()
    assert bare == []


def test_every_test_that_the_table_names_exists():
    """A test that is renamed takes its row along."""
    named = re.findall(r"(tests/[\w/]+\.py)::(\w+)", PAGE.read_text())
    assert named
    lost = [f"{path}::{name}" for path, name in named if name not in known(path)]
    assert not lost, f"docs/scikit-learn-tests.md names tests that do not exist: {', '.join(lost)}."


def known(path):
    """Return the tests of a file of ours; none if there is no such file."""
    return functions_of(ROOT / path) if (ROOT / path).exists() else set()
