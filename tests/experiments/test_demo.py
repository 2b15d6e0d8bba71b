"""The demo compares both ways on the same grid."""

from leavezero.experiments import LEAVE_ZERO_OUT, run_demo


def test_the_quick_demo_has_a_row_for_each_data_set_model_and_way():
    """Ten-fold cross validation makes ten times the fits and one more."""
    rows = list(run_demo(quick=True))
    assert [row.data for row in rows] == ["breast cancer"] * 4 + ["wine"] * 4
    for ours, theirs in zip(rows[::2], rows[1::2], strict=True):
        assert ours.way == LEAVE_ZERO_OUT
        assert theirs.n_fits == 10 * ours.n_fits + 1
        assert ours.params.keys() == theirs.params.keys()
        assert ours.test_accuracy > 0.85
        assert ours.seconds > 0
