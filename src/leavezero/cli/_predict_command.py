"""``leavezero predict``: add a saved model's predictions to a table."""

import json
import os
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from leavezero.cli._messages import TableError, counted, quoted
from leavezero.cli._output import print_lines, print_notice, row_progress
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
_FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")  # spreadsheets evaluate such cells


def run_predict(
    model_path: Path,
    table: Path,
    options: ReadOptions,
    *,
    out: Path | None,
    trusted: tuple[str, ...],
    quiet: bool,
    as_json: bool,
) -> None:
    """Write a table with predictions in addition to its own columns."""
    model, file = load_model(model_path, trusted), open_table(table, options)
    if out is None:
        text = file.format in ("csv", "json lines", "excel")
        out = Path(f"{base_name(table)}-predictions{'.csv' if text else '.parquet'}")
    _check(model, file, out)
    unread: Counter[str] = Counter()
    with row_progress(quiet) as progress:
        n_rows = _write(_predicted(model, file, unread), out, file, progress)
    if not quiet:
        for notice in _notices(model, file, unread):
            print_notice(notice)
    if as_json:
        print(json.dumps({"out": str(out), "n_rows": n_rows, "added": model.new_columns}))
    elif not quiet:
        added = ", ".join(map(str, model.new_columns))
        print_lines([f"{counted(n_rows, 'row')} with {added} written to {out}"])


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


def _predicted(model: TableModel, file: TableFile, unread: Counter[str]) -> Iterator[Any]:
    """Yield blocks with predictions; count the cells that are not of their column's kind."""
    for block in file.blocks():
        if len(block):
            converted = to_features(block, model.columns, file.options.decimal)
            for name, kind in model.columns.items():
                if kind != "string":
                    lost = converted[name].isna().to_numpy() & ~is_missing(block[name])
                    unread[name] += int(lost.sum())
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of unknown categories and unreadable dates
                found = model.predict(converted)
            yield pd.concat([block, found], axis=1)


def _notices(model: TableModel, file: TableFile, unread: Counter[str]) -> Iterator[str]:
    notice = version_notice(model)
    if notice is not None:
        yield notice
    extra = [name for name in file.names if name not in (*model.columns, model.target)]
    if extra:
        yield f"Columns that the model does not use: {quoted(extra)}."
    for name, count in unread.items():
        if count:
            yield (
                f"{counted(count, 'cell')} of column {name!r} cannot be read as "
                f"{model.columns[name]}; treated as missing."
            )
    labels = [str(label) for label in getattr(model.pipeline, "classes_", ())]
    formulas = [label for label in labels if label.startswith(_FORMULA_STARTS)]
    if formulas and pd.to_numeric(pd.Series(formulas), errors="coerce").isna().any():
        yield (
            f"Spreadsheets evaluate {quoted(formulas)} as a formula. Import the column as text, or "
            "write Parquet."
        )


def _write(
    blocks: Iterator[Any], out: Path, file: TableFile, progress: Callable[[int], None]
) -> int:
    """Write blocks to a file completely or not at all; return the number of rows."""
    part = out.with_name(out.name + ".part")
    write = _write_parquet if out.suffix.lower() == ".parquet" else _write_text
    n_rows = 0
    try:
        for written in write(blocks, part, "\t" if out.suffix.lower() == ".tsv" else ",", file):
            n_rows += written
            progress(n_rows)
        if not n_rows:
            raise TableError(f"{file.path} has column names and no rows. Use a table with rows.")
        os.replace(part, out)
    finally:
        part.unlink(missing_ok=True)
    return n_rows


def _write_text(blocks: Iterator[Any], path: Path, sep: str, file: TableFile) -> Iterator[int]:
    decimal = "."
    if sep == "," and file.format == "csv" and file.options.sep != "\t":
        sep, decimal = str(file.options.sep), file.options.decimal  # as the table itself
    with path.open("w", encoding="utf-8", newline="") as stream:
        for at, block in enumerate(blocks):
            block.to_csv(stream, sep=sep, decimal=decimal, index=False, header=at == 0)
            yield len(block)


def _write_parquet(blocks: Iterator[Any], path: Path, sep: str, file: TableFile) -> Iterator[int]:
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    try:
        for block in blocks:
            table = pa.Table.from_pandas(block, preserve_index=False)
            if writer is None:
                types = {pa.null(): pa.string()}  # a column without values in the first block
                names = [(one.name, types.get(one.type, one.type)) for one in table.schema]
                writer = parquet.ParquetWriter(path, pa.schema(names))
            # types that pandas infers from a block may differ, such as integers with gaps
            writer.write_table(table.cast(writer.schema))
            yield len(block)
    finally:
        if writer is not None:
            writer.close()
