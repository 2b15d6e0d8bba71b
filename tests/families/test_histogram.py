"""Histogram boosting along its stages: drafts of the largest answer, and the winner is fitted."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import GridSearchLZO
from leavezero.families import _histogram, family_of
from leavezero.families._histogram import HistogramFamily, StageDraft

FAMILY = HistogramFamily()
FEW = {"n_replicates": 2, "random_state": 0}


@pytest.fixture(autouse=True)
def any_size(monkeypatch):
    """Make drafts of few sizes and rows, too."""
    monkeypatch.setattr(_histogram, "SHORT", 0)
    monkeypatch.setattr(_histogram, "FEWEST", 2)


def table(seed, n_classes=2, n_rows=80):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X[:, 0]) + 0.5 * rng.standard_normal(n_rows)
    cuts = np.quantile(signal, np.linspace(0, 1, n_classes + 1)[1:-1])
    return X, np.array(["a", "b", "c"])[np.digitize(signal, cuts)], np.exp(signal)


def sized(model, sizes):
    return [clone(model).set_params(max_iter=size, random_state=0) for size in sizes]


@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 2**31),
    sizes=st.lists(st.integers(1, 12), min_size=2, max_size=4, unique=True),
    n_classes=st.sampled_from([2, 3]),
    weighted=st.booleans(),
    kind=st.sampled_from(["classes", "balanced", "numbers", "counts"]),
)
def test_drafts_answer_as_fits_of_their_size(seed, sizes, n_classes, weighted, kind):
    """Bit for bit: labels, numbers, scores and probabilities."""
    X, y, numbers = table(seed, n_classes)
    models = {
        "classes": HistGradientBoostingClassifier(min_samples_leaf=5),
        "balanced": HistGradientBoostingClassifier(min_samples_leaf=5, class_weight="balanced"),
        "numbers": HistGradientBoostingRegressor(min_samples_leaf=5),
        "counts": HistGradientBoostingRegressor(min_samples_leaf=5, loss="poisson"),
    }
    estimators = sized(models[kind], sizes)
    target = y if is_classifier(estimators[0]) else numbers
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, len(X)) if weighted else None
    found = FAMILY.draft_many([clone(one) for one in estimators], X, target, weights)
    V = table(seed + 1)[0]
    said = FAMILY.respond_many(found, V)
    for draft, answers, estimator in zip(found, said, estimators, strict=True):
        assert FAMILY.is_draft(draft) is (estimator.max_iter < max(sizes))
        assert family_of(draft).name == "histogram boosting"
        plain = estimator.fit(X, target, sample_weight=weights)
        assert draft.n_iter_ == plain.n_iter_
        for method in ("predict", "predict_proba", "decision_function"):
            if hasattr(plain, method):
                right = getattr(plain, method)(V)
                together = answers[method].reshape(right.shape)
                for own in (getattr(draft, method)(V), together):
                    if right.dtype.kind == "f":
                        np.testing.assert_allclose(own, right, rtol=1e-12, atol=1e-15)
                    else:
                        assert np.array_equal(own, right)


@pytest.mark.parametrize("pipeline", [False, True])
def test_a_search_hands_back_a_fitted_model(pipeline, finds_the_same):
    """The winner is fitted, counted, and of the user's class; the table is that of plain fits."""
    X, y, _ = table(0)
    X = np.nan_to_num(X)
    model = HistGradientBoostingClassifier(min_samples_leaf=5)
    name = "max_iter"
    if pipeline:
        model = make_pipeline(StandardScaler(), model)
        name = "histgradientboostingclassifier__max_iter"
    grid = {name: [3, 1, 9, 5]}
    together, workers, alone = finds_the_same(model, grid, X, y, rtol=1e-12)
    for search in (together, workers):
        last = search.best_estimator_[-1] if pipeline else search.best_estimator_
        assert type(last) is HistGradientBoostingClassifier
        np.testing.assert_array_equal(search.predict(X), alone.predict(X))
    again = together.best_params_[name] < 9  # other processes have the usual limits
    assert together.fits_.get("again", 0) == again
    assert together.n_fits_ == 4 + again


def test_drafts_travel():
    """A draft answers after a pickle as before."""
    X, y, _ = table(0)
    drafts = FAMILY.draft_many(sized(HistGradientBoostingClassifier(), [2, 5]), X, y)
    few, _ = pickle.loads(pickle.dumps(drafts))
    assert isinstance(few, StageDraft)
    np.testing.assert_array_equal(few.predict(X), drafts[0].predict(X))


def test_what_is_not_drafted(monkeypatch):
    """Few sizes or rows, impossible sizes, and fits that may stop early."""
    X, y, _ = table(0)
    model = HistGradientBoostingClassifier()
    assert FAMILY.draft_many(sized(model, [3, 3]), X, y) is None
    assert FAMILY.draft_many(sized(model, [0, 3]), X, y) is None
    assert FAMILY.draft_many(sized(model.set_params(early_stopping=True), [2, 3]), X, y) is None
    monkeypatch.setattr(_histogram, "SHORT", 81)
    assert FAMILY.draft_many(sized(HistGradientBoostingClassifier(), [2, 3]), X, y) is None


def test_a_journal_goes_on_after_drafts(tmp_path):
    """What is read from a journal has the same winner, fitted again."""
    X, y, _ = table(0)
    grid = {"max_iter": [1, 2, 4]}
    options = {"journal": str(tmp_path / "search.sqlite"), **FEW}
    searches = [
        GridSearchLZO(HistGradientBoostingClassifier(min_samples_leaf=5), grid, **options).fit(X, y)
        for _ in range(2)
    ]
    first, second = (search.cv_results_["mean_test_score"] for search in searches)
    np.testing.assert_array_equal(first, second)
    assert type(searches[1].best_estimator_) is HistGradientBoostingClassifier
