"""A table on disk to a frame."""

import hashlib
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from leavezero.tabular._cells import are_codes, is_words, numbers, outgrow_floats, stripped
from leavezero.tabular._dialect import PACKING, Dialect, find_dialect, first_bytes
from leavezero.tabular._errors import TableError
from leavezero.tabular._marks import thousands_mark
from leavezero.tabular._words import counted, listed

BLOCK_ROWS = 50_000
_STEP_ROWS = 20_000  # between two words on how far a table is read
_PARQUET, _ARROW = b"PAR1", b"ARROW1"

Watch = Callable[[int], None]  # hears how many bytes are done


@dataclass(frozen=True, eq=False)
class Source:
    r"""A table on disk, looked at and not read yet.

    Parameters
    ----------
    path : Path
        Where it is.
    format : "text", "parquet" or "arrow"
        How it is written; the file's own beginning tells, not its name.
    names : list of str
        The columns.
    dialect : Dialect
        How a text file writes its cells.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import Source
    >>> path = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = path.write_text("x;y\n1,5;no\n")
    >>> source = Source.of(path)
    >>> source.names, source.dialect.separator, source.dialect.decimal
    (['x', 'y'], ';', ',')
    """

    path: Path
    format: str
    names: list[str]
    dialect: Dialect = field(default_factory=Dialect)

    @classmethod
    def of(cls, path: str | Path) -> "Source":
        """Look at the beginning of a file."""
        path = Path(path)
        if not path.exists():
            raise TableError(f"There is no file {str(path)!r}. Check the name and the folder.")
        if path.is_dir():
            raise TableError(f"{str(path)!r} is a folder. Name a file in it.")
        sample = first_bytes(path)
        if not sample:
            raise TableError(f"{path} is empty. Give a table with names in its first row.")
        if sample.startswith(_PARQUET):
            found = cls(path, "parquet", list(_parquet_schema(path).names))
        elif sample.startswith(_ARROW):
            found = cls(path, "arrow", list(_arrow_schema(path).names))
        else:
            dialect, names = find_dialect(sample, path)
            found = cls(path, "text", names, dialect)
        _refuse_twins(found.names, path)
        return found

    @property
    def n_bytes(self) -> int:
        """The size of the file."""
        return self.path.stat().st_size

    def blocks(self, n_rows: int = BLOCK_ROWS, watch: Watch | None = None) -> Iterator[Any]:
        """Yield the table piece by piece; the cells of a text file come as they are written.

        ``watch`` hears after each piece how many bytes of the file are done.
        """
        hear = watch or _nobody
        if self.format == "text":
            yield from self._text_blocks(n_rows, hear)
            return
        for share, batch in _batches(self, n_rows):
            # an index is a column like others, and a gap makes no floats of whole numbers
            yield batch.to_pandas(ignore_metadata=True, types_mapper=_whole_type)
            hear(round(share * self.n_bytes))

    def read(self, watch: Watch | None = None) -> Any:
        """Return the whole table, each column with the type that its cells have."""
        return self.read_with_marks(watch)[0]

    def read_with_marks(self, watch: Watch | None = None) -> tuple[Any, dict[str, str]]:
        """Return the whole table, and the mark of thousands for each column that has one."""
        pieces = list(self.blocks(_STEP_ROWS, watch))
        if not sum(len(piece) for piece in pieces):
            raise TableError(f"{self.path} has names and no rows. Give a table with rows.")
        frame = pieces[0] if len(pieces) == 1 else pd.concat(pieces, ignore_index=True)
        from_text = self.format == "text"
        found = {name: _typed(frame[name], self.dialect, from_text) for name in frame.columns}
        columns = {name: column for name, (column, _) in found.items()}
        return pd.DataFrame(columns), {name: mark for name, (_, mark) in found.items() if mark}

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        with self.path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()

    def arrow_schema(self) -> Any:
        """Return the types of the columns as Arrow has them; those of a text file are strings."""
        import pyarrow as pa

        if self.format == "text":
            return pa.schema([(name, pa.string()) for name in self.names])
        return _parquet_schema(self.path) if self.format == "parquet" else _arrow_schema(self.path)

    def _text_blocks(self, n_rows: int, hear: Watch) -> Iterator[Any]:
        one_column = len(self.names) == 1  # of which an empty line is a cell
        options: dict[str, Any] = {
            "sep": self.dialect.separator,
            "encoding": self.dialect.encoding,
            "compression": PACKING.get(self.path.suffix.lower()),
            "names": self.names,
            "header": self.dialect.n_blank if one_column else 0,
            "skip_blank_lines": not one_column,
            "index_col": False,
            "dtype": str,
            "na_filter": False,
            "chunksize": n_rows,
        }
        try:
            with warnings.catch_warnings(), self.path.open("rb") as file:
                warnings.simplefilter("error", pd.errors.ParserWarning)
                with pd.read_csv(file, **options) as pieces:
                    for piece in pieces:
                        yield piece
                        hear(file.tell())  # of a packed file, its own bytes
        except UnicodeDecodeError as error:
            raise TableError(
                f"{self.path} is not {self.dialect.encoding} throughout: {error}. Save it as UTF-8."
            ) from error
        except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
            reason = " ".join(str(error).split()).removeprefix("Error tokenizing data. C error: ")
            raise TableError(
                f"{self.path} has rows with more cells than its first row has names. "
                f"Mend the file: {reason.rstrip('.')}."
            ) from error


