"""What the members of an ensemble say about rows that they did not draw."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification, make_friedman1
from sklearn.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import Ridge
from sklearn.metrics import r2_score
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import LinearSVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.families import _bagged
from leavezero.families._bagged import FAMILIES

(FAMILY,) = FAMILIES


@pytest.fixture(scope="module")
def classes():
    X, codes = make_classification(150, 6, n_informative=4, n_classes=3, flip_y=0.1, random_state=0)
    return X, np.array(["a", "b", "c"])[codes]


@pytest.fixture(scope="module")
def numbers():
    return make_friedman1(150, noise=1.0, random_state=0)


def means(model, X, n_outputs):
    """Return out-of-bag means by hand, and how many members speak about each row."""
    total, voices = np.zeros((len(X), n_outputs)), np.zeros(len(X))
    for member, drawn in zip(model.estimators_, model.estimators_samples_, strict=True):
        rest = np.setdiff1d(np.arange(len(X)), drawn)
        said = member.predict_proba(X[rest]) if n_outputs > 1 else member.predict(X[rest])
        total[rest] += said.reshape(len(rest), -1)
        voices[rest] += 1
    return total / np.maximum(voices, 1)[:, None], voices


@pytest.mark.parametrize("forest", [RandomForestClassifier, ExtraTreesClassifier])
def test_probabilities_are_means_drawn_towards_the_truth(classes, forest):
    """All distances from the truth shrink by the same share, less with more trees."""
    X, y = classes
    hot = (y[:, None] == np.unique(y)).astype(float)
    shares = []
    for n_trees in (15, 200):
        model = forest(n_trees, bootstrap=True, random_state=0).fit(X, y)
        unseen = FAMILY.unseen(model, X, y)
        by_hand, voices = means(model, X, 3)
        known = voices > 0
        apart = known[:, None] & (np.abs(by_hand - hot) > 1e-9)
        ratio = (unseen.responses["predict_proba"] - hot)[apart] / (by_hand - hot)[apart]
        assert unseen.kind == "out-of-bag"
        np.testing.assert_allclose(ratio, ratio[0], atol=1e-9)
        shares.append(ratio[0])
    assert 0.5 < shares[0] < shares[1] <= 1.0


def test_labels_differ_from_the_vote_only_where_it_was_nearly_right(classes):
    """Labels are put right, the nearest misses first, and never wrong."""
    X, y = classes
    model = RandomForestClassifier(15, random_state=1).fit(X, y)
    unseen = FAMILY.unseen(model, X, y)
    by_hand, voices = means(model, X, 3)
    vote = model.classes_[by_hand.argmax(axis=1)]
    known = voices > 0
    changed = (unseen.responses["predict"] != vote) & known
    assert 0 < changed.sum() < np.sum(vote != y)
    np.testing.assert_array_equal(unseen.responses["predict"][changed], y[changed])
    assert unseen.responses["predict"].dtype == model.predict(X).dtype


@pytest.mark.parametrize("forest", [RandomForestRegressor, ExtraTreesRegressor])
def test_small_forests_do_not_look_worse_than_they_are(numbers, forest):
    """The score of ten trees is nearer to that on new rows than the plain mean's."""
    X, y = numbers
    fresh, truth = make_friedman1(2000, noise=1.0, random_state=1)
    plain, ours, true = [], [], []
    for seed in range(4):
        model = forest(12, bootstrap=True, random_state=seed).fit(X, y)
        unseen = FAMILY.unseen(model, X, y)
        by_hand, voices = means(model, X, 1)
        known = voices > 0
        plain.append(r2_score(y[known], by_hand[known, 0]))
        ours.append(r2_score(y[known], unseen.responses["predict"][known]))
        true.append(model.score(fresh, truth))
    assert abs(np.mean(ours) - np.mean(true)) < abs(np.mean(plain) - np.mean(true)) / 2


def test_rows_that_every_tree_drew_have_no_response(classes):
    """Few trees leave some rows without a voice, and say so."""
    X, y = classes
    model = RandomForestClassifier(4, random_state=0).fit(X, y)
    unseen = FAMILY.unseen(model, X, y)
    _, voices = means(model, X, 3)
    np.testing.assert_array_equal(unseen.known, voices > 0)
    assert (
        unseen.doubt == f"only {voices.mean():.1f} members speak about a row that they did not draw"
    )


