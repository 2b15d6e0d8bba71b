import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero import AugmenterUnion, CopulaAugmenter, LabelInvariantMixup
from leavezero._random import seed_sequence
from leavezero.evaluation import (
    CheckpointedResults,
    Finalists,
    HighestScore,
    make_folds,
    permutation_scores,
    search_identity,
    select,
)
from leavezero.evaluation._cv_finalists import fold_scores
from leavezero.execution import Checkpoint, OpenCheckpoint

ROOT = seed_sequence(0)
DEPTHS = [{"max_depth": depth} for depth in (1, 2, 3, None)]


# The table of results


def test_table_is_consistent(make_run, evaluate_all, iris):
    """Scores of replicates average to the corrected score, and the interval contains it."""
    run = make_run(*iris, use_loo=True)
    grid = [{"n_neighbors": 1}, {"n_neighbors": 9, "p": 1}]
    results = evaluate_all(run, KNeighborsClassifier(), grid)[0].results
    table = select(run, results, HighestScore(), ROOT).table
    mean = table["mean_test_score"]
    splits = np.array([table[f"split{r}_test_score"] for r in (0, 1)])
    np.testing.assert_allclose(splits.mean(axis=0), mean)
    np.testing.assert_allclose(splits.std(axis=0), table["std_test_score"])
    assert np.all((table["low_test_score"] <= mean) & (mean <= table["high_test_score"]))
    assert table["param_p"].mask.tolist() == [True, False]
    assert table["params"] == grid
    assert table["loo_method"].tolist() == ["exact", "exact"]
    assert mean.tolist() == [result.corrected_score for result in results]


@pytest.mark.parametrize(("error_score", "expected"), [(np.nan, np.nan), (-1.0, -1.0)])
def test_failed_candidates_have_the_error_score(
    make_run, evaluate_all, iris, error_score, expected
):
    run = make_run(*iris, error_score=error_score)
    results = evaluate_all(run, SVC(), [{"C": -1.0}, {"C": 1.0}])[0].results
    selected = select(run, results, HighestScore(), ROOT)
    np.testing.assert_equal(selected.table["mean_test_score"][0], expected)
    assert selected.table["rank_test_score"].tolist() == [2, 1]
    assert selected.selection.index == 1
    failed = select(run, results[:1], HighestScore(), ROOT)
    assert failed.selection is None


def test_scores_by_component(make_run, evaluate_all, iris):
    union = AugmenterUnion([CopulaAugmenter(), LabelInvariantMixup()])
    run = make_run(*iris, augmenter=union)
    results = evaluate_all(run, DecisionTreeClassifier(), DEPTHS)[0].results
    scores = select(run, results, HighestScore(), ROOT).scores
    np.testing.assert_allclose(scores.by_component.mean(axis=0), scores.validation, atol=1e-6)


# Cross-validation of finalists


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


def test_finalists_are_selected_by_the_mean_of_both_scores(make_run, evaluate_all, two_classes):
    X, y = two_classes
    run = make_run(X, y)
    results = evaluate_all(run, DecisionTreeClassifier(), DEPTHS)[0].results
    folds = make_folds(4, y, None, None, is_classification=True, seed=0, owner="test")
    before = select(run, results, HighestScore(), ROOT)
    found = select(run, results, HighestScore(), ROOT, finalists=Finalists(2, folds))
    tied = list(before.selection.tied[:2])
    assert found.n_cv_fits == 4 * len(tied)
    candidates = [results[row].trial.candidate for row in tied]
    expected = fold_scores(run, candidates, folds, None).mean(axis=1)
    np.testing.assert_array_equal(found.table["mean_cv_score"][tied], expected)
    others = np.setdiff1d(np.arange(4), tied)
    assert np.all(np.isnan(found.table["mean_cv_score"][others]))
    both = (before.table["mean_test_score"][tied] + expected) / 2
    np.testing.assert_allclose(found.table["mean_test_score"][tied], both)
    assert found.selection.index == tied[int(np.argmax(both))]
    moved = found.table["mean_test_score"] - before.table["mean_test_score"]
    np.testing.assert_allclose(moved[others], moved[tied].mean())


# Permuted targets


@pytest.mark.parametrize("target", ["classes", "values"])
def test_permutation_scores_of_a_memorizing_model_exceed_chance(
    make_run, make_trials, noise, target
):
    """1-NN remembers permuted labels, which mixed-up rows reveal; a linear model does not."""
    X, y = noise
    if target == "values":
        y, estimator, metric = X[:, 0] + 0.1 * y, LinearRegression(), "r2"
    else:
        estimator, metric = KNeighborsClassifier(1), "accuracy"
    run = make_run(X, y, metric)
    [trial] = make_trials(estimator, [{}])
    found = permutation_scores(run, [trial.candidate], LabelInvariantMixup(), ROOT)
    assert (found.scores[0] - found.chances[0] > 0.2) is (target == "classes")


# Checkpoints


def test_results_are_read_from_the_checkpoint(make_run, evaluate_all, iris, tmp_path):
    """Scores, LOO scores and errors; only new candidates are fitted."""
    run = make_run(*iris, use_loo=True)
    grid = [{"C": -1.0}, {"C": 1.0}, {"C": 10.0}]
    found = []
    for n_candidates in (2, 3):
        store = OpenCheckpoint(Checkpoint(tmp_path / "file"), search_identity(run, 0, None), "test")
        with store:
            checkpoint = CheckpointedResults(store, run)
            found.append(evaluate_all(run, SVC(), grid[:n_candidates], checkpoint=checkpoint)[0])
    fresh = evaluate_all(run, SVC(), grid)[0].results
    assert [one.n_fits for one in found] == [2, 1]
    assert [result.from_checkpoint for result in found[1].results] == [True, True, False]
    for result, expected in zip(found[1].results, fresh, strict=True):
        assert (result.error is None) is (expected.error is None)
        np.testing.assert_equal(result.corrected_score, expected.corrected_score)
        assert result.loo.method == expected.loo.method
        for name, scores in expected.scores.items():
            np.testing.assert_array_equal(result.scores[name].per_row, scores.per_row)


def test_identity_depends_on_what_scores_depend_on(make_run, iris):
    X, y = iris
    run = make_run(X, y)
    same, others = make_run(X, y), [make_run(X + 1e-9, y), make_run(X, y, "f1_macro")]
    identity = search_identity(run, 0, None)
    assert search_identity(same, 0, None) == identity
    assert all(search_identity(other, 0, None) != identity for other in others)
    assert search_identity(run, 1, None) != identity
