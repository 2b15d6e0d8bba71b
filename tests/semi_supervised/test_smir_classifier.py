"""SMIRClassifier as an estimator, joint fits, and its accuracy."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.metrics.pairwise import cosine_similarity, rbf_kernel
from sklearn.neighbors import KNeighborsClassifier
from sklearn.semi_supervised import LabelSpreading
from sklearn.svm import SVC
from sklearn.utils.estimator_checks import parametrize_with_checks

from leavezero.semi_supervised import SMIRClassifier, _smir_classifier, fit_many
from leavezero.semi_supervised._smir_kernels import median_distance

# scikit-learn skips this part of the check for its own semi-supervised classifiers, by name.
MARKER = {"check_classifiers_classes": "uses labels -1 and 1, but -1 marks unlabeled rows"}


@parametrize_with_checks(
    [
        SMIRClassifier(),
        SMIRClassifier(unlabeled=None),
        SMIRClassifier(unlabeled=None, n_components=20),
    ],
    expected_failed_checks=lambda model: MARKER if model.unlabeled == -1 else {},
)
def test_scikit_learn_checks(estimator, check):
    """With -1 and with missing values as markers."""
    check(estimator)


def few_labels(y, per_class, seed):
    """Return y with some labels of each class, and -1 elsewhere."""
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(np.flatnonzero(y == code))[:per_class] for code in np.unique(y)]
    return np.where(np.isin(np.arange(len(y)), np.concatenate(rows)), y, -1)


@pytest.fixture
def moons():
    """200 rows in two moons, and six labels."""
    X, y = make_moons(200, noise=0.05, random_state=0)
    return X, y, few_labels(y, 3, 0)


def test_fitted_attributes(moons):
    """Named as in scikit-learn's semi-supervised classifiers."""
    X, y, y_few = moons
    model = SMIRClassifier().fit(X, y_few)
    assert model.label_distributions_.shape == (200, 2)
    assert_allclose(model.label_distributions_.sum(axis=1), 1.0)
    assert_array_equal(model.classes_, [0, 1])
    assert_array_equal(model.labeled_, np.flatnonzero(y_few >= 0))
    assert_array_equal(model.transduction_, model.predict(X))
    assert_allclose(model.predict_proba(X), model.label_distributions_, atol=1e-6)
    assert model.score(X, y) > 0.9


def test_sparse_matrices(moons):
    """Sparse matrices give the same model as arrays."""
    X, _, y = moons
    expected = SMIRClassifier().fit(X, y).predict_proba(X[:9])
    for container in (sparse.csr_matrix, sparse.csc_array, sparse.coo_array):
        found = SMIRClassifier().fit(container(X), y).predict_proba(container(X[:9]))
        assert_allclose(found, expected, atol=1e-7)


def test_precomputed_and_callable_kernels(moons):
    """Equal to "rbf" with the same kernel; the matrix is not changed."""
    X, _, y = moons
    expected = SMIRClassifier(width=0.3).fit(X, y).predict_proba(X[:9])
    gamma = 0.5 / (0.3 * median_distance(X)) ** 2
    by_callable = SMIRClassifier(lambda A, B: rbf_kernel(A, B, gamma=gamma)).fit(X, y)
    assert_allclose(by_callable.predict_proba(X[:9]), expected, atol=1e-6)
    matrix = rbf_kernel(X, gamma=gamma)
    original = matrix.copy()
    for container in (np.asarray, sparse.csr_array):
        model = SMIRClassifier("precomputed").fit(container(matrix), y)
        assert_allclose(model.predict_proba(container(matrix[:9])), expected, atol=1e-6)
    assert_array_equal(matrix, original)


@pytest.mark.parametrize("kernel", ["rbf", "cosine", "precomputed", cosine_similarity])
def test_landmarks(kernel):
    """Many landmarks give nearly the exact predictions."""
    rng = np.random.default_rng(0)
    y = np.arange(120) % 2
    X = rng.uniform(size=(120, 4)) + y[:, None] * [1.0, 0.0, 0.0, 1.0]
    y_few = np.where(np.arange(120) < 10, y, -1)
    table = rbf_kernel(X) if kernel == "precomputed" else X
    exact = SMIRClassifier(kernel, width=0.5).fit(table, y_few)
    model = SMIRClassifier(kernel, width=0.5, n_components=60, random_state=0).fit(table, y_few)
    assert model.coef_.shape == (60, 2)
    assert np.mean(model.transduction_ == exact.transduction_) > 0.97
    assert_allclose(model.predict_proba(table), model.label_distributions_, atol=1e-9)


