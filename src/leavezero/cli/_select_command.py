"""``leavezero select``: from a table to a model, a report and metadata."""

import hashlib
import shlex
import time
from collections.abc import Iterator
from typing import Any

import typer
from rich.table import Table
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from leavezero.cli._model_specs import BASELINE
from leavezero.cli._output import (
    make_table,
    output_directory,
    print_notice,
    print_results,
    write_results,
    write_text,
)
from leavezero.cli._prepare_table import PreparedTable, TableOptions, prepare_table
from leavezero.cli._saved_model import TableModel, current_versions, save_model
from leavezero.cli._search_table import (
    candidate_rows,
    fit_search,
    label_of,
    make_search,
    recorded_warnings,
    score_text,
    search_progress,
)
from leavezero.diagnostics import DiagnosticReport

_CV_FOLDS = 10  # of the cross-validation whose cost is shown


def run_select(options: TableOptions) -> None:
    """Select a model, write and print the results; on Ctrl-C those of the best candidate so far."""
    prepared, out = prepare_table(options), options.out
    if not options.quiet:
        print_notice(*prepared.notices)
    resume = " Run the same command again to continue." if options.checkpoint else ""
    search, started, interrupted = make_search(prepared, options), time.perf_counter(), False
    diagnostics = DiagnosticReport((), seconds=0.0)
    with output_directory(out), search_progress(options.quiet), recorded_warnings() as notices:
        try:
            fit_search(search, prepared.X, prepared.target.values, options)
        except KeyboardInterrupt:
            interrupted = True
            if not hasattr(search, "best_estimator_"):
                print_notice(f"Interrupted before the first candidate finished.{resume}")
                raise typer.Exit(1) from None
        try:
            diagnostics = search.diagnose(permutation=not interrupted)
        except KeyboardInterrupt:
            interrupted = True
    run: dict[str, Any] = {
        "interrupted": interrupted,
        "seconds": time.perf_counter() - started,
        "diagnostics": diagnostics.to_dict(),
    }
    run = _write(prepared, options, search, run, notices)
    report, title = out / "report.html", f"{options.target} of {options.table.name}"
    report.unlink(missing_ok=True)  # of an earlier run
    try:
        page = search.to_html(diagnostics=diagnostics, title=title, command=options.command)
        write_text(report, page)
    except KeyboardInterrupt:
        print_notice("Interrupted while the report was written; the other files are complete.")
    if not options.quiet:
        print_notice(*notices)
    print_results(run, _summary(run, options), quiet=options.quiet, as_json=options.as_json)
    if interrupted:
        print_notice(
            f"Interrupted after {len(run['candidates'])} of {run['n_candidates']} candidates. The "
            f"best of these is in {out}.{resume}"
        )
        raise typer.Exit(1)


def _write(
    prepared: PreparedTable,
    options: TableOptions,
    search: Any,
    run: dict[str, Any],
    notices: list[str],
) -> dict[str, Any]:
    """Write model and results; return the content of run.json."""
    target = prepared.target
    # the cleaner was fitted before the search, on the same rows
    pipeline = Pipeline([("clean", prepared.cleaner), *search.best_estimator_.steps])
    model = TableModel(pipeline, target.name, target.task, prepared.kinds, current_versions())
    unknown_types = save_model(model, options.out / "model.skops")
    if unknown_types:
        words = " ".join(f"--trusted {name}" for name in unknown_types)
        notices.append(f"To load this model, predict requires {words}")
    rows = candidate_rows(search)
    with options.table.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    run |= {
        "command": options.command,
        "table": {
            "path": str(options.table),
            "sha256": sha256,
            "n_rows": len(target.known),
            "n_train": len(target.values),
            "columns": {name: str(dtype) for name, dtype in prepared.X.dtypes.items()},
            "dropped": prepared.dropped,
        },
        "target": target.name,
        "task": target.task,
        "task_reason": target.reason,
        "classes": target.classes,
        "metric": prepared.metric,
        "augmenter": repr(search.augmenter_),
        "seed": options.seed,
        "n_candidates": sum(len(ParameterGrid(g)) for _, g in prepared.candidates.values()),
        "best": rows[0],
        "candidates": rows,
        "fit_counts": search.fit_counts_,
        "n_fits_cv": _CV_FOLDS * sum(row["score"] is not None for row in rows) + 1,
        "notices": [*prepared.notices, *notices],
        "versions": model.versions,
    }
    return write_results(options.out / "run.json", options.out / "results.csv", run)


def _summary(run: dict[str, Any], options: TableOptions) -> Iterator[str | Table]:
    """Yield what is printed at the end."""
    best: dict[str, dict[str, Any]] = {}  # of each model type
    for row in run["candidates"]:
        if row["score"] is not None:
            best.setdefault(row["model"], row)
    selected, baseline = run["best"], best.get(BASELINE, run["best"])
    interval = _interval(selected)
    yield (
        f"Best model for {run['target']!r} ({run['task']}, {run['metric']}): "
        f"{label_of(selected['model'], selected['params'])}. Score {score_text(selected['score'])}"
        f"{interval and f', 95 % interval {interval}'}; baseline {score_text(baseline['score'])}."
    )
    cells = [
        (
            label_of(row["model"], row["params"]),
            score_text(row["score"]),
            _interval(row),
            score_text(row["loo_score"]),
            f"{row['fit_seconds']:.2f}",
        )
        for row in best.values()
    ]
    numbers = ("score", "95 % interval", "LOO score", "fit seconds")
    yield make_table("Best candidate of each model type", ("candidate",), numbers, cells)
    counts = ", ".join(f"{count} {name}" for name, count in run["fit_counts"].items() if count)
    yield (
        f"{sum(run['fit_counts'].values())} fits ({counts}) in {run['seconds']:.1f} s; "
        f"{_CV_FOLDS}-fold cross-validation requires {run['n_fits_cv']} fits."
    )
    for check in run["diagnostics"]["checks"]:
        if check["level"] == "warning":
            advice = check["advice"] or ""
            yield f"Warning {check['code']}, {check['title']}: {check['message']} {advice}"
    yield f"Written to {options.out}: model.skops, report.html, results.csv, run.json"
    yield f"Next: leavezero predict {shlex.quote(str(options.out / 'model.skops'))} TABLE"


def _interval(row: dict[str, Any]) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return f"{score_text(row['low'])} to {score_text(row['high'])}"
