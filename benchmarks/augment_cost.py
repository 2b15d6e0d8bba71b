"""CPU time and peak memory of drawing V by "auto", on one core.

Run with: uv run python benchmarks/augment_cost.py
"""

import time
import tracemalloc

import numpy as np
from threadpoolctl import threadpool_limits

from leavezero.augment import resolve_augmenter

SIZES = [(1_000, 20), (10_000, 20), (100_000, 20), (1_000, 200)]


def main():
    header = f"{'rows':>8} {'columns':>8} {'fit s':>7} {'draw s':>7} {'V MB':>7} {'peak / V':>9}"
    print(header + "  chosen")
    for n_rows, n_columns in SIZES:
        rng = np.random.default_rng(0)
        y = np.tile([0, 1], n_rows // 2)
        X = rng.normal(size=(n_rows, n_columns)) + 0.5 * y[:, None]
        for dear in (False, True):
            augmenter = resolve_augmenter("auto", X, y, dear=dear).augmenter
            tracemalloc.start()
            started = time.process_time()
            augmenter.fit(X, y)
            fitted = time.process_time()
            V = augmenter.sample(min(10 * n_rows, 200_000), random_state=0)
            drawn = time.process_time()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            print(
                f"{n_rows:>8} {n_columns:>8} {fitted - started:>7.2f} {drawn - fitted:>7.2f} "
                f"{V.X.nbytes / 1e6:>7.1f} {peak / V.X.nbytes:>9.1f}  {type(augmenter).__name__}"
            )


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
