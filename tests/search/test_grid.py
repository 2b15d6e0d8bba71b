"""GridSearchLZO is the paper's Algorithm 1 with scikit-learn's face."""

import pickle
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO, LabelInvariantMixup, leave_zero_out_score
from leavezero.augment import BiasCorrected


@pytest.fixture
def counting_tree():
    """Return a class of trees that remembers every object that was fitted."""

    class CountingTree(DecisionTreeClassifier):
        fitted: ClassVar = []

        def fit(self, X, y):
            self.fitted.append(self)
            return super().fit(X, y)

    return CountingTree


def same_results(first, second):
    """Tell whether two result tables agree to the bit, times excepted."""
    assert first.keys() == second.keys()
    return all(
        str(list(first[name])) == str(list(second[name]))  # every digit, and NaN like NaN
        for name in first
        if not name.endswith("_time")
    )


def test_every_candidate_is_fitted_once_and_the_winner_is_one_of_them(counting_tree, iris):
    """C fits, no refit, and the very object that was fitted is handed back."""
    search = GridSearchLZO(counting_tree(), {"max_depth": [1, 2, 3, 4]}, random_state=0)
    search.fit(*iris)
    assert len(counting_tree.fitted) == search.n_fits_ == 4
    assert any(search.best_estimator_ is tree for tree in counting_tree.fitted)


def test_the_winner_predicts_the_same_after_pickling(iris):
    """Nothing is lost on the way to a disk."""
    search = GridSearchLZO(SVC(), {"C": [0.1, 10]}, random_state=0).fit(*iris)
    copy = pickle.loads(pickle.dumps(search))
    assert np.array_equal(copy.predict(iris[0]), search.predict(iris[0]))


def test_scores_are_the_accuracy_on_each_replicate_of_v(iris):
    """mean_test_score is the mean over replicates, and the winner has the highest."""
    search = GridSearchLZO(
        SVC(),
        {"C": [0.01, 1, 100]},
        n_replicates=4,
        validation_size=60,
        unseen="off",
        random_state=0,
    ).fit(*iris)
    V = search.validation_set_
    assert len(V) == 240
    for r in range(4):
        halves = [slice(at, at + 30) for at in (60 * r, 60 * r + 30)]  # one of each augmenter
        each = [accuracy_score(V.y[rows], search.predict(V.X[rows])) for rows in halves]
        expected = np.mean(each)
        assert search.cv_results_[f"split{r}_test_score"][search.best_index_] == expected
    means = search.cv_results_["mean_test_score"]
    splits = np.array([search.cv_results_[f"split{r}_test_score"] for r in range(4)])
    np.testing.assert_allclose(means, splits.mean(axis=0), rtol=1e-15)
    np.testing.assert_allclose(search.cv_results_["std_test_score"], splits.std(axis=0))
    assert search.best_score_ == means.max()
    assert search.cv_results_["rank_test_score"][search.best_index_] == 1


@pytest.mark.parametrize(
    ("estimator", "grid"),
    [
        (RandomForestClassifier(n_estimators=8), {"max_depth": [1, 3, None]}),
        (SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 1.0]}),
        (LinearDiscriminantAnalysis(), {"solver": ["svd", "lsqr"]}),
        (
            HistGradientBoostingClassifier(max_iter=5, early_stopping=True),
            {"learning_rate": [0.1, 0.3]},
        ),
    ],
)
def test_results_do_not_depend_on_the_number_of_workers(estimator, grid, rng):
    """Every column but the times is equal to the bit, also with random_state=None inside."""
    X = rng.normal(size=(300, 60))
    y = (X[:, :5].sum(axis=1) + rng.normal(size=300) > 0).astype(int)
    one, two = (
        GridSearchLZO(estimator, grid, n_jobs=n_jobs, n_replicates=3, random_state=7).fit(X, y)
        for n_jobs in (1, 2)
    )
    assert same_results(one.cv_results_, two.cv_results_)
    assert one.best_params_ == two.best_params_
    assert np.array_equal(one.predict(X), two.predict(X))


