"""The SQLite file of a journal: rows in, rows out, and errors in plain words."""

import errno
import hashlib
import sqlite3
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from leavezero.engine._journal_claims import Claimant

APPLICATION = 0x4C5A4A31  # in the file's header; "LZJ1"
BUSY = 30.0  # seconds to wait for another process to finish its transaction
_TABLES = """
CREATE TABLE IF NOT EXISTS parts (
    name TEXT PRIMARY KEY, digest TEXT NOT NULL, shown TEXT NOT NULL, seal TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS records (
    task TEXT NOT NULL, position INTEGER NOT NULL, params TEXT NOT NULL, content BLOB NOT NULL,
    arrays BLOB NOT NULL, seal TEXT NOT NULL, finished REAL NOT NULL,
    PRIMARY KEY (task, position));
CREATE TABLE IF NOT EXISTS models (
    task TEXT NOT NULL, position INTEGER NOT NULL, score REAL, content BLOB, note TEXT,
    seal TEXT NOT NULL, PRIMARY KEY (task, position));
CREATE TABLE IF NOT EXISTS claims (
    task TEXT PRIMARY KEY, owner TEXT NOT NULL, pid INTEGER NOT NULL, place TEXT NOT NULL,
    started TEXT NOT NULL, heartbeat REAL NOT NULL);
"""


class DamagedError(ValueError):
    """A row does not match its seal."""


@dataclass(frozen=True, eq=False)
class Row:
    """A finished candidate as it is stored."""

    params: str
    content: bytes
    arrays: bytes
    score: float | None = None  # by which the best models are kept
    model: bytes | None = field(default=None, repr=False)
    note: str | None = None  # why there is no model


