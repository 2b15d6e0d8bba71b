"""Memory and time of a search over a million rows of twenty columns.

Run with: uv run python benchmarks/million_rows.py
It writes results/scale/million.md. Linux only: memory is read from /proc.
"""

import time
from pathlib import Path

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import CandidateSearchLZO, GridSearchLZO

PAGE = Path(__file__).parents[1] / "results" / "scale" / "million.md"
N_ROWS, N_COLUMNS = 1_000_000, 20
BOOSTING = HistGradientBoostingClassifier(random_state=0, early_stopping=False, max_iter=50)
LINEAR = make_pipeline(StandardScaler(), SGDClassifier(random_state=0))
SEARCHES = {
    "boosting, 4 candidates": GridSearchLZO(
        BOOSTING, {"max_leaf_nodes": [15, 31], "learning_rate": [0.1, 0.3]}, random_state=0
    ),
    "SGD, 4 candidates": GridSearchLZO(
        LINEAR, {"sgdclassifier__alpha": [1e-6, 1e-5, 1e-4, 1e-3]}, random_state=0
    ),
    "both, 4 candidates": CandidateSearchLZO(
        {
            "boosting": (BOOSTING, {"learning_rate": [0.1, 0.3]}),
            "SGD": (LINEAR, {"sgdclassifier__alpha": [1e-5, 1e-4]}),
        },
        random_state=0,
    ),
}
ONE_FOLD = StratifiedShuffleSplit(1, test_size=0.2, random_state=0)  # more need as much memory
SEARCHES |= {
    "boosting, 1 candidate, GridSearchCV": GridSearchCV(BOOSTING, {}, cv=ONE_FOLD),
    "SGD, 1 candidate, GridSearchCV": GridSearchCV(LINEAR, {}, cv=ONE_FOLD),
}


def million_rows():
    """Return two overlapping classes with a nonlinear boundary."""
    stream = np.random.default_rng(0)
    X = stream.standard_normal((N_ROWS, N_COLUMNS))
    signal = X[:, 0] + X[:, 1] * X[:, 2] + np.abs(X[:, 3]) - 0.8
    return X, (signal + stream.standard_normal(N_ROWS) > 0).astype(int)


def forget_peak():
    """Reset the peak memory of this process."""
    Path("/proc/self/clear_refs").write_text("5")


def memory(name):
    """Return bytes of memory of this process: VmRSS now, VmHWM at its peak."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{name}:"):
            return 1024 * int(line.split()[1])
    raise KeyError(name)


def measured(name, search, X, y):
    """Return a line of the table for one search."""
    without_data = memory("VmRSS") - X.nbytes - y.nbytes
    forget_peak()
    started = time.perf_counter()
    search = clone(search).fit(X, y)  # freed when it is measured
    seconds = time.perf_counter() - started
    whole = memory("VmHWM")
    generated, n_fits = ["", "", ""], 2
    if not isinstance(search, GridSearchCV):
        n_fits, share = search.n_fits_, search.augment_time_ / seconds
        n_rows = len(search.validation_set_)
        generated = [f"{search.augment_time_:.1f}", f"{share:.2f}", f"{n_rows:,}"]
    cells = [
        name,
        f"{seconds:.0f}",
        *generated,
        f"{(whole - without_data) / X.nbytes:.2f}",
        f"{whole / X.nbytes:.2f}",
        str(n_fits),
        f"{search.best_score_:.4f}",
    ]
    return "| " + " | ".join(cells) + " |"


def main():
    """Measure each search in turn and write the page."""
    X, y = million_rows()
    for small in SEARCHES.values():  # import everything before measuring
        clone(small).fit(X[:500], y[:500])
    lines = [measured(*item, X, y) for item in SEARCHES.items()]
    page = [
        f"# A search over {N_ROWS:,} rows of {N_COLUMNS} columns",
        "",
        f"The data have {X.nbytes:,} bytes. Memory is the peak during `fit` as a multiple of the "
        "data: data and search, and the whole process with the interpreter and all libraries. "
        "GridSearchCV fits one fold, of 20 %, and all rows; more folds need as much memory.",
        "",
        "| search | seconds | generating, s | share | validation rows | data and search | process "
        "| fits | score |",
        "|---|---|---|---|---|---|---|---|---|",
        *lines,
    ]
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(page) + "\n")
    print("\n".join(page))


if __name__ == "__main__":
    main()
