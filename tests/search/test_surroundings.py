"""Searches with limits wherever a program may call them; run as a script, this file is one.

It has no ``if __name__ == "__main__"`` around the calls: worker processes do not import it.
"""

import asyncio
import json
import multiprocessing
import os
import subprocess
import sys
import threading
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter

X, y = load_iris(return_X_y=True)


def scores(checkpoint=None, **params):
    params |= {"n_replicates": 2, "random_state": 0, "augmenter": GaussianAugmenter()}
    grid = {"max_depth": [1, 2, 3]}
    search = GridSearchLZO(DecisionTreeClassifier(), grid, checkpoint=checkpoint, **params)
    return search.fit(X, y).cv_results_["mean_test_score"].tolist()


def limited(*_):
    return scores(timeout=600)


def in_thread():
    found = []
    thread = threading.Thread(target=lambda: found.extend(limited()))
    thread.start()
    thread.join()
    return found


def in_asyncio():
    async def main():
        inside = limited()  # blocks the loop
        return inside, await asyncio.get_running_loop().run_in_executor(None, limited)

    first, second = asyncio.run(main())
    assert first == second
    return first


def in_daemon():
    with multiprocessing.get_context("fork").Pool(1) as pool:
        return pool.map(limited, [0])[0]


def in_joblib():
    return joblib.Parallel(2)(joblib.delayed(limited)() for _ in range(2))[1]


def with_spawn():
    """As on macOS and Windows; resumes, with a limit and with joblib's processes."""
    multiprocessing.set_start_method("spawn", force=True)
    for number, params in enumerate(({"timeout": 600}, {"n_jobs": 2})):
        path = Path(sys.argv[2], f"{number}.sqlite")
        found = [scores(path, **params) for _ in range(2)]
        assert found[0] == found[1]
    return found[0]


CALLS = {
    "thread": in_thread,
    "asyncio": in_asyncio,
    "daemon": in_daemon,
    "joblib": in_joblib,
    "spawn": with_spawn,
}
if len(sys.argv) == 3 and sys.argv[1] in CALLS:
    print(json.dumps(CALLS[sys.argv[1]]()))
    sys.exit()


@pytest.mark.skipif(sys.platform == "win32", reason="forks")
@pytest.mark.parametrize(
    "name", ["spawn", *(pytest.param(n, marks=pytest.mark.slow) for n in CALLS if n != "spawn")]
)
def test_limits_and_resume_anywhere(name, tmp_path):
    """The results are the same, nothing is printed, and no file is left."""
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    done = subprocess.run(
        [sys.executable, __file__, name, str(tmp_path)],
        capture_output=True,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary), "JOBLIB_TEMP_FOLDER": str(temporary)},
    )
    assert (done.returncode, done.stderr) == (0, "")
    np.testing.assert_array_equal(json.loads(done.stdout), scores())
    assert list(temporary.iterdir()) == []
