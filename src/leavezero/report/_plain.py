"""Any value as what JSON takes, and as the text that a reader should see."""

import inspect
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

MOST_ITEMS = 50  # of a list that is shown in full
MOST_LETTERS = 400
_UNSEEN = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
ROWS = ("X", "y", "sample_weight", "groups")  # parameters that hold rows, which are never shown


def plain(value: Any) -> Any:
    """Return a value as JSON takes it: NaN and infinities are None, what is unknown is text.

    Parameters
    ----------
    value : object
        Anything: numbers, arrays, estimators, and lists and dicts of these.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"C": np.float64(0.5), "scores": np.array([1.0, np.nan])})
    {'C': 0.5, 'scores': [1.0, None]}
    """
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, str):
        return readable(value)
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {readable(str(name)): plain(one) for name, one in value.items()}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, list | tuple):
        return [plain(one) for one in value]
    return shown(value)


def readable(text: str) -> str:
    r"""Return a text without characters that no page may have: control codes, half characters.

    Examples
    --------
    >>> readable("a\x00b") == "a\N{REPLACEMENT CHARACTER}b"
    True
    """
    return _UNSEEN.sub("\N{REPLACEMENT CHARACTER}", text)


def shown(value: Any, most: int = MOST_LETTERS) -> str:
    """Return a value as Python code where there is a short one; tables are named, never shown.

    Parameters
    ----------
    value : object
        Anything: numbers, arrays, estimators, and lists and dicts of these.
    most : int, default=400
        The number of letters beyond which it is cut.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.svm import SVC
    >>> shown({"C": np.array([0.1, 1.0]), "model": SVC(C=2)})
    "{'C': [0.1, 1.0], 'model': SVC(C=2)}"
    >>> shown(np.zeros((3, 2)))
    '<ndarray of shape (3, 2)>'
    """
    text = _code(value)
    return text if len(text) <= most else f"{text[:most]} <and so on>"


def _code(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, np.ndarray) and value.ndim == 1 and len(value) <= MOST_ITEMS:
        value = value.tolist()
    if isinstance(value, type) or inspect.isroutine(value):
        return f"<{value.__name__}>"
    if hasattr(value, "shape"):
        return f"<{type(value).__name__} of shape {tuple(value.shape)}>"
    if isinstance(value, list | tuple):
        return _listed(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key!r}: {_code(one)}" for key, one in value.items()) + "}"
    if hasattr(value, "get_params"):
        return f"{type(value).__name__}({', '.join(_settings(value))})"
    if hasattr(value, "dist") and hasattr(value, "args"):  # a frozen distribution of scipy
        return _distribution(value)
    text = repr(value)
    return f"<{type(value).__name__}>" if " at 0x" in text else text


def _listed(values: Any) -> str:
    if len(values) > MOST_ITEMS:
        return f"<{type(values).__name__} of {len(values)}>"
    inside = ", ".join(_code(one) for one in values)
    if isinstance(values, tuple):
        return f"({inside},)" if len(values) == 1 else f"({inside})"
    return f"[{inside}]"


def _settings(estimator: Any) -> list[str]:
    """Return what was set in an estimator, other than by default."""
    defaults = inspect.signature(type(estimator)).parameters
    found = []
    for name, value in estimator.get_params(deep=False).items():
        default = defaults[name].default if name in defaults else inspect.Parameter.empty
        code = _code(value)
        if default is not inspect.Parameter.empty and code == _code(default):
            continue
        found.append(f"{name}=<{type(value).__name__}>" if name in ROWS else f"{name}={code}")
    return found


def _distribution(frozen: Any) -> str:
    settings = [_code(one) for one in frozen.args]
    settings += [f"{name}={_code(one)}" for name, one in frozen.kwds.items()]
    return f"{frozen.dist.name}({', '.join(settings)})"
