"""Which estimators are fitted jointly."""

import numpy as np
import pytest
from sklearn.ensemble import (
    BaggingClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
)
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import (
    ElasticNet,
    Lasso,
    LinearRegression,
    LogisticRegression,
    Ridge,
    RidgeClassifier,
)
from sklearn.neighbors import KNeighborsClassifier, RadiusNeighborsClassifier
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.joint_fit import JointFit, find_joint_fit
from leavezero.semi_supervised import SMIRClassifier


class OwnRidge(Ridge):
    """A subclass may do anything."""


def scaled(last, **params):
    return Pipeline([("scale", StandardScaler()), ("last", last)], **params)


@pytest.mark.parametrize(
    "estimator",
    [
        GradientBoostingClassifier(),  # no seed
        GradientBoostingClassifier(random_state=np.random.RandomState(0)),
        GradientBoostingClassifier(random_state=0, warm_start=True),
        GradientBoostingClassifier(random_state=0, n_estimators=0),
        HistGradientBoostingRegressor(),
        HistGradientBoostingRegressor(random_state=0, warm_start=True),
        RandomForestClassifier(oob_score=True, random_state=0),
        BaggingClassifier(oob_score=True, random_state=0),
        RadiusNeighborsClassifier(),
        KNeighborsClassifier(metric="precomputed"),
        KNeighborsClassifier(metric=lambda a, b: 0.0),  # no digest
        KNeighborsClassifier(0),
        KNeighborsClassifier(weights="unknown"),
        SVC(kernel="precomputed"),
        SVC(kernel=lambda a, b: a @ b.T),
        KernelRidge(),
        LinearRegression(),
        Ridge(solver="lsqr"),
        RidgeClassifier(),
        OwnRidge(),
        Lasso(selection="random", random_state=0),
        Lasso(alpha=0.0),
        Lasso(warm_start=True),
        ElasticNet(l1_ratio=0.0),
        LogisticRegression(),
        DecisionTreeClassifier(),
        scaled(Ridge(), memory="somewhere"),
        scaled(Ridge(), verbose=True),
        scaled("passthrough"),
        make_pipeline(DecisionTreeClassifier()),  # nothing to share
        make_pipeline(FunctionTransformer(lambda X: X), Ridge()),  # no digest
        object(),
    ],
)
def test_plain_fits(estimator):
    """What shares no work, or would not equal a plain fit, is fitted by itself."""
    assert find_joint_fit(estimator) is None


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SVC(C=1.0), SVC(C=2.0, class_weight="balanced")),
        (SVC(kernel="linear", gamma=1.0), SVC(kernel="linear", gamma=2.0)),
        (KNeighborsClassifier(1), KNeighborsClassifier(5, weights="distance")),
        (SMIRClassifier(gamma=0.1), SMIRClassifier(gamma=1.0, offset=2.0)),
        (scaled(Ridge(0.1)), scaled(Ridge(1.0))),
        (scaled(LogisticRegression()), scaled(DecisionTreeClassifier())),
    ],
)
def test_equal_keys(one, other):
    """Parameters along which work is shared are no part of the key."""
    (method, key), (other_method, other_key) = map(find_joint_fit, (one, other))
    assert method is other_method
    assert key == other_key
    assert isinstance(method, JointFit)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (SVC(gamma=1.0), SVC(gamma=2.0)),
        (KNeighborsClassifier(p=1), KNeighborsClassifier(p=2)),
        (Ridge(), Ridge(fit_intercept=False)),
        (
            GradientBoostingClassifier(max_depth=2, random_state=0),
            GradientBoostingClassifier(max_depth=3, random_state=0),
        ),
        (scaled(Ridge()), make_pipeline(StandardScaler(), Ridge())),  # names of steps
        (scaled(Ridge()), scaled(Ridge()).set_params(scale__with_mean=False)),
        (scaled(Ridge()), scaled(Ridge()).set_params(scale="passthrough")),
        (scaled(Ridge()), scaled(Ridge(fit_intercept=False))),
        (
            scaled(Ridge()),
            Pipeline(
                [("scale", StandardScaler().set_output(transform="pandas")), ("last", Ridge())]
            ),
        ),
    ],
)
def test_different_keys(one, other):
    """Any other parameter is part of the key."""
    assert find_joint_fit(one)[1] != find_joint_fit(other)[1]


def test_order_and_size():
    """Pipelines take the order of their last step, and form small groups if it has no method."""
    estimator = scaled(RandomForestClassifier(7, random_state=0))
    method, _ = find_joint_fit(estimator)
    assert method.order(estimator) == 7
    plain, _ = find_joint_fit(scaled(DecisionTreeClassifier()))
    assert plain.order(scaled(DecisionTreeClassifier())) == 0
    assert plain.max_candidates < method.max_candidates
