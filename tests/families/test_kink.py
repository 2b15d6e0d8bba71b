"""Linear machines without a row: a smoothed loss tells what the span rule cannot see."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification, make_regression
from sklearn.metrics import r2_score
from sklearn.model_selection import LeaveOneOut, cross_val_predict
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR, NuSVC

from leavezero.families import _svm_step, family_of
from leavezero.families._kink import kernel_width


def overlapping(n_rows=160, n_columns=16, n_classes=2):
    X, y = make_classification(
        n_rows, n_columns, n_informative=8, n_classes=n_classes, flip_y=0.2, random_state=0
    )
    return StandardScaler().fit_transform(X), y


def unseen_share(model, X, y, weights=None):
    told = family_of(model).unseen(model, X, y, weights)
    assert told.doubt is None
    return float(np.mean(told.responses["predict"] == y))


def by_span_alone(monkeypatch):
    monkeypatch.setattr(_svm_step, "smooth_sinks", lambda machine, _: np.zeros(len(machine.rows)))


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("C", [0.01, 0.5, 5.0])
def test_machines_that_fill_all_columns_are_told_from_their_training_score(
    n_classes, C, monkeypatch
):
    """Each share is within a standard error of true leave-one-out's, where the rule's is not."""
    X, y = overlapping(n_classes=n_classes)
    model = SVC(kernel="linear", C=C).fit(X, y)
    true = float(np.mean(cross_val_predict(clone(model), X, y, cv=LeaveOneOut()) == y))
    error = np.sqrt(true * (1.0 - true) / len(y))
    assert abs(unseen_share(model, X, y) - true) <= error
    if C == 5.0:
        by_span_alone(monkeypatch)
        assert unseen_share(model, X, y) > true + error
        assert unseen_share(model, X, y) == pytest.approx(model.score(X, y), abs=0.005)


@pytest.mark.parametrize(("epsilon", "C"), [(0.1, 0.03), (0.1, 0.5), (0.5, 0.03)])
def test_regressions_are_told_from_their_training_score(epsilon, C, monkeypatch):
    X, y = make_regression(150, 30, n_informative=10, noise=60.0, random_state=1)
    X, y = StandardScaler().fit_transform(X), (y - y.mean()) / y.std()
    model = SVR(kernel="linear", C=C, epsilon=epsilon).fit(X, y)
    true = r2_score(y, cross_val_predict(clone(model), X, y, cv=LeaveOneOut()))
    ours = r2_score(y, family_of(model).unseen(model, X, y).responses["predict"])
    by_span_alone(monkeypatch)
    alone = r2_score(y, family_of(model).unseen(model, X, y).responses["predict"])
    assert abs(ours - true) <= 0.03
    assert abs(ours - true) <= abs(alone - true) + 0.01


def test_a_machine_that_separates_its_rows_is_left_to_the_span_rule(monkeypatch):
    """Without a row inside the margin nothing is smoothed that the rule does not know better."""
    X, y = make_classification(100, 40, n_informative=20, class_sep=3.0, random_state=0)
    model = SVC(kernel="linear", C=100.0).fit(X, y)
    assert model.score(X, y) == 1.0
    told = family_of(model).unseen(model, X, y).responses["predict"]
    by_span_alone(monkeypatch)
    alone = family_of(model).unseen(model, X, y).responses["predict"]
    true = cross_val_predict(clone(model), X, y, cv=LeaveOneOut())
    assert np.mean(told == true) >= np.mean(alone == true)


@pytest.mark.parametrize(
    "estimator",
    [SVC(kernel="linear", C=0.5), SVC(kernel="linear", class_weight="balanced")],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_sparse_rows_and_weights_count(estimator, weighted):
    """A row of weight two sinks as two rows do; sparse rows as dense ones."""
    X, y = overlapping(120, 10)
    weights = np.where(np.arange(120) < 60, 2.0, 1.0) if weighted else None
    model = clone(estimator).fit(X, y, sample_weight=weights)
    told = family_of(model).unseen(model, X, y, weights).responses["decision_function"]
    thin = clone(estimator).fit(sparse.csr_matrix(X), y, sample_weight=weights)
    again = family_of(thin).unseen(thin, sparse.csr_matrix(X), y, weights)
    np.testing.assert_allclose(again.responses["decision_function"], told, atol=0.02)


def test_a_nu_machine_is_the_one_of_the_same_solution():
    X, y = overlapping(150, 10)
    model = NuSVC(kernel="linear", nu=0.6).fit(X, y)
    true = float(np.mean(cross_val_predict(clone(model), X, y, cv=LeaveOneOut()) == y))
    assert abs(unseen_share(model, X, y) - true) <= np.sqrt(true * (1.0 - true) / len(y))


def test_few_free_vectors_are_enough_unless_all_else_is_at_its_bound():
    """With an RBF kernel a few of them hold a machine well; with none the intercept is open."""
    X, y = overlapping(200, 10)
    model = SVC(C=1.0, gamma=0.01).fit(X, y)
    n_free = int(np.sum(np.abs(model.dual_coef_) < 1.0 - 1e-9))
    assert 3 <= n_free < 20
    true = float(np.mean(cross_val_predict(clone(model), X, y, cv=LeaveOneOut()) == y))
    assert abs(unseen_share(model, X, y) - true) <= np.sqrt(true * (1.0 - true) / len(y))
    flat = SVC(C=1e-4, gamma=0.01).fit(X[:100], y[:100])
    assert "free support vectors" in family_of(flat).unseen(flat, X[:100], y[:100]).doubt


def test_the_kernel_is_as_wide_as_silverman_says():
    values = np.random.default_rng(0).normal(2.0, 3.0, 1000)
    assert kernel_width(values) == pytest.approx(0.9 * 3.0 * 1000**-0.2, rel=0.05)
    assert kernel_width(np.ones(50)) == 0.0
    assert kernel_width(np.array([0.0] * 40 + [1.0] * 5)) > 0.0  # the quartiles alone say nothing
