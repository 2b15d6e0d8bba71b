"""Selection: select, selection_, and cross-validation of the finalists."""

import re

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import (
    FixedValidationSet,
    GridSearchLZO,
    LabelInvariantMixup,
    OneStandardError,
    RandomizedSearchLZO,
)

X, y = make_classification(120, 5, flip_y=0.2, random_state=0)
GRID = {"C": [0.01, 0.1, 1, 10]}
SCORES = ("test", "validation")


def search_of(estimator=None, grid=GRID, **params):
    params = {"n_replicates": 4, "random_state": 0, "loo": False} | params
    params = {"augmenter": LabelInvariantMixup()} | params
    return GridSearchLZO(estimator or SVC(), grid, **params)


# Rules


def test_selection_matches_the_table():
    search = search_of().fit(X, y)
    selection, scores = search.selection_, search.cv_results_["mean_test_score"]
    first, second = np.sort(scores)[::-1][:2]
    assert selection.margin == pytest.approx(first - second)
    assert selection.margin_low <= selection.margin <= selection.margin_high
    assert selection.tied[0] == selection.index == search.best_index_
    assert selection.bias_corrected_score <= first
    assert np.all(search.cv_results_["low_test_score"] <= scores)
    assert np.all(search.cv_results_["high_test_score"] >= scores)


@pytest.mark.parametrize(
    ("augmenter", "units"),
    [
        (LabelInvariantMixup(), "training rows"),
        ("auto", "generated rows"),
        (FixedValidationSet(X[::2], y[::2]), "validation rows"),
    ],
)
def test_resampled_units(augmenter, units):
    search = search_of(augmenter=augmenter).fit(X, y)
    assert search.selection_.resampled_units == units


@pytest.mark.parametrize("order", [[1, 10, 100], [100, 10, 1]])
def test_ties_are_counted_and_go_to_the_smaller_value(order):
    grid = {"strategy": ["prior"], "random_state": order}
    search = search_of(DummyClassifier(), grid).fit(X, y)
    assert search.selection_.n_tied == 3
    assert search.best_params_["random_state"] == 1


def test_one_standard_error_selects_the_simplest():
    best, simple = search_of().fit(X, y), search_of(select="one_se").fit(X, y)
    assert simple.best_params_["C"] <= best.best_params_["C"]
    assert best.best_score_ - simple.best_score_ <= simple.selection_.standard_error
    assert simple.best_params_["C"] == simple.best_estimator_.C
    assert simple.n_fits_ == 4
    other = search_of(select=OneStandardError(simpler={"C": "high"})).fit(X, y)
    assert other.best_params_["C"] >= best.best_params_["C"]
    by_callable = search_of(select=OneStandardError(lambda params: params["C"])).fit(X, y)
    assert by_callable.best_params_ == simple.best_params_


def test_one_standard_error_requires_a_known_direction():
    with pytest.raises(ValueError, match=r'select="one_se" requires a parameter .*, got strategy'):
        search_of(DummyClassifier(), {"strategy": ["prior"]}, select="one_se").fit(X, y)


def test_vote_selects_the_best_of_most_replicates():
    search = search_of(select="vote", n_replicates=9).fit(X, y)
    splits = np.array([search.cv_results_[f"split{r}_test_score"] for r in range(9)])
    best = splits >= splits.max(axis=1, keepdims=True) - 1e-12
    assert search.selection_.rule == "Vote"
    assert best[:, search.best_index_].sum() == best.sum(axis=0).max()


def test_rules_in_randomized_search():
    search = RandomizedSearchLZO(
        SVC(), GRID, n_iter=3, select="one_se", cv_finalists=2, random_state=0
    ).fit(X, y)
    assert search.fit_counts_["candidate"] == 3
    assert search.selection_.rule == "OneStandardError"


# cv_finalists


def test_finalists_are_cross_validated():
    """The best by the validation score; their fold scores are those of cross_val_score."""
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    search = search_of(cv_finalists=2, cv=folds).fit(X, y)
    table = search.cv_results_
    finalists = np.flatnonzero(np.isfinite(table["mean_cv_score"]))
    assert set(finalists) == set(np.argsort(-table["mean_validation_score"], kind="stable")[:2])
    assert search.fit_counts_ == {"candidate": 4, "auxiliary": 0, "cv": 6, "refit": 0}
    for row in finalists:
        expected = cross_val_score(SVC(**table["params"][row]), X, y, cv=folds).mean()
        assert table["mean_cv_score"][row] == pytest.approx(expected)
    plain = search_of().fit(X, y).cv_results_
    assert "mean_cv_score" not in plain
    np.testing.assert_array_equal(table["mean_validation_score"], plain["mean_test_score"])


