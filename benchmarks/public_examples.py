"""Run public examples that use a search: as they are, and with the classes of leavezero.

    uv run python benchmarks/public_examples.py FOLDER                        # a checkout
    uv run python benchmarks/public_examples.py FOLDER --only digits svm/     # parts of paths

FOLDER is a checkout of scikit-learn, skrub or imbalanced-learn. Every script below it that calls a
search class runs with either class, each within --seconds of processor time. Only the classes are
replaced; `cv`, `n_jobs` and all else stay. Short examples run again, in turns, and the smaller time
counts. Each process has one thread of BLAS and OpenMP. A test score is that of the best candidate
on shuffled folds that neither search has used. Finished examples are kept in
results/public_examples/FOLDER.json, so that a run can be continued; FOLDER.md is the table of all
that has finished. Linux only: the processor time of worker processes is read from /proc.
"""

import argparse
import json
import os
import re
import resource
import runpy
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

SEARCHES = {
    "GridSearchCV": "GridSearchLZO",
    "RandomizedSearchCV": "RandomizedSearchLZO",
    "HalvingGridSearchCV": "HalvingGridSearchLZO",
    "HalvingRandomSearchCV": "HalvingRandomSearchLZO",
}
CALL = re.compile(rf"^[^#\n]*\b({'|'.join(SEARCHES)})\(", re.MULTILINE)
VERSIONS = ("theirs", "ours")
CLOCKS = {"wall": "Seconds", "cpu": "Processor seconds"}
N_TEST_FOLDS = 5
MAX_TEST_SCORES = 6  # searches per example that get one
MAX_WAIT = 20  # seconds of waiting per second of processor time, on a busy machine
LONG = 2.0  # seconds of a search that is worth making faster
SHORT = 15.0  # processor seconds of all searches of an example that is measured again
N_REPEATS = 2
PAGES = Path(__file__).parents[1] / "results" / "public_examples"


def main() -> None:
    """Run what is missing, and write the table of all that has finished."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", default=[""], help="parts of paths")
    parser.add_argument("--seconds", type=float, default=300.0, help="per example and version")
    parser.add_argument("--again", action="store_true", help="also what has finished")
    options = parser.parse_args()
    root = options.folder.resolve()
    PAGES.mkdir(parents=True, exist_ok=True)
    store = PAGES / f"{root.name}.json"
    found = json.loads(store.read_text()) if store.exists() else {}
    for path in sorted(root.rglob("*.py")):
        name = str(path.relative_to(root))
        is_wanted = any(part in name for part in options.only)
        if not is_wanted or not CALL.search(path.read_text(encoding="utf-8")):
            continue
        if name not in found or options.again:
            found[name] = outcomes(path, options.seconds)
            print(name, found[name], flush=True)
            store.write_text(json.dumps(dict(sorted(found.items())), indent=1) + "\n")
    store.with_suffix(".md").write_text(markdown(root.name, found))


def outcomes(path: Path, seconds: float) -> dict[str, Any]:
    """Return the outcome of each version; short examples run in turns, and minima are kept."""
    found = {version: outcome(path, version, seconds) for version in VERSIONS}
    if not all(is_short(one) for one in found.values()):
        return found
    for _ in range(N_REPEATS - 1):
        for version, first in found.items():
            again = outcome(path, version, seconds)["searches"]
            for one, other in zip(first["searches"], again, strict=True):
                one |= {clock: min(one[clock], other[clock]) for clock in CLOCKS}
    return found


def is_short(found: dict[str, Any]) -> bool:
    """Return whether an example has ended, with searches that take little time."""
    cpu = [one["cpu"] for one in found["searches"]]
    return not found["error"] and 0 < sum(cpu) < SHORT


def outcome(path: Path, version: str, seconds: float) -> dict[str, Any]:
    """Return the last line of an example's error, if any, and its searches."""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder) / "log.json"
        command = [sys.executable, "-W", "ignore", __file__, "--run", str(path), version, str(log)]
        threads = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL")}
        environment = os.environ | threads | {"MPLBACKEND": "Agg", "LIMIT": f"{seconds:.0f}"}
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, timeout=MAX_WAIT * seconds
        )
        error = ""
        if done.returncode == -signal.SIGXCPU:
            error = f"more than {seconds:g} s"
        elif done.returncode:
            error = done.stderr.strip().splitlines()[-1][:120].replace("|", "/")
        return {"error": error, "searches": json.loads(log.read_text()) if log.exists() else []}


