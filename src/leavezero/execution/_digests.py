"""Digests of values, the same in every process and session."""

import dataclasses
import functools
import hashlib
import logging
import math
import types
from collections.abc import Iterable, Mapping
from typing import Any

import joblib
import numpy as np
from scipy import sparse

from leavezero._tables import count_rows, is_pandas, is_polars, take_rows
from leavezero._typing import AnyArray, Table

MAX_CELLS = 2**16  # of the data from which a seed is derived
MIN_ROWS = 10
_log = logging.getLogger("leavezero")
_SCALARS = (type(None), bool, int, float, complex, str, bytes)


def digest(value: Any) -> str:
    """Return a digest of 64 hexadecimal digits; equal only for equal content of the same types.

    Values are arrays, sparse matrices, frames, estimators, functions, dataclasses, scalars, nested
    lists and mappings of these; anything else counts by its pickle. Functions count by their code,
    the values in their closure, and the constants and functions of their module that they use;
    estimators by their class and parameters.
    """
    hasher = hashlib.sha256()
    try:
        _add(hasher, value)
    except RecursionError:
        raise ValueError(f"{value!r} contains itself, so it has no digest.") from None
    return hasher.hexdigest()


def data_seed(X: Table, y: AnyArray) -> int:
    """Return a seed derived from the data, of large data from their shape and some rows.

    Layout and subclass of an array do not count: a worker may receive a memory map of it.
    """
    n_rows, shape = count_rows(X), tuple(getattr(X, "shape", ()))
    limit = max(MIN_ROWS, MAX_CELLS // max(1, math.prod(shape[1:])))
    rows = np.linspace(0, n_rows - 1, min(n_rows, limit)).astype(np.intp)
    some = [take_rows(X, rows), y[rows]]
    some = [np.ascontiguousarray(p) if isinstance(p, np.ndarray) else p for p in some]
    try:
        return int(digest([n_rows, shape, *some]), 16)
    except ValueError:
        _log.info("The data have no digest; the seed is derived from their shape.", exc_info=True)
        return int(digest([n_rows, shape]), 16)


def _add(hasher: Any, value: Any) -> None:
    """Add a value with its type and length, so that no two contents look the same."""
    if isinstance(value, np.generic):
        value = np.asarray(value) if value.dtype.kind in "mMV" else value.item()
    if isinstance(value, _SCALARS):
        content = value if isinstance(value, bytes) else str(value).encode("utf-8", "surrogatepass")
        hasher.update(f"{type(value).__name__}:{len(content)}:".encode() + content)
    elif isinstance(value, np.ndarray):
        _add_array(hasher, value)
    else:
        _add_items(hasher, *_parts(value))


def _add_items(hasher: Any, kind: str, items: Iterable[Any]) -> None:
    listed = list(items)
    hasher.update(f"{kind}[{len(listed)}]:".encode())
    for item in listed:
        _add(hasher, item)


def _add_array(hasher: Any, array: AnyArray) -> None:
    """Add an array; its memory layout counts, since sums depend on it in the last digit."""
    transposed = array.flags.f_contiguous and not array.flags.c_contiguous
    dtype = array.dtype.descr if array.dtype.names else array.dtype.str
    hasher.update(f"{type(array).__name__}:{dtype}:{array.shape}:{transposed}:".encode())
    if array.dtype.hasobject or array.dtype.kind == "T":
        _add_items(hasher, "objects", array.ravel().tolist())
    elif array.nbytes:
        flat = np.ascontiguousarray(array.T if transposed else array).reshape(-1)
        hasher.update(flat.view(np.ndarray).view(np.uint8).data)


def _parts(value: Any) -> tuple[str, Iterable[Any]]:
    """Return the kind of a composed value, and the values of which it consists."""
    if isinstance(value, type):
        return "type", [value.__module__, value.__qualname__]
    if isinstance(value, list | tuple):
        return type(value).__name__, value
    if isinstance(value, set | frozenset):
        return "set", sorted(digest(item) for item in value)
    if isinstance(value, Mapping):
        return "dict", sorted(value.items(), key=lambda item: digest(item[0]))
    if sparse.issparse(value):
        rows = value if value.format in ("csr", "csc") else value.tocsr()
        return "sparse", [type(value), value.shape, rows.data, rows.indices, rows.indptr]
    if is_pandas(value) or is_polars(value):
        return "frame", _frame_parts(value)
    if hasattr(value, "get_params"):
        return "estimator", [type(value), value.get_params(deep=False)]
    if isinstance(value, types.FunctionType):
        return "function", _function_parts(value, ())
    if isinstance(value, functools.partial):
        return "partial", [value.func, value.args, value.keywords]
    if dataclasses.is_dataclass(value):
        fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        return "dataclass", [type(value), fields]
    try:
        return "other", [type(value), joblib.hash(value, hash_name="sha1")]
    except Exception as error:  # pickling runs any code
        raise ValueError(f"{value!r} has no digest: it cannot be pickled ({error}).") from error


def _frame_parts(frame: Any) -> list[Any]:
    """Return names, dtypes, categories and values of the columns, and the index."""
    columns = [frame]
    if hasattr(frame, "columns"):  # not a series; names may occur twice
        numbers = range(len(frame.columns))
        columns = [frame.iloc[:, n] if is_pandas(frame) else frame.to_series(n) for n in numbers]
    categories = [getattr(column.dtype, "categories", None) for column in columns]
    return [
        type(frame),
        frame.index.to_numpy() if is_pandas(frame) else None,
        [(column.name, str(column.dtype), column.to_numpy()) for column in columns],
        [None if names is None else list(names) for names in categories],
    ]


def _function_parts(function: types.FunctionType, callers: tuple[Any, ...]) -> list[Any]:
    """Return the code of a function and the values that it uses."""
    known = (*callers, function)
    used = {name: function.__globals__.get(name) for name in sorted(_names(function.__code__))}
    return [
        function.__module__,
        function.__qualname__,
        _code_parts(function.__code__),
        [function.__defaults__, function.__kwdefaults__],
        [_used_part(cell.cell_contents, known) for cell in function.__closure__ or ()],
        {
            name: _used_part(value, known)
            for name, value in used.items()
            if isinstance(value, _SCALARS)
            or (isinstance(value, types.FunctionType) and value.__module__ == function.__module__)
        },
    ]


def _used_part(value: Any, callers: tuple[Any, ...]) -> Any:
    """Return what to add for a value that a function uses; functions may call one another."""
    if any(value is caller for caller in callers):
        return f"the function {value.__qualname__}"
    return _function_parts(value, callers) if isinstance(value, types.FunctionType) else value


def _names(code: types.CodeType) -> set[str]:
    """Return the names of globals and attributes in a function and in those inside it."""
    inner = [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))


def _code_parts(code: types.CodeType) -> list[Any]:
    constants = [_code_parts(c) if isinstance(c, types.CodeType) else c for c in code.co_consts]
    return [code.co_code, code.co_names, constants]
