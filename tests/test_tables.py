"""Any table to numbers and back."""

import numpy as np
import pandas as pd
import pytest

from leavezero._tables import TableFormat, count_rows, stack_rows, take_rows


def test_a_frame_gets_its_names_and_dtypes_back(rng):
    """Whole-number columns stay whole, float32 stays float32."""
    frame = pd.DataFrame(
        {"a": np.array([1, 2, 3]), "b": np.array([0.5, 1, 2], dtype=np.float32), "c": [True] * 3}
    )
    restored = TableFormat.of(frame).restore(np.array([[1.5, 0.25, 1.0]]), rng)
    assert list(restored.columns) == ["a", "b", "c"]
    assert list(restored.dtypes) == list(frame.dtypes)
    assert restored["a"][0] in (1, 2)


def test_rounding_keeps_the_mean(rng):
    """A value of 0.3 becomes 1 in three of ten cells."""
    rounded = TableFormat.of(np.zeros((1, 1), dtype=int)).restore(np.full((20_000, 1), 0.3), rng)
    assert rounded.dtype.kind == "i"
    assert rounded.mean() == pytest.approx(0.3, abs=0.015)


@pytest.mark.parametrize("make", [np.array, pd.DataFrame, list])
def test_rows_are_counted_and_taken(make):
    """Arrays, frames and lists alike."""
    X = make([[1.0], [2.0], [3.0]])
    assert count_rows(X) == 3
    assert np.asarray(take_rows(X, slice(1, 2)))[0, 0] == 2


def test_frames_are_stacked_with_a_new_index():
    """Rows are numbered anew."""
    frame = pd.DataFrame({"a": [1, 2]})
    stacked = stack_rows([frame, frame])
    assert list(stacked.index) == [0, 1, 2, 3]
    assert stacked["a"].dtype == frame["a"].dtype
