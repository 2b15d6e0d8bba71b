"""Models that may modify their input are given copies."""

from copy import deepcopy

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cross_decomposition import PLSRegression
from sklearn.ensemble import VotingRegressor
from sklearn.linear_model import Lasso, Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, StandardScaler
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero.evaluation._scoring import copied_if_modified, modifies_input

SCALED_SVC = make_pipeline(StandardScaler(), SVC())
SCALED_NB = make_pipeline(StandardScaler(), GaussianNB())
SCALED_SPARSE = make_pipeline(MaxAbsScaler(), SVC())


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (Ridge(copy_X=False), True),
        (Ridge(copy_X=np.False_), True),
        (make_pipeline(StandardScaler(copy=False), SVC()), True),
        (VotingRegressor([("a", make_pipeline(Ridge(copy_X=False)))]), True),
        (Ridge(), False),
        (SCALED_SVC, False),
        (None, False),
    ],
)
def test_parameter_named_copy_is_found_at_any_depth(estimator, expected):
    X = np.zeros((2, 2))
    assert modifies_input(estimator) is expected
    assert (copied_if_modified(estimator, X)[0] is X) is not expected


@pytest.mark.parametrize(
    ("estimator", "copy", "grid", "options"),
    [
        (SCALED_SVC, "standardscaler__copy", {"svc__C": [1, 5]}, {}),
        (SCALED_SPARSE, "maxabsscaler__copy", {"svc__C": [1, 5]}, {}),
        (
            SCALED_NB,
            "standardscaler__copy",
            {"gaussiannb__var_smoothing": [0.01, 0.1]},
            {"scoring": ["accuracy", "roc_auc"], "refit": "accuracy", "return_train_score": True},
        ),
        (Lasso(alpha=0.1), "copy_X", {"fit_intercept": [False, True]}, {}),
        (PLSRegression(n_components=1), "copy", {"scale": [False, True]}, {}),
    ],
)
def test_scores_and_model_equal_those_of_models_that_copy(estimator, copy, grid, options, rng):
    """The training data stay the same."""
    X = np.asfortranarray(rng.normal(size=(80, 3)) * 5 + 4)  # Lasso copies other layouts
    y = X @ [1.0, -2.0, 0.5] + rng.normal(size=80)
    y = y > np.median(y) if hasattr(estimator, "steps") else y
    X = sparse.csr_array(X) if estimator is SCALED_SPARSE else X
    before = deepcopy((X, y))
    options = {"random_state": 0, "n_replicates": 2} | options
    plain, in_place = (
        GridSearchLZO(clone(estimator).set_params(**{copy: value}), grid, **options).fit(X, y)
        for value in (True, False)
    )
    for name in plain.cv_results_:
        if name.startswith(("mean_test", "mean_train")):
            np.testing.assert_allclose(in_place.cv_results_[name], plain.cv_results_[name])
    found, expected = (s.predict(deepcopy(X)) for s in (in_place, plain))
    np.testing.assert_allclose(found, expected)
    for now, then in zip((X, y), before, strict=True):
        assert abs(now - then).max() == 0 if now.dtype.kind == "f" else np.array_equal(now, then)
