"""Comparison of exact leave-one-out predictions with refits, and small data sets."""

import warnings

import numpy as np
import pytest

from leavezero.leave_one_out import find_leave_one_out
from leavezero.testing._leave_one_out import refit_predictions


def _check_exact(estimator, X, y, weights=None, tolerance=1e-8):
    """Compare with refits; return the rows that have a prediction, and those that have a refit."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of classes with one row
        model = estimator.fit(X, y, **({} if weights is None else {"sample_weight": weights}))
    loo = find_leave_one_out(model).predict(model, X, y, weights)
    assert (loo.method, loo.unreliable) == ("exact", None)
    methods = ("predict", "predict_proba", "decision_function")
    assert set(loo.predictions) == {name for name in methods if hasattr(model, name)}
    refits, exists = refit_predictions(estimator, X, y, weights, list(loo.predictions))
    rows = np.ones(len(exists), bool) if loo.has_prediction is None else loo.has_prediction
    assert not (rows & ~exists).any()
    for name, values in loo.predictions.items():
        expected = refits[name]
        if expected.dtype.kind != "f":
            assert values.dtype == model.predict(X).dtype
            differs = rows & (values != expected).reshape(len(rows), -1).any(axis=1)
            if differs.any():  # only where two classes tie
                ordered = np.sort(refits["predict_proba"][differs], axis=1)
                assert (ordered[:, -1] - ordered[:, -2] < 1e-8).all()
        elif name != "decision_function" or not (expected == np.finfo(float).min).any():
            # With two of three classes left, decisions have another shape.
            np.testing.assert_allclose(values[rows], expected[rows], rtol=tolerance, atol=tolerance)
    return rows, exists


@pytest.fixture(scope="session")
def check_exact():
    return _check_exact


def _class_data(seed, n_rows=16, n_columns=3, n_classes=3, offset=0.0):
    """Return rows of overlapping classes with string labels."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.arange(n_rows) % n_classes)
    X = rng.normal(size=(n_rows, n_columns)) + 0.8 * codes[:, None] * rng.normal(size=n_columns)
    return X + offset, np.array(["north", "east", "south", "west"])[codes]


def _regression_data(seed, n_rows=15, n_columns=3, n_targets=0, offset=0.0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, n_columns))
    shape = (n_columns, n_targets) if n_targets else n_columns
    y = X @ rng.normal(size=shape) + rng.normal(size=(n_rows, n_targets) if n_targets else n_rows)
    return X + offset, y + 3.0


@pytest.fixture(scope="session")
def class_data():
    return _class_data


@pytest.fixture(scope="session")
def regression_data():
    return _regression_data


@pytest.fixture(scope="session")
def random_weights():
    """Return weights, zero among them."""
    return lambda seed, n: np.random.default_rng(seed + 1).integers(0, 4, size=n) * 0.7


_MISMATCH = "was not fitted to these rows: .* Pass the X, y and sample_weight that it was fitted"


@pytest.fixture(scope="session")
def check_rejects_other_rows():
    """Return a check that rows, targets and weights of another fit raise."""

    def check(estimator, *, takes_weights, other_targets=True):
        rng = np.random.default_rng(0)
        y = np.arange(20) % 2
        X = np.abs(rng.normal(size=(20, 2)) + y[:, None])
        model = estimator.fit(X, y)
        method = find_leave_one_out(model)
        trials = [(X * 2 + 0.3, y, None), (X[:15], y[:15], None)]
        if other_targets:
            trials.append((X, np.roll(y, 5), None))
        if takes_weights:
            trials.append((X, y, np.linspace(1, 3, 20)))
        else:
            with pytest.raises(ValueError, match="sample_weight must be None"):
                method.predict(model, X, y, np.ones(20))
        for trial in trials:
            with pytest.raises(ValueError, match=_MISMATCH):
                method.predict(model, *trial)

    return check
