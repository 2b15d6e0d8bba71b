import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from leavezero._random import seed_sequence, stream
from leavezero.evaluation import HighestScore, OneStandardError, resolve_rule
from leavezero.evaluation import _selection as selection
from leavezero.evaluation._selection import (
    Ranking,
    Resamples,
    RowScores,
    Vote,
    describe_selection,
    resample,
    standard_error,
)

ROOT = seed_sequence(0)


def row_scores(values, **options):
    values = np.asarray(values, dtype=np.float32)
    n_units = values.shape[1]
    options = {"n_training_rows": n_units, "weights": np.full(n_units, 1 / n_units)} | options
    return RowScores(values, shift=np.zeros(len(values)), **options)


def make_ranking(values, params=None, replicates=None, keys=None):
    units = row_scores(values)
    scores = units.values.mean(axis=1).astype(float)
    params = [{"C": float(at)} for at in range(len(scores))] if params is None else params
    replicates = scores[:, None] if replicates is None else np.asarray(replicates, dtype=float)
    keys = [(at,) for at in range(len(scores))] if keys is None else keys
    return Ranking(scores, replicates, params, keys, units)


def hits(share, n=400, seed=0):
    """Return n zeros and ones with this share of ones, in random order."""
    ones = np.arange(n) < round(share * n)
    return np.random.default_rng(seed).permutation(ones).astype(float)


def test_interval_of_a_proportion_is_binomial(monkeypatch):
    monkeypatch.setattr(selection, "N_RESAMPLES", 2_000)
    low, high = resample(row_scores([hits(0.8), np.zeros(400)]), ROOT).margin(0, 1)
    half = 1.96 * np.sqrt(0.8 * 0.2 / 400)
    np.testing.assert_allclose([low, high], [0.8 - half, 0.8 + half], atol=0.01)


def test_copies_of_a_row_do_not_narrow_the_interval(monkeypatch):
    """Rows generated from one training row vary together."""
    monkeypatch.setattr(selection, "N_RESAMPLES", 1_000)
    copies = np.repeat(hits(0.7, n=100), 10)[None, :]
    source_rows = np.repeat(np.arange(100), 10)[:, None]
    by_source = resample(row_scores(copies, source_rows=source_rows, n_training_rows=100), ROOT)
    by_row = resample(row_scores(copies), ROOT)
    expected = np.sqrt(0.7 * 0.3 / 100)
    assert by_source.drawn.std() == pytest.approx(expected, rel=0.15)
    assert by_row.drawn.std() == pytest.approx(expected / np.sqrt(10), rel=0.15)


def test_bundles_of_many_rows_have_the_spread_of_the_rows(monkeypatch):
    """Also if similar rows are neighbors."""
    monkeypatch.setattr(selection, "N_RESAMPLES", 1_000)
    drawn = resample(row_scores(np.sort(hits(0.7, n=30_000))[None, :]), ROOT)
    assert drawn.drawn.mean() == pytest.approx(0.7, abs=2e-4)
    assert drawn.drawn.std() == pytest.approx(np.sqrt(0.7 * 0.3 / 30_000), rel=0.1)
    assert drawn.left_out.mean() == pytest.approx(0.7, abs=2e-4)


def test_count_of_a_unit_is_the_product_of_the_counts_of_its_source_rows(monkeypatch):
    """Checked row by row; the padding -1 counts once."""
    monkeypatch.setattr(selection, "N_RESAMPLES", 1)
    rng = np.random.default_rng(3)
    source = np.column_stack([rng.integers(0, 6, 30), rng.integers(-1, 6, 30)])
    values = rng.normal(size=(1, 30))
    found = resample(row_scores(values, source_rows=source, n_training_rows=6), ROOT)
    counts = np.bincount(stream(ROOT, "resamples").integers(6, size=6), minlength=6)
    weight = [counts[a] * (counts[b] if b >= 0 else 1) for a, b in source]
    left_out = [counts[a] == 0 and (b < 0 or counts[b] == 0) for a, b in source]
    assert any(left_out)
    assert found.drawn[0, 0] == pytest.approx(np.average(values[0], weights=weight), rel=1e-5)
    assert found.left_out[0, 0] == pytest.approx(values[0][left_out].mean(), rel=1e-5)


def test_resampled_units():
    assert row_scores([[1.0]]).resampled_units == "generated rows"
    assert row_scores([[1.0]], source_rows=np.array([[0]])).resampled_units == "training rows"
    assert row_scores([[1.0]], fixed=True).resampled_units == "validation rows"


def test_selection_bias_is_removed():
    """The best of fifty equal candidates scores too high; corrected it does not."""
    rng = np.random.default_rng(0)
    errors = []
    for _ in range(20):
        values = (rng.random((50, 200)) < 0.7).astype(float)
        drawn = resample(row_scores(values), seed_sequence(int(rng.integers(1000))))
        errors.append([values.mean(axis=1).max() - 0.7, drawn.bias_corrected_best() - 0.7])
    raw, corrected = np.mean(errors, axis=0)
    assert raw > 0.05
    assert abs(corrected) < 0.02


