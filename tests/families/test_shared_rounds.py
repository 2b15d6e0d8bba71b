"""XGBoost and LightGBM models that differ in their rounds are fitted as if each were alone."""

import pickle

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lightgbm import LGBMClassifier, LGBMRanker, LGBMRegressor
from sklearn.base import clone, is_classifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import GridSearchLZO
from leavezero.augment import GaussianAugmenter
from leavezero.families import family_of
from leavezero.families._rounds import RoundsFamily
from leavezero.testing import check_family

xgboost = pytest.importorskip("xgboost", reason="macOS has only the large package")
# LightGBM 4.6 names columns that have no names.
pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names:UserWarning")

FAMILY = RoundsFamily()
QUIET = {"verbosity": -1, "min_child_samples": 3, "n_jobs": 1}
METHODS = ("predict", "predict_proba")


def huber(y_true, y_pred, sample_weight=None):
    """Return gradients of a loss of one's own."""
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


def table(model, n_classes=2, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4))
    if model.get_params().get("scale_pos_weight") is not None:
        n_classes = 2
    y = X[:, 0] + rng.normal(size=40)
    return X, np.arange(40) % n_classes if is_classifier(model) else y, rng


def sized(model, sizes, seed=0):
    return [clone(model).set_params(n_estimators=k, random_state=seed) for k in sizes]


def learned(model):
    """Return all that a model has learned, as text; LightGBM's ends with its settings."""
    if isinstance(model, xgboost.XGBModel):
        return bytes(model.get_booster().save_raw("json"))
    return model.booster_.model_to_string().split("\nparameters:")[0]


def check_as_alone(model, plain, new):
    assert repr(model) == repr(plain)
    assert model.get_params() == plain.get_params()
    assert vars(model).keys() == vars(plain).keys()
    assert learned(model) == learned(plain)
    np.testing.assert_array_equal(model.feature_importances_, plain.feature_importances_)
    if isinstance(model, LGBMClassifier | LGBMRegressor):
        assert model.n_estimators_ == plain.n_estimators_
        assert model.booster_.params == plain.booster_.params
        assert model.booster_.best_iteration == plain.booster_.best_iteration
    for method in METHODS:
        if hasattr(plain, method):
            right = getattr(plain, method)(new)
            np.testing.assert_array_equal(getattr(model, method)(new), right)
            again = pickle.loads(pickle.dumps(model))
            np.testing.assert_array_equal(getattr(again, method)(new), right)


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(1, 9), min_size=2, max_size=4),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_together_is_as_alone(kind, sizes, n_classes, weighted, seed):
    """Models fitted together are plain fits bit for bit, with weights of rows and classes too."""
    X, y, rng = table(kind, n_classes, seed)
    weights = rng.integers(1, 4, size=len(y)).astype(float) if weighted else None
    models = sized(kind, sizes, seed)
    keys = {FAMILY.shares(model) for model in models}
    assert len(keys) == 1
    assert None not in keys
    FAMILY.fit_many(models, X, y, weights)
    for model in models:
        plain = clone(model).fit(X, y, sample_weight=weights)
        check_as_alone(model, plain, rng.normal(size=(30, 4)))


def test_the_largest_is_boosted_once(monkeypatch):
    """One fit makes all models."""
    for kind in (xgboost.XGBRegressor(n_jobs=1), LGBMRegressor(**QUIET)):
        fitted = []
        plain = type(kind).fit

        def fit(self, *args, fitted=fitted, plain=plain, **more):
            fitted.append(self.n_estimators)
            return plain(self, *args, **more)

        monkeypatch.setattr(type(kind), "fit", fit)
        X, y, _ = table(kind)
        FAMILY.fit_many(sized(kind, [2, 7, 4]), X, y)
        assert fitted == [7]


def test_conformance():
    """What every family promises holds for both packages."""
    estimators = [model for kind in KINDS[5:7] + KINDS[9:10] for model in sized(kind, [2, 5])]
    check_family(FAMILY, estimators)
    X, y, rng = table(KINDS[0])
    data = [(X, y, None), (X, y, rng.uniform(1, 2, len(y)))]
    check_family(FAMILY, [model for kind in KINDS[:2] for model in sized(kind, [2, 5])], data)


