"""Scores on rows with weights, soft labels and members."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import make_classification, make_multilabel_classification
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.metrics import get_scorer, log_loss, make_scorer, r2_score, roc_auc_score
from sklearn.multioutput import ClassifierChain

from leavezero.augment import ValidationSet
from leavezero.engine import Replicates, resolve_metric, score_replicates
from leavezero.engine._set_scores import shares_explained


@pytest.fixture
def model(two_classes):
    return LogisticRegression().fit(*two_classes)


def score(model, V, metric, classes=(0, 1), n_replicates=1):
    replicates = Replicates(V, n_replicates, None if classes is None else np.array(classes))
    [found] = score_replicates(model, replicates, [resolve_metric(metric, "test")])
    return found


CHAIN = ClassifierChain(LogisticRegression(), random_state=0)
METRICS = ["accuracy", "balanced_accuracy", "roc_auc", "neg_log_loss", "f1", "neg_brier_score"]


@pytest.mark.parametrize("metric", METRICS)
def test_hard_labels_score_as_scikit_learn_does(model, two_classes, metric):
    """Each replicate by itself."""
    X, y = two_classes
    found = score(model, ValidationSet(X, y), metric, n_replicates=2)
    expected = [get_scorer(metric)(model, X[at], y[at]) for at in (slice(100), slice(100, 200))]
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_soft_labels_that_are_certain_are_hard_ones(model, two_classes, metric):
    """A posterior of zeros and ones changes nothing."""
    X, y = two_classes
    soft = score(model, ValidationSet(X, y, class_probabilities=np.eye(2)[y]), metric)
    np.testing.assert_allclose(soft, score(model, ValidationSet(X, y), metric), rtol=1e-6)


@pytest.mark.parametrize("metric", METRICS)
def test_weights_count_rows(model, two_classes, metric):
    """Weight 2 is a row twice, weight 0 no row."""
    X, y = two_classes
    weight = np.tile([0.0, 1.0, 2.0, 1.0], 50)
    rows = np.repeat(np.arange(200), weight.astype(int))
    found = score(model, ValidationSet(X, y, weight), metric)
    np.testing.assert_allclose(found, score(model, ValidationSet(X[rows], y[rows]), metric))


@pytest.mark.parametrize("metric", ["accuracy", "neg_log_loss"])
def test_soft_labels_average_over_draws(model, two_classes, metric):
    """The score on a posterior is the mean score over labels drawn from it."""
    X, _ = two_classes
    rng = np.random.default_rng(0)
    chance = rng.random(200)
    posterior = np.column_stack([1 - chance, chance])
    soft = score(
        model, ValidationSet(X, np.zeros(200, int), class_probabilities=posterior), metric
    )[0]
    many = np.tile(X, (300, 1))
    drawn = (rng.random(len(many)) < np.tile(chance, 300)).astype(int)
    assert soft == pytest.approx(score(model, ValidationSet(many, drawn), metric)[0], rel=0.02)


def test_members_count_the_same_whatever_their_size(model, two_classes):
    """The mean of the members' scores."""
    X, y = two_classes
    members = np.repeat([0, 1], [150, 50])
    found = score(model, ValidationSet(X, y, component=members), "accuracy")[0]
    parts = [model.score(X[members == m], y[members == m]) for m in (0, 1)]
    assert found == pytest.approx(np.mean(parts))


def test_a_metric_without_weights_sees_rows_drawn_by_weight(model, two_classes):
    """Only rows of positive weight, the same for every candidate."""
    X, y = two_classes
    weight = (model.predict(X) == y).astype(float)
    unweighted = make_scorer(lambda truth, said: float(np.mean(truth == said)))
    V = ValidationSet(X, y, weight)
    assert score(model, V, unweighted)[0] == 1.0

    def looks_at_rows(estimator, X, y):
        return estimator.score(X, y)

    assert score(model, V, looks_at_rows)[0] == 1.0


def test_numbers_and_several_outputs(rng):
    """Squared and absolute errors, averaged over outputs; R2 by scikit-learn."""
    X = rng.normal(size=(50, 2))
    Y = X @ [[1.0, 2.0], [0.5, -1.0]] + rng.normal(size=(50, 2))
    model = LinearRegression().fit(X, Y)
    for metric in ("neg_mean_squared_error", "neg_mean_absolute_error", "r2"):
        found = score(model, ValidationSet(X, Y), metric, classes=None)[0]
        assert found == pytest.approx(get_scorer(metric)(model, X, Y), rel=1e-5)


