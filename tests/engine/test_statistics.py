"""How far scores are subject to chance, and who is chosen."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leavezero._random import seed_sequence
from leavezero.engine import (
    HighestScore,
    OneStandardError,
    Resampled,
    Standing,
    Vote,
    Witness,
    resample,
    resolve_rule,
    standard_error,
)
from leavezero.engine._statistics import anytime_radius

ROOT = seed_sequence(0)


def witness_of(gains, **more):
    gains = np.asarray(gains, dtype=np.float32)
    n_units = gains.shape[1]
    parts = {"n_given": n_units, "weights": np.full(n_units, 1 / n_units)} | more
    return Witness(gains=gains, bias=np.zeros(len(gains)), **parts)


def standing_of(gains, params=None, splits=None):
    witness = witness_of(gains)
    scores = witness.gains.mean(axis=1).astype(float)
    params = [{"C": float(at)} for at in range(len(scores))] if params is None else params
    splits = scores[:, None] if splits is None else np.asarray(splits, dtype=float)
    return Standing(scores, splits, params, [(at,) for at in range(len(scores))], witness)


def hits(share, n=400, seed=0):
    """Return n zeros and ones with a given share of ones, in random order."""
    ones = np.arange(n) < round(share * n)
    return np.random.default_rng(seed).permutation(ones).astype(float)


def test_the_interval_of_a_share_of_hits_is_the_binomial_one():
    """Rows that stand for themselves: the spread is that of a mean of independent rows."""
    drawn = resample(witness_of([hits(0.8)]), ROOT, n_resamples=2_000)
    low, high = drawn.interval()
    spread = 1.96 * np.sqrt(0.8 * 0.2 / 400)
    np.testing.assert_allclose([low[0], high[0]], [0.8 - spread, 0.8 + spread], atol=0.01)


def test_copies_of_a_row_are_no_further_rows():
    """Ten rows of V from one given row vary together, so the interval is that of the given rows."""
    few = hits(0.7, n=100)
    copies = np.repeat(few, 10)[None, :]
    origins = np.repeat(np.arange(100), 10)[:, None]
    by_origin = resample(witness_of(copies, origins=origins, n_given=100), ROOT, 1_000)
    by_row = resample(witness_of(copies), ROOT, 1_000)
    expected = np.sqrt(0.7 * 0.3 / 100)
    assert by_origin.inside.std() == pytest.approx(expected, rel=0.15)
    assert by_row.inside.std() == pytest.approx(expected / np.sqrt(10), rel=0.15)


def test_bundles_of_many_rows_spread_as_the_rows_do():
    """Rows are put into bundles at random, so that neighbours that are alike do not stay so."""
    blocks = np.sort(hits(0.7, n=30_000))[None, :]
    drawn = resample(witness_of(blocks), ROOT, 1_000)
    assert drawn.inside.mean() == pytest.approx(0.7, abs=2e-4)
    assert drawn.inside.std() == pytest.approx(np.sqrt(0.7 * 0.3 / 30_000), rel=0.1)
    assert drawn.outside.mean() == pytest.approx(0.7, abs=2e-4)


def test_a_row_weighs_the_product_of_its_origins_counts():
    """Checked against the definition, row by row; a place of -1 counts once."""
    rng = np.random.default_rng(3)
    origins = np.column_stack([rng.integers(0, 6, 9), rng.integers(-1, 6, 9)])
    gains = rng.normal(size=(1, 9))
    found = resample(witness_of(gains, origins=origins, n_given=6), ROOT, 1)
    counts = np.bincount(
        np.random.default_rng(_spawned("resamples")).integers(6, size=(1, 6))[0], minlength=6
    )
    weight = np.array([counts[a] * (counts[b] if b >= 0 else 1) for a, b in origins])
    outside = np.array([counts[a] == 0 and (b < 0 or counts[b] == 0) for a, b in origins])
    assert found.inside[0, 0] == pytest.approx(np.average(gains[0], weights=weight), rel=1e-5)
    if outside.any():
        assert found.outside[0, 0] == pytest.approx(gains[0][outside].mean(), rel=1e-5)


def _spawned(name):
    from leavezero._random import substream

    return substream(ROOT, name)


def test_where_v_has_no_origins_the_spread_is_called_monte_carlo():
    """It says nothing of the risk; the user's own rows do."""
    assert witness_of([[1.0]]).source == "Monte Carlo"
    assert witness_of([[1.0]], origins=np.array([[0]])).source == "origins"
    assert witness_of([[1.0]], given=True).source == "given rows"


def test_the_winners_curse_is_taken_off():
    """Fifty candidates of equal worth: the best looks better than it is, corrected it does not."""
    rng = np.random.default_rng(0)
    gaps = []
    for _ in range(20):
        gains = (rng.random((50, 200)) < 0.7).astype(float)
        drawn = resample(witness_of(gains), seed_sequence(int(rng.integers(1000))))
        gaps.append([gains.mean(axis=1).max() - 0.7, drawn.corrected_best() - 0.7])
    raw, corrected = np.mean(gaps, axis=0)
    assert raw > 0.05
    assert abs(corrected) < 0.02


