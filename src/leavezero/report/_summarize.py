"""The results of a search as one plain dict, and values as JSON and as text for readers."""

import inspect
import math
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from textwrap import indent
from typing import Any

import numpy as np
from sklearn.metrics import get_scorer_names

from leavezero._tables import plain
from leavezero.diagnostics import format_score

MAX_ITEMS = 50  # of a list that is written in full
_NOT_PRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_DATA_PARAMETERS = ("X", "y", "sample_weight", "groups")  # contain rows, which are never shown
FORMAT = 2
BASELINE = "baseline"  # the model type that ignores the features
TYPE_PARAMETER = "candidate"  # of CandidateSearchLZO: the name of the model type
CODE_WIDTH = 84
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
    held_out: Mapping[str, Any] | None = None,
    baseline: float | None = None,
    run: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Return the contents of a report as one dict that JSON can represent.

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
    validation, held_out : mapping or None, default=None
        The validation set compared with the training data, and what predictions for held-out rows
        show.
    baseline : float or None, default=None
        The score without features; default: that in ``held_out``, or of the candidate "baseline".
    run : mapping or None, default=None
        The search itself: "title", "metric", "target", "model_type", "data", "fits", "seconds",
        "code", "made_with".
    """
    tied = () if selection is None else selection["tied"]
    about = {"title": "Model selection", "metric": column, "model_type": "model"} | dict(run or {})
    candidates = _candidates(table, column, best, tied, about["model_type"])
    if baseline is None and held_out is not None:
        baseline = held_out["baseline"]
    for one in candidates:
        if one["type"] == BASELINE and one["score"] is not None:
            # the correction of validation scores would add the bias of others
            baseline = one.get("loo") if baseline is None else baseline
            one |= dict.fromkeys(one.keys() & {"low", "high", "validation", "loo", "cv"})
            one["score"] = baseline = one["score"] if baseline is None else baseline
    types = _model_types(candidates)
    return {
        "format": FORMAT,
        "run": to_json(about),
        "model_types": types,
        "baseline": to_json(baseline),
        "candidates": candidates,
        "selection": _selection(candidates, selection, about["metric"]),
        "diagnostics": to_json(diagnostics),
        "validation": to_json(validation),
        "held_out": to_json(held_out),
    }


def _candidates(
    table: Mapping[str, Any], column: str, best: int | None, tied: Sequence[int], model_type: str
) -> list[dict[str, Any]]:
    """Return one record per candidate: the selected one first, then by score, failed ones last."""
    scores = np.asarray(table[f"mean_test_{column}"], dtype=float)
    position = np.where(np.isnan(scores), np.inf, -scores)
    order = sorted(range(len(scores)), key=lambda row: (row != best, position[row], row))
    columns = {f"{name}_{column}": entry for name, entry in _SCORE_COLUMNS.items()}
    columns = {name: entry for name, entry in (columns | _OTHER_COLUMNS).items() if name in table}
    metrics = [name.removeprefix("mean_test_") for name in table if name.startswith("mean_test_")]
    metrics.remove(column)
    types = [clean_text(str(p.get(TYPE_PARAMETER, model_type))) for p in table["params"]]
    names: dict[str, set[str]] = {}
    for kind, params in zip(types, table["params"], strict=True):
        names.setdefault(kind, set()).update(params)
    short = {kind: _short_names(own) for kind, own in names.items()}
    candidates = []
    for row in order:
        kind, given = types[row], table["params"][row].items()
        params = {short[kind][n]: _cell(v) for n, v in given if n != TYPE_PARAMETER}
        values = {name: f"{v:.6g}" if isinstance(v, float) else v for name, v in params.items()}
        label = ", ".join(f"{name}={value}" for name, value in values.items())
        if TYPE_PARAMETER in table["params"][row]:
            label = f"{kind}, {label}" if label else kind
        candidate: dict[str, Any] = {"row": row, "best": row == best, "tied": row in tied}
        candidate |= {"type": kind, "label": label or "no parameters", "params": params}
        candidate |= {entry: to_json(table[name][row]) for name, entry in columns.items()}
        others = {name: table[f"mean_test_{name}"][row] for name in metrics}
        candidates.append(candidate | {"metrics": to_json(others)})
    return candidates


def _short_names(names: set[str]) -> dict[str, str]:
    """Return the parameters without the names of pipeline steps, where these are not needed."""
    counts = Counter(name.rpartition("__")[2] for name in names)
    last = {name: name.rpartition("__")[2] for name in names}
    return {name: clean_text(last[name] if counts[last[name]] == 1 else name) for name in names}


def _model_types(candidates: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return each model type with its best candidate, the best type first, and its parameters."""
    found = []
    scored = [one for one in candidates if one["score"] is not None]
    for name in dict.fromkeys(one["type"] for one in scored):
        own = [one for one in scored if one["type"] == name]
        best = {key: value for key, value in own[0].items() if key not in ("params", "metrics")}
        difference = own[0]["score"] - scored[0]["score"]
        found.append(best | {"name": name, "difference": difference, "params": _params(own)})
    return found


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
    candidates: Sequence[Mapping[str, Any]], selection: Mapping[str, Any] | None, metric: str
) -> dict[str, Any] | None:
    """Return the selected candidate and how clearly it was selected; None if none was."""
    if not candidates or not candidates[0]["best"]:
        return None
    best, names = candidates[0], ("type", "label", "params", "score", "low", "high")
    found = {name: best[name] for name in names if name in best}
    if selection is None:
        return found | {"tied": [], "sentences": []}
    labels = {candidate["row"]: candidate["label"] for candidate in candidates}
    tied = [labels[row] for row in selection["tied"] if row != best["row"]]
    found |= to_json(selection) | {"tied": tied}
    if best["type"] == BASELINE:
        found["new_data_low"] = found["new_data_high"] = None
    if found["new_data_high"] is not None:
        found["new_data_high"] = min(found["new_data_high"], _highest_score(metric))
    return found | {"sentences": _sentences(found)}


