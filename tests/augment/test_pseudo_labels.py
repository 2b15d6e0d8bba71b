"""Augmenters for training data with rows without a label."""

import warnings

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_blobs, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading

from leavezero.augment import (
    CopulaAugmenter,
    GaussianMixtureAugmenter,
    LabeledOnly,
    LabelInvariantMixup,
    PseudoLabeled,
    resolve_augmenter,
)
from leavezero.augment._pseudo_labels import (
    default_labelers,
    mean_probabilities,
    with_marginal,
)
from leavezero.exceptions import SmallClassWarning
from leavezero.semi_supervised import SMIRClassifier
from leavezero.testing import check_augmenter


def blobs(n_labels=12, n_rows=90, n_classes=3, seed=0):
    """Return rows, labels with -1 for unlabeled rows, and all labels."""
    X, y = make_blobs(n_rows, centers=n_classes, cluster_std=1.5, random_state=seed)
    few = np.where(np.arange(n_rows) < n_labels, y, -1)
    for label in range(n_classes):
        few[np.flatnonzero(y == label)[0]] = label
    return X, few, y


class Constant(ClassifierMixin, BaseEstimator):
    """Predict the same probabilities for every row."""

    def __init__(self, shares=(0.7, 0.3)):
        self.shares = shares

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile(self.shares, (X.shape[0], 1))


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), n_labels=st.integers(4, 60))
def test_labeled_rows_keep_their_label(seed, n_labels):
    """With confidence 1."""
    X, few, _ = blobs(n_labels, seed=seed % 7)
    rng = np.random.default_rng(seed)
    few = np.where(few >= 0, rng.permutation(3)[few], -1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SmallClassWarning)  # few labels leave a class one row
        fitted = PseudoLabeled(LabelInvariantMixup(), "neighbors", random_state=seed).fit(X, few)
    known = few >= 0
    assert_array_equal(fitted.pseudo_labels_[known], few[known])
    assert_array_equal(fitted.confidence_[known], 1.0)
    assert np.all(fitted.confidence_ <= 1.0)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0.1, 0.9))
def test_the_weighted_label_marginal_equals_the_prior(seed, share):
    X, few, _ = blobs(n_classes=2)
    augmenter = PseudoLabeled(LabelInvariantMixup(), "neighbors", prior=[share, 1 - share])
    new = augmenter.set_params(random_state=seed).fit(X, few).sample(70, seed)
    weights = [new.sample_weight[new.y == label].sum() for label in (0, 1)]
    assert_allclose(weights, [70 * share, 70 * (1 - share)])


@pytest.mark.parametrize("rows", [LabelInvariantMixup(), CopulaAugmenter()])
def test_the_label_marginal_is_that_of_the_labeled_rows(rows):
    """Three of four labels are of the first class, but only half of the rows."""
    X, y = make_blobs(100, centers=[[0, 0], [9, 9]], random_state=0)
    few = np.full(100, -1)
    few[np.flatnonzero(y == 0)[:9]], few[np.flatnonzero(y == 1)[:3]] = 0, 1
    new = PseudoLabeled(rows, random_state=0).fit(X, few).sample(200, 0)
    assert new.sample_weight[new.y == 0].sum() == pytest.approx(150)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10_000), share=st.floats(0.2, 0.8))
def test_scaling_to_a_marginal_keeps_the_order_of_rows(seed, share):
    rng = np.random.default_rng(seed)
    first = np.sort(rng.uniform(0.01, 0.99, 30))
    scaled = with_marginal(np.column_stack([first, 1 - first]), np.array([share, 1 - share]))
    assert np.all(np.diff(scaled[:, 0]) >= 0)
    assert scaled.mean(axis=0)[0] == pytest.approx(share, abs=0.01)
    assert_allclose(scaled.sum(axis=1), 1.0)


def test_the_weight_of_a_row_is_the_confidence_of_its_source_rows():
    """Up to a factor per class."""
    X, few, _ = blobs(n_classes=2)
    augmenter = PseudoLabeled(LabelInvariantMixup(), random_state=0).fit(X, few)
    new = augmenter.sample(200, 0)
    confidence = augmenter.confidence_[new.source_rows].mean(axis=1)
    for label in (0, 1):
        ratio = new.sample_weight[new.y == label] / confidence[new.y == label]
        assert_allclose(ratio, ratio[0])


