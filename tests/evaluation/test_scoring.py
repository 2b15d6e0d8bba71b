from dataclasses import replace

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_multilabel_classification
from sklearn.dummy import DummyClassifier, DummyRegressor
from sklearn.ensemble import RandomForestClassifier
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.metrics import (
    accuracy_score,
    f1_score,
    get_scorer,
    log_loss,
    make_scorer,
    roc_auc_score,
)
from sklearn.mixture import GaussianMixture
from sklearn.multioutput import ClassifierChain
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from leavezero import ValidationSet
from leavezero.evaluation import SINGLE, Replicates, _scoring, predict_in_blocks, resolve_scoring
from leavezero.evaluation._scoring import CachedPredictions, metric_for, resolve_metric, score_model

METRICS = ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "f1", "neg_brier_score"]
CHAIN = ClassifierChain(LogisticRegression(), random_state=0)


@pytest.fixture
def model(two_classes):
    return LogisticRegression().fit(*two_classes)


def scores(model, rows, metric, classes=(0, 1), n_replicates=1):
    replicates = Replicates(rows, n_replicates, None if classes is None else np.array(classes))
    predictions = CachedPredictions(model, rows.X, classes=replicates.classes)
    metric = resolve_metric(metric, "test") if isinstance(metric, str) else metric
    return score_model(predictions, replicates, metric)[SINGLE]


def score(*args, **options):
    return scores(*args, **options).mean


@pytest.mark.parametrize("metric", METRICS)
def test_scores_equal_those_of_scikit_learn_on_each_replicate(model, two_classes, metric):
    X, y = two_classes
    found = scores(model, ValidationSet(X, y), metric, n_replicates=2).replicates
    expected = [get_scorer(metric)(model, X[at], y[at]) for at in (slice(100), slice(100, 200))]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_count_rows(model, two_classes, metric):
    """Weight 2 equals two copies of a row, weight 0 its absence."""
    X, y = two_classes
    weight = np.tile([0.0, 1.0, 2.0, 1.0], 50)
    rows = np.repeat(np.arange(200), weight.astype(int))
    expected = score(model, ValidationSet(X[rows], y[rows]), metric)
    assert score(model, ValidationSet(X, y, weight), metric) == pytest.approx(expected)
    by_metric = replace(resolve_metric(metric, "test"), weight=weight)
    assert score(model, ValidationSet(X, y), by_metric) == pytest.approx(expected)


@pytest.mark.parametrize("metric", ["accuracy", "roc_auc"])
def test_components_of_a_union_have_equal_weight(model, two_classes, metric):
    X, y = two_classes
    component = np.repeat([0, 1], [150, 50])
    found = score(model, ValidationSet(X, y, component=component), metric)
    parts = [get_scorer(metric)(model, X[component == c], y[component == c]) for c in (0, 1)]
    assert found == pytest.approx(np.mean(parts))


@pytest.mark.parametrize("n_values", [2, 5, 1000])
@pytest.mark.parametrize("names", [[0, 1], [1, -1], ["yes", "no"]])
def test_roc_auc_with_ties(n_values, names, rng):
    """The area is that of scikit-learn, whatever the number of equal scores and the labels."""
    X = rng.integers(n_values, size=(100, 1)).astype(float)
    y = np.array(names)[(X[:, 0] + n_values * rng.normal(size=100) > n_values / 2).astype(int)]
    fitted = LogisticRegression().fit(X, y)
    expected = get_scorer("roc_auc")(fitted, X, y)
    assert score(fitted, ValidationSet(X, y), "roc_auc") == pytest.approx(expected, abs=1e-14)


def test_roc_auc_of_one_class_is_undefined(model, two_classes):
    X, y = two_classes
    with pytest.warns(UndefinedMetricWarning, match="one class"):
        found = score(model, ValidationSet(X[y == 1], y[y == 1]), "roc_auc")
    assert np.isnan(found)


RATIOS = [
    *("f1", "jaccard", "precision", "recall"),
    *(
        f"{name}_{average}"
        for name in ("f1", "jaccard", "precision", "recall")
        for average in ("macro", "micro", "weighted")
    ),
    "balanced_accuracy",
]


