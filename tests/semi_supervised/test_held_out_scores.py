"""Held-out scores equal those of models that were fitted without the labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from leavezero._random import seed_sequence, stratified_folds, stream
from leavezero.semi_supervised import SMIRClassifier, held_out_scores


def labeled_blobs(seed, n_classes, n_rows=40, n_labeled=15):
    """Return overlapping classes with at least two labels each."""
    X, y = make_blobs(n_rows, centers=n_classes, cluster_std=4.0, random_state=seed)
    order = np.random.default_rng(seed).permutation(n_rows)
    first = np.concatenate([order[y[order] == code][:2] for code in range(n_classes)])
    labeled = np.concatenate([first, np.setdiff1d(order, first)])[:n_labeled]
    return X, np.where(np.isin(np.arange(n_rows), labeled), y, -1)


@settings(max_examples=30)
@given(
    st.integers(0, 10**6),
    st.integers(2, 4),
    st.sampled_from([0.2, 1.0]),
    st.sampled_from([0.0, 0.1, 10.0]),
    st.sampled_from([1e-6, 1e-2]),
    st.sampled_from(["empirical", "uniform"]),
    st.integers(2, 6),
)
def test_equals_refits(seed, n_classes, width, gamma, offset, prior, n_folds):
    """Rows of a fold stay in the training data as unlabeled rows."""
    X, y = labeled_blobs(seed, n_classes)
    model = SMIRClassifier(width=width, gamma=gamma, offset=offset, prior=prior).fit(X, y)
    held_out = held_out_scores(model, n_repeats=2, n_folds=n_folds, random_state=seed)
    codes = y[model.labeled_]
    n_folds = min(n_folds, np.bincount(codes).min())
    for repeat in range(2):
        folds = stratified_folds(codes, n_folds, stream(seed_sequence(seed), "repeat", repeat))
        for fold in np.unique(folds):
            out = model.labeled_[folds == fold]
            y_kept = y.copy()
            y_kept[out] = -1
            expected = clone(model).fit(X, y_kept).label_distributions_[out]
            assert_allclose(held_out.scores[repeat, folds == fold], expected, atol=1e-6)


def test_folds_depend_on_labels_and_seed_only():
    """Equal for equal labels, and for parameters that are set after the fit."""
    X, y = labeled_blobs(0, 3)
    model = SMIRClassifier().fit(X, y)
    scores = held_out_scores(SMIRClassifier().fit(X, y)).scores
    assert scores.shape == (4, 15, 3)
    assert_array_equal(held_out_scores(model).scores, scores)
    assert not np.array_equal(held_out_scores(model, random_state=1).scores, scores)
    assert_array_equal(held_out_scores(model.set_params(gamma=100.0)).scores, scores)


def test_smallest_class_limits_the_number_of_folds():
    """Two labels give two folds; one label gives a reason."""
    X, y = labeled_blobs(0, 3)
    y[np.flatnonzero(y == 1)[2:]] = -1
    model = SMIRClassifier().fit(X, y)
    assert_array_equal(*(held_out_scores(model, n_folds=n).scores for n in (2, 5)))
    names = np.where(y == -1, "?", np.array(["a", "b", "c"])[y])
    names[np.flatnonzero(names == "b")[1:]] = "?"
    held_out = held_out_scores(SMIRClassifier(unlabeled="?").fit(X, names))
    assert held_out.reason == "class 'b' has only one labeled row"
    assert held_out.scores.shape == (0, len(held_out.rows), 3)


def test_too_many_labels(monkeypatch):
    """A model with many labels does not keep the arrays for held-out scores."""
    monkeypatch.setattr("leavezero.semi_supervised._smir_classifier.MAX_LABELS_OF_FOLDS", 10)
    held_out = held_out_scores(SMIRClassifier().fit(*labeled_blobs(0, 2)))
    assert held_out.reason == "the model has more than 10 labeled rows"


def test_unfitted_model():
    with pytest.raises(NotFittedError):
        held_out_scores(SMIRClassifier())