def test_default_number_of_landmarks(moons, monkeypatch):
    """None is exact up to a number of rows; more landmarks than rows are exact, too."""
    X, y, y_few = moons
    exact = SMIRClassifier().fit(X, y_few)
    assert_array_equal(SMIRClassifier(n_components=200).fit(X, y_few).coef_, exact.coef_)
    monkeypatch.setattr(_smir_classifier, "MAX_EXACT_ROWS", 150)
    monkeypatch.setattr(_smir_classifier, "N_LANDMARKS", 100)
    monkeypatch.setattr("leavezero.semi_supervised._smir_kernels.MAX_DEGREE_ROWS", 120)
    model, again = (SMIRClassifier(random_state=0).fit(X, y_few) for _ in range(2))
    assert model.coef_.shape == (100, 2)
    assert model.score(X, y) > 0.9
    assert_array_equal(again.label_distributions_, model.label_distributions_)


def test_unusual_labels(moons, iris):
    """All rows labeled, labels of one class, one label per class."""
    X, y, y_few = moons
    for marker in (-1, "?"):
        assert SMIRClassifier(unlabeled=marker).fit(*iris).score(*iris) > 0.95
    one_class = SMIRClassifier().fit(X, np.where(y_few == 0, 0, -1))
    assert_array_equal(one_class.predict(X[:3]), [0, 0, 0])
    y_two = few_labels(y, 1, 0)
    labeled = y_two >= 0
    assert_array_equal(SMIRClassifier().fit(X, y_two).transduction_[labeled], y_two[labeled])


def test_rows_without_information_get_the_prior(moons):
    """Identical rows, rows far away, and rows without similarity to any."""
    identical = SMIRClassifier().fit(np.ones((5, 2)), [0, 0, 1, -1, -1])
    assert_allclose(identical.label_distributions_, np.tile([2 / 3, 1 / 3], (5, 1)), atol=1e-6)
    X, _, y = moons
    model = SMIRClassifier(prior=[1.0, 3.0]).fit(X, y)
    assert_allclose(model.predict_proba([[1e6, 1e6]]), [[0.25, 0.75]])
    counts = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0], [1.0, 0.0]])
    cosine = SMIRClassifier("cosine").fit(counts, [0, 1, -1, -1])
    assert_allclose(cosine.label_distributions_[2], [0.5, 0.5])
    assert cosine.transduction_[3] == 0


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"kernel": "linear"}, r"kernel of SMIRClassifier must be callable or in .* got 'linear'"),
        ({"width": 0.0}, "width of SMIRClassifier must be a positive number, got 0.0"),
        ({"gamma": -1.0}, "gamma of SMIRClassifier must be a number of at least 0, got -1.0"),
        ({"gamma": np.inf}, "gamma of SMIRClassifier must be a number"),
        ({"offset": 0.0}, "offset of SMIRClassifier must be a positive number, got 0.0"),
        ({"gamma": 1e9, "offset": 1e-10}, "lost in rounding .* so the objective is not convex"),
        ({"n_components": 0}, "n_components of SMIRClassifier must be None or a positive int"),
        ({"n_components": 2.0}, "n_components of SMIRClassifier must be None or a positive int"),
        ({"prior": [0.5]}, "prior of SMIRClassifier has 1 entries, but y has labeled rows of 2"),
        ({"n_components": 5, "random_state": -1}, "random_state must be None"),
    ],
)
def test_invalid_parameters(moons, parameters, message):
    """Each error names the parameter and what is allowed."""
    X, _, y = moons
    with pytest.raises(ValueError, match=message):
        SMIRClassifier(**parameters).fit(X, y)