@pytest.mark.parametrize("metric", RATIOS)
@pytest.mark.parametrize(
    "labels",
    [[0, 1], [-1, 1], [False, True], [1, 2], ["no", "yes"], [3, 5, 7], ["a", "b", "c"], [0.0, 1.0]],
    ids=str,
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.UndefinedMetricWarning")
@pytest.mark.filterwarnings("ignore:y_pred contains classes not in y_true")
def test_ratios_of_class_counts(metric, labels, rng):
    """Equal to scikit-learn's, also for classes without a row or a prediction, and its errors."""
    codes = rng.permutation(np.arange(60) % len(labels))
    X, y = codes[:, None] + rng.normal(size=(60, 1)), np.array(labels)[codes]
    fitted = LogisticRegression().fit(X, y)
    for rows in (slice(None), codes > 0, X[:, 0] > 1.5):
        validation_set = ValidationSet(X[rows], y[rows])
        try:
            expected = get_scorer(metric)(fitted, X[rows], y[rows])
        except ValueError:
            with pytest.raises(ValueError, match=r"pos_label=1|average='binary'"):
                score(fitted, validation_set, metric, labels)
            continue
        assert score(fitted, validation_set, metric, labels) == pytest.approx(expected, abs=1e-15)


def test_scorers_are_recognized_by_their_function():
    for scorer, name in [(make_scorer(f1_score), "f1"), (make_scorer(accuracy_score), "accuracy")]:
        assert resolve_metric(scorer, "test").name == name
    assert resolve_metric(make_scorer(f1_score, pos_label=0), "test").name != "f1"


def test_errors_of_truth_values(rng):
    X, y = rng.normal(size=(20, 1)), np.arange(20) % 2 > 0
    fitted = LogisticRegression().fit(X, y)
    for metric in ("neg_mean_squared_error", "neg_mean_absolute_error"):
        expected = get_scorer(metric)(fitted, X, y)
        assert score(fitted, ValidationSet(X, y), metric, [False, True]) == pytest.approx(expected)


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.int64])
@pytest.mark.parametrize("outputs", [(), (2,)])
@pytest.mark.filterwarnings(
    "ignore::RuntimeWarning"
)  # scikit-learn's own, of squares that overflow
def test_r2_of_any_target(kind, outputs, rng):
    """Also of targets that are constant, or so large that their squares are infinite."""
    X = rng.normal(size=(50, 2))
    for size in (100.0, 0.0, 1e300) if kind is np.float64 else (100.0, 0.0):
        y = (size * rng.normal(size=(50, *outputs))).astype(kind)
        fitted = DummyRegressor().fit(X[:40], y[:40])
        expected = get_scorer("r2")(fitted, X, y)
        found = score(fitted, ValidationSet(X, y), "r2")
        assert found == pytest.approx(expected, abs=1e-6, nan_ok=True)


def test_rows_are_resampled_by_weight_for_metrics_without_weights(model, two_classes):
    X, y = two_classes
    correct = (model.predict(X) == y).astype(float)
    rows = ValidationSet(X, y, correct)
    unweighted = make_scorer(lambda y_true, y_pred: float(np.mean(y_true == y_pred)))
    for scorer in (unweighted, lambda estimator, X, y: estimator.score(X, y)):
        assert score(model, rows, resolve_metric(scorer, "test")) == 1.0


@pytest.mark.parametrize("metric", ["neg_mean_squared_error", "neg_mean_absolute_error", "r2"])
@pytest.mark.parametrize("size", [1e-25, 1.0, 1e25])
def test_regression_with_one_and_several_outputs(metric, size, rng):
    """Squares of very small and very large targets neither vanish nor overflow."""
    X = rng.normal(size=(50, 2))
    Y = size * (X @ [[1.0, 2.0], [0.5, -1.0]] + rng.normal(size=(50, 2)))
    for y in (Y, Y[:, 0]):
        model = LinearRegression().fit(X, y)
        found = score(model, ValidationSet(X, y), metric, classes=None)
        assert found == pytest.approx(get_scorer(metric)(model, X, y), rel=1e-5)


@pytest.mark.parametrize("n_outputs", [1, 2])
def test_accuracy_of_a_regressor_raises(n_outputs, rng):
    X, y = rng.normal(size=(20, 2)), rng.normal(size=(20, n_outputs))
    model = LinearRegression().fit(X, y)
    with pytest.raises(ValueError, match="ontinuous"):
        score(model, ValidationSet(X, y), "accuracy", classes=None)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "f1_micro", "accuracy"])
@pytest.mark.parametrize("model", [RandomForestClassifier(5, random_state=0), CHAIN], ids=repr)
def test_multilabel_targets(model, metric):
    """Probabilities may be one array, or a list with one array per output."""
    X, y = make_multilabel_classification(60, n_classes=3, random_state=0)
    fitted = clone(model).fit(X, y)
    found = score(fitted, ValidationSet(X, y), metric, classes=None)
    assert found == pytest.approx(get_scorer(metric)(fitted, X, y))


@pytest.mark.parametrize("metric", ["neg_log_loss", "roc_auc_ovr"])
def test_class_that_a_model_was_not_trained_on_has_probability_zero(metric, rng):
    X, y = rng.normal(size=(90, 2)), np.repeat(["a", "b", "c"], 30)
    model = LogisticRegression().fit(X[y != "b"], y[y != "b"])
    probabilities = np.insert(model.predict_proba(X), 1, 0.0, axis=1)
    found = score(model, ValidationSet(X, y), metric, classes=np.unique(y))
    if metric == "neg_log_loss":
        assert found == pytest.approx(-log_loss(y, probabilities), rel=1e-5)
    else:
        assert found == pytest.approx(roc_auc_score(y, probabilities, multi_class="ovr"))


