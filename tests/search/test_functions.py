"""One estimator without a search."""

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

X, Y = make_classification(100, 4, flip_y=0.2, random_state=0)
V = {"n_replicates": 5, "augmenter": LabelInvariantMixup(), "random_state": 0}
FEW = {**V, "loo": False}


def test_validate_has_the_keys_and_shapes_of_cross_validate():
    """One metric or several, with and without extras."""
    for scoring in (None, "accuracy", ["accuracy", "roc_auc"], {"a": "f1"}):
        more = {"scoring": scoring, "return_train_score": True, "return_estimator": True}
        ours = leave_zero_out_validate(SVC(), X, Y, **more, **FEW)
        theirs = cross_validate(SVC(), X, Y, cv=5, **more)
        assert set(ours) == set(theirs)
        assert all(len(ours[name]) == 5 for name in theirs)


def test_the_model_that_is_returned_is_the_one_that_was_scored():
    """One fit, the same object at every place."""
    found = leave_zero_out_validate(SVC(), X, Y, return_estimator=True, **FEW)
    assert len({id(model) for model in found["estimator"]}) == 1
    search = GridSearchLZO(SVC(), {}, **FEW).fit(X, Y)
    np.testing.assert_array_equal(
        found["estimator"][0].dual_coef_, search.best_estimator_.dual_coef_
    )


def test_score_is_validates_score():
    """And takes one metric only."""
    found = leave_zero_out_validate(SVC(), X, Y, **FEW)["test_score"]
    np.testing.assert_array_equal(leave_zero_out_score(SVC(), X, Y, **FEW), found)
    with pytest.raises(ValueError, match=r"must be one metric, got .*leave_zero_out_validate"):
        leave_zero_out_score(SVC(), X, Y, scoring=["accuracy"], **FEW)


def test_parameters_of_fit_reach_the_estimator():
    """Weights change the scores."""
    weight = np.where(Y == 1, 20.0, 1.0)
    heavy = leave_zero_out_score(
        LogisticRegression(), X, Y, params={"sample_weight": weight}, **FEW
    )
    assert not np.allclose(heavy, leave_zero_out_score(LogisticRegression(), X, Y, **FEW))


def test_predict_returns_what_the_model_says_of_v():
    """From it the score can be computed again."""
    said, drawn = leave_zero_out_predict(SVC(), X, Y, **V)
    hits = (said == drawn.y).reshape(5, -1).mean(axis=1)
    np.testing.assert_allclose(hits, leave_zero_out_score(SVC(), X, Y, **FEW))
    values, _ = leave_zero_out_predict(SVC(), X, Y, method="decision_function", **V)
    assert values.shape == said.shape
    with pytest.raises(ValueError, match="SVC has no 'predict_proba'"):
        leave_zero_out_predict(SVC(), X, Y, method="predict_proba", **V)


def test_the_curve_has_the_shapes_of_validation_curve():
    """A row for each value, as they were listed, equal values too."""
    values = [10, 0.01, 1, 10]
    ours = leave_zero_out_curve(SVC(), X, Y, param_name="C", param_range=values, **FEW)
    theirs = validation_curve(SVC(), X, Y, param_name="C", param_range=values, cv=5)
    assert [part.shape for part in ours] == [part.shape for part in theirs]
    np.testing.assert_array_equal(ours[1][0], ours[1][3])
    np.testing.assert_array_equal(ours[1][1], leave_zero_out_score(SVC(C=0.01), X, Y, **FEW))
    assert ours[0][0, 0] == SVC(C=10).fit(X, Y).score(X, Y)
