"""Run public examples that use a search: as they are, and with the classes of leavezero.

``uv run python benchmarks/public_examples.py FOLDER [SECONDS] [NAME ...]`` runs every script below
a checkout of scikit-learn, skrub or imbalanced-learn that calls a search class, or only those whose
path contains a NAME, each within SECONDS (300). It prints a Markdown table: whether an example runs
with our classes, in how many searches the best parameters are equal, the mean of the best scores
and the seconds of the outermost searches, first as they are, then with our classes.
"""

import json
import os
import re
import runpy
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

SEARCHES = {
    "GridSearchCV": "GridSearchLZO",
    "RandomizedSearchCV": "RandomizedSearchLZO",
    "HalvingGridSearchCV": "HalvingGridSearchLZO",
    "HalvingRandomSearchCV": "HalvingRandomSearchLZO",
}
SECONDS = 300.0
ROW = "| {} | {} | {} | {} | {} | {} |"


def run_example(path: str, version: str, log: str) -> None:
    """Run a script in this process; write the seconds and results of its searches to a file."""
    import sklearn.model_selection as model_selection
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401

    import leavezero
    from leavezero.search import BaseSearchLZO

    base: Any = model_selection.GridSearchCV.__base__
    if version == "ours":
        base = BaseSearchLZO
        for name, ours in SEARCHES.items():
            setattr(model_selection, name, getattr(leavezero, ours))
    fit, found, depth = base.fit, [], [0]

    def timed_fit(self: Any, *args: Any, **params: Any) -> Any:
        depth[0] += 1
        started = time.perf_counter()
        try:
            return fit(self, *args, **params)
        finally:
            depth[0] -= 1
            if depth[0] == 0:
                seconds = time.perf_counter() - started
                best = repr(getattr(self, "best_params_", None))
                score = getattr(self, "best_score_", None)
                found.append((seconds, best, None if score is None else float(score)))

    base.fit = timed_fit
    os.chdir(Path(path).parent)
    try:
        runpy.run_path(path, run_name="__main__")
    finally:
        Path(log).write_text(json.dumps(found))


def outcome(path: Path, version: str, seconds: float) -> tuple[str, list[Any]]:
    """Return "" or the last line of the error of an example, and its searches."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.json"
        command = [sys.executable, "-W", "ignore", __file__, "--run", str(path), version, str(log)]
        environment = os.environ | {"MPLBACKEND": "Agg"}
        try:
            done = subprocess.run(
                command, env=environment, capture_output=True, text=True, timeout=seconds
            )
        except subprocess.TimeoutExpired:
            return f"more than {seconds:g} s", []
        found = json.loads(log.read_text()) if log.exists() else []
        lines = done.stderr.strip().splitlines() or ["ended without a message"]
        return "" if done.returncode == 0 else lines[-1][:120].replace("|", "/"), found


def table_row(path: Path, root: Path, seconds: float) -> str:
    """Run an example twice and return its row of the table."""
    (error, theirs), (our_error, ours) = (outcome(path, v, seconds) for v in ("theirs", "ours"))
    name = str(path.relative_to(root))
    if error:
        return ROW.format(name, f"not run: {error}", "", "", "", "")
    equal = sum(a[1] == b[1] for a, b in zip(theirs, ours, strict=False))
    scores = [[s for _, _, s in found if s is not None] for found in (theirs, ours)]
    means = ", ".join(f"{sum(s) / len(s):.3f}" if s else "-" for s in scores)
    times = [f"{sum(one[0] for one in found):.2f}" for found in (theirs, ours)]
    return ROW.format(name, our_error or "yes", f"{equal} of {len(theirs)}", means, *times)


def main(folder: str, seconds: float = SECONDS, *names: str) -> None:
    """Print the table of all examples below a folder."""
    root = Path(folder).resolve()
    print(ROW.format("example", "runs", "equal best_params_", "best_score_", "s", "s, leavezero"))
    print(ROW.format(*["---"] * 6))
    pattern = re.compile(rf"\b({'|'.join(SEARCHES)})\(")
    for path in sorted(root.rglob("*.py")):
        is_named = not names or any(name in str(path) for name in names)
        if is_named and pattern.search(path.read_text(encoding="utf-8")):
            print(table_row(path, root, float(seconds)), flush=True)


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        run_example(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
