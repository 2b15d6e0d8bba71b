"""``leavezero compare``: leave-zero-out against cross-validation on held-out rows of a table."""

import json
import logging
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, effective_n_jobs
from sklearn.base import clone
from sklearn.metrics import get_scorer
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    ParameterGrid,
    StratifiedKFold,
    train_test_split,
)
from sklearn.pipeline import Pipeline

from leavezero._typing import AnyArray, Floats
from leavezero.cli._messages import TableError, counted, format_score, label_of
from leavezero.cli._output import (
    make_table,
    output_directory,
    print_lines,
    print_notice,
    search_progress,
    write_candidates,
    write_json,
    write_text,
)
from leavezero.cli._prepare_table import (
    MIN_ROWS,
    PreparedTable,
    TableOptions,
    metric_failure,
    prepare_table,
)
from leavezero.cli._read_table import base_name
from leavezero.cli._saved_model import current_versions
from leavezero.cli._search_table import (
    CandidateDone,
    candidates_reported,
    comparison_svg,
    fit_counts,
    fit_search,
    make_search,
    recorded_warnings,
    split_params,
)

Rows = tuple[Any, AnyArray]  # X and y
_LOGGER = logging.getLogger("leavezero")


@dataclass(frozen=True, eq=False)
class Scored:
    """The scores that one search gives to all candidates, and the model that it returns."""

    scores: Floats
    best: int
    model: Any
    n_fits: int


def run_compare(
    table: Path,
    options: TableOptions,
    *,
    cv: int,
    test_size: float,
    out: Path | None,
    quiet: bool,
    as_json: bool,
) -> bool:
    """Run both searches, write the results to a directory and print them."""
    out = Path(f"leavezero-{base_name(table)}") if out is None else out
    prepared = prepare_table(table, options)
    train, test = split_rows(prepared, test_size, options.seed)
    folds = make_folds(prepared.target.task, train[1], cv, options.seed)
    n_train, n_test = len(train[1]), len(test[1])
    prepared.notices.append(f"{n_train:,} rows are for training; {n_test:,} rows are held out.")
    for notice in () if quiet else prepared.notices:
        print_notice(notice)
    try:
        with output_directory(out), search_progress(quiet) as progress:
            found = _compare(prepared, options, train, test, folds, progress)
    except KeyboardInterrupt:
        print_notice("Interrupted before both searches had finished. Nothing was written.")
        return False
    found = write_json(out / "compare.json", found)
    write_candidates(out / "compare.csv", found["candidates"])
    write_text(out / "compare.svg", comparison_svg(found))
    if as_json:
        print(json.dumps(found))
    elif not quiet:
        print_lines(
            [_table(found), *found["sentences"], f"Written to {out}: compare.csv, .json, .svg"]
        )
    return True


def split_rows(prepared: PreparedTable, test_size: float, seed: int) -> tuple[Rows, Rows]:
    """Return training rows and held-out rows, stratified if every class has two rows."""
    y, n_rows = prepared.target.values, len(prepared.target.values)
    n_test = max(1, round(test_size * n_rows))
    if not 0 < test_size < 1 or n_rows - n_test < MIN_ROWS:
        raise TableError(
            f"--test-size must be between 0 and 1 and leave at least {MIN_ROWS} of {n_rows} rows "
            f"for training, got {test_size:g}."
        )
    counts = np.unique(y, return_counts=True)[1]
    stratify = (
        prepared.target.task == "classification"
        and counts.min() >= 2
        and len(counts) <= min(n_test, n_rows - n_test)
    )
    parts = train_test_split(
        np.arange(n_rows), test_size=n_test, random_state=seed, stratify=y if stratify else None
    )
    train, test = (
        (prepared.X.iloc[np.sort(rows)].reset_index(drop=True), y[np.sort(rows)]) for rows in parts
    )
    reason = metric_failure(prepared.scoring, prepared.target.task, train[1], test[1])
    if reason is not None:
        raise TableError(
            f"--metric {prepared.metric} has no value on the held-out rows: {reason} Use another."
        )
    return train, test


def make_folds(task: str, y: AnyArray, cv: int, seed: int) -> KFold | StratifiedKFold:
    """Return shuffled folds, stratified for classification."""
    classes = task == "classification"
    most = int(np.unique(y, return_counts=True)[1].max()) if classes else len(y)
    if not 2 <= cv <= most:
        what = "training rows of the largest class" if classes else "training rows"
        raise TableError(f"--cv must be between 2 and {most}, the number of {what}, got {cv}.")
    return (StratifiedKFold if classes else KFold)(cv, shuffle=True, random_state=seed)


