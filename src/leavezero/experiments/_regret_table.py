"""Tables of the regret study, computed from its lines only."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import t as student

from leavezero._typing import Floats
from leavezero.experiments._runner import Line

POOL = "pool"
MEAN = "mean"


@dataclass(frozen=True, eq=False)
class RegretTable:
    """Regret of each way in each family, in points; one value for each data set.

    ``regret[way][family]`` and ``bias[way][family]`` are arrays over ``data``, NaN where a data
    set has no such family. Regret is the best test score among the candidates minus the chosen
    one's; bias is the chosen one's own score minus its test score.

    Examples
    --------
    >>> import numpy as np
    >>> from leavezero.experiments import RegretTable
    >>> points = {"auto": {"k-NN": np.array([1.0, 3.0])}}
    >>> RegretTable("accuracy", ["a", "b"], ["k-NN"], points, points).mean("auto", "k-NN")
    2.0
    """

    metric: str
    data: list[str]
    families: list[str]
    regret: dict[str, dict[str, Floats]]
    bias: dict[str, dict[str, Floats]]

    @property
    def ways(self) -> list[str]:
        """The ways that were compared."""
        return list(self.regret)

    def mean(self, way: str, family: str) -> float:
        """Return a way's mean regret in one family over data sets."""
        return float(np.nanmean(self._over_data(self.regret, way, family)))

    def mean_bias(self, way: str, family: str) -> float:
        """Return a way's mean signed bias in one family over data sets."""
        return float(np.nanmean(self._over_data(self.bias, way, family)))

    def difference(
        self, way: str, other: str, family: str, level: float = 0.9
    ) -> tuple[float, float, float]:
        """Return the mean of way minus other over data sets, with its paired interval."""
        gaps = self._over_data(self.regret, way, family) - self._over_data(
            self.regret, other, family
        )
        gaps = gaps[~np.isnan(gaps)]
        middle = float(gaps.mean())
        if len(gaps) < 2:
            return middle, float("-inf"), float("inf")
        reach = student.ppf((1 + level) / 2, len(gaps) - 1) * gaps.std(ddof=1) / len(gaps) ** 0.5
        return middle, middle - float(reach), middle + float(reach)

    def _over_data(self, values: dict[str, dict[str, Floats]], way: str, family: str) -> Floats:
        if family == MEAN:  # over the families and the pool, data set by data set
            return np.nanmean([values[way][name] for name in self.families], axis=0)
        return values[way][family]

    def markdown(self) -> str:
        """Return the regrets as a Markdown table, a row for each way."""
        return self._markdown(lambda way, family: f"{self.mean(way, family):.2f}")

    def bias_markdown(self) -> str:
        """Return the signed biases as a Markdown table, a row for each way."""
        return self._markdown(lambda way, family: f"{self.mean_bias(way, family):+.2f}")

    def _markdown(self, cell: Callable[[str, str], str]) -> str:
        columns = [*self.families, MEAN]
        lines = ["| way | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        for way in self.ways:
            cells = " | ".join(cell(way, family) for family in columns)
            lines.append(f"| {way} | {cells} |")
        return "\n".join(lines)


def regret_table(
    lines: Iterable[Line],
    metric: str = "accuracy",
    data: Sequence[str] | None = None,
    without: Sequence[str] = (),
) -> RegretTable:
    """Return the regret of every way from the lines of a study.

    Parameters
    ----------
    lines : list of dict
        What :func:`read_lines` returns.
    metric : str, default="accuracy"
        Which metric candidates are chosen and judged by.
    data : list of str or None, default=None
        The data sets to look at; all where None.
    without : list of str, default=()
        Families to leave out, of the pool too.

    Examples
    --------
    >>> from leavezero.experiments import regret_table
    >>> scores = {"test": [0.7, 0.9], "auto": [0.8, 0.6], "5-fold CV": [0.6, 0.8]}
    >>> line = {"key": {"data": "toy", "split": 0},
    ...         "result": {"families": {"k-NN": {"accuracy": scores}}}}
    >>> table = regret_table([line])
    >>> round(table.mean("auto", "k-NN"), 6), table.mean("5-fold CV", "k-NN")
    (20.0, 0.0)
    """
    chosen = [line for line in lines if data is None or line["key"]["data"] in data]
    found_in = [_with_pool(line["result"]["families"], metric, without) for line in chosen]
    runs = [
        (line["key"]["data"], found) for line, found in zip(chosen, found_in, strict=True) if found
    ]
    names = sorted({name for name, _ in runs})
    families = list(dict.fromkeys(family for _, found in runs for family in found))
    ways = [way for way in next(iter(runs[0][1].values())) if way != "test"]
    regret: dict[str, dict[str, Any]] = {way: {} for way in ways}
    bias: dict[str, dict[str, Any]] = {way: {} for way in ways}
    for way in ways:
        for family in families:
            pairs = [
                _mean_of(
                    [
                        _judged(found[family], way)
                        for d, found in runs
                        if d == name and family in found
                    ]
                )
                for name in names
            ]
            regret[way][family] = 100 * np.array([pair[0] for pair in pairs])
            bias[way][family] = 100 * np.array([pair[1] for pair in pairs])
    return RegretTable(metric, names, families, regret, bias)


def _with_pool(
    families: dict[str, Any], metric: str, without: Sequence[str]
) -> dict[str, dict[str, list[float]]]:
    """Return the families that have the metric, and all their candidates as one more.

    A pool that is among the families stays as it is.
    """
    found = {
        name: scores[metric]
        for name, scores in families.items()
        if metric in scores and name not in without
    }
    if len(found) > 1 and POOL not in found:
        ways = next(iter(found.values()))
        found[POOL] = {way: [s for scores in found.values() for s in scores[way]] for way in ways}
    return found


def _judged(scores: dict[str, list[float]], way: str) -> tuple[float, float]:
    """Return regret and bias of one choice; tied candidates are chosen with equal chance."""
    test, score = np.array(scores["test"]), np.array(scores[way])
    score = np.where(np.isnan(score), -np.inf, score)
    tied = score == score.max()
    return float(test.max() - test[tied].mean()), float(score.max() - test[tied].mean())


def _mean_of(pairs: list[tuple[float, float]]) -> Any:
    return np.mean(pairs, axis=0) if pairs else np.array([np.nan, np.nan])
