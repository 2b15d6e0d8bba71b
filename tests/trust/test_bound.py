"""The bound, as printed and as it holds."""

from math import inf

import numpy as np
import pytest
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.divergence import jensen_shannon_labels
from leavezero.trust import risk_bound, vc_dimension


@pytest.mark.parametrize("t", [0.05, 0.2, 0.5, 1.0])
def test_the_printed_constant_is_too_small(t):
    """Two points, loss on one of them: the true gap is B t, above the printed shift."""
    p, q = np.array([[(1 + t) / 2, (1 - t) / 2]]), np.array([[(1 - t) / 2, (1 + t) / 2]])
    bound = risk_bound(jensen_shannon_labels(p, q), n_rows=1000, dimension=2, loss_width=3.0)
    gap = 3.0 * t
    assert bound.shift_as_printed < gap
    assert bound.shift >= gap - 1e-9
    assert bound.shift_tight == pytest.approx(gap, abs=1e-4)


@pytest.mark.parametrize(
    ("dimension", "n_rows", "expected"),
    [(7, 500, 0.607), (21, 500, 0.923), (21, 1000, 0.696), (21, 10_000, 0.260), (231, 1000, 1.713)],
)
def test_the_sampling_term_is_the_papers(dimension, n_rows, expected):
    """Worked by hand for 0-1 loss, delta 0.05 and one candidate."""
    bound = risk_bound(0.0, n_rows=n_rows, dimension=dimension)
    assert bound.sampling == pytest.approx(expected, abs=5e-4)
    assert bound.sampling_as_printed == bound.sampling


def test_whole_right_hand_sides():
    """Printed, corrected and tight, for a linear model of 20 columns."""
    bound = risk_bound(0.1537, n_rows=10_000, dimension=21)
    found = (bound.as_printed, bound.corrected, bound.tight)
    assert found == pytest.approx((0.538, 0.815, 0.800), abs=1e-3)
    assert not bound.vacuous
    assert risk_bound(np.log(2), n_rows=10_000, dimension=21).vacuous


def test_more_mixed_rows_do_not_shrink_it():
    """Mix-ups of n rows count as n / 2."""
    few = risk_bound(0.0, n_rows=1000, dimension=21, n_given=1000, mixed=True)
    many = risk_bound(0.0, n_rows=100_000, dimension=21, n_given=1000, mixed=True)
    assert few.effective_rows == many.effective_rows == 500
    assert few.tight == many.tight
    assert many.as_printed < few.as_printed


def test_width_and_candidates_count():
    """A loss of width B has B times every term; more candidates cost a logarithm."""
    one = risk_bound(0.01, n_rows=5000, dimension=3)
    wide = risk_bound(0.01, n_rows=5000, dimension=3, loss_width=4.0)
    assert wide.tight == pytest.approx(4.0 * one.tight)
    assert wide.hold_out == pytest.approx(4.0 * one.hold_out)
    several = risk_bound(0.01, n_rows=5000, dimension=3, n_candidates=100)
    assert one.sampling < several.sampling < 2 * one.sampling


def test_infinite_and_unknown_dimensions_leave_nothing():
    """So does a dimension above the number of rows."""
    for dimension in (inf, None, 2000):
        assert risk_bound(0.0, n_rows=1000, dimension=dimension).vacuous


def test_it_holds_in_simulation():
    """A threshold on a line, V shifted by a known amount: no draw exceeds the corrected bound."""
    rng, m, shift = np.random.default_rng(0), 100_000, 0.1
    # P: x uniform on [0, 1], label x > 0.5; V: x uniform on [shift, 1 + shift].
    gaps, thresholds = [], rng.uniform(0.2, 0.8, 200)
    for threshold in thresholds:
        x = rng.uniform(shift, 1 + shift, m)
        on_v = np.mean((x > 0.5) != (x > threshold))
        gaps.append(abs(abs(threshold - 0.5) - on_v))
    # Overlap 1 - shift: JS of two uniforms is shift * ln 2.
    bound = risk_bound(shift * np.log(2), n_rows=m, dimension=1, delta=0.1)
    assert not bound.vacuous
    assert np.mean(np.array(gaps) > bound.tight) == 0.0


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"n_rows": 0}, "n_rows of risk_bound must be a positive int, got 0"),
        ({"delta": 1.5}, "delta of risk_bound must be between 0 and 1, got 1.5"),
        ({"loss_width": inf}, "A loss without bounds has no such bound"),
        ({"dimension": -1}, "dimension of risk_bound must be positive, infinite or None"),
        ({"n_candidates": 2.5}, "n_candidates of risk_bound must be a positive int, got 2.5"),
    ],
)
def test_numbers_that_mean_nothing(more, message):
    """Which one, what is allowed, what came."""
    given = {"n_rows": 100, "dimension": 3} | more
    with pytest.raises(ValueError, match=message):
        risk_bound(0.0, **given)


@pytest.mark.parametrize(
    ("model", "expected"),
    [
        (LogisticRegression(), 21),
        (SVC(kernel="linear"), 21),
        (GaussianNB(), 41),
        (SVC(kernel="poly", degree=3), 1771),
        (DecisionTreeClassifier(max_depth=1), 7),
        (SVC(), inf),
        (KNeighborsClassifier(), inf),
        (DecisionTreeClassifier(), inf),
        (DecisionTreeClassifier(max_depth=4), None),
        (SVC(kernel="sigmoid"), None),
        (RandomForestClassifier(), None),
    ],
)
def test_dimensions_are_known_or_not(model, expected):
    """For 20 columns; no number is guessed."""
    assert vc_dimension(model, 20) == expected
