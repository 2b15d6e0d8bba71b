"""The commands and their options."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from leavezero._version import __version__
from leavezero.cli._datasets import fetch_datasets, list_datasets
from leavezero.cli._demo import show_demo
from leavezero.cli._reproduce import reproduce_table
from leavezero.experiments import REPRODUCTIONS, Wish

app = typer.Typer(
    help="Choose a machine-learning model without cross validation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
datasets_app = typer.Typer(help="Named data sets for experiments.", no_args_is_help=True)
app.add_typer(datasets_app, name="datasets")


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
) -> None:
    """Run a table of the paper again, beside its printed figures; continues where it stopped."""
    directory = None if data is None else str(data)
    wish = Wish(directory, tuple(only or ()), tuple(part or ()), repeats, seed, quick)
    with _plain_errors():
        reproduce_table(table, wish, out=out, n_jobs=jobs)


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


@contextmanager
def _plain_errors() -> Iterator[None]:
    """End with 2 and one sentence where the user should say something else, with 1 offline."""
    try:
        yield
    except ValueError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except ConnectionError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
