"""The same seed gives the same results to the bit, whatever runs the search."""

import json
import os
import subprocess
import sys

import joblib
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.tree import DecisionTreeClassifier

from leavezero import CandidateSearchLZO

X, y = load_iris(return_X_y=True)
DEPTHS, COSTS = [1, 2, 3], [0.1, 1.0]


def search_of(reverse=False, **params):
    """Return a search over models with and without leave-one-out scores, so with folds, too."""
    order = -1 if reverse else 1
    candidates = {
        "tree": (DecisionTreeClassifier(), {"max_depth": DEPTHS[::order]}),
        "logistic": (LogisticRegression(max_iter=500), {"C": COSTS[::order]}),
    }
    candidates = dict(list(candidates.items())[::order])
    return CandidateSearchLZO(candidates, n_replicates=2, random_state=0, **params)


def results(search):
    """Return all columns by candidate, except times, in a form that is compared bit by bit."""
    table = search.cv_results_
    names = sorted(n for n in table if not n.endswith("_time") and not n.startswith("param"))
    rows = {
        repr(sorted(map(str, params.items()))): [repr(table[name][row]) for name in names]
        for row, params in enumerate(table["params"])
    }
    return {
        "names": names,
        "rows": dict(sorted(rows.items())),
        "score": repr(search.best_score_),
        "predictions": search.predict(X).tolist(),
    }


if __name__ == "__main__":
    print(json.dumps(results(search_of().fit(X, y))))
    sys.exit()


@pytest.fixture(scope="module")
def reference():
    return results(search_of().fit(X, y))


@pytest.mark.parametrize(
    ("backend", "n_jobs"),
    [
        ("sequential", 1),
        ("threading", 2),
        ("loky", 2),
        pytest.param("multiprocessing", 2, marks=pytest.mark.slow),
    ],
)
def test_workers(reference, backend, n_jobs):
    with joblib.parallel_config(backend=backend, n_jobs=n_jobs):
        assert results(search_of().fit(X, y)) == reference


def test_order_of_the_grid(reference):
    assert results(search_of(reverse=True).fit(X, y)) == reference


def test_repeated_runs_in_one_process(reference):
    """Numbers that were drawn from the global random state in between do not matter."""
    search = search_of()
    for _ in range(2):
        np.random.standard_normal(3)  # noqa: NPY002 - the state is the subject
        assert results(search.fit(X, y)) == reference


def test_resumed_search(reference, tmp_path):
    """From a checkpoint with results of some candidates, and from one with all."""
    path = tmp_path / "search.sqlite"
    some = search_of(checkpoint=path)
    some.candidates["tree"][1]["max_depth"] = DEPTHS[1:]
    some.fit(X, y)
    for _ in range(2):
        assert results(search_of(checkpoint=path).fit(X, y)) == reference


def test_limits(reference):
    assert results(search_of(timeout=600, memory_limit="4GB").fit(X, y)) == reference


def test_hash_seed(reference):
    done = subprocess.run(
        [sys.executable, __file__],
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONHASHSEED": "7"},
        check=True,
    )
    assert json.loads(done.stdout) == reference
