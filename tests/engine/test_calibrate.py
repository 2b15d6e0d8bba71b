"""V's bias for a candidate is found from reference models."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import pairwise_distances
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from leavezero import GridSearchLZO
from leavezero._random import seed_sequence
from leavezero.augment import BiasCorrected, CopulaAugmenter, LabelInvariantMixup, _references
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


def test_kernel_ridge_leaves_a_row_out_exactly():
    """The closed form equals fitting again without the row."""
    rng = np.random.default_rng(0)
    features, codes = rng.normal(size=(25, 3)), rng.integers(3, size=25)
    honest, _, _ = _references._kernel_ridges(features, codes)
    hot = np.eye(3)[codes]
    share = hot.mean(axis=0)
    squares = pairwise_distances(features, metric="sqeuclidean")
    column = 0
    for width in _references.KERNEL_WIDTHS:
        kernel = np.exp(-width / 3 * squares)
        for ridge in _references.KERNEL_RIDGES:
            for inside, [row] in LeaveOneOut().split(features):
                inner = kernel[np.ix_(inside, inside)] + ridge * np.eye(24)
                weights = np.linalg.solve(inner, (hot - share)[inside])
                assert honest[row, column] == (kernel[row, inside] @ weights + share).argmax()
            column += 1


def test_ridge_leaves_a_row_out_exactly():
    """With its intercept, as a linear fit without the row has it."""
    rng = np.random.default_rng(1)
    features, codes = rng.normal(size=(30, 4)), rng.integers(2, size=30)
    honest, _, _ = _references._ridges(features, codes)
    hot = np.eye(2)[codes]
    for column, ridge in enumerate(_references.RIDGES):
        for inside, [row] in LeaveOneOut().split(features):
            X, Y = features[inside], hot[inside]
            middle, share = X.mean(axis=0), Y.mean(axis=0)
            gram = (X - middle).T @ (X - middle) + ridge * np.eye(4)
            weights = np.linalg.solve(gram, (X - middle).T @ (Y - share))
            scores = (features[row] - middle) @ weights + share
            # The closed form keeps the column means of all rows, which moves scores a little.
            if abs(scores[0] - scores[1]) > 0.1:
                assert honest[row, column] == scores.argmax()


def test_neighbours_leave_the_row_out(noise):
    """As a fit without the row answers."""
    X, y = noise
    honest, _, _ = _references._neighbors(X, y)
    for inside, [row] in LeaveOneOut().split(X[:40]):
        keep = np.setdiff1d(np.arange(120), [row])
        model = KNeighborsClassifier(5).fit(X[keep], y[keep])
        assert honest[row, 2] == model.predict(X[[row]])[0]
        assert len(inside) == 39


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


def test_what_cannot_be_calibrated_is_refused(noise):
    """Numbers, sparse tables and groups."""
    X, y = noise
    with pytest.raises(ValueError, match="BiasCorrected needs one column of classes"):
        BiasCorrected(CopulaAugmenter()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="BiasCorrected does not take groups"):
        BiasCorrected(CopulaAugmenter()).fit(X, y, groups=y)


def test_many_rows_and_a_tiny_class_are_no_trouble():
    """References learn from a part of many rows; models that need more rows stay out."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), np.append(np.zeros(1480, dtype=int), np.ones(20, dtype=int))
    fitted = BiasCorrected(CopulaAugmenter(), random_state=0).fit(X, y)
    assert len(fitted.reference_models_.truth) == 1000
    assert fitted.sample(10, 0).reference_predictions.shape[0] == 10
