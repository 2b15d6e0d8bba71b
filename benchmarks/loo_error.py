"""Error of approximate leave-one-out predictions, and how many large errors are flagged.

Run with: uv run python benchmarks/loo_error.py
It fits every candidate once for each row left out and writes results/loo/error.md.
"""

import sys
import time
import warnings
from collections import defaultdict
from pathlib import Path

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, PoissonRegressor
from sklearn.svm import SVC, SVR, LinearSVC
from threadpoolctl import threadpool_limits

from leavezero.leave_one_out import find_leave_one_out

RATIOS = (0.5, 1, 2, 5, 10, 20)
N_ROWS = (40, 60, 80)
C = tuple(10.0**k for k in range(-3, 5))
ALPHAS = tuple(10.0**k for k in range(-4, 2))
WIDTHS = (0.01, 0.1, 1.0, 10.0, 100.0)  # gamma times the number of columns
OUT = Path("results/loo/error.md")


def grids(n_columns):
    """Yield the name of a model type, the kind of target, regularization and estimator."""
    for c in C:
        quiet = {"max_iter": 2000}
        yield "logistic, 2 classes", 2, c, LogisticRegression(C=c, **quiet)
        yield "logistic, 3 classes", 3, c, LogisticRegression(C=c, **quiet)
        yield "linear SVC, squared hinge", 2, c, LinearSVC(C=c, dual=False, **quiet)
        for width in WIDTHS:
            gamma = width / n_columns
            yield "SVC, RBF", 2, c, SVC(C=c, gamma=gamma)
        yield "SVC, RBF, 3 classes", 3, c, SVC(C=c, gamma=1.0 / n_columns)
        yield "SVR, RBF", 0, c, SVR(C=c, gamma=1.0 / n_columns)
        if c <= 10:
            yield "SVC, linear", 2, c, SVC(C=c, kernel="linear", max_iter=100_000)
    for alpha in ALPHAS:
        yield "lasso", 0, alpha, Lasso(alpha, max_iter=5000)
        yield "elastic net", 0, alpha, ElasticNet(alpha, max_iter=5000)
        yield "Poisson", -1, alpha, PoissonRegressor(alpha=alpha, max_iter=1000)


def make_data(n_rows, n_columns, kind, rng):
    """Return features and targets: 2 or 3 classes, 0 a regression target, -1 counts."""
    X = rng.standard_normal((n_rows, n_columns))
    signal = X @ rng.standard_normal(n_columns) / np.sqrt(n_columns)
    if kind >= 2 and rng.random() < 0.5:  # a curvature that linear models cannot fit
        signal = signal + 0.7 * (X[:, 0] ** 2 - 1.0)
    noisy = signal + rng.choice([0.0, 0.3, 1.0]) * rng.standard_normal(n_rows)
    if kind == 0:
        return X, noisy
    if kind == -1:
        return X, rng.poisson(np.exp(signal)).astype(float)
    cuts = [0.5] if kind == 2 else [0.35, 0.65]
    return X, np.digitize(noisy, np.quantile(noisy, cuts))


def compare(estimator, X, y):
    """Return the true score, ours, its standard error, the largest prediction error, the flag."""
    model = clone(estimator).fit(X, y)
    loo = find_leave_one_out(model).predict(model, X, y)
    others = np.arange(len(y))[:, None] != np.arange(len(y))
    fits = [clone(estimator).fit(X[kept], y[kept]) for kept in others]
    graded = "decision_function" if is_classifier(model) else "predict"
    true = {
        method: np.array([getattr(fit, method)(X[[row]])[0] for row, fit in enumerate(fits)])
        for method in ("predict", graded)
    }
    miss = float(np.abs(true[graded] - loo.predictions[graded]).max())
    if is_classifier(model):
        right, ours = true["predict"] == y, loo.predictions["predict"] == y
        share = (right.sum() + 1) / (len(y) + 2)  # a perfect score has an error too
        return (
            right.mean(),
            ours.mean(),
            np.sqrt(share * (1 - share) / len(y)),
            miss,
            loo.unreliable,
        )
    losses, ours = (true["predict"] - y) ** 2, (loo.predictions["predict"] - y) ** 2
    spread = np.var(y)
    error = np.std(losses) / np.sqrt(len(y)) / spread
    return 1 - losses.mean() / spread, 1 - ours.mean() / spread, error, miss, loo.unreliable


