"""Ensembles that differ in size are fitted, and answer, as if each were alone."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone, is_classifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier

from leavezero.families import family_of
from leavezero.families._bagged import BaggedFamily
from leavezero.families._histogram import HistogramFamily
from leavezero.families._stages import BoostingFamily

KINDS = [
    GradientBoostingClassifier(max_depth=2),
    GradientBoostingClassifier(loss="exponential", subsample=0.6, max_features=2),
    GradientBoostingRegressor(loss="huber", subsample=0.6),
    GradientBoostingRegressor(init="zero"),
    HistGradientBoostingClassifier(min_samples_leaf=4, max_features=0.5),
    HistGradientBoostingClassifier(min_samples_leaf=4, class_weight="balanced"),
    HistGradientBoostingRegressor(min_samples_leaf=4, loss="absolute_error"),
    AdaBoostClassifier(),
    AdaBoostClassifier(DecisionTreeClassifier()),  # ends after the first member
    AdaBoostRegressor(),
    RandomForestClassifier(class_weight="balanced_subsample"),
    RandomForestRegressor(max_samples=0.7),
    ExtraTreesClassifier(),
    ExtraTreesRegressor(bootstrap=True),
]
METHODS = ("predict", "predict_proba", "decision_function")


def _data(model, n_classes, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(40, 4))
    if is_classifier(model):
        if getattr(model, "loss", None) == "exponential":
            n_classes = 2
        return X, np.array(["a", "b", "c"])[np.arange(40) % n_classes], rng
    return X, X[:, 0] + rng.normal(size=40), rng


def _size(model):
    return "max_iter" if "max_iter" in model.get_params() else "n_estimators"


def _sized(model, sizes, seed):
    named = _size(model)
    return [clone(model).set_params(**{named: k, "random_state": seed}) for k in sizes]


def _numbers(model):
    """Return all learned numbers of a model, and those of its members."""
    found = {
        name: value
        for name, value in vars(model).items()
        if isinstance(value, int | float | np.ndarray) and np.asarray(value).dtype != object
    }
    members = np.ravel(getattr(model, "estimators_", []))
    found["members"] = [getattr(member, "tree_", member).value.tolist() for member in members]
    return found


@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(1, 9), min_size=2, max_size=4, unique=True),
    st.sampled_from([2, 3]),
    st.booleans(),
    st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_together_is_as_alone(kind, sizes, n_classes, weighted, seed):
    """Models fitted together have the numbers, parameters and answers of plain fits."""
    X, y, rng = _data(kind, n_classes, seed)
    weights = rng.integers(1, 4, size=len(y)).astype(float) if weighted else None
    models = _sized(kind, sizes, seed)
    family = family_of(kind)
    assert len({family.shares(model) for model in models}) == 1
    assert family.shares(models[0]) is not None
    family.fit_many(models, X, y, weights)
    new = rng.normal(size=(30, 4))
    said = family.respond_many(models, new)
    for at, model in enumerate(models):
        plain = clone(model).fit(X, y, sample_weight=weights)
        assert repr(model) == repr(plain)
        assert vars(model).keys() == vars(plain).keys()
        np.testing.assert_equal(_numbers(model), _numbers(plain))
        for method in METHODS:
            if hasattr(plain, method):
                right = getattr(plain, method)(new)
                np.testing.assert_array_equal(getattr(model, method)(new), right)
                if said is not None:
                    _check_answer(said[at][method], right)


def _check_answer(said, right):
    assert said.shape == right.shape
    assert said.dtype == right.dtype
    if right.dtype.kind == "f":
        np.testing.assert_allclose(said, right, rtol=1e-12, atol=1e-13)
    else:
        np.testing.assert_array_equal(said, right)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: type(kind).__name__)
def test_one_can_be_lost(kind):
    """A model that was fitted with others is whole when they are gone and it is read again."""
    X, y, _ = _data(kind, 2, 0)
    models = _sized(kind, [2, 5], 0)
    family_of(kind).fit_many(models, X, y)
    right = models[0].predict(X)
    models[1].fit(X[:20], y[:20])
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(models[0])).predict(X), right)


def test_trees_that_draw_rows_remember_them():
    """The rows that each tree of a forest drew are those of a plain fit."""
    X, y, _ = _data(RandomForestClassifier(), 2, 0)
    models = _sized(RandomForestClassifier(), [2, 5], 0)
    BaggedFamily().fit_many(models, X, y)
    plain = clone(models[0]).fit(X, y)
    np.testing.assert_array_equal(models[0].estimators_samples_, plain.estimators_samples_)


@pytest.mark.parametrize(
    "model",
    [
        GradientBoostingClassifier(),
        GradientBoostingClassifier(random_state=np.random.RandomState(0)),
        GradientBoostingRegressor(n_iter_no_change=2, random_state=0),
        HistGradientBoostingClassifier(early_stopping=True, random_state=0),
        RandomForestClassifier(oob_score=True, random_state=0),
        BaggingClassifier(random_state=0),
    ],
    ids=["no seed", "generator", "no change", "early stopping", "out-of-bag", "bagging"],
)
def test_what_does_not_nest_is_refused(model):
    """A model whose sizes are not the beginnings of one another is fitted by itself."""
    assert family_of(model).shares(model) is None


def test_other_parameters_part():
    """Models that differ in more than their size share nothing."""
    one, other = (GradientBoostingRegressor(max_depth=d, random_state=0) for d in (2, 3))
    assert BoostingFamily().shares(one) != BoostingFamily().shares(other)


def test_many_rows_stop_early_by_themselves():
    """Histogram boosting that would stop early for the number of rows is fitted plainly."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(10_001, 1))
    y = rng.normal(size=10_001)
    model = HistGradientBoostingRegressor(max_leaf_nodes=3, n_iter_no_change=1)
    models = _sized(model, [2, 30], 0)
    BoostingFamily().fit_many(models, X, y)
    plain = clone(models[1]).fit(X, y)
    assert models[1].n_iter_ == plain.n_iter_ < 30
    np.testing.assert_array_equal(models[1].predict(X[:99]), plain.predict(X[:99]))
    assert BoostingFamily().respond_many(models, X) is None


def test_an_impossible_size_is_refused_by_the_model():
    """A size that is no number is an error of the model itself."""
    models = _sized(GradientBoostingRegressor(), [0, 3], 0)
    with pytest.raises(ValueError, match="n_estimators"):
        BoostingFamily().fit_many(models, [[0.0], [1.0]], [0.0, 1.0])


@pytest.mark.parametrize(
    ("model", "family"),
    [
        (GradientBoostingClassifier(max_depth=2), BoostingFamily),
        (RandomForestClassifier(max_depth=3), BaggedFamily),
        (HistGradientBoostingRegressor(min_samples_leaf=4), HistogramFamily),
    ],
    ids=["boosting", "forest", "histogram"],
)
def test_search_finds_the_same(model, family, finds_the_same):
    """A search gives the same table with and without shared work, and with two workers."""
    assert type(family_of(model)) is family
    X, y, _ = _data(model, 2, 1)
    grid = {_size(model): [2, 7, 4], "max_depth": [1, 2]}
    together, workers, alone = finds_the_same(model, grid, X, y, rtol=1e-12)
    for search in (together, workers):
        np.testing.assert_array_equal(search.predict(X), alone.predict(X))
