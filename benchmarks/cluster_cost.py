"""Cost of a candidate on a cluster: the bytes that are sent, and the time in addition to its fit.

Run with: uv run --extra dask --extra ray python benchmarks/cluster_cost.py
It writes results/scale/cluster.md. The clusters are local: a network adds its own time.
"""

import statistics
import time
from contextlib import contextmanager
from pathlib import Path

import cloudpickle
import ray
from distributed import Client, LocalCluster
from joblib import parallel_config, register_parallel_backend
from joblib.parallel import ThreadingBackend
from ray.util.joblib import register_ray
from sklearn.datasets import make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter

PAGE = Path(__file__).parents[1] / "results" / "scale" / "cluster.md"
REPEATS, FEW, MANY, N_COLUMNS = 3, 20, 220, 20
MODELS = {
    "logistic regression": (LogisticRegression(), {"C": [1.0, 0.1]}),
    "RBF SVM": (SVC(), {"C": [1.0, 0.1]}),
    "forest of 100 trees": (RandomForestClassifier(random_state=0), {"min_samples_leaf": [1, 5]}),
}


class MeasuringBackend(ThreadingBackend):
    """Runs tasks in threads and records the bytes that a cluster would send."""

    def submit(self, func, callback=None):
        """Record the sizes of the shared data, of a task and of its results."""
        (_, (_, holder, _, task), _) = func.items[0]
        self.shared = len(cloudpickle.dumps(holder))
        self.tasks.append(len(cloudpickle.dumps(task)) / len(task.trials))

        def measured():
            outputs = func()
            for _, results in outputs:
                self.results.append(len(cloudpickle.dumps(results)) / len(results))
            return outputs

        return super().submit(measured, callback)


def sizes(n_rows, model, grid):
    """Return the bytes of the data and the validation set, of a candidate, and of its result."""
    backend = MeasuringBackend()
    backend.tasks, backend.results = [], []
    register_parallel_backend("measuring", lambda **_: backend)
    X, y = make_classification(n_rows, N_COLUMNS, flip_y=0.1, random_state=0)
    with parallel_config(backend="measuring"):
        search = GridSearchLZO(model, grid, n_jobs=2, random_state=0, augmenter=GaussianAugmenter())
        search.fit(X, y)
    return backend.shared, max(backend.tasks), max(backend.results)


@contextmanager
def dask_cluster():
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster),
        parallel_config(backend="dask"),
    ):
        yield


@contextmanager
def ray_cluster():
    ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
    register_ray()
    with parallel_config(backend="ray"):
        yield
    ray.shutdown()


CLUSTERS = {
    "joblib's own processes": lambda: parallel_config(backend="loky"),
    "Dask, two local workers": dask_cluster,
    "Ray, two local workers": ray_cluster,
}


def seconds(n_candidates):
    """Return the seconds of a search over candidates with very short fits, two workers."""
    X, y = make_classification(500, N_COLUMNS, flip_y=0.1, random_state=0)
    search = GridSearchLZO(
        DecisionTreeClassifier(max_depth=1),
        {"min_samples_leaf": range(1, n_candidates + 1)},
        n_jobs=2,
        n_replicates=1,
        random_state=0,
        augmenter=GaussianAugmenter(),
    )
    started = time.perf_counter()
    search.fit(X, y)
    return time.perf_counter() - started - search.augment_time_


def start_and_each():
    """Return the seconds until a search starts, and those of each candidate."""
    few, many = seconds(FEW), seconds(MANY)
    each = (many - few) / (MANY - FEW)
    return few - FEW * each, each


def main():
    """Measure sizes and times, and write the page."""
    lines = [
        "# Cost of a candidate on a cluster",
        "",
        f"Bytes, {N_COLUMNS} columns, ten replicates: data and validation set are sent once to "
        "each worker or machine, the rest for each candidate. The result includes the model.",
        "",
        "| model | rows | data and validation set, once | a candidate | its result, at most |",
        "|---|---|---|---|---|",
    ]
    for name, (model, grid) in MODELS.items():
        for n_rows in (1_000, 10_000):
            cells = [f"{size:,.0f}" for size in sizes(n_rows, model, grid)]
            lines.append(f"| {name} | {n_rows:,} | {' | '.join(cells)} |")
    lines += [
        "",
        f"Wall time, stumps on 500 rows with two workers, from searches over {FEW} and {MANY} of "
        f"them, medians of {REPEATS} pairs after a first one that is not counted:",
        "",
        "| backend | start, s | a candidate, ms |",
        "|---|---|---|",
    ]
    for name, cluster in CLUSTERS.items():
        with cluster():
            pairs = [start_and_each() for _ in range(REPEATS + 1)][1:]
        start, each = (statistics.median(times) for times in zip(*pairs, strict=True))
        lines.append(f"| {name} | {start:.1f} | {1000 * each:.1f} |")
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text("\n".join(lines) + "\n")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