def run_example(path: str, version: str, log: str) -> None:
    """Run a script in this process; write times and results of its outermost searches to a file."""
    import sklearn.model_selection as model_selection
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401

    import leavezero
    from leavezero.search import BaseSearchLZO

    limit = int(os.environ["LIMIT"])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 1))
    base: Any = model_selection.GridSearchCV.__base__
    if version == "ours":
        base = BaseSearchLZO
        for name, ours in SEARCHES.items():
            setattr(model_selection, name, getattr(leavezero, ours))
    fit, found, depth = base.fit, [], [0]

    def timed_fit(self: Any, X: Any, y: Any = None, **params: Any) -> Any:
        depth[0] += 1
        started, cpu = time.perf_counter(), cpu_seconds()
        try:
            return fit(self, X, y, **params)
        finally:
            depth[0] -= 1
            if depth[0] == 0:
                times = {"wall": time.perf_counter() - started, "cpu": cpu_seconds() - cpu}
                found.append({**times, "best": repr(getattr(self, "best_params_", None))})
                if len(found) <= MAX_TEST_SCORES and hasattr(self, "best_estimator_"):
                    found[-1]["test"] = test_score(self, X, y)
                Path(log).write_text(json.dumps(found))

    base.fit = timed_fit
    os.chdir(Path(path).parent)
    runpy.run_path(path, run_name="__main__")


def cpu_seconds() -> float:
    """Return the processor time of this process and its worker processes."""
    ticks = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it has ended
            continue
        if str(os.getpid()) in (path.parent.name, fields[1]):
            ticks += sum(map(int, fields[11:15]))  # user and system; own, and of ended children
    return ticks / os.sysconf("SC_CLK_TCK")


def test_score(search: Any, X: Any, y: Any) -> float | None:
    """Return the score of the best candidate on new folds; None if it needs metadata."""
    from sklearn.base import clone, is_classifier
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv, cross_val_score

    kind = StratifiedKFold if is_classifier(search) else KFold
    cv = kind(N_TEST_FOLDS, shuffle=True, random_state=1)
    if not isinstance(check_cv(search.cv), KFold | StratifiedKFold):
        cv = search.cv  # such as a TimeSeriesSplit
    scorer = search.scorer_
    if isinstance(scorer, dict):
        scorer = scorer[search.refit if isinstance(search.refit, str) else next(iter(scorer))]
    try:
        scores = cross_val_score(clone(search.best_estimator_), X, y, scoring=scorer, cv=cv)
    except (TypeError, ValueError):
        return None
    return float(scores.mean())


def markdown(title: str, found: dict[str, Any]) -> str:
    """Return the results as a table, with the numbers that matter below it."""
    lines = [
        f"# Examples of {title} that use a search, with the class replaced",
        "",
        "Written by `benchmarks/public_examples.py`. Each pair: as it is, with leavezero. Seconds "
        "are those of all searches of the example, processor seconds with worker processes. "
        f"{os.cpu_count()} cores, load average {os.getloadavg()[2]:.0f}.",
        "",
        "| example | runs | equal best_params_ | test score | seconds | processor seconds |",
        "|---|---|---|---|---|---|",
    ]
    ratios = {clock: [] for clock in CLOCKS}
    n_run, long = 0, []
    for name, one in sorted(found.items()):
        theirs, ours = (one[v] for v in VERSIONS)
        pairs = list(zip(theirs["searches"], ours["searches"], strict=False))
        if theirs["error"] or not pairs:
            reason = theirs["error"] or ours["error"] or "no search is fitted"
            lines.append(f"| {name} | not run: {reason} | | | | |")
            continue
        n_run += not ours["error"]
        equal = sum(a["best"] == b["best"] for a, b in pairs)
        tests = [(a.get("test"), b.get("test")) for a, b in pairs]
        tests = np.array([pair for pair in tests if None not in pair])
        test = "{:.3f}, {:.3f}".format(*tests.mean(axis=0)) if len(tests) else ""
        sums = {t: [sum(s[t] for s in one[v]["searches"]) for v in VERSIONS] for t in ratios}
        seconds = ["{:.2f}, {:.2f}".format(*sums[t]) for t in ratios]
        runs = ours["error"] or "yes"
        cells = [name, runs, f"{equal} of {len(pairs)}", test, *seconds]
        lines.append(f"| {' | '.join(cells)} |")
        if not ours["error"]:
            for t, (a, b) in sums.items():
                ratios[t].append(a / b)
            long.append(sums["cpu"][0] > LONG)
    reason = "" if found else " None of them calls a search class."
    lines += ["", f"{n_run} examples run with our classes.{reason}"]
    for t, label in CLOCKS.items():
        if not any(long):
            break
        some = np.array(ratios[t])
        mean = np.exp(np.log(some[long]).mean())
        lines.append(
            f"{label}, as it is divided by ours: geometric mean {mean:.1f} of {sum(long)} examples "
            f"over {LONG:g} s, smallest {some.min():.2f}."
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        run_example(*sys.argv[2:])
    else:
        main()
