"""Leave-zero-out against cross-validation: on a table (``compare``), on bundled data (``demo``)."""

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import typer
from joblib import Parallel, delayed, effective_n_jobs
from rich.table import Table
from scipy import stats
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, train_test_split
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR

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
from leavezero.report import plot_comparison, save_png
from leavezero.search import CandidateSearchLZO

Rows = tuple[Any, AnyArray]  # X and y
OURS = "leave-zero-out"
Candidates = dict[str, tuple[Any, dict[str, list[Any]]]]  # by name: estimator and grid
# The demo: the tables bundled with scikit-learn that have more than four columns (digits are
# images), four model types that are common for tables, and grids around scikit-learn's defaults.
_DATA = {"wine": load_wine, "breast cancer": load_breast_cancer, "diabetes": load_diabetes}
_GRIDS: dict[str, dict[str, list[Any]]] = {
    "logistic": {"C": [0.01, 0.1, 1, 10, 100]},
    "ridge": {"alpha": [0.01, 0.1, 1, 10, 100]},
    "SVM": {"C": [0.1, 1, 10, 100], "gamma": [0.001, 0.01, 0.1]},
    "forest": {
        "n_estimators": [50, 100],
        "max_features": [0.1, 0.3, 0.6],
        "min_samples_leaf": [1, 5],
    },
    "boosting": {
        "learning_rate": [0.05, 0.1, 0.2],
        "max_iter": [50, 100],
        "max_leaf_nodes": [7, 31],
    },
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
    with part_file(out / "compare.png") as part:
        save_png(part, plot_comparison, found, size=(560, 150 + 30 * options.repeats))
    written = f"Written to {out}: compare.csv, compare.json, compare.png"
    lines = [_table(found), *found["sentences"], written]
    print_results(found, lines, quiet=options.quiet, as_json=options.as_json)


def run_demo(*, seed: int, quick: bool, n_jobs: int) -> None:
    """Compare four model types on each data set by both methods, and print a table."""
    _start_workers(n_jobs)
    cells, totals = [], np.zeros((3, 2))
    for name, load in list(_DATA.items())[: 1 if quick else None]:
        X, y = load(return_X_y=True)
        classes = y if name != "diabetes" else None
        split = {"test_size": 0.3, "stratify": classes, "random_state": seed}
        X, X_test, y, y_test = train_test_split(X, y, **split)
        candidates = _demo_candidates(classes is not None, seed)
        scoring, kind = ("r2", KFold) if classes is None else ("accuracy", StratifiedKFold)
        folds = kind(5, shuffle=True, random_state=seed)
        selected, found = [], []
        for search in (
            CandidateSearchLZO(candidates, scoring=scoring, n_jobs=n_jobs, random_state=seed),
            _grid_search(candidates, scoring, folds, n_jobs),
        ):
            fits_and_seconds = _timed(search, partial(search.fit, X, y))
            score = get_scorer(scoring)(search.best_estimator_, X_test, y_test)
            selected.append(_selected(search, candidates)["candidate"])
            found.append((*fits_and_seconds, score))
        fits, seconds, scores = np.transpose(found)
        totals += np.transpose(found)
        print_notice(f"{name}: {seconds[0]:.1f} s and {seconds[1]:.1f} s")
        numbers = (*map("{:.0f}".format, fits), *map("{:.1f}".format, seconds))
        cells.append((name, *selected, *numbers, *map("{:.3f}".format, scores)))
    heads = [f"{what}, {by}" for what in ("fits", "s", "test score") for by in ("LZO", "CV")]
    fits, seconds, scores = totals / [[1], [1], [len(cells)]]
    print_lines(
        make_table(
            "leavezero (LZO) and GridSearchCV with 5 folds (CV)",
            ("data", "selected, LZO", "selected, CV"),
            heads,
            cells,
        ),
        f"Each search compares {len(search.cv_results_['params'])} candidates of four model types "
        f"on 70 % of the rows; the others are for testing (seed {seed}). Scores: accuracy, for "
        "diabetes R2.",
        f"{fits[0]:.0f} fits in {seconds[0]:.1f} s instead of {fits[1]:.0f} fits in "
        f"{seconds[1]:.1f} s, {seconds[1] / seconds[0]:.1f} times faster; mean test score "
        f"{scores[0]:.3f} instead of {scores[1]:.3f}.",
    )


def _demo_candidates(classification: bool, seed: int) -> Candidates:
    """Return four model types with their grids, all in a pipeline with a scaler."""
    models = (
        {
            "logistic": LogisticRegression(max_iter=1_000),
            "SVM": SVC(),
            "forest": RandomForestClassifier(random_state=seed),
            "boosting": HistGradientBoostingClassifier(random_state=seed),
        }
        if classification
        else {
            "ridge": Ridge(),
            "SVM": SVR(),
            "forest": RandomForestRegressor(random_state=seed),
            "boosting": HistGradientBoostingRegressor(random_state=seed),
        }
    )
    return {
        name: (
            Pipeline([("scale", StandardScaler()), ("model", model)]),
            _prefixed("model", _GRIDS[name]),
        )
        for name, model in models.items()
    }


def _prefixed(step: str, grid: dict[str, list[Any]]) -> dict[str, list[Any]]:
    """Return a grid for a step of a pipeline."""
    return {f"{step}__{name}": values for name, values in grid.items()}


def _timed(search: Any, fit: Callable[[], Any]) -> tuple[int, float]:
    """Fit a search; return the number of fits and seconds."""
    started = time.perf_counter()
    fit()
    seconds = time.perf_counter() - started
    if isinstance(search, GridSearchCV):
        return search.n_splits_ * len(search.cv_results_["params"]) + 1, seconds  # and the refit
    return sum(search.fit_counts_.values()), seconds


def _start_workers(n_jobs: int) -> None:
    """Start parallel workers, which stay alive, so that the first search does not pay for it."""
    # A function of this module: each worker imports the packages that both searches use.
    Parallel(n_jobs)(delayed(_prefixed)("step", {}) for _ in range(2 * effective_n_jobs(n_jobs)))


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
        f"{folds.n_splits}-fold CV": _grid_search(
            prepared.candidates, prepared.scoring, folds, options.jobs
        ),
    }
    for name, search in searches.items():
        start(f"split {number}, {name}")
        fit = partial(fit_search, search, *train, options)
        n_fits, seconds = _timed(search, fit if name == OURS else partial(search.fit, *train))
        if not np.isfinite(search.best_score_):
            raise TableError(
                f"{prepared.metric} has no value in cross-validation. Use another --metric, or "
                "fewer folds."
            )
        yield {
            "split": number,
            "method": name,
            "selected": label_of(*split_params(_selected(search, prepared.candidates))),
            "score": float(search.best_score_),
            "held_out_score": float(get_scorer(prepared.scoring)(search.best_estimator_, *test)),
            "n_fits": n_fits,
            "seconds": seconds,
        }


def _grid_search(candidates: Candidates, scoring: Any, folds: Any, n_jobs: int) -> GridSearchCV:
    """Return a search by folds over several estimators, each with its grid."""
    grids = [
        {"candidate": [estimator], **_prefixed("candidate", grid)}
        for estimator, grid in candidates.values()
    ]
    pipeline = Pipeline([("candidate", "passthrough")])
    return GridSearchCV(pipeline, grids, scoring=scoring, cv=folds, n_jobs=n_jobs)


def _selected(search: Any, candidates: Candidates) -> dict[str, Any]:
    """Return the parameters of the best candidate, with the name of its estimator."""
    if not isinstance(search, GridSearchCV):
        return dict(search.best_params_)
    params = {key.removeprefix("candidate__"): one for key, one in search.best_params_.items()}
    estimators = [estimator for estimator, _ in candidates.values()]
    return params | {"candidate": list(candidates)[estimators.index(params["candidate"])]}


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
