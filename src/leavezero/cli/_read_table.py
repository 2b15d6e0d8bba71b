"""Read tables: CSV, TSV, Parquet, Feather, Excel, JSON lines and SQLite."""

import atexit
import bz2
import csv
import gzip
import json
import lzma
import marshal
import re
import shutil
import sqlite3
import sys
import warnings
import zipfile
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field, replace
from itertools import count
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, Literal
from xml.parsers import expat

import numpy as np
import pandas as pd

from leavezero._typing import AnyArray
from leavezero.cli._output import TableError, check_name, quoted

Kind = Literal["number", "boolean", "datetime", "string"]

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zip")
MAX_STEPS, STEPS_PER_CALL = 5 * 10**9, 10**6  # of SQLite for one table: a minute or two
BATCH_ROWS = 2**12  # of a Parquet file, whose size is looked at before the next ones are read
MAX_EXCEL_ROWS = 2**20
SMALL_SIZE, MAX_EXPANSION = 2**28, 200  # compressed files expand to these bytes, or so many times
_OPENERS: dict[str, Callable[..., Any]] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_TEXT = dict.fromkeys((".csv", ".tsv", ".txt"), "csv")
_JSON = dict.fromkeys((".jsonl", ".ndjson"), "json lines")
_ARROW = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}
_SQLITE = dict.fromkeys((".sqlite", ".sqlite3", ".db"), "sqlite")
FORMATS = _TEXT | _JSON | _ARROW | {".xlsx": "excel"} | _SQLITE
STDIN = Path("-")
NULLS = ("", "?", "...")  # in addition to those of pandas
_TEXT_WORDS = 4
_NULL_WORDS = ("na", "n/a", "#n/a", "#na", "nan", "-nan", "null", "none", "<na>")
_KINDS: dict[str, Kind] = {  # of the names that pandas infers; all others are strings
    "boolean": "boolean",
    **dict.fromkeys(("date", "datetime", "datetime64"), "datetime"),
    **dict.fromkeys(("decimal", "floating", "integer", "integer-na"), "number"),
    **dict.fromkeys(("mixed-integer-float", "timedelta64"), "number"),
}


@dataclass(frozen=True)
class ReadOptions:
    """How a file is written; sep=None uses the most frequent separator in the first row."""

    sep: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"
    sheet: str | None = None  # of an Excel file; None for the first one, which open_table names


@dataclass(frozen=True, eq=False)
class TableFile:
    """A table on disk with the names of its columns."""

    path: Path
    format: str
    names: list[str]
    options: ReadOptions  # its sep is set for text files
    frame: Any = field(default=None, repr=False)  # of formats that are read as a whole

    def read(self) -> Any:
        """Return the table as a frame with inferred types."""
        found = self.frame
        if found is None:
            with _text_errors(self.path, self.options):
                found = pd.read_csv(self.path, **self._csv(), na_values=NULLS, low_memory=False)
        self._check_rows(len(found))
        return found

    def blocks(self, n_rows: int = 50_000) -> Iterator[Any]:
        """Yield the table in blocks of rows; cells of text files are strings as written."""
        n_read = 0
        if self.frame is not None:
            n_read = len(self.frame)
            yield from (self.frame.iloc[at : at + n_rows] for at in range(0, n_read, n_rows))
        else:
            options = self._csv() | {"dtype": str, "keep_default_na": False, "chunksize": n_rows}
            with _text_errors(self.path, self.options), pd.read_csv(self.path, **options) as blocks:
                for block in filter(len, blocks):
                    n_read += len(block)
                    yield block
        self._check_rows(n_read)

    def _check_rows(self, n_rows: int) -> None:
        if not n_rows:
            raise TableError(f"{self.path} has column names and no rows. Use a table with rows.")

    def _csv(self) -> dict[str, Any]:
        return {
            "sep": self.options.sep,
            "decimal": self.options.decimal,
            "encoding": self.options.encoding,
            "names": self.names,
            "header": 0,
            "index_col": False,
            "skip_blank_lines": len(self.names) > 1,  # a blank line of one column is a cell
        }


