"""Leave-zero-out against cross-validation: on a table (``compare``), on bundled data (``demo``)."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import typer
from joblib import Parallel, delayed, effective_n_jobs
from rich.table import Table
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline

from leavezero._typing import AnyArray
from leavezero.cli._output import (
    TableError,
    counted,
    make_table,
    output_directory,
    part_file,
    print_lines,
    print_notice,
    print_results,
    write_results,
)
from leavezero.cli._prepare_table import (
    MIN_ROWS,
    PreparedTable,
    TableOptions,
    metric_failure,
    prepare_frame,
    prepare_table,
)
from leavezero.cli._saved_model import current_versions
from leavezero.cli._search_table import (
    candidate_label,
    fit_search,
    make_search,
    recorded_warnings,
    search_progress,
)
from leavezero.diagnostics import format_score
from leavezero.report import plot_comparison, save_png

Rows = tuple[Any, AnyArray]  # X and y
OURS = "leave-zero-out"
# of the demo: the largest tables bundled with scikit-learn, one per task (digits are images)
_BUNDLED = {"breast cancer": load_breast_cancer, "diabetes": load_diabetes}
_DEMO_MODELS = ("linear", "boosting", "forest", "svm")


def run_compare(options: TableOptions) -> None:
    """Run both searches on each split, write and print the results; exit with 1 on Ctrl-C."""
    if options.repeats < 1:
        raise TableError(f"--repeats must be at least 1, got {options.repeats}.")
    prepared, out = prepare_table(options), options.out
    seeds = range(options.seed, options.seed + options.repeats)
    splits = [_split_rows(prepared, options, seed) for seed in seeds]
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
    with part_file(out / "compare.png") as part:
        save_png(part, plot_comparison, found, size=(560, 150 + 30 * options.repeats))
    written = f"Written to {out}: compare.csv, compare.json, compare.png"
    lines = [_table(found), *found["sentences"], written]
    print_results(found, lines, quiet=options.quiet, as_json=options.as_json)


def run_demo(*, seed: int, quick: bool, n_jobs: int) -> None:
    """Compare both methods on one split of each bundled table, and print the results."""
    print_notice(
        "leave-zero-out (GridSearchLZO's method) and GridSearchCV with 10 folds select among the "
        f"same candidates: {', '.join(_DEMO_MODELS)}, each with the grid of `leavezero select`.",
        "Data: the largest tables that scikit-learn bundles, one per task (digits are images).",
    )
    _start_workers(n_jobs)
    rows = []
    for name, load in list(_BUNDLED.items())[: 1 if quick else None]:
        options = TableOptions(
            Path(name), "target", models=_DEMO_MODELS, cv=10, jobs=n_jobs, seed=seed
        )
        prepared = prepare_frame(load(as_frame=True).frame, options, source={})
        split = _split_rows(prepared, options, seed)
        folds = _make_folds(prepared.target.task, split[0][1], options)
        found = _compare(prepared, options, split, folds, 1, print_notice)
        rows += [{"data": name, "metric": prepared.metric} | row for row in found]
    cells = [
        (row["data"], row["method"], row["selected"], row["n_fits"])
        + (f"{row['seconds']:.1f}", f"{row['held_out_score']:.3f} ({row['metric']})")
        for row in rows
    ]
    (fits, other_fits), (seconds, other_seconds) = (
        pd.DataFrame(rows).groupby("method", sort=False)[name].sum()
        for name in ("n_fits", "seconds")
    )
    differences = ", ".join(
        f"{own['held_out_score'] - other['held_out_score']:+.3f} ({own['data']}, {own['metric']})"
        for own, other in zip(rows[::2], rows[1::2], strict=True)
    )
    print_lines(
        make_table(
            f"Model selection on 70 % of the rows; the others are for testing (seed {seed})",
            ("data", "method", "selected"),
            ("fits", "seconds", "test score"),
            cells,
        ),
        f"{fits} fits in {seconds:.1f} s instead of {other_fits} fits in {other_seconds:.1f} s, "
        f"{other_seconds / seconds:.1f} times faster.",
        f"Test score minus that of 10-fold CV: {differences}.",
        "These are single splits of small tables (--seed N for others); means over many data sets "
        "are in docs/results.md.",
    )


def _start_workers(n_jobs: int) -> None:
    """Start parallel workers, which stay alive, so that the first search does not pay for it."""
    # A function of this module: each worker imports the packages that both searches use.
    Parallel(n_jobs)(delayed(_do_nothing)() for _ in range(2 * effective_n_jobs(n_jobs)))


def _do_nothing() -> None:
    pass


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
    ours, theirs = make_search(prepared, options), _grid_search(prepared, folds, options.jobs)
    for name, search in {OURS: ours, f"{folds.n_splits}-fold CV": theirs}.items():
        start(f"{options.table}, split {number}, {name}")
        started = time.perf_counter()
        if search is ours:
            fit_search(search, *train, options)
        else:
            search.fit(*train)
        seconds = time.perf_counter() - started
        if not np.isfinite(search.best_score_):
            raise TableError(
                f"{prepared.metric} has no value in cross-validation. Use another --metric, or "
                "fewer folds."
            )
        if search is ours:
            n_fits, selected = sum(search.fit_counts_.values()), search.best_params_
        else:
            n_fits = search.n_splits_ * len(search.cv_results_["params"]) + 1  # and the refit
            selected = _named_params(search.best_params_, prepared)
        yield {
            "split": number,
            "method": name,
            "selected": candidate_label(selected),
            "score": float(search.best_score_),
            "held_out_score": float(get_scorer(prepared.scoring)(search.best_estimator_, *test)),
            "n_fits": n_fits,
            "seconds": seconds,
        }


def _grid_search(prepared: PreparedTable, folds: Any, n_jobs: int) -> GridSearchCV:
    """Return a search by folds over several estimators, each with its grid."""
    grids = [
        {"candidate": [estimator]} | {f"candidate__{name}": grid[name] for name in grid}
        for estimator, grid in prepared.candidates.values()
    ]
    pipeline = Pipeline([("candidate", "passthrough")])
    return GridSearchCV(pipeline, grids, scoring=prepared.scoring, cv=folds, n_jobs=n_jobs)


def _named_params(params: dict[str, Any], prepared: PreparedTable) -> dict[str, Any]:
    """Return the parameters of a candidate, with the name of its estimator."""
    names = [n for n, (one, _) in prepared.candidates.items() if one is params["candidate"]]
    found = {name.removeprefix("candidate__"): value for name, value in params.items()}
    return found | {"candidate": names[0]}


def _summarize(
    prepared: PreparedTable,
    options: TableOptions,
    rows: list[dict[str, Any]],
    n_train: int,
    n_test: int,
) -> dict[str, Any]:
    """Return the means of both methods and their difference as plain values."""
    by_method = pd.DataFrame(rows).groupby("method", sort=False)
    means = by_method[["score", "held_out_score", "n_fits", "seconds"]].mean()
    ours, theirs = (own["held_out_score"].to_numpy() for _, own in by_method)
    differences = ours - theirs
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
        "methods": means.reset_index().to_dict("records"),
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
            format_score(one["score"]),
            format_score(one["held_out_score"]),
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
