"""A stored model used on a table, on a terminal."""

import json
from pathlib import Path

from leavezero.cli._paths import plain_name, refuse_pipe
from leavezero.cli._progress import counting
from leavezero.cli._telling import printable, tell
from leavezero.tabular import (
    Source,
    check_table,
    counted,
    load_model,
    other_versions,
    write_predictions,
)


def predict_table(
    model_path: Path,
    table: Path,
    *,
    out: Path | None,
    trust: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> None:
    """Write a table with predictions, and say where it is."""
    refuse_pipe(table)
    model = load_model(model_path, trust)
    source = Source.of(table)
    notices = [other_versions(model), *check_table(model, source)]
    if not quiet:
        for notice in filter(None, notices):
            tell(notice)
    path = _default_out(source) if out is None else out
    with counting(quiet, "predicting") as watch:
        n_rows = write_predictions(model, source, path, watch=watch)
    if as_json:
        added = model.new_columns
        print(json.dumps({"out": str(path), "n_rows": n_rows, "added": added}))
    elif not quiet:
        print(printable(f"{counted(n_rows, 'row')} with {', '.join(model.new_columns)}: {path}"))


def _default_out(source: Source) -> Path:
    suffix = ".csv" if source.format == "text" else ".parquet"
    return Path(f"{plain_name(source.path)}-predictions{suffix}")
