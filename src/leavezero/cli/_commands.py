"""The commands and their options. Heavy packages are imported when a command runs."""

import re
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leavezero._version import __version__
from leavezero.cli._output import TableError, exit_codes, make_table, print_lines, quoted

if TYPE_CHECKING:
    from leavezero.cli._prepare_table import TableOptions

app = typer.Typer(
    epilog="With a table on disk, start with: leavezero select TABLE.csv --target COLUMN",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
checkpoint_app = typer.Typer(help="Checkpoint files of searches.", no_args_is_help=True)
app.add_typer(checkpoint_app, name="checkpoint")

_TASK_HELP = (
    "classification or regression. Default: strings, booleans and whole numbers with at most 20 "
    "values are classes; other numbers are a regression target."
)
_MODELS_HELP = "Comma-separated: linear, boosting, lightgbm, forest, bayes, tree, knn, svm."
_GRID_HELP = "TOML file with own models: a section \\[linear] with grid = {C = [0.5, 5]}."
_AUGMENTER_HELP = (
    "Generates the validation set: auto, mixup, neighbor-mixup, gaussian, gaussian-mixture, "
    "copula, union."
)
_FINALISTS_HELP = "Cross-validate this many candidates: auto, all or a number."
_KEEP_HELP = "Use this column although it identifies rows; repeatable."
_CHECKPOINT_HELP = "File for finished candidates; the same command then continues."
_TABLE_HELP = (
    "CSV, TSV, Parquet, Feather, Excel or JSON lines file, FILE.sqlite::TABLE, or - for text on "
    "standard input."
)
_ID_HELP = "Column that identifies rows: not used, kept by predict; repeatable."
_TIME_HELP = "Column by which rows are sorted; models are then tested on later rows only."
_GROUP_HELP = "Column of groups, such as customers; models are then tested on other groups."
_THRESHOLD_HELP = "Predict the second of two classes from this probability on."
_OUT_FILE_HELP = "File to write: .csv, .tsv or .parquet; - for CSV on standard output."
_METRIC_HELP = "Scorer of scikit-learn. Default: accuracy or r2."
_SEP_HELP = "Separator of a text file. Default: found in its first row."

_Table = Annotated[Path, typer.Argument(metavar="TABLE", help=_TABLE_HELP)]
_Target = Annotated[str | None, typer.Option(help="Column to predict; without it: list columns.")]
_Task = Annotated[str | None, typer.Option(help=_TASK_HELP)]
_Models = Annotated[str, typer.Option(help=_MODELS_HELP)]
_Grid = Annotated[Path | None, typer.Option(help=_GRID_HELP)]
_Metric = Annotated[str | None, typer.Option(help=_METRIC_HELP)]
_Augmenter = Annotated[str, typer.Option(help=_AUGMENTER_HELP)]
_Finalists = Annotated[str, typer.Option(help=_FINALISTS_HELP)]
_Keep = Annotated[list[str] | None, typer.Option(help=_KEEP_HELP)]
_Drop = Annotated[list[str] | None, typer.Option(help="Drop this column; repeatable.")]
_Id = Annotated[list[str] | None, typer.Option("--id", help=_ID_HELP)]
_TimeColumn = Annotated[str | None, typer.Option(help=_TIME_HELP)]
_GroupColumn = Annotated[str | None, typer.Option(help=_GROUP_HELP)]
_Sheet = Annotated[str | None, typer.Option(help="Sheet of an Excel file. Default: the first.")]
_Sep = Annotated[str | None, typer.Option(help=_SEP_HELP)]
_Decimal = Annotated[str, typer.Option(help="Decimal point of numbers in text.")]
_Encoding = Annotated[str, typer.Option(help="Encoding of a text file.")]
_Budget = Annotated[str | None, typer.Option(help="Time for the search, such as 90s, 10m or 2h.")]
_Checkpoint = Annotated[Path | None, typer.Option(help=_CHECKPOINT_HELP)]
_Jobs = Annotated[int, typer.Option(min=-1, help="Parallel workers; -1 for all cores.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
_Out = Annotated[Path | None, typer.Option(help="Output directory. Default: leavezero-TABLE.")]
_Verbose = Annotated[bool, typer.Option("--verbose", help="Print notes and all scores too.")]
_Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")]
_Model = Annotated[Path, typer.Argument(metavar="MODEL", help="A model.skops written by select.")]
_OutFile = Annotated[Path | None, typer.Option(help=_OUT_FILE_HELP)]
_Port = Annotated[int, typer.Option(min=0, max=65_535, help="Port; 0 for any free one.")]
_Export = Annotated[Path, typer.Option(help="File to write: .py, .ipynb or .onnx.")]
_Trusted = Annotated[list[str] | None, typer.Option(help="Type allowed in MODEL; repeatable.")]
_Proba = Annotated[bool, typer.Option("--proba", help="Add probabilities of the classes.")]
_Threshold = Annotated[float | None, typer.Option(help=_THRESHOLD_HELP)]
_Folds = Annotated[int, typer.Option(help="Folds of the cross-validation.")]
_Repeats = Annotated[int, typer.Option(help="Number of random splits.")]
_TestSize = Annotated[float, typer.Option(help="Share of the rows that is held out.")]
_Quick = Annotated[bool, typer.Option("--quick", help="Only the smallest data set.")]
_File = Annotated[Path, typer.Argument(help="The file that a search had as checkpoint.")]
_Version = Annotated[bool, typer.Option("--version", help="Print the version.")]


@app.callback(invoke_without_command=True)
def _common(version: _Version = False) -> None:
    """Select a machine-learning model without cross-validation."""
    if version:
        typer.echo(f"leavezero {__version__}")
        raise typer.Exit


@app.command()
def select(
    table: _Table,
    target: _Target = None,
    task: _Task = None,
    models: _Models = "",
    grid: _Grid = None,
    metric: _Metric = None,
    augmenter: _Augmenter = "auto",
    cv_finalists: _Finalists = "auto",
    keep: _Keep = None,
    drop: _Drop = None,
    id_: _Id = None,
    time_column: _TimeColumn = None,
    group_column: _GroupColumn = None,
    sep: _Sep = None,
    decimal: _Decimal = ".",
    encoding: _Encoding = "utf-8",
    sheet: _Sheet = None,
    time_budget: _Budget = None,
    checkpoint: _Checkpoint = None,
    jobs: _Jobs = -1,
    seed: _Seed = 0,
    out: _Out = None,
    quiet: _Quiet = False,
    verbose: _Verbose = False,
    as_json: _Json = False,
    debug: _Debug = False,
) -> None:
    """Select a model for a column of a table; write model, report and metadata."""
    given = dict(locals(), started=time.perf_counter())
    with exit_codes(debug):
        from leavezero.cli._select_command import run_select

        run_select(_table_options(given))


@app.command()
def predict(
    model: _Model,
    table: _Table,
    out: _OutFile = None,
    proba: _Proba = False,
    threshold: _Threshold = None,
    sep: _Sep = None,
    decimal: _Decimal = ".",
    encoding: _Encoding = "utf-8",
    sheet: _Sheet = None,
    trusted: _Trusted = None,
    quiet: _Quiet = False,
    as_json: _Json = False,
    debug: _Debug = False,
) -> None:
    """Add predictions of a saved model to a table."""
    with exit_codes(debug):
        from leavezero.cli._read_table import ReadOptions
        from leavezero.cli._saved_model import run_predict

        reading, types = ReadOptions(sep, decimal, encoding, sheet), tuple(trusted or ())
        run_predict(
            model,
            table,
            reading,
            types,
            out=out,
            proba=proba,
            threshold=threshold,
            quiet=quiet,
            as_json=as_json,
        )


@app.command()
def export(
    model: _Model, out: _Export = Path("model.py"), trusted: _Trusted = None, debug: _Debug = False
) -> None:
    """Write a saved model as a Python script or notebook that fits it anew, or as ONNX."""
    with exit_codes(debug):
        from leavezero.cli._export_model import run_export

        run_export(model, out, tuple(trusted or ()))


@app.command()
def serve(
    model: _Model, port: _Port = 8000, trusted: _Trusted = None, debug: _Debug = False
) -> None:
    """Open a local page to try a saved model."""
    with exit_codes(debug):
        from leavezero.cli._serve_model import run_serve

        run_serve(model, port, tuple(trusted or ()))


@app.command()
def compare(
    table: _Table,
    target: _Target = None,
    cv: _Folds = 10,
    repeats: _Repeats = 5,
    test_size: _TestSize = 0.3,
    task: _Task = None,
    models: _Models = "",
    grid: _Grid = None,
    metric: _Metric = None,
    augmenter: _Augmenter = "auto",
    cv_finalists: _Finalists = "auto",
    keep: _Keep = None,
    drop: _Drop = None,
    id_: _Id = None,
    sep: _Sep = None,
    decimal: _Decimal = ".",
    encoding: _Encoding = "utf-8",
    sheet: _Sheet = None,
    jobs: _Jobs = -1,
    seed: _Seed = 0,
    out: _Out = None,
    quiet: _Quiet = False,
    as_json: _Json = False,
    debug: _Debug = False,
) -> None:
    """Compare leave-zero-out with cross-validation on held-out rows of a table."""
    given = dict(locals(), started=time.perf_counter())
    with exit_codes(debug):
        from leavezero.cli._compare_command import run_compare

        run_compare(_table_options(given))


@app.command()
def demo(seed: _Seed = 0, quick: _Quick = False, jobs: _Jobs = -1) -> None:
    """Compare leave-zero-out with 10-fold cross-validation on bundled data, in 30 s on 2 cores."""
    from leavezero.cli._compare_command import run_demo

    run_demo(seed=seed, quick=quick, n_jobs=jobs)


@checkpoint_app.command("show")
def checkpoint_show(file: _File) -> None:
    """Show which search a checkpoint belongs to and what has finished; the file is only read."""
    with exit_codes():
        from leavezero.cli._search_table import read_checkpoint

        parts, rows, n_damaged = read_checkpoint(file)
        print_lines(
            make_table("Search", ("part", "value"), (), parts.items()),
            make_table("Finished", ("candidate", "score or error"), ("seconds",), rows),
            f"{len(rows)} finished, {n_damaged} damaged",
        )


def _table_options(given: dict[str, Any]) -> "TableOptions":
    """Return the options of a command after checks."""
    from leavezero.cli._prepare_table import TableOptions
    from leavezero.cli._read_table import base_name, open_table

    if given["jobs"] == 0:
        raise TableError("--jobs must be a positive number, or -1 for all cores, got 0.")
    checked = {
        "models": tuple(name.strip() for name in given["models"].split(",") if name.strip()),
        "cv_finalists": _parse_finalists(given["cv_finalists"]),
        "time_budget": _parse_seconds(given.get("time_budget")),
        "out": given["out"] or Path(f"leavezero-{base_name(given['table'])}"),
        "keep": tuple(given["keep"] or ()),
        "drop": tuple(given["drop"] or ()),
        "id": tuple(given["id_"] or ()),
        "command": shlex.join(["leavezero", *sys.argv[1:]]),
    }
    others = {name: value for name, value in given.items() if name not in ("debug", "id_")}
    options = TableOptions(**(others | checked))
    if options.target is None:
        names = quoted(open_table(options.table, options.reading).names, most=100)
        raise TableError(f"--target is required. Columns of {options.table}: {names}.")
    return options


def _parse_finalists(text: str) -> int | str:
    if text in ("auto", "all"):
        return text
    if text.isdecimal():
        return int(text)
    raise TableError(f"--cv-finalists must be auto, all or a whole number, got {text!r}.")


def _parse_seconds(text: str | None) -> float | None:
    """Return seconds."""
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip().lower(), re.ASCII)
    if found is None or float(found[1]) == 0:
        raise TableError(f"--time-budget must be a duration such as 90s, 10m or 2h, got {text!r}.")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3_600}[found[2]]
