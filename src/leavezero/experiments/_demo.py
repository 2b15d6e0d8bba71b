"""The first thing a newcomer runs: leave-zero-out beside 10-fold cross validation."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.model_selection import GridSearchCV, ParameterGrid, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero.search import GridSearchLZO

N_FOLDS = 10
LEAVE_ZERO_OUT = "LZO"


@dataclass(frozen=True)
class DemoRow:
    """One search: what it cost, what it chose, and how good the choice is on unseen rows.

    Examples
    --------
    >>> from leavezero.experiments import DemoRow
    >>> DemoRow("wine", "RBF SVM", "LZO", 9, 0.2, {"C": 1.0}, 0.99, 0.98).n_fits
    9
    """

    data: str
    model: str
    way: str
    n_fits: int
    seconds: float
    params: dict[str, Any]
    validation_score: float
    test_accuracy: float


def run_demo(*, seed: int = 0, quick: bool = False, n_jobs: int | None = 1) -> Iterator[DemoRow]:
    """Yield a row for each data set, model and way of searching, as soon as it is known.

    Parameters
    ----------
    seed : int, default=0
        Splits off the test part, shuffles the folds and draws the validation set.
    quick : bool, default=False
        Only the two small data sets.
    n_jobs : int or None, default=1
        The number of workers of each search.

    Examples
    --------
    >>> from leavezero.experiments import run_demo
    >>> row = next(run_demo(quick=True))
    >>> row.data, row.way, row.n_fits
    ('breast cancer', 'LZO', 7)
    """
    _start_workers(n_jobs)
    loaders = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
    if quick:
        del loaders["digits"]
    for data, load in loaders.items():
        X, y = load(return_X_y=True)
        split = train_test_split(X, y, test_size=0.3, stratify=y, random_state=seed)
        for model, (pipeline, grid) in demo_grids().items():
            folds = StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed)
            for search in (
                GridSearchLZO(pipeline, grid, n_jobs=n_jobs, random_state=seed),
                GridSearchCV(pipeline, grid, cv=folds, n_jobs=n_jobs),
            ):
                yield _run_one(data, model, search, split)


def demo_grids() -> dict[str, tuple[Pipeline, dict[str, list[float]]]]:
    """Return the two models of the demo, each with its grid.

    Examples
    --------
    >>> from leavezero.experiments import demo_grids
    >>> sorted(demo_grids())
    ['RBF SVM', 'linear SVM']
    """
    strengths = [10.0**power for power in range(-3, 4)]
    widths = [10.0**power for power in range(-4, 0)]
    linear = make_pipeline(StandardScaler(), SVC(kernel="linear"))
    rbf = make_pipeline(StandardScaler(), SVC(kernel="rbf"))
    return {
        "linear SVM": (linear, {"svc__C": strengths}),
        "RBF SVM": (rbf, {"svc__C": strengths[2:], "svc__gamma": widths}),
    }


def _start_workers(n_jobs: int | None) -> None:
    """Start joblib's workers, which live on, so that the first search is not charged for it."""
    tasks = 2 * effective_n_jobs(n_jobs)
    Parallel(n_jobs=n_jobs)(delayed(demo_grids)() for _ in range(tasks))


def _run_one(data: str, model: str, search: Any, split: list[Any]) -> DemoRow:
    X_train, X_test, y_train, y_test = split
    started = time.perf_counter()
    search.fit(X_train, y_train)
    seconds = time.perf_counter() - started
    return DemoRow(
        data=data,
        model=model,
        way=LEAVE_ZERO_OUT if isinstance(search, GridSearchLZO) else f"{N_FOLDS}-fold CV",
        n_fits=_count_fits(search),
        seconds=seconds,
        params={name.rpartition("__")[2]: value for name, value in search.best_params_.items()},
        validation_score=float(search.best_score_),
        test_accuracy=float(search.score(X_test, y_test)),
    )


def _count_fits(search: Any) -> int:
    if isinstance(search, GridSearchLZO):
        return search.n_fits_
    return search.n_splits_ * len(ParameterGrid(search.param_grid)) + 1  # and the refit
