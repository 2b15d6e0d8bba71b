"""The validation set of an augmenter."""

import numpy as np
import pytest

from leavezero import ValidationSet


def test_fields_of_different_length_are_rejected():
    with pytest.raises(ValueError, match="y of ValidationSet has 2 rows and X has 3"):
        ValidationSet(np.zeros((3, 1)), np.zeros(2))


def test_validation_sets_are_concatenated_in_order_with_all_fields():
    parts = [
        ValidationSet(np.full((2, 1), i), np.full(2, i), source_rows=np.full((2, 1), i))
        for i in range(3)
    ]
    whole = ValidationSet.concatenate(parts)
    assert whole.y.tolist() == [0, 0, 1, 1, 2, 2]
    assert whole.source_rows.ravel().tolist() == [0, 0, 1, 1, 2, 2]
    assert whole.sample_weight is None


def test_means_over_source_rows():
    sources = np.array([[0, 1], [1, -1], [-1, -1]])
    validation_set = ValidationSet(np.zeros((3, 1)), np.zeros(3), source_rows=sources)
    assert validation_set.source_means([1, 3]).tolist() == [2, 3, 1]
    assert ValidationSet(np.zeros((1, 1)), np.zeros(1)).source_means([5]).tolist() == [1]
