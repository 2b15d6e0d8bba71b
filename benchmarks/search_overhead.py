"""Time of a search besides fitting, predicting and scoring its candidates.

    uv run python benchmarks/search_overhead.py     # about a minute on one core

Written to results/speed/overhead.md.
"""

import time
from pathlib import Path

from sklearn.datasets import make_classification, make_regression
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits

from leavezero import GridSearchLZO

OUT = Path(__file__).parents[1] / "results" / "speed" / "overhead.md"
ROWS = (400, 5_000, 100_000)
N_COLUMNS = 20
GRID = {"max_depth": [1, 2, 3, 4, 5, 6, 8, 10, 12, 16]}


def measure(task: str, n_rows: int) -> tuple[float, float]:
    """Return the seconds of generating the validation set, and those of everything else."""
    make = make_classification if task == "classification" else make_regression
    tree = DecisionTreeClassifier if task == "classification" else DecisionTreeRegressor
    X, y = make(n_rows, N_COLUMNS, n_informative=10, random_state=0)
    search = GridSearchLZO(tree(random_state=0), GRID, cv_finalists=0, random_state=0)
    started = time.perf_counter()
    search.fit(X, y)
    total = time.perf_counter() - started
    table = search.cv_results_
    candidates = float((table["mean_fit_time"] + table["mean_score_time"]).sum())
    return search.augment_time_, total - candidates - search.augment_time_


def main() -> None:
    lines = [
        "# Time of a search besides its candidates",
        "",
        f"Written by `benchmarks/search_overhead.py`: seconds on one core, {N_COLUMNS} columns, "
        f"{len(GRID['max_depth'])} candidates.",
        "",
        "| task | rows | generating the validation set | everything else |",
        "|---|---|---|---|",
    ]
    with threadpool_limits(1):
        measure("classification", 100)  # imports
        for task in ("classification", "regression"):
            for n_rows in ROWS:
                generate, other = measure(task, n_rows)
                lines.append(f"| {task} | {n_rows:,} | {generate:.2f} | {other:.2f} |")
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
