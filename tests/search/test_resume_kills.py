"""Searches whose process is killed resume; run as a script, this file is that process."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter
from leavezero.execution import summarize_checkpoint

X, y = load_iris(return_X_y=True)
GRID = {"column": [0, 1, 2, 3], "quantile": np.linspace(0.05, 0.95, 10).round(3).tolist()}
N_CANDIDATES = 40
LOG, SECONDS = "LEAVEZERO_TEST_LOG", "LEAVEZERO_TEST_SECONDS"


class Stump(ClassifierMixin, BaseEstimator):
    """A slow split of one column; all fits are written to a file."""

    def __init__(self, column=0, quantile=0.5):
        self.column = column
        self.quantile = quantile

    def fit(self, X, y):
        with open(os.environ[LOG], "a") as log:
            log.write(f"{self.column} {self.quantile}\n")
        time.sleep(float(os.environ[SECONDS]))
        self.classes_ = np.unique(y)
        self.split_ = np.quantile(X[:, self.column], self.quantile)
        return self

    def predict(self, X):
        return self.classes_[(X[:, self.column] > self.split_).astype(int) * 2]


def search_of(checkpoint=None, **params):
    params |= {"augmenter": GaussianAugmenter(), "n_replicates": 2, "cv_finalists": 0}
    return GridSearchLZO(Stump(), GRID, checkpoint=checkpoint, random_state=0, **params)


def results(search):
    table = {
        name: [repr(value) for value in column]
        for name, column in search.cv_results_.items()
        if not name.endswith("_time")
    }
    return [table, search.best_index_, repr(search.best_score_), search.predict(X).tolist()]


def fits(log):
    return log.read_text().splitlines() if log.exists() else []


def finished(path):
    """Return the candidates in a checkpoint, which may not exist yet."""
    try:
        summary = summarize_checkpoint(path)
    except ValueError:
        return set()
    params = [eval(result["params"]) for result in summary.results.values()]
    return {f"{one['column']} {one['quantile']}" for one in params}


def saved_so_far(pid, path):
    """Return the candidates in the checkpoint of a process, which is stopped meanwhile."""
    os.kill(pid, signal.SIGSTOP)
    copied = path.with_name("copy.sqlite")
    try:
        for end in ("", "-journal"):  # of a transaction that is not finished
            copied.with_name(copied.name + end).unlink(missing_ok=True)
            with suppress(FileNotFoundError):
                shutil.copy(f"{path}{end}", f"{copied}{end}")
    finally:
        os.kill(pid, signal.SIGCONT)
    return finished(copied)


def fork(function):
    """Call a function in a child process and return its id."""
    child = os.fork()
    if child:
        return child
    os.setpgid(0, 0)
    try:
        function()
        os._exit(0)
    except BaseException as error:
        print(repr(error), file=sys.stderr, flush=True)
        os._exit(1)


def descendants(pid):
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            fields = entry.read_text().rpartition(")")[2].split()
            if fields[0] not in "ZX":
                parents[int(entry.parent.name)] = int(fields[1])
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def are_gone(pids):
    """Wait until processes have ended; return whether they have."""
    until = time.monotonic() + 20
    while time.monotonic() < until and any(Path(f"/proc/{pid}").exists() for pid in pids):
        time.sleep(0.02)
    return not any(Path(f"/proc/{pid}").exists() for pid in pids)


def end_workers(pids):
    """Kill joblib's workers, which wait for some minutes, but not what removes their files."""
    for pid in pids:
        with suppress(OSError):
            if b"resource_tracker" not in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)