def open_table(path: Path, options: ReadOptions) -> TableFile:
    """Check that a file is a table and return it with the names of its columns.

    ``-`` is text on standard input, ``FILE::TABLE`` a table of an SQLite file.
    """
    if path == STDIN:
        return _open_stdin(options)
    name, _, table = str(path).partition("::")
    path = Path(name)
    if not path.is_file():
        what = "is not a file" if path.exists() else "does not exist"
        raise TableError(f"TABLE must be a file; {str(path)!r} {what}.")
    if path.stat().st_size == 0:
        raise TableError(f"{path} is empty. The first row must hold the column names.")
    *_, first, last = "", "", *(suffix.lower() for suffix in path.suffixes)
    suffix = first if last in COMPRESSIONS else last
    if suffix not in FORMATS or (last in COMPRESSIONS and suffix not in _TEXT | _JSON):
        raise TableError(
            f"The name of {str(path)!r} must end in {', '.join(FORMATS)}; text may also be "
            f"compressed ({', '.join(COMPRESSIONS)}). Rename or convert the file."
        )
    if table and suffix not in _SQLITE:
        raise TableError(f"Only SQLite files have tables; use {name!r} without '::{table}'.")
    if last in COMPRESSIONS or last == ".xlsx":
        _check_expansion(path, last)
    file = _open(path, suffix, options, table or None)
    if not file.names:
        raise TableError(f"{path} has no columns. The first row must hold the column names.")
    duplicates = [name for name, count in Counter(file.names).items() if count > 1]
    if duplicates:
        raise TableError(
            f"Column names must be unique; {path} repeats {quoted(duplicates)}. Rename the columns."
        )
    return file


def base_name(path: Path) -> str:
    """Return the name of a table's file without the suffixes of format and compression."""
    if path == STDIN:
        return "stdin"
    path = Path(str(path).partition("::")[0])
    for known in (COMPRESSIONS, FORMATS):
        if path.suffix.lower() in known:
            path = path.with_suffix("")
    return path.name


def column_kind(column: Any) -> Kind:
    """Return how the values of a column are used."""
    return _KINDS.get(pd.api.types.infer_dtype(column, skipna=True), "string")


def is_text(column: Any) -> bool:
    """Return whether the cells of a column of strings have several words on average."""
    return bool(column.str.count(r"\S+").mean() >= _TEXT_WORDS)


def is_missing(column: Any) -> AnyArray:
    """Return which cells are missing, as values or as strings such as ``NA``."""
    found = column.isna().to_numpy()
    if column_kind(column) == "string":
        words = column.astype(str).str.strip().str.lower()
        found = found | words.isin((*NULLS, *_NULL_WORDS)).to_numpy()
    return np.asarray(found)


def to_features(frame: Any, kinds: Mapping[str, Kind], decimal: str = ".") -> Any:
    """Return the named columns converted to their kinds; other values become missing."""
    converted = {name: _convert(frame[name], kind, decimal) for name, kind in kinds.items()}
    return pd.DataFrame(converted, index=frame.index)


def _without_decimal(column: Any, decimal: str) -> Any:
    """Return numbers if all cells are strings of numbers with this decimal point."""
    if column_kind(column) != "string":
        return column
    numbers = _convert(column, "number", decimal)
    return column if (numbers.isna() & ~is_missing(column)).any() else numbers


def to_numbers(column: Any) -> AnyArray:
    """Return numbers and times as floats."""
    if pd.api.types.is_datetime64_any_dtype(column):
        column = column.astype("int64").where(column.notna(), np.nan)
    return np.asarray(column, dtype=np.float64)


def _convert(column: Any, kind: Kind, decimal: str) -> Any:
    if kind == "datetime":
        return pd.to_datetime(column, errors="coerce")
    if kind == "number" and pd.api.types.is_timedelta64_dtype(column):
        return column.dt.total_seconds()
    if kind == "number" and pd.api.types.is_numeric_dtype(column):
        whole = pd.api.types.is_integer_dtype(column) and not column.isna().any()
        return column.astype(np.int64 if whole else np.float64)
    words = column.astype(object).where(column.notna(), None).map(str, na_action="ignore")
    if kind == "string":
        return words
    if kind == "boolean":
        return words.str.strip().str.lower().map({"true": 1.0, "false": 0.0})
    if decimal != ".":
        words = words.str.replace(decimal, ".", regex=False)
    return pd.to_numeric(words, errors="coerce").astype(np.float64)


def _open_stdin(options: ReadOptions) -> TableFile:
    """Copy standard input to a file, because the first row is read twice."""
    path = Path(mkdtemp(prefix="leavezero-")) / "stdin.csv"
    atexit.register(shutil.rmtree, path.parent, ignore_errors=True)
    with path.open("wb") as file:
        shutil.copyfileobj(sys.stdin.buffer, file)
    return open_table(path, options)


def _max_size(path: Path) -> int:
    """Return the most bytes to which a file may expand: memory would run out."""
    return max(SMALL_SIZE, MAX_EXPANSION * path.stat().st_size)


def _expands(path: Path) -> TableError:
    return TableError(
        f"{path} expands to more than {MAX_EXPANSION} times its size. If that is right, save it as "
        "CSV without compression."
    )


