"""Independent random streams from one seed."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import StackingClassifier
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.model_selection import KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import TargetEncoder
from sklearn.svm import SVC

from leavezero import GridSearchLZO
from leavezero._random import integer_seed, seed_sequence, stratified_folds, stream, with_seed


def test_streams_do_not_depend_on_other_streams():
    root = seed_sequence(3)
    before = stream(root, "class", 1).random(4)
    stream(root, "class", 0).random(100)
    assert np.array_equal(before, stream(root, "class", 1).random(4))


def test_streams_of_different_purposes_differ():
    root = seed_sequence(3)
    draws = [stream(root, *p).random() for p in (("class", 0), ("class", 1), ("replicate", 0))]
    assert len(set(draws)) == 3


@pytest.mark.parametrize("make", [np.random.RandomState, np.random.default_rng])
def test_a_shared_generator_is_advanced_and_repeats_from_its_seed(make):
    """Two calls with one generator differ; two generators of one seed agree."""
    generator, equal = make(0), make(0)
    first, second = integer_seed(seed_sequence(generator)), integer_seed(seed_sequence(generator))
    assert first != second
    assert first == integer_seed(seed_sequence(equal))


def test_none_gives_a_new_root_each_time():
    """Without a seed two calls differ."""
    assert seed_sequence(None).entropy != seed_sequence(None).entropy


@pytest.mark.parametrize("wrong", [-1, 1.5, "seed"])
def test_an_invalid_random_state_is_rejected(wrong):
    with pytest.raises(ValueError, match="random_state must be None, a non-negative int"):
        seed_sequence(wrong)


def test_seeds_of_the_user_are_kept():
    estimator = make_pipeline(SVC(random_state=4))
    assert with_seed(estimator, 9).named_steps["svc"].random_state == 4
    assert with_seed(make_pipeline(SVC()), 9).named_steps["svc"].random_state == 9


@pytest.mark.parametrize(
    "splitter", [KFold(3, shuffle=True), ShuffleSplit(3), RepeatedKFold(n_splits=3)]
)
def test_splitters_among_the_parameters_get_the_seed(splitter):
    """At any depth; the splitter of the user is not changed."""
    estimator = make_pipeline(CalibratedClassifierCV(GaussianNB(), cv=splitter))
    seeded = with_seed(estimator, 9)[-1].cv
    assert type(seeded) is type(splitter)
    assert seeded.random_state == 9
    assert splitter.random_state is None


@pytest.mark.parametrize("cv", [KFold(3), KFold(3, shuffle=True, random_state=4), 3, None])
def test_deterministic_and_seeded_splitters_are_kept(cv):
    assert with_seed(CalibratedClassifierCV(cv=cv), 9).cv is cv


@pytest.fixture
def categories(rng):
    """Return a column of categories, and two classes that depend on it."""
    X = rng.integers(12, size=(120, 1))
    return X, (X[:, 0] + rng.normal(scale=4.0, size=120) > 6).astype(int)


@pytest.mark.parametrize("cv", [3, 5])
@pytest.mark.parametrize("last", [LogisticRegression(), Ridge()])
def test_a_target_encoder_repeats_without_a_warning(categories, last, cv):
    X, y = categories
    y = y if isinstance(last, LogisticRegression) else y + X[:, 0] / 7

    def rows(seed):
        return with_seed(make_pipeline(TargetEncoder(cv=cv), last), seed)[0].fit_transform(X, y)

    assert np.array_equal(rows(9), rows(9))
    assert not np.array_equal(rows(9), rows(8))


def test_folds_of_target_encoders_are_stratified_for_classes_only():
    """As in scikit-learn; without a predictor the type of target is unknown."""
    if TargetEncoder().random_state is None:
        pytest.skip("TargetEncoder has random_state in this version of scikit-learn")
    kinds = [StratifiedKFold, KFold, KFold, int]
    continuous = make_pipeline(TargetEncoder(target_type="continuous"), SVC())
    models = [make_pipeline(TargetEncoder(), SVC()), make_pipeline(TargetEncoder(), Ridge())]
    models += [continuous, make_pipeline(TargetEncoder())]
    assert [type(with_seed(model, 9)[0].cv) for model in models] == kinds


@pytest.mark.parametrize("params", [{"cv": KFold(3)}, {"random_state": 4}, {"shuffle": False}])
def test_parameters_of_a_target_encoder_are_kept(params):
    encoder = with_seed(make_pipeline(TargetEncoder(**params), SVC()), 9)[0]
    assert encoder.get_params().items() >= params.items()
    assert encoder.cv is params.get("cv", 5)


STACK = StackingClassifier([("a", KNeighborsClassifier())], GaussianNB(), cv=KFold(3, shuffle=True))
CALIBRATED = CalibratedClassifierCV(KNeighborsClassifier(), cv=StratifiedKFold(3, shuffle=True))
ENCODED = make_pipeline(TargetEncoder(), KNeighborsClassifier())


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (STACK, {"a__n_neighbors": [1, 5]}),
        (STACK, {"cv": [KFold(3, shuffle=True), KFold(4, shuffle=True)]}),
        (CALIBRATED, {"estimator__n_neighbors": [1, 5]}),
        (ENCODED, {"kneighborsclassifier__n_neighbors": [1, 5]}),
        (ENCODED, {"targetencoder__cv": [3, 4]}),
    ],
)
def test_a_search_repeats_for_a_seed(categories, estimator, grid):
    """With splitters inside of candidates; the best estimator equals a plain fit."""
    X, y = categories
    params = {"scoring": "neg_log_loss", "random_state": 0, "n_replicates": 2}
    one, other = (GridSearchLZO(estimator, grid, **params).fit(X, y) for _ in range(2))
    assert np.array_equal(one.cv_results_["mean_test_score"], other.cv_results_["mean_test_score"])
    plain = clone(one.best_estimator_).fit(X, y)
    assert np.array_equal(one.predict_proba(X), plain.predict_proba(X))


@given(st.lists(st.integers(2, 9), min_size=1, max_size=5), st.integers(2, 7), st.integers(0, 99))
def test_stratified_folds_have_every_class_in_every_training_part(counts, n_folds, seed):
    """And fold sizes differ by at most one."""
    codes = np.repeat(np.arange(len(counts)), counts)
    folds = stratified_folds(codes, n_folds, np.random.default_rng(seed))
    for fold in np.unique(folds):
        assert len(np.unique(codes[folds != fold])) == len(counts)
    assert np.ptp(np.bincount(folds)) <= 1
