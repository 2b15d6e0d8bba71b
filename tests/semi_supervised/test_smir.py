"""The classifier on ordinary and on bad input."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs, make_moons
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel

from leavezero.semi_supervised import SMIRClassifier
from leavezero.semi_supervised._kernels import median_distance


@pytest.fixture
def moons():
    """200 rows in two moons, six with a label."""
    X, y = make_moons(200, noise=0.05, random_state=0)
    few = np.full(200, -1)
    for code in (0, 1):
        few[np.flatnonzero(y == code)[:3]] = code
    return X, y, few


def test_fitted_attributes(moons):
    """Probabilities and classes of the given rows, as those of scikit-learn's classifiers."""
    X, y, few = moons
    model = SMIRClassifier().fit(X, few)
    assert model.label_distributions_.shape == (200, 2)
    assert_allclose(model.label_distributions_.sum(axis=1), 1.0)
    assert_array_equal(model.classes_, [0, 1])
    assert_array_equal(model.labeled_, np.flatnonzero(few >= 0))
    assert_array_equal(model.transduction_, model.predict(X))
    assert_allclose(model.predict_proba(X), model.label_distributions_, atol=1e-6)
    assert model.score(X, y) > 0.9


@given(st.integers(0, 999), st.permutations([0, 1, 2]))
def test_names_of_classes_do_not_matter(seed, order):
    """Renaming the classes renames the predictions, and permutes the probabilities."""
    X, y = make_blobs(40, centers=3, cluster_std=3.0, random_state=seed)
    few = np.where(np.arange(40) < 3 + np.argmax(np.cumsum(np.eye(3)[y], axis=0).min(1)), y, -1)
    names = np.array(["a", "b", "c"])[np.array(order)]
    first = SMIRClassifier().fit(X, few)
    second = SMIRClassifier(unlabeled="?").fit(X, np.where(few < 0, "?", names[few]))
    columns = np.searchsorted(second.classes_, names[first.classes_])
    found = second.label_distributions_[:, columns]
    assert_allclose(found, first.label_distributions_, atol=1e-7)


def test_order_of_rows_does_not_matter(moons):
    """The same rows in another order give the same answers."""
    X, _, few = moons
    order = np.random.default_rng(0).permutation(200)
    one, two = SMIRClassifier().fit(X, few), SMIRClassifier().fit(X[order], few[order])
    assert_allclose(two.label_distributions_, one.label_distributions_[order], atol=1e-7)


def test_containers_give_the_same_model(moons):
    """Arrays, frames and sparse matrices; names of columns are remembered."""
    X, _, few = moons
    model = SMIRClassifier().fit(X, few)
    frame = pd.DataFrame(X, columns=["a", "b"])
    framed = SMIRClassifier().fit(frame, pd.Series(few))
    assert_array_equal(framed.feature_names_in_, ["a", "b"])
    assert_array_equal(framed.predict_proba(frame), model.predict_proba(X))
    for form in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        thin = SMIRClassifier().fit(form(X), few)
        assert_allclose(thin.predict_proba(form(X[:9])), model.predict_proba(X[:9]), atol=1e-7)


def test_kernels_given_in_other_ways(moons):
    """Precomputed or by a callable, the Gaussian kernel is the Gaussian kernel."""
    X, _, few = moons
    model = SMIRClassifier(width=0.3).fit(X, few)
    gamma = 0.5 / (0.3 * median_distance(X)) ** 2
    by_call = SMIRClassifier(lambda A, B: rbf_kernel(A, B, gamma=gamma)).fit(X, few)
    assert_allclose(by_call.predict_proba(X[:9]), model.predict_proba(X[:9]), atol=1e-6)
    matrix = rbf_kernel(X, gamma=gamma)
    kept = matrix.copy()
    for form in (np.asarray, sparse.csr_array):
        given = SMIRClassifier("precomputed").fit(form(matrix), few)
        found = given.predict_proba(form(matrix[:9]))
        assert_allclose(found, model.predict_proba(X[:9]), atol=1e-6)
    assert_array_equal(matrix, kept)


