"""Tables and figures of the study on small samples."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.figures import MARKERS, new_figure, save
from experiments.markdown import (
    Interval,
    MarkdownTable,
    format_interval,
    format_number,
    make_frame,
    missing_notes,
)
from experiments.rank_tests import mean_and_interval
from experiments.runner import Line
from leavezero._typing import Floats

SCORES, REPLICATES = "scores", "replicates"  # the parts
ALPHAS = (0.1, 1.0, 10.0)
FACTORS = (1, 10, 100)  # m / n
MEAN = "mean of model types"
BIAS, SELECTED_BIAS, ERROR, REGRET = "bias", "bias of the selected", "absolute error", "regret"
MEASURES = {
    BIAS: "score minus test score of the same model, mean over all candidates",
    SELECTED_BIAS: "score minus test score of the selected model",
    ERROR: "absolute difference of score and test score of a model, mean over all candidates",
    REGRET: "best test score among the candidates minus that of the selected one",
}


def mixup_method(alpha: float, factor: int) -> str:
    """Return the name of the paper's mix-up with one alpha and one size.

    Examples
    --------
    >>> mixup_method(1.0, 10), mixup_method(0.1, 1)
    ('mix-up, alpha = 1, m = 10 n', 'mix-up, alpha = 0.1, m = n')
    """
    return f"mix-up, alpha = {alpha:g}, m = {'' if factor == 1 else f'{factor} '}n"


METHODS = (
    "10-fold CV",
    "leave-one-out",
    *(mixup_method(alpha, factor) for alpha in ALPHAS for factor in FACTORS),
    "default",
    "default, validation score",
    "default, LOO score",
    "resubstitution",
)
COMPARED = ("10-fold CV", "leave-one-out", mixup_method(1.0, 10), "default")


@dataclass(frozen=True, eq=False)
class SmallResults:
    """Measures in points, by data set, model type, method and n; means over samples.

    ``frame`` also has the selected model's ``score`` and ``test`` score in percent, and rows of
    the model type "mean of model types" for methods that all of them have.
    """

    frame: pd.DataFrame
    counts: dict[int, int]  # samples by n

    @cached_property
    def data(self) -> list[str]:
        """The data sets."""
        return sorted(self.frame["data"].unique())

    @cached_property
    def sizes(self) -> list[int]:
        """The numbers of training rows."""
        return sorted(self.frame["n"].unique())

    @cached_property
    def model_types(self) -> list[str]:
        """The model types, without their mean."""
        return [name for name in self.frame["model_type"].unique() if name != MEAN]

    @cached_property
    def methods(self) -> list[str]:
        """The methods that have values."""
        return [method for method in METHODS if method in set(self.frame["method"])]

    def values(self, measure: str, model_type: str, method: str, n: int) -> Floats:
        """Return one value per data set of that size; none if the method lacks one of them."""
        chosen = self._table(measure, model_type, n)
        if method not in chosen:
            return np.empty(0)
        found = np.asarray(chosen[method], dtype=float)
        return found[:0] if np.isnan(found).any() else found

    def _table(self, measure: str, model_type: str, n: int) -> pd.DataFrame:
        frame = self.frame[(self.frame["model_type"] == model_type) & (self.frame["n"] == n)]
        return frame.pivot(index="data", columns="method", values=measure)

    def mean(self, measure: str, model_type: str, method: str, n: int) -> float:
        """Return the mean over data sets; NaN if the method lacks one of them."""
        values = self.values(measure, model_type, method, n)
        return float(values.mean()) if len(values) else float("nan")

    def interval(self, measure: str, method: str, n: int, minus: str | None = None) -> Interval:
        """Return the mean with a 95 % interval over data sets, minus that of another method."""
        values = self.values(measure, MEAN, method, n)
        if minus is not None:
            other = self.values(measure, MEAN, minus, n)
            values = values - other if len(values) == len(other) else values[:0]
        return mean_and_interval(values, min_values=3)

    def least_biased(self, methods: Sequence[str], n: int) -> dict[str, int]:
        """Return in how many cases, a data set and a model type each, a method has least bias."""
        counts = dict.fromkeys(methods, 0)
        for model_type in self.model_types:
            table = self._table(BIAS, model_type, n).reindex(columns=methods).dropna().abs()
            for method in table.idxmin(axis=1):
                counts[method] += 1
        return counts


def small_results(lines: Sequence[Line]) -> SmallResults:
    """Return the results of finished runs."""
    records = [
        {
            "data": line["key"]["data"],
            "n": line["key"]["n"],
            "model_type": model_type,
            "method": method,
            "score": score,
            "test": test,
            BIAS: bias,
            SELECTED_BIAS: score - test,
            ERROR: error,
            REGRET: found["best"] - test,
        }
        for line in lines
        for model_type, found in line["result"]["model_types"].items()
        for method, (score, test, bias, error) in found["methods"].items()
    ]
    frame = pd.DataFrame(records)
    keys = ["data", "n", "model_type", "method"]
    frame = frame.groupby(keys, sort=False).mean().mul(100).reset_index()
    n_types = frame["model_type"].nunique()
    grouped = frame.drop(columns="model_type").groupby(["data", "n", "method"], sort=False)
    complete = grouped.size() == n_types
    means = grouped.mean()[complete].reset_index().assign(model_type=MEAN)
    counts = pd.Series([line["key"]["n"] for line in lines]).value_counts().to_dict()
    return SmallResults(pd.concat([frame, means]), counts)


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Draw the figures and return the tables of the parts that were run."""
    tables: list[MarkdownTable] = []
    if SCORES in lines:
        results = small_results(lines[SCORES])
        title = f"Small samples: {len(results.data)} data sets"
        _draw_calibration(results, folder / "calibration.svg", title)
        _draw_bias(results, folder / "bias.svg", title)
        tables += small_tables(results, missing)
    if REPLICATES in lines:
        _draw_spread(lines[REPLICATES], folder / "spread.svg", "Validation sets for one sample")
        tables += replicate_tables(lines[REPLICATES])
    return {"tables": tables}


