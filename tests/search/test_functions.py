"""leave_zero_out_score, _validate, _predict and _curve."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_validate, validation_curve
from sklearn.svm import SVC

from leavezero import (
    GridSearchLZO,
    LabelInvariantMixup,
    leave_zero_out_curve,
    leave_zero_out_predict,
    leave_zero_out_score,
    leave_zero_out_validate,
)

X, y = make_classification(100, 4, flip_y=0.2, random_state=0)
FEW = {"n_replicates": 5, "augmenter": LabelInvariantMixup(), "random_state": 0}
NO_LOO = {**FEW, "loo": False}


@pytest.mark.parametrize("scoring", [None, "accuracy", ["accuracy", "roc_auc"], {"a": "f1"}])
def test_validate_has_the_keys_and_shapes_of_cross_validate(scoring):
    params = {"scoring": scoring, "return_train_score": True, "return_estimator": True}
    found = leave_zero_out_validate(SVC(), X, y, **params, **NO_LOO)
    expected = cross_validate(SVC(), X, y, cv=5, **params)
    assert set(found) == set(expected)
    assert all(len(found[name]) == 5 for name in expected)


def test_returned_estimator_is_the_one_that_was_scored():
    found = leave_zero_out_validate(SVC(), X, y, return_estimator=True, **NO_LOO)
    assert len({id(model) for model in found["estimator"]}) == 1
    search = GridSearchLZO(SVC(), {}, **NO_LOO).fit(X, y)
    np.testing.assert_array_equal(
        found["estimator"][0].dual_coef_, search.best_estimator_.dual_coef_
    )


@pytest.mark.parametrize("params", [FEW, NO_LOO])
def test_score_equals_that_of_a_search_over_one_candidate(params):
    scores = leave_zero_out_score(SVC(), X, y, **params)
    np.testing.assert_array_equal(
        scores, leave_zero_out_validate(SVC(), X, y, **params)["test_score"]
    )
    table = GridSearchLZO(SVC(), {"C": [1.0]}, **params).fit(X, y).cv_results_
    assert scores.tolist() == [table[f"split{r}_test_score"][0] for r in range(5)]


def test_score_requires_one_metric():
    with pytest.raises(ValueError, match=r"must be one metric, got .*leave_zero_out_validate"):
        leave_zero_out_score(SVC(), X, y, scoring=["accuracy"], **NO_LOO)


def test_parameters_of_fit():
    weight = np.where(y == 1, 20.0, 1.0)
    model = LogisticRegression()
    weighted = leave_zero_out_score(model, X, y, params={"sample_weight": weight}, **NO_LOO)
    assert not np.allclose(weighted, leave_zero_out_score(model, X, y, **NO_LOO))


def test_predict_returns_the_predictions_behind_the_score():
    y_pred, rows = leave_zero_out_predict(SVC(), X, y, **FEW)
    hits = (y_pred == rows.y).reshape(5, -1).mean(axis=1)
    np.testing.assert_allclose(hits, leave_zero_out_score(SVC(), X, y, **NO_LOO))
    values, _ = leave_zero_out_predict(SVC(), X, y, method="decision_function", **FEW)
    assert values.shape == y_pred.shape
    with pytest.raises(ValueError, match="SVC has no 'predict_proba'"):
        leave_zero_out_predict(SVC(), X, y, method="predict_proba", **FEW)


def test_curve_has_the_shapes_of_validation_curve():
    """One row per value in the given order; equal values have equal rows."""
    values = [10, 0.01, 1, 10]
    found = leave_zero_out_curve(SVC(), X, y, param_name="C", param_range=values, **NO_LOO)
    expected = validation_curve(SVC(), X, y, param_name="C", param_range=values, cv=5)
    assert [part.shape for part in found] == [part.shape for part in expected]
    np.testing.assert_array_equal(found[1][0], found[1][3])
    np.testing.assert_array_equal(found[1][1], leave_zero_out_score(SVC(C=0.01), X, y, **NO_LOO))
    assert found[0][0, 0] == SVC(C=10).fit(X, y).score(X, y)
