"""Leave-zero-out against cross-validation: on a table (``compare``), on bundled data (``demo``)."""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import typer
from joblib import Parallel, delayed, effective_n_jobs
from rich.table import Table
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
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
OURS = "leave-zero-out"
_DATA = {"breast cancer": load_breast_cancer, "wine": load_wine, "digits": load_digits}
_C = [10.0**power for power in range(-3, 4)]
_MODELS: dict[str, tuple[SVC, dict[str, list[float]]]] = {
    "linear SVM": (SVC(kernel="linear"), {"svc__C": _C}),
    "RBF SVM": (SVC(), {"svc__C": _C[2:], "svc__gamma": [1e-4, 1e-3, 1e-2, 1e-1]}),
}


def run_compare(options: TableOptions) -> None:
    """Run both searches on each split, write and print the results; exit with 1 on Ctrl-C."""
    if options.repeats < 1:
        raise TableError(f"--repeats must be at least 1, got {options.repeats}.")
    prepared, out = prepare_table(options), options.out
    splits = [_split_rows(prepared, options, seed) for seed in _seeds(options)]
    folds = [_make_folds(prepared.target.task, train[1], options) for train, _ in splits]
    n_train, n_test = (len(y) for _, y in splits[0])
    prepared.notices.append(f"{n_train:,} rows are for training; {n_test:,} rows are held out.")
    if not options.quiet:
        print_notice(*prepared.notices)
    try:
        with output_directory(out), search_progress(options.quiet) as start:
            _start_workers(options.jobs)
            with recorded_warnings(options.verbose) as notices:
                rows = [
                    row
                    for at, (split, cv) in enumerate(zip(splits, folds, strict=True))
                    for row in _compare(prepared, options, split, cv, at + 1, start)
                ]
    except KeyboardInterrupt:
        print_notice("Interrupted before all searches had finished. Nothing was written.")
        raise typer.Exit(1) from None
    found = _summarize(prepared, options, rows, n_train, n_test)
    found["notices"] = [*prepared.notices, *notices]
    found = write_results(out / "compare.json", out / "compare.csv", found)
    label = "held-out scores of both methods"
    size = (560, 150 + 30 * options.repeats)
    write_text(out / "compare.svg", to_svg(plot_comparison, found, label=label, size=size))
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


def _seeds(options: TableOptions) -> range:
    return range(options.seed, options.seed + options.repeats)


def _split_rows(prepared: PreparedTable, options: TableOptions, seed: int) -> tuple[Rows, Rows]:
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
    split = {"test_size": n_test, "random_state": seed, "stratify": strata}
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
    split: tuple[Rows, Rows],
    folds: Any,
    number: int,
    start: Callable[[str], None],
) -> Iterator[dict[str, Any]]:
    """Run both searches on the training rows; yield what each selected and its held-out score."""
    train, test = split
    searches = {
        OURS: make_search(prepared, options),
        f"{folds.n_splits}-fold CV": _grid_search(prepared, options, folds),
    }
    for name, search in searches.items():
        start(f"split {number}, {name}")
        started = time.perf_counter()
        if name == OURS:
            fit_search(search, *train, options)
            n_fits = sum(search.fit_counts_.values())
        else:
            search.fit(*train)
            n_fits = folds.n_splits * len(search.cv_results_["params"]) + 1  # and the refit
        seconds = time.perf_counter() - started
        if not np.isfinite(search.best_score_):
            raise TableError(
                f"{prepared.metric} has no value in cross-validation. Use another --metric, or "
                "fewer folds."
            )
        params = {
            key.removeprefix("candidate__"): value for key, value in search.best_params_.items()
        }
        if name != OURS:
            names = list(prepared.candidates)
            pipelines = [pipeline for pipeline, _ in prepared.candidates.values()]
            params["candidate"] = names[pipelines.index(params["candidate"])]
        yield {
            "split": number,
            "method": name,
            "selected": label_of(*split_params(params)),
            "score": float(search.best_score_),
            "held_out_score": float(get_scorer(prepared.scoring)(search.best_estimator_, *test)),
            "n_fits": n_fits,
            "seconds": seconds,
        }


def _grid_search(prepared: PreparedTable, options: TableOptions, folds: Any) -> GridSearchCV:
    grids = [
        {"candidate": [pipeline], **{f"candidate__{name}": grid[name] for name in grid}}
        for pipeline, grid in prepared.candidates.values()
    ]
    pipeline = Pipeline([("candidate", "passthrough")])
    return GridSearchCV(pipeline, grids, scoring=prepared.scoring, cv=folds, n_jobs=options.jobs)


def _summarize(
    prepared: PreparedTable,
    options: TableOptions,
    rows: list[dict[str, Any]],
    n_train: int,
    n_test: int,
) -> dict[str, Any]:
    """Return the means of both methods and their difference as plain values."""
    names = list(dict.fromkeys(row["method"] for row in rows))
    by_method = [[row for row in rows if row["method"] == name] for name in names]
    means = ("score", "held_out_score", "n_fits", "seconds")
    methods = [
        {"method": name} | {key: float(np.mean([row[key] for row in own])) for key in means}
        for name, own in zip(names, by_method, strict=True)
    ]
    ours, theirs = ([row["held_out_score"] for row in own] for own in by_method)
    differences = np.subtract(ours, theirs)
    half = np.nan
    if len(differences) > 1:
        # splits share rows: corrected variance of Nadeau and Bengio (2003)
        error = differences.std(ddof=1) * np.sqrt(1 / len(differences) + n_test / n_train)
        half = float(stats.t.ppf(0.975, len(differences) - 1) * error)
    found = {
        "command": options.command,
        "target": prepared.target.name,
        "task": prepared.target.task,
        "metric": prepared.metric,
        "seed": options.seed,
        "n_train": n_train,
        "n_test": n_test,
        "methods": methods,
        "difference": {"mean": float(differences.mean()), "half_width": half},
        "splits": rows,
        "versions": current_versions(),
    }
    return found | {"sentences": list(_sentences(found))}


def _sentences(found: dict[str, Any]) -> Iterator[str]:
    ours, theirs = found["methods"]
    mean, half = found["difference"].values()
    interval = f" (95 % interval {mean - half:+.4f} to {mean + half:+.4f})" if half >= 0 else ""
    yield f"Mean difference in held-out {found['metric']}, {OURS} minus CV: {mean:+.4f}{interval}."
    same = sum(
        first["selected"] == second["selected"]
        for first, second in zip(found["splits"][::2], found["splits"][1::2], strict=True)
    )
    yield f"Both selected the same candidate in {same} of {len(found['splits']) // 2} splits."
    yield f"Cross-validation took {theirs['seconds'] / ours['seconds']:.1f} times as long."


def _table(found: dict[str, Any]) -> Table:
    rows = [
        (
            one["method"],
            score_text(one["score"]),
            score_text(one["held_out_score"]),
            f"{one['n_fits']:,.0f}",
            f"{one['seconds']:.1f}",
        )
        for one in found["methods"]
    ]
    n_splits = len(found["splits"]) // 2
    title = f"{found['target']}: mean {found['metric']} over {counted(n_splits, 'split')}, "
    return make_table(
        f"{title}{counted(found['n_test'], 'held-out row')} each",
        ("method",),
        ("its own score", "held-out score", "fits", "seconds"),
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
