"""Leave-one-out of SVMs, compared with refits without each row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import r2_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from leavezero.leave_one_out import _svm, find_leave_one_out
from leavezero.leave_one_out._svm import BinarySVM, SVMKernel
from leavezero.testing._leave_one_out import refit_predictions


def fit_loo(estimator, X, y, weights=None):
    model = clone(estimator).fit(X, y, sample_weight=weights)
    return find_leave_one_out(model).predict(model, X, y, weights)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((50, 4)) + 2.0
    noisy = (X - 2.0) @ [0.8, -0.5, 0.3, 0.0] + 0.4 * rng.standard_normal(50)
    return {
        "X": X,
        "two": np.where(noisy > 0, "yes", "no"),
        "three": np.digitize(noisy, np.quantile(noisy, [0.35, 0.7])) * 10,
        "noisy": noisy,
        "weights": rng.uniform(0.5, 2.0, 50),
    }


def overlapping(n_rows=160, n_columns=16, n_classes=2):
    X, y = make_classification(
        n_rows, n_columns, n_informative=8, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def check_accuracy(estimator, X, y):
    """Check that the accuracy is within a standard error of that of refits; return both."""
    loo = fit_loo(estimator, X, y)
    assert loo.unreliable is None
    refits = float(np.mean(cross_val_predict(estimator, X, y, cv=LeaveOneOut()) == y))
    error = np.sqrt(refits * (1.0 - refits) / len(y))
    assert abs(float(np.mean(loo.predictions["predict"] == y)) - refits) <= error
    return refits, error


def use_span_alone(monkeypatch):
    monkeypatch.setattr(_svm, "_smoothed_changes", lambda svm, _: np.zeros(len(svm.rows)))


@pytest.mark.parametrize("target", ["two", "three"])
@pytest.mark.parametrize(
    "estimator",
    [
        SVC(),
        SVC(C=5.0, gamma=0.1),
        SVC(kernel="linear", class_weight="balanced"),
        SVC(kernel="poly", degree=2, coef0=1.0),
        NuSVC(nu=0.4),
    ],
)
def test_classification_is_close_to_refits(data, estimator, target):
    """At most one label in eight differs, and the median error of decision values is small."""
    X, y, weights = data["X"], data[target], data["weights"]
    loo = fit_loo(estimator, X, y, weights).predictions
    refits, _ = refit_predictions(estimator, X, y, weights, ["predict", "decision_function"])
    assert np.mean(loo["predict"] != refits["predict"]) <= 0.125
    assert loo["predict"].dtype == refits["predict"].dtype
    assert loo["decision_function"].shape == refits["decision_function"].shape
    error = np.abs(loo["decision_function"] - refits["decision_function"])
    assert np.median(error) < 0.1


@pytest.mark.parametrize("estimator", [SVR(C=5.0), SVR(kernel="linear"), NuSVR(C=5.0)])
def test_regression_is_close_to_refits(data, estimator):
    X, y = data["X"], data["noisy"]
    loo = fit_loo(estimator, X, y).predictions["predict"]
    refits, _ = refit_predictions(estimator, X, y, None, ["predict"])
    expected = np.mean((refits["predict"] - y) ** 2)
    assert np.mean((loo - y) ** 2) == pytest.approx(expected, rel=0.125)


@pytest.mark.parametrize(
    "estimator", [SVC(), SVC(decision_function_shape="ovo"), SVC(break_ties=True, gamma=2.0)]
)
@pytest.mark.parametrize("target", ["two", "three"])
def test_rows_that_are_no_support_vectors_keep_their_predictions(data, estimator, target):
    X, y = data["X"], data[target]
    model = clone(estimator).fit(X, y)
    loo = find_leave_one_out(model).predict(model, X, y).predictions
    idle = np.setdiff1d(np.arange(len(y)), model.support_)
    decision = model.decision_function(X)[idle]
    np.testing.assert_array_equal(loo["predict"][idle], model.predict(X)[idle])
    np.testing.assert_allclose(loo["decision_function"][idle], decision, atol=1e-6)


def test_precomputed_and_callable_kernels_and_sparse_rows(data):
    X, y = data["X"], data["two"]

    def kernel(left, right):
        return rbf_kernel(left, right, gamma=0.2)

    expected = fit_loo(SVC(gamma=0.2), X, y).predictions["decision_function"]
    for estimator, rows in [
        (SVC(kernel="precomputed"), kernel(X, X)),
        (SVC(kernel=kernel), X),
        (SVC(gamma=0.2), sparse.csr_matrix(X)),
    ]:
        values = fit_loo(estimator, rows, y).predictions["decision_function"]
        np.testing.assert_allclose(values, expected, atol=1e-5)


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_a_kernel_too_large_to_store_gives_the_same(data, kernel, monkeypatch):
    model = SVC(C=2.0, kernel=kernel)
    stored = fit_loo(model, data["X"], data["three"])
    monkeypatch.setattr(_svm, "BLOCK_CELLS", 100)
    in_parts = fit_loo(model, data["X"], data["three"])
    for method, values in stored.predictions.items():
        np.testing.assert_allclose(in_parts.predictions[method], values, rtol=1e-8)


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.01, 0.5, 5.0])
def test_linear_kernels_with_few_columns(n_classes, C, monkeypatch):
    """Where free vectors span all columns, only the smoothed loss differs from training scores."""
    X, y = overlapping(n_classes=n_classes)
    estimator = SVC(kernel="linear", C=C)
    refits, error = check_accuracy(estimator, X, y)
    if C == 5.0:
        use_span_alone(monkeypatch)
        by_span = float(np.mean(fit_loo(estimator, X, y).predictions["predict"] == y))
        assert by_span > refits + error
        assert by_span == pytest.approx(estimator.fit(X, y).score(X, y), abs=0.005)


@pytest.mark.parametrize(("epsilon", "C"), [(0.1, 0.03), (0.1, 0.5), (0.5, 0.03)])
def test_linear_regression_with_few_columns(epsilon, C, monkeypatch):
    X, y = make_regression(100, 30, n_informative=10, noise=60.0, random_state=1)
    X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
    estimator = SVR(kernel="linear", C=C, epsilon=epsilon)
    refits = r2_score(y, cross_val_predict(estimator, X, y, cv=LeaveOneOut()))
    both = r2_score(y, fit_loo(estimator, X, y).predictions["predict"])
    use_span_alone(monkeypatch)
    by_span = r2_score(y, fit_loo(estimator, X, y).predictions["predict"])
    assert abs(both - refits) <= min(0.03, abs(by_span - refits) + 0.01)


def test_separated_rows_use_the_span_rule(monkeypatch):
    X, y = make_classification(100, 40, n_informative=20, class_sep=3.0, random_state=0)
    estimator = SVC(kernel="linear", C=100.0)
    both = fit_loo(estimator, X, y).predictions["predict"]
    use_span_alone(monkeypatch)
    by_span = fit_loo(estimator, X, y).predictions["predict"]
    refits = cross_val_predict(estimator, X, y, cv=LeaveOneOut())
    assert estimator.fit(X, y).score(X, y) == 1.0
    assert np.mean(both == refits) >= np.mean(by_span == refits)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_and_weights_of_linear_kernels(class_weight, weighted):
    X, y = overlapping(120, 10)
    weights = np.where(np.arange(120) < 60, 2.0, 1.0) if weighted else None
    estimator = SVC(kernel="linear", C=0.5, class_weight=class_weight)
    dense, thin = (fit_loo(estimator, rows, y, weights) for rows in (X, sparse.csr_matrix(X)))
    values = (loo.predictions["decision_function"] for loo in (dense, thin))
    np.testing.assert_allclose(*values, atol=0.02)


@pytest.mark.parametrize(
    ("estimator", "target"),
    [(SVC(C=0.3, gamma=0.2), "two"), (SVC(gamma=0.2), "three"), (SVR(gamma=0.2), "noisy")],
)
def test_rows_without_weight_are_not_part_of_the_fit(data, estimator, target):
    X, y, used = data["X"], data[target], np.arange(50) % 3 > 0
    weighted = fit_loo(estimator, X, y, used.astype(float))
    rest = fit_loo(estimator, X[used], y[used])
    without = clone(estimator).fit(X[used], y[used])
    for name, values in weighted.predictions.items():
        tied = {"atol": 1e-8} if values.dtype.kind == "f" else {}
        compare = np.testing.assert_allclose if tied else np.testing.assert_array_equal
        compare(values[used], rest.predictions[name], **tied)
        compare(values[~used], getattr(without, name)(X[~used]), **tied)


def test_nu_and_few_free_vectors():
    check_accuracy(NuSVC(kernel="linear", nu=0.6), *overlapping(150, 10))
    X, y = overlapping(200, 10)
    estimator = SVC(C=1.0, gamma=0.01)
    n_free = int(np.sum(np.abs(estimator.fit(X, y).dual_coef_) < 1.0 - 1e-9))
    assert 3 <= n_free < 20
    check_accuracy(estimator, X, y)


def test_unreliable_predictions_have_a_reason(data, monkeypatch):
    X, y = data["X"], data["two"]
    loo = fit_loo(SVC(C=1e-3), X, y)
    assert loo.unreliable == "the SVM has only 0 free support vectors, too few for the span rule"
    monkeypatch.setattr(_svm, "MAX_CELLS", 10)
    for estimator, target in [(SVC(), "three"), (SVR(), "noisy")]:
        loo = fit_loo(estimator, X, data[target])
        assert loo.predictions == {}
        assert "more than 400 MB" in loo.unreliable


def test_rows_of_another_fit_raise(data):
    X, y = data["X"], data["two"]
    model = SVC().fit(X, y)
    predict = find_leave_one_out(model).predict
    for rows, target, why in [
        (X[:-1], y[:-1], "it had 50 rows, X has 49"),
        (X + 1.0, y, "its support vectors are other rows of X"),
        (X, y[::-1], "its support vectors have other classes in y"),
        (X, np.where(y == "no", "maybe", y), "class 'maybe' is not in its classes_"),
    ]:
        with pytest.raises(ValueError, match=f"was not fitted to these rows: {why}"):
            predict(model, rows, target)
    other = SVC(kernel="precomputed").fit(rbf_kernel(X, gamma=0.2), y)
    with pytest.raises(ValueError, match="are not on the margin"):
        predict(other, rbf_kernel(X, gamma=20.0), y)
    regression = SVR().fit(X, data["noisy"])
    with pytest.raises(ValueError, match="are not on the boundary of the tube"):
        find_leave_one_out(regression).predict(regression, X, data["noisy"][::-1])


def svm_span(n_free, kernel):
    """Return the span of an SVM whose first rows are free."""
    n_rows = len(kernel)
    ones = np.ones(n_rows)
    svm = BinarySVM(
        np.arange(n_rows), ones, np.arange(n_rows) < n_free, ones, ones, ones, ones, ones[:, None]
    )
    model = SVC(kernel="precomputed")
    return _svm._Span.from_svm(svm, SVMKernel(model, kernel, None))


@settings(max_examples=25)
@given(seed=st.integers(0, 10_000), n_free=st.integers(2, 12))
def test_spans_are_those_of_the_bordered_inverse(seed, n_free):
    """Chapelle et al. 2002, equation 17: the kernel of free vectors bordered by ones."""
    kernel = rbf_kernel(np.random.default_rng(seed).normal(size=(12, 3)), gamma=0.7)
    bordered = np.block([[kernel[:n_free, :n_free], np.ones((n_free, 1))], [np.ones(n_free), 0.0]])
    inverse = np.linalg.inv(bordered)
    span = svm_span(n_free, kernel)
    np.testing.assert_allclose(span.free_squares, 1.0 / np.diag(inverse)[:-1], rtol=1e-4)
    border = np.vstack([kernel[:n_free, n_free:], np.ones(12 - n_free)])
    rest = 1.0 - np.einsum("ij,ij->j", border, inverse @ border)
    np.testing.assert_allclose(span.other_squares, rest, atol=1e-6)


def test_kernel_that_is_not_positive_uses_its_positive_part():
    kernel = np.array([[1.0, 2.0, 0.5], [2.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    values, vectors = np.linalg.eigh(kernel)
    kept = values > 0
    expected = vectors[:, kept] / values[kept] @ vectors[:, kept].T
    half = svm_span(3, kernel).half
    np.testing.assert_allclose(half.T @ half, expected, atol=1e-8)
