"""Read tables: CSV, TSV, Parquet, Feather, Excel and JSON lines."""

import csv
import re
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from pyarrow import feather, parquet

from leavezero._typing import AnyArray
from leavezero.cli._output import TableError, quoted

Kind = Literal["number", "boolean", "datetime", "string"]

COMPRESSIONS = (".gz", ".bz2", ".xz", ".zip")
_TEXT = dict.fromkeys((".csv", ".tsv", ".txt"), "csv")
_JSON = dict.fromkeys((".jsonl", ".ndjson"), "json lines")
_ARROW = {".parquet": "parquet", ".feather": "feather", ".arrow": "feather"}
FORMATS = _TEXT | _JSON | _ARROW | {".xlsx": "excel"}
_NULLS = ("", "?", "...")  # in addition to those of pandas
_NULL_WORDS = ("na", "n/a", "#n/a", "#na", "nan", "-nan", "null", "none", "<na>")
_KINDS: dict[str, Kind] = {  # of the names that pandas infers; all others are strings
    "boolean": "boolean",
    **dict.fromkeys(("date", "datetime", "datetime64"), "datetime"),
    **dict.fromkeys(("decimal", "floating", "integer", "integer-na"), "number"),
    **dict.fromkeys(("mixed-integer-float", "timedelta64"), "number"),
}


@dataclass(frozen=True)
class ReadOptions:
    """How a text file is written; sep=None uses the most frequent separator in the first row."""

    sep: str | None = None
    decimal: str = "."
    encoding: str = "utf-8"


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
                found = pd.read_csv(self.path, **self._csv(), na_values=_NULLS, low_memory=False)
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
    """Check that a file is a table and return it with the names of its columns."""
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
    file = _open(path, suffix, options)
    duplicates = [name for name, count in Counter(file.names).items() if count > 1]
    if duplicates:
        raise TableError(
            f"Column names must be unique; {path} repeats {quoted(duplicates)}. Rename the columns."
        )
    return file


def base_name(path: Path) -> str:
    """Return the name of a table's file without the suffixes of format and compression."""
    for known in (COMPRESSIONS, FORMATS):
        if path.suffix.lower() in known:
            path = path.with_suffix("")
    return path.name


def column_kind(column: Any) -> Kind:
    """Return how the values of a column are used."""
    return _KINDS.get(pd.api.types.infer_dtype(column, skipna=True), "string")


def is_missing(column: Any) -> AnyArray:
    """Return which cells are missing, as values or as strings such as ``NA``."""
    found = column.isna().to_numpy()
    if column_kind(column) == "string":
        words = column.astype(str).str.strip().str.lower()
        found = found | words.isin((*_NULLS, *_NULL_WORDS)).to_numpy()
    return np.asarray(found)


def to_features(frame: Any, kinds: Mapping[str, Kind], decimal: str = ".") -> Any:
    """Return the named columns converted to their kinds; other values become missing."""
    converted = {name: _convert(frame[name], kind, decimal) for name, kind in kinds.items()}
    return pd.DataFrame(converted, index=frame.index)


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


def _open(path: Path, suffix: str, options: ReadOptions) -> TableFile:
    if suffix in _TEXT:
        return _open_text(path, suffix, options)
    kind = FORMATS[suffix]
    try:
        if suffix in _ARROW:
            table = (parquet if kind == "parquet" else feather).read_table(path)
            # an index that pandas has stored is a column like the others
            frame = table.to_pandas(ignore_metadata=True, date_as_object=False)
        elif suffix in _JSON:
            frame = pd.read_json(path, lines=True, dtype=False, encoding=options.encoding)
        else:
            frame = pd.read_excel(path)
    except ImportError as error:
        raise TableError(
            f"Excel files require openpyxl: pip install openpyxl; or save {path} as CSV."
        ) from error
    except (ValueError, KeyError, OSError) as error:  # ArrowInvalid is a ValueError
        raise TableError(f"{path} cannot be read as {kind}: {error}") from error
    frame.columns = frame.columns.map(str)
    return TableFile(path, kind, list(frame.columns), options, frame)


def _open_text(path: Path, suffix: str, options: ReadOptions) -> TableFile:
    """Read the names in the first row, and find the separator there."""
    row: dict[str, Any] = {"header": None, "nrows": 1, "dtype": str, "keep_default_na": False}
    row["encoding"] = options.encoding
    sep = "\t" if options.sep is None and suffix == ".tsv" else options.sep
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
    except (ValueError, LookupError, OSError, EOFError, pd.errors.ParserWarning) as error:
        raise TableError(
            f"{path} cannot be read as a text table with column names in its first row "
            f"(encoding {options.encoding}): {' '.join(str(error).split())} Fix the file, or give "
            "--sep or --encoding, such as cp1252."
        ) from error