@pytest.mark.parametrize("n_components", [None, 3])
def test_invalid_kernels(n_components):
    """The error names the property that is missing, also with landmarks."""
    model = SMIRClassifier("precomputed", n_components=n_components, random_state=0)
    for matrix, message in (
        (np.ones((4, 3)), r"must be a square kernel matrix .* got shape \(4, 3\)"),
        (np.eye(4) - 0.5 * np.eye(4)[::-1], r"must not be negative, got -0\.5"),
        (np.eye(4) + np.triu(np.full((4, 4), 0.1)), "must be symmetric"),
        (1.0 - np.eye(4), "must be positive semi-definite"),
        (np.zeros((4, 4)), "must have positive entries"),
    ):
        with pytest.raises(ValueError, match=message):
            model.fit(matrix, [0, 1, -1, -1])


models = st.builds(
    SMIRClassifier,
    kernel=st.sampled_from(["rbf", "cosine"]),
    width=st.sampled_from([0.2, 1.0]),
    gamma=st.sampled_from([0.0, 0.1, 10.0]),
    offset=st.sampled_from([1e-6, 1e-2]),
    prior=st.sampled_from(["empirical", "uniform", (0.2, 0.3, 0.5)]),
    n_components=st.sampled_from([None, 15]),
    random_state=st.sampled_from([0, 1]),
)


def three_classes(seed):
    """Return positive rows of three classes, and labels of 12 rows."""
    y = np.arange(30) % 3
    X = np.random.default_rng(seed).uniform(size=(30, 3)) + 0.5 * np.eye(3)[y]
    return X, np.where(np.arange(30) < 12, y, -1)


@settings(max_examples=30)
@given(st.lists(models, max_size=8), st.integers(0, 99))
def test_fit_many_equals_separate_fits(candidates, seed):
    """Whatever parameters the models have in common."""
    X, y = three_classes(seed)
    separate = [clone(model).fit(X, y) for model in candidates]
    for model, expected in zip(fit_many(candidates, X, y), separate, strict=True):
        assert_allclose(model.coef_, expected.coef_, atol=1e-6 * np.abs(expected.coef_).max())
        assert model.coef_.base is None  # not a view of the coefficients of all models
        assert_allclose(model.label_distributions_, expected.label_distributions_, atol=1e-6)
        assert_allclose(model.predict_proba(X + 0.1), expected.predict_proba(X + 0.1), atol=1e-6)
        assert model.n_features_in_ == 3


def test_fit_many_decomposes_each_kernel_once(monkeypatch):
    """One decomposition per width, and none if a parameter is invalid."""
    calls, decompose = [], _smir_classifier.decompose

    def counted(matrix):
        calls.append(len(matrix))
        return decompose(matrix)

    monkeypatch.setattr(_smir_classifier, "decompose", counted)
    X, y = three_classes(0)
    with pytest.raises(ValueError, match="has 2 entries, but y has labeled rows of 3 classes"):
        fit_many([SMIRClassifier(), SMIRClassifier(prior=[0.5, 0.5])], X, y)
    assert calls == []
    grid = [(width, gamma) for gamma in (0.0, 0.1, 1.0) for width in (0.2, 0.5)]
    fit_many([SMIRClassifier(width=width, gamma=gamma) for width, gamma in grid], X, y)
    assert calls == [30, 30]


def test_accuracy_on_two_moons():
    """With six labels, less than half of the error of supervised models."""
    errors = []
    for seed in range(10):
        X, y = make_moons(300, noise=0.1, random_state=seed)
        y_few = few_labels(y, 3, seed)
        known, rest = y_few >= 0, y_few < 0
        supervised = [m.fit(X[known], y[known]) for m in (KNeighborsClassifier(1), SVC())]
        predictions = [m.predict(X[rest]) for m in (SMIRClassifier().fit(X, y_few), *supervised)]
        errors.append([np.mean(predicted != y[rest]) for predicted in predictions])
    smir, *others = np.mean(errors, axis=0)
    assert smir < 0.5 * min(others)


@pytest.mark.slow
def test_accuracy_on_digits():
    """With 20 labels, at least that of label spreading with seven neighbors."""
    X, y = load_digits(return_X_y=True)
    errors = []
    for seed in range(20):
        y_few = few_labels(y, 2, seed)
        models = [SMIRClassifier(), LabelSpreading(kernel="knn", n_neighbors=7)]
        errors.append([np.mean((m.fit(X, y_few).transduction_ != y)[y_few < 0]) for m in models])
    smir, spreading = np.mean(errors, axis=0)
    assert smir <= spreading
