"""V's bias for a candidate is found from reference models."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.neighbors import KNeighborsClassifier

from leavezero import GridSearchLZO
from leavezero._random import seed_sequence
from leavezero.augment import BiasCorrected, CopulaAugmenter, LabelInvariantMixup
from leavezero.engine import draw_replicates, resolve_metric, score_replicates
from leavezero.engine._calibrate import NUGGET, calibrate, disagreement


@pytest.fixture
def noise():
    """Return 120 rows whose labels nothing can predict."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 6)), rng.integers(2, size=120)


def test_disagreement_is_the_share_of_different_answers():
    """Of each pair of models."""
    said = np.array([[0, 0, 1], [1, 1, 1], [0, 1, 0], [2, 1, 0]])
    expected = [[0, 0.5, 0.5], [0.5, 0, 0.75], [0.5, 0.75, 0]]
    np.testing.assert_allclose(disagreement(said, said), expected)


@given(st.integers(0, 10**6), st.floats(-0.5, 0.5))
def test_a_bias_that_all_references_share_is_everyones(seed, bias):
    """Kriging keeps a constant."""
    rng = np.random.default_rng(seed)
    said = rng.integers(3, size=(200, 8))
    found = calibrate(said, np.full(8, bias))
    assert found.bias(rng.integers(3, size=200)) == pytest.approx(bias, abs=1e-9)


def test_a_candidate_that_answers_like_a_reference_has_its_bias():
    """Up to the nugget, which allows for a reference's own deviation."""
    rng = np.random.default_rng(0)
    said = rng.integers(2, size=(500, 6))
    biases = rng.normal(size=6)
    found = calibrate(said, biases)
    for at in range(6):
        others = biases.mean()
        assert abs(found.bias(said[:, at]) - biases[at]) < abs(others - biases[at])
    assert NUGGET > 0


@pytest.mark.parametrize("metric", ["accuracy", "balanced_accuracy", "f1_macro"])
def test_memorising_is_found_out_by_any_metric_of_labels(noise, metric):
    """1-NN on noise scores far above chance on mix-ups, and at chance once calibrated."""
    model = KNeighborsClassifier(1).fit(*noise)
    scores = {}
    for augmenter in (LabelInvariantMixup(), BiasCorrected(LabelInvariantMixup())):
        _, V = draw_replicates(
            augmenter,
            *noise,
            n_replicates=2,
            validation_size=2.0,
            root=seed_sequence(0),
            owner="test",
        )
        [found] = score_replicates(model, V, [resolve_metric(metric, "test")])
        scores[type(augmenter).__name__] = found.mean()
    assert scores["LabelInvariantMixup"] > 0.75
    assert scores["BiasCorrected"] == pytest.approx(0.5, abs=0.12)


def test_scores_of_probabilities_are_left_alone(noise):
    """References know labels only."""
    model = KNeighborsClassifier(5).fit(*noise)
    common = {"n_replicates": 1, "validation_size": 1.0, "owner": "test"}
    _, calibrated = draw_replicates(
        BiasCorrected(CopulaAugmenter()), *noise, root=seed_sequence(0), **common
    )
    [found] = score_replicates(model, calibrated, [resolve_metric("roc_auc", "test")])
    [plain] = score_replicates(
        model,
        type(calibrated)(calibrated.rows, 1, calibrated.classes),
        [resolve_metric("roc_auc", "test")],
    )
    assert found == plain


def test_a_calibrated_search_repeats_with_any_number_of_workers_and_is_pickled(noise):
    """References travel to workers and to a disk."""
    augmenter = BiasCorrected(LabelInvariantMixup())
    one, two = (
        GridSearchLZO(
            KNeighborsClassifier(),
            {"n_neighbors": [1, 5, 25]},
            augmenter=augmenter,
            n_replicates=2,
            n_jobs=n_jobs,
            random_state=0,
        ).fit(*noise)
        for n_jobs in (1, 2)
    )
    scores = [search.cv_results_["mean_test_score"] for search in (one, two)]
    assert np.array_equal(*scores)
    copy = pickle.loads(pickle.dumps(two))
    assert np.array_equal(copy.predict(noise[0]), one.predict(noise[0]))
