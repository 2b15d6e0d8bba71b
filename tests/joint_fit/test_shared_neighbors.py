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
WEIGHTS = st.sampled_from(["uniform", "distance", None])
GRIDS = st.lists(st.tuples(st.integers(1, 60), WEIGHTS), min_size=1, max_size=5)


def make_data(seed, n_rows=60, n_columns=3):
    """Return rows, class indices and a regression target."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    signal = X[:, 0] - X[:, 1] + 0.5 * rng.standard_normal(n_rows)
    return X, np.digitize(signal, np.quantile(signal, [0.3, 0.7])), signal


@pytest.mark.parametrize("kind", [KNeighborsClassifier, KNeighborsRegressor])
@settings(max_examples=15, deadline=None, suppress_health_check=FIXTURE)
@given(
    seed=SEEDS,
    grid=GRIDS,
    n_columns=st.sampled_from([3, 17]),  # 17 columns: brute force instead of a tree
    algorithm=st.sampled_from(["auto", "brute", "kd_tree", "ball_tree"]),
    metric=st.sampled_from(["minkowski", "manhattan", "chebyshev"]),
)
def test_equals_plain_fits(kind, seed, grid, n_columns, algorithm, metric, equals_plain_fits):
    """Every k and weighting predicts as by itself, where distances differ.

    Copies of training rows are predicted, too. "auto" is brute force for many neighbors, where a
    plain fit has 1e-8 as the distance of a copy, and a tree else, where it is zero.
    """
    X, classes, values = make_data(seed, n_columns=n_columns)
    copies = X[: 0 if algorithm == "auto" else 5]
    X_val = np.vstack([make_data(seed + 1, n_columns=n_columns)[0], copies])
    estimators = [kind(k, weights=w, algorithm=algorithm, metric=metric) for k, w in grid]
    y = classes if kind is KNeighborsClassifier else values
    equals_plain_fits(estimators, X, y, X_val, rtol=1e-7, atol=1e-9, joint=CLOSE)


@settings(max_examples=15, deadline=None)
@given(
    seed=SEEDS,
    ks=st.lists(st.integers(1, 60), min_size=1, max_size=4),
    metric=st.sampled_from(["euclidean", "manhattan"]),
)
def test_equal_distances(seed, ks, metric):
    """Where distances are equal, other rows may be neighbors, at the same distances.

    The target is the distance from the one validation row, so that a mean shows the distances.
    """
    rng = np.random.default_rng(seed)
    X, row = np.sign(rng.normal(size=(60, 17))), np.sign(rng.normal(size=(1, 17)))
    distances = np.abs(X - row).sum(axis=1)
    regressors = [KNeighborsRegressor(k, metric=metric) for k in ks]
    method, _ = find_joint_fit(regressors[0])
    means = method.predict(method.fit(regressors, X, distances), row, "predict")
    expected = [np.sort(distances)[:k].mean() for k in ks]
    np.testing.assert_allclose(np.ravel(means), expected)

    classifiers = [KNeighborsClassifier(k, metric=metric) for k in ks]
    fitted = method.fit(classifiers, X, rng.integers(0, 3, 60))
    for k, values in zip(ks, method.predict(fitted, row, "predict_proba"), strict=True):
        votes = values * k
        np.testing.assert_allclose(votes, votes.round(), atol=1e-9)
        np.testing.assert_allclose(values.sum(), 1.0)


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
    """Means and labels of several targets are shared, probabilities are not."""
    X, y, values = make_data(0)
    estimators = [
        KNeighborsRegressor(k, weights=w) for k in (2, 5) for w in ("uniform", "distance")
    ]
    equals_plain_fits(estimators, X, np.column_stack([values, -values]), X, joint=CLOSE)
    method, _ = find_joint_fit(KNeighborsClassifier())
    model, labels = KNeighborsClassifier(2), np.column_stack([y, y[::-1]])
    fitted = method.fit([model], X, labels)
    np.testing.assert_array_equal(method.predict(fitted, X, "predict")[0], model.predict(X))
    assert method.predict(fitted, X, "predict_proba") is None


def test_too_many_neighbors():
    """A model with more neighbors than rows has no predictions; the others have."""
    X, y, _ = make_data(0)
    models = [KNeighborsClassifier(k, algorithm="brute") for k in (3, 61)]
    method, _ = find_joint_fit(models[0])
    few, many = method.predict(method.fit(models, X, y), X, "predict_proba")
    np.testing.assert_allclose(few, models[0].predict_proba(X))
    assert many is None
    assert method.predict(method.fit([KNeighborsClassifier(61)], X, y), X, "predict") is None


def test_weight_functions_are_not_shared():
    """A function might modify the distances."""
    assert find_joint_fit(KNeighborsClassifier(weights=np.exp)) is None


def test_weights_are_rejected_as_by_the_model():
    """k-NN takes no weights."""
    X, y, _ = make_data(0)
    method, _ = find_joint_fit(KNeighborsClassifier())
    with pytest.raises(TypeError, match="sample_weight"):
        method.fit([KNeighborsClassifier()], X, y, np.ones(60))
