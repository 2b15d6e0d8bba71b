"""Comparisons of methods over data sets (Demsar 2006) and intervals of means.

J. Demsar. Statistical Comparisons of Classifiers over Multiple Data Sets. JMLR 7, 2006.
"""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import stats

from experiments.markdown import Interval


@dataclass(frozen=True)
class RankComparison:
    """Friedman's test over data sets, with Nemenyi's critical difference.

    ``ranks`` are mean ranks over data sets; 1 is the best, ties share their mean rank.
    """

    methods: tuple[str, ...]
    ranks: tuple[float, ...]
    n_data: int

    @property
    def chi_square(self) -> float:
        """Friedman's statistic, without a correction for ties."""
        k = len(self.methods)
        spread = sum(rank**2 for rank in self.ranks) - k * (k + 1) ** 2 / 4
        return max(0.0, 12 * self.n_data / (k * (k + 1)) * spread)  # negative by rounding only

    @property
    def chi_square_p(self) -> float:
        """The p value of Friedman's statistic."""
        return float(stats.chi2.sf(self.chi_square, len(self.methods) - 1))

    @property
    def f_statistic(self) -> float:
        """The less conservative statistic of Iman and Davenport (1980)."""
        rest = self.n_data * (len(self.methods) - 1) - self.chi_square
        return float("inf") if rest <= 0 else (self.n_data - 1) * self.chi_square / rest

    @property
    def f_p(self) -> float:
        """The p value of the statistic of Iman and Davenport."""
        freedom = len(self.methods) - 1
        return float(stats.f.sf(self.f_statistic, freedom, freedom * (self.n_data - 1)))

    def critical_difference(self, alpha: float = 0.05) -> float:
        """Return the difference of mean ranks that is significant by Nemenyi's test."""
        k = len(self.methods)
        q = stats.studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
        return float(q * np.sqrt(k * (k + 1) / (6 * self.n_data)))

    def groups(self, alpha: float = 0.05) -> list[tuple[str, ...]]:
        """Return the largest groups of methods without a significant difference, best first."""
        order = np.argsort(self.ranks, kind="stable")
        reach = self.critical_difference(alpha)
        groups: list[tuple[str, ...]] = []
        for at, first in enumerate(order):
            near = [m for m in order[at:] if self.ranks[m] - self.ranks[first] < reach]
            group = tuple(self.methods[m] for m in near)
            if len(group) > 1 and not any(set(group) <= set(other) for other in groups):
                groups.append(group)
        return groups


def compare_ranks(scores: Mapping[str, Sequence[float]]) -> RankComparison:
    """Rank methods on every data set by their scores; higher scores are better."""
    table = np.array([list(values) for values in scores.values()], dtype=float)
    if len(table) < 2 or table.shape[1] < 2:
        raise ValueError(f"compare_ranks needs two methods and two data sets, got {table.shape}.")
    ranks = stats.rankdata(-table, axis=0).mean(axis=1)
    return RankComparison(tuple(scores), tuple(ranks.tolist()), table.shape[1])


def count_wins(scores: Mapping[str, Sequence[float]], digits: int = 2) -> dict[str, int]:
    """Return on how many data sets each method is best, in so many decimals; ties count for all."""
    table = np.array([list(values) for values in scores.values()], dtype=float).round(digits)
    wins = (table == table.max(axis=0)).sum(axis=1)
    return {method: int(count) for method, count in zip(scores, wins, strict=True)}


def signed_rank_p(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the two-sided p value of Wilcoxon's signed-rank test over data sets.

    Ranks of zero differences are split between both signs, as in Demsar (2006).
    """
    differences = np.subtract(first, second)
    if not np.any(differences):
        return 1.0
    is_distinct = np.all(differences) and len(np.unique(np.abs(differences))) == len(differences)
    method = "exact" if is_distinct else "approx"  # ties and zeros have no exact distribution
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few data sets, which the tables show
        return float(stats.wilcoxon(differences, zero_method="zsplit", method=method).pvalue)


def mean_and_interval(values: Any, level: float = 0.95, min_values: int = 2) -> Interval:
    """Return a mean and its Student's t interval, infinite for fewer than ``min_values``."""
    found = np.asarray(values, dtype=float)
    if len(found) == 0:
        return float("nan"), float("nan"), float("nan")
    middle = float(found.mean())
    if len(found) < min_values:
        return middle, float("-inf"), float("inf")
    scale = float(found.std(ddof=1)) / len(found) ** 0.5
    reach = float(stats.t.ppf((1 + level) / 2, len(found) - 1)) * scale
    return middle, middle - reach, middle + reach
