"""k-NN models that share one search for neighbors predict as each does by itself."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from leavezero.joint_fit import _joint_fit, find_joint_fit

SEEDS = st.integers(0, 2**31)
FIXTURE = [HealthCheck.function_scoped_fixture]
CLOSE = (1e-11, 1e-13)


def decay(distances):
    """Return weights of a user's own."""
    return np.exp(-distances)


WEIGHTS = st.sampled_from(["uniform", "distance", None, decay])
GRIDS = st.lists(st.tuples(st.integers(1, 60), WEIGHTS), min_size=1, max_size=5)


def make_data(seed, n_rows=60, n_columns=3, coarse=False):
    """Return rows, class indices and a regression target; coarse rows have equal distances."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    if coarse:
        X = rng.integers(0, 3, (n_rows, n_columns)) * 1.0
    signal = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n_rows)
    return X, np.digitize(signal, np.quantile(signal, [0.3, 0.7])), signal


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
@settings(max_examples=15, deadline=None, suppress_health_check=FIXTURE)
@given(
    seed=SEEDS,
    grid=GRIDS,
    coarse=st.booleans(),
    algorithm=st.sampled_from(["auto", "brute", "kd_tree", "ball_tree"]),
    metric=st.sampled_from(["minkowski", "manhattan", "chebyshev"]),
)
def test_equals_plain_fits(kind, seed, grid, coarse, algorithm, metric, equals_plain_fits):
    """Every k and weighting predicts as by itself, also where distances and votes are tied."""
    X, classes, values = make_data(seed, coarse=coarse)
    X_val = np.vstack([make_data(seed + 1, coarse=coarse)[0], X[:5]])
    estimators = [kind(k, weights=w, algorithm=algorithm, metric=metric) for k, w in grid]
    y = classes if kind is KNeighborsClassifier else values
    equals_plain_fits(estimators, X, y, X_val, joint=CLOSE)


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
@settings(max_examples=15, deadline=None, suppress_health_check=FIXTURE)
@given(
    seed=SEEDS,
    ks=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    rows=st.sampled_from(["apart", "coarse", "copies", "far from zero"]),
    n_classes=st.sampled_from([1, 2, 7]),
    metric=st.sampled_from(["minkowski", "euclidean", "manhattan", "cosine"]),
)
def test_wide_tables(kind, seed, ks, rows, n_classes, metric, equals_plain_fits):
    """The same where all distances are computed by brute force."""
    rng = np.random.default_rng(seed)
    X, X_val = rng.normal(size=(60, 17)), rng.normal(size=(600, 17))
    if rows == "coarse":
        X, X_val = np.sign(X), np.sign(X_val)
    if rows == "copies":
        X[30:], X_val[::100] = X[:30], X[:6]
    if rows == "far from zero":
        X, X_val = X + 1e3, X_val + 1e3
    classes, values = rng.integers(0, n_classes, 60), rng.normal(size=60)
    y = classes if kind is KNeighborsClassifier else values
    estimators = [kind(k, weights=w, metric=metric) for k in ks for w in ("uniform", "distance")]
    equals_plain_fits(estimators, X, y, X_val, joint=CLOSE)


@pytest.mark.parametrize("container", [np.asarray, pd.DataFrame, sparse.csr_matrix])
def test_blocks_and_containers(container, equals_plain_fits, monkeypatch):
    """Blocks of rows give what one search gives, in frames and sparse matrices too."""
    monkeypatch.setattr(_joint_fit, "BLOCK_CELLS", 1)
    X, y, _ = make_data(0)
    rows, X_val = container(X), container(make_data(1, n_rows=700)[0])
    if container is pd.DataFrame:
        rows, X_val = (frame.rename(columns="f{}".format) for frame in (rows, X_val))
    labels = np.array(["x", "y", "z"])[y]
    equals_plain_fits([KNeighborsClassifier(k) for k in (1, 4)], rows, labels, X_val)


def test_several_targets(equals_plain_fits):
    """Means of several targets are shared; classifiers with several outputs predict alone."""
    X, y, values = make_data(0)
    estimators = [
        KNeighborsRegressor(k, weights=w) for k in (2, 5) for w in ("uniform", "distance")
    ]
    equals_plain_fits(estimators, X, np.column_stack([values, -values]), X, joint=CLOSE)
    method, _ = find_joint_fit(KNeighborsClassifier())
    fitted = method.fit([KNeighborsClassifier(2)], X, np.column_stack([y, y]))
    assert method.predict(fitted, X, "predict") is None


def test_too_many_neighbors():
    """A model with more neighbors than rows has no predictions; the others have."""
    X, y, _ = make_data(0)
    models = [KNeighborsClassifier(k, algorithm="brute") for k in (3, 61)]
    method, _ = find_joint_fit(models[0])
    few, many = method.predict(method.fit(models, X, y), X, "predict_proba")
    np.testing.assert_allclose(few, models[0].predict_proba(X))
    assert many is None
    large = [KNeighborsClassifier(50)]
    assert method.predict(method.fit(large, X, y), X, "predict") is None


def test_weights_are_rejected_as_by_the_model():
    """k-NN takes no weights."""
    X, y, _ = make_data(0)
    method, _ = find_joint_fit(KNeighborsClassifier())
    with pytest.raises(TypeError, match="sample_weight"):
        method.fit([KNeighborsClassifier()], X, y, np.ones(60))
