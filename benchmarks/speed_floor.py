"""What an RBF search and a k-NN search cannot go below, beside ten folds of the same grids.

    uv run python benchmarks/speed_floor.py    # results/speed/floor.md

LIBSVM solves every C and width on a kernel that is ready; scikit-learn looks once for the thirty
neighbors of V's rows. Everything else that a search does, drawing V too, is left out. CPU seconds
on one thread, all ways of a row in turns in one process.
"""

import statistics
import time
import warnings

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC
from speed import RESULTS, ROWS, data_of
from threadpoolctl import threadpool_limits

from leavezero import GridSearchLZO

N_ROWS, REPEATS = 1500, 3


def libsvm_alone(row, X, y):
    """Solve every machine of the grid, each width's kernel computed before the clock starts."""
    spent = 0.0
    for gamma in row.grid["gamma"]:
        kernel = rbf_kernel(X, gamma=gamma)
        started = time.process_time()
        for C in row.grid["C"]:
            SVC(C=C, kernel="precomputed").fit(kernel, y)
        spent += time.process_time() - started
    return spent


def neighbors_alone(row, X, y):
    """Find the neighbors of ten rows of V for each given one, as many as the grid asks for."""
    V = np.random.default_rng(0).normal(size=(10 * len(X), X.shape[1])) * X.std(axis=0)
    index = NearestNeighbors(n_neighbors=max(row.grid["n_neighbors"])).fit(X)
    started = time.process_time()
    index.kneighbors(V)
    return time.process_time() - started


def seconds(search, X, y):
    started = time.process_time()
    search.fit(X, y)
    return time.process_time() - started


FLOORS = {
    "RBF SVC": ("LIBSVM on ready kernels", libsvm_alone),
    "k-NN": ("neighbors of V, once", neighbors_alone),
}


def main():
    warnings.simplefilter("ignore")
    lines = [
        "# Two searches and what they cannot go below",
        "",
        f"CPU seconds on one thread, n = {N_ROWS}, m = 10 n, medians of {REPEATS} runs in turns; "
        "in brackets ten folds as a multiple. By `benchmarks/speed_floor.py`.",
        "",
        "| search | ten folds | GridSearchLZO | of it that | alone |",
        "|---|---|---|---|---|",
    ]
    for name, (words, floor) in FLOORS.items():
        row, (X, y) = ROWS[name], data_of("classes", N_ROWS)
        ours = GridSearchLZO(row.estimator, row.grid, random_state=0)
        theirs = GridSearchCV(row.estimator, row.grid, cv=10)
        with threadpool_limits(limits=1):
            ours.fit(X, y)  # what is imported late is not timed
            runs = [
                (seconds(theirs, X, y), seconds(ours, X, y), floor(row, X, y))
                for _ in range(REPEATS)
            ]
        folds, search, least = (statistics.median(column) for column in zip(*runs, strict=True))
        cells = [f"{folds:.2f}", *(f"{s:.2f} ({folds / s:.1f})" for s in (search, least))]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} | {words} | {cells[2]} |")
        print(lines[-1], flush=True)
    (RESULTS / "floor.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