def _check_expansion(path: Path, suffix: str) -> None:
    """Raise if a compressed file is much smaller than its table."""
    most, size, damaged = _max_size(path), 0, None
    with suppress(OSError, EOFError, RuntimeError, lzma.LZMAError, zlib.error, zipfile.BadZipFile):
        if suffix in (".zip", ".xlsx"):
            with zipfile.ZipFile(path) as archive:
                size = sum(member.file_size for member in archive.infolist())
                damaged = archive.testzip() if size <= most else None  # such as a false size
        else:
            with _OPENERS[suffix](path) as file:
                while size <= most and (part := file.read(2**20)):
                    size += len(part)
    if size > most:
        raise _expands(path)
    if damaged:
        raise TableError(f"{path} cannot be read as an archive: its part {damaged!r} is damaged.")


def _bounded(path: Path, parts: Iterable[Any], size: Callable[[Any], int]) -> list[Any]:
    """Return the parts of a table; raise as soon as they are too large together."""
    found, left = [], _max_size(path)
    for part in parts:
        left -= size(part)
        if left < 0:
            raise _expands(path)
        found.append(part)
    return found


def _read_arrow(path: Path, kind: str) -> Any:
    import pyarrow as pa  # takes a while, and most tables are CSV
    from pyarrow import compute, parquet

    def size(column: Any) -> int:
        kind = getattr(column.type, "value_type", None)
        if not (pa.types.is_dictionary(column.type) and kind in (pa.string(), pa.large_string())):
            return int(column.nbytes)
        lengths = compute.binary_length(column.dictionary).take(column.indices)
        return int(compute.sum(lengths).as_py() or 0)  # categories become strings

    file = parquet.ParquetFile(path) if kind == "parquet" else pa.ipc.open_file(path)
    if kind == "parquet":
        schema, parts = file.schema_arrow, file.iter_batches(BATCH_ROWS)
    else:
        schema, parts = file.schema, map(file.get_batch, range(file.num_record_batches))
    table = pa.Table.from_batches(
        _bounded(path, parts, lambda batch: sum(map(size, batch.columns))), schema
    )
    # an index that pandas has stored is a column like the others
    return table.to_pandas(ignore_metadata=True, date_as_object=False)


class _FarCellError(Exception):
    """A cell of an Excel sheet is far from all others."""


def _check_cells(path: Path) -> None:
    """Raise if a few cells of a sheet are far apart: it would be filled with empty ones."""
    from openpyxl import utils  # type: ignore[import-untyped]  # has no types

    most = _max_size(path) // 8  # bytes of a cell
    row = column = n_rows = n_columns = 0
    root = ""

    def start(tag: str, attributes: dict[str, str]) -> None:
        nonlocal row, column, n_rows, n_columns, root
        name = tag.rpartition(":")[2]
        root = root or name
        if root != "worksheet":
            parser.StartElementHandler = None
        elif name == "row":
            row, column = int(attributes.get("r", row + 1)), 0
        elif name == "c":
            letters = attributes.get("r", "").rstrip("0123456789")
            column = utils.column_index_from_string(letters) if letters else column + 1
        elif name in ("v", "is"):  # cells without a value do not count
            n_rows, n_columns = max(n_rows, row), max(n_columns, column)
        if row > MAX_EXCEL_ROWS or n_rows * n_columns > most:
            raise _FarCellError

    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            row = n_rows = n_columns = 0
            root = ""
            parser = expat.ParserCreate()
            parser.StartElementHandler = start
            try:
                with archive.open(member) as file:
                    parser.ParseFile(file)
            except _FarCellError as error:
                raise ValueError(
                    f"row {row:,} of a sheet is far from all others, or has a cell that is. Delete "
                    "it, or save the sheet as CSV"
                ) from error
            except (expat.ExpatError, LookupError, ValueError):
                continue  # no XML, or an error that is reported when the sheet is read


def _check_keys(path: Path, encoding: str) -> None:
    """Raise if JSON lines have so many different keys that most cells of the table are empty."""
    most, names = _max_size(path) // 8, set[Any]()  # bytes of a cell
    with ExitStack() as files:
        file: Any
        if path.suffix.lower() == ".zip":
            archive = files.enter_context(zipfile.ZipFile(path))
            file = files.enter_context(archive.open(archive.namelist()[0]))
        else:
            file = files.enter_context(_OPENERS.get(path.suffix.lower(), Path.open)(path, "rb"))
        for n_rows, line in enumerate(file, 1):
            with suppress(ValueError):  # reported when it is read
                record = json.loads(line.decode(encoding))
                names.update(record if isinstance(record, dict) else ())
            if n_rows * len(names) > most:
                raise _expands(path)


