"""How a text file writes a table: encoding, separator and decimal point."""

import bz2
import codecs
import csv
import gzip
import lzma
import re
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leavezero.tabular._errors import TableError

SAMPLE_BYTES = 2**20
SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_ROWS = 200
PACKING = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_COMMA_NUMBER = re.compile(r"\s*[-+]?\d+,\d+\s*")
_POINT_NUMBER = re.compile(r"\s*[-+]?\d+\.\d+\s*")


@dataclass(frozen=True)
class Dialect:
    """How a text file writes its cells.

    Examples
    --------
    >>> from leavezero.tabular._dialect import Dialect
    >>> Dialect(separator=";", decimal=",").encoding
    'utf-8'
    """

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file, unpacked where its name says that it is packed."""
    try:
        with _OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
            return file.read(SAMPLE_BYTES)
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise TableError(f"{path} does not unpack as {path.suffix}: {error}.") from error


def find_dialect(sample: bytes, path: Path) -> tuple[Dialect, list[str]]:
    """Return how a text file writes its cells, and the names in its first row."""
    encoding = _encoding(sample)
    if encoding != "utf-16" and b"\x00" in sample:
        raise TableError(
            f"{path} is no table: it holds bytes that no text has. "
            "Give a CSV, TSV, Parquet or Arrow file."
        )
    text = codecs.getincrementaldecoder(encoding)("replace").decode(sample)
    if not text.strip():
        raise TableError(f"{path} is empty. Give a table with names in its first row.")
    lines = text.splitlines(keepends=True)
    whole = lines[:-1] if len(sample) == SAMPLE_BYTES and len(lines) > 1 else lines
    kept = [line for line in whole if line.strip()][:_SAMPLE_ROWS]
    rows = {separator: _parse(kept, separator, path) for separator in SEPARATORS}
    separator = max(SEPARATORS, key=lambda one: _evenness(rows[one]))
    found = rows[separator]
    decimal = _decimal([cell for row in found[1:] for cell in row], separator)
    return Dialect(separator, decimal, encoding), _names(found[0])


def _encoding(sample: bytes) -> str:
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    try:
        codecs.getincrementaldecoder("utf-8")().decode(sample)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def _parse(lines: list[str], separator: str, path: Path) -> list[list[str]]:
    try:
        return list(csv.reader(lines, delimiter=separator))
    except csv.Error as error:
        raise TableError(f"{path} cannot be read as a table: {error}.") from error


def _evenness(rows: list[list[str]]) -> tuple[float, int]:
    """Return the share of rows with as many cells as the first, and how many these are."""
    width = len(rows[0])
    if width < 2:
        return 0.0, width
    return sum(len(row) == width for row in rows) / len(rows), width


def _decimal(cells: list[str], separator: str) -> str:
    if separator == ",":
        return "."
    commas = sum(_COMMA_NUMBER.fullmatch(cell) is not None for cell in cells)
    points = sum(_POINT_NUMBER.fullmatch(cell) is not None for cell in cells)
    return "," if commas > points else "."


def _names(header: list[str]) -> list[str]:
    """Return the names of the columns; one without a name is called by its place."""
    return [name.strip() or f"unnamed_{at}" for at, name in enumerate(header, start=1)]