@pytest.mark.parametrize("kind", [xgboost.XGBClassifier, LGBMClassifier])
def test_frames_with_categories(kind):
    """Columns of categories mean the same to every model, in whatever order they come."""
    rng = np.random.default_rng(0)
    names = pd.Categorical(rng.choice(list("xyz"), 60))
    frame = pd.DataFrame({"a": rng.normal(size=60), "c": names})
    y = ((frame["c"] == "x") ^ (frame["a"] > 1)).astype(int).to_numpy()
    more = {"enable_categorical": True} if kind is xgboost.XGBClassifier else QUIET
    models = sized(kind(**more), [2, 5])
    FAMILY.fit_many(models, frame, y)
    turned = frame.assign(c=frame["c"].cat.reorder_categories(list("zyx")))
    for model in models:
        check_as_alone(model, clone(model).fit(frame, y), turned)


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
def test_what_does_not_nest_is_refused(model):
    """What may end early, forgets rounds, or is not known to build on them is fitted by itself."""
    assert family_of(model) is not None
    assert FAMILY.shares(model) is None


def test_own_and_other_kinds_are_not_covered():
    """Subclasses, forests and rankers have no family."""

    class XGBClassifier(xgboost.XGBClassifier):
        pass

    XGBClassifier.__module__ = "xgboost.sklearn"
    others = (XGBClassifier(), xgboost.XGBRFRegressor(), xgboost.XGBRanker(), LGBMRanker())
    assert all(family_of(model) is None for model in others)


def test_other_parameters_part():
    """Models that differ in more than their rounds share nothing."""
    for kind in (xgboost.XGBRegressor, LGBMRegressor):
        one, other = (kind(learning_rate=rate) for rate in (0.1, 0.3))
        assert FAMILY.shares(one) != FAMILY.shares(other)


def test_rounds_that_are_not_named_are_a_hundred():
    """XGBoost's None is its default."""
    X, y, _ = table(xgboost.XGBRegressor())
    models = [xgboost.XGBRegressor(n_estimators=k, max_depth=1, n_jobs=1) for k in (None, 3)]
    FAMILY.fit_many(models, X, y)
    assert [model.get_booster().num_boosted_rounds() for model in models] == [100, 3]


def test_an_impossible_number_is_left_to_the_model():
    """A number of rounds that is none is an error of the package itself."""
    X, y, _ = table(LGBMRegressor())
    models = sized(LGBMRegressor(**QUIET), [-1, 3])
    with pytest.raises(Exception, match="boosting rounds"):
        FAMILY.fit_many(models, X, y)


@pytest.mark.parametrize("kind", [KINDS[0], LGBMClassifier(**QUIET)], ids=["XGBoost", "LightGBM"])
def test_search_finds_the_same(kind, monkeypatch):
    """A search, also of a pipeline, gives the same table with and without shared work."""
    X, y, _ = table(kind)
    model = make_pipeline(StandardScaler(), kind)
    name = type(kind).__name__.lower()
    grid = {f"{name}__n_estimators": [2, 7, 4], f"{name}__max_depth": [1, 2]}
    few = {"augmenter": GaussianAugmenter(), "n_replicates": 3, "random_state": 0}
    together = GridSearchLZO(model, grid, **few).fit(X, y)
    assert sorted(len(task.candidates) for task in together.plan_) == [3, 3]
    assert together.fits_["candidate"] == 6
    monkeypatch.setattr(RoundsFamily, "shares", lambda self, estimator: None)
    alone = GridSearchLZO(model, grid, **few).fit(X, y)
    scores = together.cv_results_["mean_test_score"]
    np.testing.assert_array_equal(scores, alone.cv_results_["mean_test_score"])
    assert together.best_params_ == alone.best_params_
    np.testing.assert_array_equal(together.predict(X), alone.predict(X))
