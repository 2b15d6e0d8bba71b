"""The table of candidates: which columns there are, and what stands in each cell."""

from collections.abc import Mapping, Sequence
from typing import Any

from leavezero.report._svg import number
from leavezero.trust import score_text

_SCORES = {
    "low": "low end",
    "high": "high end",
    "augmented": "on V",
    "unseen": "unseen rows",
    "train": "training",
    "confirm": "folds",
}
_REST = {
    "iter": "round",
    "n_resources": "resources",
    "fit_seconds": "fit, s",
    "score_seconds": "score, s",
}


def table_of(summary: Mapping[str, Any], most: int) -> dict[str, Any]:
    """Return the headings, the rows of the best, and how many are left out.

    Examples
    --------
    >>> from leavezero.report import summarize
    >>> from leavezero.report._table import table_of
    >>> results = {"params": [{"C": 1}, {"C": 10}], "mean_test_score": [0.8, 0.9]}
    >>> [cell["text"] for cell in table_of(summarize(results, best=1), 10)["rows"][0]["cells"]]
    ['1', '10', '0.9000']
    """
    candidates = summary["candidates"]
    params = [param["name"] for param in summary["params"]]
    extras = _present(candidates, _SCORES), _present(candidates, _REST)
    metrics = list(candidates[0]["metrics"]) if candidates else []
    heads = ["rank", *params, summary["run"]["metric"], *extras[0].values(), *metrics]
    rows = [_row(one, at, params, extras) for at, one in enumerate(candidates[:most])]
    return {
        "heads": [*heads, *extras[1].values()],
        "rows": rows,
        "left_out": max(0, len(candidates) - most),
    }


def _row(
    one: Mapping[str, Any], at: int, params: Sequence[str], extras: tuple[Any, Any]
) -> dict[str, Any]:
    cells = [_cell(one.get("rank", at + 1))]
    cells += [_cell(one["params"].get(name, "")) for name in params]
    cells += [_score(value) for value in (one["score"], *(one[name] for name in extras[0]))]
    cells += [_score(value) for value in one["metrics"].values()]
    cells += [_cell(one[name]) for name in extras[1]]
    kind = "won" if one["best"] else "near" if one["contender"] else ""
    return {"cells": cells, "kind": kind}


def _present(candidates: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> dict[str, str]:
    """Return the columns in which any candidate has a figure."""
    return {
        name: title
        for name, title in names.items()
        if any(one.get(name) is not None for one in candidates)
    }


def _cell(value: Any) -> dict[str, Any]:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return {"text": number(value), "sort": value, "figure": True}
    return {"text": str(value), "sort": None, "figure": False}


def _score(value: float | None) -> dict[str, Any]:
    text = "-" if value is None else score_text(value)
    return {"text": text, "sort": value, "figure": True}