class Store:
    """One open journal file; several threads may use it.

    Every row has a seal, a digest of its content: SQLite does not notice flipped bits.
    """

    def __init__(self, path: Path, *, only_read: bool = False) -> None:
        self._path = path
        self._lock = threading.RLock()
        with self._plainly():
            self._connection = _connect(path, only_read)
        try:
            self._check_and_prepare(only_read)
        except BaseException:
            self._connection.close()
            raise

    def parts(self) -> dict[str, tuple[str, str]]:
        """Return the digest of each part of the search, and what people read of it."""
        found = {}
        with self._plainly():
            rows = self._all("SELECT name, digest, shown, seal FROM parts ORDER BY rowid")
        for name, digest, shown, seal in rows:
            if seal != _seal(name, digest, shown):
                raise ValueError(self._damaged("what it says of its search does not match"))
            found[name] = (digest, shown)
        return found

    def add_parts(self, parts: Sequence[tuple[str, str, str]]) -> None:
        """Say what search this is; what another process has said stays."""
        with self._writing():
            self._connection.executemany(
                "INSERT OR IGNORE INTO parts VALUES (?, ?, ?, ?)",
                [(*part, _seal(*part)) for part in parts],
            )

    def finished(self) -> dict[str, int]:
        """Return how many records each task has."""
        with self._plainly():
            return dict(self._all("SELECT task, count(*) FROM records GROUP BY task"))

    def read(self, task: str) -> list[Row]:
        """Return the records of a task in order, or raise if one is damaged."""
        with self._plainly():
            rows = self._all(
                "SELECT position, params, content, arrays, seal FROM records "
                "WHERE task = ? ORDER BY position",
                task,
            )
        found = []
        for at, (position, params, content, arrays, seal) in enumerate(rows):
            if position != at or seal != _seal(task, position, params, content, arrays):
                raise DamagedError(f"a record of {params!r} does not match its seal")
            found.append(Row(params, content, arrays))
        return found

    def write(self, task: str, rows: Sequence[Row], most_models: int) -> None:
        """Add the records of a task and let go of its claim, in one transaction.

        Of all models, so many with the best scores stay.
        """
        now = time.time()
        records = [(task, at, row.params, row.content, row.arrays) for at, row in enumerate(rows)]
        models = [
            (task, at, row.score, row.model, row.note, _seal(task, at, row.model))
            for at, row in enumerate(rows)
            if row.model is not None or row.note is not None
        ]
        with self._writing(durable=True):
            run, run_many = self._connection.execute, self._connection.executemany
            for table in ("records", "models", "claims"):
                run(f"DELETE FROM {table} WHERE task = ?", (task,))
            run_many(
                "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?, ?)",
                [(*record, _seal(*record), now) for record in records],
            )
            run_many("INSERT INTO models VALUES (?, ?, ?, ?, ?, ?)", models)
            run(
                "DELETE FROM models WHERE content IS NOT NULL AND rowid NOT IN (SELECT rowid FROM "
                "models WHERE content IS NOT NULL ORDER BY score DESC, rowid LIMIT ?)",
                (most_models,),
            )

    def forget(self, task: str) -> None:
        """Remove the records of a task, which is to be done again."""
        with self._writing():
            for table in ("records", "models"):
                self._connection.execute(f"DELETE FROM {table} WHERE task = ?", (task,))

    def model(self, task: str, position: int) -> bytes | None:
        """Return a stored model; None if it is not kept or damaged."""
        with self._plainly():
            rows = self._all(
                "SELECT content, seal FROM models WHERE task = ? AND position = ?", task, position
            )
        for content, seal in rows:
            if content is not None and seal == _seal(task, position, content):
                return bytes(content)
        return None

    def worst_kept(self, most: int) -> float | None:
        """Return the score that a model must reach; None while there are fewer than the most."""
        with self._plainly():
            rows = self._all(
                "SELECT score FROM models WHERE content IS NOT NULL ORDER BY score DESC LIMIT 1 "
                "OFFSET ?",
                most - 1,
            )
        return rows[0][0] if rows else None

    def claim(self, task: str, n_records: int, claimant: Claimant) -> bool:
        """Take a task that is not finished and that nobody alive works on; tell whether we did."""
        with self._writing():
            [(n_done,)] = self._all("SELECT count(*) FROM records WHERE task = ?", task)
            if n_done >= n_records:
                return False
            for held, heartbeat in self._claims("WHERE task = ?", task):
                if held.is_alive(heartbeat):
                    return False
            self._connection.execute(
                "INSERT OR REPLACE INTO claims VALUES (?, ?, ?, ?, ?, ?)",
                (task, claimant.owner, claimant.pid, claimant.place, claimant.started, time.time()),
            )
        return True

    def at_work(self) -> int:
        """Return the number of tasks that somebody alive works on."""
        with self._plainly():
            return sum(held.is_alive(heartbeat) for held, heartbeat in self._claims())

    def beat(self, claimant: Claimant) -> None:
        """Say that a claimant is alive."""
        with self._writing():
            self._connection.execute(
                "UPDATE claims SET heartbeat = ? WHERE owner = ?", (time.time(), claimant.owner)
            )

    def release(self, claimant: Claimant) -> None:
        """Let go of all that a claimant has not finished."""
        with self._writing():
            self._connection.execute("DELETE FROM claims WHERE owner = ?", (claimant.owner,))

    def overview(self) -> list[tuple[Row | None, bool, str | None]]:
        """Return every record, oldest first, whether its model is kept, and why not.

        A damaged record is None.
        """
        with self._plainly():
            rows = self._all(
                "SELECT r.task, r.position, r.params, r.content, r.arrays, r.seal, "
                "m.content IS NOT NULL, m.note FROM records r LEFT JOIN models m "
                "ON m.task = r.task AND m.position = r.position ORDER BY r.rowid"
            )
        return [
            (Row(*row[2:5]) if row[5] == _seal(*row[:5]) else None, bool(row[6]), row[7])
            for row in rows
        ]

    def close(self) -> None:
        """Close the file; the last to do so folds the log into it."""
        with self._lock:
            self._connection.close()

    def _check_and_prepare(self, only_read: bool) -> None:
        """Raise unless the file is a journal or empty; make its tables if it is."""
        with self._plainly():
            [(application,)] = self._all("PRAGMA application_id")
            [(n_tables,)] = self._all("SELECT count(*) FROM sqlite_master")
            if application != APPLICATION and (n_tables or application or only_read):
                raise ValueError(
                    f"The file {str(self._path)!r} is no journal of leavezero, but a database of "
                    "something else. Name another file."
                )
            if only_read:
                return
            self._write_ahead()
            if application != APPLICATION:
                self._connection.executescript(
                    f"BEGIN IMMEDIATE; PRAGMA application_id = {APPLICATION}; {_TABLES} COMMIT;"
                )

    def _write_ahead(self) -> None:
        """Let readers and a writer work at the same time; that they do so stays in the file."""
        ends = time.monotonic() + BUSY
        while True:
            try:
                self._all("PRAGMA journal_mode = WAL")
                return
            except sqlite3.OperationalError as error:  # SQLite does not wait here by itself
                if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > ends:
                    raise
                time.sleep(0.01)

    def _claims(self, where: str = "", *values: Any) -> Iterator[tuple[Claimant, float]]:
        query = f"SELECT owner, pid, place, started, heartbeat FROM claims {where}"
        for owner, pid, place, started, heartbeat in self._all(query, *values):
            yield Claimant(str(owner), int(pid), str(place), str(started)), float(heartbeat)

    def _all(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        with self._lock:
            return self._connection.execute(query, values).fetchall()

    @contextmanager
    def _writing(self, *, durable: bool = False) -> Iterator[None]:
        """Make one transaction; a durable one is on disk when it ends."""
        with self._lock, self._plainly():
            # Claims and models may be lost with the power: they are made again.
            self._connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'NORMAL'}")
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    @contextmanager
    def _plainly(self) -> Iterator[None]:
        """Say what SQLite complains of in words that tell what to do."""
        try:
            yield
        except sqlite3.Error as error:
            raise self._in_words(error) from error

    def _in_words(self, error: sqlite3.Error) -> Exception:
        code, path = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF, str(self._path)
        if code == sqlite3.SQLITE_FULL:
            return OSError(
                errno.ENOSPC,
                "The disk is full, and the journal cannot be written. What it holds is safe: make "
                "room and give the same call again",
                path,
            )
        if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
            return PermissionError(
                errno.EACCES,
                "The journal cannot be written. Name a file in a folder that exists and may be "
                "written",
                path,
            )
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return TimeoutError(
                errno.EBUSY,
                f"Another process has locked the journal for more than {BUSY:.0f} seconds",
                path,
            )
        if code == sqlite3.SQLITE_IOERR:
            return OSError(
                errno.EIO,
                f"The journal cannot be read or written ({error}). What it holds is safe: mend the "
                "disk and give the same call again",
                path,
            )
        return ValueError(self._damaged(str(error)))

    def _damaged(self, how: str) -> str:
        return (
            f"The file {str(self._path)!r} is no journal of leavezero, or it is damaged: {how}. "
            "Name another file, or delete this one to begin again."
        )


def _connect(path: Path, only_read: bool) -> sqlite3.Connection:
    name: str = path.absolute().as_uri()
    if only_read:
        quiet = not Path(f"{path}-wal").exists()  # then nothing is looked for beside the file
        name += "?immutable=1" if quiet else "?mode=ro"
    connection = sqlite3.connect(
        name, uri=True, timeout=BUSY, isolation_level=None, check_same_thread=False
    )
    try:
        connection.execute("PRAGMA trusted_schema = OFF")  # the file may be a stranger's
        connection.execute("PRAGMA cell_size_check = ON")
    except BaseException:
        connection.close()
        raise
    return connection


def _seal(*values: Any) -> str:
    hasher = hashlib.sha256()
    for value in values:
        content = value if isinstance(value, bytes) else repr(value).encode("utf-8", "replace")
        hasher.update(f"{type(value).__name__}:{len(content)}:".encode())
        hasher.update(content)
    return hasher.hexdigest()
