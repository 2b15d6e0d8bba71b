"""Searches as users write them: test score and `best_score_` of GridSearchLZO and GridSearchCV.

    uv run python benchmarks/user_cases.py                   # all groups; about half an hour
    uv run python benchmarks/user_cases.py --only noise      # one group

Boosting libraries, regression with little noise, many rows, imbalanced classes, text, keys, and
pure noise in many columns. Both searches get the same estimator and grid and no other option. The
lines are in results/user_cases/GROUP.json; results/user_cases/user_cases.md is written from all.
"""

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from lightgbm import LGBMClassifier, LGBMRegressor
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.datasets import (
    load_diabetes,
    make_classification,
    make_friedman1,
    make_multilabel_classification,
    make_regression,
)
from sklearn.ensemble import (
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import (
    Lasso,
    LogisticRegression,
    QuantileRegressor,
    Ridge,
    SGDClassifier,
)
from sklearn.metrics import get_scorer, make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.naive_bayes import MultinomialNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, LinearSVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from threadpoolctl import threadpool_limits
from xgboost import XGBClassifier, XGBRegressor

from leavezero import GridSearchLZO

FOLDER = Path(__file__).parents[1] / "results" / "user_cases"
TOLERANCE = 0.01  # of the test score, to the choice of GridSearchCV
SCORE_TOLERANCE = 0.03  # of best_score_ to the test score
NOISE_TOLERANCE = 0.05  # of best_score_ to the share of the larger class

PINBALL = make_scorer(mean_pinball_loss, alpha=0.9, greater_is_better=False)
RATES = {"learning_rate": [0.05, 0.2]}


@dataclass(frozen=True)
class Case:
    """A search: data, how many of the rows are for training, estimator, grid and metric."""

    name: str
    data: Callable[[], tuple[Any, Any]]
    n_train: int
    estimator: Any
    grid: dict[str, list[Any]]
    scoring: Any = None


def boosting() -> Iterator[Case]:
    def classes() -> Any:
        return make_classification(2_500, 20, n_informative=8, flip_y=0.05, random_state=0)

    def values() -> Any:
        return make_friedman1(2_500, 10, noise=1.0, random_state=0)

    leaves = RATES | {"num_leaves": [4, 15, 31]}
    depths = RATES | {"max_depth": [2, 4, 6]}
    hist = RATES | {"max_leaf_nodes": [4, 15, 31]}
    lgbm = {"n_jobs": 1, "verbose": -1, "random_state": 0}
    xgb = {"n_jobs": 1, "random_state": 0}
    early = HistGradientBoostingRegressor(early_stopping=True, random_state=0)
    quantile = LGBMRegressor(objective="quantile", alpha=0.9, **lgbm)
    yield Case("XGBClassifier", classes, 1_500, XGBClassifier(**xgb), depths)
    yield Case(
        "XGBClassifier, log loss", classes, 1_500, XGBClassifier(**xgb), depths, "neg_log_loss"
    )
    yield Case("LGBMClassifier", classes, 1_500, LGBMClassifier(**lgbm), leaves)
    yield Case(
        "HistGradientBoostingClassifier, log loss", classes, 1_500,
        HistGradientBoostingClassifier(random_state=0), hist, "neg_log_loss",
    )  # fmt: skip
    yield Case("XGBRegressor", values, 1_500, XGBRegressor(**xgb), depths)
    yield Case("LGBMRegressor", values, 1_500, LGBMRegressor(**lgbm), leaves)
    yield Case("LGBMRegressor, pinball loss", values, 1_500, quantile, leaves, PINBALL)
    yield Case("HistGradientBoostingRegressor, early stopping", values, 1_500, early, hist)


def regression() -> Iterator[Case]:
    data: dict[str, Callable[[], Any]] = {
        "diabetes": lambda: load_diabetes(return_X_y=True),
        "friedman1": lambda: make_friedman1(1_250, 10, noise=1.0, random_state=0),
        "linear": lambda: make_regression(1_250, 20, n_informative=10, noise=10, random_state=0),
        "linear, low noise": lambda: make_regression(1_250, 5, noise=0.5, random_state=0),
    }
    penalties = [1e-3, 1e-2, 0.1, 0.5, 1, 2, 5]
    types: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "Ridge": (Ridge(), {"alpha": penalties}),
        "Lasso": (Lasso(), {"alpha": penalties}),
        "SVR": (make_pipeline(StandardScaler(), SVR()), {"svr__C": [1, 10, 100, 1000]}),
        "k-NN": (KNeighborsRegressor(), {"n_neighbors": [1, 3, 5, 9, 15, 25]}),
        "tree": (DecisionTreeRegressor(random_state=0), {"max_depth": [2, 4, 6, 8, None]}),
        "forest": (
            RandomForestRegressor(50, random_state=0),
            {"min_samples_leaf": [1, 3, 10], "max_features": [0.3, 1.0]},
        ),
        "gradient boosting": (
            GradientBoostingRegressor(random_state=0),
            {"n_estimators": [50, 100, 200], "max_depth": [1, 2, 3]},
        ),
        "hist. boosting": (
            HistGradientBoostingRegressor(random_state=0),
            RATES | {"max_iter": [50, 200], "max_leaf_nodes": [4, 15]},
        ),
        "quantile": (QuantileRegressor(), {"alpha": [1e-4, 1e-3, 1e-2, 0.1]}),
    }
    for data_name, make in data.items():
        for name, (estimator, grid) in types.items():
            yield Case(f"{data_name}, {name}", make, 250, estimator, grid)