def test_routed_parameters_reach_the_scorer(two_classes):
    X, y = two_classes
    model = DummyClassifier().fit(X, y)
    plain = resolve_metric("balanced_accuracy", "test")
    with config_context(enable_metadata_routing=True):
        assert score(model, ValidationSet(X, y), plain) == pytest.approx(0.5)
        adjusted = replace(plain, constants={"adjusted": True})
        assert score(model, ValidationSet(X, y), adjusted) == pytest.approx(0.0)


def test_model_predicts_once_for_all_replicates_and_metrics(model, two_classes, monkeypatch):
    X, y = two_classes
    calls = []
    predict = model.predict
    monkeypatch.setattr(model, "predict", lambda X: calls.append(len(X)) or predict(X))
    replicates = Replicates(ValidationSet(X, y), 4, np.array([0, 1]))
    predictions = CachedPredictions(model, X, classes=replicates.classes)
    for metric in ("accuracy", "f1", "balanced_accuracy"):
        score_model(predictions, replicates, resolve_metric(metric, "test"))
    assert calls == [200]


def test_blocks_give_the_same_predictions_as_one_call(iris, monkeypatch):
    model = KNeighborsClassifier().fit(*iris)
    monkeypatch.setattr(_scoring, "BLOCK_CELLS", 4 * 7)
    calls = []
    predict = model.predict
    monkeypatch.setattr(model, "predict", lambda X: calls.append(len(X)) or predict(X))
    assert np.array_equal(predict_in_blocks(model.predict, iris[0]), predict(iris[0]))
    assert max(calls) == 7
    assert sum(calls) == 150


@pytest.mark.parametrize(
    ("metric", "dtype", "shape"),
    [
        ("accuracy", np.int16, (200,)),
        ("neg_log_loss", np.float32, (200, 2)),
        ("roc_auc", np.int16, (200,)),
    ],
)
def test_predictions_by_which_models_are_compared(model, two_classes, metric, dtype, shape):
    """Labels as codes, probabilities where the metric scores them."""
    found = scores(model, ValidationSet(*two_classes), metric).predictions
    assert (found.dtype, found.shape) == (dtype, shape)


@pytest.mark.parametrize(
    ("estimator", "expected"),
    [
        (make_pipeline(StandardScaler(), LogisticRegression()), "accuracy"),
        (KNeighborsClassifier(), "accuracy"),
        (DummyClassifier(), "accuracy"),
        (DummyRegressor(), "r2"),
        (Ridge(), "r2"),
        (GaussianMixture(), "the estimator's own score method"),
    ],
)
def test_default_metric_of_an_estimator(estimator, expected):
    assert metric_for(estimator, resolve_metric(None, "test")).name == expected


@pytest.mark.parametrize(
    ("name", "lowest", "highest"),
    [
        ("accuracy", 0.0, 1.0),
        ("roc_auc_ovr", 0.0, 1.0),
        ("r2", -np.inf, 1.0),
        ("neg_log_loss", -np.inf, 0.0),
        ("mutual_info_score", -np.inf, np.inf),
        ("positive_likelihood_ratio", -np.inf, np.inf),
        (max, -np.inf, np.inf),
    ],
)
def test_range_of_a_metric(name, lowest, highest):
    metric = resolve_metric(name, "test")
    assert (metric.lowest, metric.highest) == (lowest, highest)


def test_callable_may_return_several_numbers(model, two_classes):
    X, y = two_classes
    rows = Replicates(ValidationSet(X, y), 1, np.array([0, 1]))

    def both(estimator, X, y):
        return {"half": estimator.score(X, y) / 2, "n": len(y)}

    found = score_model(CachedPredictions(model, X), rows, resolve_metric(both, "test"))
    assert {name: one.mean for name, one in found.items()} == {
        "half": model.score(X, y) / 2,
        "n": 200,
    }
    wrong = resolve_metric(lambda estimator, X, y: np.zeros(2), "test")
    with pytest.raises(ValueError, match="must return a number or a dict of numbers"):
        score_model(CachedPredictions(model, X), rows, wrong)


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("acc", "must be the name of a scorer or a callable"),
        (3, "must be the name of a scorer or a callable"),
        ([], "must contain unique names"),
        (["accuracy", "accuracy"], "must contain unique names"),
        ({}, "must map names to scorers"),
        ({1: "accuracy"}, "must map names to scorers"),
    ],
)
def test_invalid_scoring(scoring, message):
    with pytest.raises(ValueError, match=f"scoring of GridSearchLZO .*{message}"):
        resolve_scoring(scoring, "GridSearchLZO")
