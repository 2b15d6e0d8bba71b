"""The options that commands for tables share."""

from pathlib import Path
from typing import Annotated

import typer

Table = Annotated[Path, typer.Argument(metavar="TABLE", help="A CSV, TSV, Parquet or Arrow file.")]
Target = Annotated[
    str | None, typer.Option(help="The column to predict; without it the columns are listed.")
]
Task = Annotated[
    str | None, typer.Option(help="classification or regression; else the values tell.")
]
Models = Annotated[
    str | None,
    typer.Option(help="Names with commas: linear, svm, forest, boosting, knn, bayes, tree."),
]
Grid = Annotated[
    Path | None,
    typer.Option(
        help="Your own candidates in TOML: a section a model, such as linear, and in it "
        "grid = { C = [0.5, 5] }."
    ),
]
Metric = Annotated[
    str | None, typer.Option(help="A scorer of scikit-learn; else accuracy, or r2 for numbers.")
]
Augmenter = Annotated[
    str,
    typer.Option(
        help="What draws the validation set: auto, mixup, neighbor-mixup, gaussian, "
        "gaussian-mixture, copula, portfolio, teacher-copula."
    ),
]
Confirm = Annotated[str | None, typer.Option(help="Folds for at most so many candidates, or auto.")]
Keep = Annotated[list[str] | None, typer.Option(help="A column that stays; may be repeated.")]
Drop = Annotated[list[str] | None, typer.Option(help="A column that goes; may be repeated.")]
Jobs = Annotated[int, typer.Option(min=-1, help="Workers; -1 for all cores.")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything that is drawn.")]
Out = Annotated[Path | None, typer.Option(help="The folder for results; else leavezero-TABLE.")]
Quiet = Annotated[bool, typer.Option("--quiet", help="Say nothing but errors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the results as JSON.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show tracebacks.")]
