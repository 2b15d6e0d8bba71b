from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.datasets import (
    make_friedman1,
    make_moons,
    make_multilabel_classification,
    make_regression,
)
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC

from leavezero import (
    CandidateSearchLZO,
    GridSearchLZO,
)
from leavezero.augment import CopulaAugmenter, FunctionAugmenter, LabelInvariantMixup
from leavezero.evaluation import _bias_correction as bias_correction
from leavezero.evaluation._bias_correction import (
    PairedScores,
    bias_variance,
    combine,
    distances,
    interpolate_bias,
    krige,
)
from leavezero.evaluation._scoring import resolve_metric
from leavezero.semi_supervised import SMIRClassifier

ACCURACY = resolve_metric("accuracy", "test")


def paired(predictions, bias, noise=1e-3):
    """Return models with a validation score of 0; the bias of the last ones may be unknown."""
    n_models = predictions.shape[1]
    held_out = np.append(bias, np.full(n_models - len(bias), np.nan))
    return PairedScores(np.zeros(n_models), held_out, np.full(n_models, noise), predictions)


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
    found = interpolate_bias(paired(rng.integers(3, size=(200, 10)), np.full(8, bias)))
    np.testing.assert_allclose(found, bias, atol=1e-9)


def test_model_with_the_predictions_of_a_known_one_has_its_bias():
    """Up to the noise of a held-out score: it is nearer to that bias than the mean is."""
    rng = np.random.default_rng(0)
    predictions, bias = rng.integers(2, size=(500, 6)), rng.normal(size=6)
    found = interpolate_bias(paired(np.hstack([predictions, predictions]), bias))[6:]
    assert np.all(np.abs(found - bias) < np.abs(bias.mean() - bias))


def test_variance_of_the_bias_is_small_only_where_models_agree():
    between, noise = 0.2 * (1 - np.eye(8)), np.full(8, 1e-4)
    agree, disagree = np.full(8, -0.1), np.tile([-0.5, 0.1], 4)
    small, large = (bias_variance(between, bias, noise, 1e-3) for bias in (agree, disagree))
    assert small < 1e-3 < 0.1 < large


def test_kriging_moves_a_noisy_bias_towards_the_mean():
    between = np.array([[0.0, 0.5], [0.5, 0.0]])
    found = krige(between, np.array([-0.2, 0.0]), between, np.full(2, 0.1))
    np.testing.assert_allclose(found, [-0.1 - 0.5 / 6, -0.1 + 0.5 / 6])


def test_held_out_scores_have_more_weight_with_less_noise():
    rng = np.random.default_rng(1)
    predictions, held_out = rng.integers(2, size=(500, 6)), rng.random(6)
    models = [paired(predictions, held_out, noise) for noise in (0.1, 1e-3, 1e-6)]
    distance = [np.abs(interpolate_bias(one) - held_out).max() for one in models]
    assert distance[0] > 2 * distance[1] > 4 * distance[2]
    assert distance[2] < 0.01


@st.composite
def paired_scores(draw):
    """Return some models with a held-out score and some without."""
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    n_models = draw(st.integers(3, 8))
    validation = rng.random(n_models)
    held_out = validation + rng.normal(scale=draw(st.sampled_from([1e-3, 0.3])), size=n_models)
    held_out[rng.random(n_models) < 0.3] = np.nan
    variance = rng.uniform(1e-4, 1e-2, size=n_models)
    return PairedScores(validation, held_out, variance, rng.integers(3, size=(100, n_models)))


@given(paired_scores(), st.randoms(use_true_random=False))
def test_scores_do_not_depend_on_the_order_of_models(models, random):
    order = list(range(len(models.validation)))
    random.shuffle(order)
    fields = (models.validation, models.held_out, models.variance)
    moved = PairedScores(*(f[order] for f in fields), models.predictions[:, order])
    expected = interpolate_bias(models)[order]
    np.testing.assert_allclose(interpolate_bias(moved), expected, rtol=1e-7, atol=1e-9)


@given(paired_scores(), st.sampled_from([1e-6, 0.1, 1e5]), st.floats(-5, 5))
def test_scores_scale_with_the_metric(models, factor, shift):
    """In another unit, and relative to another zero, the correction is the same."""
    scaled = PairedScores(
        factor * (models.validation + shift),
        factor * (models.held_out + shift),
        factor**2 * models.variance,
        models.predictions,
    )
    expected = factor * (interpolate_bias(models) + shift)
    np.testing.assert_allclose(interpolate_bias(scaled), expected, rtol=1e-6, atol=1e-8 * factor)


@given(paired_scores())
def test_exact_held_out_scores_are_the_scores(models):
    exact = replace(models, variance=np.full(len(models.validation), 1e-12))
    known = np.isfinite(exact.held_out)
    found = interpolate_bias(exact)[known]
    np.testing.assert_allclose(found, exact.held_out[known], atol=1e-4)