def read_table(path: str | Path) -> Any:
    r"""Read a CSV, TSV, Parquet or Arrow file into a frame.

    Separator, encoding and decimal point of a text file are found. Words of which all are numbers
    become numbers; ``NA``, ``?`` and the like are missing cells.

    Parameters
    ----------
    path : str or Path
        The file; text may be packed as ``.gz``, ``.bz2`` or ``.xz``.

    Returns
    -------
    pandas.DataFrame

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from leavezero.tabular import read_table
    >>> path = Path(tempfile.mkdtemp()) / "a.tsv"
    >>> _ = path.write_text("size\tcolor\n1.5\tred\n?\tblue\n")
    >>> read_table(path).dtypes.astype(str).tolist()
    ['float64', 'object']
    """
    return Source.of(path).read()


def _parquet_schema(path: Path) -> Any:
    from pyarrow import ArrowInvalid, parquet

    try:
        return parquet.read_schema(path).remove_metadata()
    except (ArrowInvalid, OSError) as error:
        raise TableError(
            f"{path} begins as a Parquet file and is broken: {str(error).rstrip('.')}."
        ) from error


def _arrow_schema(path: Path) -> Any:
    from pyarrow import ArrowInvalid, ipc

    try:
        with ipc.open_file(str(path)) as file:
            return file.schema.remove_metadata()
    except (ArrowInvalid, OSError) as error:
        raise TableError(
            f"{path} begins as an Arrow file and is broken: {str(error).rstrip('.')}."
        ) from error


def _batches(source: Source, n_rows: int) -> Iterator[tuple[float, Any]]:
    """Yield pieces, each with the share of the table that is done with it."""
    if source.format == "parquet":
        from pyarrow import parquet

        with parquet.ParquetFile(source.path) as file:
            done = 0
            for batch in file.iter_batches(batch_size=n_rows):
                done += len(batch)
                yield done / file.metadata.num_rows, batch
        return
    from pyarrow import ipc

    with ipc.open_file(str(source.path)) as file:
        for at in range(file.num_record_batches):
            yield (at + 1) / file.num_record_batches, file.get_batch(at)


def _whole_type(arrow_type: Any) -> Any:
    """Return the type of pandas that holds whole numbers and gaps; None for other types."""
    from pyarrow import types

    if not types.is_integer(arrow_type):
        return None
    return pd.api.types.pandas_dtype(str(arrow_type).replace("int", "Int").replace("u", "U"))


def _nobody(n_bytes: int) -> None:
    """Hear nothing."""


def _refuse_twins(names: list[str], path: Path) -> None:
    twins = [name for name, times in Counter(names).items() if times > 1]
    if twins:
        raise TableError(
            f"{path} has {counted(len(twins), 'column name')} more than once: {listed(twins)}. "
            "Give each column a name of its own."
        )


def _typed(series: Any, dialect: Dialect, from_text: bool) -> tuple[Any, str]:
    """Return a column as whole numbers, floats, times or words, and what parts its thousands.

    A word that is missing is None.
    """
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return series, ""
    if is_words(series) and not from_text and _all_words(series):
        return stripped(series), ""
    found, wrong = numbers(series, dialect.decimal)
    words = stripped(series) if wrong.any() else None
    mark = "" if words is None else thousands_mark(words, dialect.decimal, dialect.thousands)
    if mark:
        found, wrong = numbers(words, dialect.decimal, mark)
    if wrong.any() or (is_words(series) and are_codes(series)) or outgrow_floats(series, found):
        return stripped(series), ""
    return _narrow(found), mark


def _all_words(series: Any) -> bool:
    """Tell whether a column says by its type that its cells are words, digits or not."""
    return all(isinstance(cell, str | bool) for cell in series.dropna().tolist())


def _narrow(found: Any) -> Any:
    """Return whole numbers as such; V's rows are then whole too."""
    exact = found.notna().all() and (found == found.round()).all() and found.abs().max() < 2**53
    return found.astype("int64") if exact else found
