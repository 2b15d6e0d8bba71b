"""diagnose() of searches, and copies and pickles of fitted searches."""

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
)

NEIGHBORS = {"n_neighbors": [1, 3, 5, 9, 15]}
FEW = {"augmenter": LabelInvariantMixup(), "n_replicates": 2, "cv_finalists": 0, "random_state": 0}


def noise(seed=0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(200, 12)), rng.integers(2, size=200)


def separated(n_rows=200, distance=6.0, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(2, size=n_rows)
    return rng.normal(size=(n_rows, 4)) + distance * y[:, None], y


@pytest.mark.parametrize("seed", range(3))
def test_checks_warn_about_1_nn_on_noise_with_mixup(seed):
    search = GridSearchLZO(
        KNeighborsClassifier(1), {"p": [1, 2]}, augmenter=LabelInvariantMixup(), random_state=seed
    ).fit(*noise(seed))
    report = search.diagnose(permutation=True)
    assert {"LZ03", "LZ04"} <= {check.code for check in report.warnings}


@pytest.mark.parametrize("seed", [0, 2, 3])  # with 1, the permuted labels can be learned
def test_no_check_warns_on_separated_classes(seed):
    search = GridSearchLZO(SVC(), {"C": [0.1, 1, 10, 100]}, random_state=seed)
    report = search.fit(*separated(seed=seed)).diagnose(permutation=True)
    assert report.warnings == ()
    assert report["LZ05"].level == "note"


def test_fits_of_the_permutation_check_are_counted():
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, **FEW)
    n_fits = search.fit(*separated(distance=1.0)).n_fits_
    assert search.diagnose().n_fits == 0
    assert search.n_fits_ == n_fits
    assert search.diagnose(permutation=True).n_fits == 2
    assert search.fit_counts_["permutation"] == 2
    assert search.n_fits_ == n_fits + 2


def test_report_is_reproducible():
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, **FEW)
    data = separated(distance=1.0)
    reports = [clone(search).fit(*data).diagnose(permutation=True) for _ in range(2)]
    assert reports[0].checks == reports[1].checks


@pytest.mark.parametrize(
    "search",
    [
        GridSearchLZO(Ridge(), {"alpha": [0.1, 1, 10]}, **FEW | {"augmenter": "auto"}),
        GridSearchLZO(SVC(), {"C": [1, 10]}, loo="only", **FEW),
        GridSearchLZO(SVC(), {"C": [1, 10]}, scoring="roc_auc", **FEW),
        GridSearchLZO(SVC(), {"C": [1, 10]}, refit=False, **FEW),
        GridSearchLZO(SVC(), {"C": [1, 10]}, refit=lambda table: 0, **FEW),
        CandidateSearchLZO({"svc": SVC(), "tree": DecisionTreeClassifier()}, **FEW),
        HalvingGridSearchLZO(SVC(), {"C": [0.1, 1, 10]}, **FEW),
        GridSearchLZO(SVC(), {"C": [1]}, **FEW | {"augmenter": FixedValidationSet(*separated(60))}),
    ],
    ids=["regression", "loo", "auc", "no refit", "callable", "candidates", "halving", "fixed"],
)
def test_every_search_has_a_report(search):
    X, y = separated(distance=1.0)
    y = X[:, 0] + 0.1 * y if "alpha" in str(search) else y
    report = clone(search).fit(X, y).diagnose(permutation=True)
    assert len(report.checks) == 10


def test_report_with_a_frame_and_groups():
    X, y = separated(distance=1.0)
    model = make_pipeline(StandardScaler(), LogisticRegression())
    search = GridSearchLZO(model, {"logisticregression__C": [0.1, 1, 10]}, random_state=0)
    search.set_params(augmenter=LabelInvariantMixup())
    search.fit(pd.DataFrame(X, columns=list("abcd")), y, groups=np.arange(len(y)) % 6)
    assert search.diagnose()["LZ11"].level == "note"


def test_diagnose_requires_a_fitted_search():
    with pytest.raises(NotFittedError):
        GridSearchLZO(SVC(), {"C": [1]}).diagnose()


def test_pickled_search_has_neither_training_data_nor_a_validation_set():
    X, y = separated()
    search = GridSearchLZO(SVC(), {"C": [1, 10]}, **FEW).fit(X, y)
    loaded = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(loaded.predict(X), search.predict(X))
    assert not hasattr(loaded, "validation_set_")
    with pytest.raises(ValueError, match="was pickled without its training data"):
        loaded.diagnose()


@pytest.mark.parametrize("augmenter", ["auto", LabelInvariantMixup()], ids=["auto", "mixup"])
def test_training_rows_in_a_pickle(augmenter):
    """Only an augmenter that mixes rows keeps them."""
    X, y = separated(distance=1.0)
    model, grid = LogisticRegression(), {"C": [0.1, 1]}
    search = GridSearchLZO(model, grid, augmenter=augmenter, random_state=0)
    content = pickle.dumps(search.fit(X, y))
    n_found = sum(row.tobytes() in content for row in X)
    assert n_found == (0 if augmenter == "auto" else len(X))


@pytest.mark.parametrize("function", [copy.copy, copy.deepcopy])
def test_copy_shares_the_training_data_and_nothing_else(function):
    X, y = separated(distance=1.0)
    search = GridSearchLZO(KNeighborsClassifier(), NEIGHBORS, **FEW).fit(X, y)
    n_fits, copied = search.n_fits_, function(search)
    reports = [one.diagnose(permutation=True) for one in (search, copied)]
    assert reports[0].checks == reports[1].checks
    assert copied.n_fits_ == search.n_fits_ == n_fits + 2
    np.testing.assert_array_equal(copied.validation_set_.X, search.validation_set_.X)
    copied.set_params(random_state=1).fit(X[:100], y[:100])
    runs = [one.summary(diagnostics=reports[0])["run"] for one in (search, copied)]
    assert [run["data"]["n_rows"] for run in runs] == [200, 100]
    assert (copied.estimator is search.estimator) == (function is copy.copy)


def test_deepcopy_of_an_unfitted_search():
    search = GridSearchLZO(SVC(), {"C": [1]}, **FEW)
    first, second = copy.deepcopy([search, search])
    assert first is second
    first.fit(*separated())
    assert not hasattr(search, "cv_results_")
