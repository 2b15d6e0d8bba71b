"""Runs can be killed at any time and continued."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from leavezero.experiments import read_lines, run_all

PROTOCOL = {"of": "squares"}
KEYS = [{"n": n} for n in range(6)]


def square(key):
    return {"square": key["n"] ** 2}


def run(path, keys=KEYS, work=square, **changes):
    return list(run_all(keys, work, path, **({"protocol": PROTOCOL} | changes)))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_run_is_one_line(tmp_path, n_jobs):
    """Whoever is faster, the lines are read in one order."""
    path = tmp_path / "new" / "runs.jsonl"
    run(path, n_jobs=n_jobs, work=lambda key: {"square": key["n"] ** 2})
    assert [line["result"]["square"] for line in read_lines(path)] == [0, 1, 4, 9, 16, 25]


def test_finished_runs_are_not_done_again(tmp_path):
    """The same call does the rest, and keys may be added."""
    path = tmp_path / "runs.jsonl"
    run(path, KEYS[:4])
    done = []
    run(path, KEYS, lambda key: done.append(key["n"]) or square(key))
    assert done == [4, 5]


def test_a_torn_line_is_dropped_with_a_notice(tmp_path):
    """A killed process may leave half a line."""
    path = tmp_path / "runs.jsonl"
    run(path, KEYS[:3])
    whole = path.read_text()
    path.write_text(whole[:-9])
    with pytest.warns(UserWarning, match="is torn and was dropped"):
        run(path, KEYS[:3])
    assert path.read_text() == whole


def test_another_protocol_is_refused_with_the_difference(tmp_path):
    """Lines of two studies never mix."""
    path = tmp_path / "runs.jsonl"
    run(path)
    with pytest.raises(ValueError, match="of: 'squares' there, 'cubes' here"):
        run(path, protocol={"of": "cubes"})


def test_a_foreign_file_is_refused(tmp_path):
    """It is left as it is."""
    path = tmp_path / "runs.jsonl"
    path.write_text("name,age\n")
    with pytest.raises(ValueError, match="its first line is no protocol"):
        run(path)
    assert path.read_text() == "name,age\n"


def test_a_killed_process_loses_only_what_it_was_working_on(tmp_path):
    """Kill -9, then the same call: the lines of an uninterrupted run."""
    path = tmp_path / "runs.jsonl"
    script = tmp_path / "work.py"
    script.write_text(
        "import sys, time\n"
        "from leavezero.experiments import run_all\n"
        "def work(key):\n"
        "    time.sleep(0.1)\n"
        "    return {'square': key['n'] ** 2}\n"
        f"for _ in run_all([{{'n': n}} for n in range(6)], work, {str(path)!r},\n"
        f"                 protocol={PROTOCOL!r}):\n"
        "    pass\n"
    )
    process = subprocess.Popen([sys.executable, str(script)])
    while not path.exists() or path.read_text().count("\n") < 3:
        time.sleep(0.02)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    finished = [json.loads(text) for text in path.read_text().splitlines()[1:]]
    assert 0 < len(finished) < 6
    run(path)
    assert [line["result"]["square"] for line in read_lines(path)] == [0, 1, 4, 9, 16, 25]
