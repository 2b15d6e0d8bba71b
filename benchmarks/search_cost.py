"""CPU time of GridSearchLZO as a ratio to GridSearchCV(cv=10), alternating in one run.

Run with: uv run python benchmarks/search_cost.py
"""

import statistics
import time

from sklearn.datasets import make_classification
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.svm import SVC
from threadpoolctl import threadpool_limits

from leavezero import GridSearchLZO

REPEATS = 5
STRENGTHS = {"C": [0.01, 0.1, 1.0, 10.0]}
SEARCHES = {
    "linear SVC": (SVC(kernel="linear"), STRENGTHS),
    "RBF SVC": (SVC(), STRENGTHS),
    "histogram boosting": (HistGradientBoostingClassifier(max_iter=30), {"max_depth": [2, 4]}),
}


def cpu_seconds(search, X, y):
    started = time.process_time()
    search.fit(X, y)
    return time.process_time() - started


def main():
    X, y = make_classification(1500, 20, n_informative=8, flip_y=0.1, random_state=0)
    print(f"{'search':<20} {'CV / LZO':>9} {'least':>6} {'most':>6}")
    for name, (estimator, grid) in SEARCHES.items():
        ratios = []
        for _ in range(REPEATS):
            ours = cpu_seconds(GridSearchLZO(estimator, grid, random_state=0), X, y)
            ratios.append(cpu_seconds(GridSearchCV(estimator, grid, cv=10), X, y) / ours)
        middle = statistics.median(ratios)
        print(f"{name:<20} {middle:>9.1f} {min(ratios):>6.1f} {max(ratios):>6.1f}")


if __name__ == "__main__":
    with threadpool_limits(limits=1):
        main()
