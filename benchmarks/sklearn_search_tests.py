"""Run scikit-learn's own tests of its searches with the classes of leavezero in their place.

``uv run python benchmarks/sklearn_search_tests.py`` writes results/sklearn_search_tests/*.md: the
number of tests that pass, and each test that fails with the reason from
``sklearn_search_tests.toml``. The adapter replaces the classes and nothing else. With ``halving``
as the first argument it runs the tests of halving searches. Further arguments are passed to pytest,
such as ``-k groups``; the page is then printed only.
"""

import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
import sklearn
import sklearn.model_selection as model_selection
from sklearn.experimental import enable_halving_search_cv  # noqa: F401 - makes halving importable

import leavezero

CLASSES = {
    "GridSearchCV": leavezero.GridSearchLZO,
    "RandomizedSearchCV": leavezero.RandomizedSearchLZO,
    "HalvingGridSearchCV": leavezero.HalvingGridSearchLZO,
    "HalvingRandomSearchCV": leavezero.HalvingRandomSearchLZO,
}
REASONS = Path(__file__).with_suffix(".toml")
PAGES = Path(__file__).parents[1] / "results" / "sklearn_search_tests"


class Outcomes:
    """A pytest plugin that swaps the classes and counts the tests that pass."""

    def __init__(self) -> None:
        self.failed: dict[str, str] = {}
        self.n_passed = 0

    def pytest_sessionstart(self) -> None:
        """Replace the classes before the test modules import them."""
        for name, replacement in CLASSES.items():
            setattr(model_selection, name, replacement)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Count a test, and keep the last line of its error."""
        if report.failed:
            lines = [
                line[1:].strip() for line in report.longreprtext.splitlines() if line[:1] == "E"
            ]
            self.failed[report.nodeid.partition("::")[2]] = lines[0] if lines else "error"
        elif report.when == "call" and report.passed:
            self.n_passed += 1


def main(arguments: list[str]) -> None:
    """Run the tests of one module and print the table."""
    module = "test_successive_halving" if arguments[:1] == ["halving"] else "test_search"
    reasons: dict[str, list[str]] = tomllib.loads(REASONS.read_text())[module]
    by_test = {test: reason for reason, tests in reasons.items() for test in tests}
    outcomes = Outcomes()
    options = "-q --no-header --tb=short -p no:cacheprovider -p no:xdist"
    where = ["-c", os.devnull, "--pyargs", f"sklearn.model_selection.tests.{module}"]
    arguments = [one for one in arguments if one != "halving"]
    pytest.main([*where, *options.split(), *arguments], plugins=[outcomes])
    n_tests = outcomes.n_passed + len(outcomes.failed)
    rows: dict[tuple[str, str], list[str]] = {}
    for name, error in sorted(outcomes.failed.items()):
        test = name.partition("[")[0]
        reason = by_test.get(name) or by_test.get(test, "?")
        rows.setdefault((test, reason), []).append(error.replace("|", " ")[:100])
    lines = [
        f"# {module}.py of scikit-learn {sklearn.__version__}: {outcomes.n_passed} of {n_tests}",
        "",
        "Written by `benchmarks/sklearn_search_tests.py`: tests that fail with our classes.",
        "",
        "| test | instances | first error | reason |",
        "|---|---|---|---|",
        *(f"| {test} | {len(e)} | {e[0]} | {why} |" for (test, why), e in rows.items()),
    ]
    print("\n".join(lines))
    if not arguments:
        PAGES.mkdir(parents=True, exist_ok=True)
        (PAGES / f"{module}.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
