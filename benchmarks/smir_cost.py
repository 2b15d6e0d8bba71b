"""Time of 125 joint fits of SMIR, and the error of landmarks.

    uv run python benchmarks/smir_cost.py

CPU time on one thread, n = 1500, d = 20, 2 classes, 40 labels. The published solution is measured
on one candidate per width, in turn with all 25 joint fits of the width, and scaled to 125.
Written to results/smir/cost.md and results/smir/nystrom.md.
"""

import itertools
import time
from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits, make_classification, make_moons
from sklearn.metrics.pairwise import rbf_kernel
from threadpoolctl import threadpool_limits

from leavezero.semi_supervised import SMIRClassifier, fit_many, held_out_scores
from leavezero.semi_supervised._smir_kernels import median_distance

WIDTHS = (1 / 15, 1 / 10, 1 / 5, 1 / 2, 1.0)
GAMMAS = (1e-7, 1e-3, 1e-1, 1e1, 1e3)
OFFSETS = (1e-10, 1e-8, 1e-6, 1e-4, 1e-2)
REPEATS = 3
LANDMARKS = (50, 100, 200, 500, 1000, 1500)
DRAWS = 3
RESULTS = Path(__file__).parents[1] / "results" / "smir"


def seconds(work):
    started = time.process_time()
    result = work()
    return time.process_time() - started, result


def published(X, rows, codes, width, gamma, offset):
    """Return the values at all rows by roots of the kernel and one dense system, and no more."""
    n_rows, n_labeled, n_classes = len(X), len(rows), int(codes.max()) + 1
    kernel = rbf_kernel(X, gamma=0.5 / (width * median_distance(X)) ** 2)
    values, vectors = np.linalg.eigh(kernel)
    kept = values > n_rows * np.finfo(float).eps * values[-1]
    vectors, roots = vectors[:, kept], np.sqrt(values[kept])
    root, inverse_root = (vectors * roots) @ vectors.T, (vectors / roots) @ vectors.T
    thin = 1.0 / np.sqrt(kernel.sum(axis=1))[:, None]
    T = (thin * root)[:, rows]
    system = n_rows * T @ T.T - gamma * n_labeled * n_classes * (thin * kernel * thin.T)
    penalty = gamma * n_classes / n_rows + offset
    system[np.diag_indices(n_rows)] += penalty * n_rows * n_labeled
    A = n_rows * np.linalg.solve(system, T @ np.eye(n_classes)[codes])
    return kernel @ (inverse_root @ (thin * A))


def few_labels(y, n_labels, seed):
    """Return y with so many labels, the same number of each class, and -1 elsewhere."""
    rng = np.random.default_rng(seed)
    groups = [rng.permutation(np.flatnonzero(y == code)) for code in np.unique(y)]
    kept = np.concatenate([rows[: n_labels // len(groups)] for rows in groups])
    return np.where(np.isin(np.arange(len(y)), kept), y, -1)


def cost():
    X, y = make_classification(1500, 20, n_informative=8, flip_y=0.1, random_state=0)
    few = few_labels(y, 40, 0)
    rows = np.flatnonzero(few >= 0)
    together, alone, folds, worst = [], [], [], 0.0
    grid = list(itertools.product(GAMMAS, OFFSETS))
    for repeat, width in itertools.product(range(REPEATS), WIDTHS):
        models = [SMIRClassifier(width=width, gamma=g, offset=o) for g, o in grid]
        at = (repeat * 7 + 12) % len(grid)
        spent, values = seconds(lambda at=at, w=width: published(X, rows, y[rows], w, *grid[at]))
        alone.append(spent)
        together.append(seconds(lambda models=models: fit_many(models, X, few))[0])
        folds.append(seconds(lambda models=models: [held_out_scores(m) for m in models])[0])
        values *= models[at].class_prior_ / values.mean(axis=0)
        ours = rbf_kernel(X, gamma=0.5 / (width * median_distance(X)) ** 2) @ models[at].coef_
        worst = max(worst, np.abs(ours - values).max())
    separate, shared = 125 * np.mean(alone), 5 * np.mean(together)
    held = 5 * np.mean(folds)
    lines = [
        "# 125 candidates of SMIR, n = 1500, 2 classes, 40 labels, CPU seconds on one thread",
        "",
        "| method | measured | seconds | ratio |",
        "|---|---|---|---|",
        f"| 125 solutions, as published | {len(alone)} solutions | {separate:.1f} | 1 |",
        f"| 125 joint fits | {REPEATS} times all | {shared:.1f} | 1/{separate / shared:.1f} |",
        f"| their 5 folds x 4 | {REPEATS} times all | {held:.1f} | 1/{separate / held:.0f} |",
        "",
        f"Largest difference of the scaled values at training rows: {worst:.1e}.",
    ]
    write("cost", lines)


def nystrom():
    lines = [
        "# Landmarks against the exact solution, default parameters, n = 1797 and 2000",
        "",
        f"Means over {DRAWS} draws of landmarks and labels: largest and mean difference of class "
        "probabilities, rows with the same prediction, error on rows without a label.",
        "",
        "| data | width | landmarks | largest | mean | same prediction | error | exact error |",
        "|---|---|---|---|---|---|---|---|",
    ]
    digits = load_digits(return_X_y=True)
    moons = make_moons(2000, noise=0.1, random_state=0)
    for name, (X, y), n_labels in (("digits", digits, 50), ("two moons", moons, 20)):
        for width in (0.2, 0.5):
            found = compare(X, y, n_labels, width)
            lines.extend(f"| {name} | {width} | " + " | ".join(line) + " |" for line in found)
    write("nystrom", lines)


def compare(X, y, n_labels, width):
    """Return lines of differences, one for each number of landmarks."""
    found = {number: [] for number in LANDMARKS}
    for draw in range(DRAWS):
        few = few_labels(y, n_labels, draw)
        exact = SMIRClassifier(width=width).fit(X, few)
        for number, rows in found.items():
            close = SMIRClassifier(width=width, n_components=number, random_state=draw).fit(X, few)
            off = np.abs(close.label_distributions_ - exact.label_distributions_)
            same = close.transduction_ == exact.transduction_
            errors = [(m.transduction_ != y)[few < 0].mean() for m in (close, exact)]
            rows.append([off.max(), off.mean(), 100 * same.mean(), *(100 * e for e in errors)])
    for number, rows in found.items():
        largest, mean, same, error, exact_error = np.mean(rows, axis=0)
        yield (
            str(number),
            f"{largest:.3f}",
            f"{mean:.4f}",
            f"{same:.1f}%",
            f"{error:.1f}%",
            f"{exact_error:.1f}%",
        )


def write(name, lines):
    RESULTS.mkdir(parents=True, exist_ok=True)
    text = "\n".join(lines) + "\n"
    (RESULTS / f"{name}.md").write_text(text)
    print(text, flush=True)


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        cost()
        nystrom()