@pytest.mark.parametrize("kind", ["classes", "numbers"])
def test_trees_are_asked_by_their_methods_if_their_arrays_say_something_else(
    request, monkeypatch, kind
):
    """Both ways of asking give the same answers; a shortcut that does not is left."""
    X, y = request.getfixturevalue(kind)
    forest = RandomForestClassifier if kind == "classes" else RandomForestRegressor
    model = forest(10, random_state=0).fit(X, y)
    quick = FAMILY.unseen(model, X, y).responses
    monkeypatch.setattr(
        _bagged, "_say_at_once", lambda model, at, rows, n: np.zeros((len(rows), max(n, 1)))
    )
    for method, said in FAMILY.unseen(model, X, y).responses.items():
        np.testing.assert_array_equal(said, quick[method])


@pytest.mark.parametrize(
    "estimator",
    [
        BaggingClassifier(GaussianNB(), 30, random_state=0),
        BaggingClassifier(DecisionTreeClassifier(), 30, max_features=0.5, random_state=0),
        BaggingClassifier(LinearSVC(dual=False), 20, random_state=0),
        BaggingClassifier(GaussianNB(), 30, bootstrap=False, max_samples=0.5, random_state=0),
    ],
)
def test_bagging_answers_as_its_own_score_out_of_bag(classes, estimator):
    """Frames, columns drawn too, and members that only vote."""
    X, y = classes
    model = estimator.fit(pd.DataFrame(X), y)
    unseen = FAMILY.unseen(model, pd.DataFrame(X), y)
    accuracy = np.mean(unseen.responses["predict"] == y)
    plain = []
    for member, drawn, columns in zip(
        model.estimators_, model.estimators_samples_, model.estimators_features_, strict=True
    ):
        rest = np.setdiff1d(np.arange(len(y)), drawn)
        said = model.classes_[member.predict(X[rest][:, columns]).astype(int)]
        plain.append(np.mean(said == y[rest]))
    assert accuracy == pytest.approx(np.mean(plain), abs=0.15)
    assert unseen.responses["predict_proba"].shape == (len(y), 3)


def test_bagging_of_regressions(numbers):
    """Means of numbers, and weights do no harm."""
    X, y = numbers
    model = BaggingRegressor(Ridge(), 30, random_state=0).fit(X, y)
    unseen = FAMILY.unseen(model, X, y)
    assert r2_score(y, unseen.responses["predict"]) == pytest.approx(0.72, abs=0.08)
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    weights[:5] = 0.0
    forest = RandomForestRegressor(30, random_state=0).fit(X, y, sample_weight=weights)
    assert FAMILY.unseen(forest, X, y, weights).doubt is None


def test_ensembles_that_saw_every_row_are_refused():
    """Without draws nobody is left to speak."""
    assert FAMILY.refuses(RandomForestClassifier()) is None
    assert FAMILY.refuses(ExtraTreesClassifier()) == "without bootstrap every tree sees every row"
    assert FAMILY.refuses(BaggingClassifier(bootstrap=False)) == (
        "without bootstrap and with all rows as max_samples every member sees every row"
    )


def test_rows_of_another_fit_are_refused(classes, numbers):
    """Draws, leaves and columns tell of other rows."""
    X, y = classes
    model = RandomForestClassifier(10, random_state=0).fit(X, y)
    with pytest.raises(ValueError, match="its members drew 150 rows each, from X it would be 149"):
        FAMILY.unseen(model, X[:-1], y[:-1])
    with pytest.raises(ValueError, match="the leaves of its first tree hold other rows"):
        FAMILY.unseen(model, X[::-1], y)
    with pytest.raises(ValueError, match="X has 5 columns, the model 6"):
        FAMILY.unseen(model, X[:, :5], y)
    with pytest.raises(ValueError, match="it knows no class 'd'"):
        FAMILY.unseen(model, X, np.where(y == "a", "d", y))
    bagged = BaggingRegressor(Ridge(), 5, max_samples=20, random_state=0).fit(*numbers)
    with pytest.raises(ValueError, match="its members drew rows beyond the 10 of X"):
        FAMILY.unseen(bagged, numbers[0][:10], numbers[1][:10])
    many = RandomForestRegressor(5).fit(X, np.column_stack([X[:, 0], X[:, 1]]))
    with pytest.raises(ValueError, match="was fitted to 2 targets"):
        FAMILY.unseen(many, X, X[:, :2])
