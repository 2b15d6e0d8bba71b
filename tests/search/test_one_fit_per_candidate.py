"""The paper's Algorithm 1: one fit per candidate, one validation set, reproducible results."""

from typing import ClassVar

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_classification
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import GridSearchLZO, LabelInvariantMixup, leave_zero_out_score

MIXUP = {"augmenter": LabelInvariantMixup()}


@pytest.fixture
def counting_tree():
    """Return a class of trees that keeps every fitted object."""

    class CountingTree(DecisionTreeClassifier):
        fitted: ClassVar = []

        def fit(self, X, y):
            self.fitted.append(self)
            return super().fit(X, y)

    return CountingTree


def same_results(first, second):
    """Return whether two tables are equal to the last bit, times excepted."""
    assert first.keys() == second.keys()
    return all(
        str(list(first[name])) == str(list(second[name]))
        for name in first
        if not name.endswith("_time")
    )


def test_every_candidate_is_fitted_once_and_the_best_is_one_of_them(counting_tree, iris):
    grid = {"max_depth": [1, 2, 3, 4]}
    search = GridSearchLZO(counting_tree(), grid, cv_finalists=0, random_state=0).fit(*iris)
    assert len(counting_tree.fitted) == search.n_fits_ == 4
    assert search.fit_counts_ == {"candidate": 4, "auxiliary": 0, "cv": 0, "refit": 0}
    assert any(search.best_estimator_ is tree for tree in counting_tree.fitted)


def test_auto_cross_validates_a_few_candidates_in_addition(counting_tree, iris):
    """Of model types without LOO scores; the best estimator is the one fitted to all rows."""
    grid = {"max_depth": [1, 2, 3, 4]}
    search = GridSearchLZO(counting_tree(), grid, random_state=0).fit(*iris)
    n_candidates = np.isfinite(search.cv_results_["mean_cv_score"]).sum()
    assert search.fit_counts_ == {
        "candidate": 4, "auxiliary": 0, "cv": 3 * n_candidates, "refit": 0
    }  # fmt: skip
    assert n_candidates == 4  # all, on so few folds that there are at most fifteen fits
    assert len(counting_tree.fitted) == search.n_fits_ == 16
    assert any(search.best_estimator_ is tree for tree in counting_tree.fitted[:4])


def test_equal_candidates_are_fitted_once(counting_tree, iris):
    grid = [{"max_depth": [1, 2]}, {"max_depth": [2, 3]}]
    search = GridSearchLZO(counting_tree(), grid, cv_finalists=0, **MIXUP).fit(*iris)
    assert [params["max_depth"] for params in search.cv_results_["params"]] == [1, 2, 3]
    assert len(counting_tree.fitted) == 3


def test_best_model_that_is_only_predictive_is_fitted_again(iris):
    """One histogram boosting fit serves all sizes; a best one of a smaller size is refitted."""
    model = HistGradientBoostingClassifier(max_leaf_nodes=3, early_stopping=False)
    search = GridSearchLZO(model, {"max_iter": [2, 40]}, cv_finalists=0, **MIXUP)
    search.set_params(refit=lambda results: 0).fit(*iris)
    assert [task.candidates for task in search.tasks_] == [(0, 1)]
    assert search.fit_counts_["refit"] == 1
    assert search.best_estimator_.n_iter_ == 2
    assert search.refit_time_ > 0


def test_scores_are_the_accuracy_on_each_replicate(iris):
    """Within a replicate, all augmenters of the default count the same."""
    search = GridSearchLZO(
        SVC(), {"C": [0.01, 1, 100]}, n_replicates=4, validation_size=60, loo=False, random_state=0
    ).fit(*iris)
    rows, table = search.validation_set_, search.cv_results_
    assert len(rows) == 240
    for r in range(4):
        parts = [slice(start, start + 20) for start in range(60 * r, 60 * r + 60, 20)]
        expected = np.mean([accuracy_score(rows.y[p], search.predict(rows.X[p])) for p in parts])
        assert table[f"split{r}_test_score"][search.best_index_] == pytest.approx(expected)
    splits = np.array([table[f"split{r}_test_score"] for r in range(4)])
    np.testing.assert_allclose(table["mean_test_score"], splits.mean(axis=0), rtol=1e-15)
    assert search.best_score_ == pytest.approx(table["mean_test_score"].max())
    assert table["rank_test_score"][search.best_index_] == 1


