"""The commands and their options."""

from typing import Annotated

import typer

from leavezero._version import __version__
from leavezero.cli._demo import show_demo

app = typer.Typer(
    help="Choose a machine-learning model without cross validation.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


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