def test_score_without_an_error_has_noise():
    """A variance of zero becomes the lowest other one, an unknown one the median."""
    found = bias_correction._positive(np.array([0.0, 1e-4, 2.0, np.nan]), np.zeros(4))
    np.testing.assert_allclose(found, [1e-4, 1e-4, 2.0, (1e-4 + 2.0) / 2])


def test_scores_without_comparable_predictions_are_shifted_by_the_mean_bias(make_run, noise):
    """Unless they have a held-out score, which is used as it is."""
    run = make_run(*noise)
    validation, loo = np.array([0.9, 0.8, 0.5]), np.array([0.7, 0.7, np.nan])
    found = combine(validation, loo, loo, None, ACCURACY, run.replicates, run.y)
    np.testing.assert_allclose(found, [0.7, 0.7, 0.35])


def test_scores_without_any_loo_score_stay(make_run, noise):
    run, validation, nan = make_run(*noise), np.array([0.9, 0.8]), np.full(2, np.nan)
    found = combine(validation, nan, nan, None, ACCURACY, run.replicates, run.y)
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


# Whole searches


@pytest.mark.parametrize("seed", range(3))
def test_held_out_scores_decide_where_validation_scores_are_worthless(seed):
    """Without noise in the target, the error on generated rows is that of the generator."""
    X, y = make_regression(200, 5, noise=0.5, random_state=seed)
    grid, scoring = {"alpha": [0.01, 0.1, 1, 10, 100]}, "neg_mean_squared_error"
    search = GridSearchLZO(Lasso(), grid, scoring=scoring, random_state=0).fit(X, y)
    folds = GridSearchCV(Lasso(), grid, scoring=scoring).fit(X, y)
    assert search.cv_results_["mean_validation_score"].max() < 1000 * folds.best_score_
    assert search.best_params_ == folds.best_params_
    assert search.best_score_ == pytest.approx(folds.best_score_, rel=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_score_is_near_chance_on_noise_with_more_columns_than_rows(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.normal(size=(150, 300)), rng.integers(2, size=150)
    grid = {"C": [0.01, 0.1, 1, 10]}
    search = GridSearchLZO(LogisticRegression(), grid, random_state=0).fit(X, y)
    assert search.cv_results_["mean_validation_score"].max() > 0.8
    assert search.best_score_ == pytest.approx(0.5, abs=0.12)


def test_boosting_is_selected_as_well_as_by_cross_validation():
    (X, y), (X_test, y_test) = (
        make_friedman1(n, noise=1.0, random_state=n) for n in (250, 2000)
    )  # fmt: skip
    grid = {"learning_rate": [0.03, 0.1, 0.3], "max_depth": [1, 2, 4]}
    model = GradientBoostingRegressor(n_estimators=60, random_state=0)
    search = GridSearchLZO(model, grid, random_state=0).fit(X, y)
    folds = GridSearchCV(model, grid).fit(X, y)
    assert search.n_fits_ == 9 + 15
    assert search.score(X_test, y_test) > folds.score(X_test, y_test) - 0.03


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
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


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
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


@pytest.mark.filterwarnings("ignore::leavezero.exceptions.SmallClassWarning")
def test_multilabel_models_are_compared():
    X, y = make_multilabel_classification(150, n_classes=4, random_state=0)
    grid = {"n_neighbors": [1, 5, 15]}
    search = GridSearchLZO(KNeighborsClassifier(), grid, scoring="f1_micro", random_state=0)
    results = search.fit(X, y).cv_results_
    np.testing.assert_array_equal(results["rank_test_score"], [3, 2, 1])
    np.testing.assert_array_equal(np.argsort(results["mean_loo_score"]), [0, 1, 2])


def test_rows_made_from_training_rows_have_less_weight(make_run):
    """The third model, without a held-out score, agrees with the second; both know all rows."""
    X, y = make_moons(100, random_state=0)
    predictions = np.random.default_rng(0).integers(2, size=(200, 3))
    predictions[:, 2] = predictions[:, 1]
    validation, variance = np.array([0.92, 0.99, 1.0]), np.full(3, 1e-3)

    def lead(augmenter, held_out):
        data = (ACCURACY, make_run(X, y, augmenter=augmenter).replicates, y)
        scores = combine(validation, np.array(held_out), variance, predictions, *data)
        return scores[2] - scores[0]

    one_score, two_scores = [0.84, np.nan, np.nan], [0.84, 0.83, np.nan]
    assert 0 < lead(LabelInvariantMixup(), one_score) < lead(CopulaAugmenter(), one_score) / 3
    # With held-out scores of most models, only these count.
    assert lead(LabelInvariantMixup(), two_scores) < 0 < lead(CopulaAugmenter(), two_scores)