def test_an_unstable_candidate_does_not_decide_on_selection_bias():
    """It is the best on resamples without its worst unit, and scores far too low on the rest."""
    stable = [0.7] * 10
    unstable = [0.8] * 9 + [-50.0]
    drawn = resample(row_scores([stable, unstable]), seed_sequence(0))
    assert drawn.bias_corrected_best() == pytest.approx(0.7)


def test_standard_error_depends_on_the_training_rows():
    """However many rows are generated, they carry no more information."""
    values = np.tile(hits(0.8, n=100), 50)
    error = standard_error(values, row_scores([values], n_training_rows=100))
    assert error == pytest.approx(0.04)
    means = np.random.default_rng(0).normal(0.8, 0.04, size=2_000)  # of replicates of 100 rows
    replicates = row_scores([means], n_training_rows=100, rows_per_unit=100)
    assert standard_error(means, replicates) == pytest.approx(0.04, rel=0.05)


def test_margin_is_paired():
    drawn = np.array([[0.9, 0.8, 0.7], [0.8, 0.7, 0.6]])
    assert Resamples(drawn, drawn).margin(0, 1) == pytest.approx([0.1, 0.1])


def test_tied_candidates_are_within_two_standard_errors_of_the_difference():
    """Rows on which two candidates agree do not widen it."""
    best, near, far = hits(0.8), hits(0.8), hits(0.6, seed=1)
    near[np.flatnonzero(best)[:3]] = 0.0
    below = best.copy()
    below[np.flatnonzero(best)[:9]] = 0.0  # nine rows fewer: nine against a root of nine
    assert make_ranking([far, near, best, below]).tied == [2, 1]


def test_selection_is_described_by_rows_of_the_table():
    values = [hits(0.6, seed=1), hits(0.8), hits(0.8)]
    ranking = make_ranking(values)
    resamples = resample(ranking.row_scores, ROOT)
    found = describe_selection(ranking, resamples, [4, 2, 7], "Rule", 1, (0.7, 0.9))
    assert (found.new_data_low, found.new_data_high) == (0.7, 0.9)
    assert (found.index, found.rule, found.n_tied, found.tied) == (2, "Rule", 2, (2, 7))
    assert (found.margin, found.margin_low, found.margin_high) == (0.0, 0.0, 0.0)
    assert found.standard_error == pytest.approx(0.02)
    assert found.bias_corrected_score <= ranking.scores[1]


def test_ties_go_to_the_first_in_canonical_order():
    values = [[0, 1], [1, 1], [1, 1]]
    assert HighestScore().choose(make_ranking(values)) == 1
    assert HighestScore().choose(make_ranking(values, keys=[(0,), (2,), (1,)])) == 2


C = [{"C": 10.0}, {"C": 1.0}, {"C": 100.0}, {"C": 0.1}]
DEPTH = [{"tree__max_depth": None}, {"tree__max_depth": 3}, {"tree__max_depth": 9}]
GAMMA = [{"gamma": "scale"}, {"gamma": 10.0}, {"gamma": 0.1}]
LAYERS = [{"hidden_layer_sizes": (50, 50)}, {"hidden_layer_sizes": (60,)}]


@pytest.mark.parametrize(
    ("simpler", "params", "expected"),
    [
        (None, C, 1),
        ({"C": "high"}, C, 2),
        (lambda params: abs(params["C"] - 100), C, 2),
        (None, DEPTH, 1),  # None is unlimited
        (None, GAMMA, 2),  # a string is in the middle
        (None, LAYERS, 1),
    ],
)
def test_one_standard_error_selects_the_simplest_near_the_best(simpler, params, expected):
    shares = [0.80, 0.79, 0.79, 0.5]
    values = [hits(shares[at], seed=at) for at in range(len(params))]
    assert OneStandardError(simpler).choose(make_ranking(values, params)) == expected


def test_one_standard_error_requires_a_known_parameter():
    ranking = make_ranking([[0, 1], [1, 1]], [{"kernel": "rbf"}, {"kernel": "linear"}])
    with pytest.raises(ValueError, match="known direction of simplicity, got kernel"):
        OneStandardError().choose(ranking)


def test_each_replicate_has_one_vote():
    """The candidate with the highest mean may lose the vote."""
    replicates = [[0.9, 0.5, 0.5], [0.6, 0.6, 0.6], [0.1, 0.1, 0.1]]
    ranking = make_ranking([[0.64], [0.6], [0.1]], replicates=replicates)
    assert HighestScore().choose(ranking) == 0
    assert Vote().choose(ranking) == 1


@given(st.permutations(range(5)), st.sampled_from(["best", "one_se", "vote"]))
def test_no_rule_depends_on_the_order_of_candidates(order, name):
    shares = [0.8, 0.8, 0.78, 0.7, 0.8]
    values = np.array([hits(share, n=60, seed=at) for at, share in enumerate(shares)])
    replicates = np.random.default_rng(1).choice([0.7, 0.8], size=(5, 6))

    def chosen(rows):
        rows = list(rows)
        params = [{"C": float(row)} for row in rows]
        keys = [(float(row),) for row in rows]
        ranking = make_ranking(values[rows], params, replicates[rows], keys)
        return rows[resolve_rule(name, "test").choose(ranking)]

    assert chosen(order) == chosen(range(5))


def test_unknown_rule():
    with pytest.raises(ValueError, match=r'select of test must be "best", "one_se", "vote"'):
        resolve_rule("first", "test")
