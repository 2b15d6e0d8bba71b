"""Unfitted models of many settings are copied from one estimator."""

import pickle

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier, VotingClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler, TargetEncoder
from sklearn.svm import SVC

from leavezero._random import with_seed
from leavezero.engine._digest import digest
from leavezero.engine._mold import Mold, configure

SEED = 5
PIPELINE = make_pipeline(StandardScaler(), LogisticRegression())
NESTED = make_pipeline(make_pipeline(StandardScaler(), MinMaxScaler()), RandomForestClassifier())
LOGISTIC = LogisticRegression()
VOTERS = VotingClassifier([("a", SVC()), ("b", LogisticRegression())])
BAGGED = BaggingClassifier(SVC())
CALIBRATED = CalibratedClassifierCV(SVC(), cv=KFold(shuffle=True))
ENCODED = make_pipeline(TargetEncoder(), LogisticRegression())
FROZEN = FrozenEstimator(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]))


class Doubled(ClassifierMixin, BaseEstimator):
    """Sets another value than it is given."""

    def __init__(self, size=1):
        self.size = size

    def set_params(self, **params):
        return super().set_params(**{name: 2 * value for name, value in params.items()})


class Sum(ClassifierMixin, BaseEstimator):
    """Derives something from its parameter when it is made."""

    def __init__(self, size=1):
        self.size = size
        self.more = size + 1


CASES = [
    (Ridge(), {"alpha": np.float64(2.0)}),
    (Ridge(), {"random_state": None}),
    (Ridge(), {"random_state": 3, "alpha": 0.5}),
    (PIPELINE, {"logisticregression__C": 3.0, "standardscaler__with_mean": False}),
    (PIPELINE, {"standardscaler": MinMaxScaler(), "logisticregression__C": 3.0}),
    (PIPELINE, {"standardscaler": "passthrough"}),
    (PIPELINE, {"verbose": True, "logisticregression__class_weight": {0: 1.0, 1: 2.0}}),
    (NESTED, {"pipeline__minmaxscaler__clip": True, "randomforestclassifier__max_depth": 3}),
    (VOTERS, {"a__C": 4.0, "voting": "hard"}),
    (BAGGED, {"estimator__C": 4.0, "max_samples": 0.5}),
    (BAGGED, {"estimator": LOGISTIC, "estimator__C": 4.0}),
    (Doubled(), {"size": 3}),
    (Sum(), {"size": 3}),
    (PIPELINE, {}),
    (CALIBRATED, {"method": "isotonic"}),
    (CALIBRATED, {"cv": ShuffleSplit()}),
    (ENCODED, {"logisticregression__C": 3.0}),
    (ENCODED, {"targetencoder__cv": 3}),
    (ENCODED, {"targetencoder__target_type": "continuous"}),
    (ENCODED, {"targetencoder__shuffle": False}),
    (ENCODED, {"targetencoder__random_state": 3}),
]


def same(model, other):
    """Tell whether two unfitted models hold the same, all the way down."""
    return pickle.dumps(model) == pickle.dumps(other)


@pytest.mark.parametrize(("estimator", "settings"), CASES)
def test_a_cast_is_a_clone_with_parameters_and_seeds_set(estimator, settings):
    """Whether it was copied or cloned, on the first call as on the second."""
    mold = Mold(estimator)
    expected = with_seed(configure(estimator, settings), SEED)
    for _ in range(2):
        model = mold.cast(settings, SEED)
        assert type(model) is type(expected)
        assert repr(model) == repr(expected)
        assert vars(model).keys() == vars(expected).keys()


@pytest.mark.parametrize(("estimator", "settings"), CASES)
def test_casts_share_nothing_that_a_fit_could_change(estimator, settings):
    """Neither with one another nor with what was given."""
    mold, before = Mold(estimator), repr(estimator)
    one, other = mold.cast(settings, SEED), mold.cast(settings, SEED)
    parts = [
        {id(part) for part in model.get_params().values() if hasattr(part, "get_params")}
        for model in (one, other, estimator)
    ]
    assert not parts[0] & parts[1]
    assert not parts[0] & parts[2]
    assert repr(estimator) == before


def test_seeded_splitters_leave_a_model_what_a_journal_knows_it_by():
    """The same in every run, and the user's own has no seed."""
    names = {digest(Mold(clone(CALIBRATED)).cast({"method": "isotonic"}, SEED)) for _ in range(2)}
    assert len(names) == 1
    assert CALIBRATED.cv.random_state is None


def test_a_container_in_the_settings_is_not_shared():
    """A weight that one model changes is its own."""
    weights = {0: 1.0}
    model = Mold(LOGISTIC).cast({"class_weight": weights}, SEED)
    model.class_weight[1] = 2.0
    assert weights == {0: 1.0}


def test_routing_and_output_travel_along():
    """What users set by methods belongs to a clone, too."""
    scaler = StandardScaler().set_output(transform="pandas")
    model = Mold(make_pipeline(scaler, LogisticRegression())).cast(
        {"logisticregression__C": 2.0}, SEED
    )
    assert model[0]._sklearn_output_config == {"transform": "pandas"}


def test_what_clones_itself_in_its_own_way_does_so_here():
    """A frozen estimator stays fitted, and is the same object in all."""
    model = Mold(make_pipeline(FROZEN, Ridge())).cast({"ridge__alpha": 2.0}, SEED)
    assert model[0] is clone(FROZEN)
    assert model[-1].alpha == 2.0


def test_a_mold_travels_without_its_copies():
    """Workers make their own."""
    mold = Mold(PIPELINE)
    mold.cast({"logisticregression__C": 3.0}, SEED)
    there = pickle.loads(pickle.dumps(mold))
    assert same(mold.cast({}, SEED), there.cast({}, SEED))
    assert len(pickle.dumps(mold)) == len(pickle.dumps(Mold(PIPELINE)))
