"""Folds, and which candidates are cross-validated."""

from dataclasses import replace

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier

from leavezero import (
    CandidateSearchLZO,
    FixedValidationSet,
    GaussianMixtureAugmenter,
    GridSearchLZO,
    HalvingGridSearchLZO,
    LabelInvariantMixup,
)
from leavezero.evaluation import (
    SINGLE,
    FoldPlan,
    _fold_scores,
    cross_validate_some,
    make_folds,
)
from leavezero.evaluation._bias_correction import correct_scores, distances
from leavezero.evaluation._fit_and_score import LOOScores
from leavezero.evaluation._fold_scores import enough_folds

FAST = {"augmenter": LabelInvariantMixup(), "n_replicates": 2, "random_state": 0}
DEPTHS = [{"max_depth": depth} for depth in (1, 2, 3, 4, 5, None)]


def folds_of(y, n_folds=5):
    return make_folds(n_folds, y, None, None, is_classification=True, seed=0, owner="test")


def cross_validated(table):
    """Return the rows that have a fold score."""
    if "mean_cv_score" not in table:
        return []
    return np.flatnonzero(np.isfinite(table["mean_cv_score"])).tolist()


# Folds


@pytest.mark.parametrize("groups", [None, np.arange(30) // 3])
@pytest.mark.parametrize("is_classification", [True, False])
def test_folds(groups, is_classification):
    y = np.repeat([0, 1], 15) if is_classification else np.linspace(0, 1, 30)
    options = {"is_classification": is_classification, "seed": 0, "owner": "test"}
    folds = make_folds(3, y, groups, None, **options)
    assert sorted(np.concatenate([test for _, test in folds])) == list(range(30))
    for train, test in folds:
        assert groups is None or not set(groups[train]) & set(groups[test])
        assert not is_classification or abs(y[test].mean() - 0.5) < 0.2
    again = make_folds(3, y, groups, None, **options)
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(folds, again, strict=True))


def test_unlabeled_rows_are_in_every_training_part():
    y, labeled = np.array([0, 1, -1, 0, 1, -1]), np.array([0, 1, 3, 4])
    folds = make_folds(5, y, None, labeled, is_classification=True, seed=0, owner="test")
    assert len(folds) == 2  # the smallest class has two labels
    for train, test in folds:
        assert {2, 5} <= set(train)
        assert not {2, 5} & set(test)


@pytest.mark.parametrize("cv", [1, 0, 100, "five", []])
def test_invalid_cv(cv):
    with pytest.raises(ValueError, match="cv of test must"):
        make_folds(cv, np.arange(6) % 2, None, None, is_classification=True, seed=0, owner="test")


def test_first_folds_with_enough_test_rows_are_used(monkeypatch):
    folds = list(KFold(5).split(np.zeros(100)))
    for least, n_folds in ((1, 1), (20, 1), (21, 2), (60, 3), (100, 5), (1000, 5)):
        monkeypatch.setattr(_fold_scores, "HELD_OUT_ROWS", least)
        assert enough_folds(folds, 25, 9) == folds[:n_folds]


@pytest.mark.parametrize(
    ("max_fits", "n_groups", "n_folds"),
    [
        (15, 2, 5),
        (15, 9, 3),
        (10, 10, 2),
        (15, 15, 3),
        (25, 25, 5),
        (12, 6, 2),
        (12, 4, 3),
        (12, 2, 5),
    ],
)
def test_folds_are_few_if_five_groups_would_need_too_many_fits(max_fits, n_groups, n_folds):
    folds = list(KFold(5).split(np.zeros(100)))
    assert enough_folds(folds, max_fits, n_groups) == folds[:n_folds]


@pytest.mark.parametrize(("cv", "n_folds"), [(5, 2), (KFold(5), 5), ("pairs", 5)])
def test_folds_of_a_splitter_are_all_used(two_classes, monkeypatch, cv, n_folds):
    """Of an int, only some if there are many rows."""
    monkeypatch.setattr(_fold_scores, "HELD_OUT_ROWS", 80)
    cv = list(KFold(5).split(two_classes[0])) if cv == "pairs" else cv
    grid = {"max_depth": [1, 2]}
    search = GridSearchLZO(DecisionTreeClassifier(), grid, cv=cv, **FAST).fit(*two_classes)
    assert search.fit_counts_["cv"] == 2 * n_folds
    search.set_params(cv_finalists=2).fit(*two_classes)
    assert search.fit_counts_["cv"] == 2 * 5


@pytest.mark.parametrize(("n_candidates", "n_fits"), [(4, 4), (8, 5), (14, 7)])
def test_half_of_the_candidates_have_folds_if_one_fold_is_enough(
    two_classes, monkeypatch, n_candidates, n_fits
):
    monkeypatch.setattr(_fold_scores, "HELD_OUT_ROWS", 20)
    grid = {"min_samples_leaf": range(1, n_candidates + 1)}
    search = GridSearchLZO(DecisionTreeClassifier(), grid, **FAST).fit(*two_classes)
    assert search.fit_counts_["cv"] == n_fits


def test_variance_of_r2_is_that_of_squared_errors(make_run, evaluate_all):
    """Not that of two or three scores of folds, which is hardly known."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = X[:, 0] + rng.normal(size=90)
    run = make_run(X, y, metric="r2", augmenter=GaussianMixtureAugmenter())
    results = evaluate_all(run, DecisionTreeRegressor(), [{"max_depth": 2}])[0].results
    folds = list(KFold(3).split(X))
    [result], _ = cross_validate_some(run, results, FoldPlan(folds, 1), n_jobs=1)
    variances = []
    for train, test in folds:
        model = DecisionTreeRegressor(max_depth=2, random_state=run.seed).fit(X[train], y[train])
        parts = (y[test] - model.predict(X[test])) ** 2 / np.var(y[test])
        variances.append(np.var(parts) / (len(test) - 1))
    assert result.cv[SINGLE].variance == pytest.approx(1.5 * np.mean(variances) / 3)


# Candidates


def test_first_are_the_best_and_the_most_different_one(make_run, evaluate_all, two_classes):
    X, y = two_classes
    run = make_run(X, y)
    results = evaluate_all(run, DecisionTreeClassifier(), DEPTHS)[0].results
    scores = [result.main_score for result in results]
    predictions = np.stack([result.scores[SINGLE].predictions for result in results], axis=1)
    best = int(np.argmax(scores))
    other = int(np.argmax(distances(predictions[:, [best]], predictions)[0]))
    found, n_fits = cross_validate_some(run, results, FoldPlan(folds_of(y, 7)), n_jobs=1)
    assert n_fits == 14  # of fifteen that a search of fewer than ten candidates may have
    assert [at for at, result in enumerate(found) if result.cv] == sorted({best, other})
    expected = correct_scores(run, found)
    assert [one.main_score for one in found] == [one.main_score for one in expected]


def test_further_ones_are_the_best_by_the_corrected_scores(make_run, evaluate_all, two_classes):
    X, y = two_classes
    run, model = make_run(X, y), DecisionTreeClassifier(random_state=0)
    results = evaluate_all(run, model, DEPTHS)[0].results
    first, _ = cross_validate_some(run, results, FoldPlan(folds_of(y, 7)), n_jobs=1)
    left = [at for at, result in enumerate(first) if not result.cv]
    third = max(left, key=lambda at: first[at].main_score)
    plan = FoldPlan(folds_of(y, 7)[:5])  # of which fifteen fits allow three candidates
    found, n_fits = cross_validate_some(run, results, plan, n_jobs=1)
    known = [at for at, result in enumerate(found) if result.cv]
    assert n_fits == 15
    assert set(known) > {at for at, result in enumerate(first) if result.cv}
    assert len(known) == 3
    assert third in known or found[third].main_score <= max(found[at].main_score for at in known)


@pytest.mark.parametrize(
    ("n_candidates", "n_cross_validated", "n_folds"),
    [(2, 2, 5), (4, 4, 3), (9, 5, 3), (10, 5, 2), (16, 5, 3), (40, 5, 5)],
)
def test_number_of_candidates(two_classes, n_candidates, n_cross_validated, n_folds):
    """With ten or more candidates, there are at most as many fits on folds; at most 25."""
    grid = {"min_samples_leaf": list(range(1, n_candidates + 1))}
    search = GridSearchLZO(DecisionTreeClassifier(), grid, **FAST).fit(*two_classes)
    assert len(cross_validated(search.cv_results_)) == n_cross_validated
    assert search.fit_counts_["cv"] == n_folds * n_cross_validated
    assert n_candidates < 10 or search.fit_counts_["cv"] <= n_candidates


def test_candidates_that_are_parts_of_one_model_share_the_fits_of_folds(two_classes):
    grid = {"n_estimators": [2, 5, 9], "max_depth": [1, 2, 3, 4]}
    model = GradientBoostingClassifier(random_state=0)
    folds = folds_of(two_classes[1], 3)
    search = GridSearchLZO(model, grid, cv=folds, **FAST).fit(*two_classes)
    assert search.fit_counts_["cv"] == 3 * 4  # of each depth, the largest is fitted
    plain = [
        cross_val_score(clone(model).set_params(**params), *two_classes, cv=folds).mean()
        for params in search.cv_results_["params"]
    ]
    np.testing.assert_allclose(search.cv_results_["mean_cv_score"], plain)


def test_two_candidates_of_each_type_without_loo_scores(two_classes):
    depths = {"max_depth": [1, 2, 3, 4]}
    candidates = {
        "tree": (DecisionTreeClassifier(), depths),
        "neighbors": (KNeighborsClassifier(), {"n_neighbors": [1, 5, 9]}),
        "extra tree": (ExtraTreeClassifier(), depths),
        "bayes": GaussianNB(),
        "one tree": ExtraTreeClassifier(max_leaf_nodes=3),
    }
    search = CandidateSearchLZO(candidates, **FAST).fit(*two_classes)
    table = search.cv_results_
    assert search.fit_counts_["cv"] == 12  # as there are twelve candidates
    n_known = {
        name: sum(table["param_candidate"][row] == name for row in cross_validated(table))
        for name in candidates
    }
    assert n_known["neighbors"] == n_known["bayes"] == 0
    assert min(n_known["tree"], n_known["extra tree"]) >= 2
    assert n_known["one tree"] == 1


@pytest.mark.parametrize(
    ("model", "grid", "options"),
    [
        (SVC(), {"C": [0.1, 1, 10]}, {}),
        (DecisionTreeClassifier(), {"max_depth": [1, 2]}, {"loo": False}),
        (DecisionTreeClassifier(), {"max_depth": [1, 2]}, {"cv_finalists": 0}),
        (DecisionTreeClassifier(), {"max_depth": [2]}, {}),
        (DecisionTreeClassifier(), {"max_depth": [1, 2]}, {"augmenter": "fixed"}),
    ],
    ids=["LOO scores", "loo=False", "cv_finalists=0", "one candidate", "fixed validation set"],
)
def test_searches_without_folds(two_classes, model, grid, options):
    X, y = two_classes
    options = FAST | options
    if options["augmenter"] == "fixed":
        options["augmenter"] = FixedValidationSet(X[::2], y[::2])
    search = GridSearchLZO(model, grid, **options).fit(X, y)
    assert search.n_fits_ == len(search.cv_results_["params"])
    assert "mean_cv_score" not in search.cv_results_


def test_best_candidate_without_a_reliable_loo_score(make_run, evaluate_all, two_classes):
    """It is cross-validated, although others of its type have LOO scores; others are not."""
    X, y = two_classes
    run = make_run(X, y, augmenter=GaussianMixtureAugmenter(), use_loo=True)
    grid = [{"n_neighbors": k} for k in (1, 3, 9, 15, 25)]
    scored = evaluate_all(run, KNeighborsClassifier(), grid)[0].results
    n_best = 0
    for row in range(5):
        results = list(scored)
        results[row] = replace(results[row], loo=LOOScores(note="unreliable"))
        results = correct_scores(run, results)
        is_best = results[row].main_score == max(result.main_score for result in results)
        found, n_fits = cross_validate_some(run, results, FoldPlan(folds_of(y)), n_jobs=1)
        assert n_fits == 5 * is_best
        assert [at for at, result in enumerate(found) if result.cv] == [row] * is_best
        n_best += is_best
    assert 0 < n_best < 5


def test_only_candidates_of_the_last_round_of_halving(two_classes):
    grid = {"max_depth": [1, 2, 3, 4, 5, 6]}
    search = HalvingGridSearchLZO(DecisionTreeClassifier(), grid, **FAST).fit(*two_classes)
    table = search.cv_results_
    rows = cross_validated(table)
    assert rows
    assert set(table["iter"][rows]) == {table["iter"].max()}


# Scores


def test_groups_are_not_split(two_classes):
    """With groups there are no LOO scores, so that every model type is cross-validated."""
    X, y = two_classes
    groups, folds = np.arange(len(y)) % 8, GroupKFold(4)
    search = GridSearchLZO(SVC(), {"C": [0.1, 1]}, cv=folds, **FAST).fit(X, y, groups=groups)
    expected = [cross_val_score(SVC(C=C), X, y, groups=groups, cv=folds).mean() for C in (0.1, 1)]
    np.testing.assert_allclose(search.cv_results_["mean_cv_score"], expected)
    assert GridSearchLZO(SVC(), {"C": [0.1, 1]}, **FAST).fit(X, y, groups=groups).n_fits_ == 12


def test_scores_by_several_metrics(two_classes):
    """A metric that fails on a fold has no fold score; the others have theirs."""

    def half(model, X, y):
        if len(y) == 40:  # a fold
            raise ValueError
        return 0.5

    scoring = {"half": half, "accuracy": "accuracy", "auc": "roc_auc"}
    search = GridSearchLZO(
        DecisionTreeClassifier(random_state=0), {"max_depth": [1, 2]}, scoring=scoring,
        refit="accuracy", cv=KFold(5), **FAST,
    ).fit(*two_classes)  # fmt: skip
    table = search.cv_results_
    assert np.isnan(table["mean_cv_half"]).all()
    for name, scorer in (("accuracy", "accuracy"), ("auc", "roc_auc")):
        model = DecisionTreeClassifier(max_depth=2, random_state=0)
        expected = cross_val_score(model, *two_classes, cv=KFold(5), scoring=scorer).mean()
        assert table[f"mean_cv_{name}"][1] == pytest.approx(expected)


def test_held_out_score_is_the_mean_of_both(make_run, evaluate_all, two_classes):
    X, y = two_classes
    run = make_run(X, y, use_loo=True)
    grid = [{"n_neighbors": k} for k in (1, 9)]
    results = evaluate_all(run, KNeighborsClassifier(), grid)[0].results
    found, n_fits = cross_validate_some(run, results, FoldPlan(folds_of(y), 1), n_jobs=1)
    [row] = [at for at, result in enumerate(found) if result.cv]
    result = found[row]
    assert n_fits == 5
    both = (result.loo.scores[SINGLE], result.cv[SINGLE])
    mean, variance = result.held_out(SINGLE)
    assert mean == pytest.approx(np.mean([one.mean for one in both]))
    assert variance == pytest.approx(np.mean([one.variance for one in both]))
    # The variance of an accuracy is p (1 - p) / n; that of folds is larger by half.
    p = both[1].mean
    assert both[1].variance == pytest.approx(1.5 * p * (1 - p) / (len(y) - 1))


def test_variance_of_scores_that_are_no_means_over_rows(make_run, evaluate_all, two_classes):
    X, y = two_classes
    run = make_run(X, y, "roc_auc")
    results = evaluate_all(run, DecisionTreeClassifier(), DEPTHS[1:3])[0].results
    found, _ = cross_validate_some(run, results, FoldPlan(folds_of(y)), n_jobs=1)
    scores = found[0].cv[SINGLE]
    assert scores.variance == pytest.approx(1.5 * scores.replicates.var(ddof=1) / 5)


def test_scores_with_folds_do_not_depend_on_the_order_of_candidates_or_on_n_jobs(two_classes):
    grid, reverse = {"max_depth": [1, 2, 3, 4]}, {"max_depth": [4, 3, 2, 1]}
    with parallel_config(backend="threading"):
        first, second, third = (
            GridSearchLZO(DecisionTreeClassifier(), g, n_jobs=n_jobs, **FAST).fit(*two_classes)
            for g, n_jobs in ((grid, 1), (reverse, 1), (grid, 2))
        )
    for name in ("mean_test_score", "mean_cv_score"):
        scores = first.cv_results_[name]
        np.testing.assert_array_equal(scores, second.cv_results_[name][::-1])
        np.testing.assert_array_equal(scores, third.cv_results_[name])
