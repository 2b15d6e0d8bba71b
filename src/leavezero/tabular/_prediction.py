"""Predictions for a table on disk, block by block."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd

from leavezero.tabular._errors import TableError
from leavezero.tabular._read import BLOCK_ROWS, Source
from leavezero.tabular._store import TableModel
from leavezero.tabular._words import counted, listed

SUFFIXES = (".csv", ".tsv", ".parquet")
_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs what begins so


def check_table(model: TableModel, source: Source) -> list[str]:
    r"""Return what there is to say about a table that a model is used on; raise if it will not do.

    Parameters
    ----------
    model : TableModel
        What will be used.
    source : Source
        The table that it will be used on.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import Column, Schema, Source, TableModel, check_table
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("a,b\n1,2\n")
    >>> model = TableModel(None, Schema((Column("a", "number", "int64"),)), "y", "regression", {})
    >>> check_table(model, Source.of(path))
    ["1 column that the model does not know is passed on and not read: 'b'."]
    """
    unknown = [name for name in model.schema.check_names(source.names) if name != model.target]
    told = []
    if unknown:
        does = "does not know is" if len(unknown) == 1 else "does not know are"
        told.append(
            f"{counted(len(unknown), 'column')} that the model {does} passed on and not read: "
            f"{listed(unknown)}."
        )
    clash = [name for name in model.new_columns if name in source.names]
    if clash:
        raise TableError(
            f"The table has already {counted(len(clash), 'column')} that would be added: "
            f"{listed(clash)}. Rename them."
        )
    labels = [str(name) for name in getattr(model.pipeline, "classes_", ())]
    odd = [name for name in labels if name.startswith(_FORMULA) and not _is_number(name)]
    if odd:
        told.append(
            f"A spreadsheet would run {listed(odd)} as a formula; labels are written as they are. "
            "Read the column as text, or write Parquet."
        )
    return told


def write_predictions(
    model: TableModel,
    source: Source,
    out: Path,
    *,
    n_rows: int = BLOCK_ROWS,
    watch: Callable[[int], None] | None = None,
) -> int:
    r"""Write a table with predictions beside its own columns; return the number of rows.

    Parameters
    ----------
    model : TableModel
        What predicts.
    source : Source
        The table.
    out : Path
        The file to write: CSV, TSV or Parquet by its suffix.
    n_rows : int, default=50_000
        The rows in memory at a time.
    watch : callable or None, default=None
        Called with the number of rows done.

    Returns
    -------
    int

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import pandas as pd
    >>> from sklearn.linear_model import Ridge
    >>> from leavezero.tabular import Column, Schema, Source, TableModel, write_predictions
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "a.csv").write_text("a\n01\n2\n")
    >>> schema = Schema((Column("a", "number", "int64"),))
    >>> ridge = Ridge(alpha=1e-9).fit(pd.DataFrame({"a": [0.0, 4.0]}), [0, 8])
    >>> model = TableModel(ridge, schema, "y", "regression", {})
    >>> write_predictions(model, Source.of(folder / "a.csv"), folder / "b.csv")
    2
    >>> pd.read_csv(folder / "b.csv", dtype=str)["a"].tolist()
    ['01', '2']
    """
    _check_out(out, source)
    draft = out.with_name(out.name + ".part")
    done = 0
    try:
        writer = _parquet_writer if out.suffix.lower() == ".parquet" else _text_writer
        with_predictions = _blocks(model, source, n_rows)
        for written in writer(with_predictions, draft, source, out.suffix.lower()):
            done += written
            if watch is not None:
                watch(done)
        if not done:
            raise TableError(f"{source.path} has names and no rows. Give a table with rows.")
        os.replace(draft, out)
    finally:
        draft.unlink(missing_ok=True)
    return done


def _check_out(out: Path, source: Source) -> None:
    if out.suffix.lower() not in SUFFIXES:
        raise TableError(f"--out must end in {', '.join(SUFFIXES)}, got {str(out)!r}.")
    if out.exists() and out.samefile(source.path):
        raise TableError("--out is the table itself. Give the predictions a name of their own.")
    if not out.parent.is_dir():
        raise TableError(f"There is no folder {str(out.parent)!r} for --out. Make it first.")


def _blocks(model: TableModel, source: Source, n_rows: int) -> Iterator[Any]:
    for block in source.blocks(n_rows):
        if len(block):
            found = model.predict(block, decimal=source.dialect.decimal)
            yield pd.concat([block, found], axis=1)


def _text_writer(blocks: Iterator[Any], path: Path, source: Source, suffix: str) -> Iterator[int]:
    """Write text as the table itself does, tabs aside."""
    dialect = source.dialect
    separator = "\t" if suffix == ".tsv" else dialect.separator.replace("\t", ",")
    decimal = "." if separator == "," else dialect.decimal
    with path.open("w", encoding="utf-8", newline="") as file:
        first = True
        for block in blocks:
            block.to_csv(file, sep=separator, decimal=decimal, index=False, header=first)
            first = False
            yield len(block)


def _parquet_writer(
    blocks: Iterator[Any], path: Path, source: Source, suffix: str
) -> Iterator[int]:
    import pyarrow as pa
    from pyarrow import parquet

    writer = None
    try:
        for block in blocks:
            if writer is None:
                schema = _arrow_schema(block, source)
                writer = parquet.ParquetWriter(path, schema)
            writer.write_table(pa.Table.from_pandas(block, schema=schema, preserve_index=False))
            yield len(block)
    finally:
        if writer is not None:
            writer.close()


def _arrow_schema(block: Any, source: Source) -> Any:
    """Return the types of a file: those of the table's own columns, and of what is added."""
    import pyarrow as pa

    own = source.arrow_schema()
    added = block.drop(columns=source.names)
    found = pa.Schema.from_pandas(added, preserve_index=False)
    return pa.schema([*own, *found])


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True
