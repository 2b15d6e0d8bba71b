"""The commands and their options. Heavy packages are imported when a command runs."""

import re
import shlex
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from leavezero._version import __version__
from leavezero.cli._messages import TableError
from leavezero.cli._output import exit_codes, make_table, print_lines

if TYPE_CHECKING:
    from leavezero.cli._prepare_table import TableOptions

app = typer.Typer(
    help="Select a machine-learning model without cross-validation.",
    epilog="With a table on disk, start with: leavezero select TABLE.csv --target COLUMN",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
checkpoint_app = typer.Typer(help="Checkpoint files of searches.", no_args_is_help=True)
app.add_typer(checkpoint_app, name="checkpoint")

_TableArgument = typer.Argument(
    metavar="TABLE", help="CSV, TSV, Parquet, Feather, Excel or JSON lines file."
)
_Table = Annotated[Path, _TableArgument]
_TargetOption = typer.Option(help="Column to predict; without it the columns are listed.")
_Target = Annotated[str | None, _TargetOption]
_TaskOption = typer.Option(
    help="classification or regression. Default: strings, booleans and whole numbers with at most "
    "20 values are classes; other numbers are a regression target."
)
_Task = Annotated[str | None, _TaskOption]
_ModelsOption = typer.Option(
    help="Comma-separated: linear, svm, knn, bayes, tree, forest, boosting, lightgbm."
)
_Models = Annotated[str, _ModelsOption]
_GridOption = typer.Option(
    help="TOML file with own models: a section [linear] with grid = {C = [0.5, 5]}."
)
_Grid = Annotated[Path | None, _GridOption]
_MetricOption = typer.Option(help="A scorer of scikit-learn. Default: accuracy or r2.")
_Metric = Annotated[str | None, _MetricOption]
_AugmenterOption = typer.Option(
    help="Generates the validation set: auto, mixup, neighbor-mixup, gaussian, gaussian-mixture, "
    "copula, union, soft-labeled-copula."
)
_Augmenter = Annotated[str, _AugmenterOption]
_FinalistsOption = typer.Option(
    help="Cross-validate at most this many tied candidates; auto: if a check warns."
)
_Finalists = Annotated[str | None, _FinalistsOption]
_KeepOption = typer.Option(help="Use this column although it identifies rows; repeatable.")
_Keep = Annotated[list[str] | None, _KeepOption]
_Drop = Annotated[list[str] | None, typer.Option(help="Drop this column; repeatable.")]
_SepOption = typer.Option(help="Separator of a text file. Default: found in its first row.")
_Sep = Annotated[str | None, _SepOption]
_Decimal = Annotated[str, typer.Option(help="Decimal point of a text file.")]
_Encoding = Annotated[str, typer.Option(help="Encoding of a text file.")]
_BudgetOption = typer.Option(help="Time for the search, such as 90s, 10m or 2h.")
_CheckpointOption = typer.Option(
    help="File for finished candidates; the same command then continues."
)
_Jobs = Annotated[int, typer.Option(min=-1, help="Parallel workers; -1 for all cores.")]
_Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
_OutOption = typer.Option(help="Output directory. Default: leavezero-TABLE.")
_Out = Annotated[Path | None, _OutOption]
_Quiet = Annotated[bool, typer.Option("--quiet", help="Print errors only.")]
_Json = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
_Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks of errors.")]


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"leavezero {__version__}")
        raise typer.Exit


_VersionOption = typer.Option(
    "--version", callback=_print_version, is_eager=True, help="Print the version."
)


@app.callback()
def _common(version: Annotated[bool, _VersionOption] = False) -> None:
    """Select a machine-learning model without cross-validation."""


@app.command()
def select(
    context: typer.Context,
    table: _Table,
    target: _Target = None,
    task: _Task = None,
    models: _Models = "",
    grid: _Grid = None,
    metric: _Metric = None,
    augmenter: _Augmenter = "auto",
    cv_finalists: _Finalists = None,
    keep: _Keep = None,
    drop: _Drop = None,
    sep: _Sep = None,
    decimal: _Decimal = ".",
    encoding: _Encoding = "utf-8",
    time_budget: Annotated[str | None, _BudgetOption] = None,
    checkpoint: Annotated[Path | None, _CheckpointOption] = None,
    jobs: _Jobs = -1,
    seed: _Seed = 0,
    out: _Out = None,
    quiet: _Quiet = False,
    as_json: _Json = False,
    debug: _Debug = False,
) -> None:
    """Select a model for a column of a table; write model, report and metadata."""
    with exit_codes(debug):
        from leavezero.cli._select_command import run_select

        options = _table_options(context)
        finished = run_select(table, options, out=out, quiet=quiet, as_json=as_json)
    if not finished:
        raise typer.Exit(1)


_ModelArgument = typer.Argument(metavar="MODEL", help="A model.skops written by select.")
_OutFileOption = typer.Option(help="File to write: .csv, .tsv or .parquet.")
_TrustedOption = typer.Option(help="A type that the model may contain; repeatable.")


