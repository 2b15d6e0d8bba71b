"""Ctrl-C and kill -9 of the main process; run as a script, this file is what dies."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from leavezero.execution import Limits, OpenCheckpoint, digest, run_tasks

IDENTITY = {"training data": "1"}
SCENARIOS = (
    "interrupt",
    "kill",
    "interrupt-joblib",
    "kill-writes",
    "interrupt-saves",
    "kill-saves",
)


def sleep(folder, task):
    """Note this process and a child in a session of its own, and sleep."""
    # A child that outlives its parent must not keep the output of this script open.
    null = subprocess.DEVNULL
    child = subprocess.Popen(["sleep", "1000"], start_new_session=True, stdout=null, stderr=null)
    Path(folder, f"{os.getpid()}.pid").write_text(str(child.pid))
    time.sleep(1000)


class SlowToWrite:
    """Shared data whose pickling begins and does not end."""

    def __init__(self, folder):
        self.folder = folder

    def __reduce__(self):
        Path(self.folder, "writing").touch()
        time.sleep(1000)


def result(number):
    return {"scores": np.arange(100.0) + number, "text": "a" * 50}


def saves(folder):
    """Save results until the end, and note each that is safe."""
    with OpenCheckpoint(f"{folder}/a.sqlite", IDENTITY, "a search") as checkpoint:
        for number in range(10**6):
            checkpoint.save({str(number): result(number)})
            with open(f"{folder}/saved", "a") as file:
                file.write(f"{number}\n")


def sleeps(folder, limits):
    n_jobs = 2 if limits is None else 1  # joblib starts processes only for more than one
    with closing(run_tasks(sleep, str(folder), [1, 2], n_jobs=n_jobs, limits=limits)) as results:
        list(results)


def main(name, folder):
    """Run one scenario in a fork; return what was left of it."""
    temporary = folder / "temporary"
    temporary.mkdir(parents=True)
    os.environ["JOBLIB_TEMP_FOLDER"] = str(temporary)
    pid = os.fork()
    if pid == 0:
        code = 1
        signal.signal(signal.SIGINT, signal.default_int_handler)
        with contextlib.suppress(KeyboardInterrupt):
            if name.endswith("saves"):
                saves(folder)
            if name.endswith("writes"):
                list(run_tasks(sleep, SlowToWrite(folder), [1], n_jobs=1, limits=Limits(600.0)))
            sleeps(folder, None if name.endswith("joblib") else Limits(timeout=600.0))
            code = 2
        os._exit(code)
    pattern = {"saves": "saved", "writes": "writing"}.get(name.partition("-")[2], "*.pid")
    n_begun = 2 if name.endswith("joblib") else 1  # joblib may lose a worker that is starting
    wait_until(lambda: len(list(folder.glob(pattern))) >= n_begun)
    time.sleep(0.2)
    os.kill(pid, signal.SIGINT if name.startswith("interrupt") else signal.SIGKILL)
    if not wait_until(lambda: not is_running(pid)):  # report that it hangs, and do not wait for it
        os.kill(pid, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    workers = [int(path.stem) for path in folder.glob("*.pid")]
    children = [int(path.read_text()) for path in folder.glob("*.pid")]
    report = {
        "code": code,
        "workers gone": wait_until(lambda: not any(map(is_running, workers))),
        "children gone": name.endswith("joblib")
        or wait_until(lambda: not any(map(is_running, children))),
        "files gone": wait_until(lambda: not list(temporary.iterdir())),
    }
    for pid in filter(is_running, workers + children):  # joblib's may be in another session
        os.kill(pid, signal.SIGKILL)
    return report


def wait_until(condition):
    deadline = time.monotonic() + 40.0
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return bool(condition())


def is_running(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    return False


def digests():
    """Return digests that must not depend on the process."""
    return [
        digest({"b": {"x", "y", "z"}, "a": [1, 2.5, "text", None]}),
        digest([result, np.arange(3), frozenset("abc")]),
        digest(np.random.RandomState(0)),
    ]


if __name__ == "__main__":
    where = Path(sys.argv[1])
    pids = {}
    for scenario in SCENARIOS:  # at the same time, since most of it is waiting
        if (own := os.fork()) == 0:
            found = main(scenario, where / scenario)
            (where / f"{scenario}.json").write_text(json.dumps(found))
            os._exit(0)
        pids[scenario] = own
    for own in pids.values():
        os.waitpid(own, 0)
    reports = {name: json.loads((where / f"{name}.json").read_text()) for name in SCENARIOS}
    (where / "reports.json").write_text(json.dumps({"digests": digests()} | reports))
    sys.exit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("signals")


@pytest.fixture(scope="module")
def reports(folder):
    """Return the reports of all scenarios."""
    if not Path("/proc/self/stat").exists():
        pytest.skip("needs Linux")
    with open(folder / "output", "w+") as output:  # a pipe stays open while any worker is left
        done = subprocess.run(
            [sys.executable, __file__, str(folder)],
            stdout=output,
            stderr=output,
            timeout=300,
            env=os.environ | {"PYTHONHASHSEED": "7", "PYTHONPATH": os.pathsep.join(sys.path)},
        )
    assert done.returncode == 0, (folder / "output").read_text()
    return json.loads((folder / "reports.json").read_text())


@pytest.mark.parametrize("name", ["interrupt", "kill", "interrupt-joblib", "kill-writes"])
def test_main_process_leaves_nothing_when_it_ends(reports, name):
    """Neither workers nor what they have started nor files, after Ctrl-C and after kill -9.

    Also if it is killed while it writes the data for its first worker.
    """
    code = 1 if name.startswith("interrupt") else -signal.SIGKILL
    expected = {"code": code, "workers gone": True, "children gone": True, "files gone": True}
    assert reports[name] == expected


@pytest.mark.parametrize("name", ["interrupt-saves", "kill-saves"])
def test_saved_results_survive(reports, folder, name):
    """All that were reported as saved, and perhaps one more."""
    assert reports[name]["code"] == (1 if name.startswith("interrupt") else -signal.SIGKILL)
    n_saved = len((folder / name / "saved").read_text().splitlines())
    with OpenCheckpoint(folder / name / "a.sqlite", IDENTITY, "a search") as checkpoint:
        found = checkpoint.load()
        checkpoint.save({"next": result(0)})
    assert n_saved > 0
    assert len(found) - n_saved in (0, 1)
    for number in range(len(found)):
        np.testing.assert_array_equal(found[str(number)]["scores"], result(number)["scores"])
    assert {path.name for path in (folder / name).iterdir()} == {"a.sqlite", "saved", "temporary"}


def test_digests_do_not_depend_on_the_process(reports):
    """Nor on its hash seed; a function counts by its module, too."""
    ours = digests()
    assert reports["digests"][0] == ours[0]
    assert reports["digests"][2] == ours[2]
    assert reports["digests"][1] != ours[1]