def rows() -> Iterator[Case]:
    grid = RATES | {"num_leaves": [7, 15, 63]}
    lgbm = {"n_jobs": 1, "verbose": -1, "random_state": 0}
    for n_train in (30_000, 100_000):
        yield Case(
            f"LGBMClassifier, {n_train:,} x 50",
            lambda n=n_train: make_classification(
                n + 20_000, 50, n_informative=20, n_clusters_per_class=8, random_state=0
            ),
            n_train, LGBMClassifier(**lgbm), grid,
        )  # fmt: skip
        yield Case(
            f"LGBMRegressor, {n_train:,} x 50",
            lambda n=n_train: make_friedman1(n + 20_000, 50, noise=1.0, random_state=0),
            n_train, LGBMRegressor(**lgbm), grid,
        )  # fmt: skip


def imbalanced() -> Iterator[Case]:
    def rare() -> Any:
        return make_classification(
            12_000, 20, n_informative=6, weights=[0.99], flip_y=0.002, random_state=0
        )

    def labels() -> Any:
        return make_multilabel_classification(2_000, 20, n_classes=5, random_state=0)

    penalties = {"C": [0.01, 0.1, 1, 10]}
    forest = RandomForestClassifier(50, random_state=0)
    leaves = {"min_samples_leaf": [1, 5, 20]}
    lgbm = LGBMClassifier(n_jobs=1, verbose=-1, random_state=0)
    for metric in ("average_precision", "roc_auc", "f1", "neg_log_loss"):
        yield Case(
            f"1 % positives, logistic, {metric}", rare, 4_000,
            LogisticRegression(max_iter=500), penalties, metric,
        )  # fmt: skip
    yield Case(
        "1 % positives, forest, average_precision", rare, 4_000, forest, leaves, "average_precision"
    )
    yield Case(
        "1 % positives, LightGBM, average_precision", rare, 4_000, lgbm,
        {"num_leaves": [4, 15, 31]}, "average_precision",
    )  # fmt: skip
    yield Case(
        "1 % positives, SVC, f1",
        rare,
        4_000,
        SVC(),
        {"C": [1, 10, 100], "gamma": [0.01, 0.1]},
        "f1",
    )
    yield Case("multi-label, forest", labels, 1_000, forest, leaves)
    yield Case(
        "multi-label, k-NN", labels, 1_000, KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}
    )


