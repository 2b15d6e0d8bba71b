"""Checkpoints: results come back bit for bit, or not at all."""

import io
import os
import random
import sqlite3
import subprocess
import sys
import tempfile
import warnings
import zlib
from contextlib import contextmanager, nullcontext, suppress
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from leavezero.execution import (
    Checkpoint,
    OpenCheckpoint,
    _checkpoint,
    digest,
    summarize_checkpoint,
)
from leavezero.execution._checkpoint import _decode, _encode

IDENTITY = {"training data": digest([1, 2]), "scikit-learn version": "1.6.0"}
RESULTS = {
    f"task {number}": {"scores": np.linspace(0, number, 40), "error": None, "note": "text" * 20}
    for number in range(12)
}


def opened(path, identity=None):
    return OpenCheckpoint(path, IDENTITY if identity is None else identity, "a search")


def fill(path, results=RESULTS):
    with opened(path) as checkpoint:
        for key, result in results.items():
            checkpoint.save({key: result})
    return path


def read(path):
    with opened(path) as checkpoint:
        return checkpoint.load()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "search.sqlite"


def change(path, *statements):
    """Change a file with SQLite, as damage or somebody else would."""
    connection = sqlite3.connect(path)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


json_values = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
tables = arrays.arrays(
    st.sampled_from(["f8", "f4", "i2", "?", "U3", "M8[s]"]), arrays.array_shapes(min_side=0)
)
results = st.recursive(
    json_values | tables,
    lambda own: st.lists(own) | st.dictionaries(st.text() | st.just("array"), own),
    max_leaves=5,
)


@given(results)
def test_results_come_back_bit_for_bit(result):
    assert digest(_decode(*_encode(result))) == digest(result)


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (np.array([object()]), "cannot store a value of type array of objects"),
        (object(), "cannot store a value of type object"),
    ],
)
def test_results_that_would_need_pickle_raise(path, result, message):
    with opened(path) as checkpoint, pytest.raises(TypeError, match=message):
        checkpoint.save({"first": 1, "task": result})


def test_saved_results_are_loaded(path):
    fill(path)
    assert digest(read(path)) == digest(RESULTS)
    with OpenCheckpoint(Checkpoint(path), IDENTITY, "a search") as checkpoint:
        checkpoint.save({"task 0": "another"})
        assert checkpoint.load()["task 0"] == "another"
    summary = summarize_checkpoint(path)
    assert summary.identity == IDENTITY
    assert summary.n_damaged == 0
    assert list(summary.results) == list(RESULTS)
    assert summary.results["task 0"] == "another"


