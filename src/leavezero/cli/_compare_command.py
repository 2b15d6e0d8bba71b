"""Leave-zero-out against cross-validation: on a table (``compare``), on bundled data (``demo``)."""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pandas as pd
import typer
from joblib import Parallel, delayed, effective_n_jobs
from rich.table import Table
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ParameterGrid,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from leavezero._typing import AnyArray
from leavezero.cli._output import (
    TableError,
    counted,
    make_table,
    output_directory,
    print_lines,
    print_notice,
    print_results,
    write_results,
    write_text,
)
from leavezero.cli._prepare_table import (
    MIN_ROWS,
    PreparedTable,
    TableOptions,
    metric_failure,
    prepare_table,
)
from leavezero.cli._saved_model import current_versions
from leavezero.cli._search_table import (
    fit_search,
    label_of,
    make_search,
    recorded_warnings,
    score_text,
    search_progress,
    split_params,
)
from leavezero.report import plot_comparison, to_svg
from leavezero.search import GridSearchLZO

Rows = tuple[Any, AnyArray]  # X and y
_LOGGER = logging.getLogger("leavezero")
_DATA = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
_C = [10.0**power for power in range(-3, 4)]
_MODELS: dict[str, tuple[SVC, dict[str, list[float]]]] = {
    "linear SVM": (SVC(kernel="linear"), {"svc__C": _C}),
    "RBF SVM": (SVC(), {"svc__C": _C[2:], "svc__gamma": [1e-4, 1e-3, 1e-2, 1e-1]}),
}


def run_compare(options: TableOptions) -> None:
    """Run both searches, write the results to a directory and print them; exit with 1 on Ctrl-C."""
    prepared, out = prepare_table(options), options.out
    train, test = _split_rows(prepared, options)
    folds = _make_folds(prepared.target.task, train[1], options)
    n_train, n_test = len(train[1]), len(test[1])
    prepared.notices.append(f"{n_train:,} rows are for training; {n_test:,} rows are held out.")
    if not options.quiet:
        print_notice(*prepared.notices)
    try:
        with output_directory(out), search_progress(options.quiet) as start:
            found = _compare(prepared, options, train, test, folds, start)
    except KeyboardInterrupt:
        print_notice("Interrupted before both searches had finished. Nothing was written.")
        raise typer.Exit(1) from None
    found = write_results(out / "compare.json", out / "compare.csv", found)
    label = "scores of the candidates by both methods"
    write_text(out / "compare.svg", to_svg(plot_comparison, found, label=label))
    written = f"Written to {out}: compare.csv, compare.json, compare.svg"
    lines = [_table(found), *found["sentences"], written]
    print_results(found, lines, quiet=options.quiet, as_json=options.as_json)


def run_demo(*, seed: int, quick: bool, n_jobs: int) -> None:
    """Run all searches and print a table."""
    _start_workers(n_jobs)
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
                rows.append((data, model, name, *_run_search(search, split)))
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


def _start_workers(n_jobs: int) -> None:
    """Start parallel workers, which stay alive, so that the first search does not pay for it."""
    Parallel(n_jobs)(delayed(int)() for _ in range(2 * effective_n_jobs(n_jobs)))


def _split_rows(prepared: PreparedTable, options: TableOptions) -> tuple[Rows, Rows]:
    """Return training rows and held-out rows, stratified if every class has two rows."""
    y, task = prepared.target.values, prepared.target.task
    n_rows, n_test = len(y), max(1, round(options.test_size * len(y)))
    if not 0 < options.test_size < 1 or n_rows - n_test < MIN_ROWS:
        raise TableError(
            f"--test-size must be between 0 and 1 and leave at least {MIN_ROWS} of {n_rows} rows "
            f"for training, got {options.test_size:g}."
        )
    counts = np.unique(y, return_counts=True)[1]
    stratify = task == "classification" and counts.min() >= 2
    stratify = stratify and len(counts) <= min(n_test, n_rows - n_test)
    strata = y if stratify else None
    split = {"test_size": n_test, "random_state": options.seed, "stratify": strata}
    parts = [np.sort(rows) for rows in train_test_split(np.arange(n_rows), **split)]
    train, test = ((prepared.X.iloc[rows].reset_index(drop=True), y[rows]) for rows in parts)
    reason = metric_failure(prepared.scoring, task, train[1], test[1])
    if reason is not None:
        raise TableError(
            f"--metric {prepared.metric} has no value on the held-out rows: {reason} Use another."
        )
    return train, test


def _make_folds(task: str, y: AnyArray, options: TableOptions) -> KFold | StratifiedKFold:
    """Return shuffled folds, stratified for classification."""
    classes, cv = task == "classification", options.cv
    most = int(np.unique(y, return_counts=True)[1].max()) if classes else len(y)
    if not 2 <= cv <= most:
        what = "training rows of the largest class" if classes else "training rows"
        raise TableError(f"--cv must be between 2 and {most}, the number of {what}, got {cv}.")
    return (StratifiedKFold if classes else KFold)(cv, shuffle=True, random_state=options.seed)