def _compare(
    prepared: PreparedTable,
    options: TableOptions,
    train: Rows,
    test: Rows,
    folds: Any,
    progress: Callable[[str, CandidateDone], None],
) -> dict[str, Any]:
    """Run both searches, score all candidates on the held-out rows, and return plain values."""
    params = [
        {"candidate": name, **one}
        for name, (_, grid) in prepared.candidates.items()
        for one in ParameterGrid(grid)
    ]
    names = ("leave-zero-out", f"{folds.n_splits}-fold CV")
    with recorded_warnings() as notices:
        # workers stay alive, so that the first search does not pay for their start
        Parallel(options.jobs)(delayed(int)() for _ in range(2 * effective_n_jobs(options.jobs)))
        started = time.perf_counter()
        with candidates_reported(partial(progress, names[0])):
            ours = _leave_zero_out(prepared, options, train, params)
        between = time.perf_counter()
        progress(names[1], CandidateDone(0, len(params), "", None))
        theirs = _cross_validate(prepared, options, train, folds)
        times = (between - started, time.perf_counter() - between)
        scorer = get_scorer(prepared.scoring)
        tasks = (delayed(_test_score)(_build(prepared, p), scorer, train, test) for p in params)
        tests = np.array(Parallel(n_jobs=options.jobs)(tasks), dtype=np.float64)
    searches = [
        {
            "name": name,
            "label": label_of(*split_params(params[one.best])),
            "score": float(one.scores[one.best]),
            "test_score": float(tests[one.best]),
            "regret": float(np.nanmax(tests) - tests[one.best]),
            "n_fits": one.n_fits,
            "seconds": seconds,
        }
        for name, one, seconds in zip(names, (ours, theirs), times, strict=True)
    ]
    candidates = [
        {
            "label": label_of(*split_params(params[at])),
            "model": split_params(params[at])[0],
            "params": split_params(params[at])[1],
            "test_score": float(tests[at]),
            "leave_zero_out_score": float(ours.scores[at]),
            "cross_validation_score": float(theirs.scores[at]),
            "selected_by_leave_zero_out": bool(at == ours.best),
            "selected_by_cross_validation": bool(at == theirs.best),
        }
        for at in np.argsort(-tests, kind="stable")  # NaN is last
    ]
    better = _better_rows(prepared.target.task, ours.model, theirs.model, *test)
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
        "candidates": candidates,
        "notices": [*prepared.notices, *notices],
        "versions": current_versions(),
    }


def _leave_zero_out(
    prepared: PreparedTable, options: TableOptions, train: Rows, params: list[Any]
) -> Scored:
    search = make_search(prepared, options)
    fit_search(search, *train, options)
    places = [search.cv_results_["params"].index(one) for one in params]
    scores = np.asarray(search.cv_results_["mean_test_score"], dtype=np.float64)[places]
    best, n_fits = params.index(search.best_params_), sum(fit_counts(search).values())
    return Scored(scores, best, search.best_estimator_, n_fits)


def _cross_validate(
    prepared: PreparedTable, options: TableOptions, train: Rows, folds: Any
) -> Scored:
    """Score all candidates on the same folds and refit the best one on all rows."""
    grids = [
        {"candidate": [pipeline], **{f"candidate__{name}": grid[name] for name in grid}}
        for pipeline, grid in prepared.candidates.values()
    ]
    search = GridSearchCV(
        Pipeline([("candidate", "passthrough")]),
        grids,
        scoring=prepared.scoring,
        cv=folds,
        n_jobs=options.jobs,
    )
    search.fit(*train)
    scores = np.asarray(search.cv_results_["mean_test_score"], dtype=np.float64)
    if np.isnan(scores).all():
        raise TableError(
            f"{prepared.metric} has no value in cross-validation. Use another --metric, or fewer "
            "folds."
        )
    n_fits = folds.n_splits * len(scores) + 1
    return Scored(scores, int(search.best_index_), search.best_estimator_, n_fits)


def _build(prepared: PreparedTable, params: dict[str, Any]) -> Any:
    own = dict(params)
    return clone(prepared.candidates[own.pop("candidate")][0]).set_params(**own)


def _test_score(pipeline: Any, scorer: Any, train: Rows, test: Rows) -> float:
    try:
        return float(scorer(pipeline.fit(*train), *test))
    except ValueError:
        _LOGGER.debug("A candidate failed on the held-out rows.", exc_info=True)
        return np.nan


def _better_rows(task: str, first: Any, second: Any, X: Any, y: AnyArray) -> list[int]:
    """Return how many rows each of two models predicts better than the other."""
    predictions = [model.predict(X) for model in (first, second)]
    if task == "classification":
        errors = [(one != y).astype(float) for one in predictions]
    else:
        errors = [np.abs(one - y) for one in predictions]
    return [int((errors[0] < errors[1]).sum()), int((errors[1] < errors[0]).sum())]


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


def _table(found: dict[str, Any]) -> Any:
    best = found["candidates"][0]
    rows = [
        (
            one["name"],
            one["label"],
            *(format_score(one[name]) for name in ("score", "test_score", "regret")),
            f"{one['n_fits']:,}",
            f"{one['seconds']:.1f}",
        )
        for one in found["searches"]
    ]
    rows.append(("best on held-out rows", best["label"], "", format_score(best["test_score"])))
    return make_table(
        f"{found['target']}: {found['metric']} on {counted(found['n_test'], 'held-out row')}",
        ("search", "selected"),
        ("its score", "held-out score", "regret", "fits", "seconds"),
        rows,
    )