def _read_excel(path: Path, options: ReadOptions) -> tuple[Any, ReadOptions]:
    """Return a sheet, and the options with its name."""
    _check_cells(path)
    with pd.ExcelFile(path, engine="openpyxl") as book:
        names = [str(name) for name in book.sheet_names]
        sheet = names[0] if options.sheet is None else options.sheet
        check_name(sheet, names, "--sheet must be a sheet of the file")
        return pd.read_excel(book, sheet_name=sheet), replace(options, sheet=sheet)


def _read_sqlite(path: Path, table: str | None) -> Any:
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
        query = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') ORDER BY name"
        names = [name for (name,) in database.execute(query)]
        if table is None and len(names) == 1:
            table = names[0]
        if table is None or table not in names:
            raise ValueError(f"name one of its tables, such as {path}::TABLE: {quoted(names)}.")
        database.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(_max_size(path), 10**9))
        steps = count(0, STEPS_PER_CALL)
        database.set_progress_handler(lambda: next(steps) > MAX_STEPS, STEPS_PER_CALL)
        quoted_name = table.replace('"', '""')
        try:
            rows = database.execute(f'SELECT * FROM "{quoted_name}"')
            columns = [name for name, *_ in rows.description]
            found = _bounded(path, rows, lambda row: len(marshal.dumps(row)))  # a view may not end
        except sqlite3.OperationalError as error:
            if next(steps) > MAX_STEPS:
                raise ValueError(
                    f"{table!r} takes too long. If it is a view, save it as a table"
                ) from error
            raise
        return pd.DataFrame.from_records(found, columns=columns, coerce_float=True)


def _open(path: Path, suffix: str, options: ReadOptions, table: str | None) -> TableFile:
    if suffix in _TEXT:
        return _open_text(path, suffix, options)
    kind = FORMATS[suffix]
    try:
        if suffix in _ARROW:
            frame = _read_arrow(path, kind)
        elif suffix in _JSON:
            _check_keys(path, options.encoding)
            frame = pd.read_json(path, lines=True, dtype=False, encoding=options.encoding)
        elif suffix in _SQLITE:
            frame = _read_sqlite(path, table)
        else:
            frame, options = _read_excel(path, options)
    except TableError:
        raise
    except ImportError as error:
        raise TableError(
            f"Excel files require openpyxl: pip install openpyxl; or save {path} as CSV."
        ) from error
    except Exception as error:  # readers of damaged files raise anything, such as IndexError
        raise TableError(f"{path} cannot be read as {kind}: {error}") from error
    frame.columns = frame.columns.map(str)
    if options.decimal != ".":
        frame = frame.apply(_without_decimal, decimal=options.decimal)
    return TableFile(path, kind, list(frame.columns), options, frame)


def _open_text(path: Path, suffix: str, options: ReadOptions) -> TableFile:
    """Read the names in the first row, and find the separator there."""
    row: dict[str, Any] = {"header": None, "nrows": 1, "dtype": str, "keep_default_na": False}
    row["encoding"] = options.encoding
    is_tab = options.sep == "\\t" or (options.sep is None and suffix == ".tsv")
    sep = "\t" if is_tab else options.sep
    for option, value in {"--sep": sep, "--decimal": options.decimal}.items():
        if value is not None and len(value) != 1:
            raise TableError(f"{option} must be one character, got {value!r}.")
    with _text_errors(path, options):
        if sep is None:
            # \x01 occurs in no table, so that the row is one cell
            cell = pd.read_csv(path, sep="\x01", quoting=csv.QUOTE_NONE, **row).iat[0, 0]
            sep = max(",;\t|", key=re.sub(r'"[^"]*"', "", cell).count)
        names = [str(name) for name in pd.read_csv(path, sep=sep, **row).iloc[0]]
    names = [name or f"Unnamed: {at}" for at, name in enumerate(names)]  # as pandas names them
    return TableFile(path, "csv", names, replace(options, sep=sep))


@contextmanager
def _text_errors(path: Path, options: ReadOptions) -> Iterator[None]:
    """Raise the errors of pandas as TableError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pd.errors.ParserWarning)  # rows that are too long
            yield
    except (
        *(ValueError, LookupError, OSError, EOFError, pd.errors.ParserWarning),
        RuntimeError,  # encrypted archives, and other methods of compression
        *(zipfile.BadZipFile, zlib.error, lzma.LZMAError),
    ) as error:
        raise TableError(
            f"{path} cannot be read as a text table with column names in its first row "
            f"(encoding {options.encoding}): {' '.join(str(error).split()).rstrip('.')}. Fix the "
            "file, or give --sep or --encoding, such as cp1252."
        ) from error