def test_the_standard_error_has_the_size_of_the_data_not_of_v():
    """However many rows are drawn from n given ones, they tell as much as n rows do."""
    gains = np.tile(hits(0.8, n=100), 50)
    assert standard_error(gains, witness_of([gains], n_given=100)) == pytest.approx(0.04)
    splits = np.random.default_rng(0).normal(0.8, 0.04, size=2_000)  # replicates of 100 rows
    of_replicates = witness_of([splits], n_given=100, unit_rows=100)
    assert standard_error(splits, of_replicates) == pytest.approx(0.04, rel=0.05)


def test_the_highest_score_wins_and_ties_go_by_the_key():
    """The order of listing plays no part."""
    assert HighestScore().choose(standing_of([[0, 1], [1, 1], [1, 1]])) == 1


def test_contenders_are_those_within_two_standard_errors_of_the_lead():
    """Paired: rows on which two candidates agree do not blur their difference."""
    best, near, far = hits(0.8), hits(0.8), hits(0.6, seed=1)
    near[np.flatnonzero(best)[:3]] = 0.0  # three rows worse, equal elsewhere
    steady = best.copy()
    steady[np.flatnonzero(best)[:9]] = 0.0  # nine rows worse: nine against a root of nine
    assert standing_of([far, near, best, steady]).contenders == [2, 1]


def test_one_standard_error_takes_the_simplest_near_the_best():
    """By the default order for known parameters, by the user's, and by a callable."""
    gains = [hits(0.80, seed=1), hits(0.79, seed=2), hits(0.79, seed=3), hits(0.5, seed=4)]
    params = [{"C": 10.0}, {"C": 1.0}, {"C": 100.0}, {"C": 0.1}]
    standing = standing_of(gains, params)
    assert OneStandardError().choose(standing) == 1
    assert OneStandardError({"C": "high"}).choose(standing) == 2
    assert OneStandardError(lambda params: abs(params["C"] - 100)).choose(standing) == 2


def test_no_limit_is_less_simple_than_any_limit():
    """max_depth of None has no bound; names stand in the middle."""
    gains = [hits(0.8, seed=at) for at in range(3)]
    params = [{"tree__max_depth": None}, {"tree__max_depth": 3}, {"tree__max_depth": 9}]
    assert OneStandardError().choose(standing_of(gains, params)) == 1
    names = [{"gamma": "scale"}, {"gamma": 10.0}, {"gamma": 0.1}]
    assert OneStandardError().choose(standing_of(gains, names)) == 2


def test_parameters_of_unknown_meaning_are_refused():
    """The rule says which, and what to give."""
    standing = standing_of([[0, 1], [1, 1]], [{"kernel": "rbf"}, {"kernel": "linear"}])
    with pytest.raises(ValueError, match=r"does not know which of the parameters kernel make"):
        OneStandardError().choose(standing)


def test_each_replicate_has_one_vote():
    """The candidate with the highest mean may lose the vote."""
    splits = [[0.9, 0.5, 0.5], [0.6, 0.6, 0.6], [0.1, 0.1, 0.1]]
    standing = standing_of([[0.64], [0.6], [0.1]], splits=splits)
    assert HighestScore().choose(standing) == 0
    assert Vote().choose(standing) == 1


@given(st.permutations(range(5)), st.sampled_from(["best", "one_se", "vote"]))
def test_no_rule_depends_on_the_order_of_listing(order, name):
    """The same candidate is chosen, wherever it stands."""
    gains = np.array([hits(s, n=60, seed=i) for i, s in enumerate([0.8, 0.8, 0.78, 0.7, 0.8])])
    keys = [(float(at),) for at in range(5)]
    rng = np.random.default_rng(1)
    splits = rng.choice([0.7, 0.8], size=(5, 6))

    def chosen(rows):
        rows = list(rows)
        witness = witness_of(gains[rows])
        standing = Standing(
            gains[rows].mean(axis=1),
            splits[rows],
            [{"C": keys[row][0]} for row in rows],
            [keys[row] for row in rows],
            witness,
        )
        return rows[resolve_rule(name, "test").choose(standing)]

    assert chosen(order) == chosen(range(5))


def test_a_rule_must_be_known():
    """The message names all of them."""
    with pytest.raises(ValueError, match=r'select of test must be "best", "one_se", "vote"'):
        resolve_rule("first", "test")


def test_the_margin_is_paired():
    """Two candidates that always differ by the same rows have a margin without spread."""
    inside = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6]])
    low, high = Resampled(inside, inside).margin(0, 1)
    assert low == pytest.approx(0.1)
    assert high == pytest.approx(0.1)


def test_a_mean_is_rarely_ever_off_by_more_than_the_anytime_radius(rng):
    """Looked at after every unit from the hundredth on, also where few models' answers differ."""
    seen = np.arange(1, 2001)
    radii = np.array([anytime_radius(n, 200) for n in seen])
    ever = []
    differences = rng.choice([-1.0, 0.0, 1.0], p=[0.03, 0.94, 0.03], size=(400, 2000))
    for units in (rng.normal(size=(400, 2000)), differences):
        means = units.cumsum(axis=1) / seen
        spreads = np.sqrt(np.maximum((units**2).cumsum(axis=1) / seen - means**2, 0.0))
        ever.append(np.mean(np.any((np.abs(means) > radii * spreads)[:, 99:], axis=1)))
    assert max(ever) <= 0.05
    assert np.all(np.diff(radii) < 0)
