"""Held-out scores equal those of models that were really fitted without the labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.exceptions import NotFittedError

from leavezero._random import seed_sequence, stream
from leavezero.semi_supervised import SMIRClassifier, _folds, held_out_scores
from leavezero.semi_supervised._folds import deal


def some_labels(seed, n_classes, n_rows=40, n_labeled=15):
    """Return overlapping classes, of which each has two labels or more."""
    X, y = make_blobs(n_rows, centers=n_classes, cluster_std=4.0, random_state=seed)
    order = np.random.default_rng(seed).permutation(n_rows)
    least = np.concatenate([order[y[order] == code][:2] for code in range(n_classes)])
    keep = np.concatenate([least, np.setdiff1d(order, least)])[:n_labeled]
    return X, np.where(np.isin(np.arange(n_rows), keep), y, -1)


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
def test_equal_to_real_refits(seed, n_classes, width, gamma, offset, prior, n_folds):
    """With the rows of a fold kept as rows without a label."""
    X, y = some_labels(seed, n_classes)
    model = SMIRClassifier(width=width, gamma=gamma, offset=offset, prior=prior).fit(X, y)
    held = held_out_scores(model, n_repeats=2, n_folds=n_folds, random_state=seed)
    codes = y[model.labeled_]
    n_folds = min(n_folds, np.bincount(codes).min())
    for repeat in range(2):
        folds = deal(codes, n_folds, stream(seed_sequence(seed), "repeat", repeat))
        for fold in np.unique(folds):
            out = model.labeled_[folds == fold]
            without = y.copy()
            without[out] = -1
            refit = clone(model).fit(X, without)
            expected = refit.label_distributions_[out]
            assert_allclose(held.scores[repeat, folds == fold], expected, atol=1e-6)


def test_approximations_have_folds_too():
    """The block downdate knows only the labelled rows, whatever the kernel."""
    X, y = some_labels(1, 3)
    model = SMIRClassifier(n_components=20, random_state=3, width=1.0).fit(X, y)
    held = held_out_scores(model, n_repeats=1, n_folds=2)
    folds = deal(y[model.labeled_], 2, stream(seed_sequence(0), "repeat", 0))
    # A refit would choose other landmarks; the same are had with the model's own support.
    support = model._support
    kernel = model._kernel

    def nystrom(A, B):
        first, second = kernel.between(A, support), kernel.between(B, support)
        return first @ np.linalg.pinv(kernel.between(support, support)) @ second.T

    # The approximation's own row sums differ from the kernel's, so only the choice is compared.
    agree = []
    for fold in np.unique(folds):
        out = model.labeled_[folds == fold]
        without = y.copy()
        without[out] = -1
        matrix = np.maximum(nystrom(X, X), 0.0)
        refit = SMIRClassifier("precomputed").fit((matrix + matrix.T) / 2, without)
        scores = held.scores[0, folds == fold]
        agree.extend(refit.label_distributions_[out].argmax(axis=1) == scores.argmax(axis=1))
    assert np.mean(agree) > 0.9


@given(st.lists(st.integers(2, 9), min_size=1, max_size=5), st.integers(2, 7), st.integers(0, 99))
def test_no_class_is_ever_missing(counts, n_folds, seed):
    """Every class keeps a label in every fold, and folds differ by one row at most."""
    codes = np.repeat(np.arange(len(counts)), counts)
    folds = deal(codes, n_folds, np.random.default_rng(seed))
    for fold in np.unique(folds):
        assert len(np.unique(codes[folds != fold])) == len(counts)
    assert np.ptp(np.bincount(folds)) <= 1


def test_folds_depend_on_labels_and_seed_alone():
    """Two models with the same labels are judged on the same folds."""
    X, y = some_labels(0, 3)
    model = SMIRClassifier().fit(X, y)
    again = held_out_scores(SMIRClassifier().fit(X, y))
    assert_array_equal(held_out_scores(model).scores, again.scores)
    assert held_out_scores(model).scores.shape == (4, 15, 3)
    assert not np.array_equal(held_out_scores(model, random_state=1).scores, again.scores)


def test_parameters_set_after_the_fit_do_not_count():
    """The scores are those of the model that was fitted."""
    X, y = some_labels(0, 2)
    model = SMIRClassifier().fit(X, y)
    before = held_out_scores(model).scores
    assert_array_equal(held_out_scores(model.set_params(gamma=100.0)).scores, before)


def test_a_class_with_one_label_is_a_reason():
    """Without that label the class would not exist."""
    X, y = some_labels(0, 3)
    names = np.where(y == -1, "?", np.array(["a", "b", "c"])[y])
    names[np.flatnonzero(names == "b")[1:]] = "?"
    held = held_out_scores(SMIRClassifier(unlabeled="?").fit(X, names))
    assert held.reason == "class 'b' has one label, and without it none"
    assert held.scores.shape == (0, len(held.rows), 3)


def test_a_small_class_means_fewer_folds():
    """With two labels of a class there are two folds."""
    X, y = some_labels(0, 3)
    y[np.flatnonzero(y == 1)[2:]] = -1
    model = SMIRClassifier().fit(X, y)
    two, five = held_out_scores(model, n_folds=2), held_out_scores(model, n_folds=5)
    assert_array_equal(two.scores, five.scores)


def test_so_many_labels_keep_nothing(monkeypatch):
    """A model with thousands of labels does not carry what folds need."""
    monkeypatch.setattr("leavezero.semi_supervised._together.MOST_LABELS", 10)
    monkeypatch.setattr(_folds, "MOST_LABELS", 10)
    held = held_out_scores(SMIRClassifier().fit(*some_labels(0, 2)))
    assert held.reason == "the model has more than 10 labels and keeps nothing for folds"


@pytest.mark.parametrize(("name", "wrong"), [("n_repeats", 0), ("n_folds", 1), ("n_folds", 2.5)])
def test_bad_numbers_are_refused(name, wrong):
    """With the least that is allowed."""
    model = SMIRClassifier().fit(*some_labels(0, 2))
    with pytest.raises(ValueError, match=f"{name} of held_out_scores must be an int of at least"):
        held_out_scores(model, **{name: wrong})


def test_an_unfitted_model_has_no_scores():
    """As scikit-learn says it."""
    with pytest.raises(NotFittedError):
        held_out_scores(SMIRClassifier())
