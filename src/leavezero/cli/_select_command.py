"""``leavezero select``: from a table to a model, a report and metadata."""

import shlex
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from typing import Any

import typer
from rich.table import Table
from sklearn.model_selection import ParameterGrid
from sklearn.pipeline import Pipeline

from leavezero.cli._export_model import code_parts
from leavezero.cli._output import (
    count_lines,
    counted,
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
    TIME_ADVICE,
    fit_search,
    make_search,
    only_baseline,
    recorded_warnings,
    search_progress,
)
from leavezero.diagnostics import DiagnosticReport, format_score
from leavezero.report import baseline_score, summarize

_CV_FOLDS = 10  # of the cross-validation whose cost is shown
_MAX_LINES = 25  # of the terminal, at the end
_MAX_TYPES = 10  # model types that are listed
_NEW_ROWS = "Report the score of rows that are not in this table."
_ADVICE = {  # in options of the command; others as in Python
    "LZ10": _NEW_ROWS,
    "LZ11": "Name the column of times or groups: --time-column or --group-column.",
    **dict.fromkeys(("LZ01", "LZ03", "LZ04", "LZ05", "LZ13"), "Add --cv-finalists 5."),
}


def run_select(options: TableOptions) -> None:
    """Select a model, write and print the results; on Ctrl-C those of the best candidate so far."""
    out = options.out
    prepared = prepare_table(options)
    if not options.quiet:
        print_notice(*prepared.notices)
    resume = " Run the same command again to continue." if options.checkpoint else ""
    search, interrupted = make_search(prepared, options), False
    diagnostics = DiagnosticReport((), seconds=0.0)
    recording = recorded_warnings(options.verbose)
    with output_directory(out), search_progress(options.quiet), recording as notices:
        try:
            fit_search(search, prepared.X, prepared.target.values, options, prepared.groups)
        except KeyboardInterrupt:
            interrupted = True
            if not hasattr(search, "best_estimator_"):
                print_notice(f"Interrupted before the first candidate finished.{resume}")
                raise typer.Exit(1) from None
        try:
            more_fits = not interrupted and options.time_budget is None
            diagnostics = _with_options(search.diagnose(permutation=more_fits), options)
        except KeyboardInterrupt:
            interrupted = True
    run: dict[str, Any] = {
        "interrupted": interrupted,
        "seconds": time.perf_counter() - options.started,
        "diagnostics": diagnostics.to_dict(),
    }
    if only_baseline(search) and not interrupted:
        notices.append(
            "The time budget allowed no model but the baseline, which predicts without the "
            f"columns. {TIME_ADVICE}"
        )
    model = _save_model(prepared, options, search, notices)
    run = _write(prepared, options, search, run, notices)
    report = out / "report.html"
    about = {
        "title": f"{options.target} of {options.table.name}",
        "target": options.target,
        "command": options.command,
        "notes": prepared.notices,
        "code": "\n\n".join(code_parts(model)),
    }
    report.unlink(missing_ok=True)  # of an earlier run
    seconds = options.time_budget
    if seconds is not None:
        seconds -= time.perf_counter() - options.started
    try:
        write_text(report, search.to_html(diagnostics=diagnostics, about=about, seconds=seconds))
    except KeyboardInterrupt:
        print_notice("Interrupted while the report was written; the other files are complete.")
    if not options.quiet:
        print_notice(*notices)
    lines = _summary(run, options, _MAX_LINES - count_lines(*notices))
    print_results(run, lines, quiet=options.quiet, as_json=options.as_json)
    if interrupted:
        print_notice(
            f"Interrupted after {len(run['candidates'])} of {run['n_candidates']} candidates. The "
            f"best of these is in {out}.{resume}"
        )
        raise typer.Exit(1)


def _with_options(report: DiagnosticReport, options: TableOptions) -> DiagnosticReport:
    """Return the diagnostics with advice in terms of the command's options."""
    known = dict(_ADVICE)
    if options.augmenter != "auto":
        known |= dict.fromkeys(("LZ01", "LZ03"), "Use --augmenter auto.")
    checks = [
        replace(one, advice=known.get(one.code, one.advice) if one.advice else _NEW_ROWS)
        if one.advice or one.level == "warning"
        else one
        for one in report
    ]
    if options.time_column is not None or options.group_column is not None:
        # these options are the advice of LZ11
        checks = [
            replace(one, level="note", advice=None) if one.advice == _ADVICE["LZ11"] else one
            for one in checks
        ]
    return replace(report, checks=tuple(checks))


def _save_model(
    prepared: PreparedTable, options: TableOptions, search: Any, notices: list[str]
) -> TableModel:
    target = prepared.target
    # the cleaner was fitted before the search, on the same rows
    pipeline = Pipeline([("clean", prepared.cleaner), *search.best_estimator_.steps])
    model = TableModel(
        pipeline,
        target.name,
        target.task,
        prepared.kinds,
        prepared.profile,
        prepared.source,
        current_versions(),
    )
    unknown_types = save_model(model, options.out / "model.skops")
    if unknown_types:
        words = " ".join(f"--trusted {name}" for name in unknown_types)
        notices.append(f"To load this model, predict requires {words}")
    return model


