"""A search whose process is killed loses nothing; run as a script, this file is what dies."""

import json
import os
import random
import signal
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from journal_stumps import (
    LOG,
    SECONDS,
    X,
    Y,
    finished_in,
    fits,
    fork,
    stump_search,
    told,
    told_by_script,
)

GRID = {"column": [0, 1, 2, 3], "cut": np.linspace(0.05, 0.95, 10).round(3).tolist()}
N_CANDIDATES = 40
search = partial(stump_search, GRID, n_replicates=2)

# What follows runs in processes of its own.


def descendants(pid):
    """Return all processes that a process began, and those that these began."""
    parents = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = entry.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if fields[0] not in "ZX":
            parents[int(entry.parent.name)] = int(fields[1])
    found = {pid}
    while more := {one for one, parent in parents.items() if parent in found} - found:
        found |= more
    return found - {pid}


def are_gone(pids):
    """Wait until processes have ended, and tell whether they have."""
    until = time.monotonic() + 20
    while time.monotonic() < until:
        if not any(Path(f"/proc/{pid}").exists() for pid in pids):
            return True
        time.sleep(0.02)
    return False


def kill_at_random(folder, name, n_searches, n_kills, **params):
    """Kill searches with signal 9 again and again, and let each end at last; say what was seen.

    A kill comes a random time after a random number of further fits were begun.
    """
    moments, seen = random.Random(0), []
    reference = told(search().fit(X, Y))
    for at in range(n_searches):
        path, log = folder / f"{name}{at}.sqlite", folder / f"{name}{at}.log"
        os.environ |= {LOG: str(log), SECONDS: "0.02"}
        twice, n_killed, left = set(), 0, []
        for _ in range(n_kills):
            before, known = len(fits(log)), finished_in(path)
            child = fork(lambda path=path: search(path, **params).fit(X, Y))
            n_more = moments.randint(0, 3 * (N_CANDIDATES - len(known)) // 4)
            while len(fits(log)) < before + n_more and not os.waitpid(child, os.WNOHANG)[0]:
                time.sleep(0.002)
            time.sleep(moments.uniform(0.0, 0.05))
            began = descendants(child)
            os.kill(child, signal.SIGKILL)
            n_killed += os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
            left.append(are_gone(began))
            twice |= known & set(fits(log)[before:])
        before, known = len(fits(log)), finished_in(path)
        last = search(path, **params).fit(X, Y)
        twice |= known & set(fits(log)[before:])
        seen.append(
            {
                "same": told(last) == reference,
                "twice": sorted(twice),
                "n_killed": n_killed,
                "n_known": len(known),
                "n_fits": last.fit_counts_["candidate"],
                "n_finished": len(finished_in(path)),
                "all_gone": all(left),
            }
        )
    return seen


def interrupt(folder):
    """Press control-C in the middle of a search with workers of its own."""
    path, log = folder / "interrupt.sqlite", folder / "interrupt.log"
    os.environ |= {LOG: str(log), SECONDS: "0.05"}

    def work():
        signal.signal(signal.SIGINT, signal.default_int_handler)  # background jobs ignore it
        model = search(path, n_jobs=2, timeout=600)
        try:
            model.fit(X, Y)
        except KeyboardInterrupt:
            n_rows = len(model.cv_results_["params"])
            (folder / "said").write_text(f"{n_rows} {model.best_index_}")

    child = fork(work)
    while len(fits(log)) < 8:
        time.sleep(0.01)
    began = descendants(child)
    os.kill(child, signal.SIGINT)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    gone, known, before = are_gone(began), finished_in(path), len(fits(log))
    last = search(path).fit(X, Y)
    return {
        "code": code,
        "n_rows": int((folder / "said").read_text().split()[0]),
        "n_known": len(known),
        "twice": sorted(known & set(fits(log)[before:])),
        "same": told(last) == told(search().fit(X, Y)),
        "all_gone": gone,
    }


if __name__ == "__main__":
    what, where = sys.argv[1], Path(sys.argv[2])
    works = {
        "few": lambda: kill_at_random(where, "few", 2, 2),
        "alone": lambda: kill_at_random(where, "alone", 4, 5),
        "workers": lambda: kill_at_random(where, "workers", 1, 1, n_jobs=2),
        "many": lambda: kill_at_random(where, "many", 4, 5, n_jobs=2, timeout=600),
        "interrupt": lambda: interrupt(where),
    }
    print(json.dumps({name: works[name]() for name in what.split(",")}))
    sys.exit()


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    """Return what all scenarios that are short left behind."""
    return told_by_script(
        __file__, "few,workers,interrupt", tmp_path_factory.mktemp("kills"), timeout=580
    )


def check(searches, n_kills):
    """Hold searches that were killed to what is promised."""
    assert sum(one["n_killed"] for one in searches) >= n_kills
    assert any(0 < one["n_known"] < N_CANDIDATES for one in searches)
    for one in searches:
        assert one["same"]
        assert one["twice"] == []
        assert one["n_fits"] == N_CANDIDATES - one["n_known"]
        assert one["n_finished"] == N_CANDIDATES
        assert one["all_gone"]


def test_a_search_that_is_killed_ends_as_if_it_had_not_been(seen):
    """Signal 9 to the process: nothing finished is fitted twice, nothing is lost."""
    check(seen["few"], 2)  # one or the other may have ended before


def test_workers_end_with_the_process_that_is_killed(seen):
    """The same with processes of its own, none of which is left."""
    check(seen["workers"], 1)


@pytest.mark.slow
@pytest.mark.parametrize("how", ["alone", "many"])
def test_a_search_killed_at_twenty_moments(how, tmp_path):
    """The long version, in its own process, and with a limit and two workers."""
    check(told_by_script(__file__, how, tmp_path, timeout=580)[how], 18)


def test_control_c_ends_a_search_with_workers_in_order(seen):
    """It hands back what it has, leaves no process, and its journal goes on."""
    found = seen["interrupt"]
    assert found["code"] == 0
    assert 0 < found["n_rows"] <= found["n_known"] < N_CANDIDATES
    assert found["twice"] == []
    assert found["same"]
    assert found["all_gone"]
