"""The record that an augmenter hands over."""

import numpy as np
import pytest

from leavezero import ValidationSet


def test_parts_of_different_length_are_refused():
    """The message names the part."""
    with pytest.raises(ValueError, match="y of ValidationSet has 2 rows and X has 3"):
        ValidationSet(np.zeros((3, 1)), np.zeros(2))


def test_sets_are_joined_in_order_with_all_their_parts():
    """What one part lacks, the whole lacks."""
    parts = [
        ValidationSet(np.full((2, 1), i), np.full(2, i), origins=np.full((2, 1), i))
        for i in range(3)
    ]
    whole = ValidationSet.concatenate(parts)
    assert whole.y.tolist() == [0, 0, 1, 1, 2, 2]
    assert whole.origins.ravel().tolist() == [0, 0, 1, 1, 2, 2]
    assert whole.posterior is None
