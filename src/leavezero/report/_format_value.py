"""Values as JSON and as text for readers."""

import inspect
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

MAX_ITEMS = 50  # of a list that is written in full
_NOT_PRINTABLE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_DATA_PARAMETERS = ("X", "y", "sample_weight", "groups")  # contain rows, which are never shown


def to_json(value: Any) -> Any:
    """Return a value that JSON can represent: NaN and infinities become None, objects text."""
    if isinstance(value, np.generic):
        value = value.item()
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
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) <= MAX_ITEMS:
        value = value.tolist()
    if isinstance(value, type) or inspect.isroutine(value):
        return f"<{value.__name__}>"
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {tuple(value.shape)}>"
    if isinstance(value, list | tuple):
        return _sequence_code(value)
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


def _sequence_code(values: Any) -> str:
    if len(values) > MAX_ITEMS:
        return f"<{type(values).__name__} of {len(values)}>"
    items = ", ".join(map(_code, values))
    if isinstance(values, list):
        return f"[{items}]"
    return f"({items},)" if len(values) == 1 else f"({items})"


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
