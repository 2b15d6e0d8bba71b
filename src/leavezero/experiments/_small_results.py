"""What the lines of the study on few rows say, computed from them only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from leavezero._typing import Floats
from leavezero.experiments._runner import Line
from leavezero.experiments._small_ways import small_ways

Interval = tuple[float, float, float]

MEAN = "mean of families"
BIAS, CHOSEN, ERROR, REGRET = "bias", "bias of the chosen", "absolute error", "regret"
MEASURES = {
    BIAS: "score minus test score of the same model, mean over all candidates",
    CHOSEN: "score minus test score of the chosen model",
    ERROR: "distance of score and test score of the same model, mean over all candidates",
    REGRET: "best test score among the candidates minus that of the chosen one",
}


@dataclass(frozen=True, eq=False)
class SmallResults:
    """Points of each way in each family, by the number of rows; one value for each data set.

    Parameters
    ----------
    data, families, ways : list of str
        What has lines.
    sizes : list of int
        The numbers of rows.
    points : dict
        ``points[measure, family, way, n]`` is an array over ``data``, the means over samples in
        points, NaN where there is none.
    dots : dict
        ``dots[family, way, n]`` are pairs of the chosen model's score and test score in percent,
        means over samples, one for each data set.
    counts : dict
        ``counts[n]`` is the number of samples.

    Examples
    --------
    >>> from leavezero.experiments import small_results
    >>> found = {"k-NN": {"best": 0.9, "ways": {"10-fold CV": [0.7, 0.8, -0.05, 0.1]}}}
    >>> line = {"key": {"data": "toy", "n": 20, "sample": 0}, "result": {"families": found}}
    >>> results = small_results([line])
    >>> round(results.mean("bias of the chosen", "k-NN", "10-fold CV", 20), 2)
    -10.0
    """

    data: list[str]
    families: list[str]
    ways: list[str]
    sizes: list[int]
    points: dict[tuple[str, str, str, int], Floats]
    dots: dict[tuple[str, str, int], Floats]
    counts: dict[int, int]

    def values(self, measure: str, family: str, way: str, n: int) -> Floats:
        """Return one value for each data set of that size; none if the way lacks one of them."""
        found = self._table(measure, family, way, n)
        there = ~np.isnan(self._table(measure, family, self.ways[0], n))
        return found[there] if not np.isnan(found[there]).any() else found[:0]

    def mean(self, measure: str, family: str, way: str, n: int) -> float:
        """Return the mean over data sets; NaN if the way lacks one of them."""
        values = self.values(measure, family, way, n)
        return float(values.mean()) if len(values) else float("nan")

    def interval(self, measure: str, way: str, n: int, minus: str | None = None) -> Interval:
        """Return the mean over families and data sets with a 95 % interval over data sets.

        ``minus`` names a way that is subtracted data set by data set.
        """
        values = self.values(measure, MEAN, way, n)
        if minus is not None:
            other = self.values(measure, MEAN, minus, n)
            values = values - other if len(values) == len(other) else values[:0]
        return _interval(values)

    def _table(self, measure: str, family: str, way: str, n: int) -> Floats:
        names = self.families if family == MEAN else [family]
        return np.asarray(np.mean([self.points[measure, f, way, n] for f in names], axis=0))

    def least_biased(self, ways: Sequence[str], n: int) -> dict[str, int]:
        """Return in how many cases, a data set and a family each, a way has the least bias."""
        found = dict.fromkeys(ways, 0)
        for family in self.families:
            table = np.array([self.points[BIAS, family, way, n] for way in ways])
            for column in np.abs(table[:, ~np.any(np.isnan(table), axis=0)]).T:
                found[ways[int(column.argmin())]] += 1
        return found


def small_results(lines: Iterable[Line]) -> SmallResults:
    """Return what the lines of a :class:`SmallStudy` say.

    Parameters
    ----------
    lines : list of dict
        What :func:`read_lines` returns.

    Examples
    --------
    >>> from leavezero.experiments import small_results
    >>> small_results([])
    Traceback (most recent call last):
    ValueError: The study on few rows has no finished run to look at.
    """
    lines = list(lines)
    if not lines:
        raise ValueError("The study on few rows has no finished run to look at.")
    data = sorted({line["key"]["data"] for line in lines})
    sizes = sorted({line["key"]["n"] for line in lines})
    families = list(dict.fromkeys(name for line in lines for name in line["result"]["families"]))
    found = [f for line in lines for f in line["result"]["families"].values()]
    ways = [way for way in small_ways() if any(way in one["ways"] for one in found)]
    points, dots = {}, {}
    for family in families:
        for way in ways:
            for n in sizes:
                figures = [_means(lines, name, family, way, n) for name in data]
                dots[family, way, n] = np.array([figure[-2:] for figure in figures])
                for at, measure in enumerate(MEASURES):
                    points[measure, family, way, n] = np.array([f[at] for f in figures])
    counts = {n: sum(line["key"]["n"] == n for line in lines) for n in sizes}
    return SmallResults(data, families, ways, sizes, points, dots, counts)


def _means(lines: Sequence[Line], name: str, family: str, way: str, n: int) -> Floats:
    """Return the measures in their order, then score and test of the chosen, in percent."""
    rows = []
    for line in lines:
        if line["key"]["data"] != name or line["key"]["n"] != n:
            continue
        found = line["result"]["families"].get(family, {"ways": {}})
        if way in found["ways"]:
            score, test, bias, error = found["ways"][way]
            rows.append((bias, score - test, error, found["best"] - test, score, test))
    return 100 * np.mean(rows, axis=0) if rows else np.full(6, np.nan)


def _interval(values: Floats) -> Interval:
    if not len(values):
        return float("nan"), float("nan"), float("nan")
    middle = float(values.mean())
    if len(values) < 3:
        return middle, float("-inf"), float("inf")
    scale = float(values.std(ddof=1)) / len(values) ** 0.5
    reach = float(student.ppf(0.975, len(values) - 1)) * scale
    return middle, middle - reach, middle + reach