def test_augmenters_without_source_rows_are_fitted_with_weights():
    X = np.concatenate([np.zeros((20, 1)), np.full((20, 1), 4.0), np.full((20, 1), 9.0)])
    X += np.random.default_rng(0).normal(0, 0.1, X.shape)
    few = np.full(60, -1)
    few[:3], few[-3:] = 0, 1

    class Uncertain(Constant):
        def predict_proba(self, X):
            first = np.where(X[:, 0] < 2, 0.99, np.where(X[:, 0] > 6, 0.01, 0.5001))
            return np.column_stack([first, 1 - first])

    new = PseudoLabeled(GaussianMixtureAugmenter(), Uncertain(), random_state=0).fit(X, few)
    assert new.confidence_[20:40].max() < 0.7
    assert new.sample(50, 0).source_rows is None


def test_pseudo_labels_are_mostly_right():
    """Two moons with ten labels."""
    X, y = make_moons(200, noise=0.1, random_state=0)
    few = np.where(np.arange(200) < 10, y, -1)
    fitted = PseudoLabeled(LabelInvariantMixup(), random_state=0).fit(X, few)
    assert np.mean(fitted.pseudo_labels_ == y) > 0.8
    assert 0.85 < fitted.pseudo_share_ < 0.95
    assert fitted.n_fits_ == 3
    assert_allclose(fitted.label_weights_, 1 / 3)


@pytest.mark.parametrize("labeler", ["spreading", "self-training", "neighbors"])
def test_labelers_are_names_or_estimators(labeler):
    X, few, _ = blobs()
    fitted = PseudoLabeled(LabelInvariantMixup(), labeler, random_state=0).fit(X, few)
    assert len(fitted.label_models_) == 1
    own = PseudoLabeled(LabelInvariantMixup(), [LogisticRegression(), LabelSpreading("knn")])
    assert len(own.fit(X, few).label_models_) == 2


def test_only_semi_supervised_labelers_are_fitted_to_unlabeled_rows():
    X, few, _ = blobs()
    n_rows = []

    class Recording(Constant):
        def fit(self, X, y):
            n_rows.append(X.shape[0])
            return super().fit(X, y)

    class SemiSupervised(Recording):
        unlabeled = -1

        def fit(self, X, y):
            super().fit(X, y)
            self.classes_ = np.unique(y[y >= 0])
            return self

    for labeler in (Recording((0.5, 0.3, 0.2)), SemiSupervised((0.5, 0.3, 0.2))):
        mean_probabilities([labeler], X, few, 3, seed=0)
    assert n_rows == [np.sum(few >= 0), len(few)]


def test_graph_components_without_a_label_get_equal_probabilities():
    """Label propagation gives zeros."""
    X = np.array([[0.0], [0.1], [9.0], [9.1], [500.0], [500.1]])
    few = np.array([0, -1, 1, -1, -1, -1])
    spread = LabelSpreading(kernel="knn", n_neighbors=1, max_iter=50)
    predicted = mean_probabilities([spread], X, few, 2, seed=0)
    assert_allclose(predicted.sum(axis=1), 1.0)
    assert np.all(predicted >= 0)


@pytest.mark.parametrize("marker", ["?", "unknown", 99, None])
def test_markers_and_labels_of_any_type_are_supported(marker):
    X, few, _ = blobs()
    names = np.array(["ape", "bee", "cat"], dtype=object)
    y = np.array([marker if code < 0 else names[code] for code in few], dtype=object)
    new = PseudoLabeled(LabelInvariantMixup(), unlabeled=marker, random_state=0).fit(X, y)
    assert set(new.pseudo_labels_) == set(names)
    assert set(new.sample(60, 0).y) == set(names)


def test_columns_and_dtypes_of_a_frame_are_kept():
    X, few, _ = blobs()
    frame = pd.DataFrame(X, columns=["a", "b"])
    frame["c"] = pd.Categorical(np.where(few % 2, "odd", "even"))
    new = (
        PseudoLabeled(LabelInvariantMixup(), random_state=0).fit(frame, pd.Series(few)).sample(9, 0)
    )
    assert list(new.X.columns) == ["a", "b", "c"]
    assert (new.X.dtypes == frame.dtypes).all()


def test_a_sparse_matrix_stays_sparse():
    X = sparse.random(60, 40, density=0.2, format="csr", random_state=0)
    few = np.where(np.arange(60) < 10, np.arange(60) % 2, -1)
    new = PseudoLabeled(LabelInvariantMixup(), random_state=0).fit(X, few).sample(30, 0)
    assert sparse.issparse(new.X)
    assert new.X.shape == (30, 40)


def test_nothing_is_added_if_all_rows_are_labeled():
    """No label model is fitted, and all weights are equal."""
    X, _, y = blobs()
    fitted = PseudoLabeled(LabelInvariantMixup(), random_state=0).fit(X, y)
    assert fitted.pseudo_share_ == 0.0
    assert fitted.n_fits_ == 0
    assert_allclose(fitted.sample(90, 0).sample_weight, 1.0)


