"""Everything that a report shows, as one plain dict."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leavezero.report._plain import plain, readable, shown
from leavezero.trust import score_text

FORMAT = 1
_WORDS = {"mean_augmented": "augmented", "mean_unseen": "unseen", "mean_train": "train"}
_ENDS = {"low_test": "low", "high_test": "high", "mean_confirm": "confirm"}


def summarize(
    results: Mapping[str, Any],
    *,
    column: str = "score",
    best: int | None = None,
    choice: Mapping[str, Any] | None = None,
    trust: Mapping[str, Any] | None = None,
    validation: Mapping[str, Any] | None = None,
    run: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return one plain dict, ready for JSON, of all that a report shows.

    Parameters
    ----------
    results : mapping of columns
        One entry for each candidate, with the names of ``cv_results_``.
    column : str, default="score"
        The metric that chose: "score" for ``mean_test_score``.
    best : int or None, default=None
        The row of the winner.
    choice : mapping or None, default=None
        How clearly it won: the fields of ``Selection``.
    trust : mapping or None, default=None
        The findings: ``TrustReport.to_dict()``.
    validation : mapping or None, default=None
        V beside the data, already counted.
    run : mapping or None, default=None
        What was run: "title", "metric", "data", "fits", "seconds", "repeat".

    Returns
    -------
    dict
        With the keys "format", "run", "params", "candidates" (best first), "choice", "trust"
        and "validation".

    Examples
    --------
    >>> from leavezero.report import summarize
    >>> results = {"params": [{"C": 1}, {"C": 10}], "mean_test_score": [0.8, 0.9]}
    >>> summary = summarize(results, best=1)
    >>> summary["choice"]["label"], summary["params"]
    ('C=10', [{'name': 'C', 'values': [1, 10], 'numbers': True}])
    """
    candidates = _candidates(results, column, best)
    contenders = () if choice is None else choice["contenders"]
    for candidate in candidates:
        candidate["contender"] = candidate["row"] in contenders
    return {
        "format": FORMAT,
        "run": {"title": "Model selection", "metric": readable(column)} | plain(run or {}),
        "params": _params(candidates),
        "candidates": candidates,
        "choice": _choice(candidates, choice),
        "trust": plain(trust),
        "validation": plain(validation),
    }


def _candidates(results: Mapping[str, Any], column: str, best: int | None) -> list[dict[str, Any]]:
    """Return a record for each candidate, the winner first, then by score."""
    scores = np.asarray(results[f"mean_test_{column}"], dtype=float)
    place = np.where(np.isnan(scores), np.inf, -scores)
    order = sorted(range(len(scores)), key=lambda row: (row != best, place[row], row))
    others = _other_metrics(results, column)
    return [_candidate(results, column, row, best, others) for row in order]


def _candidate(
    results: Mapping[str, Any], column: str, row: int, best: int | None, others: Sequence[str]
) -> dict[str, Any]:
    params = {readable(name): _cell(value) for name, value in results["params"][row].items()}
    found = {"row": row, "best": row == best, "params": params, "label": _label(params)}
    found["score"] = plain(results[f"mean_test_{column}"][row])
    names = {f"{mean}_{column}": word for mean, word in (_WORDS | _ENDS).items()}
    names |= {"mean_fit_time": "fit_seconds", "mean_score_time": "score_seconds"}
    names |= {"iter": "iter", "n_resources": "n_resources"}
    found |= {word: plain(results[name][row]) for name, word in names.items() if name in results}
    found["metrics"] = {readable(name): plain(results[f"mean_test_{name}"][row]) for name in others}
    rank = results.get(f"rank_test_{column}")
    return found if rank is None else found | {"rank": int(rank[row])}


def _other_metrics(results: Mapping[str, Any], column: str) -> list[str]:
    found = [name[len("mean_test_") :] for name in results if name.startswith("mean_test_")]
    return [name for name in found if name != column]


def _cell(value: Any) -> Any:
    """Return a parameter's value: a number, a truth value, None or text."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return readable(value)
    if value is None or isinstance(value, bool):
        return value
    number = plain(value) if isinstance(value, int | float) else None
    return shown(value) if number is None else number


def _label(params: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value}" for name, value in params.items()) or "as given"


def _params(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each parameter with the values that were tried, in order."""
    in_order = sorted(candidates, key=lambda candidate: candidate["row"])
    names = dict.fromkeys(name for one in in_order for name in one["params"])
    found = []
    for name in names:
        values = [one["params"][name] for one in in_order if name in one["params"]]
        numbers = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        different = sorted(set(values)) if numbers else _distinct(values)
        found.append({"name": name, "values": different, "numbers": numbers})
    return found


def _distinct(values: Sequence[Any]) -> list[Any]:
    """Return values once each in the order of their coming; 1 and True are two."""
    return list({(type(value), value): value for value in values}.values())


def _choice(
    candidates: Sequence[Mapping[str, Any]], choice: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return who won, how clearly, and the same in sentences."""
    if not candidates or not candidates[0]["best"]:
        return None
    winner = candidates[0]
    kept = ("label", "params", "score", "low", "high")
    found = {name: winner[name] for name in kept if name in winner}
    if choice is None:
        return found | {"sentences": []}
    by_row = {one["row"]: one["label"] for one in candidates}
    near = [by_row[row] for row in choice["contenders"] if row != winner["row"]]
    found |= plain(choice) | {"contenders": near}
    return found | {"sentences": _sentences(found)}


def _sentences(choice: Mapping[str, Any]) -> list[str]:
    said = []
    if choice["margin"] is not None:
        interval = _interval(choice["margin_low"], choice["margin_high"])
        margin = score_text(choice["margin"])
        said.append(f"The best score leads the second best by {margin}{interval}.")
    near = len(choice["contenders"])
    if near:
        them = "1 other candidate" if near == 1 else f"{near} other candidates"
        said.append(f"{them} cannot be told from the best with as many rows as were given.")
    elif choice["margin"] is not None:
        said.append("Every other candidate is told apart from it.")
    if choice["corrected_score"] is not None:
        corrected = score_text(choice["corrected_score"])
        said.append(f"Without its luck on V the best score is {corrected}.")
    if choice["source"] == "Monte Carlo":
        said.append(
            "Intervals tell how far a score depends on the draw of V; they are no confidence "
            "intervals for new data."
        )
    return said


def _interval(low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return ""
    return f" (95 %: {score_text(low)} to {score_text(high)})"
