"""Comparisons of methods over data sets."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import friedmanchisquare

from experiments.rank_tests import (
    RankComparison,
    compare_ranks,
    count_wins,
    mean_and_interval,
    signed_rank_p,
)

TABLES = arrays(float, st.tuples(st.integers(3, 5), st.integers(3, 12)), elements=st.floats(0, 1))


def named(table):
    return {f"method {at}": row.tolist() for at, row in enumerate(table)}


@given(TABLES)
def test_ranks_add_up_and_every_data_set_has_a_winner(table):
    found = compare_ranks(named(table))
    k = len(table)
    assert sum(found.ranks) == pytest.approx(k * (k + 1) / 2)
    assert sum(count_wins(named(table)).values()) >= table.shape[1]
    assert 0 <= found.chi_square_p <= 1
    assert 0 <= found.f_p <= 1


@given(st.integers(3, 5), st.integers(3, 12), st.integers(0, 99))
def test_friedman_statistic_equals_scipy_without_ties(k, n_data, seed):
    table = np.random.default_rng(seed).random((k, n_data))
    expected = friedmanchisquare(*table)
    found = compare_ranks(named(table))
    assert found.chi_square == pytest.approx(expected.statistic)
    assert found.chi_square_p == pytest.approx(expected.pvalue)


def test_example_of_demsar():
    """Four classifiers on 14 data sets (2006, section 3.2.2)."""
    found = RankComparison(("C4.5", "m", "cf", "m+cf"), (3.143, 2.0, 2.893, 1.964), 14)
    assert found.chi_square == pytest.approx(9.28, abs=0.02)
    assert found.f_statistic == pytest.approx(3.69, abs=0.02)
    assert found.critical_difference() == pytest.approx(1.25, abs=0.01)
    assert found.critical_difference(0.10) == pytest.approx(1.12, abs=0.01)
    assert found.groups(0.10) == [("m+cf", "m", "cf"), ("cf", "C4.5")]


def test_ties_in_printed_digits_are_wins_for_all():
    assert count_wins({"a": [90.0, 80.0], "b": [90.001, 70.0]}) == {"a": 2, "b": 1}


def test_signed_rank_test_with_ties_and_zeros():
    assert signed_rank_p([1, 2, 3, 4, 5], [0, 0, 0, 0, 0]) == pytest.approx(2 / 32)
    assert signed_rank_p([1, 1], [1, 1]) == 1.0
    assert 0.3 < signed_rank_p([1, 0, 0, 2], [0, 1, 0, 0]) < 1
    assert signed_rank_p([0.0] * 8, [1.0] * 8) < 0.01


def test_intervals_and_too_few_values():
    assert mean_and_interval([1.0, 2.0, 3.0]) == pytest.approx((2.0, -0.4841, 4.4841), abs=1e-4)
    assert mean_and_interval([1.0])[1:] == (-np.inf, np.inf)
    assert np.isnan(mean_and_interval([])).all()
    with pytest.raises(ValueError, match="needs two methods and two data sets"):
        compare_ranks({"a": [1.0], "b": [2.0]})