def text() -> Iterator[Case]:
    def counts() -> Any:
        """Return word counts of documents: Zipf's law, with some words more frequent per class."""
        rng = np.random.default_rng(0)
        n_words, n_documents = 5_000, 3_000
        y = rng.integers(2, size=n_documents)
        frequency = 1 / np.arange(1, n_words + 1)
        matrix = np.zeros((n_documents, n_words), dtype=np.float32)
        for label in (0, 1):
            p = frequency * np.where(np.arange(n_words) % 50 == label, 1.6, 1.0)
            matrix[y == label] = rng.multinomial(100, p / p.sum(), size=int(np.sum(y == label)))
        return sparse.csr_matrix(matrix), y

    alphas = {"alpha": [1e-5, 1e-4, 1e-3, 1e-2, 0.1]}
    penalties = {"C": [1e-3, 1e-2, 0.1, 1, 10]}
    yield Case("sparse, SGDClassifier", counts, 1_000, SGDClassifier(random_state=0), alphas)
    yield Case("sparse, logistic", counts, 1_000, LogisticRegression(max_iter=500), penalties)
    yield Case("sparse, LinearSVC", counts, 1_000, LinearSVC(random_state=0), penalties)
    yield Case(
        "sparse, MultinomialNB", counts, 1_000, MultinomialNB(), {"alpha": [1e-3, 0.1, 1, 5]}
    )
    yield Case(
        "sparse, forest", counts, 1_000, RandomForestClassifier(50, random_state=0),
        {"min_samples_leaf": [1, 5, 20]},
    )  # fmt: skip


class LookUp(TransformerMixin, BaseEstimator):
    """Replace a key by columns of another table, as joins do; unknown keys have zeros."""

    def __init__(self, table: Any, width: int = 2) -> None:
        self.table = table
        self.width = width

    def fit(self, X: Any, y: Any = None) -> "LookUp":
        return self

    def transform(self, X: Any) -> Any:
        empty = np.zeros(self.table[next(iter(self.table))].shape)
        return np.vstack([self.table.get(str(key), empty) for key in np.asarray(X)[:, 0]])[
            :, : self.width
        ]


def keys() -> Iterator[Case]:
    rng = np.random.default_rng(0)
    names = np.array([f"id{i:05d}" for i in range(900)], dtype=object)
    table = dict(zip(names, rng.normal(size=(900, 6)), strict=True))
    values = np.vstack([table[name] for name in names])
    target = values[:, 0] - 2 * values[:, 2] + np.sin(3 * values[:, 4])
    estimator = make_pipeline(LookUp(table), Ridge())
    grid = {"lookup__width": [1, 2, 4, 6], "ridge__alpha": [0.1, 10]}
    yield Case("keys, ridge", lambda: (names[:, None], target), 400, estimator, grid)
    estimator = make_pipeline(LookUp(table), DecisionTreeClassifier(random_state=0))
    grid = {"lookup__width": [1, 3, 6], "decisiontreeclassifier__max_depth": [2, 5]}
    labels = np.where(target > 0, "yes", "no")
    yield Case("keys, tree", lambda: (names[:, None], labels), 400, estimator, grid)


def noise() -> Iterator[Case]:
    types: dict[str, tuple[Any, dict[str, list[Any]]]] = {
        "logistic": (LogisticRegression(max_iter=300), {"C": [0.01, 1, 100]}),
        "LinearSVC": (LinearSVC(random_state=0), {"C": [0.01, 1]}),
        "SVC": (SVC(), {"C": [0.1, 1, 10]}),
        "SGDClassifier": (SGDClassifier(random_state=0), {"alpha": [1e-4, 1e-2, 1]}),
        "k-NN": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 15]}),
        "forest": (RandomForestClassifier(50, random_state=0), {"min_samples_leaf": [1, 10]}),
        "tree": (DecisionTreeClassifier(random_state=0), {"max_depth": [1, 3, None]}),
    }
    for n_columns in (300, 3_000, 20_000):

        def data(n_columns: int = n_columns) -> Any:
            rng = np.random.default_rng(1)
            return rng.normal(size=(400, n_columns)), rng.integers(0, 2, 400)

        for name, (estimator, grid) in types.items():
            yield Case(f"noise, {n_columns:,} columns, {name}", data, 300, estimator, grid)


GROUPS = {
    "boosting": boosting,
    "regression": regression,
    "rows": rows,
    "imbalanced": imbalanced,
    "text": text,
    "keys": keys,
    "noise": noise,
}