def _write(
    prepared: PreparedTable,
    options: TableOptions,
    search: Any,
    run: dict[str, Any],
    notices: list[str],
) -> dict[str, Any]:
    """Write the results; return the content of run.json."""
    target = prepared.target
    found = summarize(
        search.cv_results_,
        best=int(search.best_index_),
        selection=asdict(search.selection_),
        baseline=baseline_score(
            target.values, search.scorer_, is_regression=target.task == "regression"
        ),
        run={"metric": prepared.metric},
    )
    candidates, selection = found["candidates"], found["selection"]
    for one in candidates:
        del one["metrics"]  # there is one
        one["error"] = "".join(search.failures_.get(one["row"], "").splitlines()[-1:]) or None
    run |= {
        "command": options.command,
        "table": {
            **prepared.source,
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
        "best": candidates[0],
        "expected": {
            "score": selection["score"],
            "low": selection["new_data_low"],
            "high": selection["new_data_high"],
        },
        "baseline": found["baseline"],
        "model_types": found["model_types"],
        "candidates": candidates,
        "fit_counts": search.fit_counts_,
        "n_fits_cv": _CV_FOLDS * sum(one["score"] is not None for one in candidates) + 1,
        "notices": [*prepared.notices, *notices],
        "versions": current_versions(),
    }
    return write_results(options.out / "run.json", options.out / "results.csv", run)


def _summary(run: dict[str, Any], options: TableOptions, max_lines: int) -> list[str | Table]:
    """Return what is printed at the end; warnings beyond the lines are only named."""
    head = list(_result(run, options.verbose))
    tail = [
        f"Written to {options.out}: model.skops, report.html, results.csv, run.json",
        f"Next: leavezero predict {shlex.quote(str(options.out / 'model.skops'))} TABLE",
    ]
    warnings = [
        check
        for check in run["diagnostics"]["checks"]
        if check["level"] == "warning" and (options.verbose or not check["is_detail"])
    ]
    texts = [f"Warning: {check['message']} {check['advice'] or ''}" for check in warnings]
    if options.verbose:
        return [*head, *_details(run), *texts, *tail]
    for n_shown in range(len(texts), -1, -1):
        shown = texts[:n_shown]
        if n_shown < len(texts):
            titles = ", ".join(check["title"] for check in warnings[n_shown:])
            shown.append(f"Warnings in the report: {titles}.")
        if count_lines(*head, *shown, *tail) <= max_lines:
            break
    return [*head, *shown, *tail]


def _result(run: dict[str, Any], verbose: bool) -> Iterator[str | Table]:
    """Yield what was predicted, the winner with its score, and the model types."""
    table, expected, metric = run["table"], run["expected"], run["metric"]
    classes = f" ({len(run['classes'])} classes)" if run["classes"] else ""
    n_scored = sum(one["score"] is not None for one in run["candidates"])
    share = f"{n_scored:,} of " if n_scored < len(run["candidates"]) else ""
    yield (
        f"{run['task'].capitalize()} of {run['target']!r}{classes} by "
        f"{counted(len(table['columns']), 'column')}, from {counted(table['n_train'], 'row')}: "
        f"{share}{counted(len(run['candidates']), 'candidate')} in {run['seconds']:.1f} s."
    )
    yield f"Best model: {run['best']['label']}"
    score, low, high = map(format_score, expected.values())
    interval = f" (95 % interval {low} to {high})" if expected["low"] is not None else ""
    guess = f"; baseline {format_score(run['baseline'])}" if run["baseline"] is not None else ""
    yield f"Expected {metric} on new rows: {score}{interval}{guess}"
    types = run["model_types"] if verbose else run["model_types"][:_MAX_TYPES]
    cells = [
        (
            one["name"],
            one["label"].removeprefix(one["name"]).removeprefix(", "),
            format_score(one["score"]),
            "best"
            if one["best"]
            else f"{format_score(one['difference'], expected['score'])}{', tied' * one['tied']}",
        )
        for one in types
    ]
    yield make_table("", ("model type", "best candidate"), (metric, "difference"), cells)


def _details(run: dict[str, Any]) -> Iterator[str | Table]:
    """Yield what --verbose adds."""
    names = ("score", "low", "high", "validation", "loo", "cv")
    cells = [
        (one["label"], *(format_score(one.get(name)) for name in names))
        for one in run["candidates"]
    ]
    yield make_table("Candidates", ("candidate",), names, cells)
    counts = ", ".join(f"{name}: {count}" for name, count in run["fit_counts"].items() if count)
    yield (
        f"{counted(sum(run['fit_counts'].values()), 'fit')} ({counts}); {_CV_FOLDS}-fold "
        f"cross-validation of the candidates requires {run['n_fits_cv']}."
    )
    for check in run["diagnostics"]["checks"]:
        if check["level"] in ("ok", "note"):
            yield f"{check['level']}, {check['title']}: {check['message']}"
