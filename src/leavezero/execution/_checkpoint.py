"""Results of tasks in one SQLite file, from which the same call continues after an interruption."""

import errno
import hashlib
import io
import json
import os
import sqlite3
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np

from leavezero._typing import AnyArray
from leavezero._warnings import warn_caller

APPLICATION_ID = 0x4C5A4350  # "LZCP" in the header of the file
FORMAT = 2
BUSY_SECONDS = 1.0  # to wait for a process that is about to close the file
SMALL_ARRAYS, MAX_EXPANSION = 2**28, 200  # results expand to these bytes, or so many times
_DIGEST_LENGTH = 64
_ARRAY = "numpy array"  # key of the number of an array in the JSON of a result
_TABLES = (
    "CREATE TABLE identity (name BLOB, value BLOB, digest BLOB)",
    "CREATE TABLE results (id INTEGER PRIMARY KEY, key BLOB, body BLOB, arrays BLOB, digest BLOB)",
)
_INVALID = (ArithmeticError, EOFError, LookupError, MemoryError, RecursionError, TypeError)
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_NO_ACCESS = (
    *(sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR),
    *(sqlite3.SQLITE_PERM, sqlite3.SQLITE_READONLY),
)


@dataclass(frozen=True)
class Checkpoint:
    """The file in which a search saves finished results; one process at a time can use it.

    Parameters
    ----------
    path : str or path, created if it does not exist

    Examples
    --------
    >>> from leavezero import Checkpoint
    >>> Checkpoint("search.sqlite").path
    'search.sqlite'
    """

    path: str | PathLike[str]


class OpenCheckpoint:
    """A checkpoint while one call uses it; a context manager.

    A result is a nested structure of dictionaries with string keys, lists, JSON scalars and numpy
    arrays without objects. Nothing is pickled. Saved results survive the end of the process,
    whatever ends it. Digests detect damage, not manipulation.

    ``identity`` has digests, or short texts such as versions, that must be the same to use the
    results again. ``owner`` is the estimator whose parameter ``checkpoint`` this is.
    """

    def __init__(
        self,
        checkpoint: Checkpoint | str | PathLike[str],
        identity: Mapping[str, str],
        owner: str,
    ) -> None:
        path = checkpoint.path if isinstance(checkpoint, Checkpoint) else checkpoint
        self._path = os.fspath(path)
        self._identity = dict(identity)
        self._owner = owner

    def __enter__(self) -> Self:
        _create_file(self._path, self._owner)
        with _clear_errors(self._path):
            self._connection = _connect(self._path, "rw")
        try:
            with _clear_errors(self._path):
                # From now on no other process can read or write the file; the system removes the
                # lock when this process ends.
                self._connection.execute("PRAGMA locking_mode = EXCLUSIVE")
                self._connection.execute("PRAGMA synchronous = FULL")
                self._connection.execute("BEGIN EXCLUSIVE")
                self._prepare()
                self._connection.execute("COMMIT")
        except BaseException:
            self._connection.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._connection.close()

    def load(self) -> dict[str, Any]:
        """Return all saved results by key; damaged ones are removed with a warning."""
        with _clear_errors(self._path):
            results, damaged = _read_results(self._connection)
            if damaged:
                self._connection.executemany("DELETE FROM results WHERE id = ?", damaged)
        if damaged:
            warn_caller(
                f"{len(damaged)} results in the checkpoint {self._path!r} are damaged. They are "
                "removed, and computed again."
            )
        return results

    def save(self, results: Mapping[str, Any]) -> None:
        """Write results by key to the disk, all in one transaction."""
        rows = [(key.encode(), *_encode(result)) for key, result in results.items()]
        with _clear_errors(self._path), self._connection:  # commits, or rolls back
            self._connection.execute("BEGIN")
            self._connection.executemany(
                "INSERT INTO results (key, body, arrays, digest) VALUES (?, ?, ?, ?)",
                [(*row, _row_digest(*row)) for row in rows],
            )

    def _prepare(self) -> None:
        """Create the tables of a new file, or check those of an old one."""
        if not _has_tables(self._connection, self._path):
            for statement in (f"PRAGMA application_id = {APPLICATION_ID}", *_TABLES):
                self._connection.execute(statement)
            self._connection.execute(f"PRAGMA user_version = {FORMAT}")
            rows = [(name.encode(), value.encode()) for name, value in self._identity.items()]
            self._connection.executemany(
                "INSERT INTO identity VALUES (?, ?, ?)", [(*row, _row_digest(*row)) for row in rows]
            )
            return
        differences = _differences(_read_identity(self._connection, self._path), self._identity)
        if differences:
            raise ValueError(
                f"The checkpoint of {self._owner}, the file {self._path!r}, belongs to another "
                f"call. These differ: {', '.join(differences)}. Use another file, or repeat the "
                "call that created this one."
            )
        self._connection.execute(f"PRAGMA user_version = {FORMAT}")  # fails now, if writing does


