"""The results of a search as one plain dict."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leavezero.diagnostics import format_score
from leavezero.report._format_value import clean_text, format_value, to_json

FORMAT = 1
_SCORE_COLUMNS = {  # beginning of the column in cv_results_ -> entry of a candidate
    "mean_test": "score",
    "low_test": "low",
    "high_test": "high",
    "mean_validation": "validation",
    "mean_loo": "loo",
    "mean_train": "train",
    "mean_cv": "cv",
    "rank_test": "rank",
}
_OTHER_COLUMNS = {
    "mean_fit_time": "fit_seconds",
    "mean_score_time": "score_seconds",
    "iter": "iter",
    "n_resources": "n_resources",
}


def summarize(
    table: Mapping[str, Any],
    *,
    column: str = "score",
    best: int | None = None,
    selection: Mapping[str, Any] | None = None,
    diagnostics: Mapping[str, Any] | None = None,
    validation: Mapping[str, Any] | None = None,
    run: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the contents of a report as one dict that JSON can represent.

    Its keys are "format", "run", "params", "candidates" (best first), "selection", "diagnostics"
    and "validation".

    Parameters
    ----------
    table : mapping of columns
        The columns of ``cv_results_``, one entry per candidate.
    column : str, default="score"
        The metric that selected: "score" for ``mean_test_score``.
    best : int or None, default=None
        The row of the selected candidate.
    selection, diagnostics : mapping or None, default=None
        The fields of ``Selection``, and ``DiagnosticReport.to_dict()``.
    validation : mapping or None, default=None
        The validation set compared with the training data.
    run : mapping or None, default=None
        The search itself: "title", "metric", "data", "fits", "seconds", "repeat", "made_with".

    Examples
    --------
    >>> from leavezero.report import summarize
    >>> table = {"params": [{"C": 1}, {"C": 10}], "mean_test_score": [0.8, 0.9]}
    >>> summary = summarize(table, best=1)
    >>> summary["selection"]["label"], summary["params"]
    ('C=10', [{'name': 'C', 'values': [1, 10], 'numeric': True}])
    """
    tied = () if selection is None else selection["tied"]
    candidates = _candidates(table, column, best, tied)
    return {
        "format": FORMAT,
        "run": {"title": "Model selection", "metric": clean_text(column)} | to_json(run or {}),
        "params": _params(candidates),
        "candidates": candidates,
        "selection": _selection(candidates, selection),
        "diagnostics": to_json(diagnostics),
        "validation": to_json(validation),
    }


def _candidates(
    table: Mapping[str, Any], column: str, best: int | None, tied: Sequence[int]
) -> list[dict[str, Any]]:
    """Return one record per candidate: the selected one first, then by score, failed ones last."""
    scores = np.asarray(table[f"mean_test_{column}"], dtype=float)
    position = np.where(np.isnan(scores), np.inf, -scores)
    order = sorted(range(len(scores)), key=lambda row: (row != best, position[row], row))
    columns = {f"{name}_{column}": entry for name, entry in _SCORE_COLUMNS.items()}
    columns = {name: entry for name, entry in (columns | _OTHER_COLUMNS).items() if name in table}
    metrics = [name.removeprefix("mean_test_") for name in table if name.startswith("mean_test_")]
    metrics.remove(column)
    candidates = []
    for row in order:
        params = {clean_text(name): _cell(value) for name, value in table["params"][row].items()}
        label = ", ".join(f"{name}={_short(value)}" for name, value in params.items())
        candidate: dict[str, Any] = {"row": row, "best": row == best, "tied": row in tied}
        candidate |= {"label": label or "no parameters", "params": params}
        candidate |= {entry: to_json(table[name][row]) for name, entry in columns.items()}
        others = {name: table[f"mean_test_{name}"][row] for name in metrics}
        candidates.append(candidate | {"metrics": to_json(others)})
    return candidates


def _cell(value: Any) -> Any:
    """Return the value of a parameter: a finite number, a bool, None or text."""
    value = value.item() if isinstance(value, np.generic) else value
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool):
        return value
    number = to_json(value) if isinstance(value, int | float) else None
    return format_value(value) if number is None else number


def _short(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _params(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each parameter with its values: numbers sorted, others in the order of the table."""
    by_row = sorted(candidates, key=lambda candidate: candidate["row"])
    params = []
    for name in dict.fromkeys(name for candidate in by_row for name in candidate["params"]):
        values = [one["params"][name] for one in by_row if name in one["params"]]
        numeric = all(isinstance(v, int | float) and not isinstance(v, bool) for v in values)
        # keyed by type, because 1 == True
        unique = list({(type(value), value): value for value in values}.values())
        values = sorted(set(values)) if numeric else unique
        params.append({"name": name, "values": values, "numeric": numeric})
    return params


def _selection(
    candidates: Sequence[Mapping[str, Any]], selection: Mapping[str, Any] | None
) -> dict[str, Any] | None:
    """Return the selected candidate and how clearly it was selected; None if none was."""
    if not candidates or not candidates[0]["best"]:
        return None
    best, names = candidates[0], ("label", "params", "score", "low", "high")
    found = {name: best[name] for name in names if name in best}
    if selection is None:
        return found | {"tied": [], "sentences": []}
    labels = {candidate["row"]: candidate["label"] for candidate in candidates}
    tied = [labels[row] for row in selection["tied"] if row != best["row"]]
    found |= to_json(selection) | {"tied": tied}
    return found | {"sentences": _sentences(found)}


def _sentences(selection: Mapping[str, Any]) -> list[str]:
    sentences = []
    margin, n_tied = selection["margin"], len(selection["tied"])
    if margin is not None:
        low, high = selection["margin_low"], selection["margin_high"]
        known = low is not None and high is not None
        interval = f" (95 % interval {format_score(low)} to {format_score(high)})" if known else ""
        sentences.append(
            f"The best score is {format_score(margin)} above the second best{interval}."
        )
    if n_tied:
        others = "1 other candidate is" if n_tied == 1 else f"{n_tied} other candidates are"
        sentences.append(f"{others} statistically tied with the best.")
    elif margin is not None:
        sentences.append("No other candidate is statistically tied with it.")
    if selection["bias_corrected_score"] is not None:
        score = format_score(selection["bias_corrected_score"])
        sentences.append(f"Corrected for selection bias, the best score is {score}.")
    if selection["resampled_units"] == "generated rows":
        sentences.append(
            "Intervals show how far scores depend on the sample of the validation set; they are "
            "no confidence intervals for new data."
        )
    return sentences
