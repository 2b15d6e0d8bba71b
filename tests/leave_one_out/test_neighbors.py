"""Leave-one-out of nearest and radius neighbors equals refits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.metrics import pairwise_distances
from sklearn.neighbors import (
    KNeighborsClassifier,
    KNeighborsRegressor,
    RadiusNeighborsClassifier,
    RadiusNeighborsRegressor,
)

from leavezero.leave_one_out import find_leave_one_out
from leavezero.leave_one_out._neighbors import NeighborsMethod
from leavezero.testing._leave_one_out import refit_predictions

FEW = settings(max_examples=3)
SEEDS = st.integers(0, 10_000)
METHOD = NeighborsMethod()
CLASSIFIERS = [
    KNeighborsClassifier(3),
    KNeighborsClassifier(4, weights="distance", algorithm="ball_tree"),
    KNeighborsClassifier(2, p=1),
    KNeighborsClassifier(4, weights=lambda distances: np.exp(-distances)),
    RadiusNeighborsClassifier(1.5, algorithm="kd_tree"),
    RadiusNeighborsClassifier(1.5, weights="distance", algorithm="kd_tree"),
]
REGRESSORS = [
    KNeighborsRegressor(3),
    KNeighborsRegressor(4, weights="distance"),
    RadiusNeighborsRegressor(1.5, weights="distance"),
]


@pytest.mark.parametrize("estimator", CLASSIFIERS)
@FEW
@given(seed=SEEDS, n_classes=st.integers(2, 3), offset=st.sampled_from([0.0, 1e4]))
def test_classifiers_equal_refits(check_exact, class_data, estimator, seed, n_classes, offset):
    rows, exists = check_exact(estimator, *class_data(seed, 14, 3, n_classes, offset))
    assert np.array_equal(rows, exists)


@pytest.mark.parametrize("estimator", REGRESSORS)
@FEW
@given(seed=SEEDS, n_targets=st.integers(0, 2), n_columns=st.integers(1, 4))
def test_regressors_equal_refits(
    check_exact, regression_data, estimator, seed, n_targets, n_columns
):
    rows, exists = check_exact(estimator, *regression_data(seed, 12, n_columns, n_targets))
    assert np.array_equal(rows, exists)


def test_class_that_vanishes_with_its_only_row(check_exact, class_data):
    X, y = class_data(0, 16, 2, 3)
    y[5] = "west"
    assert check_exact(KNeighborsClassifier(3), X, y)[0].all()


def test_containers_and_precomputed_distances(check_exact, class_data):
    X, y = class_data(0, 16, 5)
    target = np.arange(16.0) % 5
    check_exact(KNeighborsClassifier(3), sparse.csr_array(np.where(np.abs(X) < 0.5, 0, X)), y)
    check_exact(KNeighborsClassifier(3), pd.DataFrame(X, columns=list("abcde")), pd.Series(y))
    pairs = pairwise_distances(X)
    check_exact(KNeighborsClassifier(3, metric="precomputed"), pairs, y)
    check_exact(RadiusNeighborsRegressor(1.5, metric="precomputed"), pairs, target)


def test_several_outputs(class_data):
    X, _ = class_data(0, 16)
    labels = (X[:, :2] + np.random.default_rng(0).normal(size=(16, 2)) > 0).astype(int)
    model = KNeighborsClassifier(3).fit(X, labels)
    refits, _ = refit_predictions(model, X, labels, None, ["predict"])
    assert np.array_equal(
        METHOD.predict(model, X, labels).predictions["predict"], refits["predict"]
    )


@example(seed=0)
@FEW
@given(seed=SEEDS)
def test_copy_of_a_row_is_its_neighbor(check_exact, class_data, seed):
    X, y = class_data(seed, 8, 2, 2)
    X, y = np.concatenate([X, X]), np.concatenate([y, y[::-1]])
    model = KNeighborsClassifier(1).fit(X, y)
    assert METHOD.predict(model, X, y).predictions["predict"].tolist() == np.roll(y, 8).tolist()
    check_exact(KNeighborsRegressor(3, weights="distance"), X, (y == "east").astype(float))


@FEW
@given(seed=SEEDS, algorithm=st.sampled_from(["auto", "brute", "kd_tree"]))
def test_many_models_equal_single_ones(class_data, seed, algorithm):
    X, y = class_data(seed, 30)
    y = (y == "north").astype(int)
    models = [
        KNeighborsClassifier(k, weights=weights, algorithm=algorithm).fit(X, y)
        for k in (1, 4, 20, 29)
        for weights in ("uniform", "distance")
    ]
    different = [models[0], RadiusNeighborsClassifier(1.0).fit(X, y)]
    for some in (models, different):
        for model, result in zip(some, METHOD.predict_many(some, X, y), strict=True):
            single = METHOD.predict(model, X, y)
            for name, values in single.predictions.items():
                np.testing.assert_allclose(result.predictions[name], values)


def test_many_models_share_one_query(monkeypatch, class_data):
    X, y = class_data(0, 30)
    models = [KNeighborsClassifier(k).fit(X, y) for k in (1, 3, 5)]
    queries = []
    kneighbors = KNeighborsClassifier.kneighbors

    def recorded(self, X=None, n_neighbors=None, return_distance=True):
        queries.append((X is None, n_neighbors))
        return kneighbors(self, X, n_neighbors, return_distance)

    monkeypatch.setattr(KNeighborsClassifier, "kneighbors", recorded)
    METHOD.predict_many(models, X, y)
    assert [n_neighbors for of_training, n_neighbors in queries if of_training] == [5]


def test_fewer_rows_than_neighbors(class_data):
    X, y = class_data(0)
    loo = METHOD.predict(KNeighborsClassifier(16).fit(X, y), X, y)
    assert loo.unreliable == "without a row there are fewer rows than n_neighbors"
    assert loo.predictions == {}


def test_rows_without_neighbors():
    X = np.array([[0.0], [0.1], [0.2], [50.0], [0.3]])
    y = np.array([0, 1, 0, 1, 0])
    for model in (RadiusNeighborsClassifier(3.0), RadiusNeighborsRegressor(3.0)):
        loo = METHOD.predict(model.fit(X, y), X, y)
        assert np.flatnonzero(~loo.has_prediction).tolist() == [3]
    assert "outlier" in METHOD.unsupported_reason(RadiusNeighborsClassifier(outlier_label=-1))
    loo = METHOD.predict(RadiusNeighborsRegressor(1e-9).fit(X, y * 1.0), X, y * 1.0)
    assert loo.unreliable.startswith("no row has a prediction without itself")
    assert not loo.has_prediction.any()


@pytest.mark.parametrize(
    "estimator",
    [
        KNeighborsClassifier(2),
        KNeighborsRegressor(2),
        RadiusNeighborsClassifier(9.0),
        RadiusNeighborsRegressor(1.0),
    ],
)
def test_rejects_other_rows(check_rejects_other_rows, estimator):
    everywhere = isinstance(estimator, RadiusNeighborsClassifier)  # all rows are neighbors
    check_rejects_other_rows(estimator, takes_weights=False, other_targets=not everywhere)
    assert find_leave_one_out(estimator).name == "neighbors"
