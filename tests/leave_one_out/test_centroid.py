"""Leave-one-out of nearest centroids equals refits."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.neighbors import NearestCentroid

from leavezero.leave_one_out import find_leave_one_out

ESTIMATORS = [
    NearestCentroid(),
    NearestCentroid(shrink_threshold=0.4, priors="empirical"),
]


@pytest.mark.parametrize("estimator", ESTIMATORS)
@settings(max_examples=3)
@given(seed=st.integers(0, 10_000), n_classes=st.integers(2, 3), n_columns=st.integers(1, 3))
def test_equals_refits(check_exact, class_data, estimator, seed, n_classes, n_columns):
    rows, exists = check_exact(estimator, *class_data(seed, 14, n_columns, n_classes))
    assert np.array_equal(rows, exists)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_features_far_from_zero(check_exact, class_data, estimator):
    X, y = class_data(0, offset=1e4)
    # Euclidean distances of scikit-learn have no more digits there.
    check_exact(estimator, X, y, tolerance=2e-5)


def test_sparse_rows_and_fixed_priors(check_exact, class_data):
    X, y = class_data(0, 16, 5)
    check_exact(NearestCentroid(), sparse.csr_array(np.where(np.abs(X) < 0.5, 0, X)), y)
    check_exact(NearestCentroid(priors=[0.5, 0.3, 0.2]), X, y)


@pytest.mark.parametrize("estimator", ESTIMATORS)
def test_class_that_vanishes_with_its_only_row(check_exact, class_data, estimator):
    X, y = class_data(1, 16, 2, 3)
    y[5] = "west"
    rows, exists = check_exact(estimator, X, y)
    assert rows[5]
    assert np.array_equal(rows, exists)


@pytest.mark.parametrize(("n_classes", "priors"), [(1, "uniform"), (3, [0.1, 0.2, 0.3, 0.4])])
def test_no_prediction_if_one_class_remains_or_priors_have_another_length(
    class_data, n_classes, priors
):
    X, y = class_data(0, 16, 2, n_classes)
    y[5] = "west"
    model = NearestCentroid(priors=priors).fit(X, y)
    has_prediction = find_leave_one_out(model).predict(model, X, y).has_prediction
    assert np.flatnonzero(~has_prediction).tolist() == [5]


def test_medians_are_not_supported():
    model = NearestCentroid(metric="manhattan")
    assert "are no means" in find_leave_one_out(model).unsupported_reason(model)


def test_rejects_other_rows(check_rejects_other_rows):
    check_rejects_other_rows(NearestCentroid(), takes_weights=False)