@dataclass(frozen=True)
class CheckpointSummary:
    """The content of a checkpoint."""

    identity: Mapping[str, str]  # digests or short texts by name
    results: Mapping[str, Any]  # by key, oldest first
    n_damaged: int  # results that cannot be used


def summarize_checkpoint(path: str | PathLike[str]) -> CheckpointSummary:
    """Return the content of a checkpoint that no process uses."""
    name = os.fspath(path)
    if not Path(name).is_file():
        raise ValueError(f"There is no file {name!r}.")
    with _clear_errors(name):
        # Only a file that can be written can be recovered after a killed process.
        connection = _connect(name, "rw" if os.access(name, os.W_OK) else "ro")
    try:
        with _clear_errors(name):
            if not _has_tables(connection, name):
                return CheckpointSummary({}, {}, 0)
            results, damaged = _read_results(connection)
            return CheckpointSummary(_read_identity(connection, name), results, len(damaged))
    finally:
        connection.close()


def _create_file(path: str, owner: str) -> None:
    """Create the file if there is none, readable only for its owner."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    except FileExistsError:
        if not Path(path).is_file():
            raise ValueError(
                f"The checkpoint of {owner} must be a file, and {path!r} is something else."
            ) from None
    except OSError as error:
        text = f"The checkpoint of {owner} cannot be created: {error.strerror}"
        raise type(error)(error.errno, text, path) from error


def _connect(path: str, mode: str) -> sqlite3.Connection:
    connection = sqlite3.connect(
        f"{Path(path).absolute().as_uri()}?mode={mode}",
        uri=True,
        timeout=BUSY_SECONDS,
        isolation_level=None,
        check_same_thread=False,
    )
    connection.execute("PRAGMA trusted_schema = OFF")  # the file may come from somebody else
    connection.text_factory = bytes
    return connection


def _has_tables(connection: sqlite3.Connection, path: str) -> bool:
    """Return False for an empty file, True for a checkpoint of this format; else raise."""
    [(application_id,)] = connection.execute("PRAGMA application_id")
    [(version,)] = connection.execute("PRAGMA user_version")
    tables = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master ORDER BY name")]
    if not tables and application_id == 0:
        return False
    if application_id != APPLICATION_ID:
        raise ValueError(f"The file {path!r} is not a checkpoint of leavezero. Use another file.")
    if version != FORMAT:
        raise ValueError(
            f"The checkpoint {path!r} has format {version}, and this version of leavezero reads "
            f"format {FORMAT}. Use another file, or the version that created it."
        )
    if tables != [sql.encode() for sql in _TABLES]:
        raise ValueError(_damaged(path, "its tables are not those of a checkpoint"))
    [(state,)] = connection.execute("PRAGMA quick_check(1)")
    if state != b"ok":
        raise ValueError(_damaged(path, state.decode(errors="replace").replace("\n", " ")))
    return True


def _read_identity(connection: sqlite3.Connection, path: str) -> dict[str, str]:
    rows = connection.execute("SELECT name, value, digest FROM identity").fetchall()
    if any(stored != _row_digest(*row) for *row, stored in rows):
        raise ValueError(_damaged(path, "the description of its call does not match its digest"))
    return {name.decode(): value.decode() for name, value, _ in rows}


def _read_results(connection: sqlite3.Connection) -> tuple[dict[str, Any], list[tuple[int]]]:
    """Return the results by key, and the row ids of damaged ones."""
    results: dict[str, Any] = {}
    damaged = []
    query = "SELECT id, key, body, arrays, digest FROM results ORDER BY id"
    for row_id, key, body, arrays, stored in connection.execute(query):
        try:
            if stored != _row_digest(key, body, arrays):
                raise ValueError("The digest does not match.")
            results[key.decode()] = _decode(body, arrays)
        except (*_INVALID, ValueError, zlib.error):
            damaged.append((row_id,))
    return results, damaged


def _differences(before: Mapping[str, str], now: Mapping[str, str]) -> list[str]:
    """Return the names of the parts that are not the same, with values that are no digests."""
    texts = []
    for name in {**before, **now}:
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            texts.append(f"{name} (is {'new' if old is None else 'missing'})")
        elif old != new:
            is_digest = max(len(old), len(new)) >= _DIGEST_LENGTH
            texts.append(name if is_digest else f"{name} (was {old}, is {new})")
    return texts


def _row_digest(*values: Any) -> bytes:
    """Return the digest of a row; SQLite itself does not notice changed bits."""
    hasher = hashlib.sha256()
    for value in values:
        if not isinstance(value, bytes):  # damage may change the type, too
            return b""
        hasher.update(f"{len(value)}:".encode())
        hasher.update(value)
    return hasher.hexdigest().encode()


def _encode(result: Any) -> tuple[bytes, bytes]:
    """Return a result as JSON, and its arrays one after the other in numpy's format, compressed.

    Not as an npz file: an interrupt inside of ``ZipFile.__del__`` or ``close`` would be lost.
    """
    arrays: list[AnyArray] = []

    def to_json(value: Any) -> Any:
        if isinstance(value, np.generic):
            return value.item()
        if isinstance(value, Mapping):
            return dict(value)
        if not isinstance(value, np.ndarray) or value.dtype.hasobject:
            kind = "array of objects" if isinstance(value, np.ndarray) else type(value).__name__
            raise TypeError(f"A checkpoint cannot store a value of type {kind}.")
        arrays.append(value)
        return {_ARRAY: len(arrays) - 1}

    body = json.dumps(result, default=to_json).encode()
    file = io.BytesIO()
    for array in arrays:
        np.save(file, array, allow_pickle=False)
    return body, zlib.compress(file.getvalue())


def _decode(body: bytes, content: bytes) -> Any:
    most = max(SMALL_ARRAYS, MAX_EXPANSION * len(content))
    unpacked = zlib.decompressobj().decompress(content, most)
    file, arrays = io.BytesIO(unpacked), []
    while file.tell() < len(unpacked):
        arrays.append(np.load(file, allow_pickle=False))
        if arrays[-1].size > len(unpacked):  # items without bytes: any number fits into a file
            raise ValueError("An array has more items than bytes.")
    return json.loads(
        body, object_hook=lambda found: arrays[found[_ARRAY]] if _ARRAY in found else found
    )


@contextmanager
def _clear_errors(path: str) -> Iterator[None]:
    """Raise errors of SQLite as standard exceptions that say what to do."""
    try:
        yield
    except sqlite3.Error as error:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        if code in _BUSY:
            text = "Another process uses the checkpoint. Wait until it has finished"
            raise BlockingIOError(errno.EAGAIN, text, path) from error
        if code in _NO_ACCESS:
            text = f"The checkpoint cannot be read or written ({error}). Saved results are safe"
            raise OSError(errno.EIO, text, path) from error
        raise ValueError(_damaged(path, str(error))) from error


def _damaged(path: str, reason: str) -> str:
    return (
        f"The file {path!r} is not a checkpoint of leavezero, or it is damaged: {reason}. Use "
        "another file, or delete this one to start again."
    )
