"""Support vector machines that are solved together and answer before one of them is fitted."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from leavezero import GridSearchLZO
from leavezero.families import _svm_drafts, _svm_path, family_of
from leavezero.families._svm_drafts import Draft

SEEDS = st.integers(0, 2**31)
FEW = {"n_replicates": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Solve small machines together, too."""
    monkeypatch.setattr(_svm_drafts, "SHORT", 0)
    monkeypatch.setattr(_svm_drafts, "FEWEST", 2)


def table(seed, n_classes=2, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    signal = X[:, 0] - X[:, 1] + 0.7 * rng.standard_normal(n_rows)
    names = np.array(["a", "b", "c"])
    y = names[np.digitize(signal, np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1]))]
    return X, y, signal, rng.uniform(0.5, 2.0, n_rows)


def drafted(estimators, X, y, weights=None):
    return family_of(estimators[0]).draft_many([clone(one) for one in estimators], X, y, weights)


def assert_alike(draft, plain, V, tolerance):
    """Fail if a draft and a fitted machine differ by more than the tolerance."""
    if not is_classifier(plain):
        np.testing.assert_allclose(draft.predict(V), plain.predict(V), atol=tolerance)
        return
    scores, right = draft.decision_function(V), plain.decision_function(V)
    np.testing.assert_allclose(scores, right, atol=tolerance)
    clear = np.abs(right).reshape(len(V), -1).min(axis=1) > tolerance
    if right.ndim == 2:  # votes that tie are decided by what rounding leaves
        ordered = np.sort(right, axis=1)
        clear &= ordered[:, -1] - ordered[:, -2] > tolerance
    assert np.array_equal(draft.predict(V)[clear], plain.predict(V)[clear])