def test_the_same_seed_gives_the_same_results_and_another_one_others(two_classes):
    """Seeds reach V and the candidates."""
    first, again, other = (
        GridSearchLZO(
            RandomForestClassifier(n_estimators=4), {"max_depth": [2, 4]}, random_state=seed
        )
        .fit(*two_classes)
        .cv_results_
        for seed in (0, 0, 1)
    )
    assert same_results(first, again)
    assert not same_results(first, other)


def test_candidates_without_a_seed_share_one(two_classes):
    """A difference between candidates is never luck of the seed."""
    search = GridSearchLZO(
        RandomForestClassifier(n_estimators=4), {"min_samples_leaf": [1, 1.0 / 200]}
    ).fit(*two_classes)
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] == scores[1]  # a leaf of 1 row and of a 200th of 200 rows is the same


def test_more_replicates_leave_the_first_ones_as_they_were(iris):
    """Each replicate has its own stream."""
    few, many = (
        GridSearchLZO(SVC(), {"C": [1]}, n_replicates=n, random_state=0).fit(*iris) for n in (2, 5)
    )
    assert np.array_equal(many.validation_set_.X[:300], few.validation_set_.X)


def test_equal_candidates_are_fitted_once(counting_tree, iris):
    """Overlapping grids do not cost twice."""
    grid = [{"max_depth": [1, 2]}, {"max_depth": [2, 3]}]
    search = GridSearchLZO(counting_tree(), grid, random_state=0).fit(*iris)
    assert [row["max_depth"] for row in search.cv_results_["params"]] == [1, 2, 3]
    assert len(counting_tree.fitted) == 3


def test_ties_do_not_depend_on_the_order_of_the_grid(iris):
    """The first in canonical order wins."""
    chosen = {
        GridSearchLZO(DecisionTreeClassifier(), {"max_depth": order}, random_state=0)
        .fit(*iris)
        .best_params_["max_depth"]
        for order in ([50, 60, 70], [70, 60, 50], [60, 70, 50])
    }
    assert chosen == {50}


def test_the_result_table_has_scikit_learns_columns(iris):
    """Whoever reads GridSearchCV's table can read ours."""
    grid = [{"kernel": ["rbf"], "C": [1, 2]}, {"kernel": ["linear"]}]
    ours = GridSearchLZO(SVC(), grid, n_replicates=3, random_state=0).fit(*iris).cv_results_
    theirs = GridSearchCV(SVC(), grid, cv=3).fit(*iris).cv_results_
    own = ["mean_augmented_score", "mean_unseen_score", "unseen_kind", "unseen_note"]
    assert list(ours) == [*theirs, *own, "low_test_score", "high_test_score"]
    assert all(len(column) == 3 for column in ours.values())
    assert ours["param_C"].mask.tolist() == theirs["param_C"].mask.tolist()
    assert ours["param_C"].dtype == theirs["param_C"].dtype
    assert ours["params"] == theirs["params"]


def test_an_estimator_with_a_score_of_its_own_is_judged_by_it(iris):
    """Only scikit-learn's default accuracy is replaced by a faster way to the same number."""

    class Modest(KNeighborsClassifier):
        def score(self, X, y, sample_weight=None):
            return super().score(X, y) / 2

    search = GridSearchLZO(Modest(), {"n_neighbors": [1, 3]}, random_state=0).fit(*iris)
    assert search.best_score_ <= 0.5
    mixup = LabelInvariantMixup()
    given = {"augmenter": mixup, "unseen": "off", "random_state": 0}
    plain = leave_zero_out_score(KNeighborsClassifier(1), *iris, **given)
    own = leave_zero_out_score(Modest(1), *iris, **given)
    np.testing.assert_allclose(own, plain / 2)


def test_a_frame_reaches_the_candidates_as_a_frame(iris):
    """V has the names that the candidates were fitted with, so that nothing warns."""
    X = pd.DataFrame(iris[0], columns=list("abcd"))
    pipeline = make_pipeline(StandardScaler().set_output(transform="pandas"), SVC())
    search = GridSearchLZO(pipeline, {"svc__C": [0.1, 1]}, random_state=0).fit(X, iris[1])
    assert list(search.validation_set_.X.columns) == list("abcd")
    assert list(search.feature_names_in_) == list("abcd")
    assert search.score(X, iris[1]) > 0.9