def _compare(
    prepared: PreparedTable,
    options: TableOptions,
    train: Rows,
    test: Rows,
    folds: Any,
    start: Callable[[str], None],
) -> dict[str, Any]:
    """Run both searches, score all candidates on the held-out rows, and return plain values."""
    names = ("leave-zero-out", f"{folds.n_splits}-fold CV")
    ours = make_search(prepared, options)
    with recorded_warnings() as notices:
        _start_workers(options.jobs)
        start(names[0])
        times = [time.perf_counter()]
        fit_search(ours, *train, options)
        times.append(time.perf_counter())
        start(names[1])
        theirs = _cross_validate(prepared, options, train, folds)
        times.append(time.perf_counter())
        scorer = get_scorer(prepared.scoring)
        grids = {name: ParameterGrid(grid) for name, (_, grid) in prepared.candidates.items()}
        tasks = (
            delayed(_test_score)(prepared.candidates[name][0], one, scorer, train, test)
            for name, grid in grids.items()
            for one in grid
        )
        tests = np.array(Parallel(n_jobs=options.jobs)(tasks), dtype=np.float64)
    params = [{"candidate": name, **one} for name, grid in grids.items() for one in grid]
    places = [ours.cv_results_["params"].index(one) for one in params]
    scores = (ours.cv_results_["mean_test_score"][places], theirs.cv_results_["mean_test_score"])
    best = (params.index(ours.best_params_), int(theirs.best_index_))
    n_fits = (sum(ours.fit_counts_.values()), folds.n_splits * len(params) + 1)
    models, own_params = zip(*map(split_params, params), strict=True)
    labels = list(map(label_of, models, own_params))
    searches = [
        {
            "name": names[one],
            "label": labels[best[one]],
            "score": float(scores[one][best[one]]),
            "test_score": float(tests[best[one]]),
            "regret": float(np.nanmax(tests) - tests[best[one]]),
            "n_fits": n_fits[one],
            "seconds": times[one + 1] - times[one],
        }
        for one in range(2)
    ]
    columns = {
        "label": labels,
        "model": models,
        "params": own_params,
        "test_score": tests,
        "leave_zero_out_score": scores[0],
        "cross_validation_score": scores[1],
        "selected_by_leave_zero_out": np.arange(len(params)) == best[0],
        "selected_by_cross_validation": np.arange(len(params)) == best[1],
    }
    candidates = pd.DataFrame(columns).sort_values("test_score", ascending=False, kind="stable")
    better = _better_rows(prepared.target.task, ours, theirs, *test)
    return {
        "command": options.command,
        "target": prepared.target.name,
        "task": prepared.target.task,
        "metric": prepared.metric,
        "seed": options.seed,
        "n_train": len(train[1]),
        "n_test": len(test[1]),
        "searches": searches,
        "rows_predicted_better": better,
        "sentences": list(_sentences(searches, better, len(test[1]), options.seed)),
        "candidates": candidates.to_dict("records"),
        "notices": [*prepared.notices, *notices],
        "versions": current_versions(),
    }


def _cross_validate(
    prepared: PreparedTable, options: TableOptions, train: Rows, folds: Any
) -> GridSearchCV:
    """Score all candidates on the same folds and refit the best one on all rows."""
    grids = [
        {"candidate": [pipeline], **{f"candidate__{name}": grid[name] for name in grid}}
        for pipeline, grid in prepared.candidates.values()
    ]
    pipeline = Pipeline([("candidate", "passthrough")])
    search = GridSearchCV(pipeline, grids, scoring=prepared.scoring, cv=folds, n_jobs=options.jobs)
    search.fit(*train)
    if np.isnan(search.cv_results_["mean_test_score"]).all():
        raise TableError(
            f"{prepared.metric} has no value in cross-validation. Use another --metric, or fewer "
            "folds."
        )
    return search


def _test_score(
    pipeline: Any, params: dict[str, Any], scorer: Any, train: Rows, test: Rows
) -> float:
    try:
        return float(scorer(clone(pipeline).set_params(**params).fit(*train), *test))
    except ValueError:
        _LOGGER.debug("A candidate failed on the held-out rows.", exc_info=True)
        return np.nan


def _better_rows(task: str, first: Any, second: Any, X: Any, y: AnyArray) -> list[int]:
    """Return how many rows each of two models predicts better than the other."""
    predictions = [model.predict(X) for model in (first, second)]
    ours, theirs = (one != y if task == "classification" else abs(one - y) for one in predictions)
    return [int((ours < theirs).sum()), int((theirs < ours).sum())]


def _sentences(
    searches: list[dict[str, Any]], better: list[int], n_test: int, seed: int
) -> Iterator[str]:
    ours, theirs = searches
    if ours["label"] == theirs["label"]:
        yield f"Both searches selected the same candidate, {ours['label']}."
    else:
        # sign test, normal approximation
        significant = abs(better[0] - better[1]) > 1.96 * np.sqrt(sum(better))
        yield (
            f"On {counted(n_test, 'held-out row')} the selection of leave-zero-out scores "
            f"{ours['test_score'] - theirs['test_score']:+.4g} compared with cross-validation. It "
            f"predicts {better[0]:,} rows better and {better[1]:,} worse, which is "
            f"{'' if significant else 'not '}significant at the 5 % level."
        )
    yield (
        f"Leave-zero-out: {ours['n_fits']:,} fits in {ours['seconds']:.1f} s. Cross-validation: "
        f"{theirs['n_fits']:,} fits in {theirs['seconds']:.1f} s."
    )
    yield f"One split is one sample: repeat with other seeds, such as --seed {seed + 1}."


def _table(found: dict[str, Any]) -> Table:
    best = found["candidates"][0]
    rows = [
        (
            one["name"],
            one["label"],
            *(score_text(one[name]) for name in ("score", "test_score", "regret")),
            f"{one['n_fits']:,}",
            f"{one['seconds']:.1f}",
        )
        for one in found["searches"]
    ]
    rows.append(("best on held-out rows", best["label"], "", score_text(best["test_score"])))
    return make_table(
        f"{found['target']}: {found['metric']} on {counted(found['n_test'], 'held-out row')}",
        ("search", "selected"),
        ("its score", "held-out score", "regret", "fits", "seconds"),
        rows,
    )


def _run_search(search: Any, split: list[Any]) -> tuple[Any, ...]:
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
