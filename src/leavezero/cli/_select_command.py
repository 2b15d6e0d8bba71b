"""``leavezero select``: from a table to a model, a report and metadata."""

import hashlib
import json
import shlex
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from rich.table import Table
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from leavezero.cli._messages import BASELINE, format_score, label_of
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
from leavezero.cli._prepare_table import PreparedTable, TableOptions, prepare_table
from leavezero.cli._read_table import base_name
from leavezero.cli._saved_model import TableModel, current_versions, save_model
from leavezero.cli._search_table import (
    OnCandidate,
    candidate_rows,
    candidates_reported,
    diagnose,
    diagnostics_dict,
    fit_counts,
    fit_search,
    make_search,
    recorded_warnings,
    report_html,
)

_CV_FOLDS = 10  # of the cross-validation whose cost is shown


@dataclass(frozen=True, eq=False)
class Selection:
    """A fitted search and its diagnostics, which are None if the user interrupted them."""

    search: Any
    diagnostics: Any
    interrupted: bool
    notices: list[str]
    seconds: float


def run_select(
    table: Path, options: TableOptions, *, out: Path | None, quiet: bool, as_json: bool
) -> bool:
    """Select a model, write the results to a directory and print them; False if interrupted."""
    out = Path(f"leavezero-{base_name(table)}") if out is None else out
    prepared = prepare_table(table, options)
    for notice in () if quiet else prepared.notices:
        print_notice(notice)
    try:
        with output_directory(out), search_progress(quiet) as progress:
            selection = select_model(prepared, options, partial(progress, "searching"))
    except KeyboardInterrupt:
        print_notice(f"Interrupted before the first candidate finished.{_resume(options)}")
        return False
    run = _write(prepared, options, selection, out)
    for notice in () if quiet else selection.notices:
        print_notice(notice)
    if as_json:
        print(json.dumps(run))
    elif not quiet:
        print_lines(_summary(run, out))
    if selection.interrupted:
        print_notice(
            f"Interrupted after {run['n_done']} of {run['n_candidates']} candidates. The best of "
            f"these is in {out}.{_resume(options)}"
        )
    return not selection.interrupted


def select_model(
    prepared: PreparedTable, options: TableOptions, on_candidate: OnCandidate | None = None
) -> Selection:
    """Search the candidates of a table and diagnose the result.

    Ctrl-C keeps the best candidate so far; before the first one has finished KeyboardInterrupt is
    raised.
    """
    search = make_search(prepared, options)
    started, interrupted, diagnostics = time.perf_counter(), False, None
    with recorded_warnings() as notices, candidates_reported(on_candidate):
        try:
            fit_search(search, prepared.X, prepared.target.values, options)
        except KeyboardInterrupt:
            if not hasattr(search, "best_estimator_"):
                raise
            interrupted = True
        try:
            diagnostics = diagnose(search, permutation=not interrupted)
        except KeyboardInterrupt:
            interrupted = True
    seconds = time.perf_counter() - started
    return Selection(search, diagnostics, interrupted, notices, seconds)


def _write(
    prepared: PreparedTable, options: TableOptions, selection: Selection, out: Path
) -> dict[str, Any]:
    """Write all files; return the content of run.json."""
    search, target = selection.search, prepared.target
    # the cleaner was fitted before the search, on the same rows
    pipeline = Pipeline([("clean", prepared.cleaner), *search.best_estimator_.steps])
    model = TableModel(pipeline, target.name, target.task, prepared.kinds, current_versions())
    unknown_types = save_model(model, out / "model.skops")
    if unknown_types:
        words = " ".join(f"--trusted {name}" for name in unknown_types)
        selection.notices.append(f"To load this model, predict requires {words}")
    rows = candidate_rows(search)
    write_candidates(out / "results.csv", rows)
    with prepared.file.path.open("rb") as file:
        sha256 = hashlib.file_digest(file, "sha256").hexdigest()
    n_scored = sum(row["score"] is not None for row in rows)
    run = write_json(
        out / "run.json",
        {
            "command": options.command,
            "table": {
                "path": str(prepared.file.path),
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
            "interrupted": selection.interrupted,
            "n_candidates": sum(len(ParameterGrid(g)) for _, g in prepared.candidates.values()),
            "n_done": len(rows),
            "best": rows[0],
            "candidates": rows,
            "fit_counts": fit_counts(search),
            "n_fits_cv": _CV_FOLDS * n_scored + 1,
            "seconds": selection.seconds,
            "diagnostics": diagnostics_dict(selection.diagnostics),
            "notices": [*prepared.notices, *selection.notices],
            "versions": model.versions,
        },
    )
    report = out / "report.html"
    report.unlink(missing_ok=True)  # of an earlier run
    try:
        title = f"{target.name} of {prepared.file.path.name}"
        write_text(report, report_html(search, selection.diagnostics, title, options.command))
    except KeyboardInterrupt:
        print_notice("Interrupted while the report was written; the other files are complete.")
    return dict(run)


def _resume(options: TableOptions) -> str:
    return "" if options.checkpoint is None else " Run the same command again to continue."


def _summary(run: dict[str, Any], out: Path) -> Iterator[str | Table]:
    """Yield what is printed at the end."""
    best, rows = run["best"], run["candidates"]
    baseline = next((row for row in rows if row["model"] == BASELINE), best)
    yield (
        f"Best model for {run['target']!r} ({run['task']}, {run['metric']}): "
        f"{label_of(best['model'], best['params'])}. Score {format_score(best['score'])}"
        f"{_interval(best, ', 95 % interval {} to {}')}; "
        f"baseline {format_score(baseline['score'])}."
    )
    yield _table(rows)
    counts = ", ".join(f"{count} {name}" for name, count in run["fit_counts"].items() if count)
    yield (
        f"{sum(run['fit_counts'].values())} fits ({counts}) in {run['seconds']:.1f} s; "
        f"{_CV_FOLDS}-fold cross-validation requires {run['n_fits_cv']} fits."
    )
    for check in (run["diagnostics"] or {"checks": []})["checks"]:
        if check["level"] == "warning":
            advice = check["advice"] or ""
            yield f"Warning {check['code']}, {check['title']}: {check['message']} {advice}"
    yield f"Written to {out}: model.skops, report.html, results.csv, run.json"
    yield f"Next: leavezero predict {shlex.quote(str(out / 'model.skops'))} TABLE"


def _table(rows: list[dict[str, Any]]) -> Table:
    """Return the best candidate of each model type."""
    best: dict[str, dict[str, Any]] = {}
    for row in rows:
        if row["score"] is not None:
            best.setdefault(row["model"], row)
    cells = [
        (
            label_of(row["model"], row["params"]),
            format_score(row["score"]),
            _interval(row, "{} to {}"),
            format_score(row["loo_score"]),
            f"{row['fit_seconds']:.2f}",
        )
        for row in best.values()
    ]
    numbers = ("score", "95 % interval", "LOO score", "fit seconds")
    return make_table("Best candidate of each model type", ("candidate",), numbers, cells)


def _interval(row: dict[str, Any], template: str) -> str:
    if row["low"] is None or row["high"] is None:
        return ""
    return template.format(format_score(row["low"]), format_score(row["high"]))
