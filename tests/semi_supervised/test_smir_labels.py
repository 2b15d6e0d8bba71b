"""Labels of partially labeled targets, and class priors."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from leavezero.semi_supervised._smir_labels import class_prior, read_labels


@pytest.mark.parametrize(
    ("y", "marker"),
    [
        ([1, -1, 0, 1], -1),
        ([1, 9, 0, 1], 9),
        (np.array([1.0, np.nan, 0.0, 1.0]), np.nan),
        (np.array([1.0, np.nan, 0.0, 1.0]), None),
        (np.array([1, None, 0, 1], dtype=object), None),
        (np.array([True, None, False, True], dtype=object), None),
        (["b", "?", "a", "b"], "?"),
        (np.array(["b", -1, "a", "b"], dtype=object), -1),
        (pd.Series(["b", None, "a", "b"]), None),
        (pd.Series(["b", None, "a", "b"], dtype="category"), None),
        (pd.Series([1, None, 0, 1], dtype="Int64"), pd.NA),
    ],
)
def test_markers_of_unlabeled_rows(y, marker):
    """Numbers, strings, objects and all kinds of missing values."""
    labels = read_labels(y, marker)
    assert_array_equal(labels.rows, [0, 2, 3])
    assert_array_equal(labels.codes, [1, 0, 1])
    assert (labels.n_rows, labels.n_classes) == (4, 2)


@pytest.mark.parametrize(
    ("y", "marker", "message"),
    [
        ([-1, -1], -1, r"y has no labeled row: every value is unlabeled=-1"),
        (["a", -1], -1, r"y contains the string '-1', but unlabeled is -1"),
        ([1.0, np.nan], -1, r"y contains NaN or None, but unlabeled is -1\. Use unlabeled=None"),
        ([1.0, np.inf], -1, "Input y contains infinity"),
        ([0.5, 1.2, 1.7], -1, "Unknown label type"),
        (None, -1, "requires y to be passed, but the target y is None"),
        ([[0, 1], [1, 0]], -1, "y should be a 1d array"),
    ],
)
def test_invalid_labels(y, marker, message):
    """Each error names the problem."""
    with pytest.raises(ValueError, match=message):
        read_labels(y, marker)


def test_class_prior():
    """Label frequencies, equal, or given up to a factor; positive numbers, one per class."""
    codes = np.array([0, 0, 0, 1])
    assert_allclose(class_prior("empirical", codes, 2), [0.75, 0.25])
    assert_allclose(class_prior("uniform", codes, 2), [0.5, 0.5])
    assert_allclose(class_prior([2, 6], codes, 2), [0.25, 0.75])
    with pytest.raises(ValueError, match="has 3 entries, but y has labeled rows of 2 classes"):
        class_prior([0.2, 0.3, 0.5], codes, 2)
    for prior in ("other", [0.5, 0.0], [0.5, np.nan], [[1.0, 1.0]], None, []):
        with pytest.raises(ValueError, match="prior of SMIRClassifier must be 'empirical'"):
            class_prior(prior, codes, 2)
