"""Time of searches that take long: GridSearchLZO against the searches of scikit-learn.

    uv run python benchmarks/speed.py                       # all rows; about an hour on one core
    uv run python benchmarks/speed.py --only "RBF SVC"      # one row
    uv run python benchmarks/speed.py --label before        # into a file of its own

Every row needs more than 10 s with ``GridSearchCV(cv=10)`` on one core. Each measurement runs in a
process of its own with one BLAS and OpenMP thread; the methods of a row run one after the other. A
row that is measured again replaces the old one in results/speed/LABEL.json, and
results/speed/speed.md is written from all such files.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[1] / "results" / "speed"
METHODS = {
    "lzo": "GridSearchLZO",
    "lzo2": "GridSearchLZO, n_jobs=2",
    "cv10": "10-fold CV",
    "cv10_2": "10-fold CV, n_jobs=2",
    "cv5": "5-fold CV",
    "halving": "halving, 5 folds",
    "plain": "one plain fit per candidate",
}


@dataclass(frozen=True)
class Case:
    """A search: its data, its estimator and its grid."""

    make: Callable[[], tuple[Any, Any, Any, dict[str, list[Any]]]]  # X, y, estimator, grid
    shared: bool  # whether candidates share work


def hist_boosting() -> Any:
    from sklearn.datasets import make_classification
    from sklearn.ensemble import HistGradientBoostingClassifier

    X, y = make_classification(10_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 15, 31, 63]}
    return X, y, HistGradientBoostingClassifier(random_state=0), grid


def hist_boosting_regression() -> Any:
    from sklearn.datasets import make_friedman1
    from sklearn.ensemble import HistGradientBoostingRegressor

    X, y = make_friedman1(10_000, 20, noise=1.0, random_state=0)
    grid = {"learning_rate": [0.03, 0.1], "max_leaf_nodes": [7, 15, 31, 63]}
    return X, y, HistGradientBoostingRegressor(random_state=0), grid


def rbf_svc() -> Any:
    from sklearn.datasets import make_classification
    from sklearn.svm import SVC

    X, y = make_classification(3_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    return X, y, SVC(), {"C": [0.1, 1, 10, 100], "gamma": [0.01, 0.03, 0.1]}


def forest() -> Any:
    from sklearn.datasets import make_classification
    from sklearn.ensemble import RandomForestClassifier

    X, y = make_classification(4_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    grid = {"max_features": [2, 4, 8], "min_samples_leaf": [1, 5]}
    return X, y, RandomForestClassifier(random_state=0), grid


def gradient_boosting() -> Any:
    from sklearn.datasets import make_classification
    from sklearn.ensemble import GradientBoostingClassifier

    X, y = make_classification(2_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    grid = {"n_estimators": [50, 100, 200], "max_depth": [2, 3, 4]}
    return X, y, GradientBoostingClassifier(random_state=0), grid


def mlp() -> Any:
    from sklearn.datasets import make_classification
    from sklearn.neural_network import MLPClassifier

    X, y = make_classification(10_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    estimator = MLPClassifier((64,), early_stopping=True, max_iter=100, random_state=0)
    return X, y, estimator, {"alpha": [1e-4, 1e-2, 1], "learning_rate_init": [1e-3, 3e-3]}


def elastic_net() -> Any:
    import numpy as np
    from sklearn.linear_model import ElasticNet

    # Neighboring columns are correlated, as those of real tables are.
    rng = np.random.default_rng(0)
    X = np.empty((5_000, 200))
    X[:, 0] = rng.normal(size=len(X))
    for column in range(1, X.shape[1]):
        noise = rng.normal(size=len(X))
        X[:, column] = 0.9 * X[:, column - 1] + np.sqrt(1 - 0.9**2) * noise
    y = X[:, ::4] @ rng.normal(size=50) + rng.normal(scale=10.0, size=len(X))
    grid = {"alpha": list(np.geomspace(1e-3, 1, 20)), "l1_ratio": [0.5, 0.9]}
    return X, y, ElasticNet(), grid


def pipeline() -> Any:
    from sklearn.datasets import make_classification
    from sklearn.decomposition import PCA
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import PolynomialFeatures, StandardScaler

    X, y = make_classification(15_000, 25, n_informative=10, flip_y=0.1, random_state=0)
    steps = (StandardScaler(), PolynomialFeatures(), PCA(), LogisticRegression(max_iter=500))
    grid = {"pca__n_components": [20, 40], "logisticregression__C": [0.01, 0.1, 1, 10]}
    return X, y, make_pipeline(*steps), grid


def lightgbm() -> Any:
    from lightgbm import LGBMClassifier
    from sklearn.datasets import make_classification

    X, y = make_classification(20_000, 20, n_informative=10, flip_y=0.1, random_state=0)
    grid = {"num_leaves": [7, 15, 31, 63], "learning_rate": [0.03, 0.1]}
    return X, y, LGBMClassifier(n_jobs=1, verbose=-1, random_state=0), grid


def text() -> Any:
    import numpy as np
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    rng = np.random.default_rng(0)
    words = np.array([f"w{i}" for i in range(20_000)])
    frequency = 1 / np.arange(1, len(words) + 1)
    y = rng.integers(4, size=4_000)
    documents = []
    for label in y:
        weight = frequency * np.where(np.arange(len(words)) % 40 == label, 1.5, 1.0)
        documents.append(" ".join(rng.choice(words, size=150, p=weight / weight.sum())))
    estimator = make_pipeline(TfidfVectorizer(), LogisticRegression(max_iter=300))
    grid = {"tfidfvectorizer__min_df": [1, 3], "logisticregression__C": [0.3, 1, 3, 10]}
    return documents, y, estimator, grid


def neighbors() -> Any:
    from sklearn.datasets import make_classification
    from sklearn.neighbors import KNeighborsClassifier

    X, y = make_classification(20_000, 30, n_informative=10, flip_y=0.1, random_state=0)
    grid = {"n_neighbors": [1, 3, 5, 9, 15, 25], "weights": ["uniform", "distance"]}
    return X, y, KNeighborsClassifier(algorithm="brute"), grid


def logistic() -> Any:
    import numpy as np
    from sklearn.datasets import make_classification
    from sklearn.linear_model import LogisticRegression

    X, y = make_classification(100_000, 50, n_informative=20, flip_y=0.1, random_state=0)
    return X, y, LogisticRegression(max_iter=300), {"C": list(np.geomspace(1e-4, 10, 8))}


def extra_trees() -> Any:
    from sklearn.datasets import make_friedman1
    from sklearn.ensemble import ExtraTreesRegressor

    X, y = make_friedman1(5_000, 20, noise=1.0, random_state=0)
    grid = {"min_samples_leaf": [1, 2, 5, 10], "max_features": [0.5, 1.0]}
    return X, y, ExtraTreesRegressor(random_state=0), grid


CASES = {
    "histogram boosting": Case(hist_boosting, shared=False),
    "histogram boosting, regression": Case(hist_boosting_regression, shared=False),
    "RBF SVC": Case(rbf_svc, shared=False),
    "random forest": Case(forest, shared=False),
    "extra trees, regression": Case(extra_trees, shared=False),
    "gradient boosting": Case(gradient_boosting, shared=True),
    "MLP": Case(mlp, shared=False),
    "LightGBM": Case(lightgbm, shared=False),
    "logistic regression": Case(logistic, shared=False),
    "elastic net": Case(elastic_net, shared=True),
    "polynomials, PCA, logistic regression": Case(pipeline, shared=True),
    "TF-IDF, logistic regression": Case(text, shared=True),
    "k-NN": Case(neighbors, shared=True),
}


def make_search(method: str, estimator: Any, grid: dict[str, list[Any]]) -> Any:
    """Return the search that a method stands for."""
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401 (for the next import)
    from sklearn.model_selection import GridSearchCV, HalvingGridSearchCV

    from leavezero import GridSearchLZO

    if method.startswith("lzo"):
        return GridSearchLZO(
            estimator, grid, random_state=0, n_jobs=2 if method == "lzo2" else None
        )
    if method == "halving":
        return HalvingGridSearchCV(estimator, grid, cv=5, random_state=0)
    folds = 5 if method == "cv5" else 10
    return GridSearchCV(estimator, grid, cv=folds, n_jobs=2 if method == "cv10_2" else None)


def measure(name: str, method: str) -> dict[str, float]:
    """Return wall and CPU seconds of one method; called in a process of its own."""
    from sklearn.base import clone
    from sklearn.model_selection import ParameterGrid
    from threadpoolctl import threadpool_limits

    X, y, estimator, grid = CASES[name].make()
    warnings.simplefilter("ignore")
    with threadpool_limits(1):
        wall, cpu = time.perf_counter(), time.process_time()
        if method == "plain":
            for params in ParameterGrid(grid):
                clone(estimator).set_params(**params).fit(X, y)
            search = None
        else:
            search = make_search(method, estimator, grid).fit(X, y)
        found = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    if method == "lzo" and search is not None:
        table = search.cv_results_
        found["fit"] = float(table["mean_fit_time"].sum())
        found["score"] = float(table["mean_score_time"].sum())
        found["generate"] = float(getattr(search, "augment_time_", 0.0))
    return found


def run(names: list[str], methods: list[str], label: str) -> None:
    """Measure rows and store them."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / f"{label}.json"
    rows = json.loads(path.read_text()) if path.exists() else {}
    environment = os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for name in names:
        for method in methods:
            command = [sys.executable, __file__, "--measure", name, method]
            output = subprocess.run(
                command, capture_output=True, text=True, check=False, env=environment
            )
            if output.returncode:
                print(f"{name}, {method}: failed\n{output.stderr[-2000:]}")
                continue
            rows.setdefault(name, {})[method] = json.loads(output.stdout.splitlines()[-1])
            print(f"{name}, {method}: {rows[name][method]['wall']:.1f} s", flush=True)
            path.write_text(json.dumps(rows, indent=1) + "\n")
    write_page()


