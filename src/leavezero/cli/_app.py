"""The commands and their options."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from leavezero._version import __version__
from leavezero.cli import _options as opt
from leavezero.cli._datasets import fetch_datasets, list_datasets
from leavezero.cli._demo import show_demo
from leavezero.cli._journal import show_journal
from leavezero.cli._reproduce import reproduce_table
from leavezero.cli._telling import needs_tools, plain_endings
from leavezero.experiments import REPRODUCTIONS, Wish

app = typer.Typer(
    help="Choose a machine-learning model without cross validation.",
    epilog="Who has a table begins with: leavezero select TABLE.csv --target COLUMN",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
datasets_app = typer.Typer(help="Named data sets for experiments.", no_args_is_help=True)
app.add_typer(datasets_app, name="datasets")
journal_app = typer.Typer(help="What a search has written down.", no_args_is_help=True)
app.add_typer(journal_app, name="journal")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"leavezero {__version__}")
        raise typer.Exit


@app.callback()
def _common(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version and exit."
        ),
    ] = False,
) -> None:
    """Choose a machine-learning model without cross validation."""


@app.command()
def select(
    table: opt.Table,
    target: opt.Target = None,
    task: opt.Task = None,
    models: opt.Models = None,
    grid: opt.Grid = None,
    metric: opt.Metric = None,
    augmenter: opt.Augmenter = "auto",
    confirm: opt.Confirm = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    time_budget: Annotated[
        str | None, typer.Option(help="No candidate begins after so long: 90s, 10m, 2h.")
    ] = None,
    journal: Annotated[
        Path | None,
        typer.Option(help="A file that keeps what is finished; the same command then goes on."),
    ] = None,
    jobs: opt.Jobs = -1,
    seed: opt.Seed = 0,
    out: opt.Out = None,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
    debug: opt.Debug = False,
) -> None:
    """Choose a model for a column of a table, and leave it where predict finds it."""
    needs_tools()
    with plain_endings(debug):
        from leavezero.cli._select import select_from_table  # pandas takes its time
        from leavezero.cli._wishing import named_target, wish_of

        wish = wish_of(
            models,
            confirm,
            time_budget,
            target=named_target(table, target),
            task=task,
            grid=grid,
            metric=metric,
            augmenter=augmenter,
            jobs=jobs,
            seed=seed,
            keep=keep,
            drop=drop,
            journal=journal,
        )
        done = select_from_table(table, wish, out=out, quiet=quiet, as_json=as_json)
    if not done:
        raise typer.Exit(1)


@app.command()
def predict(
    model: Annotated[
        Path, typer.Argument(metavar="MODEL", help="A model.skops that select wrote.")
    ],
    table: Annotated[
        Path, typer.Argument(metavar="TABLE", help="A table with the columns of the first one.")
    ],
    out: Annotated[
        Path | None, typer.Option(help="The file to write: .csv, .tsv or .parquet.")
    ] = None,
    trust: Annotated[
        list[str] | None, typer.Option(help="A type that the model may hold; may be repeated.")
    ] = None,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
    debug: opt.Debug = False,
) -> None:
    """Add predictions, and probabilities where there are any, to the rows of a table."""
    needs_tools()
    with plain_endings(debug):
        from leavezero.cli._predict import predict_table  # pandas takes its time

        predict_table(model, table, out=out, trust=tuple(trust or ()), quiet=quiet, as_json=as_json)


@app.command()
def compare(
    table: opt.Table,
    target: opt.Target = None,
    cv: Annotated[int, typer.Option(help="Folds of the cross validation.")] = 10,
    test_share: Annotated[
        float, typer.Option(help="The share of the rows that is held back to test by.")
    ] = 0.3,
    task: opt.Task = None,
    models: opt.Models = None,
    grid: opt.Grid = None,
    metric: opt.Metric = None,
    augmenter: opt.Augmenter = "auto",
    confirm: opt.Confirm = None,
    keep: opt.Keep = None,
    drop: opt.Drop = None,
    jobs: opt.Jobs = -1,
    seed: opt.Seed = 0,
    out: opt.Out = None,
    quiet: opt.Quiet = False,
    as_json: opt.AsJson = False,
    debug: opt.Debug = False,
) -> None:
    """Compare leave-zero-out with cross validation on a table of yours, by rows held back."""
    needs_tools()
    with plain_endings(debug):
        from leavezero.cli._compare import compare_on_table  # pandas takes its time
        from leavezero.cli._wishing import named_target, wish_of

        wish = wish_of(
            models,
            confirm,
            target=named_target(table, target),
            task=task,
            grid=grid,
            metric=metric,
            augmenter=augmenter,
            jobs=jobs,
            seed=seed,
            keep=keep,
            drop=drop,
        )
        done = compare_on_table(
            table, wish, n_folds=cv, test_share=test_share, out=out, quiet=quiet, as_json=as_json
        )
    if not done:
        raise typer.Exit(1)


@app.command()
def demo(
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the splits and of the validation set.")
    ] = 0,
    quick: Annotated[bool, typer.Option("--quick", help="Only the two small data sets.")] = False,
    jobs: Annotated[
        int, typer.Option(min=-1, help="Workers of each search; -1 for all cores.")
    ] = -1,
) -> None:
    """Compare leave-zero-out with 10-fold cross validation on bundled data."""
    show_demo(seed=seed, quick=quick, n_jobs=jobs)


@app.command()
def reproduce(
    table: Annotated[str, typer.Argument(help=f"What to run again: {', '.join(REPRODUCTIONS)}.")],
    quick: Annotated[
        bool, typer.Option("--quick", help="Fewer data sets and repeats, on the same path.")
    ] = False,
    data: Annotated[
        Path | None, typer.Option(help="A folder of files NAME.csv.gz; else LEAVEZERO_DATA.")
    ] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="Repeats of each data set.")] = None,
    jobs: Annotated[int, typer.Option(min=-1, help="Runs at a time; -1 for all cores.")] = -1,
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits, folds and V.")] = 0,
    out: Annotated[Path, typer.Option(help="Where lines, tables and figures go.")] = Path(
        "results"
    ),
    only: Annotated[
        list[str] | None, typer.Option("--set", help="Only this data set; may be repeated.")
    ] = None,
    part: Annotated[list[str] | None, typer.Option(help="Only this part; may be repeated.")] = None,
    report: Annotated[
        bool, typer.Option("--report", help="Run nothing; show what earlier calls have finished.")
    ] = False,
) -> None:
    """Run a table of the paper again, beside its printed figures; continues where it stopped."""
    directory = None if data is None else str(data)
    wish = Wish(directory, tuple(only or ()), tuple(part or ()), repeats, seed, quick)
    with _plain_errors():
        reproduce_table(table, wish, out=out, n_jobs=jobs, report=report)


@datasets_app.command("list")
def datasets_list(
    data: Annotated[
        Path | None, typer.Option(help="A folder of files NAME.csv.gz; else LEAVEZERO_DATA.")
    ] = None,
) -> None:
    """List the data sets, their shapes, and where each would come from."""
    with _plain_errors():
        list_datasets(data)


@datasets_app.command("fetch")
def datasets_fetch(
    names: Annotated[list[str], typer.Argument(help="Data sets that OpenML holds.")],
    to: Annotated[
        Path | None, typer.Option(help="The folder for the files; else LEAVEZERO_DATA.")
    ] = None,
) -> None:
    """Download data sets from OpenML into a folder, each checked for its shape."""
    with _plain_errors():
        fetch_datasets(names, to)


@journal_app.command("show")
def journal_show(
    file: Annotated[Path, typer.Argument(help="The file that a search was given as journal.")],
) -> None:
    """Show which search a journal belongs to and what is finished; the file is only read."""
    with _plain_errors():
        show_journal(file)


@contextmanager
def _plain_errors() -> Iterator[None]:
    """End with one sentence: 2 where the user should say something else, 1 if a device fails."""
    try:
        yield
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except OSError as error:  # no connection, or a file that cannot be read
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
