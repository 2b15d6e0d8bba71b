"""The validation set is drawn once, before any fit."""

import pytest

from leavezero.engine._draw import MAX_ROWS, replicate_size


@pytest.mark.parametrize(
    ("size", "n_replicates", "n_samples", "expected"),
    [
        (1.0, 10, 150, 150),
        (0.5, 10, 150, 75),
        (3.0, 1, 150, 450),
        (7, 10, 150, 7),
        (0.001, 10, 150, 1),
        (1.0, 10, 10**6, MAX_ROWS // 10),
        (10**6, 10, 150, 10**6),
    ],
)
def test_shares_are_capped_and_numbers_are_taken_as_they_are(
    size, n_replicates, n_samples, expected
):
    """The user's own number of rows is never changed."""
    assert replicate_size(size, n_replicates, n_samples, "test") == expected
