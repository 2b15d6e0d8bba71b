"""Reference models and their leave-one-out predictions."""

import pickle

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge
from sklearn.model_selection import LeaveOneOut
from sklearn.neighbors import KNeighborsClassifier

from leavezero.augment import BiasCorrected, CopulaAugmenter, LabelInvariantMixup, _bias_corrected


@pytest.fixture
def noise():
    """Return 120 rows with random labels."""
    rng = np.random.default_rng(0)
    return rng.normal(size=(120, 6)), rng.integers(2, size=120)


def test_kernel_ridge_classifiers_have_exact_leave_one_out_predictions():
    """For the mean of the labels of all rows."""
    rng = np.random.default_rng(0)
    features, codes = rng.normal(size=(25, 3)), rng.integers(3, size=25)
    targets = np.eye(3)[codes]
    mean = targets.mean(axis=0)
    groups = list(_bias_corrected._fit_ridges(features, codes))[:-1]
    for (loo, _, _), width in zip(groups, _bias_corrected.KERNEL_WIDTHS, strict=True):
        for column, alpha in enumerate(_bias_corrected.KERNEL_PENALTIES):
            model = KernelRidge(alpha=alpha, kernel="rbf", gamma=width / 3)
            for rows, [row] in LeaveOneOut().split(features):
                predicted = model.fit(features[rows], (targets - mean)[rows]).predict(
                    features[[row]]
                )
                assert loo[row, column] == (predicted + mean).argmax()


def test_ridge_classifiers_have_leave_one_out_predictions():
    """The means of the columns are those of all rows, which changes the predictions a little."""
    rng = np.random.default_rng(1)
    features, codes = rng.normal(size=(30, 4)), rng.integers(2, size=30)
    loo, _, _ = list(_bias_corrected._fit_ridges(features, codes))[-1]
    for column, alpha in enumerate(_bias_corrected.RIDGE_PENALTIES):
        for rows, [row] in LeaveOneOut().split(features):
            model = Ridge(alpha).fit(features[rows], np.eye(2)[codes[rows]])
            scores = model.predict(features[[row]])[0]
            if abs(scores[0] - scores[1]) > 0.1:
                assert loo[row, column] == scores.argmax()


def test_nearest_neighbors_leave_the_row_out(noise):
    X, y = noise
    loo, _, _ = _bias_corrected._fit_neighbors(X, y)
    for row in range(40):
        rows = np.setdiff1d(np.arange(120), [row])
        assert loo[row, 2] == KNeighborsClassifier(5).fit(X[rows], y[rows]).predict(X[[row]])[0]


def test_reference_models_memorize_but_their_leave_one_out_predictions_do_not(noise):
    """Labels are random: the bias of mix-up for 1-NN is large."""
    augmenter = BiasCorrected(LabelInvariantMixup(), random_state=0).fit(*noise)
    new, models = augmenter.sample(500, 0), augmenter.reference_models_
    assert np.mean(new.reference_predictions[:, 0] == new.y) > 0.75
    assert np.mean(models.loo_predictions[:, 0] == models.truth) < 0.6


def test_reference_models_can_be_pickled(noise):
    augmenter = BiasCorrected(LabelInvariantMixup(), random_state=0).fit(*noise)
    copy = pickle.loads(pickle.dumps(augmenter))
    first, second = (a.sample(20, 0).reference_predictions for a in (augmenter, copy))
    np.testing.assert_array_equal(first, second)


def test_unsupported_data_are_rejected(noise):
    X, y = noise
    with pytest.raises(ValueError, match="BiasCorrected requires one column of classes"):
        BiasCorrected(CopulaAugmenter()).fit(X, X[:, 0])
    with pytest.raises(ValueError, match="neither sparse nor text"):
        BiasCorrected(LabelInvariantMixup()).fit(sparse.csr_matrix(X), y)
    with pytest.raises(ValueError, match="BiasCorrected does not support groups"):
        BiasCorrected(CopulaAugmenter()).fit(X, y, groups=y)


def test_reference_models_are_fitted_to_a_part_of_many_rows():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(1500, 2)), np.append(np.zeros(1480, dtype=int), np.ones(20, dtype=int))
    fitted = BiasCorrected(CopulaAugmenter(), random_state=0).fit(X, y)
    assert len(fitted.reference_models_.truth) == 1000
    assert fitted.sample(10, 0).reference_predictions.shape[0] == 10
