"""Parts of workers: the file of the data, how one ended, and the process that forks them."""

import errno
import os
import signal
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy import sparse

from leavezero.engine import _workers_handles as handles
from leavezero.engine._workers_cargo import ALIGNED, pack, unpack
from leavezero.engine._workers_handles import Ending, LostError, Nursery, take_nursery
from leavezero.engine._workers_nursery import own_pages

linux = pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs Linux")

tables = arrays.arrays(
    st.sampled_from(["f8", "f4", "i2", "U3", "M8[s]", "?"]),
    arrays.array_shapes(max_dims=3, min_side=0),
)


@given(st.lists(tables, max_size=4), st.booleans())
def test_arrays_come_back_as_they_were(given, fortran):
    """By bytes, dtype and order in memory; each begins where numpy's own would."""
    given = [np.asfortranarray(one) if fortran else one for one in given]
    file, spans = pack({"arrays": given, "word": "kept"})
    found = unpack(file.fileno(), spans)
    file.close()
    assert found["word"] == "kept"
    assert all(start % ALIGNED == 0 for start, _ in spans)
    for one, other in zip(given, found["arrays"], strict=True):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        assert one.tobytes() == other.tobytes()
        assert one.flags.f_contiguous == other.flags.f_contiguous


def test_what_is_written_stays_with_the_writer():
    """The next reader finds what was packed; what could not be written to still cannot."""
    fixed = np.arange(3.0)
    fixed.flags.writeable = False
    file, spans = pack([np.arange(3.0), fixed])
    first, still_fixed = unpack(file.fileno(), spans)
    first[:] = -1
    again, _ = unpack(file.fileno(), spans)
    file.close()
    np.testing.assert_array_equal(again, np.arange(3.0))
    with pytest.raises(ValueError, match="read-only"):
        still_fixed[0] = 1


def test_frames_matrices_and_functions_without_a_name_are_packed():
    """By their content."""
    import pandas as pd

    frame = pd.DataFrame({"a": [1.0, 2.0], "b": pd.Categorical(["x", "y"])})
    file, spans = pack([frame, sparse.eye(3).tocsr(), lambda value: value + 1])
    found, matrix, function = unpack(file.fileno(), spans)
    file.close()
    pd.testing.assert_frame_equal(found, frame)
    assert (matrix != sparse.eye(3)).nnz == 0
    assert function(1) == 2


def test_a_folder_without_room_is_named(monkeypatch):
    """With what to do."""

    class Full(tempfile.SpooledTemporaryFile):
        def write(self, content):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(tempfile, "TemporaryFile", lambda **_: Full())
    with pytest.raises(OSError, match=r"has no room for the data, .* Set TMPDIR to another folder"):
        pack(np.arange(3))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        (3, "ended by itself with the exit code 3"),
        (-9, "was ended by the signal SIGKILL, as the system does where memory runs out"),
        (-11, "was ended by the signal SIGSEGV"),
        (-99, "was ended by the signal 99"),
    ],
)
def test_an_end_in_words(code, said):
    """Exit codes and signals, those without a name too."""
    assert str(Ending(code)) == said


@pytest.fixture
def nursery():
    """Return a process that forks workers, kept for the tests after this one."""
    own = take_nursery()
    yield own
    own.release()


@pytest.fixture
def data():
    """Return an open file."""
    with tempfile.TemporaryFile() as file:
        yield file.fileno()


@linux
def test_a_worker_is_born_and_dies(nursery, data, monkeypatch):
    """Its end is told, whether it was killed or its line was closed."""
    monkeypatch.setattr(handles, "LAST_WORDS", 60.0)  # a busy machine may be slow to end it
    first, second = nursery.fork(data), nursery.fork(data)
    begun = time.monotonic()
    while os.getsid(first.pid) != first.pid:  # its first act, which a busy machine may put off
        assert time.monotonic() < begun + 60.0
        time.sleep(0.01)
    nursery.kill(first)
    assert nursery.ending(first) == Ending(-9)
    second.line.close()
    assert nursery.ending(second) == Ending(0)


@linux
def test_a_worker_that_holds_too_much_is_ended(nursery, data):
    """And it is told why."""
    worker = nursery.fork(data)
    nursery.watch(worker, 1)
    assert nursery.ending(worker) == Ending(-9, over=True)
    worker.line.close()
    assert own_pages(os.getpid()) > 100


@linux
def test_a_worker_that_does_not_go_is_ended(nursery, data, monkeypatch):
    """Here it waits for a word that never comes."""
    monkeypatch.setattr(handles, "LAST_WORDS", 0.05)
    worker = nursery.fork(data)
    assert nursery.ending(worker) == Ending(-9)
    worker.line.close()


@linux
def test_what_forks_is_kept_and_found_again(data):
    """Unless it has died meanwhile."""
    first = take_nursery()
    first.release()
    assert take_nursery() is first
    os.kill(first._process.pid, signal.SIGKILL)
    first._process.wait()
    with pytest.raises(LostError):
        first.fork(data)
    first.release()
    assert first not in handles._IDLE


@linux
def test_a_child_leaves_what_its_parent_began(nursery):
    """After a fork of the main process."""
    child = os.fork()
    if child == 0:
        os._exit(nursery._process.returncode == 0 and not handles._IDLE)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 1
    assert nursery._process.poll() is None


@linux
def test_a_nursery_that_cannot_begin_is_lost(data, monkeypatch, capfd):
    """What it said stands on the terminal."""
    monkeypatch.setattr(sys, "path", [])
    own = Nursery()
    with pytest.raises(LostError):
        own.fork(data)
    own.close()
    assert "Error" in capfd.readouterr().err
