"""``leavezero demo``: leave-zero-out against 10-fold cross-validation on bundled data."""

import time
from typing import Any

from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, StratifiedKFold, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.cli._compare_command import start_workers
from leavezero.cli._output import make_table, print_lines, print_notice
from leavezero.search import GridSearchLZO

_DATA = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
_C = [10.0**power for power in range(-3, 4)]
_MODELS: dict[str, tuple[SVC, dict[str, list[float]]]] = {
    "linear SVM": (SVC(kernel="linear"), {"svc__C": _C}),
    "RBF SVM": (SVC(), {"svc__C": _C[2:], "svc__gamma": [1e-4, 1e-3, 1e-2, 1e-1]}),
}


def run_demo(*, seed: int, quick: bool, n_jobs: int) -> None:
    """Run all searches and print a table."""
    start_workers(n_jobs)
    rows: list[tuple[Any, ...]] = []
    for data, load in list(_DATA.items())[: 2 if quick else 3]:
        X, y = load(return_X_y=True)
        split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        for model, (svc, grid) in _MODELS.items():
            pipeline = make_pipeline(StandardScaler(), svc)
            folds = StratifiedKFold(10, shuffle=True, random_state=seed)
            for name, search in {
                "leave-zero-out": GridSearchLZO(pipeline, grid, n_jobs=n_jobs, random_state=seed),
                "10-fold CV": GridSearchCV(pipeline, grid, cv=folds, n_jobs=n_jobs),
            }.items():
                rows.append((data, model, name, *_run(search, split)))
                print_notice(f"{data}, {model}, {name}: {rows[-1][5]:.2f} s")
    texts = ("data", "model", "search", "selected")
    numbers = ("fits", "seconds", "its score", "held-out accuracy")
    cells = [(*row[:5], f"{row[5]:.2f}", f"{row[6]:.4f}", f"{row[7]:.4f}") for row in rows]
    ours, theirs = (
        [sum(row[at] for row in rows[first::2]) for at in (4, 5, 7)] for first in (0, 1)
    )
    print_lines(
        make_table("Leave-zero-out and 10-fold cross-validation", texts, numbers, cells),
        f"Leave-zero-out: {ours[0]} fits in {ours[1]:.1f} s. Cross-validation: {theirs[0]} "
        f"fits in {theirs[1]:.1f} s. Mean difference in held-out accuracy: "
        f"{200 * (ours[2] - theirs[2]) / len(rows):+.2f} percentage points.",
    )


def _run(search: Any, split: list[Any]) -> tuple[Any, ...]:
    """Return the selected parameters, the number of fits, seconds, score and test accuracy."""
    X_train, X_test, y_train, y_test = split
    started = time.perf_counter()
    search.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    if isinstance(search, GridSearchLZO):
        n_fits = sum(search.fit_counts_.values())
    else:
        n_fits = search.n_splits_ * len(search.cv_results_["params"]) + 1  # and the refit
    params = search.best_params_.items()
    selected = ", ".join(f"{name.rpartition('__')[2]}={value:g}" for name, value in params)
    return selected, n_fits, seconds, search.best_score_, search.score(X_test, y_test)
