"""XGBoost and LightGBM models that differ in their number of rounds equal plain fits."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn.base import clone, is_classifier

from leavezero.joint_fit import find_joint_fit
from leavezero.joint_fit._xgboost_lightgbm import BoostedRounds

xgboost = pytest.importorskip("xgboost", reason="macOS has only the large package")
# LightGBM 4.6 names columns that have no names.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")

METHOD = BoostedRounds()
QUIET = {"verbosity": -1, "min_child_samples": 3, "n_jobs": 1}
PREDICTION_METHODS = ("predict", "predict_proba")


def huber(y_true, y_pred, sample_weight=None):
    """Return gradients and Hessians of a custom loss."""
    weights = np.ones_like(y_pred) if sample_weight is None else sample_weight
    return weights * np.clip(y_pred - y_true, -1, 1), weights


KINDS = [
    xgboost.XGBClassifier(max_depth=2, n_jobs=1),
    xgboost.XGBClassifier(subsample=0.6, colsample_bynode=0.5, scale_pos_weight=2.0, n_jobs=1),
    xgboost.XGBClassifier(tree_method="exact", max_depth=2, n_jobs=1),
    xgboost.XGBRegressor(objective="reg:absoluteerror", tree_method="approx", n_jobs=1),
    xgboost.XGBRegressor(objective=huber, grow_policy="lossguide", max_leaves=4, n_jobs=1),
    LGBMClassifier(**QUIET),
    LGBMClassifier(class_weight="balanced", extra_trees=True, **QUIET),
    LGBMClassifier(subsample=0.6, subsample_freq=1, colsample_bytree=0.5, **QUIET),
    LGBMClassifier(min_child_samples=14, num_leaves=3, verbosity=-1),  # rounds without a split
    LGBMRegressor(objective="mae", **QUIET),
    LGBMRegressor(objective=huber, **QUIET),
]


def make_data(model, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4))
    if model.get_params().get("scale_pos_weight") is not None:
        n_classes = 2
    y = X[:, 0] + rng.normal(size=40)
    return X, np.arange(40) % n_classes if is_classifier(model) else y, rng


def with_rounds(model, sizes, seed=0):
    return [clone(model).set_params(n_estimators=k, random_state=seed) for k in sizes]


def learned(model):
    """Return all that a model has learned; LightGBM's text ends with its parameters."""
    if isinstance(model, xgboost.XGBModel):
        return bytes(model.get_booster().save_raw("json"))
    return model.booster_.model_to_string().split("\nparameters:")[0]


def check_equal(model, plain, new):
    assert repr(model) == repr(plain)
    assert model.get_params() == plain.get_params()
    assert vars(model).keys() == vars(plain).keys()
    assert learned(model) == learned(plain)
    np.testing.assert_array_equal(model.feature_importances_, plain.feature_importances_)
    if isinstance(model, LGBMClassifier | LGBMRegressor):
        assert model.n_estimators_ == plain.n_estimators_
        assert model.booster_.params == plain.booster_.params
        assert model.booster_.best_iteration == plain.booster_.best_iteration
    for method in PREDICTION_METHODS:
        if hasattr(plain, method):
            right = getattr(plain, method)(new)
            np.testing.assert_array_equal(getattr(model, method)(new), right)
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(getattr(again, method)(new), right)


@pytest.mark.parametrize("kind", KINDS)
@given(
    sizes=st.lists(st.integers(1, 9), min_size=2, max_size=3),
    n_classes=st.sampled_from([2, 3]),
    weighted=st.booleans(),
    seed=st.integers(0, 99),
)
@settings(max_examples=2, deadline=None)
def test_equals_plain_fits(kind, sizes, n_classes, weighted, seed):
    """Models equal plain fits bit for bit, with weights of rows and classes too."""
    X, y, rng = make_data(kind, n_classes, seed)
    weights = rng.integers(1, 4, size=len(y)).astype(float) if weighted else None
    models = with_rounds(kind, sizes, seed)
    keys = {METHOD.key(model) for model in models}
    assert len(keys) == 1
    assert None not in keys
    METHOD.fit(models, X, y, weights)
    for model in models:
        plain = clone(model).fit(X, y, sample_weight=weights)
        check_equal(model, plain, rng.normal(size=(30, 4)))