@settings(max_examples=25, deadline=None)
@given(
    seed=SEEDS,
    powers=st.lists(st.integers(-5, 4), min_size=2, max_size=4),
    n_classes=st.sampled_from([2, 3]),
    kernel=st.sampled_from(["linear", "rbf", "poly"]),
    class_weight=st.sampled_from([None, "balanced", {"a": 2.0}]),
    shape=st.sampled_from(["ovr", "ovo"]),
    weighted=st.booleans(),
    steps=st.sampled_from([0, 1, 100]),
)
def test_classifiers(seed, powers, n_classes, kernel, class_weight, shape, weighted, steps):
    """Drafts score as plain fits do, for any classes and weights, whoever solves them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_svm_path, "MANY_STEPS", steps)
        compare_classifiers(seed, powers, n_classes, kernel, class_weight, shape, weighted)


def compare_classifiers(seed, powers, n_classes, kernel, class_weight, shape, weighted):
    """Fail if a draft says something else than a plain fit."""
    X, y, _, weights = table(seed, n_classes)
    more = {"class_weight": class_weight, "decision_function_shape": shape, "tol": 1e-6}
    machines = [SVC(C=2.0**power, kernel=kernel, **more) for power in powers]
    weights = weights if weighted else None
    V = table(seed + 1)[0]
    for draft, machine in zip(drafted(machines, X, y, weights), machines, strict=True):
        assert isinstance(draft, Draft)
        plain = clone(machine).fit(X, y, sample_weight=weights)
        np.testing.assert_array_equal(draft.classes_, plain.classes_)
        np.testing.assert_allclose(draft.class_weight_, plain.class_weight_)
        assert draft.n_support_.sum() == len(draft.support_)
        assert_alike(draft, plain, V, 2e-3)


@pytest.mark.parametrize(
    "machines",
    [
        [NuSVC(nu=nu, tol=1e-7) for nu in (0.2, 0.4)],
        [SVR(C=C, epsilon=0.2, tol=1e-7) for C in (0.1, 1.0, 100.0)],
        [NuSVR(C=C, tol=1e-7) for C in (0.5, 5.0)],
    ],
)
def test_machines_of_every_kind(machines):
    """Whatever has a kernel is solved on one matrix of it, to the tolerance."""
    X, y, numbers, weights = table(0)
    target = y if is_classifier(machines[0]) else numbers
    V = table(1)[0]
    for draft, machine in zip(drafted(machines, X, target, weights), machines, strict=True):
        plain = clone(machine).fit(X, target, sample_weight=weights)
        assert_alike(draft, plain, V, 1e-4)


@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_unseen_rows(kernel, n_classes):
    """A draft says of rows that it has not seen what the fitted machine says."""
    X, y, _, weights = table(3, n_classes, 120)
    machines = [SVC(C=C, kernel=kernel, tol=1e-6) for C in (0.1, 1.0, 10.0)]
    drafts = drafted(machines, X, y, weights)
    family = family_of(drafts[0])
    asks = family.unseen_many(drafts, X, y, weights)
    for ask, draft, machine in zip(asks, drafts, machines, strict=True):
        plain = clone(machine).fit(X, y, sample_weight=weights)
        right, told = family.unseen(plain, X, y, weights), ask()
        assert told.doubt == right.doubt
        if right.doubt is None:
            share = np.mean(told.responses["predict"] == right.responses["predict"])
            assert share > 0.98, (draft, share)


def test_a_larger_bound_that_holds_nothing():
    """Where no row is at its bound, machines with larger ones are the same, and solved once."""
    X, y, _, _ = table(0)
    machines = [SVC(C=C, gamma=100.0) for C in (0.1, 1000.0, 10.0)]
    small, largest, large = drafted(machines, X, y)
    assert largest.dual_coef_ is large.dual_coef_
    assert small.dual_coef_ is not large.dual_coef_
    plain = clone(machines[1]).fit(X, y)
    assert_alike(largest, plain, table(1)[0], 1e-3)
    asks = family_of(large).unseen_many([small, largest, large], X, y)
    assert asks[1] is asks[2]
    assert asks[0] is not asks[1]


def test_large_penalties_take_few_systems(monkeypatch):
    """LIBSVM is cut short once; its machine and those of larger penalties go on from there."""
    X, y, _, _ = table(5, 2, 200)
    asked, solved = [], []
    fit, solve = _svm_path.fit_one, _svm_path.solve_kernel
    monkeypatch.setattr(_svm_path, "MANY_STEPS", 1)
    monkeypatch.setattr(_svm_path, "fit_one", lambda one, *on: asked.append(one.C) or fit(one, *on))
    monkeypatch.setattr(
        _svm_path, "solve_kernel", lambda *how: solved.append(how[2][0]) or solve(*how)
    )
    machines = [SVC(C=C, gamma=0.1) for C in (1e4, 0.01, 1.0, 1e3, 1e5)]
    for draft, machine in zip(drafted(machines, X, y), machines, strict=True):
        plain = clone(machine).fit(X, y)
        assert np.mean(draft.predict(X) == plain.predict(X)) > 0.98, machine
    assert asked == [0.01, 1.0, 1e3]
    assert solved == [1e3, 1e4, 1e5]


def test_a_machine_that_active_sets_miss(monkeypatch):
    """It is LIBSVM's again, from the beginning to the end."""
    monkeypatch.setattr(_svm_path, "MANY_STEPS", 0)
    monkeypatch.setattr(_svm_path, "solve_kernel", lambda *how: None)
    X, y, _, _ = table(0, 3)
    machines = [SVC(C=C) for C in (1.0, 100.0)]
    for draft, machine in zip(drafted(machines, X, y), machines, strict=True):
        plain = clone(machine).fit(X, y)
        assert_alike(draft, plain, X, 5e-3)


def test_drafts_travel():
    """A draft answers after a pickle as before, and its family knows it as one."""
    X, y, _, _ = table(0)
    drafts = drafted([SVC(C=C, kernel="linear") for C in (0.1, 1.0)], pd.DataFrame(X), y)
    family, again = family_of(drafts[0]), pickle.loads(pickle.dumps(drafts))
    assert all(map(family.is_draft, again))
    assert not family.is_draft(SVC())
    np.testing.assert_array_equal(again[0].predict(X), drafts[0].predict(X))


