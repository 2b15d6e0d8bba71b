"""CPU time and peak memory of generating the validation set by "auto", on one core.

Run with: uv run python benchmarks/augment_cost.py
"""

import time
import tracemalloc

import numpy as np
from threadpoolctl import threadpool_limits

from leavezero.augment import resolve_augmenter

SIZES = [(1_000, 20), (10_000, 20), (100_000, 20), (1_000, 200), (300, 20_000)]


def main():
    header = f"{'rows':>8} {'columns':>8} {'fit s':>7} {'sample s':>8} {'MB':>7} {'peak / MB':>9}"
    print(header + "  chosen")
    for n_rows, n_columns in SIZES:
        rng = np.random.default_rng(0)
        y = np.tile([0, 1], n_rows // 2)
        X = rng.normal(size=(n_rows, n_columns)) + 0.5 * y[:, None]
        augmenter = resolve_augmenter("auto", X, y).augmenter
        tracemalloc.start()
        started = time.process_time()
        augmenter.fit(X, y)
        fitted = time.process_time()
        nbytes = augmenter.sample(min(10 * n_rows, 200_000), random_state=0).X.nbytes
        sampled = time.process_time()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        print(
            f"{n_rows:>8} {n_columns:>8} {fitted - started:>7.2f} {sampled - fitted:>8.2f} "
            f"{nbytes / 1e6:>7.1f} {peak / nbytes:>9.1f}  {type(augmenter).__name__}"
        )


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
