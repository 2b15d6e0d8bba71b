"""Where the time of an RBF search and of a k-NN search goes, and what large penalties cost.

    uv run python benchmarks/speed_parts.py    # results/speed/parts.md

Beside each search stand ten folds of its grid, and what another package does of it alone: LIBSVM
solves every C and width on kernels that are ready, scikit-learn looks once for the thirty
neighbors of V's rows. Then one width with more and more, and larger and larger, penalties. CPU
seconds on one thread, all ways of a row in turns in one process.
"""

import statistics
import time
import warnings
from unittest import mock

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import NearestNeighbors
from sklearn.svm import SVC
from speed import RESULTS, ROWS, data_of
from threadpoolctl import threadpool_limits

from leavezero import GridSearchLZO

N_ROWS, REPEATS = 1500, 3
NOISY_ROWS, NOISY_COLUMNS, GAMMA = 1000, 5, 0.2
PARTS = ["draw V", "fit", "answer and judge", "fit the winner", "rest"]


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
    """Return CPU seconds of a search, whose own clock counts them too."""
    started = time.process_time()
    with mock.patch("time.perf_counter", time.process_time):
        search.fit(X, y)
    return time.process_time() - started


def parts_of(search, spent):
    """Return the seconds of each part of a search."""
    table = search.cv_results_
    known = [
        search.draw_time_,
        float(table["mean_fit_time"].sum()),
        float(table["mean_score_time"].sum()),
        search.refit_time_,
    ]
    return [*known, spent - sum(known)]


ALONE = {
    "RBF SVC": ("LIBSVM on ready kernels", libsvm_alone),
    "k-NN": ("neighbors of V, once", neighbors_alone),
}


def where_time_goes():
    """Return the lines of the first table."""
    lines = [
        "| search | ten folds | GridSearchLZO | " + " | ".join(PARTS) + " | beside it | alone |",
        "|" + "---|" * (len(PARTS) + 5),
    ]
    for name, (words, alone) in ALONE.items():
        row, (X, y) = ROWS[name], data_of("classes", N_ROWS)
        ours = GridSearchLZO(row.estimator, row.grid, random_state=0)
        theirs = GridSearchCV(row.estimator, row.grid, cv=10)
        ours.fit(X, y)  # what is imported late is not timed
        runs = []
        for _ in range(REPEATS):
            folds, search = seconds(theirs, X, y), seconds(ours, X, y)
            runs.append([folds, search, *parts_of(ours, search), alone(row, X, y)])
        folds, search, *parts, least = map(statistics.median, zip(*runs, strict=True))
        cells = [f"{part:.2f}" for part in parts]
        cells = [f"{folds:.2f}", f"{search:.2f} ({folds / search:.1f})", *cells, words]
        lines.append(f"| {name} | {' | '.join(cells)} | {least:.2f} ({folds / least:.1f}) |")
        print(lines[-1], flush=True)
    return lines


def penalties():
    """Return the lines of the second table."""
    lines = ["| C up to | machines | ten folds | GridSearchLZO | 10 folds as a multiple |"]
    lines.append("|---|---|---|---|---|")
    X, y = make_classification(
        NOISY_ROWS, NOISY_COLUMNS, n_informative=3, n_redundant=0, flip_y=0.1, random_state=0
    )
    for power in (1, 2, 3, 4):
        grid = {"C": [10.0**at for at in range(-2, power + 1)]}
        ours = GridSearchLZO(SVC(gamma=GAMMA), grid, random_state=0)
        theirs = GridSearchCV(SVC(gamma=GAMMA), grid, cv=10)
        runs = [(seconds(theirs, X, y), seconds(ours, X, y)) for _ in range(REPEATS)]
        folds, search = map(statistics.median, zip(*runs, strict=True))
        cells = [f"10^{power}", str(len(grid["C"])), f"{folds:.2f}", f"{search:.2f}"]
        lines.append(f"| {' | '.join(cells)} | {folds / search:.1f} |")
        print(lines[-1], flush=True)
    return lines


def main():
    warnings.simplefilter("ignore")
    with threadpool_limits(limits=1):
        first, second = where_time_goes(), penalties()
    lines = [
        "# Where the time of two searches goes",
        "",
        f"CPU seconds on one thread, n = {N_ROWS}, m = 10 n, medians of {REPEATS} runs in turns; "
        "in brackets ten folds as a multiple. By `benchmarks/speed_parts.py`.",
        "",
        *first,
        "",
        "## RBF machines of larger and larger penalties",
        "",
        f"The same with n = {NOISY_ROWS}, {NOISY_COLUMNS} columns, a tenth of the labels drawn "
        f"anew, gamma = {GAMMA}, and C from 10^-2 on, a power of ten apart.",
        "",
        *second,
    ]
    (RESULTS / "parts.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
