"""CPU time and memory for 200 classes, 20,000 dense columns and 100,000 sparse columns.

Run with: uv run python benchmarks/wide_data.py
It writes results/scale/wide.md. Each search runs in a process of its own, next to GridSearchCV with
5 folds over the same candidates. Linux only: memory is read from /proc.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC, LinearSVC

from leavezero import GridSearchLZO

PAGE = Path(__file__).parents[1] / "results" / "scale" / "wide.md"
SECONDS = 240  # after which a search is stopped


def classes(n_rows, n_classes=200, n_columns=20):
    stream = np.random.default_rng(0)
    y = np.arange(n_rows) % n_classes
    centers = stream.normal(scale=2.0, size=(n_classes, n_columns))
    return centers[y] + stream.normal(size=(n_rows, n_columns)), y


def dense_columns(n_rows=300, n_columns=20_000):
    stream = np.random.default_rng(0)
    X = stream.normal(size=(n_rows, n_columns))
    return X, (X[:, :20].sum(axis=1) + stream.normal(size=n_rows) > 0).astype(int)


def sparse_columns(n_rows=5_000, n_columns=100_000, n_cells=50):
    """Return counts of words whose frequencies fall as those of a language do."""
    stream = np.random.default_rng(0)
    words = np.minimum(stream.zipf(1.3, size=n_rows * n_cells), n_columns).astype(np.int32) - 1
    rows = np.repeat(np.arange(n_rows, dtype=np.int32), n_cells)
    X = sparse.csr_array((np.ones(len(words)), (rows, words)), shape=(n_rows, n_columns))
    weight = stream.normal(size=n_columns)
    return X, (X @ weight + stream.normal(size=n_rows) > np.median(X @ weight)).astype(int)


CASES = {
    "200 classes, 10,000 rows of 20 columns, logistic regression": (
        lambda: classes(10_000),
        LogisticRegression(max_iter=200),
        {"C": [0.1, 1.0]},
    ),
    "200 classes, 2,000 rows of 20 columns, SVM": (
        lambda: classes(2_000),
        SVC(),
        {"C": [1.0, 10.0]},
    ),
    "300 rows of 20,000 columns, logistic regression": (
        dense_columns,
        LogisticRegression(max_iter=200),
        {"C": [0.01, 1.0]},
    ),
    "5,000 rows of 100,000 sparse columns, logistic regression": (
        sparse_columns,
        LogisticRegression(max_iter=200),
        {"C": [0.1, 1.0]},
    ),
    "5,000 rows of 100,000 sparse columns, linear SVM": (
        sparse_columns,
        LinearSVC(),
        {"C": [0.01, 0.1]},
    ),
}


def memory(name):
    """Return bytes of memory of this process: VmRSS now, VmHWM at its peak."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith(f"{name}:")).split()[1])


def measure(name, kind):
    """Print the CPU seconds and the added memory of one search."""
    load, model, grid = CASES[name]
    few, labels = classes(200, 2)
    search = GridSearchLZO(model, grid, random_state=0) if kind == "LZO" else None
    search = search or GridSearchCV(model, grid, cv=5)
    search.fit(few, labels)  # imports everything before measuring
    X, y = load()
    Path("/proc/self/clear_refs").write_text("5")
    before, started = memory("VmRSS"), time.process_time()
    search.fit(X, y)
    seconds = time.process_time() - started
    size = X.data.nbytes + X.indices.nbytes if sparse.issparse(X) else X.nbytes
    added = memory("VmHWM") - before
    print(json.dumps([seconds, added, size, search.best_score_]))


def line(name):
    """Return a line of the table."""
    cells = []
    for kind in ("CV", "LZO"):
        command = [sys.executable, __file__, name, kind]
        try:
            done = subprocess.run(
                command,
                capture_output=True,
                text=True,
                timeout=SECONDS,
                env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
            )
        except subprocess.TimeoutExpired:
            cells += [f"stopped after {SECONDS} s", "", ""]
            continue
        if done.returncode:
            raise RuntimeError(done.stderr)
        seconds, added, size, score = json.loads(done.stdout)
        cells += [f"{seconds:.1f}", f"{added / 1e6:.0f}", f"{score:.3f}"]
    return f"| {name} | {size / 1e6:.1f} | " + " | ".join(cells) + " |"


def main():
    page = [
        "# Many classes and many columns",
        "",
        "Written by `benchmarks/wide_data.py`: two candidates, one worker, one thread, CPU seconds "
        "and the memory that `fit` adds to the process at its peak, for GridSearchCV with 5 folds "
        "and for GridSearchLZO with its defaults.",
        "",
        "| data and model | data, MB | CV, s | CV, MB | CV, score "
        "| LZO, s | LZO, MB | LZO, score |",
        "|---|---|---|---|---|---|---|---|",
        *map(line, CASES),
    ]
    PAGE.write_text("\n".join(page) + "\n")
    print("\n".join(page))


if __name__ == "__main__":
    measure(*sys.argv[1:]) if len(sys.argv) == 3 else main()