def test_all_candidates_are_cross_validated():
    """Their scores are then nearer to the fold scores than the validation scores are."""
    search = search_of(cv_finalists="all", cv=10).fit(X, y)
    table = search.cv_results_
    assert search.fit_counts_["cv"] == 40
    errors = [np.abs(table[f"mean_{n}_score"] - table["mean_cv_score"]).mean() for n in SCORES]
    assert errors[0] < errors[1] / 1.5


def test_a_single_candidate_is_cross_validated_on_request():
    assert search_of(grid={"C": [1]}, cv_finalists=5).fit(X, y).fit_counts_["cv"] == 5
    assert search_of(grid={"C": [1]}, cv_finalists="auto").fit(X, y).fit_counts_["cv"] == 0


def test_finalists_with_leave_one_out_scores_only():
    """The score of a finalist is the mean of its LOO score and its fold score."""
    search = search_of(loo="only", cv_finalists=2).fit(X, y)
    table = search.cv_results_
    known = np.isfinite(table["mean_cv_score"])
    assert known.sum() == 2
    mean = (table["mean_loo_score"] + table["mean_cv_score"])[known] / 2
    np.testing.assert_allclose(table["mean_test_score"][known], mean)


def test_selection_uses_the_scores_of_finalists():
    """Intervals and margin refer to the new scores; no check recommends folds again."""
    search = search_of(cv_finalists=4, cv=5).fit(X, y)
    table, selection = search.cv_results_, search.selection_
    scores = table["mean_test_score"]
    assert np.all(table["low_test_score"] <= scores)
    assert np.all(scores <= table["high_test_score"])
    first, second = np.sort(scores)[::-1][:2]
    assert selection.margin == pytest.approx(first - second)
    assert selection.bias_corrected_score <= first
    assert not any("cv_finalists" in str(check.advice) for check in search.diagnose())


