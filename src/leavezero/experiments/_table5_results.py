"""What the lines of Table 5 say, computed from them only."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from leavezero._typing import Floats
from leavezero.experiments._runner import Line
from leavezero.experiments._table5_ways import WAYS

LEVEL = 0.95


@dataclass(frozen=True, eq=False)
class Table5Results:
    """Test errors, in percent, of each way on each data set.

    Parameters
    ----------
    data : list of str
        The data sets that have lines.
    ways : list of str
        The ways; the first is the baseline, folds.
    errors : dict
        ``errors[way][name]`` are the errors over splits.
    oracle : dict
        ``oracle[name]`` are those of the setting that is best on the test rows.
    least_labels : dict
        ``least_labels[name]`` is the share of splits in which a class has one label.

    Examples
    --------
    >>> from leavezero.experiments import table5_results
    >>> ways = {"2-fold CV": {"error": 0.25}, "default": {"error": 0.125}}
    >>> line = {"key": {"data": "toy", "split": 0},
    ...         "result": {"ways": ways, "oracle": 0.125, "least_labels": 2}}
    >>> results = table5_results([line])
    >>> results.regret("2-fold CV", "toy"), results.regret("default", "toy")
    (12.5, 0.0)
    """

    data: list[str]
    ways: list[str]
    errors: dict[str, dict[str, Floats]]
    oracle: dict[str, Floats]
    least_labels: dict[str, float]

    @property
    def baseline(self) -> str:
        """The way that the others are compared with."""
        return self.ways[0]

    def mean(self, way: str, name: str) -> float:
        """Return the mean error over splits."""
        return float(self.errors[way][name].mean())

    def regret(self, way: str, name: str) -> float:
        """Return by how many points the mean error is above that of the best setting."""
        return float((self.errors[way][name] - self.oracle[name]).mean())

    def regrets(self, way: str) -> list[float]:
        """Return the regret on every data set."""
        return [self.regret(way, name) for name in self.data]

    def mean_regret(self, way: str) -> tuple[float, float, float]:
        """Return the mean regret over data sets, with its 95 % interval over them."""
        return mean_and_interval(self.regrets(way))

    def difference(self, way: str) -> tuple[float, float, float]:
        """Return the mean difference to the baseline's regret, with its interval."""
        return mean_and_interval(np.subtract(self.regrets(way), self.regrets(self.baseline)))

    def difference_over_splits(self, way: str) -> tuple[float, float, float]:
        """Return the mean difference on these data sets, with its interval over splits."""
        gaps = [self.errors[way][name] - self.errors[self.baseline][name] for name in self.data]
        n_splits = min(map(len, gaps))
        return mean_and_interval(np.mean([gap[:n_splits] for gap in gaps], axis=0))


def table5_results(lines: Iterable[Line]) -> Table5Results:
    """Return what the lines of a :class:`Table5` say.

    Parameters
    ----------
    lines : list of dict
        What :func:`read_lines` returns.

    Examples
    --------
    >>> from leavezero.experiments import table5_results
    >>> table5_results([])
    Traceback (most recent call last):
    ValueError: Table 5 has no finished run to look at.
    """
    lines = sorted(lines, key=lambda line: (line["key"]["data"], line["key"]["split"]))
    if not lines:
        raise ValueError("Table 5 has no finished run to look at.")
    names = list(dict.fromkeys(line["key"]["data"] for line in lines))
    ways = [way for way in WAYS if way in lines[0]["result"]["ways"]]
    runs = {
        name: [line["result"] for line in lines if line["key"]["data"] == name] for name in names
    }
    return Table5Results(
        names,
        ways,
        {
            way: {n: _percent([run["ways"][way]["error"] for run in runs[n]]) for n in names}
            for way in ways
        },
        {name: _percent([run["oracle"] for run in found]) for name, found in runs.items()},
        {
            name: float(np.mean([run["least_labels"] < 2 for run in found]))
            for name, found in runs.items()
        },
    )


def mean_and_interval(values: Iterable[float]) -> tuple[float, float, float]:
    """Return a mean and its 95 % interval by Student's t; without ends for one value.

    Examples
    --------
    >>> [round(number, 2) for number in mean_and_interval([1.0, 2.0, 3.0])]
    [2.0, -0.48, 4.48]
    """
    found = np.asarray(list(values), dtype=float)
    middle = float(found.mean())
    if len(found) < 2:
        return middle, float("-inf"), float("inf")
    scale = float(found.std(ddof=1) / np.sqrt(len(found)))
    reach = float(student.ppf((1 + LEVEL) / 2, len(found) - 1)) * scale
    return middle, middle - reach, middle + reach


def _percent(shares: list[float]) -> Floats:
    return 100 * np.array(shares, dtype=float)