def test_the_largest_is_boosted_once(monkeypatch):
    """One fit serves all models."""
    for kind in (xgboost.XGBRegressor(n_jobs=1), LGBMRegressor(**QUIET)):
        fitted = []
        plain = type(kind).fit

        def fit(self, *args, fitted=fitted, plain=plain, **more):
            fitted.append(self.n_estimators)
            return plain(self, *args, **more)

        monkeypatch.setattr(type(kind), "fit", fit)
        X, y, _ = make_data(kind)
        METHOD.fit(with_rounds(kind, [2, 7, 4]), X, y)
        assert fitted == [7]


@pytest.mark.parametrize("kind", [xgboost.XGBClassifier, LGBMClassifier])
def test_frames_with_categories(kind):
    """Categorical columns mean the same to every model, in any order of the categories."""
    rng = np.random.default_rng(0)
    names = pd.Categorical(rng.choice(list("xyz"), 60))
    frame = pd.DataFrame({"a": rng.normal(size=60), "c": names})
    y = ((frame["c"] == "x") ^ (frame["a"] > 1)).astype(int).to_numpy()
    more = {"enable_categorical": True} if kind is xgboost.XGBClassifier else QUIET
    models = with_rounds(kind(**more), [2, 5])
    METHOD.fit(models, frame, y)
    turned = frame.assign(c=frame["c"].cat.reorder_categories(list("zyx")))
    for model in models:
        check_equal(model, clone(model).fit(frame, y), turned)


@pytest.mark.parametrize(
    "model",
    [
        xgboost.XGBClassifier(booster="dart"),
        xgboost.XGBRegressor(booster="gblinear"),
        xgboost.XGBClassifier(num_parallel_tree=3),
        xgboost.XGBClassifier(early_stopping_rounds=2),
        xgboost.XGBRegressor(callbacks=[xgboost.callback.LearningRateScheduler(lambda i: 0.1)]),
        xgboost.XGBClassifier(process_type="update"),
        xgboost.XGBClassifier(device="cuda"),
        xgboost.XGBRegressor(random_state=np.random.RandomState(0)),
        LGBMClassifier(boosting_type="dart"),
        LGBMClassifier(boosting_type="rf"),
        LGBMRegressor(early_stopping_round=2),
        LGBMRegressor(boosting="dart"),
        LGBMRegressor(num_iterations=7),
        LGBMRegressor(random_state=np.random.RandomState(0)),
    ],
    ids=lambda model: "",
)
def test_plain_fits(model):
    """What may stop early, drops rounds, or is not built round by round is fitted by itself."""
    assert METHOD.key(model) is None


def test_other_classes():
    """Subclasses, forests and rankers are not fitted jointly."""

    class XGBClassifier(xgboost.XGBClassifier):
        pass

    XGBClassifier.__module__ = "xgboost.sklearn"
    others = (XGBClassifier(), xgboost.XGBRFRegressor(), xgboost.XGBRanker(), LGBMRanker())
    assert all(find_joint_fit(model) is None for model in others)


def test_different_keys():
    """Models that differ in more than their rounds are not fitted jointly."""
    for kind in (xgboost.XGBRegressor, LGBMRegressor):
        one, other = (kind(learning_rate=rate) for rate in (0.1, 0.3))
        assert METHOD.key(one) != METHOD.key(other)


def test_default_rounds_of_xgboost():
    """None stands for a default."""
    X, y, _ = make_data(xgboost.XGBRegressor())
    models = [xgboost.XGBRegressor(n_estimators=k, max_depth=1, n_jobs=1) for k in (None, 3)]
    METHOD.fit(models, X, y)
    assert [model.get_booster().num_boosted_rounds() for model in models] == [100, 3]


@pytest.mark.parametrize("kind", [xgboost.XGBRegressor, LGBMRegressor])
def test_invalid_number_of_rounds(kind):
    """An invalid number of rounds is left to the package to reject."""
    assert METHOD.key(kind(n_estimators=-1)) is None
