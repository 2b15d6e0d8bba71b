"""Digests of values, the same in every process."""

import dataclasses
import functools
import hashlib
import types
from collections.abc import Iterable, Mapping
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from leavezero._tables import is_pandas, is_polars
from leavezero._typing import AnyArray


def digest(value: Any) -> str:
    """Return a digest of a value's content; equal only for equal content of the same types.

    Functions count by their code, estimators by their class and parameters.

    Examples
    --------
    >>> import numpy as np
    >>> digest({"a": 1, "b": [2.0]}) == digest({"b": [np.float64(2.0)], "a": 1})
    True
    >>> digest(1) == digest(1.0)
    False
    """
    hasher = hashlib.sha256()
    try:
        _feed(hasher, value)
    except RecursionError:
        raise ValueError(f"{value!r} holds itself, so that it has no digest.") from None
    return hasher.hexdigest()


def name_of(kind: type) -> str:
    """Return the full name of a class."""
    return f"{kind.__module__}.{kind.__qualname__}"


def _feed(hasher: Any, value: Any) -> None:
    """Add a value with its kind and length, so that no two contents read the same."""
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, bool | int | float | complex | str | bytes):
        _plain(hasher, value)
    elif isinstance(value, np.ndarray):
        _array(hasher, value)
    elif sparse.issparse(value):
        _sparse(hasher, value)
    elif is_pandas(value) or is_polars(value):
        _frame(hasher, value)
    else:
        _structure(hasher, value)


def _structure(hasher: Any, value: Any) -> None:
    """Add something made of other values."""
    if isinstance(value, list | tuple):
        _items(hasher, type(value).__name__, value)
    elif isinstance(value, set | frozenset):
        _items(hasher, "set", sorted(digest(item) for item in value))
    elif isinstance(value, Mapping):
        pairs = sorted((digest(key), digest(own)) for key, own in value.items())
        _items(hasher, "dict", pairs)
    elif isinstance(value, type):
        _items(hasher, "type", [name_of(value)])
    elif hasattr(value, "get_params"):
        _items(hasher, "estimator", [type(value), value.get_params(deep=False)])
    elif isinstance(value, types.FunctionType):
        _items(hasher, "function", _code_of(value))
    elif isinstance(value, functools.partial):
        _items(hasher, "partial", [value.func, value.args, value.keywords])
    elif dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        _items(hasher, "record", [type(value), fields])
    else:
        _other(hasher, value)


def _plain(hasher: Any, value: Any) -> None:
    content = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
    hasher.update(f"{type(value).__name__}:{len(content)}:".encode() + content)


def _items(hasher: Any, kind: str, items: Iterable[Any]) -> None:
    listed = list(items)
    hasher.update(f"{kind}[{len(listed)}]:".encode())
    for item in listed:
        _feed(hasher, item)


def _array(hasher: Any, array: AnyArray) -> None:
    """Add an array; its layout counts, since sums depend on it in the last digit."""
    transposed = array.flags.f_contiguous and not array.flags.c_contiguous
    dtype = array.dtype.descr if array.dtype.names else array.dtype.str
    hasher.update(f"{type(array).__name__}:{dtype}:{array.shape}:{transposed}:".encode())
    if array.dtype.hasobject or array.dtype.kind == "T":
        _items(hasher, "objects", array.ravel().tolist())
    elif array.nbytes:
        flat = np.ascontiguousarray(array.T if transposed else array).reshape(-1)
        hasher.update(flat.view(np.ndarray).view(np.uint8).data)


def _sparse(hasher: Any, matrix: Any) -> None:
    rows = matrix if matrix.format in ("csr", "csc") else matrix.tocsr()
    parts = [type(matrix), matrix.shape, rows.data, rows.indices, rows.indptr]
    _items(hasher, "sparse", parts)


def _frame(hasher: Any, frame: Any) -> None:
    """Add a frame or a series: names, dtypes and values of its columns, and its index."""
    if getattr(frame, "ndim", 2) == 1 or not hasattr(frame, "columns"):
        _items(hasher, "series", [str(frame.dtype), frame.name, frame.to_numpy()])
        return
    names = list(frame.columns)
    index = frame.index.to_numpy() if is_pandas(frame) else None
    _items(hasher, "frame", [names, index])
    for at in range(len(names)):
        column = frame.iloc[:, at] if is_pandas(frame) else frame.get_columns()[at]
        _items(hasher, "column", [str(column.dtype), column.to_numpy()])


def _code_of(function: types.FunctionType) -> list[Any]:
    """Return what a function does, as far as its own code and what it closes over tell."""
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    cells = ["itself" if content is function else content for content in cells]
    defaults = [function.__defaults__, function.__kwdefaults__]
    return [
        function.__module__,
        function.__qualname__,
        _compiled(function.__code__),
        defaults,
        cells,
    ]


def _compiled(code: types.CodeType) -> list[Any]:
    constants = [
        _compiled(constant) if isinstance(constant, types.CodeType) else constant
        for constant in code.co_consts
    ]
    return [code.co_code, code.co_names, constants]


def _other(hasher: Any, value: Any) -> None:
    try:
        content = joblib.hash(value, hash_name="sha1")
    except Exception as error:  # pickle raises anything
        raise ValueError(
            f"{value!r} has no digest, so that it cannot be told from another in a journal: {error}"
        ) from error
    _items(hasher, "other", [type(value), content])