def test_file_is_private_and_alone(path):
    """Readable for its owner only; no second file is left."""
    fill(path)
    assert path.stat().st_mode & 0o777 == 0o600 or sys.platform == "win32"
    assert [entry.name for entry in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("is_new", [True, False])
@pytest.mark.parametrize("suffix", ["-journal", "-wal", "-shm"])
def test_temporary_files_do_not_follow_links(path, suffix, is_new):
    victim = path.parent / "victim"
    victim.write_text("precious")
    if not is_new:
        fill(path)
    path.with_name(path.name + suffix).symlink_to(victim)
    with suppress(OSError, ValueError):
        fill(path)
    assert victim.read_text() == "precious"


@pytest.mark.parametrize(
    ("identity", "message"),
    [
        (IDENTITY | {"training data": digest(0)}, r"These differ: training data\. Use another"),
        (
            IDENTITY | {"scikit-learn version": "1.7"},
            r"These differ: scikit-learn version \(was 1\.6\.0, is 1\.7\)\.",
        ),
        (IDENTITY | {"sample_weight": "1"}, r"These differ: sample_weight \(is new\)\."),
        ({"training data": digest([1, 2])}, r"differ: scikit-learn version \(is missing\)\."),
    ],
)
def test_other_calls_cannot_use_the_file(path, identity, message):
    fill(path)
    before = path.read_bytes()
    with pytest.raises(ValueError, match=message), opened(path, identity):
        pass
    assert path.read_bytes() == before
    assert digest(read(path)) == digest(RESULTS)


def test_second_process_gets_an_error(path, monkeypatch):
    """And so does a second call in the same process."""
    monkeypatch.setattr(_checkpoint, "BUSY_SECONDS", 0.05)
    with opened(path) as checkpoint:
        for use in (lambda: opened(path).__enter__(), lambda: summarize_checkpoint(path)):
            with pytest.raises(BlockingIOError, match="Another process uses the checkpoint"):
                use()
        code = (
            f"import sqlite3; sqlite3.connect({str(path)!r}, 0.0).execute('SELECT 1 FROM results')"
        )
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
        assert "database is locked" in done.stderr
        checkpoint.save({"task": 1})
    assert read(path) == {"task": 1}


def test_foreign_files_are_left_as_they_are(path):
    path.write_text("my notes, which are precious and longer than a header of SQLite" * 20)
    other = path.with_name("other.sqlite")
    change(other, "CREATE TABLE mine (x)", "INSERT INTO mine VALUES (1)")
    for file in (path, other):
        before = file.read_bytes()
        for use in (lambda file=file: fill(file), lambda file=file: summarize_checkpoint(file)):
            with pytest.raises(ValueError, match=r"is not a checkpoint of leavezero.*Use another"):
                use()
        assert file.read_bytes() == before


def test_other_formats_raise(path):
    fill(path)
    change(path, "PRAGMA user_version = 7")
    with pytest.raises(ValueError, match="has format 7, and this version of leavezero reads"):
        read(path)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE results SET body = x'00' WHERE id = 3",
        "UPDATE results SET arrays = NULL WHERE id = 3",
        "UPDATE results SET key = x'ff' WHERE id = 3",
        "UPDATE results SET key = 'task 5' WHERE id = 3",
        "UPDATE results SET digest = x'' WHERE id = 3",
        "UPDATE results SET key = 3, body = 4, arrays = 5, digest = x'' WHERE id = 3",
    ],
)
def test_damaged_results_are_dropped(path, statement):
    """With a warning, once; the others are used."""
    change(fill(path), statement)
    assert summarize_checkpoint(path).n_damaged == 1
    with pytest.warns(UserWarning, match="1 results in the checkpoint .* are damaged"):
        found = read(path)
    expected = {key: result for key, result in RESULTS.items() if key != "task 2"}
    assert digest(found) == digest(expected)
    assert digest(read(path)) == digest(expected)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE identity SET value = x'00'",
        "CREATE TRIGGER stop BEFORE INSERT ON results BEGIN DELETE FROM identity; END",
        "DROP TABLE results",
    ],
)
def test_damaged_tables_raise(path, statement):
    change(fill(path), statement)
    with pytest.raises(ValueError, match=r"or it is damaged: .* delete this one to start again"):
        read(path)


@pytest.mark.parametrize("body", [b'{"numpy array": 0}', b"[", b"[" * 10**5, b"\xff"])
def test_results_with_a_digest_but_without_sense_are_dropped(path, body, monkeypatch):
    with opened(path) as checkpoint:
        monkeypatch.setattr(_checkpoint, "_encode", lambda result: (body, zlib.compress(b"")))
        checkpoint.save({"task": 1})
    with pytest.warns(UserWarning, match="damaged"):
        assert read(path) == {}


def test_arrays_of_many_items_without_bytes_are_dropped(path, monkeypatch):
    """A sum over them would take years."""
    file = io.BytesIO()
    header = {"descr": "<U0", "fortran_order": False, "shape": (2**60,)}
    np.lib.format.write_array_header_1_0(file, header)
    encoded = b'{"numpy array": 0}', zlib.compress(file.getvalue())
    with opened(path) as checkpoint:
        monkeypatch.setattr(_checkpoint, "_encode", lambda result: encoded)
        checkpoint.save({"task": 1})
    with pytest.warns(UserWarning, match="damaged"):
        assert read(path) == {}


@pytest.mark.parametrize("n_variations", [24, pytest.param(100, marks=pytest.mark.slow)])
def test_damaged_bytes_never_give_a_wrong_result(path, n_variations):
    """Truncated files and changed bits: refused, or the rest is used with a warning."""
    content = fill(path).read_bytes()
    moments = random.Random(0)
    n_refused = n_dropped = 0
    for number in range(n_variations):
        damaged = bytearray(content)
        if number % 4 == 0:
            del damaged[moments.randrange(1, len(content)) :]
        elif number % 4 == 1:
            start = moments.randrange(len(content))
            damaged[start : start + 600] = bytes(600)
        else:
            damaged[moments.randrange(len(content))] ^= 1 << moments.randrange(8)
        path.write_bytes(damaged)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                found = read(path)
            except ValueError:
                n_refused += 1
                continue
        n_dropped += len(caught)
        assert len(found) == len(RESULTS) or caught
        for key, result in found.items():
            assert digest(result) == digest(RESULTS[key])
        fill(path, {"more": 1})  # the file can be used
    assert n_refused
    assert n_dropped