def test_missing_cells_are_kept_for_estimators_that_take_them(two_classes):
    """A candidate that can handle gaps is judged on rows with gaps."""
    X, y = two_classes
    X = np.where(np.random.default_rng(0).random(X.shape) < 0.2, np.nan, X)
    search = GridSearchLZO(
        HistGradientBoostingClassifier(max_iter=5), {"max_depth": [2, 3]}, random_state=0
    ).fit(X, y)
    assert np.isnan(search.validation_set_.X).mean() == pytest.approx(0.2, abs=0.03)


def test_methods_are_those_of_the_winner(iris):
    """SVC has no predict_proba here, logistic regression has."""
    svc = GridSearchLZO(SVC(), {"C": [1]}, random_state=0).fit(*iris)
    logistic = GridSearchLZO(LogisticRegression(max_iter=500), {"C": [1]}, random_state=0)
    assert not hasattr(svc, "transform")
    assert svc.decision_function(iris[0]).shape == (150, 3)
    logistic.fit(*iris)
    assert logistic.predict_proba(iris[0]).shape == (150, 3)
    assert logistic.predict_log_proba(iris[0]).shape == (150, 3)
    lda = GridSearchLZO(LinearDiscriminantAnalysis(), {"tol": [1e-4]}, random_state=0).fit(*iris)
    assert lda.transform(iris[0]).shape == (150, 2)


def test_score_samples_and_inverse_transform_pass_through(iris):
    """They exist exactly when the winner has them."""

    class Both(BaseEstimator, ClassifierMixin):
        def fit(self, X, y):
            self.classes_ = np.unique(y)
            return self

        def predict(self, X):
            return np.full(len(X), self.classes_[0])

        def score_samples(self, X):
            return np.zeros(len(X))

        def inverse_transform(self, X):
            return X + 1

    search = GridSearchLZO(Both(), {}, random_state=0).fit(*iris)
    assert search.score_samples(iris[0]).sum() == 0
    assert search.inverse_transform(np.zeros(2)).tolist() == [1, 1]


def test_a_search_is_cloned_unfitted_and_known_as_a_search(iris):
    """Tools of scikit-learn's world ask these questions."""
    search = GridSearchLZO(SVC(), {"C": [1]}, augmenter=LabelInvariantMixup(2.0)).fit(*iris)
    copy = clone(search)
    assert not hasattr(copy, "best_estimator_")
    assert not hasattr(copy, "n_features_in_")
    assert copy.augmenter.alpha == 2.0
    assert isinstance(search, GridSearchCV.__base__)
    assert search.classes_.tolist() == [0, 1, 2]
    assert search.augmenter_.alpha == 2.0


def test_leave_zero_out_score_is_the_search_over_one_candidate(iris):
    """One score for each replicate."""
    scores = leave_zero_out_score(SVC(), *iris, n_replicates=3, random_state=0)
    search = GridSearchLZO(SVC(), {"C": [1.0]}, n_replicates=3, random_state=0).fit(*iris)
    assert scores.tolist() == [search.cv_results_[f"split{r}_test_score"][0] for r in range(3)]


def test_a_memorising_model_looks_perfect_on_the_papers_v():
    """The known failure of the paper's mix-up: 1-NN on pure noise scores far above chance."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 10)), rng.integers(2, size=200)
    memoriser, mixup = KNeighborsClassifier(1), LabelInvariantMixup()

    def score(**more):
        return leave_zero_out_score(memoriser, X, y, random_state=0, **more).mean()

    assert score(augmenter=mixup, unseen="off") > 0.8
    # References that memorise tell on it, and so do the rows that it has not seen.
    assert score(augmenter=BiasCorrected(mixup), unseen="off") == pytest.approx(0.5, abs=0.1)
    assert score(augmenter=mixup) == pytest.approx(0.5, abs=0.1)