def test_sample_weights_are_passed_to_the_augmenter():
    X, few, _ = blobs(n_classes=2)
    weights = np.where(X[:, 0] > np.median(X[:, 0]), 1.0, 1e-9)
    fitted = PseudoLabeled(GaussianMixtureAugmenter(), random_state=0)
    new = fitted.fit(X, few, sample_weight=weights).sample(200, 0)
    assert np.isfinite(new.X).all()


@pytest.mark.parametrize("kind", [PseudoLabeled, LabeledOnly])
def test_invalid_labels_are_rejected(kind):
    X, few, _ = blobs()
    with pytest.raises(ValueError, match=f"y given to {kind.__name__} has no labeled row: all"):
        kind(LabelInvariantMixup()).fit(X, np.full(90, -1))
    with pytest.raises(ValueError, match=f"given to {kind.__name__} have one class only, 1"):
        kind(LabelInvariantMixup()).fit(X, np.where(few == 1, 1, -1))


@pytest.mark.parametrize("labeler", ["spread", 3, [], None, LabelInvariantMixup()])
def test_an_invalid_labeler_is_rejected(labeler):
    X, few, _ = blobs()
    wording = "labeler of PseudoLabeled must be \"auto\", one of 'spreading', 'self-training', 'nei"
    with pytest.raises(ValueError, match=wording):
        PseudoLabeled(LabelInvariantMixup(), labeler).fit(X, few)


@pytest.mark.parametrize("prior", ["even", [0.5, 0.5], [0.5, 0.5, 0.0], 0.3])
def test_an_invalid_prior_is_rejected(prior):
    X, few, _ = blobs()
    wording = r'must be "labeled" or 3 positive shares in the order of the classes \[0, 1, 2\], got'
    with pytest.raises(ValueError, match=wording):
        PseudoLabeled(LabelInvariantMixup(), prior=prior).fit(X, few)


@pytest.mark.parametrize(
    "augmenter",
    [
        PseudoLabeled(LabelInvariantMixup(), random_state=0),
        PseudoLabeled(CopulaAugmenter(), "neighbors", random_state=0),
        LabeledOnly(LabelInvariantMixup(), random_state=0),
    ],
    ids=["pseudo mix-up", "pseudo copula", "labeled only"],
)
def test_they_conform(augmenter):
    """With data in which all rows have a label."""
    check_augmenter(augmenter)


def test_only_labeled_rows_are_source_rows():
    """As positions in the whole table."""
    X, few, _ = blobs()
    new = LabeledOnly(LabelInvariantMixup(), random_state=0).fit(X, few).sample(300, 0)
    assert np.all(few[new.source_rows[new.source_rows >= 0]] >= 0)
    assert set(np.unique(new.source_rows)) == set(np.flatnonzero(few >= 0))


def test_auto_uses_no_candidate_type_for_pseudo_labels():
    """And wraps an augmenter that does not know markers."""
    X, few, _ = blobs()
    auto = resolve_augmenter("auto", X, few, unlabeled=-1, candidate_types={LabelSpreading})
    assert LabelSpreading not in {type(labeler) for labeler in auto.augmenter.labeler}
    assert len(auto.augmenter.labeler) == 2
    smir = resolve_augmenter("auto", X, few, unlabeled=-1, candidate_types={SMIRClassifier})
    assert len(smir.augmenter.labeler) == 3
    given_one = resolve_augmenter(LabelInvariantMixup(), X, few, unlabeled=-1)
    assert isinstance(given_one.augmenter, LabeledOnly)
    own = PseudoLabeled(LabelInvariantMixup())
    assert resolve_augmenter(own, X, few, unlabeled=-1).augmenter is own
    text = resolve_augmenter("auto", sparse.csr_matrix(X), few, unlabeled=-1)
    assert isinstance(text.augmenter.augmenter, LabelInvariantMixup)


def test_label_spreading_uses_fewer_neighbors_than_rows():
    assert default_labelers(4)["spreading"].n_neighbors == 3
    assert default_labelers(1)["spreading"].n_neighbors == 1


@pytest.mark.parametrize("kind", [PseudoLabeled, LabeledOnly])
def test_nan_can_be_the_marker(kind):
    X, y = np.arange(12.0)[:, None], np.repeat([0.0, np.nan, 1.0], 4)
    new = kind(LabelInvariantMixup(), unlabeled=np.nan, random_state=0).fit(X, y).sample(20, 0)
    assert set(new.y.tolist()) == {0.0, 1.0}
