"""The marker of rows without a label, in every kind of y."""

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from leavezero.semi_supervised._labels import class_prior, read_labels


@pytest.mark.parametrize(
    ("y", "marker"),
    [
        ([1, -1, 0, 1], -1),
        (np.array([1.0, np.nan, 0.0, 1.0]), np.nan),
        (np.array([1.0, np.nan, 0.0, 1.0]), None),
        (np.array([1, None, 0, 1], dtype=object), None),
        (np.array([1, None, 0, 1], dtype=object), np.nan),
        (["b", "?", "a", "b"], "?"),
        (np.array(["b", -1, "a", "b"], dtype=object), -1),
        (np.array(["b", None, "a", "b"], dtype=object), None),
        (pd.Series(["b", None, "a", "b"]), None),
        (pd.Series(["b", None, "a", "b"], dtype="category"), None),
        (pd.Series([1, None, 0, 1], dtype="Int64"), pd.NA),
        (pd.Series([1, None, 0, 1], dtype="Int64"), None),
        (np.array([True, None, False, True], dtype=object), None),
        ([1, 9, 0, 1], 9),
    ],
)
def test_markers_of_every_kind(y, marker):
    """Numbers, strings, objects, missing values of three kinds."""
    labels = read_labels(y, marker)
    assert_array_equal(labels.rows, [0, 2, 3])
    assert_array_equal(labels.codes, [1, 0, 1])
    assert labels.n_rows == 4


@pytest.mark.parametrize(("y", "marker"), [([0, 1], -1), (["a", "b"], -1), ([0, 1], "?")])
def test_without_the_marker_every_row_has_a_label(y, marker):
    """A marker that does not occur is no error."""
    assert_array_equal(read_labels(y, marker).rows, [0, 1])


@pytest.mark.parametrize(
    ("y", "marker", "words"),
    [
        ([-1, -1], -1, r"y has no labelled row: every value is unlabeled=-1"),
        (["a", -1], -1, r"y holds strings, '-1' among them, but unlabeled is -1"),
        ([1.0, np.nan], -1, r"y contains NaN or None, but unlabeled is -1\. Give unlabeled=None"),
        ([1.0, np.inf], -1, "Input y contains infinity"),
        ([0.5, 1.2, 1.7], -1, "Unknown label type"),
        (None, -1, "requires y to be passed, but the target y is None"),
        ([[0, 1], [1, 0]], -1, "y should be a 1d array"),
    ],
)
def test_bad_labels(y, marker, words):
    """Each is told apart."""
    with pytest.raises(ValueError, match=words):
        read_labels(y, marker)


def test_shares_of_classes():
    """Of the labels, all the same, or as given up to a factor."""
    codes = np.array([0, 0, 0, 1])
    assert_allclose(class_prior("empirical", codes, 2), [0.75, 0.25])
    assert_allclose(class_prior("uniform", codes, 2), [0.5, 0.5])
    assert_allclose(class_prior([2, 6], codes, 2), [0.25, 0.75])


@pytest.mark.parametrize("prior", ["other", [0.5, 0.0], [0.5, np.nan], [[1.0, 1.0]], None, []])
def test_bad_shares(prior):
    """A share must be a positive number."""
    with pytest.raises(ValueError, match="prior of SMIRClassifier must be 'empirical', 'uniform'"):
        class_prior(prior, np.array([0, 1]), 2)


def test_a_class_without_a_labelled_row():
    """A share for a class that no label names says so."""
    with pytest.raises(ValueError, match="A class without a labelled row cannot be learned"):
        class_prior([0.2, 0.3, 0.5], np.array([0, 1]), 2)
