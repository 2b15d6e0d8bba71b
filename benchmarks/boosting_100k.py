"""Wall time, processor time and peak memory of boosting searches on 100,000 rows of 50 columns.

Run with: uv run python benchmarks/boosting_100k.py [N_ROWS] [N_JOBS ...]
It writes results/scale/boosting.md; pairs that are in it are not measured again. Each search runs
in a process of its own, with two workers (N_JOBS 2) and with the threads of the boosting library
(N_JOBS None). Linux only: memory is read from /proc.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

PAGE = Path(__file__).parents[1] / "results" / "scale" / "boosting.md"
N_ROWS, N_TEST, N_COLUMNS = 100_000, 20_000, 50
GRID = {"n_leaves": [15, 63], "n_iter": [25, 50]}
NAMES = {
    "HistGradientBoosting": {"n_leaves": "max_leaf_nodes", "n_iter": "max_iter"},
    "LightGBM": {"n_leaves": "num_leaves", "n_iter": "n_estimators"},
}
SEARCHES = ("GridSearchCV", "GridSearchLZO")
INTERVAL = 1.0  # seconds between readings of the memory


def make_rows(n_rows):
    """Return classes with interactions of a few columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    signal = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + X[:, 3:8].sum(axis=1) / 2
    return X, (signal + rng.normal(size=n_rows) > 0).astype(int)


def run(library, search_name, n_jobs, n_rows):
    """Fit one search and print its measurements as JSON."""
    from sklearn.ensemble import HistGradientBoostingClassifier
    from sklearn.model_selection import GridSearchCV

    from leavezero import GridSearchLZO

    if library == "LightGBM":
        from lightgbm import LGBMClassifier

        # LightGBM starts as many threads as there are cores in every worker.
        threads = None if n_jobs == "None" else 1
        estimator = LGBMClassifier(random_state=0, verbose=-1, n_jobs=threads)
    else:
        estimator = HistGradientBoostingClassifier(random_state=0, early_stopping=False)
    X, y = make_rows(int(n_rows) + N_TEST)
    (X, X_test), (y, y_test) = (np.split(part, [int(n_rows)]) for part in (X, y))
    grid = {NAMES[library].get(name, name): values for name, values in GRID.items()}
    search_class = {"GridSearchCV": GridSearchCV, "GridSearchLZO": GridSearchLZO}[search_name]
    search = search_class(estimator, grid, cv=5, n_jobs=None if n_jobs == "None" else int(n_jobs))
    started = time.perf_counter()
    search.fit(X, y)
    seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "test": search.score(X_test, y_test)}))


def memory_of(parent):
    """Return the bytes of memory of a process and its workers, shared pages once."""
    total = 0
    for path in Path("/proc").glob("[0-9]*"):
        try:
            is_child = (path / "stat").read_text().rpartition(")")[2].split()[1] == str(parent)
            if is_child or path.name == str(parent):
                pss = (path / "smaps_rollup").read_text().split("Pss:")[1]
                total += 1024 * int(pss.split()[0])
        except (OSError, IndexError):  # it has ended
            continue
    return total


def measured(*arguments):
    """Return the measurements of one search: seconds, test score, processor seconds, bytes."""
    command = [sys.executable, __file__, "--run", *map(str, arguments)]
    before = os.times()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    peak = 0
    while process.poll() is None:
        peak = max(peak, memory_of(process.pid))
        time.sleep(INTERVAL)
    after = os.times()
    cpu = after.children_user + after.children_system
    cpu -= before.children_user + before.children_system
    return {**json.loads(process.stdout.read()), "cpu": cpu, "memory": peak}


def main(n_rows=N_ROWS, *n_workers):
    """Measure the pairs that the page does not have; write it after each."""
    head = [
        f"# Boosting searches over {int(n_rows):,} rows of {N_COLUMNS} columns",
        "",
        f"Written by `benchmarks/boosting_100k.py` on {os.cpu_count()} cores: 4 candidates, cv=5. "
        "Each pair: GridSearchCV, GridSearchLZO. Processor seconds and memory are those of all "
        f"processes; the data have {int(n_rows) * N_COLUMNS * 8 / 2**20:.0f} MiB.",
        "",
        "| library | `n_jobs` | seconds | ratio | processor seconds | ratio | peak MiB "
        "| test accuracy |",
        "|---|---|---|---|---|---|---|---|",
    ]
    earlier = PAGE.read_text().splitlines() if PAGE.exists() else []
    rows = earlier[len(head) :] if earlier[: len(head)] == head else []
    for library in NAMES:
        for n_jobs in n_workers or ("2", "None"):
            key = f"| {library} | {n_jobs} |"
            if any(row.startswith(key) for row in rows):
                continue
            pair = [measured(library, search, n_jobs, n_rows) for search in SEARCHES]
            cells = []
            for name in ("seconds", "cpu"):
                theirs, ours = (one[name] for one in pair)
                cells += [f"{theirs:.0f}, {ours:.0f}", f"{theirs / ours:.1f}"]
            cells.append(", ".join(f"{one['memory'] / 2**20:.0f}" for one in pair))
            cells.append(", ".join(f"{one['test']:.4f}" for one in pair))
            rows.append(f"{key} {' | '.join(cells)} |")
            PAGE.parent.mkdir(parents=True, exist_ok=True)
            PAGE.write_text("\n".join([*head, *rows]) + "\n")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        run(*sys.argv[2:])
    else:
        main(*sys.argv[1:])