def small_tables(results: SmallResults, missing: Mapping[str, str]) -> list[MarkdownTable]:
    """Return the tables, those over all model types first."""
    counts = ", ".join(f"{results.counts[n]} of n = {n}" for n in results.sizes)
    notes = (
        "A dash: not all data sets have it. SVMs with few support vectors have no LOO score; "
        "leave-one-out is computed for at most 200 rows, and a validation set has at most 20,000.",
        f"{len(results.data)} data sets: {', '.join(results.data)}. Samples: {counts}.",
        *missing_notes(missing),
    )
    tables = [_measure_table(results, measure, MEAN, notes) for measure in MEASURES]
    minus = f"regret minus that of {COMPARED[0]}, with 95 % intervals"
    tables += [
        _interval_table(results, "bias with 95 % intervals", BIAS),
        _interval_table(results, "bias of the selected with 95 % intervals", SELECTED_BIAS),
        _interval_table(results, minus, REGRET, COMPARED[0]),
        _least_biased_table(results),
    ]
    return tables + [
        _measure_table(results, measure, model_type)
        for model_type in results.model_types
        for measure in MEASURES
    ]


def _measure_table(
    results: SmallResults, measure: str, model_type: str, notes: tuple[str, ...] = ()
) -> MarkdownTable:
    sign = "+" if measure in (BIAS, SELECTED_BIAS) else ""
    rows = {
        method: [
            format_number(results.mean(measure, model_type, method, n), sign) for n in results.sizes
        ]
        for method in results.methods
    }
    title = f"{measure}, {model_type}, points"
    return _table(results, title, rows, (f"{MEASURES[measure]}.", *notes))


def _interval_table(
    results: SmallResults, title: str, measure: str, minus: str | None = None
) -> MarkdownTable:
    rows = {
        method: [
            format_interval(results.interval(measure, method, n, minus)) for n in results.sizes
        ]
        for method in COMPARED
        if method in results.methods and method != minus
    }
    note = "Over data sets; none where a model type or data set lacks the method."
    return _table(results, f"{title}, {MEAN}, points", rows, (note,))


def _least_biased_table(results: SmallResults) -> MarkdownTable:
    methods = [method for method in COMPARED if method in results.methods]
    counts = [results.least_biased(methods, n) for n in results.sizes]
    rows = {method: [str(count[method]) for count in counts] for method in methods}
    note = "A case is a data set and a model type for which all four have a score."
    return _table(results, "cases in which a method has the least absolute bias", rows, (note,))


def _table(
    results: SmallResults, title: str, rows: Mapping[str, Sequence[str]], notes: tuple[str, ...]
) -> MarkdownTable:
    frame = make_frame("method", [f"n = {n}" for n in results.sizes], rows)
    return MarkdownTable(title, frame, notes)


