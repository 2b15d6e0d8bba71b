"""How a text file writes a table: encoding, separator and decimal point."""

import bz2
import codecs
import csv
import gzip
import lzma
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from leavezero.tabular._errors import TableError
from leavezero.tabular._marks import find_marks

SAMPLE_BYTES = 2**20
SEPARATORS = (",", ";", "\t", "|")
_SAMPLE_ROWS = 200
PACKING = {".gz": "gzip", ".bz2": "bz2", ".xz": "xz"}
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
_ENCODINGS = ("utf-8", "cp1252", "latin-1")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


@dataclass(frozen=True)
class Dialect:
    """How a text file writes its cells.

    Parameters
    ----------
    separator : str
        What stands between cells.
    decimal : str
        What stands before decimals.
    encoding : str
        How letters are bytes.
    thousands : str
        What parts thousands; empty where the file does not tell.
    n_blank : int
        The empty lines before the names.

    Examples
    --------
    >>> from leavezero.tabular._dialect import Dialect
    >>> Dialect(separator=";", decimal=",").encoding
    'utf-8'
    """

    separator: str = ","
    decimal: str = "."
    encoding: str = "utf-8"
    thousands: str = ""
    n_blank: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return asdict(self)


def first_bytes(path: Path) -> bytes:
    """Return the beginning of a file, unpacked where its name says that it is packed."""
    return next(_all_bytes(path), b"")


def find_dialect(sample: bytes, path: Path) -> tuple[Dialect, list[str]]:
    """Return how a text file writes its cells, and the names in its first row."""
    encoding = _encoding(sample, path)
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
    rows = {separator: _parse(kept, separator) for separator in SEPARATORS}
    separator = max(SEPARATORS, key=lambda one: _evenness(rows[one]))
    found = rows[separator]
    if not found:
        raise TableError(f"{path} cannot be read as a table. Mend its quotes and line ends.")
    decimal, thousands = find_marks([cell for row in found[1:] for cell in row], separator)
    n_blank = next(at for at, line in enumerate(lines) if line.strip())
    return Dialect(separator, decimal, encoding, thousands, n_blank), _names(found[0])


def _all_bytes(path: Path) -> Iterator[bytes]:
    """Yield a file piece by piece, unpacked."""
    try:
        with _OPENERS.get(path.suffix.lower(), open)(path, "rb") as file:
            while piece := file.read(SAMPLE_BYTES):
                yield piece
    except (EOFError, gzip.BadGzipFile, lzma.LZMAError) as error:
        raise TableError(f"{path} does not unpack as {path.suffix}: {error}.") from error


def _encoding(sample: bytes, path: Path) -> str:
    """Return the first encoding in which the whole file can be read, or what its mark says."""
    for mark, encoding in _MARKS:
        if sample.startswith(mark):
            return encoding
    return next(one for one in _ENCODINGS if _decodes(path, one))


def _decodes(path: Path, encoding: str) -> bool:
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        for piece in _all_bytes(path):
            decoder.decode(piece)
        decoder.decode(b"", final=True)
    except UnicodeDecodeError:
        return False
    return True


def _parse(lines: list[str], separator: str) -> list[list[str]]:
    """Return rows of cells; none if lines cannot be parted so."""
    try:
        with _long_cells():
            return list(csv.reader(lines, delimiter=separator))
    except csv.Error:
        return []


@contextmanager
def _long_cells() -> Iterator[None]:
    """Let a cell be as long as a sample; read by a wrong separator, a whole row is one."""
    limit = csv.field_size_limit(SAMPLE_BYTES)
    try:
        yield
    finally:
        csv.field_size_limit(limit)


def _evenness(rows: list[list[str]]) -> tuple[float, int]:
    """Return the share of rows with as many cells as the first, and how many these are."""
    width = len(rows[0]) if rows else 0
    if width < 2:
        return 0.0, width
    return sum(len(row) == width for row in rows) / len(rows), width


def _names(header: list[str]) -> list[str]:
    """Return the names of the columns; one without a name is called by its place."""
    return [name.strip() or f"unnamed_{at}" for at, name in enumerate(header, start=1)]
