"""A data set from OpenML, checked on arrival."""

from typing import Any
from urllib.error import URLError

import numpy as np
from sklearn.datasets import fetch_openml

from leavezero._typing import AnyArray, Floats
from leavezero.datasets._registry import Description, OpenMLRecord


def read_openml(description: Description) -> tuple[Floats, AnyArray]:
    """Download a data set, or take it from scikit-learn's cache, and return it as numbers.

    Raises where OpenML cannot be reached, and where another shape arrives than was expected.
    """
    record = description.openml
    if record is None:
        raise ValueError(f"OpenML is not known to hold the data set {description.name!r}.")
    try:
        bunch = fetch_openml(data_id=record.id, as_frame=True, parser="auto")
    except (URLError, ConnectionError, TimeoutError) as error:
        raise ConnectionError(
            f"OpenML could not be reached for {description.name!r} (id {record.id}): {error}"
        ) from error
    _check_arrival(bunch.data.shape, record, description.name)
    return _prepare(bunch.data, bunch.target, record)


def _check_arrival(shape: tuple[int, int], record: OpenMLRecord, name: str) -> None:
    expected = (record.n_rows, record.n_columns)
    if tuple(shape) != expected:
        note = "" if record.tried else " This id could not be tried before."
        raise ValueError(
            f"OpenML's data set {record.id}, for {name!r}, arrived with shape {tuple(shape)}, "
            f"expected was {expected}.{note}"
        )


def _prepare(frame: Any, target: Any, record: OpenMLRecord) -> tuple[Floats, AnyArray]:
    """Return features as numbers, and classes as whole numbers."""
    frame = frame.drop(columns=list(record.dropped))
    if record.missing == "drop":
        kept = frame.notna().all(axis=1).to_numpy()
        frame, target = frame[kept], target[kept]
    columns = [_numbers(frame[name], record) for name in frame.columns]
    if record.above is not None:
        return np.column_stack(columns), (target.to_numpy(float) > record.above).astype(np.int64)
    return np.column_stack(columns), np.unique(target.astype(str), return_inverse=True)[1]


def _numbers(column: Any, record: OpenMLRecord) -> Floats:
    """Return one column as numbers; the words of a category are numbered in order."""
    if record.words:
        return column.astype(object).map(dict(record.words)).fillna(0).to_numpy(float)
    if record.missing == "fill" and column.isna().any():
        column = column.fillna(_middle(column))
    if _is_numeric(column):
        return column.to_numpy(float)
    words = column.astype(object).where(column.notna(), "").astype(str)
    return np.unique(words, return_inverse=True)[1].astype(float)


def _middle(column: Any) -> Any:
    return column.median() if _is_numeric(column) else column.mode().iloc[0]


def _is_numeric(column: Any) -> bool:
    return getattr(column.dtype, "kind", "O") in "iuf"