def test_folds_correct_a_biased_validation_set():
    """A deep tree looks best on mixup rows."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 6))
    y = (X[:, 0] + 1.5 * rng.normal(size=150) > 0).astype(int)
    tree, grid = DecisionTreeClassifier(random_state=0), {"max_depth": [1, None]}
    assert search_of(tree, grid, validation_size=30).fit(X, y).best_params_ == {"max_depth": None}
    search = search_of(tree, grid, validation_size=30, cv_finalists=5, cv=10).fit(X, y)
    scores = search.cv_results_["mean_cv_score"]
    assert np.isnan(scores[0]) or scores[0] > scores[1]


@pytest.mark.parametrize("kind", ["splitter", "generator", "list"])
def test_forms_of_cv(kind):
    folds = KFold(3, shuffle=True, random_state=0)
    cv = {"splitter": folds, "generator": folds.split(X, y), "list": list(folds.split(X, y))}
    search = search_of(cv_finalists=2, cv=cv[kind]).fit(X, y)
    expected = cross_val_score(SVC(**search.best_params_), X, y, cv=folds).mean()
    assert search.cv_results_["mean_cv_score"][search.best_index_] == pytest.approx(expected)


def test_splitter_without_a_seed_gets_that_of_the_search():
    folds = StratifiedKFold(3, shuffle=True)
    scores = [
        search_of(cv_finalists=4, cv=folds).fit(X, y).cv_results_["mean_cv_score"] for _ in range(2)
    ]
    np.testing.assert_array_equal(*scores)
    assert folds.random_state is None


def test_finalists_with_groups_and_weights():
    groups = np.arange(len(y)) % 6
    assert search_of(cv_finalists=4, cv=3).fit(X, y, groups=groups).fit_counts_["cv"] % 3 == 0
    weight = np.random.default_rng(0).uniform(0.5, 2, len(y))
    weighted = search_of(cv_finalists=4, cv=3).fit(X, y, sample_weight=weight)
    plain = search_of(cv_finalists=4, cv=3).fit(X, y)
    scores = [search.cv_results_["mean_cv_score"] for search in (weighted, plain)]
    assert not np.allclose(*scores, equal_nan=True)


@pytest.mark.parametrize("options", [{"cv_finalists": 2, "cv": 3}, {"loo": "auto"}])
def test_interrupt_of_cross_validation_keeps_the_selection_without_it(options):
    class Interrupted(DecisionTreeClassifier):
        def fit(self, X, labels):
            if len(labels) < len(y):
                raise KeyboardInterrupt
            return super().fit(X, labels)

    grid = {"max_depth": [1, 2, 3, 4]}
    search = search_of(Interrupted(), grid, **options)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    plain = search_of(DecisionTreeClassifier(), grid).fit(X, y)
    assert search.best_params_ == plain.best_params_
    assert search.fit_counts_ == {"candidate": 4, "auxiliary": 0, "cv": 0, "refit": 0}
    np.testing.assert_array_equal(search.predict(X), plain.predict(X))


@pytest.mark.parametrize("cv_finalists", [None, -1, 2.5, "some", True])
def test_invalid_cv_finalists_raises(cv_finalists):
    message = 'cv_finalists of GridSearchLZO must be "auto", "all" or an int of at least 0'
    with pytest.raises(ValueError, match=message):
        search_of(cv_finalists=cv_finalists).fit(X, y)


def test_finalists_and_a_callable_refit():
    """The callable reads the fold scores."""
    search = search_of(cv_finalists="all", refit=lambda table: int(table["mean_cv_score"].argmin()))
    scores = search.fit(X, y).cv_results_["mean_cv_score"]
    assert scores[search.best_index_] == scores.min()


def exhausted():
    folds = KFold(3).split(X)
    list(folds)
    return folds


@pytest.mark.parametrize(
    ("cv", "reason"),
    [
        (GroupKFold(3), "The 'groups' parameter should not be None"),
        (1, "n_splits=2 or more, got n_splits=1"),
        (0, "n_splits=2 or more, got n_splits=0"),
        ("abc", "as an integer"),
        ([3, 4], "cannot unpack"),
        (exhausted(), ""),
    ],
)
@pytest.mark.parametrize("cv_finalists", [2, "auto"])
def test_invalid_cv_raises_before_the_first_fit(cv_finalists, cv, reason):
    class Unfitted(SVC):
        def fit(self, X, y):
            raise AssertionError

    search = search_of(Unfitted(), loo="auto", cv_finalists=cv_finalists, cv=cv)
    search.set_params(error_score="raise")
    with pytest.raises(ValueError, match=rf"cv of GridSearchLZO must .*{re.escape(reason)}"):
        search.fit(X, y)


def test_more_folds_than_rows():
    """They raise if folds were requested; else there are none."""
    search = search_of(DecisionTreeClassifier(), {"max_depth": [1, 2]}, loo="auto", cv=100)
    assert search.fit(X, y).fit_counts_["cv"] == 0
    with pytest.raises(ValueError, match=r"n_splits=100 cannot be greater"):
        search.set_params(cv_finalists=2).fit(X, y)


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
@pytest.mark.parametrize("scoring", ["accuracy", "balanced_accuracy", "roc_auc_ovr"])
def test_folds_without_a_class_cause_no_warning(scoring):
    """Nor an error; a metric that requires all classes has no fold scores."""
    labels = np.where(np.arange(len(y)) < 3, 2, y)
    grid = {"max_depth": [1, 2, 3]}
    search = GridSearchLZO(
        DecisionTreeClassifier(),
        grid,
        augmenter=LabelInvariantMixup(),
        scoring=scoring,
        error_score="raise",
        random_state=0,
    ).fit(X, labels)
    assert search.fit_counts_["cv"] == 15
    assert ("mean_cv_score" in search.cv_results_) == (scoring != "roc_auc_ovr")


def test_fold_that_fails():
    """The candidate then has no fold score; if folds were requested, errors can be raised."""

    class Whole(DecisionTreeClassifier):
        def fit(self, X, labels):
            if len(labels) < len(y) and self.max_depth == 2:
                raise ValueError("too few rows")
            return super().fit(X, labels)

    search = search_of(Whole(), {"max_depth": [1, 2, 3]}, loo="auto", error_score="raise")
    scores = search.fit(X, y).cv_results_["mean_cv_score"]
    assert np.isfinite(scores).tolist() == [True, False, True]
    with pytest.raises(ValueError, match="too few rows"):
        search.set_params(cv_finalists="all").fit(X, y)
