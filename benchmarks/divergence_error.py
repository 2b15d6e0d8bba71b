"""Error of the estimates of a Jensen-Shannon divergence where the true value is known.

Run with: uv run python benchmarks/divergence_error.py
It writes results/divergence/error.md.
"""

import sys
import time
from pathlib import Path

import numpy as np
from scipy.integrate import quad
from scipy.stats import chi, norm
from threadpoolctl import threadpool_limits

from leavezero.augment import FunctionAugmenter, LabelInvariantMixup
from leavezero.diagnostics import jensen_shannon_augmenter

DIMENSIONS = (1, 5, 20)
REPEATS = {200: 20, 1000: 8, 5000: 3}
SHIFT, SCALE = 1.0, 1.2
MIXED = ((500, 5, 1.0), (500, 20, 1.0), (500, 20, 0.2), (2000, 20, 1.0))
MIXED_REPEATS = 6
OUT = Path("results/divergence/error.md")


def divergence(p, q, low, high):
    """Return JS between two densities on a line by integration."""

    def integrand(x):
        a, b = p(x), q(x)
        middle = (a + b) / 2.0
        terms = [v * np.log(v / middle) for v in (a, b) if v > 0]
        return sum(terms) / 2.0

    return quad(integrand, low, high, limit=500)[0]


def truth(case, d):
    """Return the divergence of two distributions; scaled ones differ by their radius."""
    if case == "shift":
        return divergence(norm.pdf, norm(SHIFT).pdf, -10.0, 10.0 + SHIFT)
    if case == "scale":
        return divergence(chi(d).pdf, chi(d, scale=SCALE).pdf, 0.0, 12.0)
    return 0.0


def mixed_truth(d, alpha):
    """Return the divergence between a normal distribution and mix-ups of two of its points."""
    # Quantiles of the weight: the middles of equal shares of Beta(alpha, alpha).
    weights = np.random.default_rng(0).beta(alpha, alpha, 20_000)
    widths = np.quantile(np.hypot(weights, 1.0 - weights), (np.arange(400) + 0.5) / 400)
    return divergence(
        chi(d).pdf, lambda r: float(chi.pdf(r / widths, d) @ (1 / widths)) / len(widths), 0.0, 12.0
    )


def generated(case):
    """Return an augmenter whose rows are normal, shifted in one column or scaled in all."""

    def generate(X, y, n_samples, rng):
        rows = rng.standard_normal((n_samples, X.shape[1]))
        if case == "shift":
            rows[:, 0] += SHIFT
        return rows * SCALE if case == "scale" else rows, y[:n_samples]

    return FunctionAugmenter(generate)


def estimates(augmenter, n, d, repeats):
    """Return the estimates for normal rows of one class."""
    return [
        jensen_shannon_augmenter(
            augmenter,
            np.random.default_rng([repeat, n, d]).standard_normal((n, d)),
            np.zeros(n, dtype=int),
            max_rows=n,
            random_state=repeat,
        )
        for repeat in range(repeats)
    ]


def measure_independent():
    """Yield a row of the table for each case."""
    for case in ("shift", "scale", "same"):
        for d in DIMENSIONS:
            for n, repeats in REPEATS.items():
                started = time.process_time()
                found = estimates(generated(case), n, d, repeats)
                seconds = (time.process_time() - started) / repeats
                yield case, d, n, truth(case, d), found, seconds


def measure_mixed():
    """Yield the estimates for mix-ups of one class."""
    for n, d, alpha in MIXED:
        found = estimates(LabelInvariantMixup(alpha), n, d, MIXED_REPEATS)
        raw = [estimate.raw for estimate in found]
        yield f"n = {n}, d = {d}, Beta({alpha:g})", mixed_truth(d, alpha), raw


def spread(values):
    return f"{np.mean(values):.3f} ({np.std(values):.3f})"


def report():
    yield "# Estimates of a Jensen-Shannon divergence against the truth\n"
    yield (
        "n normal rows with d columns, and an augmenter whose rows are normal, too: shifted by "
        f"{SHIFT:g} in one column, or {SCALE:g} times as wide in all, or the same. Mean and "
        f"standard deviation, in nats, before the floor at 0, over {REPEATS[200]}, "
        f"{REPEATS[1000]} and {REPEATS[5000]} repeats at n = 200, 1000 and 5000; the standard "
        "error is the mean of the estimated ones; CPU seconds per call on one thread.\n"
    )
    yield "| case | truth | estimate | standard error | AUC | CPU s |"
    yield "|---|---|---|---|---|---|"
    for case, d, n, known, found, seconds in measure_independent():
        cells = [
            f"{case}, d = {d}, n = {n}",
            f"{known:.3f}",
            spread([estimate.raw for estimate in found]),
            f"{np.mean([estimate.standard_error for estimate in found]):.3f}",
            f"{np.mean([estimate.auc for estimate in found]):.3f}",
            f"{seconds:.2f}",
        ]
        yield f"| {' | '.join(cells)} |"
    yield f"\nMix-ups of n normal rows, {MIXED_REPEATS} repeats.\n"
    yield "| case | truth | estimate |"
    yield "|---|---|---|"
    for case, known, raw in measure_mixed():
        yield f"| {case} | {known:.3f} | {spread(raw)} |"


def main():
    OUT.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    with threadpool_limits(1):
        for line in report():
            lines.append(line)
            print(line, flush=True)
    OUT.write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    sys.exit(main())