def measure(repeats, seed=0):
    """Return one record per candidate."""
    records = []
    for repeat in range(repeats):
        for at, ratio in enumerate(RATIOS):
            rng = np.random.default_rng([seed, repeat, at])
            n_rows = int(rng.choice(N_ROWS))
            n_columns = max(1, round(n_rows / ratio))
            tables = {kind: make_data(n_rows, n_columns, kind, rng) for kind in (-1, 0, 2, 3)}
            for name, kind, strength, estimator in grids(n_columns):
                X, y = tables[kind]
                if kind == 2 and min(np.bincount(y)) < 4:
                    continue
                records.append((name, ratio, strength, *compare(estimator, X, y)))
    return records


def off(record):
    return abs(record[3] - record[4]) > record[5] + 1e-12


def flag_rates(records):
    """Return by model type and for all: candidates, misses, misses flagged, others flagged."""
    groups = defaultdict(list)
    for record in records:
        groups[record[0]].append(record)
    groups["all"] = records
    for name, group in groups.items():
        missed = [record for record in group if off(record)]
        good = [record for record in group if not off(record)]
        caught = sum(record[7] is not None for record in missed)
        false_flags = sum(record[7] is not None for record in good)
        yield name, len(group), len(missed), caught, false_flags / max(len(good), 1)


def table(records):
    groups = defaultdict(list)
    for record in records:
        strength = record[2]
        level = "below 0.05" if strength < 0.05 else "to 5" if strength < 5 else "above 5"
        groups[record[0], record[1], level].append(record)
    yield "| model type | n/d | C or alpha | mean score difference | largest error | flagged |"
    yield "|---|---|---|---|---|---|"
    for (name, ratio, level), group in sorted(groups.items()):
        gap = np.mean([abs(record[3] - record[4]) for record in group])
        plain = [record for record in group if record[7] is None]
        reliable = np.mean([abs(r[3] - r[4]) for r in plain]) if plain else np.nan
        worst = max((record[6] for record in plain), default=np.nan)
        share = 1 - len(plain) / len(group)
        gaps = f"{gap:.3g} ({reliable:.2g})"
        yield f"| {name} | {ratio} | {level} | {gaps} | {worst:.2g} | {share:.0%} |"


def report(records, seconds):
    yield "# Approximate leave-one-out against the true one\n"
    yield (
        f"{len(records)} candidates on simulated data, {min(N_ROWS)} to {max(N_ROWS)} rows, "
        f"{seconds:.0f} s. The score is accuracy or R2; a miss is off by more than one standard "
        "error of the true score (of a share with one hit and one miss added).\n"
    )
    yield "| model type | candidates | misses | misses flagged | others flagged |"
    yield "|---|---|---|---|---|"
    for name, number, missed, caught, false_flags in flag_rates(records):
        share = f"{caught / missed:.0%}" if missed else "-"
        yield f"| {name} | {number} | {missed} | {caught} ({share}) | {false_flags:.0%} |"
    yield "\nIn brackets, and for the prediction error: of the candidates that are not flagged.\n"
    yield from table(records)


def main(repeats=2):
    warnings.simplefilter("ignore")
    started = time.perf_counter()
    with threadpool_limits(1):
        records = measure(repeats)
    lines = list(report(records, time.perf_counter() - started))
    OUT.parent.mkdir(parents=True, exist_ok=True)
    OUT.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
