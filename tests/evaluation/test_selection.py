import numpy as np
import pytest
from sklearn.linear_model import LinearRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from leavezero import LabelInvariantMixup
from leavezero._random import seed_sequence
from leavezero.evaluation import (
    CheckpointedResults,
    HighestScore,
    permutation_scores,
    search_identity,
    select,
)
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
    for row, result in enumerate(results):  # two folds would have half of the rows each
        hit = result.loo.scores["score"].mean
        variance = hit * (1 - hit) / (len(iris[1]) - 1)
        assert table["std_test_score"][row] == pytest.approx(np.sqrt(2 * variance))
        half = 1.96 * np.sqrt(variance)
        ends = [table["low_test_score"][row], table["high_test_score"][row]]
        assert ends == pytest.approx([mean[row] - half, min(mean[row] + half, 1.0)])
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
    assert [result.n_fits for result in found[1].results] == [0, 0, 1]
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
