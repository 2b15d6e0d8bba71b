import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import make_moons, make_multilabel_classification
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from leavezero import (
    BiasCorrected,
    CandidateSearchLZO,
    CopulaAugmenter,
    GridSearchLZO,
    LabelInvariantMixup,
)
from leavezero.augment import FunctionAugmenter
from leavezero.evaluation import _bias_correction as bias_correction
from leavezero.evaluation import combine, resolve_metric
from leavezero.evaluation._bias_correction import PairedScores, distances, interpolate_bias
from leavezero.semi_supervised import SMIRClassifier

ACCURACY = resolve_metric("accuracy", "test")


def references_of(predictions, bias):
    return PairedScores(np.zeros(len(bias)), np.asarray(bias), predictions)


def unknown(predictions):
    """Return models with a validation score of 0 and no LOO score."""
    n_models = predictions.shape[1]
    return PairedScores(np.zeros(n_models), np.full(n_models, np.nan), predictions)


def test_distance_of_labels_is_the_share_that_differ():
    codes = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0], [2, 1, 0]])
    expected = [[0, 0.5, 0.5], [0.5, 0, 0.75], [0.5, 0.75, 0]]
    np.testing.assert_allclose(distances(codes, codes), expected)
    outputs = np.stack([codes, codes], axis=2)  # of two outputs
    np.testing.assert_allclose(distances(outputs, outputs), expected)


def test_distance_of_probabilities_is_total_variation_and_of_values_is_scaled():
    first = np.array([[[0.2, 0.8]], [[0.5, 0.5]]])  # two rows, one model, two classes
    second = np.array([[[0.4, 0.6]], [[0.5, 0.5]]])
    np.testing.assert_allclose(distances(first, second), [[0.1]])
    np.testing.assert_allclose(distances(first[:, :, 0], second[:, :, 0], scale=4.0), [[0.025]])


@given(st.integers(0, 10**6), st.floats(-0.5, 0.5))
def test_bias_that_all_known_models_have_is_that_of_every_model(seed, bias):
    rng = np.random.default_rng(seed)
    references = references_of(rng.integers(3, size=(200, 8)), np.full(8, bias))
    found = interpolate_bias(unknown(rng.integers(3, size=(200, 2))), references)
    np.testing.assert_allclose(found, bias, atol=1e-9)


def test_model_with_the_predictions_of_a_known_one_has_its_bias():
    """Up to the noise of a LOO score: it is nearer to that bias than the mean is."""
    rng = np.random.default_rng(0)
    predictions, bias = rng.integers(2, size=(500, 6)), rng.normal(size=6)
    found = interpolate_bias(unknown(predictions), references_of(predictions, bias))
    assert np.all(np.abs(found - bias) < np.abs(bias.mean() - bias))


def test_loo_scores_have_more_weight_with_more_rows():
    """Their noise variance is inversely proportional to the number of rows."""
    rng = np.random.default_rng(1)
    predictions, loo = rng.integers(2, size=(500, 6)), rng.random(6)
    models = [PairedScores(np.zeros(6), loo, predictions, n_rows=n) for n in (30, 300, 30_000)]
    distance = [np.abs(interpolate_bias(one) - loo).max() for one in models]
    assert distance[0] > 2 * distance[1]
    assert distance[2] < 0.01


def test_scores_without_comparable_predictions_are_shifted_by_the_mean_bias(make_run, noise):
    run = make_run(*noise)
    validation, loo = np.array([0.9, 0.8, 0.5]), np.array([0.7, 0.7, np.nan])
    found = combine(validation, loo, None, ACCURACY, run.replicates, run.y)
    np.testing.assert_allclose(found, [0.725, 0.675, 0.35])


def test_scores_without_any_loo_score_stay(make_run, noise):
    run, validation = make_run(*noise), np.array([0.9, 0.8])
    found = combine(validation, np.full(2, np.nan), None, ACCURACY, run.replicates, run.y)
    np.testing.assert_array_equal(found, validation)


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([0.9, 1.2, np.nan], [0.6, 0.9, np.nan]),
        ([-0.3, -0.2, np.nan], [0.0, 0.1, np.nan]),
        ([0.4, 0.3, -0.1], [0.4, 0.3, 0.0]),
        ([1.2, 0.9, 0.9], [1.0, 0.7, 0.7]),
        ([np.nan, np.nan, np.nan], [np.nan, np.nan, np.nan]),
    ],
)
def test_scores_outside_the_range_of_the_metric_move_together(scores, expected):
    """The best moves to the nearer of its own scores, or to the end of the range."""
    validation, loo = np.array([0.5, 0.9, 0.5]), np.array([np.nan, 0.1, np.nan])
    if scores[0] == 1.2:
        validation = np.array([1.5, 0.9, 0.5])
    found = bias_correction._within_range(np.array(scores), validation, loo, ACCURACY)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("n_labels", [10, 40])
