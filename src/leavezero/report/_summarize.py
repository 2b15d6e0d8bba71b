"""The results of a search as one plain dict, and values as JSON and as text for readers."""

import inspect
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from leavezero._tables import plain
from leavezero.diagnostics import format_score

MAX_ITEMS = 50  # of a list that is written in full
_NOT_PRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_DATA_PARAMETERS = ("X", "y", "sample_weight", "groups")  # contain rows, which are never shown
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
        short = {name: f"{v:.6g}" if isinstance(v, float) else v for name, v in params.items()}
        label = ", ".join(f"{name}={value}" for name, value in short.items())
        candidate: dict[str, Any] = {"row": row, "best": row == best, "tied": row in tied}
        candidate |= {"label": label or "no parameters", "params": params}
        candidate |= {entry: to_json(table[name][row]) for name, entry in columns.items()}
        others = {name: table[f"mean_test_{name}"][row] for name in metrics}
        candidates.append(candidate | {"metrics": to_json(others)})
    return candidates


def _cell(value: Any) -> Any:
    """Return the value of a parameter: a finite number, a bool, None or text."""
    value = plain(value)
    found = to_json(value) if isinstance(value, str | int | float) else None
    return format_value(value) if found is None and value is not None else found


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
        best = f"The best score is {format_score(margin)}"
        sentences.append(f"{best} above the second best{interval}.")
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


def to_json(value: Any) -> Any:
    """Return a value that JSON can represent: NaN and infinities become None, objects text."""
    value = plain(value)
    if isinstance(value, str):
        return clean_text(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {clean_text(str(name)): to_json(item) for name, item in value.items()}
    if isinstance(value, np.ndarray):
        return to_json(value.tolist())
    if isinstance(value, list | tuple):
        return [to_json(item) for item in value]
    return format_value(value)


def clean_text(text: str) -> str:
    """Replace characters that HTML and XML do not allow: control codes and lone surrogates."""
    return _NOT_PRINTABLE.sub("\N{REPLACEMENT CHARACTER}", text)


def format_number(value: float | None) -> str:
    """Return a number with four digits; "-" for None."""
    return "-" if value is None else f"{value:.4g}"


def format_value(value: Any, max_length: int = 400) -> str:
    """Return a value as short Python code, or in angle brackets; never the contents of tables.

    Parameters
    ----------
    value : object
        Numbers, arrays, estimators, distributions, and lists and dicts of these.
    max_length : int, default=400
        The number of characters after which the text is cut.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> from leavezero.report import format_value
    >>> format_value({"C": np.array([0.1, 1.0]), "model": SVC(C=2)})
    "{'C': [0.1, 1.0], 'model': SVC(C=2)}"
    >>> format_value(np.zeros((3, 2)))
    '<ndarray of shape (3, 2)>'
    """
    code = _code(value)
    return code if len(code) <= max_length else f"{code[:max_length]} <cut>"


def _code(value: Any) -> str:
    value = plain(value)
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) <= MAX_ITEMS:
        value = value.tolist()
    if isinstance(value, type) or inspect.isroutine(value):
        return f"<{value.__name__}>"
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {tuple(value.shape)}>"
    if isinstance(value, list | tuple) and len(value) > MAX_ITEMS:
        return f"<{type(value).__name__} of {len(value)}>"
    if isinstance(value, list | tuple):
        items = ", ".join(map(_code, value))
        return f"[{items}]" if isinstance(value, list) else f"({items}{',' * (len(value) == 1)})"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_code(item)}" for key, item in value.items()) + "}"
    if hasattr(value, "get_params"):
        return f"{type(value).__name__}({', '.join(_changed_params(value))})"
    if hasattr(value, "dist") and hasattr(value, "args"):  # a frozen distribution of scipy.stats
        params = [_code(item) for item in value.args]
        params += [f"{name}={_code(item)}" for name, item in value.kwds.items()]
        return f"{value.dist.name}({', '.join(params)})"
    text = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def _changed_params(estimator: Any) -> list[str]:
    """Return the parameters of an estimator that differ from their defaults, as code."""
    signature = inspect.signature(type(estimator)).parameters
    changed = []
    for name, value in estimator.get_params(deep=False).items():
        code = _code(value)
        if name not in signature or code != _code(signature[name].default):
            hidden = name in _DATA_PARAMETERS
            changed.append(f"{name}=<{type(value).__name__}>" if hidden else f"{name}={code}")
    return changed