def run_case(case: Case) -> dict[str, Any]:
    """Return test scores, `best_score_`, warnings and CPU seconds of both searches."""
    X, y = case.data()
    stratify = y if y.ndim == 1 and y.dtype.kind != "f" else None
    X, X_test, y, y_test = train_test_split(
        X, y, train_size=case.n_train, stratify=stratify, random_state=0
    )
    found: dict[str, Any] = {"name": case.name}
    if stratify is not None:
        found["chance"] = float(np.unique(y, return_counts=True)[1].max() / len(y))
    for method, search in {"lzo": GridSearchLZO, "cv": GridSearchCV}.items():
        fitted = search(clone(case.estimator), case.grid, scoring=case.scoring)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            started = time.process_time()
            fitted.fit(X, y)
            found[f"{method}_seconds"] = round(time.process_time() - started, 2)
            if method == "lzo":
                own = [one for one in caught if one.category.__module__.startswith("leavezero")]
                checks = [c.code for c in fitted.diagnose().checks if c.level == "warning"]
                chosen = fitted.selection_
                found["interval"] = [round(chosen.new_data_low, 4), round(chosen.new_data_high, 4)]
                found["warnings"] = sorted({one.category.__name__ for one in own} | set(checks))
            scorer = fitted.scorer_ if callable(fitted.scorer_) else get_scorer(case.scoring)
            found[f"{method}_test"] = round(float(scorer(fitted, X_test, y_test)), 4)
        found[f"{method}_best"] = round(float(fitted.best_score_), 4)
        found[f"{method}_params"] = str(fitted.best_params_)
    return found


def write_page() -> None:
    """Write the tables of all groups, and how many cases are within the tolerances."""
    lines = [
        "# Searches as users write them",
        "",
        "Written by `benchmarks/user_cases.py`. Scores on test rows of the model that each search",
        "selected, and its `best_score_`. Warnings are those of `fit` and `diagnose()`.",
        "",
    ]
    n_cases = n_choice = n_score = n_cv_score = n_covered = 0
    for group in GROUPS:
        path = FOLDER / f"{group}.json"
        if not path.exists():
            continue
        lines += [f"## {group}", ""]
        lines += [
            "| search | test, LZO | test, 5-fold CV | `best_score_`, LZO | 5-fold CV | warnings "
        ]
        lines[-1] += "| CPU s, LZO | 5-fold CV |"
        lines += ["|---|---|---|---|---|---|---|---|"]
        for one in json.loads(path.read_text()):
            if group == "noise":
                off = abs(one["lzo_best"] - one["chance"]) > NOISE_TOLERANCE
            else:
                off = abs(one["lzo_best"] - one["lzo_test"]) > SCORE_TOLERANCE
                n_cases += 1
                n_choice += one["lzo_test"] >= one["cv_test"] - TOLERANCE
                n_score += not off or bool(one["warnings"])
                n_cv_score += abs(one["cv_best"] - one["cv_test"]) <= SCORE_TOLERANCE
                low, high = one["interval"]
                n_covered += low <= one["lzo_test"] <= high
            warned = ", ".join(one["warnings"]) or ("(*)" if off else "")
            lines.append(
                f"| {one['name']} | {one['lzo_test']:.3f} | {one['cv_test']:.3f} "
                f"| {one['lzo_best']:.3f} | {one['cv_best']:.3f} | {warned} "
                f"| {one['lzo_seconds']:.1f} | {one['cv_seconds']:.1f} |"
            )
        lines += [""]
    lines += [
        f"Without the noise: test score at most {TOLERANCE} below that of 5-fold CV in {n_choice}",
        f"of {n_cases} searches; `best_score_` within {SCORE_TOLERANCE} of the test score, or a",
        f"warning, in {n_score} (that of 5-fold CV within {SCORE_TOLERANCE}: {n_cv_score}). The",
        f"95 % interval for new rows contains the test score in {n_covered}. (*) marks scores",
        f"outside of these limits without a warning; of noise, those more than {NOISE_TOLERANCE}",
        "from guessing the larger class.",
    ]
    (FOLDER / "user_cases.md").write_text("\n".join(lines) + "\n")


def main() -> None:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=GROUPS, help="a group; may be repeated")
    parser.add_argument("--report", action="store_true", help="only write the page again")
    options = parser.parse_args()
    FOLDER.mkdir(parents=True, exist_ok=True)
    for group in () if options.report else options.only or GROUPS:
        done = []
        for case in GROUPS[group]():
            with threadpool_limits(1):
                done.append(run_case(case))
            print(done[-1], flush=True)
        (FOLDER / f"{group}.json").write_text(json.dumps(done, indent=1) + "\n")
    write_page()


if __name__ == "__main__":
    main()