def test_loo_scores_have_less_weight_with_few_labels(n_labels, monkeypatch):
    """With n labels, validation scores determine 10 / (n + 10) of the differences."""
    X, y = make_moons(80, noise=0.15, random_state=0)
    y[n_labels:] = -1

    def results():
        grid = {"width": [0.2, 0.5, 1.0], "gamma": [1e-3, 1e-1]}
        search = GridSearchLZO(SMIRClassifier(), grid, n_replicates=2, random_state=0)
        return search.fit(X, y).cv_results_

    found = results()
    monkeypatch.setattr(bias_correction, "HALF_WEIGHT_LABELS", 0)
    plain = results()["mean_test_score"]
    scores, validation = found["mean_test_score"], found["mean_validation_score"]
    share = 10 / (n_labels + 10)
    expected = share * (validation - validation.mean()) + (1 - share) * (plain - plain.mean())
    np.testing.assert_allclose(scores - scores.mean(), expected, atol=1e-9)
    assert not np.allclose(scores, plain)


def test_infinite_scores_are_not_moved():
    scores, others = np.array([-np.inf, 0.4, 0.8]), np.array([-np.inf, 0.8, 0.8])
    found = bias_correction._moved_towards(scores, others, 0.5)
    np.testing.assert_allclose(found, [-np.inf, 0.5, 0.7])


@pytest.mark.parametrize("scoring", ["neg_log_loss", "roc_auc_ovr", "neg_brier_score"])
def test_no_score_exceeds_a_perfect_one(scoring):
    X, y = make_moons(100, noise=0.1, random_state=0)
    grid = {"n_neighbors": [1, 5, 15, 30]}
    search = GridSearchLZO(KNeighborsClassifier(), grid, scoring=scoring, random_state=0).fit(X, y)
    highest = resolve_metric(scoring, "test").highest
    assert search.best_score_ <= highest
    assert search.cv_results_["high_test_score"].max() <= highest


def test_no_proportion_is_negative(rng):
    """Not even with fifty classes that are independent of the features."""
    X, y = rng.normal(size=(150, 5)), np.repeat(np.arange(50), 3)
    grid = {"n_neighbors": [1, 2, 5]}
    results = GridSearchLZO(KNeighborsClassifier(), grid, random_state=0).fit(X, y).cv_results_
    assert results["mean_test_score"].min() >= 0.0
    assert results["low_test_score"].min() >= 0.0


def test_candidate_without_comparable_predictions_does_not_exceed_a_perfect_score(rng):
    def shifted(X, y, n_samples, rng):
        rows = rng.integers(len(y), size=n_samples)
        return X[rows] + rng.normal(size=(n_samples, 2)), y[rows]

    X = rng.normal(size=(80, 2)) + 4.0 * np.repeat([[0], [1]], 40, axis=0)
    candidates = {"neighbors": KNeighborsClassifier(1), "inner": GridSearchCV(SVC(), {"C": [1]})}
    search = CandidateSearchLZO(candidates, augmenter=FunctionAugmenter(shifted), random_state=0)
    scores = search.fit(X, np.repeat([0, 1], 40)).cv_results_["mean_test_score"]
    assert scores.max() == 1.0


def test_multilabel_models_are_compared():
    X, y = make_multilabel_classification(150, n_classes=4, random_state=0)
    grid = {"n_neighbors": [1, 5, 15]}
    search = GridSearchLZO(KNeighborsClassifier(), grid, scoring="f1_micro", random_state=0)
    results = search.fit(X, y).cv_results_
    np.testing.assert_array_equal(results["rank_test_score"], [3, 2, 1])
    np.testing.assert_array_equal(np.argsort(results["mean_loo_score"]), [0, 1, 2])


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_reference_models_correct_metrics_of_labels(noise, metric, make_run, evaluate_all):
    """1-NN on noise scores far above chance on mixed-up rows, and at chance when corrected."""
    mixup = LabelInvariantMixup()
    scores = []
    for augmenter in (mixup, BiasCorrected(mixup)):
        run = make_run(*noise, metric, augmenter)
        [result] = evaluate_all(run, KNeighborsClassifier(), [{"n_neighbors": 1}])[0].results
        scores.append(result.corrected_score)
    assert scores[0] > 0.75
    assert scores[1] == pytest.approx(0.5, abs=0.12)


def test_reference_models_do_not_correct_metrics_of_probabilities(noise, make_run, evaluate_all):
    run = make_run(*noise, "roc_auc", BiasCorrected(CopulaAugmenter()))
    [result] = evaluate_all(run, KNeighborsClassifier(), [{"n_neighbors": 5}])[0].results
    assert result.corrected_score == result.scores["score"].mean
