"""The tables that are made of the results of Table 5, the paper's figures beside ours."""

from collections.abc import Mapping

import numpy as np

from leavezero.experiments._comparison import signed_rank_p
from leavezero.experiments._pages import Page, interval_words, span_words
from leavezero.experiments._paper_figures import TABLE5_COLUMNS, TABLE5_ERROR
from leavezero.experiments._table5_results import Table5Results

_NO_FIGURE = "-"


def table5_pages(
    results: Table5Results,
    part: str,
    missing: Mapping[str, str] | None = None,
    *,
    printed: bool = True,
) -> list[Page]:
    """Return the tables of one part: errors, regrets, and what these say of the ways.

    Parameters
    ----------
    results : Table5Results
        What the lines say.
    part : str
        What the part is called.
    missing : dict or None, default=None
        Data sets that could not be had, with the reason.
    printed : bool, default=True
        Whether the paper's figures stand beside.

    Examples
    --------
    >>> from leavezero.experiments import table5_pages, table5_results
    >>> ways = {"2-fold CV": {"error": 0.25}, "default": {"error": 0.125}}
    >>> line = {"key": {"data": "usps", "split": 0},
    ...         "result": {"ways": ways, "oracle": 0.125, "least_labels": 2}}
    >>> table5_pages(table5_results([line]), "sampled")[0].rows[0][:4]
    ('usps', '25.00', '12.50', '12.50')
    """
    return [
        _errors(results, part, missing or {}, printed),
        _regrets(results, part),
        _ways(results, part),
    ]


def _errors(results: Table5Results, part: str, missing: Mapping[str, str], printed: bool) -> Page:
    columns = tuple(f"paper: {column}" for column in TABLE5_COLUMNS) if printed else ()
    rows = []
    for name in results.data:
        ours = [_with_error(results.errors[way][name]) for way in results.ways]
        theirs = TABLE5_ERROR.get(name, (_NO_FIGURE,) * len(columns))[: len(columns)]
        rows.append((name, *ours, _with_error(results.oracle[name]), *map(str, theirs)))
    counts = sorted({len(results.oracle[name]) for name in results.data})
    span = span_words(counts)
    notes = [
        f"Mean ± standard error over {span} splits; the oracle is the setting that is best on "
        "the test rows of a split. Ties go to the widest kernel, in the default search to its "
        "first candidate.",
        *(f"{name}: not available. {reason}" for name, reason in missing.items()),
    ]
    alone = [name for name in results.data if results.least_labels[name] > 0]
    if alone:
        shares = ", ".join(f"{name} {results.least_labels[name]:.0%}" for name in alone)
        notes.append(
            f"Splits in which a class has one label, so that there are no unseen rows: {shares}."
        )
    if printed:
        notes.append(
            "The paper's first column is carried over from the paper of SMIR, its others are on "
            "other samples; it has no row for bci."
        )
    header = ("data", *results.ways, "oracle", *columns)
    return Page(f"{part}: test error in percent", header, tuple(rows), tuple(notes))


def _regrets(results: Table5Results, part: str) -> Page:
    rows = [
        (name, *(f"{results.regret(way, name):.2f}" for way in results.ways))
        for name in results.data
    ]
    means = (f"{np.mean(results.regrets(way)):.2f}" for way in results.ways)
    return Page(
        f"{part}: regret, points above the oracle",
        ("data", *results.ways),
        (*rows, ("mean", *means)),
    )


def _ways(results: Table5Results, part: str) -> Page:
    base = results.regrets(results.baseline)
    rows = []
    for way in results.ways:
        gap, here, p = _NO_FIGURE, _NO_FIGURE, _NO_FIGURE
        if way != results.baseline:
            gap = interval_words(results.difference(way))
            here = interval_words(results.difference_over_splits(way))
            p = f"{signed_rank_p(results.regrets(way), base):.3f}"
        fewer = sum(a < b for a, b in zip(results.regrets(way), base, strict=True))
        less = _NO_FIGURE if way == results.baseline else f"{fewer} of {len(base)}"
        rows.append((way, interval_words(results.mean_regret(way), sign=""), gap, here, less, p))
    return Page(
        f"{part}: mean regret over {len(results.data)} data sets",
        (
            "way",
            "mean regret",
            f"minus {results.baseline}",
            "the same, over splits",
            "data sets with less",
            "Wilcoxon p",
        ),
        tuple(rows),
        (
            "In parentheses 95 % intervals over data sets, and where it is said over splits of "
            "these data sets.",
        ),
    )


def _with_error(values: np.ndarray) -> str:
    mean = f"{values.mean():.2f}"
    if len(values) < 2:
        return mean
    return f"{mean} ± {values.std(ddof=1) / np.sqrt(len(values)):.2f}"