@app.command()
def predict(
    model: Annotated[Path, _ModelArgument],
    table: _Table,
    out: Annotated[Path | None, _OutFileOption] = None,
    sep: _Sep = None,
    decimal: _Decimal = ".",
    encoding: _Encoding = "utf-8",
    trusted: Annotated[list[str] | None, _TrustedOption] = None,
    quiet: _Quiet = False,
    as_json: _Json = False,
    debug: _Debug = False,
) -> None:
    """Add predictions, and probabilities of classes if available, to a table."""
    with exit_codes(debug):
        from leavezero.cli._predict_command import run_predict
        from leavezero.cli._read_table import ReadOptions

        reading, types = ReadOptions(sep, decimal, encoding), tuple(trusted or ())
        run_predict(model, table, reading, out=out, trusted=types, quiet=quiet, as_json=as_json)


_CvOption = typer.Option(help="Folds of the cross-validation.")
_TestSizeOption = typer.Option(help="Share of the rows that is held out.")


@app.command()
def compare(
    context: typer.Context,
    table: _Table,
    target: _Target = None,
    cv: Annotated[int, _CvOption] = 10,
    test_size: Annotated[float, _TestSizeOption] = 0.3,
    task: _Task = None,
    models: _Models = "",
    grid: _Grid = None,
    metric: _Metric = None,
    augmenter: _Augmenter = "auto",
    cv_finalists: _Finalists = None,
    keep: _Keep = None,
    drop: _Drop = None,
    sep: _Sep = None,
    decimal: _Decimal = ".",
    encoding: _Encoding = "utf-8",
    jobs: _Jobs = -1,
    seed: _Seed = 0,
    out: _Out = None,
    quiet: _Quiet = False,
    as_json: _Json = False,
    debug: _Debug = False,
) -> None:
    """Compare leave-zero-out with cross-validation on held-out rows of a table."""
    with exit_codes(debug):
        from leavezero.cli._compare_command import run_compare

        options = _table_options(context)
        finished = run_compare(
            table, options, cv=cv, test_size=test_size, out=out, quiet=quiet, as_json=as_json
        )
    if not finished:
        raise typer.Exit(1)


_QuickOption = typer.Option("--quick", help="Only the two small data sets.")


@app.command()
def demo(seed: _Seed = 0, quick: Annotated[bool, _QuickOption] = False, jobs: _Jobs = -1) -> None:
    """Compare leave-zero-out with 10-fold cross-validation on bundled data."""
    from leavezero.cli._demo import run_demo

    run_demo(seed=seed, quick=quick, n_jobs=jobs)


_FileArgument = typer.Argument(help="The file that a search had as checkpoint.")


@checkpoint_app.command("show")
def checkpoint_show(file: Annotated[Path, _FileArgument]) -> None:
    """Show which search a checkpoint belongs to and what has finished; the file is only read."""
    with exit_codes():
        from leavezero.engine import summarize_journal as summarize_checkpoint

        try:
            found = summarize_checkpoint(file)
        except (ValueError, OSError) as error:
            raise TableError(str(error)) from error
        rows = [
            (one.params, one.error or f"{one.score:.4g}", f"{one.seconds:.3g}")
            for one in found.finished
        ]
        print_lines(
            [
                make_table("Search", ("part", "value"), (), found.parts.items()),
                make_table("Finished", ("candidate", "score or error"), ("seconds",), rows),
                f"{len(rows)} finished, {found.n_damaged} damaged",
            ]
        )


def _command_line(context: typer.Context) -> str:
    """Return the command with the options that the user has given."""
    words = ["leavezero", str(context.info_name)]
    for parameter in context.command.params:
        name, value = str(parameter.name), context.params.get(str(parameter.name))
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            flag = [] if parameter.param_type_name == "argument" else parameter.opts[:1]
            for one in value if isinstance(value, list | tuple) else [value]:
                words += [*flag] if one is True else [*flag, str(one)]
    return shlex.join(words)


def _table_options(context: typer.Context) -> "TableOptions":
    """Return the options of a command after checks."""
    params: dict[str, Any] = context.params
    from leavezero.cli._prepare_table import TableOptions
    from leavezero.cli._read_table import ReadOptions, open_table

    given = {one.name: params[one.name] for one in fields(TableOptions) if one.name in params}
    if given["target"] is None:
        reading = ReadOptions(given["sep"], given["decimal"], given["encoding"])
        names = ", ".join(map(repr, open_table(params["table"], reading).names))
        raise TableError(f"--target is required. Columns of {params['table']}: {names}.")
    if given["jobs"] == 0:
        raise TableError("--jobs must be a positive number, or -1 for all cores, got 0.")
    given["models"] = tuple(name.strip() for name in given["models"].split(",") if name.strip())
    given["cv_finalists"] = _parse_finalists(given["cv_finalists"])
    given["time_budget"] = _parse_seconds(given.get("time_budget"))
    given |= {name: tuple(given[name] or ()) for name in ("keep", "drop")}
    return TableOptions(**given, command=_command_line(context))


def _parse_finalists(text: str | None) -> int | str | None:
    if text is None or text == "auto":
        return text
    if text.isdecimal() and int(text) > 0:
        return int(text)
    raise TableError(f"--cv-finalists must be a positive whole number or auto, got {text!r}.")


def _parse_seconds(text: str | None) -> float | None:
    """Return seconds.

    Examples
    --------
    >>> _parse_seconds("1.5m")
    90.0
    """
    if text is None:
        return None
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([smh]?)", text.strip().lower(), re.ASCII)
    if found is None or float(found[1]) == 0:
        raise TableError(f"--time-budget must be a duration such as 90s, 10m or 2h, got {text!r}.")
    return float(found[1]) * {"": 1, "s": 1, "m": 60, "h": 3_600}[found[2]]
