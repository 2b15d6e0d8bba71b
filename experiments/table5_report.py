"""Tables of Table 5, with the paper's values next to ours."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np
import pandas as pd

from experiments.markdown import (
    NO_VALUE,
    Interval,
    MarkdownTable,
    format_interval,
    format_range,
    make_frame,
    missing_notes,
)
from experiments.paper_values import TABLE5_COLUMNS, TABLE5_ERROR
from experiments.rank_tests import mean_and_interval, signed_rank_p
from experiments.runner import Line

SAMPLED, BOOK_10, BOOK_100 = "sampled", "book-10", "book-100"
METHODS = (
    "2-fold CV",
    "2-fold CV, rows dropped",
    "labeled rows, m = n",
    "labeled rows, m = 10 n",
    "pseudo labels, m = n",
    "pseudo labels, m = 10 n",
    "validation score, m = n",
    "validation score, m = 10 n",
    "LOO score",
    "default",
)
ORACLE = "oracle"


@dataclass(frozen=True, eq=False)
class Table5Results:
    """Test errors in percent, one row per data set and split; one column per method and oracle."""

    errors: pd.DataFrame  # index: data, split
    single_label_shares: dict[str, float]  # of splits in which a class has one label

    @cached_property
    def data(self) -> list[str]:
        """The data sets."""
        return list(self.errors.index.unique("data"))

    @cached_property
    def methods(self) -> list[str]:
        """The methods; the first is the baseline, cross-validation."""
        return [method for method in METHODS if method in self.errors]

    def regrets(self, method: str) -> pd.Series:
        """Return the mean error minus that of the oracle, by data set."""
        gaps = self.errors[method] - self.errors[ORACLE]
        return gaps.groupby("data", sort=False).mean()

    def difference(self, method: str) -> Interval:
        """Return the mean difference to the baseline's regret, with an interval over data sets."""
        return mean_and_interval(self.regrets(method) - self.regrets(self.methods[0]))

    def difference_over_splits(self, method: str) -> Interval:
        """Return the mean difference on these data sets, with an interval over splits."""
        gaps = self.errors[method] - self.errors[self.methods[0]]
        by_split = gaps.unstack("data").dropna()  # splits that all data sets have
        return mean_and_interval(by_split.mean(axis=1))


def table5_results(lines: Sequence[Line]) -> Table5Results:
    """Return the results of finished runs."""
    records = [
        {
            **line["key"],
            **{m: 100 * values["error"] for m, values in line["result"]["methods"].items()},
            ORACLE: 100 * line["result"]["oracle"],
        }
        for line in lines
    ]
    errors = pd.DataFrame(records).set_index(["data", "split"]).sort_index()
    single = pd.Series([line["result"]["least_labels"] < 2 for line in lines])
    shares = single.groupby([line["key"]["data"] for line in lines]).mean()
    return Table5Results(errors, shares.to_dict())


def report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> dict[str, list[MarkdownTable]]:
    """Return the tables of every part."""
    tables: list[MarkdownTable] = []
    for part, found in lines.items():
        results = table5_results(found)
        tables += [
            _errors(results, part, missing),
            _regrets(results, part),
            _comparison(results, part),
        ]
    return {"tables": tables}


def _errors(results: Table5Results, part: str, missing: Mapping[str, str]) -> MarkdownTable:
    columns = tuple(f"paper: {c}" for c in TABLE5_COLUMNS) if part == SAMPLED else ()
    rows = {}
    for name in results.data:
        errors = results.errors.loc[name]
        printed = TABLE5_ERROR.get(name, (NO_VALUE,) * len(columns))[: len(columns)]
        ours = [_with_error(errors[method]) for method in (*results.methods, ORACLE)]
        rows[name] = [*ours, *map(str, printed)]
    counts = format_range(results.errors.groupby("data").size())
    notes = [
        f"Mean ± standard error over {counts} splits; the oracle is the candidate that is best on "
        "the test rows of a split. Ties go to the widest kernel, in the default search to its "
        "first candidate.",
        *missing_notes(missing),
    ]
    single = {name: share for name, share in results.single_label_shares.items() if share > 0}
    if single:
        shares = ", ".join(f"{name} {share:.0%}" for name, share in sorted(single.items()))
        notes.append(
            f"Splits in which a class has one label, so that there is no LOO score: {shares}."
        )
    if part == SAMPLED:
        notes.append(
            "The paper's first column is copied from the paper on SMIR, its others are on other "
            "samples; it has no row for bci."
        )
    frame = make_frame("data", (*results.methods, ORACLE, *columns), rows)
    return MarkdownTable(f"{part}: test error in percent", frame, tuple(notes))


def _regrets(results: Table5Results, part: str) -> MarkdownTable:
    regrets = pd.DataFrame({method: results.regrets(method) for method in results.methods})
    regrets.loc["mean"] = regrets.mean()
    frame = regrets.map(lambda value: f"{value:.2f}").rename_axis("data")
    return MarkdownTable(f"{part}: regret, points above the oracle", frame)


def _comparison(results: Table5Results, part: str) -> MarkdownTable:
    baseline = results.methods[0]
    base = results.regrets(baseline)
    rows = {}
    for method in results.methods:
        regrets = results.regrets(method)
        cells = [NO_VALUE] * 4
        if method != baseline:
            cells = [
                format_interval(results.difference(method)),
                format_interval(results.difference_over_splits(method)),
                f"{(regrets < base).sum()} of {len(base)}",
                f"{signed_rank_p(list(regrets), list(base)):.3f}",
            ]
        rows[method] = [format_interval(mean_and_interval(regrets), sign=""), *cells]
    columns = (
        "mean regret",
        f"minus {baseline}",
        "the same, over splits",
        "data sets with less",
        "Wilcoxon p",
    )
    return MarkdownTable(
        f"{part}: mean regret over {len(results.data)} data sets",
        make_frame("method", columns, rows),
        ("In parentheses 95 % intervals over data sets, or over splits of these data sets.",),
    )


def _with_error(values: pd.Series) -> str:
    mean = f"{values.mean():.2f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"
