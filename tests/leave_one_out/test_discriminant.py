"""Leave-one-out of linear and quadratic discriminant analysis equals refits."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.covariance import OAS
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as Linear
from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis as Quadratic

from leavezero.leave_one_out import find_leave_one_out

FEW = settings(max_examples=3)
SEEDS = st.integers(0, 10_000)
LINEAR = [
    Linear(),
    Linear(solver="lsqr"),
    Linear(solver="eigen"),
    Linear(solver="lsqr", shrinkage=0.3),
    Linear(solver="eigen", shrinkage=0.7),
]
QUADRATIC = [Quadratic(), Quadratic(reg_param=0.2)]
if "shrinkage" in Quadratic().get_params():  # scikit-learn >= 1.8
    QUADRATIC.append(Quadratic(solver="eigen", shrinkage=0.3))


@pytest.mark.parametrize("estimator", [*LINEAR, *QUADRATIC])
@FEW
@given(seed=SEEDS, n_classes=st.integers(2, 3), n_columns=st.integers(1, 3))
def test_equals_refits(check_exact, class_data, estimator, seed, n_classes, n_columns):
    rows, exists = check_exact(estimator, *class_data(seed, 14, n_columns, n_classes))
    assert np.array_equal(rows, exists)


@pytest.mark.parametrize("estimator", [*LINEAR, *QUADRATIC])
def test_features_far_from_zero(check_exact, class_data, estimator):
    # lsqr and eigen multiply features that are not centered: refits have no more digits.
    rough = isinstance(estimator, Linear) and estimator.solver != "svd"
    X, y = class_data(0, offset=1e4)
    check_exact(estimator, X, y, tolerance=2e-5 if rough else 1e-8)


@FEW
@given(seed=SEEDS)
def test_fixed_priors(check_exact, class_data, seed):
    """They also weight the covariances of lsqr and eigen."""
    X, y = class_data(seed, 18)
    for solver in ("svd", "lsqr", "eigen"):
        check_exact(Linear(solver=solver, priors=[0.5, 0.3, 0.2]), X, y)
    check_exact(Quadratic(priors=[0.5, 0.3, 0.2]), X, y)


@pytest.mark.parametrize("estimator", [LINEAR[0], LINEAR[1], LINEAR[4]])
def test_class_that_vanishes_with_its_only_row(check_exact, class_data, estimator):
    X, y = class_data(0, 16, 2, 3)
    y[5] = "west"
    rows, exists = check_exact(estimator, X, y)
    assert rows[5]
    assert np.array_equal(rows, exists)
    model = Linear(priors=[0.25] * 4).fit(X, y)
    has_prediction = find_leave_one_out(model).predict(model, X, y).has_prediction
    assert np.flatnonzero(~has_prediction).tolist() == [5]


def test_no_prediction_if_one_class_remains(class_data):
    X, y = class_data(0, 14, 2, 1)
    y[3] = "west"
    model = Linear().fit(X, y)
    has_prediction = find_leave_one_out(model).predict(model, X, y).has_prediction
    assert np.flatnonzero(~has_prediction).tolist() == [3]


def test_linear_with_classes_of_two(check_exact, class_data):
    X, y = class_data(2, 14, 2, 2)
    y[:2] = "west"
    assert check_exact(Linear(), X, y)[0].all()


@pytest.mark.parametrize(("n_columns", "size"), [(1, 2), (3, 3), (4, 4)])
def test_quadratic_with_classes_too_small_for_a_covariance(class_data, n_columns, size):
    X, y = class_data(4, 30, n_columns, 2)
    rows = np.concatenate([np.flatnonzero(y == "east")[:size], np.flatnonzero(y == "north")])
    model = Quadratic(reg_param=0.1).fit(X[rows], y[rows])
    loo = find_leave_one_out(model).predict(model, X[rows], y[rows])
    assert np.flatnonzero(~loo.has_prediction).tolist() == list(range(size))


def test_frames_and_series(check_exact, class_data):
    X, y = class_data(0, 16)
    frame, series = pd.DataFrame(X, columns=list("abc")), pd.Series(y, index=np.arange(16)[::-1])
    for model in (Linear(), Quadratic(reg_param=0.1)):
        check_exact(model, frame, series)


def test_collinear_columns_are_unreliable(class_data):
    X, y = class_data(0)
    X = np.column_stack([X, X[:, 0]])
    model = Linear().fit(X, y)
    loo = find_leave_one_out(model).predict(model, X, y)
    assert loo.unreliable == "its columns are collinear within the classes"


def test_nearly_coplanar_means_are_unreliable():
    """With three means nearly on a line the svd solver drops the other direction or does not."""
    noise = np.random.default_rng(0).normal(size=(10, 2))
    noise -= noise.mean(axis=0)
    X = np.concatenate([noise, noise + [9.0, 0.0], noise + [18.0, 1e-3]])
    y = np.repeat([0, 1, 2], 10)
    model = Linear().fit(X, y)
    loo = find_leave_one_out(model).predict(model, X, y)
    assert loo.unreliable.startswith("the class means are so nearly coplanar")


@pytest.mark.parametrize(
    ("estimator", "reason"),
    [
        (Linear(solver="lsqr", shrinkage="auto"), "shrinkage='auto' is estimated anew"),
        (Linear(solver="lsqr", covariance_estimator=OAS()), "a custom covariance_estimator"),
    ],
)
def test_unsupported_parameters(class_data, estimator, reason):
    X, y = class_data(0)
    method = find_leave_one_out(estimator)
    assert method.unsupported_reason(estimator).startswith(reason)
    with pytest.raises(ValueError, match=reason):
        method.predict(estimator.fit(X, y), X, y)


@pytest.mark.parametrize("estimator", [Linear(), Quadratic()])
def test_rejects_other_rows(check_rejects_other_rows, estimator):
    check_rejects_other_rows(estimator, takes_weights=False)
