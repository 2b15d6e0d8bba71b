"""Teachers, weights, portfolios and chains do what they are for."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from leavezero import GridSearchLZO
from leavezero.augment import (
    Chain,
    CopulaAugmenter,
    FunctionAugmenter,
    GivenValidationSet,
    LabelInvariantMixup,
    OrthogonalTransform,
    Portfolio,
    ResamplerAugmenter,
    TeacherLabeled,
    ValidationSet,
    Weighted,
)
from leavezero.augment._teachers import class_shares, number_shares


def copies(X, y, n_samples, rng):
    """Draw given rows again, and say which."""
    rows = rng.integers(len(y), size=n_samples)
    return ValidationSet(X[rows], y[rows], origins=rows[:, None])


def test_no_teacher_has_seen_a_rows_origin(rng):
    """1-NN remembers every label; of copies of rows with random labels it knows nothing."""
    X, y = rng.normal(size=(200, 5)), rng.integers(2, size=200)
    teacher = TeacherLabeled(FunctionAugmenter(copies), [KNeighborsClassifier(1)], random_state=0)
    V = teacher.fit(X, y).sample(400, 0)
    given_label = V.posterior[np.arange(400), y[V.origins[:, 0]]]
    assert given_label.mean() == pytest.approx(0.5, abs=0.1)


def test_rows_without_origins_are_labelled_by_all_folds(rng):
    """Generators have none."""
    y = np.tile([0, 1], 50)
    X = rng.normal(size=(100, 2)) + 3 * y[:, None]
    V = TeacherLabeled(CopulaAugmenter(), [LogisticRegression()], random_state=0)
    V = V.fit(X, y).sample(200, 0)
    assert np.mean(V.posterior.argmax(axis=1) == (V.X.sum(axis=1) > 3)) > 0.95


def test_teachers_learn_from_a_part_of_many_rows(rng, monkeypatch):
    """Origins outside that part are nobody's secret."""
    monkeypatch.setattr("leavezero.augment._teacher_labeled.MAX_TAUGHT_ROWS", 50)
    y = np.tile([0, 1], 100)
    X = rng.normal(size=(200, 2)) + 3 * y[:, None]
    fitted = TeacherLabeled(LabelInvariantMixup(), [LogisticRegression()], random_state=0)
    V = fitted.fit(X, y).sample(100, 0)
    assert np.mean(V.posterior.argmax(axis=1) == V.y) > 0.9


def test_groups_are_held_out_whole(rng):
    """A group's own rows never teach about it."""
    groups = np.repeat(np.arange(20), 10)
    y = groups % 2  # the nearest rows of other groups have the other label
    X = np.column_stack([groups, rng.normal(size=200)])
    fitted = TeacherLabeled(FunctionAugmenter(copies), [KNeighborsClassifier(1)], random_state=0)
    with pytest.raises(ValueError, match="neither sample_weight nor groups"):
        fitted.fit(X, y, groups=groups)
    fitted = TeacherLabeled(LabelInvariantMixup(), [KNeighborsClassifier(1)], random_state=0)
    V = fitted.fit(X, y, groups=groups).sample(300, 0)
    hit = V.posterior[np.arange(300), y[V.origins[:, 0]]].mean()
    assert hit < 0.5


def test_the_better_teacher_counts_more():
    """Mixture weights of greatest likelihood; shares by squared error."""
    codes = np.tile([0, 1], 50)
    good = np.where(np.eye(2)[codes] == 1, 0.9, 0.1)
    shares = class_shares(np.array([good, np.full((100, 2), 0.5)]), codes)
    assert shares[0] > 0.95
    truth = np.arange(10.0)[:, None]
    assert number_shares(np.array([truth + 0.1, truth + 1]), truth)[0] > 0.99


def test_numbers_get_the_spread_of_held_out_rows(rng):
    """Not only the teachers' mean."""
    X = rng.normal(size=(300, 1))
    y = X[:, 0] + rng.normal(size=300)
    fitted = TeacherLabeled(LabelInvariantMixup(), [LinearRegression()], random_state=0)
    V = fitted.fit(X, y).sample(3000, 0)
    assert np.std(V.y - V.X[:, 0]) == pytest.approx(1.0, abs=0.15)


