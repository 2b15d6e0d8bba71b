"""CPU time per candidate of a search over many, and memory of repeated searches.

Run with: uv run python benchmarks/many_candidates.py
It writes results/scale/candidates.md. Linux only: memory is read from /proc.
"""

import gc
import tempfile
import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import ParameterGrid
from sklearn.tree import DecisionTreeClassifier
from threadpoolctl import threadpool_limits

from leavezero import GridSearchLZO

PAGE = Path(__file__).parents[1] / "results" / "scale" / "candidates.md"
N_CANDIDATES, N_ROWS, N_COLUMNS = 2_000, 300, 5
N_FITS, FIRST = 20, 5  # repeated fits, and those that may still fill caches


def measured(name, model, grid, **params):
    """Return a line of the table; the overhead is what is not the fits of the candidates."""
    X, y = make_classification(N_ROWS, N_COLUMNS, flip_y=0.2, random_state=0)
    search = GridSearchLZO(model, grid, random_state=0, n_replicates=2, **params)
    seconds = cpu_seconds(lambda: search.fit(X, y))
    candidates = [clone(model).set_params(**one) for one in ParameterGrid(grid)]
    fits = cpu_seconds(lambda: [one.fit(X, y) for one in candidates])
    own = fits if search.fit_counts_["candidate"] else 0.0
    cells = [1000 * part / len(candidates) for part in (seconds, own, seconds - own)]
    texts = [name, f"{len(candidates):,}", str(search.fit_counts_["cv"])]
    return "| " + " | ".join([*texts, *(f"{cell:.2f}" for cell in cells)]) + " |"


def cpu_seconds(function):
    """Return the seconds of CPU time that a call takes."""
    started = time.process_time()
    function()
    return time.process_time() - started


def memory():
    """Return the bytes of memory that this process uses."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS:"):
            return 1024 * int(line.split()[1])
    raise KeyError("VmRSS")


def growth():
    """Return the memory after some fits of the same search, and after all of them."""
    X, y = make_classification(2_000, 20, random_state=0)
    search = GridSearchLZO(LogisticRegression(), {"C": [0.1, 1.0, 10.0]}, random_state=0)
    used = []
    for _ in range(N_FITS):
        search.fit(X, y)
        used.append(memory())
    return used[FIRST - 1], used[-1], X.nbytes


def main():
    depths = np.arange(1, 11).tolist()
    leaves = np.arange(1, N_CANDIDATES // len(depths) + 1).tolist()
    tree = DecisionTreeClassifier(random_state=0)
    grid = {"max_depth": depths, "min_samples_leaf": leaves}
    with threadpool_limits(1), tempfile.TemporaryDirectory() as folder:
        measured("imports", tree, {"max_depth": depths})
        path = Path(folder) / "search.sqlite"
        lines = [
            measured("without folds", tree, grid, cv_finalists=0),
            measured("with folds of some candidates", tree, grid),
            measured(
                "without folds, with a checkpoint", tree, grid, cv_finalists=0, checkpoint=path
            ),
            measured("the same again: all read", tree, grid, cv_finalists=0, checkpoint=path),
        ]
        first, last, size = growth()
    page = [
        f"# A search over {N_CANDIDATES:,} candidates, and repeated searches",
        "",
        f"Written by `benchmarks/many_candidates.py`: decision trees on {N_ROWS} rows of "
        f"{N_COLUMNS} columns, one worker. Milliseconds of CPU time per candidate: all that the "
        "search does, the candidate's own fit, measured by a loop over plain fits, and the "
        "difference: generating and predicting the validation set, scores, folds of some "
        "candidates, selection and checkpoint.",
        "",
        "| search | candidates | fits of folds | search, ms | fit, ms | overhead, ms |",
        "|---|---|---|---|---|---|",
        *lines,
        "",
        f"{N_FITS} fits of one search over logistic regressions on {size / 1e6:.1f} MB of data: "
        f"the process used {first / 1e6:.1f} MB after {FIRST} fits and {last / 1e6:.1f} MB after "
        f"{N_FITS}.",
    ]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(page) + "\n")
    print("\n".join(page))


if __name__ == "__main__":
    main()
