"""Models that share a kernel predict as each does by itself."""

import logging

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale
from sklearn.svm import SVC, SVR, NuSVC, NuSVR

from leavezero import GridSearchLZO
from leavezero.joint_fit import _joint_fit, find_joint_fit

CLOSE = (1e-6, 1e-6)
KERNELS = st.fixed_dictionaries(
    {
        "kernel": st.sampled_from(["linear", "rbf", "poly", "sigmoid"]),
        "gamma": st.sampled_from(["scale", "auto", 0.01, 3.0]),
        "coef0": st.sampled_from([0.0, 1.0]),
    }
)
PENALTIES = st.lists(st.sampled_from([0.01, 1.0, 100.0]), min_size=1, max_size=3)
SEEDS = st.integers(0, 2**31)
FIXTURE = [HealthCheck.function_scoped_fixture]


def make_data(seed, n_rows=60):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 3))
    signal = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n_rows)
    labels = np.array(["a", "b", "c"])[np.digitize(signal, np.quantile(signal, [0.3, 0.7]))]
    return X, labels, signal, rng.uniform(0.5, 2.0, n_rows)


@settings(max_examples=40, deadline=None)
@given(
    seed=SEEDS,
    kernel=KERNELS,
    penalties=PENALTIES,
    n_classes=st.integers(2, 3),
    shape=st.sampled_from(["ovr", "ovo"]),
    break_ties=st.booleans(),
    weighted=st.booleans(),
    class_weight=st.sampled_from([None, "balanced", {"a": 3.0}]),
)
def test_classifiers(seed, kernel, penalties, n_classes, shape, break_ties, weighted, class_weight):
    """Labels and decision values of every penalty are those of a plain fit."""
    X, y, _, weights = make_data(seed)
    y = np.where(y == "c", np.array(["a", "b", "c"])[n_classes - 1], y)
    X_val = make_data(seed + 1, n_rows=300)[0]
    params = {"decision_function_shape": shape, "break_ties": break_ties and shape == "ovr"}
    models = [SVC(C=C, class_weight=class_weight, **kernel, **params) for C in penalties]
    method, _ = find_joint_fit(models[0])
    fitted = method.fit(models, X, y, weights if weighted else None)
    found = [method.predict(fitted, X_val, name) for name in ("decision_function", "predict")]
    for model, decision, labels in zip(models, *found, strict=True):
        values = model.decision_function(X_val)
        np.testing.assert_allclose(decision, values, rtol=1e-6, atol=1e-6)
        clear = np.abs(values).reshape(len(X_val), -1).min(axis=1) > 1e-9
        np.testing.assert_array_equal(labels[clear], model.predict(X_val)[clear])


@pytest.mark.parametrize("kind", [SVR, NuSVR])
@settings(max_examples=6, deadline=None, suppress_health_check=FIXTURE)
@given(seed=SEEDS, kernel=KERNELS, penalties=PENALTIES, weighted=st.booleans())
def test_regressions(kind, seed, kernel, penalties, weighted, equals_plain_fits):
    """Predictions of every penalty are those of a plain fit."""
    X, _, y, weights = make_data(seed)
    estimators = [kind(**{**kernel, "C": C / 100.0, "gamma": "scale"}) for C in penalties]
    X_val = make_data(seed + 1, n_rows=300)[0]
    equals_plain_fits(estimators, X, y, X_val, weights if weighted else None, joint=CLOSE)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix, pd.DataFrame])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "poly"])
def test_containers(container, kernel, equals_plain_fits, monkeypatch):
    """Arrays, sparse matrices and frames, also in several blocks."""
    monkeypatch.setattr(_joint_fit, "BLOCK_CELLS", 256)
    X, X_val = container(make_data(0)[0]), container(make_data(1, n_rows=600)[0])
    if container is pd.DataFrame:
        X, X_val = (frame.rename(columns="f{}".format) for frame in (X, X_val))
    estimators = [NuSVC(nu=nu, kernel=kernel) for nu in (0.1, 0.3)]
    *_, predictions = equals_plain_fits(estimators, X, make_data(0)[1], X_val, joint=CLOSE)
    assert set(predictions[0]) == {"predict", "decision_function"}


def test_rows_without_weight(equals_plain_fits):
    """Rows of weight zero, and models without support vectors."""
    X, y, values, weights = make_data(0)
    weights = np.where(np.arange(60) % 3 == 0, 0.0, weights)
    equals_plain_fits([SVC(C=C) for C in (0.1, 10.0)], X, y, X, weights, joint=CLOSE)
    *_, predictions = equals_plain_fits([SVR(epsilon=100.0)], X, values, X)
    assert predictions == [{}]


def test_sparse_and_dense():
    """Sparse rows for models that were fitted to dense ones are left to each model."""
    X, y, _, _ = make_data(0)
    method, _ = find_joint_fit(SVC())
    assert method.predict(method.fit([SVC()], X, y), sparse.csr_matrix(X), "predict") is None


@pytest.mark.parametrize("shift", [0.0, 1e3])
def test_rows_far_from_zero(shift, equals_plain_fits):
    """Distances keep their digits far from the origin, and far from the training rows."""
    X, y, _, _ = make_data(0)
    X_val = np.vstack([make_data(1, n_rows=300)[0], 30.0 * X]) + shift
    equals_plain_fits([SVC(gamma=0.05, C=C) for C in (1, 100)], X + shift, y, X_val, joint=CLOSE)


def test_row_on_the_boundary(equals_plain_fits):
    """A decision value of exactly zero belongs to the second class, as LIBSVM counts votes."""
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    equals_plain_fits([SVC(kernel="linear")], X, y, np.zeros((1, 1)))


def test_a_failed_leave_one_out_method_does_not_undo_the_joint_fit(caplog):
    X, y = load_iris(return_X_y=True)
    grid = {"C": [1e4, 1e8], "gamma": [1e-4]}  # libsvm's solution for the second is not exact
    with caplog.at_level(logging.DEBUG, "leavezero"):
        search = GridSearchLZO(SVC(), grid, random_state=0).fit(scale(X), y)
    assert "Leave-one-out method" in caplog.text
    assert "Joint fit" not in caplog.text
    assert np.isfinite(search.cv_results_["mean_loo_score"][0])
