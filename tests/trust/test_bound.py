"""The bound, as printed and as it holds."""

from math import inf

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm
from sklearn.ensemble import AdaBoostClassifier, ExtraTreesClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.neural_network import MLPClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

from leavezero.divergence import corollary_divergence, jensen_shannon_labels, joint_divergence
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
        (DecisionTreeClassifier(max_leaf_nodes=8), 92),
        (DecisionTreeClassifier(max_depth=5), 497),
        (DecisionTreeClassifier(min_samples_leaf=5), None),
        (RandomForestClassifier(), inf),
        (ExtraTreesClassifier(min_samples_leaf=5), None),
        (AdaBoostClassifier(), 5805),
        (AdaBoostClassifier(DecisionTreeClassifier()), inf),
        (AdaBoostClassifier(SVC(kernel="sigmoid")), None),
        (SVC(kernel="sigmoid"), None),
        (MLPClassifier(), None),
        (make_pipeline(StandardScaler(), LogisticRegression()), 21),
        (make_pipeline(StandardScaler(), BernoulliNB()), None),
        (make_pipeline(PolynomialFeatures(), LogisticRegression()), None),
    ],
)
def test_dimensions_are_known_or_not(model, expected):
    """For 20 columns; no number is guessed."""
    assert vc_dimension(model, 20) == expected


def test_a_forest_is_at_least_its_trees():
    """A mean of leaf values tells more patterns apart than one tree, and fewer than no limit."""
    tree = vc_dimension(DecisionTreeClassifier(max_leaf_nodes=8), 20)
    forests = [vc_dimension(RandomForestClassifier(n, max_leaf_nodes=8), 20) for n in (1, 10, 100)]
    assert [tree, *forests] == sorted([tree, *forests])
    assert forests[2] < inf


@pytest.mark.parametrize("leaves", [2, 3, 5, 50])
def test_what_is_counted_is_no_less_than_what_a_line_shows(leaves):
    """On a line, L leaves make L runs of labels: they shatter L points."""
    assert vc_dimension(DecisionTreeClassifier(max_leaf_nodes=leaves), 1) >= leaves


def test_the_corollary_term_by_term():
    """Its terms add up as printed; corrected they are never below the theorem's."""
    shares, shares_v, inside = [0.6, 0.4], [0.5, 0.5], [0.02, 0.05]
    terms = corollary_divergence(shares, shares_v, inside)
    bound = risk_bound(terms, n_rows=100_000, dimension=3)
    theorem = risk_bound(joint_divergence(shares, shares_v, inside), n_rows=100_000, dimension=3)
    expected = (
        np.sqrt(0.6 * 0.02 + 0.4 * 0.05 + 0.5 * 0.02 + 0.5 * 0.05) + terms.labels
    ) / np.sqrt(2)
    assert bound.shift_as_printed == pytest.approx(expected)
    assert bound.shift == pytest.approx(2 * expected)
    assert theorem.shift_tight < bound.shift_tight < bound.shift
    far = risk_bound(corollary_divergence([1.0], [1.0], [0.69]), n_rows=1000, dimension=3)
    assert far.shift_tight == 1.0 < far.shift


def line_divergence(p, q):
    """Return the divergence of two densities on a line by integration."""

    def integrand(x):
        a, b = p(x), q(x)
        return sum(v * np.log(2 * v / (a + b)) for v in (a, b) if v > 0) / 2

    return quad(integrand, -12, 12, limit=500)[0]


@pytest.mark.parametrize(
    ("middle", "width"), [(1.0, 1.0), (1.0, 0.95), (0.9, 0.9), (1.4, 1.0), (1.0, 0.6)]
)
def test_it_holds_in_simulation_for_every_threshold_at_once(middle, width):
    """Two normal classes on a line, V as good as the data or shifted or too narrow.

    Half-lines of either direction have dimension 2. The errors of a threshold on m rows are
    counts of cells between thresholds, which are multinomial, and its risk is known.
    """
    rng, m, cuts = np.random.default_rng(0), 100_000, np.linspace(-3, 3, 61)
    edges = np.concatenate([[-np.inf], cuts, [np.inf]])
    cells = [np.diff(norm.cdf(edges, side * middle, width)) / 2 for side in (-1, 1)]
    counts = rng.multinomial(m, np.concatenate(cells), size=500) / m
    low, high = counts[:, : len(cuts) + 1], counts[:, len(cuts) + 1 :]
    # Errors of "x above the cut is class 1": class 0 above it, class 1 below it.
    on_v = low[:, ::-1].cumsum(axis=1)[:, ::-1][:, 1:] + high.cumsum(axis=1)[:, :-1]
    risk = (norm.sf(cuts, -1.0) + norm.cdf(cuts, 1.0)) / 2
    gaps = np.abs(on_v - risk).max(axis=1)  # the same for the other direction: 1 - error
    inside = line_divergence(norm(1.0).pdf, norm(middle, width).pdf)
    shared = joint_divergence([0.5, 0.5], [0.5, 0.5], [inside, inside])
    bound = risk_bound(shared, n_rows=m, dimension=2, delta=0.1)
    assert not bound.vacuous
    assert np.mean(gaps > bound.corrected) <= 0.1
    assert np.mean(gaps > bound.tight) <= 0.1


@pytest.mark.slow
@pytest.mark.parametrize("away", [0.0, 0.4])
def test_it_holds_in_simulation_for_planes(away):
    """Lines in two columns have dimension 3; V is fresh data, or moved across the border."""
    rng, m = np.random.default_rng(0), 100_000
    normals, offsets = rng.normal(size=(20, 2)), rng.normal(size=20)
    lengths = np.linalg.norm(normals, axis=1)
    middle = np.array([1.0, 0.0])
    risk = [
        (norm.sf(b, -(w @ middle), s) + norm.cdf(b, w @ middle, s)) / 2
        for w, b, s in zip(normals, offsets, lengths, strict=True)
    ]
    shared = line_divergence(norm().pdf, norm(away).pdf)
    bound = risk_bound(shared, n_rows=m, dimension=3, delta=0.1)
    assert not bound.vacuous
    exceeded = 0
    for _ in range(500):
        y = rng.random(m) < 0.5
        x = rng.standard_normal((m, 2)) + np.where(y, 1.0, -1.0)[:, None] * middle
        x[:, 0] += away
        on_v = ((x @ normals.T > offsets) != y[:, None]).mean(axis=0)
        exceeded += np.abs(on_v - risk).max() > bound.tight
    assert exceeded / 500 <= 0.1
