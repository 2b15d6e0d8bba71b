"""``leavezero predict``: add a saved model's predictions to a table."""

import warnings
from collections import Counter
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from leavezero.cli._output import (
    TableError,
    counted,
    part_file,
    print_notice,
    print_results,
    progress_bar,
    quoted,
)
from leavezero.cli._read_table import (
    ReadOptions,
    TableFile,
    base_name,
    is_missing,
    open_table,
    to_features,
)
from leavezero.cli._saved_model import TableModel, load_model, version_notice

SUFFIXES = (".csv", ".tsv", ".parquet")


def run_predict(
    model_path: Path,
    table: Path,
    options: ReadOptions,
    *,
    out: Path | None,
    trusted: Collection[str],
    quiet: bool,
    as_json: bool,
) -> None:
    """Write a table with predictions in addition to its own columns."""
    model, file = load_model(model_path, trusted), open_table(table, options)
    if out is None:
        arrow = file.format in ("parquet", "feather")
        out = Path(f"{base_name(table)}-predictions{'.parquet' if arrow else '.csv'}")
    _check(model, file, out)
    unread: Counter[str] = Counter()
    n_rows = _write(_predicted(model, file, unread, quiet), out, file)
    if not quiet:
        print_notice(*_notices(model, file, unread))
    found = {"out": str(out), "n_rows": n_rows, "added": model.new_columns}
    line = f"{counted(n_rows, 'row')} with {', '.join(model.new_columns)} written to {out}"
    print_results(found, [line], quiet=quiet, as_json=as_json)


def _check(model: TableModel, file: TableFile, out: Path) -> None:
    missing = [name for name in model.columns if name not in file.names]
    if missing:
        raise TableError(
            f"The model requires columns that {file.path} does not have: {quoted(missing)}."
        )
    existing = [name for name in model.new_columns if name in file.names]
    if existing:
        raise TableError(f"{file.path} already has columns {quoted(existing)}. Rename them.")
    if out.suffix.lower() not in SUFFIXES:
        raise TableError(f"--out must end in {', '.join(SUFFIXES)}, got {str(out)!r}.")
    if out.exists() and out.samefile(file.path):
        raise TableError("--out must differ from the table itself.")
    if not out.parent.is_dir():
        raise TableError(f"The directory of --out {str(out)!r} does not exist.")


def _predicted(
    model: TableModel, file: TableFile, unread: Counter[str], quiet: bool
) -> Iterator[Any]:
    """Yield blocks with predictions; count the cells that are not of their column's kind."""
    with progress_bar(quiet) as progress:
        task = progress.add_task("predicting", total=None, text="")
        for block in file.blocks():
            converted = to_features(block, model.columns, file.options.decimal)
            for name, kind in model.columns.items():
                if kind != "string":
                    lost = converted[name].isna().to_numpy() & ~is_missing(block[name])
                    unread[name] += int(lost.sum())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of unknown categories and unreadable dates
                found = model.predict(converted)
            yield pd.concat([block, found], axis=1)
            progress.advance(task, len(block))


def _notices(model: TableModel, file: TableFile, unread: Counter[str]) -> Iterator[str]:
    yield from version_notice(model)
    extra = [name for name in file.names if name not in (*model.columns, model.target)]
    if extra:
        yield f"Columns that the model does not use: {quoted(extra)}."
    for name, count in (+unread).items():
        yield (
            f"{counted(count, 'cell')} of column {name!r} cannot be read as "
            f"{model.columns[name]}; treated as missing."
        )


def _write(blocks: Iterator[Any], out: Path, file: TableFile) -> int:
    """Write blocks to a file completely or not at all; return the number of rows."""
    suffix, n_rows = out.suffix.lower(), 0
    sep, decimal = "\t" if suffix == ".tsv" else ",", "."
    if suffix == ".csv" and file.format == "csv" and file.options.sep != "\t":
        sep, decimal = str(file.options.sep), file.options.decimal  # as the table itself
    with part_file(out) as part:
        if suffix == ".parquet":
            # at once: types that pandas infers from a block may differ, such as integers with gaps
            whole = pd.concat(list(blocks))
            whole.to_parquet(part, index=False)
            return len(whole)
        with part.open("w", encoding="utf-8", newline="") as stream:
            for block in blocks:
                block.to_csv(stream, sep=sep, decimal=decimal, index=False, header=n_rows == 0)
                n_rows += len(block)
    return n_rows