def test_what_is_not_drafted():
    """Few rows or machines, sparse rows, rows without weight and probabilities are left to fits."""
    X, y, _, weights = table(0)
    machines = [SVC(C=C) for C in (0.1, 1.0)]
    assert drafted(machines[:1], X, y) is None
    assert drafted(machines, sparse.csr_matrix(X), y) is None
    assert drafted(machines, X, y, np.where(np.arange(60) < 5, 0.0, weights)) is None
    honest = [SVC(C=C, probability=True) for C in (0.1, 1.0)]
    assert drafted(honest, X, y) is None


def test_what_is_fitted_among_drafts():
    """A machine with a limit of steps is fitted as it says, beside the drafts of others."""
    X, y, _, _ = table(0)
    free, limited = drafted([SVC(kernel="linear"), SVC(kernel="linear", max_iter=10**6)], X, y)
    assert isinstance(free, Draft)
    assert type(limited) is SVC


def test_too_many_rows_for_one_kernel():
    """A kernel matrix that is larger than LIBSVM's cache is not made."""
    X, y, _, _ = table(0)
    for room, made in ((60**2 * 8 / 2**20, True), (0.02, False)):
        machines = [SVC(C=C, cache_size=room) for C in (0.1, 1.0)]
        assert (drafted(machines, X, y) is not None) is made


@pytest.mark.parametrize(("piped", "n_jobs"), [(False, 1), (True, 2)])
def test_the_winner_is_fitted(piped, n_jobs):
    """A search hands back a plain fit of the user's class, and counts it."""
    X, y = make_classification(520, 4, random_state=0)
    machine = (
        make_pipeline(StandardScaler(), SVC(kernel="linear")) if piped else SVC(kernel="linear")
    )
    grid = {"svc__C" if piped else "C": [0.01, 0.1, 1.0, 10.0, 100.0]}
    search = GridSearchLZO(machine, grid, n_jobs=n_jobs, **FEW).fit(X, y)
    assert search.fits_ == {"candidate": 5, "teacher": 0, "confirm": 0, "again": 1}
    assert search.n_fits_ == 6
    assert search.refit_time_ > 0.0
    last = search.best_estimator_[-1] if piped else search.best_estimator_
    assert type(last) is SVC
    plain = clone(machine).set_params(**search.best_params_).fit(X, y)
    np.testing.assert_array_equal(
        search.best_estimator_.decision_function(X), plain.decision_function(X)
    )


def test_a_search_scores_drafts_as_fits(monkeypatch):
    """The table is that of plain fits to the solver's tolerance, and fast where it is exact."""
    X, y = make_classification(520, 4, random_state=1)
    grid = {"C": [0.01, 1.0, 100.0, 1000.0], "kernel": ["linear", "rbf"]}
    search = GridSearchLZO(SVC(tol=1e-5), grid, return_train_score=True, **FEW).fit(X, y)
    monkeypatch.setattr(_svm_drafts, "FEWEST", 100)
    plain = GridSearchLZO(SVC(tol=1e-5), grid, return_train_score=True, **FEW).fit(X, y)
    assert "again" not in plain.fits_
    for column in ("mean_test_score", "mean_train_score", "mean_unseen_score"):
        np.testing.assert_allclose(search.cv_results_[column], plain.cv_results_[column], atol=4e-3)


def test_a_journal_fits_the_winner_only(tmp_path):
    """A search that finds all scores in its journal fits nothing but the model it hands back."""
    X, y = make_classification(520, 4, random_state=0)
    grid = {"C": [0.01, 0.1, 1.0, 10.0]}
    first, second = (
        GridSearchLZO(SVC(kernel="linear"), grid, journal=tmp_path / "journal", **FEW).fit(X, y)
        for _ in range(2)
    )
    assert first.fits_["again"] == second.fits_["again"] == 1
    assert second.fits_["candidate"] == 0
    np.testing.assert_array_equal(
        first.best_estimator_.dual_coef_, second.best_estimator_.dual_coef_
    )
