"""The paths that commands for tables are given."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from leavezero.tabular import PACKING, TableError, make_folder

_FORMATS = (".csv", ".tsv", ".txt", ".parquet", ".feather", ".arrow")


def plain_name(table: Path) -> str:
    """Return a table's name without what says how it is written.

    Examples
    --------
    >>> from pathlib import Path
    >>> plain_name(Path("data/sales.2023.csv.gz"))
    'sales.2023'
    """
    for known in (PACKING, _FORMATS):
        if table.suffix.lower() in known:
            table = table.with_suffix("")
    return table.name


def default_folder(table: Path) -> Path:
    """Return where results go if nothing is said."""
    return Path(f"leavezero-{plain_name(table)}")


@contextmanager
def folder_for_results(folder: Path) -> Iterator[None]:
    """Make a folder; what was made goes again if the block fails and leaves it empty."""
    made = [one for one in (folder, *folder.parents) if not one.exists()]
    try:
        make_folder(folder)
        yield
    except BaseException:
        _remove_empty(made)
        raise


def refuse_pipe(table: Path) -> None:
    """Raise if a table can be read only once."""
    if table.exists() and not (table.is_file() or table.is_dir()):
        raise TableError(
            f"{str(table)!r} is a pipe or a device, and a table is read more than once. "
            "Save it to a file first."
        )


def _remove_empty(folders: list[Path]) -> None:
    for folder in folders:
        try:
            folder.rmdir()
        except OSError:  # something is in it, or it was never made
            continue
