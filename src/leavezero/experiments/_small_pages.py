"""The tables that are made of the results on few rows."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import numpy as np

from leavezero.experiments._pages import Page, interval_words
from leavezero.experiments._runner import Line
from leavezero.experiments._small_results import (
    BIAS,
    CHOSEN,
    MEAN,
    MEASURES,
    REGRET,
    Interval,
    SmallResults,
)
from leavezero.experiments._small_ways import (
    DEFAULT,
    FACTORS,
    FOLDS,
    LEAVE_ONE_OUT,
    mixup_way,
)

RIVALS = (FOLDS, LEAVE_ONE_OUT, mixup_way(1.0, 10), DEFAULT)
_NO_FIGURE = "-"
_OF_DRAWS = (
    "standard deviation of the winner's score over draws of V, points",
    "standard deviation of the winner's test accuracy over draws of V, points",
    "mean test accuracy of the winner over draws of V, percent",
)


def small_pages(results: SmallResults, missing: Mapping[str, str] | None = None) -> list[Page]:
    """Return the tables on few rows, those over all families first.

    Parameters
    ----------
    results : SmallResults
        What the lines say.
    missing : dict or None, default=None
        Data sets that could not be had, with the reason.

    Examples
    --------
    >>> from leavezero.experiments import small_pages, small_results
    >>> found = {"k-NN": {"best": 0.9, "ways": {"10-fold CV": [0.7, 0.8, -0.05, 0.1]}}}
    >>> line = {"key": {"data": "toy", "n": 20, "sample": 0}, "result": {"families": found}}
    >>> small_pages(small_results([line]))[0].rows
    (('10-fold CV', '-5.00'),)
    """
    counts = ", ".join(f"{results.counts[n]} of n = {n}" for n in results.sizes)
    notes = (
        "A dash: some data set lacks it. An SVM on few support vectors tells nothing of unseen "
        "rows; left out one by one are at most 200 rows, and V has at most 20,000.",
        f"{len(results.data)} data sets: {', '.join(results.data)}. Samples: {counts}.",
        *(f"{name}: not available. {reason}" for name, reason in (missing or {}).items()),
    )
    pages = [_measured(results, measure, MEAN, notes) for measure in MEASURES]
    pages += [
        _intervals(results, "bias with 95 % intervals", BIAS),
        _intervals(results, "bias of the chosen with 95 % intervals", CHOSEN),
        _intervals(results, f"regret minus that of {FOLDS}, with 95 % intervals", REGRET, FOLDS),
        _least_biased(results),
    ]
    pages += [
        _measured(results, measure, family) for family in results.families for measure in MEASURES
    ]
    return pages


def draws_pages(lines: Iterable[Line]) -> list[Page]:
    """Return how far a choice hangs on the draw of V, by family, n and m.

    Parameters
    ----------
    lines : iterable of dict
        The finished runs, as :func:`read_lines` gives them.

    Examples
    --------
    >>> from leavezero.experiments import draws_pages
    >>> found = {"k-NN": {"1": [0.1, 0.02, 0.8], "10": [0.03, 0.01, 0.8], "100": [0.01, 0.0, 0.8]}}
    >>> line = {"key": {"data": "toy", "n": 20, "sample": 0}, "result": {"families": found}}
    >>> draws_pages([line])[0].rows
    (('k-NN, n = 20', '10.00', '3.00', '1.00'),)
    """
    header = ("family", *("m = n" if factor == 1 else f"m = {factor} n" for factor in FACTORS))
    lines = list(lines)
    table = draws_table(lines)
    names = sorted({line["key"]["data"] for line in lines})
    note = (
        f"The paper's mix-up, alpha = 1. Means over {len(lines)} samples of {', '.join(names)}; "
        "every draw is on one and the same sample."
    )
    return [
        Page(
            title,
            header,
            tuple(
                (f"{family}, n = {n}", *(f"{value:.2f}" for value in found[:, at]))
                for (family, n), found in table.items()
            ),
            (note,),
        )
        for at, title in enumerate(_OF_DRAWS)
    ]


def draws_table(lines: Iterable[Line]) -> dict[tuple[str, int], np.ndarray]:
    """Return by family and n an array of sizes of V by figures: two spreads and a mean."""
    found: dict[tuple[str, int], list[list[list[float]]]] = {}
    for line in lines:
        for family, by_size in line["result"]["families"].items():
            rows = [by_size[str(factor)] for factor in FACTORS]
            found.setdefault((family, line["key"]["n"]), []).append(rows)
    families = list(dict.fromkeys(family for family, _ in found))
    order = sorted(found, key=lambda key: (families.index(key[0]), key[1]))
    return {key: 100 * np.mean(found[key], axis=0) for key in order}


def _measured(
    results: SmallResults, measure: str, family: str, notes: tuple[str, ...] = ()
) -> Page:
    def cell(way: str, n: int) -> str:
        value = results.mean(measure, family, way, n)
        signed = measure in (BIAS, CHOSEN)
        return _NO_FIGURE if np.isnan(value) else f"{value:+.2f}" if signed else f"{value:.2f}"

    title = f"{measure}, {family}, points"
    return _page(results, title, results.ways, cell, (f"{MEASURES[measure]}.", *notes))


def _intervals(results: SmallResults, title: str, measure: str, minus: str | None = None) -> Page:
    ways = [way for way in RIVALS if way in results.ways and way != minus]
    note = "Over data sets; a way that some family or data set lacks at some n has none there."
    return _page(
        results,
        f"{title}, {MEAN}, points",
        ways,
        lambda way, n: _words(results.interval(measure, way, n, minus)),
        (note,),
    )


def _least_biased(results: SmallResults) -> Page:
    rivals = [way for way in RIVALS if way in results.ways]
    counts = {n: results.least_biased(rivals, n) for n in results.sizes}
    return _page(
        results,
        "cases in which a way has the least absolute bias",
        rivals,
        lambda way, n: str(counts[n][way]),
        ("A case is a data set and a family for which all four have a score.",),
    )


def _page(
    results: SmallResults,
    title: str,
    names: Sequence[str],
    cell: Callable[[str, int], str],
    notes: tuple[str, ...],
) -> Page:
    header = ("way", *(f"n = {n}" for n in results.sizes))
    rows = tuple((name, *(cell(name, n) for n in results.sizes)) for name in names)
    return Page(title, header, rows, notes)


def _words(found: Interval) -> str:
    return _NO_FIGURE if np.isnan(found[0]) else interval_words(found)