def write_page() -> None:
    """Write results/speed/speed.md from all measurements."""
    lines = [
        "# Time of searches that take long",
        "",
        "Written by `benchmarks/speed.py`. Processor seconds with one thread, or wall seconds with",
        "n_jobs=2; a ratio is the time of 10-fold CV divided by that of GridSearchLZO.",
        "",
    ]
    for path in sorted(FOLDER.glob("*.json")):
        rows = json.loads(path.read_text())
        if not isinstance(rows, dict):
            continue
        done = {n: row for n, row in rows.items() if n in CASES and {"lzo", "cv10"} <= set(row)}
        if not done:
            continue
        shown = [m for m in METHODS if any(m in row for row in done.values())]
        lines += [f"## {path.stem}", ""]
        lines += ["| search | " + " | ".join(METHODS[m] for m in shown) + " | ratio | other |"]
        lines += ["|---" * (len(shown) + 3) + "|"]
        for name in [n for n in CASES if n in done]:
            row = done[name]
            cells = [f"{_seconds(row, m):.1f}" if m in row else "" for m in shown]
            ratio = row["cv10"]["cpu"] / row["lzo"]["cpu"]
            lines.append(f"| {name} | {' | '.join(cells)} | {ratio:.1f} | {_other(row['lzo'])} |")
        ratios = {n: row["cv10"]["cpu"] / row["lzo"]["cpu"] for n, row in done.items()}
        alone = [r for n, r in ratios.items() if not CASES[n].shared]
        mean = math.exp(sum(map(math.log, ratios.values())) / len(ratios))
        lines += ["", f"Geometric mean of the ratios: {mean:.1f}."]
        if alone:
            lines += [f"Lowest ratio of searches whose candidates share nothing: {min(alone):.1f}."]
        lines += [""]
    lines += [
        '"other" is the share of GridSearchLZO\'s time outside of fitting, predicting and scoring',
        "candidates on all rows: folds, generating the validation set, statistics and the rest.",
    ]
    (FOLDER / "speed.md").write_text("\n".join(lines) + "\n")


def _seconds(row: dict[str, dict[str, float]], method: str) -> float:
    # With one thread these are the wall seconds of a free core, also if the machine is busy.
    return row[method]["wall" if METHODS[method].endswith("n_jobs=2") else "cpu"]


def _other(lzo: dict[str, float]) -> str:
    if "fit" not in lzo:
        return ""
    return f"{max(0.0, 1 - (lzo['fit'] + lzo['score']) / lzo['wall']):.1%}"


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=CASES, help="a row; may be repeated")
    parser.add_argument("--methods", nargs="+", choices=METHODS, default=list(METHODS))
    parser.add_argument("--label", default="current", help="the name of the file of results")
    parser.add_argument("--measure", nargs=2, metavar=("ROW", "METHOD"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
    else:
        run(options.only or list(CASES), options.methods, options.label)


if __name__ == "__main__":
    main()
