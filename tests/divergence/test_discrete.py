"""The divergence of labels is exact."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.distance import jensenshannon

from leavezero.divergence import jensen_shannon_labels, total_variation_limit


@given(st.lists(st.integers(0, 3), min_size=1), st.lists(st.integers(0, 3), min_size=1))
def test_it_is_the_square_of_scipys_distance(first, second):
    """And symmetric, and between 0 and ln 2."""
    shares = [np.bincount(part, minlength=4) / len(part) for part in (first, second)]
    found = jensen_shannon_labels(first, second)
    assert found == pytest.approx(jensenshannon(*shares) ** 2, abs=1e-12)
    assert found == pytest.approx(jensen_shannon_labels(second, first))
    assert 0 <= found <= np.log(2) + 1e-12


def test_soft_labels_are_random_hard_ones():
    """Their mean weights are compared, not the points of the simplex."""
    hard = np.eye(2)[[0, 0, 1, 1]]
    soft = np.full((6, 2), 0.5)
    assert jensen_shannon_labels(hard, soft) == pytest.approx(0.0)


@pytest.mark.parametrize(
    ("y", "y_v", "message"),
    [
        ([], [1], "y of jensen_shannon_labels has no rows"),
        ([1], [], "y_v of jensen_shannon_labels has no rows"),
        (np.ones((2, 2)), np.ones((2, 3)), "must have the same classes, got 2 and 3 columns"),
        ([1, 2], np.ones((2, 2)), "must both be labels or both be rows of probabilities"),
    ],
)
def test_samples_that_cannot_be_compared(y, y_v, message):
    """The message names which."""
    with pytest.raises(ValueError, match=message):
        jensen_shannon_labels(y, y_v)


@given(st.floats(0.0, 1.0))
def test_two_points_reach_the_limit(t):
    """The pair whose total variation is t has the divergence from which t is found again."""
    p, q = np.array([(1 + t) / 2, (1 - t) / 2]), np.array([(1 - t) / 2, (1 + t) / 2])
    divergence = jensen_shannon_labels(p[None], q[None])
    found = total_variation_limit(min(divergence, np.log(2)))
    assert found == pytest.approx(t, abs=1e-5)
    assert found <= np.sqrt(2 * divergence) + 1e-6


def test_a_divergence_in_other_units_is_refused():
    """Bits and roots are above ln 2 soon."""
    for wrong in (-0.1, 0.9):
        with pytest.raises(ValueError, match=r"between 0 and ln 2 = 0\.6931 nats"):
            total_variation_limit(wrong)
