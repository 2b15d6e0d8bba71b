"""Predictions of SMIRClassifier for held-out labels."""

import numpy as np
import pytest

from leavezero.leave_one_out import find_leave_one_out
from leavezero.leave_one_out._smir_folds import N_REPEATS
from leavezero.semi_supervised import SMIRClassifier, held_out_scores


def blobs(n_labeled):
    rng = np.random.default_rng(0)
    codes = np.arange(40) % 2
    y = np.where(np.arange(40) < n_labeled, codes, -1)
    return rng.normal(size=(40, 2)) + 3 * codes[:, None], y, codes


def test_labeled_rows_are_predicted_once_per_repetition():
    X, y, codes = blobs(12)
    model = SMIRClassifier().fit(X, y)
    loo = find_leave_one_out(model).predict(model, X, y)
    assert (loo.method, loo.unreliable) == ("folds", None)
    assert loo.rows.tolist() == list(range(12)) * N_REPEATS
    scores = held_out_scores(model, N_REPEATS).scores.reshape(-1, 2)
    np.testing.assert_array_equal(loo.predictions["predict_proba"], scores)
    assert np.mean(loo.predictions["predict"] == codes[loo.rows]) > 0.9


def test_single_labels_and_other_rows():
    X, y, _ = blobs(3)
    model = SMIRClassifier().fit(X, y)
    loo = find_leave_one_out(model).predict(model, X, y)
    assert loo.predictions == {}
    assert "has only one labeled row" in loo.unreliable
    with pytest.raises(ValueError, match="it has 40, there are 30"):
        find_leave_one_out(model).predict(model, X[:30], y[:30])