def test_empty_file_is_a_new_checkpoint(path):
    """A process may have been killed before the tables were created."""
    path.touch()
    assert summarize_checkpoint(path).results == {}
    assert digest(read(fill(path))) == digest(RESULTS)


def test_folder_is_no_checkpoint(tmp_path):
    with pytest.raises(ValueError, match="The checkpoint of a search"):
        fill(tmp_path)


def test_missing_folder_raises(tmp_path):
    with pytest.raises(FileNotFoundError, match="The checkpoint of a search cannot be created"):
        fill(tmp_path / "missing" / "search.sqlite")
    with pytest.raises(ValueError, match="There is no file"):
        summarize_checkpoint(tmp_path / "missing")


def test_folder_that_cannot_be_written_raises_at_once(path):
    """Before anything is computed; here the temporary file of SQLite cannot be created."""
    fill(path).with_name(path.name + "-journal").mkdir()
    with pytest.raises(OSError, match="The checkpoint cannot be read or written"):
        opened(path).__enter__()


@contextmanager
def without_privileges():
    """Return a context in which the superuser, who can write everywhere, is another user."""
    is_root = os.geteuid() == 0
    if is_root:
        os.seteuid(65534)
    try:
        yield
    finally:
        if is_root:
            os.seteuid(0)


@pytest.mark.skipif(sys.platform == "win32", reason="has other permissions")
def test_read_only_folder_raises():
    with tempfile.TemporaryDirectory() as folder:  # in one that other users can read
        path = fill(Path(folder, "search.sqlite"))
        path.chmod(0o444)
        Path(folder).chmod(0o555)
        with without_privileges():
            for file in (path, path.with_name("new.sqlite")):
                with pytest.raises(OSError, match=r"The checkpoint .*cannot be"):
                    opened(file).__enter__()
            assert digest(summarize_checkpoint(path).results) == digest(RESULTS)
        Path(folder).chmod(0o700)
        assert os.listdir(folder) == [path.name]


@pytest.mark.parametrize(
    ("code", "kind", "message"),
    [
        (sqlite3.SQLITE_READONLY, OSError, "The checkpoint cannot be read or written"),
        (sqlite3.SQLITE_CORRUPT, ValueError, "or it is damaged"),
    ],
)
def test_errors_of_sqlite_say_what_to_do(path, monkeypatch, code, kind, message):
    error = sqlite3.OperationalError("text")
    error.sqlite_errorcode = code

    class Broken(nullcontext):
        def execute(self, *_):
            raise error

    with opened(path) as checkpoint:
        working = checkpoint._connection
        monkeypatch.setattr(checkpoint, "_connection", Broken())
        with pytest.raises(kind, match=message):
            checkpoint.save({"task": 1})
        checkpoint._connection = working


def test_full_disk_keeps_what_was_saved(path):
    """And none of the results that were to be saved together."""
    with opened(path) as checkpoint:
        checkpoint.save({"first": 1})
        [(n_pages,)] = checkpoint._connection.execute("PRAGMA page_count")
        checkpoint._connection.execute(f"PRAGMA max_page_count = {n_pages}")
        with pytest.raises(OSError, match="disk is full"):
            checkpoint.save({"second": 2, "third": "a" * 100_000})
        assert checkpoint.load() == {"first": 1}
    assert read(path) == {"first": 1}


def test_interrupts_while_saving_are_raised(path):
    """In whichever function they arrive; some libraries lose those in ``__del__``."""

    def interrupt(frame, event, argument):
        nonlocal n_left
        n_left -= event == "call"
        if n_left == 0:
            raise KeyboardInterrupt  # which also ends the profiling

    with opened(path) as checkpoint:
        for number in count(1):
            n_left = number
            sys.setprofile(interrupt)
            try:
                checkpoint.save({"task": RESULTS["task 3"]})
                break
            except KeyboardInterrupt:
                continue
            finally:
                sys.setprofile(None)
    assert number > 10
    assert n_left > 0  # the last call ended without an interrupt