@pytest.mark.parametrize("kernel", ["rbf", "cosine", "precomputed", cosine_similarity])
def test_landmarks_with_every_kernel(kernel):
    """The approximation agrees with the exact solution where the landmarks are many."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.uniform(size=(120, 4)) + y[:, None] * [1.0, 0.0, 0.0, 1.0]
    few = np.where(np.arange(120) < 10, y, -1)
    table = rbf_kernel(X) if kernel == "precomputed" else X
    exact = SMIRClassifier(kernel, width=0.5).fit(table, few)
    close = SMIRClassifier(kernel, width=0.5, n_components=60, random_state=0).fit(table, few)
    assert close.coef_.shape == (60, 2)
    assert np.mean(close.transduction_ == exact.transduction_) > 0.97
    assert_allclose(close.predict_proba(table), close.label_distributions_, atol=1e-9)


def test_the_approximation_sets_in_with_many_rows(moons, monkeypatch):
    """None is exact up to a limit, and a fixed number of landmarks beyond."""
    monkeypatch.setattr("leavezero.semi_supervised._together.EXACT_ROWS", 150)
    monkeypatch.setattr("leavezero.semi_supervised._together.LANDMARKS", 100)
    monkeypatch.setattr("leavezero.semi_supervised._decompose.DEGREE_ROWS", 120)
    X, y, few = moons
    model = SMIRClassifier(random_state=0).fit(X, few)
    assert model.coef_.shape == (100, 2)
    assert model.score(X, y) > 0.9
    again = SMIRClassifier(random_state=0).fit(X, few)
    assert_array_equal(again.label_distributions_, model.label_distributions_)


def test_more_landmarks_than_rows_are_exact(moons):
    """As many as there are rows is the kernel itself."""
    X, _, few = moons
    model = SMIRClassifier(n_components=200).fit(X, few)
    assert_array_equal(model.coef_, SMIRClassifier().fit(X, few).coef_)


def test_without_unlabeled_rows_it_is_supervised(iris):
    """All rows may have a label, with a marker that does not occur."""
    X, y = iris
    assert SMIRClassifier().fit(X, y).score(X, y) > 0.95
    assert SMIRClassifier(unlabeled="?").fit(X, y).score(X, y) > 0.95


def test_identical_rows_get_the_prior():
    """A kernel of ones says nothing of any row."""
    y = [0, 0, 1, -1, -1]
    model = SMIRClassifier().fit(np.ones((5, 2)), y)
    assert_allclose(model.label_distributions_, np.tile([2 / 3, 1 / 3], (5, 1)), atol=1e-6)


def test_far_away_rows_get_the_prior(moons):
    """And so does a row that is like none, not even itself."""
    X, _, few = moons
    model = SMIRClassifier(prior=[1.0, 3.0]).fit(X, few)
    assert_allclose(model.predict_proba([[1e6, 1e6]]), [[0.25, 0.75]])
    words = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    text = SMIRClassifier("cosine").fit(words, [0, 1, -1, -1])
    assert_allclose(text.label_distributions_[2], [0.5, 0.5])
    assert text.transduction_[3] == 0


def test_one_class_is_no_error(moons):
    """With labels of one class there is one answer."""
    X, _, few = moons
    model = SMIRClassifier().fit(X, np.where(few == 0, 0, -1))
    assert_array_equal(model.predict(X[:3]), [0, 0, 0])


def test_one_label_a_class(moons):
    """As few labels as can be."""
    X, y, _ = moons
    few = np.full(200, -1)
    first = [int(np.flatnonzero(y == code)[0]) for code in (0, 1)]
    few[first] = [0, 1]
    assert_array_equal(SMIRClassifier().fit(X, few).transduction_[first], [0, 1])


def test_pickles(moons):
    """A fitted model survives, and is cloned unfitted."""
    X, _, few = moons
    model = SMIRClassifier().fit(X, few)
    back = pickle.loads(pickle.dumps(model))
    assert_array_equal(back.predict_proba(X), model.predict_proba(X))
    assert not hasattr(clone(model), "classes_")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"kernel": "linear"}, r"kernel of SMIRClassifier must be one of .* got 'linear'"),
        ({"width": 0.0}, "width of SMIRClassifier must be a positive factor"),
        ({"gamma": -1.0}, "gamma of SMIRClassifier must be a number of at least 0, got -1.0"),
        ({"gamma": np.inf}, "gamma of SMIRClassifier must be a number"),
        ({"offset": 0.0}, "offset of SMIRClassifier must be a number above 0, got 0.0.*convex"),
        ({"offset": -1e-3}, "offset of SMIRClassifier must be a number above 0, got -0.001"),
        ({"gamma": 1e9, "offset": 1e-10}, "lost in rounding .* so that the problem is not convex"),
        ({"n_components": 0}, "n_components of SMIRClassifier must be None or a positive int"),
        ({"n_components": 2.0}, "n_components of SMIRClassifier must be None or a positive int"),
        ({"prior": [0.5]}, "prior of SMIRClassifier has 1 shares, but y has labelled rows of 2"),
        ({"prior": "flat"}, "prior of SMIRClassifier must be 'empirical', 'uniform'"),
        ({"n_components": 5, "random_state": -1}, "random_state must be None"),
    ],
)
def test_bad_parameters(moons, parameters, words):
    """Each is told with what is allowed."""
    X, _, few = moons
    with pytest.raises(ValueError, match=words):
        SMIRClassifier(**parameters).fit(X, few)


@pytest.mark.parametrize("n_components", [None, 3])
def test_bad_kernels(n_components):
    """Not square, not symmetric, negative, or no kernel of anything."""
    y = [0, 1, -1, -1]
    model = SMIRClassifier("precomputed", n_components=n_components, random_state=0)
    with pytest.raises(ValueError, match=r"must be a square kernel matrix .* got shape \(4, 3\)"):
        model.fit(np.ones((4, 3)), y)
    with pytest.raises(ValueError, match=r"must not be negative, got -0\.5"):
        model.fit(np.eye(4) - 0.5 * np.eye(4)[::-1], y)
    with pytest.raises(ValueError, match="must be symmetric"):
        model.fit(np.eye(4) + np.triu(np.full((4, 4), 0.1)), y)
    with pytest.raises(ValueError, match="Input X contains NaN"):
        model.fit(np.full((4, 4), np.nan), y)
    with pytest.raises(ValueError, match="must not be negative"):
        SMIRClassifier("cosine").fit(np.array([[1.0], [-1.0], [2.0], [3.0]]), y)


def test_bad_data(moons):
    """Missing numbers in X, or labels for other rows."""
    X, _, few = moons
    with pytest.raises(ValueError, match="Input X contains NaN"):
        SMIRClassifier().fit(np.where(X > 1, np.nan, X), few)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        SMIRClassifier().fit(X, few[:-1])
    with pytest.raises(ValueError, match="y has no labelled row"):
        SMIRClassifier().fit(X, np.full(200, -1))
    with pytest.raises(ValueError, match="X has 3 features, but SMIRClassifier is expecting 2"):
        SMIRClassifier().fit(X, few).predict(np.ones((2, 3)))