def test_results_do_not_depend_on_n_jobs_or_the_order_of_the_grid():
    """Every column but the times, also with random_state=None inside the estimator."""
    data = make_classification(300, 60, random_state=0)
    boosting = HistGradientBoostingClassifier(max_iter=5, early_stopping=True)
    for model, grid, params in [
        (RandomForestClassifier(8), {"max_depth": [1, 3, None]}, {}),
        (SVC(), {"C": [0.1, 1, 10], "gamma": [0.01, 1.0]}, {}),
        (LogisticRegression(), {"C": [0.01, 1.0]}, {"scoring": "neg_log_loss", **MIXUP}),
        (LinearDiscriminantAnalysis(), {"solver": ["svd", "lsqr"]}, MIXUP),
        (boosting, {"learning_rate": [0.1, 0.3]}, MIXUP),
    ]:
        params = {"n_replicates": 3, "random_state": 7} | params
        reverse = {name: values[::-1] for name, values in reversed(grid.items())}
        with parallel_config(backend="threading"):  # other backends: test_determinism.py
            first, second, third = (
                GridSearchLZO(model, g, n_jobs=n_jobs, **params).fit(*data)
                for g, n_jobs in ((grid, 1), (grid, 2), (reverse, 1))
            )
        assert same_results(first.cv_results_, second.cv_results_)
        assert first.best_params_ == second.best_params_ == third.best_params_
        np.testing.assert_array_equal(first.predict(data[0]), second.predict(data[0]))
        scores = [
            dict(zip(map(params_key, t["params"]), t["mean_test_score"], strict=True))
            for t in (first.cv_results_, third.cv_results_)
        ]
        assert scores[0] == scores[1]


def params_key(params):
    return str(sorted(params.items()))


def test_seed_determines_the_validation_set_and_the_candidates(two_classes):
    first, again, other = (
        GridSearchLZO(RandomForestClassifier(4), {"max_depth": [2, 4]}, random_state=seed)
        .fit(*two_classes)
        .cv_results_
        for seed in (0, 0, 1)
    )
    assert same_results(first, again)
    assert not same_results(first, other)


def test_same_call_without_a_seed_gives_the_same_result(two_classes):
    """The seed is derived from the data."""
    X, y = two_classes
    search = GridSearchLZO(RandomForestClassifier(4), {"max_depth": [2, 4]}, **MIXUP)
    first, again = (search.fit(X, y).cv_results_ for _ in range(2))
    assert same_results(first, again)
    assert not same_results(first, search.fit(X, 1 - y).cv_results_)


def test_candidates_without_a_seed_have_the_same_one(two_classes):
    grid = {"min_samples_leaf": [1, 1.0 / 200]}  # of 200 rows: the same
    search = GridSearchLZO(RandomForestClassifier(4), grid, **MIXUP).fit(*two_classes)
    scores = search.cv_results_["mean_test_score"]
    assert scores[0] == scores[1]


def test_first_replicates_do_not_depend_on_their_number(iris):
    few, many = (
        GridSearchLZO(SVC(), {"C": [1]}, n_replicates=n, random_state=0).fit(*iris) for n in (2, 5)
    )
    np.testing.assert_array_equal(many.validation_set_.X[:300], few.validation_set_.X)


def test_ties_do_not_depend_on_the_order_of_the_grid(iris):
    best = {
        GridSearchLZO(DecisionTreeClassifier(), {"max_depth": order}, random_state=0, **MIXUP)
        .fit(*iris)
        .best_params_["max_depth"]
        for order in ([50, 60, 70], [70, 60, 50], [60, 70, 50])
    }
    assert best == {50}


def test_memorizing_model_on_noise():
    """Mixup alone scores 1-NN far above chance; LOO scores correct that."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(200, 10)), rng.integers(2, size=200)
    mixup = LabelInvariantMixup()

    def score(**params):
        return leave_zero_out_score(KNeighborsClassifier(1), X, y, random_state=0, **params).mean()

    assert score(augmenter=mixup, loo=False) > 0.8
    assert score(augmenter=mixup) == pytest.approx(0.5, abs=0.1)
