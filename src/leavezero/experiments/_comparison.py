"""Ways compared over many data sets, as Demsar (2006) recommends."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import chi2, f, rankdata, studentized_range, wilcoxon

from leavezero._typing import Floats


@dataclass(frozen=True)
class Comparison:
    """Friedman's test over data sets, with Nemenyi's critical difference.

    Parameters
    ----------
    ways : tuple of str
        What was compared.
    ranks : tuple of float
        Each way's mean rank over data sets; 1 is the best, ties share their mean rank.
    n_data : int
        The number of data sets.

    References
    ----------
    J. Demsar. Statistical Comparisons of Classifiers over Multiple Data Sets. Journal of Machine
    Learning Research 7, 2006.

    Examples
    --------
    >>> from leavezero.experiments import compare
    >>> found = compare({"a": [3.0, 5.0, 9.0], "b": [2.0, 4.0, 8.0], "c": [1.0, 4.5, 7.0]})
    >>> [round(rank, 2) for rank in found.ranks]
    [1.0, 2.33, 2.67]
    """

    ways: tuple[str, ...]
    ranks: tuple[float, ...]
    n_data: int

    @property
    def chi_square(self) -> float:
        """Friedman's statistic; ties enter through their shared ranks only."""
        k = len(self.ways)
        spread = sum(rank**2 for rank in self.ranks) - k * (k + 1) ** 2 / 4
        return max(0.0, 12 * self.n_data / (k * (k + 1)) * spread)  # below 0 by rounding only

    @property
    def chi_square_p(self) -> float:
        """How probable so large a statistic is if no way is better."""
        return float(chi2.sf(self.chi_square, len(self.ways) - 1))

    @property
    def f_statistic(self) -> float:
        """The less conservative statistic of Iman and Davenport (1980)."""
        top = self.n_data * (len(self.ways) - 1)
        rest = top - self.chi_square
        return float("inf") if rest <= 0 else (self.n_data - 1) * self.chi_square / rest

    @property
    def f_p(self) -> float:
        """The same for the statistic of Iman and Davenport."""
        freedom = len(self.ways) - 1
        return float(f.sf(self.f_statistic, freedom, freedom * (self.n_data - 1)))

    def critical_difference(self, alpha: float = 0.05) -> float:
        """Return by how much two mean ranks must differ to be told apart (Nemenyi)."""
        k = len(self.ways)
        q = studentized_range.ppf(1 - alpha, k, np.inf) / np.sqrt(2)
        return float(q * np.sqrt(k * (k + 1) / (6 * self.n_data)))

    def groups(self, alpha: float = 0.05) -> list[tuple[str, ...]]:
        """Return the largest groups of ways that cannot be told apart, best first."""
        order = np.argsort(self.ranks, kind="stable")
        reach = self.critical_difference(alpha)
        found: list[tuple[str, ...]] = []
        for at, first in enumerate(order):
            near = [w for w in order[at:] if self.ranks[w] - self.ranks[first] < reach]
            group = tuple(self.ways[way] for way in near)
            if len(group) > 1 and not any(set(group) <= set(other) for other in found):
                found.append(group)
        return found


def compare(scores: Mapping[str, Sequence[float]]) -> Comparison:
    """Rank the ways on every data set; higher scores are better.

    Parameters
    ----------
    scores : dict
        For each way its score on every data set, in one order.

    Examples
    --------
    >>> from leavezero.experiments import compare
    >>> compare({"a": [1.0, 2.0], "b": [0.5, 2.0], "c": [0.1, 0.2]}).ranks
    (1.25, 1.75, 3.0)
    """
    table = _table(scores)
    if len(scores) < 2 or table.shape[1] < 2:
        raise ValueError(
            "compare needs at least two ways and two data sets, got "
            f"{len(scores)} and {table.shape[1]}."
        )
    ranks = rankdata(-table, axis=0).mean(axis=1)
    return Comparison(tuple(scores), tuple(ranks.tolist()), table.shape[1])


def count_wins(scores: Mapping[str, Sequence[float]], digits: int = 2) -> dict[str, int]:
    """Return on how many data sets each way is the best; a tie is a win for all who share it.

    Parameters
    ----------
    scores : dict
        For each way its score on every data set; higher is better.
    digits : int, default=2
        Scores are compared as they are printed, with so many decimals.

    Examples
    --------
    >>> from leavezero.experiments import count_wins
    >>> count_wins({"a": [90.0, 80.0], "b": [90.001, 70.0]})
    {'a': 2, 'b': 1}
    """
    table = _table(scores).round(digits)
    wins = (table == table.max(axis=0)).sum(axis=1)
    return {way: int(count) for way, count in zip(scores, wins, strict=True)}


def signed_rank_p(one: Sequence[float], other: Sequence[float]) -> float:
    """Return the p value of Wilcoxon's signed-rank test of two ways over data sets, two-sided.

    The ranks of zero differences are split evenly between both signs, as Demsar (2006) does; the
    value is 1 where all differences are zero.

    Parameters
    ----------
    one : sequence of float
        What the first way reached, a number for each data set.
    other : sequence of float
        What the second way reached, on the same data sets.

    Examples
    --------
    >>> from leavezero.experiments import signed_rank_p
    >>> signed_rank_p([1.0, 2.0, 3.0, 4.0, 5.0], [0.0, 0.0, 0.0, 0.0, 0.0])
    0.0625
    """
    gaps = np.subtract(one, other)
    if not np.any(gaps):
        return 1.0
    plain = np.all(gaps) and len(np.unique(np.abs(gaps))) == len(gaps)
    method = "exact" if plain else "approx"  # ties and zeros have no exact distribution here
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # of few data sets, which the tables show
        return float(wilcoxon(gaps, zero_method="zsplit", method=method).pvalue)


def _table(scores: Mapping[str, Sequence[float]]) -> Floats:
    return np.array([list(values) for values in scores.values()], dtype=float)
