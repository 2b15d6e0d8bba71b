"""What the lines of Table 3 say, computed from them only."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.stats import t as student

from leavezero._typing import Floats
from leavezero.experiments._runner import Line
from leavezero.experiments._table3_ways import WAYS

MIN_SPLITS = 5  # fewer tell too little of their spread for an interval


@dataclass(frozen=True, eq=False)
class Table3Results:
    """Accuracies, in percent, and seconds of each way on each data set.

    Parameters
    ----------
    data : list of str
        The data sets that have lines.
    ways : list of str
        The ways; the first is the baseline, folds.
    splits, draws : dict
        ``splits[way][name]`` are the accuracies over splits, one draw each; ``draws[way][name]``
        those over draws on the first split.
    seconds : dict
        ``seconds[way][name]`` is the mean time of the processor over all runs.
    unconverged : dict
        ``unconverged[way][name]`` is the mean number of fits that reached the solver's limit.
    test_shares : dict
        ``test_shares[name]`` is the number of test rows over that of training rows.
    over : {"splits", "draws"}, default="splits"
        What means are taken over.

    Examples
    --------
    >>> from leavezero.experiments import Table3, table3_results
    >>> study = Table3(("iris",), repeats=1, draws=1)
    >>> results = table3_results([{"key": key, "result": study(key)} for key in study.keys()])
    >>> results.data, results.ways[:2]
    (['iris'], ['10-fold CV', 'mix-up, m = n'])
    """

    data: list[str]
    ways: list[str]
    splits: dict[str, dict[str, Floats]]
    draws: dict[str, dict[str, Floats]]
    seconds: dict[str, dict[str, float]]
    unconverged: dict[str, dict[str, float]]
    test_shares: dict[str, float]
    over: str = "splits"

    @property
    def baseline(self) -> str:
        """The way that the others are compared with."""
        return self.ways[0]

    def values(self, way: str, name: str) -> Floats:
        """Return the accuracies that means are taken over."""
        return (self.splits if self.over == "splits" else self.draws)[way][name]

    def mean(self, way: str, name: str) -> float:
        """Return the mean accuracy, in percent."""
        return float(self.values(way, name).mean())

    def means(self, way: str) -> list[float]:
        """Return the mean accuracy on every data set."""
        return [self.mean(way, name) for name in self.data]

    def error(self, way: str, name: str) -> float:
        """Return the standard error of that mean; NaN for one value.

        It takes splits for independent, which random splits of one data set are not.
        """
        values = self.values(way, name)
        return deviation(values) / float(np.sqrt(len(values)))

    def difference(self, way: str, name: str, level: float = 0.95) -> tuple[float, float, float]:
        """Return the mean difference to the baseline over splits, with its interval.

        The variance is corrected for the rows that the splits share (Nadeau and Bengio 2003): the
        training sets overlap, and without it intervals are far too short. Fewer than five splits
        have an interval without ends.
        """
        gaps = self.splits[way][name] - self.splits[self.baseline][name]
        middle, n_splits = float(gaps.mean()), len(gaps)
        if n_splits < MIN_SPLITS:
            return middle, float("-inf"), float("inf")
        scale = deviation(gaps) * float(np.sqrt(1 / n_splits + self.test_shares[name]))
        reach = float(student.ppf((1 + level) / 2, n_splits - 1)) * scale
        return middle, middle - reach, middle + reach

    def speed_up(self, way: str, name: str) -> float:
        """Return how many times the baseline's time a way saves."""
        return self.seconds[self.baseline][name] / max(self.seconds[way][name], 1e-9)

    def median_speed_up(self, way: str) -> float:
        """Return the median over data sets."""
        return float(np.median([self.speed_up(way, name) for name in self.data]))


def table3_results(lines: Iterable[Line], over: str = "splits") -> Table3Results:
    """Return what the lines of a :class:`Table3` say.

    Parameters
    ----------
    lines : list of dict
        What :func:`read_lines` returns.
    over : {"splits", "draws"}, default="splits"
        What means are taken over: splits with one draw of V each, or draws on the first split.

    Examples
    --------
    >>> from leavezero.experiments import table3_results
    >>> def line(split, draw, folds, lzo):
    ...     ways = {name: {"accuracy": accuracy, "seconds": 1.0, "unconverged": 0}
    ...             for name, accuracy in {"10-fold CV": folds, "mix-up, m = n": lzo}.items()}
    ...     return {"key": {"data": "toy", "split": split, "draw": draw},
    ...             "result": {"ways": ways, "n_train": 70, "n_test": 30}}
    >>> results = table3_results([line(0, 0, 0.5, 0.75), line(1, 0, 0.5, 0.25)])
    >>> results.mean("mix-up, m = n", "toy")
    50.0
    """
    lines = sorted(lines, key=_order)
    if not lines:
        raise ValueError("Table 3 has no finished run to look at.")
    names = list(dict.fromkeys(line["key"]["data"] for line in lines))
    ways = [way for way in WAYS if way in lines[0]["result"]["ways"]]
    runs = {name: [line for line in lines if line["key"]["data"] == name] for name in names}

    def figures(way: str, field: str, fixed: str | None = None) -> dict[str, Floats]:
        return {name: _values(found, way, field, fixed) for name, found in runs.items()}

    return Table3Results(
        names,
        ways,
        splits={way: _percent(figures(way, "accuracy", "draw")) for way in ways},
        draws={way: _percent(figures(way, "accuracy", "split")) for way in ways},
        seconds={way: _means(figures(way, "seconds")) for way in ways},
        unconverged={way: _means(figures(way, "unconverged")) for way in ways},
        test_shares={
            name: found[0]["result"]["n_test"] / found[0]["result"]["n_train"]
            for name, found in runs.items()
        },
        over=over,
    )


def deviation(values: Floats) -> float:
    """Return the standard deviation; NaN for one value."""
    return float(values.std(ddof=1)) if len(values) > 1 else float("nan")


def _order(line: Line) -> tuple[str, int, int]:
    key = line["key"]
    return key["data"].lower(), key["split"], key["draw"]


def _values(lines: list[Line], way: str, field: str, fixed: str | None) -> Floats:
    """Return one figure of every run, or of those where ``fixed`` is 0 in the key."""
    return np.array(
        [
            line["result"]["ways"][way][field]
            for line in lines
            if fixed is None or line["key"][fixed] == 0
        ],
        dtype=float,
    )


def _percent(values: dict[str, Floats]) -> dict[str, Floats]:
    return {name: 100 * found for name, found in values.items()}


def _means(values: dict[str, Floats]) -> dict[str, float]:
    return {name: float(found.mean()) for name, found in values.items()}