def _sentences(selection: Mapping[str, Any]) -> list[str]:
    sentences = []
    margin, n_tied = selection["margin"], len(selection["tied"])
    if margin is not None:
        low, high = selection["margin_low"], selection["margin_high"]
        known = low is not None and high is not None
        # of generated rows it shows the sampling of the validation set, not that of the data
        known = known and selection.get("resampled_units") != "generated rows"
        # it leaves out the uncertainty of the correction: with ties it may not exclude 0
        known = known and not (n_tied and low > 0)
        texts = [format_score(value, selection["score"]) for value in (margin, low, high)]
        interval = f" (95 % interval {texts[1]} to {texts[2]})" if known else ""
        sentences.append(f"The best score is {texts[0]} above the second best{interval}.")
    if n_tied:
        others = "1 other candidate is" if n_tied == 1 else f"{n_tied} other candidates are"
        sentences.append(f"{others} statistically tied with the best.")
    elif margin is not None:
        sentences.append("No other candidate is statistically tied with it.")
    return sentences


def _highest_score(metric: str) -> float:
    """Return the highest value of a scorer of scikit-learn: 0 for negated errors, else 1."""
    known = metric in get_scorer_names()
    is_error = metric.startswith("neg_") or metric == "max_error"
    return (0.0 if is_error else 1.0) if known else math.inf


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
    """Return a number with four digits, large ones in full; "-" for None."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def format_value(value: Any, max_length: int = 400) -> str:
    """Return a value as short Python code, or in angle brackets; never the contents of tables."""
    code = _code(value, None)
    return code if len(code) <= max_length else f"{code[:max_length]} <cut>"


def python_code(value: Any) -> tuple[list[str], str]:
    """Return import lines and the code of a value, in several lines if it is long."""
    imports: set[str] = set()
    code = _code(value, imports)
    return sorted(imports), code


def _code(value: Any, imports: set[str] | None) -> str:
    """Return code; with a set for imports it is complete and may have several lines."""
    value = plain(value)
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) <= MAX_ITEMS:
        value = value.tolist()
    if isinstance(value, type) or inspect.isroutine(value):
        known = imports is not None and _import(value, imports)
        return value.__name__ if known else f"<{value.__name__}>"
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {tuple(value.shape)}>"
    if isinstance(value, list | tuple):
        if len(value) > MAX_ITEMS and imports is None:
            return f"<{type(value).__name__} of {len(value)}>"
        items = [_code(item, imports) for item in value]
        if isinstance(value, list):
            return _joined("[", items, "]", imports)
        return _joined("(", items, ",)" if len(value) == 1 else ")", imports)
    if isinstance(value, Mapping):
        items = [f"{key!r}: {_code(item, imports)}" for key, item in value.items()]
        return _joined("{", items, "}", imports)
    if hasattr(value, "get_params"):
        if imports is not None:
            _import(type(value), imports)
        return _joined(f"{type(value).__name__}(", _changed_params(value, imports), ")", imports)
    if hasattr(value, "dist") and hasattr(value, "args"):  # a frozen distribution of scipy.stats
        if imports is not None:
            imports.add(f"from scipy.stats import {value.dist.name}")
        params = [_code(item, imports) for item in value.args]
        params += [f"{name}={_code(item, imports)}" for name, item in value.kwds.items()]
        return _joined(f"{value.dist.name}(", params, ")", imports)
    text = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def _joined(head: str, items: list[str], tail: str, imports: set[str] | None) -> str:
    line = f"{head}{', '.join(items)}{tail}"
    if imports is None or len(line) <= CODE_WIDTH or not items:
        return line
    lines = indent(",\n".join(items), "    ")
    return f"{head}\n{lines},\n{tail.lstrip(',')}"


def _import(value: Any, imports: set[str]) -> bool:
    """Add the import of a class or function from the shortest module that has it, if any does."""
    name, parts = value.__name__, (value.__module__ or "").split(".")
    for size in range(1, len(parts) + 1):
        module = ".".join(parts[:size])
        if getattr(sys.modules.get(module), name, None) is value:
            imports.add(f"from {module} import {name}")
            return True
    return False


def _changed_params(estimator: Any, imports: set[str] | None) -> list[str]:
    """Return the parameters of an estimator that differ from their defaults, as code."""
    signature = inspect.signature(type(estimator)).parameters
    changed = []
    for name, value in estimator.get_params(deep=False).items():
        if name not in signature or _code(value, None) != _code(signature[name].default, None):
            hidden = name in _DATA_PARAMETERS
            code = f"<{type(value).__name__}>" if hidden else _code(value, imports)
            changed.append(f"{name}={code}")
    return changed