def kill_and_resume(folder, name, n_kills, **params):
    """Kill a search several times at random moments, then let it finish; return what happened."""
    moments, path, log = random.Random(name), folder / f"{name}.sqlite", folder / f"{name}.log"
    # Many kills need slow fits: otherwise the search would finish before the last.
    os.environ |= {LOG: str(log), SECONDS: "0.05" if n_kills > 2 else "0.02"}
    repeated, n_killed, ended = set(), 0, True
    for _ in range(n_kills):
        before, known = len(fits(log)), finished(path)
        if len(known) > N_CANDIDATES * 3 // 4:  # the next one might finish
            break
        child = fork(lambda: search_of(path, **params).fit(X, y))
        n_more = moments.randint(1, max(1, N_CANDIDATES // n_kills))
        while len(fits(log)) < before + n_more and not os.waitpid(child, os.WNOHANG)[0]:
            time.sleep(0.002)
        time.sleep(moments.uniform(0.0, 0.05))
        workers = descendants(child)
        os.kill(child, signal.SIGKILL)
        n_killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
        if "timeout" in params:
            ended = ended and are_gone(workers)
        end_workers(workers)
        repeated |= known & set(fits(log)[before:])
    before, known = len(fits(log)), finished(path)
    last = search_of(path).fit(X, y)
    new = fits(log)[before:]
    best = f"{last.best_params_['column']} {last.best_params_['quantile']}"
    if last.fit_counts_["refit"]:
        new.remove(best)
    os.environ[SECONDS] = "0"
    return {
        "same": results(last) == results(search_of().fit(X, y)),
        "repeated": sorted(repeated | (known & set(new))),
        "n_killed": n_killed,
        "n_known": len(known),
        "n_fits": last.fit_counts_["candidate"],
        "n_finished": len(finished(path)),
        "workers_ended": ended,
    }


def kill_workers(folder, name, n_kills, **params):
    """Kill workers of one search at random moments; return what happened."""
    moments, path, log = random.Random(name), folder / f"{name}.sqlite", folder / f"{name}.log"
    os.environ |= {LOG: str(log), SECONDS: "0.05"}
    child = fork(lambda: search_of(path, **params).fit(X, y))
    n_killed, checks = 0, []
    for number in range(1, n_kills + 1):
        until = time.monotonic() + 120
        while len(fits(log)) < 5 * number and time.monotonic() < until:
            time.sleep(0.002)
        time.sleep(moments.uniform(0.0, 0.05))
        known = saved_so_far(child, path)
        checks.append((known, len(fits(log))))
        # Of our workers the oldest, since three that die while they start end a search; of
        # joblib's processes the youngest, since the oldest is its resource tracker.
        workers = sorted(descendants(child), reverse="timeout" not in params)
        for worker in workers[:1]:
            os.kill(worker, signal.SIGKILL)
            n_killed += 1
    left, ended = set(), (0, 0)
    while not ended[0]:
        left |= descendants(child)
        time.sleep(0.02)
        ended = os.waitpid(child, os.WNOHANG)
    assert ended[1] == 0
    end_workers(left)
    # joblib drops results that have reached the main process and were not used yet.
    repeated = set() if "timeout" not in params else set(fits(log)[N_CANDIDATES + n_killed :])
    for known, before in checks:
        repeated |= known & set(fits(log)[before:])
    last = search_of(path).fit(X, y)
    os.environ[SECONDS] = "0"
    return {
        "same": results(last) == results(search_of().fit(X, y)),
        "repeated": sorted(repeated),
        "n_killed": n_killed,
        "n_known": len(known),
        "n_fits": N_CANDIDATES - len(known) + last.fit_counts_["candidate"],
        "n_finished": len(finished(path)),
        "workers_ended": True,
    }


SCENARIOS = {
    "alone": {"n_kills": 2},
    "joblib": {"n_kills": 1, "n_jobs": 2},
    "limits": {"n_kills": 1, "n_jobs": 2, "timeout": 600},
    "alone, often": {"n_kills": 20},
    "limits, often": {"n_kills": 20, "n_jobs": 2, "timeout": 600},
    "workers of joblib": {"n_kills": 2, "n_jobs": 2},
    "workers of limits": {"n_kills": 5, "n_jobs": 2, "timeout": 600},
}

if __name__ == "__main__":
    names, folder = sys.argv[1].split(";"), Path(sys.argv[2])
    found = {}
    for name in names:
        kill = kill_workers if name.startswith("workers") else kill_and_resume
        found[name] = kill(folder, name, **SCENARIOS[name])
    (folder / "found.json").write_text(json.dumps(found))
    sys.exit()


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="reads /proc")
@pytest.mark.parametrize(
    "names",
    [
        "alone;joblib;limits",
        pytest.param("alone, often", marks=pytest.mark.slow),
        pytest.param("limits, often", marks=pytest.mark.slow),
        pytest.param("workers of joblib;workers of limits", marks=pytest.mark.slow),
    ],
)
def test_killed_search_resumes(names, tmp_path):
    """No result is lost or changed, and no finished candidate is fitted again."""
    with open(tmp_path / "output", "w") as output:  # a pipe stays open while any worker is left
        done = subprocess.run(
            [sys.executable, __file__, names, str(tmp_path)],
            stdout=output,
            stderr=output,
            timeout=580,
            env=os.environ | {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"},
        )
    assert done.returncode == 0, (tmp_path / "output").read_text()
    for name, found in json.loads((tmp_path / "found.json").read_text()).items():
        assert found["n_killed"] >= (20 if name.endswith("often") else 1), name
        assert 0 < found["n_known"] < N_CANDIDATES, name
        assert found["same"], name
        assert found["repeated"] == [], name
        assert found["n_fits"] == N_CANDIDATES - found["n_known"], name
        assert found["n_finished"] == N_CANDIDATES, name
        assert found["workers_ended"], name
