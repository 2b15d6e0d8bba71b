import pickle

import numpy as np
import pytest
from sklearn.base import clone

from leavezero.joint_fit import find_joint_fit

METHODS = ("predict", "predict_proba", "decision_function")


def fit_jointly(estimators, X, y, sample_weight=None):
    """Return the method that applies to all estimators, and what it has fitted."""
    clones = [clone(estimator) for estimator in estimators]
    found = [find_joint_fit(estimator) for estimator in clones]
    assert None not in found
    assert len({(method.name, key) for method, key in found}) == 1
    method = found[0][0]
    return method, method.fit(clones, X, y, sample_weight)


def assert_equal(found, expected, rtol, atol):
    assert found.shape == expected.shape
    assert found.dtype == expected.dtype
    if expected.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=rtol, atol=atol)
    else:
        np.testing.assert_array_equal(found, expected)


def predictions_by_method(method, fitted, X):
    """Return a dict of predictions for each model, without those that are left to the model."""
    names = [name for name in METHODS if hasattr(fitted.models[0], name)]
    found = {name: method.predict(fitted, X, name) or [] for name in names}
    return [
        {name: values[at] for name, values in found.items() if values and values[at] is not None}
        for at in range(len(fitted.models))
    ]


@pytest.fixture
def equals_plain_fits():
    """Return a check that jointly fitted models have the predictions of plain fits."""

    def check(
        estimators, X, y, X_val, sample_weight=None, rtol=0.0, atol=0.0, joint=(1e-12, 1e-13)
    ):
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        method, fitted = fit_jointly(estimators, X, y, sample_weight)
        predictions = predictions_by_method(method, fitted, X_val)
        provisional = fitted.provisional or (False,) * len(estimators)
        for estimator, model, by_method, only_predicts in zip(
            estimators, fitted.models, predictions, provisional, strict=True
        ):
            plain = clone(estimator).fit(X, y, **weights)
            if not only_predicts:
                assert type(model) is type(plain)
                assert repr(model) == repr(plain)
                assert vars(model).keys() == vars(plain).keys()
            again = pickle.loads(pickle.dumps(model))
            assert all(hasattr(plain, name) for name in by_method)
            for name in METHODS:
                assert hasattr(model, name) is hasattr(plain, name)
                if hasattr(plain, name):
                    expected = getattr(plain, name)(X_val)
                    assert_equal(getattr(model, name)(X_val), expected, rtol, atol)
                    assert_equal(getattr(again, name)(X_val), expected, rtol, atol)
                    if name in by_method:
                        joint_rtol, joint_atol = max(rtol, joint[0]), max(atol, joint[1])
                        assert_equal(by_method[name], expected, joint_rtol, joint_atol)
        return method, fitted, predictions

    return check
