"""Time of the process pool compared with joblib's: 200 fits of 50 ms, two workers, alternating.

Run with: uv run python benchmarks/limits_cost.py [repeats]
It writes results/limits/cost.md. joblib's workers have been started before; those of the pool start
with each search.
"""

import os
import statistics
import sys
import time
from pathlib import Path

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter

PAGE = Path(__file__).parents[1] / "results" / "limits" / "cost.md"
N_FITS, SECONDS, N_JOBS = 200, 0.05, 2
METHODS = {
    "joblib's workers, no limit": {},
    "process pool, timeout": {"timeout": 600.0},
    "process pool, timeout, memory_limit": {"timeout": 600.0, "memory_limit": "4GB"},
}
TICK = os.sysconf("SC_CLK_TCK")


class Busy(ClassifierMixin, BaseEstimator):
    """A classifier whose fit takes a fixed CPU time."""

    def __init__(self, number=0):
        self.number = number

    def fit(self, X, y):
        """Compute for the fixed time."""
        until = time.process_time() + SECONDS
        while time.process_time() < until:
            np.sqrt(X).sum()
        self.classes_ = np.unique(y)
        return self

    def predict(self, X):
        """Return a class by the first column."""
        return self.classes_[(X[:, 0] > self.number / N_FITS).astype(int)]


def process_tree_seconds():
    """Return the CPU time of this process and of all its children, ended ones included."""
    found, known = {os.getpid()}, {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        known[int(stat.parent.name)] = (int(fields[1]), sum(map(int, fields[11:15])))
    while more := {pid for pid, (parent, _) in known.items() if parent in found} - found:
        found |= more
    return sum(known[pid][1] for pid in found) / TICK


def seconds(search, X, y):
    """Return the CPU time of a search, its wall time, and the share of it without a fit."""
    cpu, wall = process_tree_seconds(), time.perf_counter()
    search.fit(X, y)
    wall = time.perf_counter() - wall
    time.sleep(0.5)  # the time of a worker is known when it has ended
    table = search.cv_results_
    fits = (table["mean_fit_time"] + table["mean_score_time"]).sum()
    return process_tree_seconds() - cpu, wall, 1 - fits / (N_JOBS * wall)


def measured(repeats):
    """Return the times of each method, taken in turn."""
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 5)), rng.integers(0, 2, 200)
    params = {"augmenter": GaussianAugmenter(), "n_replicates": 2, "random_state": 0}
    params |= {"n_jobs": N_JOBS}
    found = {method: [] for method in METHODS}
    for repeat in range(-1, repeats):
        for method, limits in METHODS.items():
            numbers = range(N_FITS if repeat >= 0 else 4)
            search = GridSearchLZO(Busy(), {"number": list(numbers)}, **params, **limits)
            times = seconds(search, X, y)
            if repeat >= 0:
                found[method].append(times)
                print(method, *(f"{value:.3f}" for value in times), flush=True)
    return found


def page(found, repeats, load):
    """Return the results as Markdown."""
    base = found[next(iter(METHODS))]
    lines = [
        "# Cost of a process pool whose tasks can be ended",
        "",
        f"{N_FITS} fits of {1000 * SECONDS:.0f} ms of CPU time each, n_jobs={N_JOBS}, {repeats} "
        "runs of each method in turn; medians. The ratios are medians over runs, each to joblib in "
        'the same turn. "no fit" is the share of the workers\' wall time in which none of them '
        f"fitted or scored. The load average was {load:.1f} before the first run. On a busy "
        "machine wall times favor the process pool, whose workers Linux schedules as sessions of "
        "their own; use the CPU time there. joblib's workers were started before and are used "
        "again; those of the pool start with each search and import the packages.",
        "",
        "| method | CPU, s | wall, s | no fit | CPU / joblib | wall / joblib |",
        "|---|---|---|---|---|---|",
    ]
    for method, times in found.items():
        cpu, wall, idle = (statistics.median(column) for column in zip(*times, strict=True))
        ratios = [
            statistics.median(one[at] / other[at] for one, other in zip(times, base, strict=True))
            for at in (0, 1)
        ]
        numbers = f"{cpu:.2f} | {wall:.2f} | {idle:.3f} | {ratios[0]:.3f} | {ratios[1]:.3f}"
        lines.append(f"| {method} | {numbers} |")
    return "\n".join([*lines, ""])


def main():
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    load = os.getloadavg()[0]
    text = page(measured(repeats), repeats, load)
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(text)
    print(text)


if __name__ == "__main__":
    main()