def test_log_loss_is_scikit_learns(model, two_classes):
    """Probabilities are clipped alike."""
    X, y = two_classes
    found = -score(model, ValidationSet(X, y), "neg_log_loss")[0]
    assert found == pytest.approx(log_loss(y, model.predict_proba(X)), rel=1e-6)


@pytest.mark.parametrize("scoring", ["acc", 3, ["accuracy"]])
def test_an_unknown_metric_is_refused(scoring):
    """The message names some that exist."""
    with pytest.raises(ValueError, match="scoring of GridSearchLZO must be a scorer's name"):
        resolve_metric(scoring, "GridSearchLZO")


@given(st.integers(0, 2**31), st.booleans(), st.sampled_from([np.float32, np.float64]))
def test_shares_explained_are_scikit_learns_bit_for_bit(seed, weighted, kind):
    """Several sets in lines have the scores that each has alone."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(1, 4), rng.integers(2, 300)
    y = rng.normal(size=shape).round(int(rng.integers(0, 3)))
    said = (y + rng.normal(size=shape)).astype(kind)
    weight = rng.uniform(0.1, 2.0, shape) if weighted else None
    for at, found in enumerate(shares_explained(said, y, weight)):
        own = None if weight is None else weight[at]
        assert found == r2_score(y[at], said[at], sample_weight=own)
    ones = np.ones(shape)
    assert shares_explained(y, ones, None)[0] == r2_score(ones[0], y[0])
    assert shares_explained(ones, ones, None)[0] == 1.0


def test_parameters_of_a_metric_reach_the_scorer():
    """The faster ways know none."""
    X, y = make_classification(100, random_state=0)
    model = DummyClassifier().fit(X, y)
    rows = Replicates(ValidationSet(X, y), 1, np.unique(y))
    plain = resolve_metric("balanced_accuracy", "test")
    adjusted = replace(plain, constants={"adjusted": True})
    with config_context(enable_metadata_routing=True):
        (own,), (moved,) = score_replicates(model, rows, [plain, adjusted])
    assert own == pytest.approx(0.5)
    assert moved == pytest.approx(0.0)


@pytest.mark.parametrize("metric", ["roc_auc", "average_precision", "f1_micro"])
@pytest.mark.parametrize("model", [RandomForestClassifier(5, random_state=0), CHAIN], ids=repr)
def test_probabilities_of_several_outputs_reach_the_scorer(model, metric):
    """Whether they are a list with an array an output, or one array."""
    X, y = make_multilabel_classification(60, n_classes=3, random_state=0)
    fitted = clone(model).fit(X, y)
    found = score(fitted, ValidationSet(X, y), metric, classes=None)[0]
    assert found == pytest.approx(get_scorer(metric)(fitted, X, y))


@pytest.mark.parametrize("metric", ["neg_log_loss", "roc_auc_ovr"])
def test_a_class_that_a_model_has_not_met_is_impossible_to_it(metric, rng):
    """Its probability is zero, and no other class is taken for it."""
    X, y = rng.normal(size=(90, 2)), np.repeat(["a", "b", "c"], 30)
    model = LogisticRegression().fit(X[y != "b"], y[y != "b"])
    chances = np.insert(model.predict_proba(X), 1, 0.0, axis=1)
    found = score(model, ValidationSet(X, y), metric, classes=np.unique(y))[0]
    if metric == "neg_log_loss":
        assert found == pytest.approx(-log_loss(y, chances), rel=1e-5)
    else:
        assert found == pytest.approx(roc_auc_score(y, chances, multi_class="ovr"))


@pytest.mark.parametrize("size", [1e-25, 1e25])
def test_losses_of_any_size_are_told_apart(size, rng):
    """Squares of small and large numbers are neither nothing nor infinite."""
    X, y = rng.normal(size=(50, 2)), size * rng.normal(size=50)
    model = LinearRegression().fit(X, y)
    found = score(model, ValidationSet(X, y), "neg_mean_squared_error", classes=None)[0]
    assert found == pytest.approx(get_scorer("neg_mean_squared_error")(model, X, y), rel=1e-6)