def test_weights_make_rows_look_more_like_the_data(rng):
    """A turned class has the wrong spread; weights mend part of it."""
    X = rng.normal(size=(400, 2)) * [1.0, 4.0]
    fitted = Weighted(OrthogonalTransform(), random_state=0).fit(X, np.tile([0, 1], 200))
    V = fitted.sample(4000, 0)
    plain = V.X[:, 0].std()
    weighed = np.sqrt(np.average(V.X[:, 0] ** 2, weights=V.sample_weight))
    assert abs(weighed - 1.0) < abs(plain - 1.0)
    assert fitted.n_fits_ == 6


def test_sparse_rows_are_weighed_without_a_dense_copy():
    """The judges learn from the sparse matrix itself."""
    X = sparse.random(60, 5000, density=0.01, format="csr", random_state=0)
    V = Weighted(LabelInvariantMixup(), random_state=0).fit(X, np.tile([0, 1], 30)).sample(20, 0)
    assert sparse.issparse(V.X)
    assert (V.sample_weight > 0).all()


def test_classes_too_small_to_judge_keep_weight_one(rng):
    """Five rows on either side are needed."""
    y = np.append(np.zeros(37, dtype=int), np.ones(3, dtype=int))
    V = Weighted(LabelInvariantMixup(), random_state=0).fit(rng.normal(size=(40, 2)), y)
    V = V.sample(80, 0)
    assert (V.sample_weight[V.y == 1] == 1).all()


def test_a_portfolio_has_soft_labels_if_a_member_has(rng):
    """Hard ones become certain ones; origins are filled up."""
    X, y = rng.normal(size=(60, 2)), np.tile(["a", "b"], 30)
    teachers = TeacherLabeled(LabelInvariantMixup(), [LogisticRegression()])
    V = Portfolio([teachers, CopulaAugmenter()], random_state=0).fit(X, y).sample(20, 0)
    copula = V.members == 1
    assert set(np.unique(V.posterior[copula])) == {0.0, 1.0}
    assert (V.origins[copula] == -1).all()
    assert (V.origins[~copula] >= 0).all()


def test_a_portfolio_of_fewer_rows_than_members_draws_what_it_can(rng):
    """Some members draw nothing then."""
    X, y = rng.normal(size=(20, 2)), np.tile([0, 1], 10)
    assert len(Portfolio([LabelInvariantMixup(), CopulaAugmenter()]).fit(X, y).sample(1, 0)) == 1


def test_a_chain_keeps_origins_only_where_every_link_has_them(rng):
    """A copula forgets where its rows came from."""
    X, y = rng.normal(size=(30, 2)), np.tile([0, 1], 15)
    V = Chain([LabelInvariantMixup(), CopulaAugmenter()]).fit(X, y).sample(10, 0)
    assert V.origins is None


def test_ones_own_validation_set_is_scored_once_whole(two_classes):
    """Whatever the number of replicates."""
    X, y = two_classes
    given = GivenValidationSet(X[:50], y[:50])
    search = GridSearchLZO(LogisticRegression(), {"C": [0.1, 1]}, augmenter=given).fit(X, y)
    assert "split1_test_score" not in search.cv_results_
    assert search.best_score_ == search.best_estimator_.score(X[:50], y[:50])


class Seeded:
    """An over-sampler with scikit-learn's parameters."""

    def __init__(self, sampling_strategy="auto", random_state=None):
        self.sampling_strategy = sampling_strategy
        self.random_state = random_state

    def get_params(self, deep=True):
        return {"sampling_strategy": self.sampling_strategy, "random_state": self.random_state}

    def set_params(self, **params):
        vars(self).update(params)
        return self

    def fit_resample(self, X, y):
        rng = np.random.default_rng(self.random_state)
        rows = [
            rng.choice(np.flatnonzero(y == label), total - np.count_nonzero(y == label))
            for label, total in self.sampling_strategy.items()
        ]
        rows = np.concatenate(rows)
        return np.vstack([X, X[rows]]), np.append(y, y[rows])


def test_an_over_sampler_is_asked_to_enlarge_every_class(rng):
    """By as many rows as are wanted, with a seed of its own."""
    X, y = rng.normal(size=(40, 2)), np.repeat(["a", "b"], [30, 10])
    augmenter = ResamplerAugmenter(Seeded()).fit(X, y)
    V = augmenter.sample(400, 0)
    assert np.count_nonzero(V.y == "b") == 100
    assert not np.array_equal(V.X, augmenter.sample(400, 1).X)