def replicate_frame(lines: Iterable[Line]) -> pd.DataFrame:
    """Return spreads and means in points by model type, n and factor; means over samples."""
    records = [
        {
            "model_type": model_type,
            "n": line["key"]["n"],
            "factor": factor,
            **dict(zip(("score", "test", "mean"), by_factor[str(factor)], strict=True)),
        }
        for line in lines
        for model_type, by_factor in line["result"]["model_types"].items()
        for factor in FACTORS
    ]
    grouped = pd.DataFrame(records).groupby(["model_type", "n", "factor"], sort=False)
    return grouped.mean().mul(100).reset_index().sort_values("n", kind="stable")


def replicate_tables(lines: Sequence[Line]) -> list[MarkdownTable]:
    """Return how much a selection varies over validation sets, by model type, n and m."""
    frame = replicate_frame(lines)
    titles = {
        "score": "standard deviation of the best score over validation sets, points",
        "test": "standard deviation of the selected test accuracy over validation sets, points",
        "mean": "mean test accuracy of the selected over validation sets, percent",
    }
    names = ", ".join(sorted({line["key"]["data"] for line in lines}))
    note = (
        f"The paper's mix-up, alpha = 1. Means over {len(lines)} samples of {names}; all "
        "validation sets are for one and the same sample."
    )
    columns = ["m = n" if factor == 1 else f"m = {factor} n" for factor in FACTORS]
    tables = []
    for value, title in titles.items():
        rows = {}
        for model_type in frame["model_type"].unique():
            for n, part in frame[frame["model_type"] == model_type].groupby("n"):
                rows[f"{model_type}, n = {n}"] = [f"{v:.2f}" for v in part[value]]
        tables.append(MarkdownTable(title, make_frame("model type", columns, rows), (note,)))
    return tables


def _draw_calibration(results: SmallResults, path: Path, title: str) -> None:
    methods = [method for method in COMPARED if method in results.methods]
    figure, panels = new_figure(3.0 * len(methods) + 1.0, 3.6, len(methods))
    frame = results.frame[results.frame["model_type"] != MEAN]
    for axes, method in zip(panels, methods, strict=True):
        for at, n in enumerate(results.sizes):
            part = frame[(frame["method"] == method) & (frame["n"] == n)]
            axes.scatter(part["test"], part["score"], s=12, marker=MARKERS[at], label=f"n = {n}")
        axes.axline((50, 50), slope=1, color="0.4", linewidth=1)
        axes.set_title(method, fontsize=8)
        axes.set_xlabel("test accuracy, percent")
    panels[0].set_ylabel("score, percent")
    save(figure, panels, path, title)


def _draw_bias(results: SmallResults, path: Path, title: str) -> None:
    methods = [m for m in (*COMPARED, "resubstitution") if m in results.methods]
    n_types = len(results.model_types)
    figure, panels = new_figure(3.0 * n_types + 1.0, 3.6, n_types)
    for axes, model_type in zip(panels, results.model_types, strict=True):
        for at, method in enumerate(methods):
            bias = [results.mean(BIAS, model_type, method, n) for n in results.sizes]
            style = {"marker": MARKERS[at], "markersize": 4, "linewidth": 1}
            axes.plot(results.sizes, bias, label=method, **style)
        axes.axhline(0.0, color="0.4", linewidth=1)
        axes.set_xscale("log")
        axes.set_xticks(results.sizes, [str(n) for n in results.sizes])
        axes.minorticks_off()
        axes.set_title(model_type, fontsize=8)
        axes.set_xlabel("n")
    panels[0].set_ylabel("score minus test accuracy, points")
    save(figure, panels, path, title)


def _draw_spread(lines: Iterable[Line], path: Path, title: str) -> None:
    frame = replicate_frame(lines)
    types = list(frame["model_type"].unique())
    figure, panels = new_figure(3.0 * len(types) + 1.0, 3.6, len(types))
    for axes, model_type in zip(panels, types, strict=True):
        for at, (n, part) in enumerate(frame[frame["model_type"] == model_type].groupby("n")):
            style = {"color": f"C{at}", "linewidth": 1}
            axes.plot(part["factor"], part["score"], "o-", label=f"score, n = {n}", **style)
            axes.plot(part["factor"], part["test"], "s--", label=f"test, n = {n}", **style)
        axes.set_xscale("log")
        axes.set_title(model_type, fontsize=8)
        axes.set_xlabel("m / n")
    panels[0].set_ylabel("standard deviation over validation sets, points")
    save(figure, panels, path, title)
