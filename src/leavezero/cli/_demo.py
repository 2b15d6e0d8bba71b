"""The demo on a terminal."""

from rich.box import SIMPLE
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

from leavezero.experiments import LEAVE_ZERO_OUT, DemoRow, demo_grids, run_demo

_WAYS = 2  # leave-zero-out and cross validation
_WIDTH = 120  # of a file or a pipe, which has none of its own


def show_demo(*, seed: int, quick: bool, n_jobs: int) -> None:
    """Run the demo with a progress bar, and print its table."""
    console = Console()
    if not console.is_terminal:
        console.width = _WIDTH
    n_rows = (2 if quick else 3) * len(demo_grids()) * _WAYS
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    rows: list[DemoRow] = []
    with Progress(
        *columns,
        TimeElapsedColumn(),
        console=Console(stderr=True),
        transient=True,
    ) as progress:
        task = progress.add_task("searching", total=n_rows)
        for row in run_demo(seed=seed, quick=quick, n_jobs=n_jobs):
            rows.append(row)
            progress.update(task, advance=1, description=f"{row.data}, {row.model}")
    console.print(_table(rows))
    console.print(_summary(rows))


def _table(rows: list[DemoRow]) -> Table:
    table = Table(title="One fit a candidate, against ten and a refit", box=SIMPLE)
    for name in ("data", "model", "way"):
        table.add_column(name)
    for name in ("fits", "seconds"):
        table.add_column(name, justify="right")
    table.add_column("chosen")
    for name in ("validation\nscore", "test\naccuracy"):
        table.add_column(name, justify="right")
    for row in rows:
        table.add_row(
            row.data,
            row.model,
            row.way,
            str(row.n_fits),
            f"{row.seconds:.2f}",
            ", ".join(f"{name}={value:g}" for name, value in row.params.items()),
            f"{row.validation_score:.4f}",
            f"{row.test_accuracy:.4f}",
            end_section=row.way != LEAVE_ZERO_OUT,
        )
    return table


def _summary(rows: list[DemoRow]) -> str:
    ours = [row for row in rows if row.way == LEAVE_ZERO_OUT]
    theirs = [row for row in rows if row.way != LEAVE_ZERO_OUT]
    pairs = list(zip(ours, theirs, strict=True))
    gain = 100 * sum(a.test_accuracy - b.test_accuracy for a, b in pairs) / len(pairs)
    return (
        f"Leave-zero-out made {sum(row.n_fits for row in ours)} fits, 10-fold cross validation "
        f"{sum(row.n_fits for row in theirs)}. "
        f"Mean difference in test accuracy: {gain:+.2f} points.\n"
        "The validation score is not an estimate of test accuracy for flexible models: "
        "it is there to choose by."
    )
