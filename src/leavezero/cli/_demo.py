"""``leavezero demo``: leave-zero-out against 10-fold cross-validation on bundled data."""

import time
from collections.abc import Iterator
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.cli._output import make_table, print_lines, print_notice
from leavezero.cli._search_table import fit_counts
from leavezero.search import GridSearchLZO

N_FOLDS = 10


def run_demo(*, seed: int, quick: bool, n_jobs: int) -> None:
    """Run all searches and print a table."""
    rows = []
    for row in demo_rows(seed=seed, quick=quick, n_jobs=n_jobs):
        print_notice(f"{row[0]}, {row[1]}, {row[2]}: {row[5]:.2f} s")
        rows.append(row)
    cells = [(*row[:5], f"{row[5]:.2f}", f"{row[6]:.4f}", f"{row[7]:.4f}") for row in rows]
    texts = ("data", "model", "search", "selected")
    numbers = ("fits", "seconds", "its score", "held-out accuracy")
    ours, theirs = (
        [sum(row[at] for row in rows[start::2]) for at in (4, 5, 7)] for start in (0, 1)
    )
    print_lines(
        [
            make_table("Leave-zero-out and 10-fold cross-validation", texts, numbers, cells),
            f"Leave-zero-out: {ours[0]} fits in {ours[1]:.1f} s. Cross-validation: {theirs[0]} "
            f"fits in {theirs[1]:.1f} s. Mean difference in held-out accuracy: "
            f"{200 * (ours[2] - theirs[2]) / len(rows):+.2f} percentage points.",
        ]
    )


def demo_rows(*, seed: int, quick: bool, n_jobs: int) -> Iterator[tuple[Any, ...]]:
    """Yield data, model, search, selected, fits, seconds, score and held-out accuracy."""
    # workers stay alive, so that the first search does not pay for their start
    Parallel(n_jobs)(delayed(int)() for _ in range(2 * effective_n_jobs(n_jobs)))
    loaders = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
    if quick:
        del loaders["digits"]
    for data, load in loaders.items():
        X, y = load(return_X_y=True)
        split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        for model, (pipeline, grid) in _grids().items():
            folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
            searches = {
                "leave-zero-out": GridSearchLZO(pipeline, grid, n_jobs=n_jobs, random_state=seed),
                f"{N_FOLDS}-fold CV": GridSearchCV(pipeline, grid, cv=folds, n_jobs=n_jobs),
            }
            for name, search in searches.items():
                yield _run(data, model, name, search, split)


def _grids() -> dict[str, tuple[Pipeline, dict[str, list[float]]]]:
    C = [10.0**power for power in range(-3, 4)]
    gamma = [10.0**power for power in range(-4, 0)]
    linear = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    rbf = make_pipeline(StandardScaler(), SVC(kernel="rbf"))
    return {
        "linear SVM": (linear, {"svc__C": C}),
        "RBF SVM": (rbf, {"svc__C": C[2:], "svc__gamma": gamma}),
    }


def _run(data: str, model: str, name: str, search: Any, split: list[Any]) -> tuple[Any, ...]:
    X_train, X_test, y_train, y_test = split
    started = time.perf_counter()
    search.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    if isinstance(search, GridSearchLZO):
        n_fits = sum(fit_counts(search).values())
    else:
        n_fits = search.n_splits_ * len(ParameterGrid(search.param_grid)) + 1  # and the refit
    params = search.best_params_.items()
    selected = ", ".join(f"{name.rpartition('__')[2]}={value:g}" for name, value in params)
    scores = float(search.best_score_), float(search.score(X_test, y_test))
    return data, model, name, selected, n_fits, seconds, *scores
