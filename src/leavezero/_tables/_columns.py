"""One column of a frame to numbers, and back."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats


class ColumnKind(Enum):
    """What the numbers of an encoded column mean."""

    NUMBER = "number"
    WHOLE = "whole number"
    CATEGORY = "category"
    TIME = "time"


@dataclass(frozen=True)
class Column:
    """How one column is written as numbers; a missing cell is NaN.

    Categories are written as their position in ``values``, which holds what occurs.
    """

    kind: ColumnKind
    dtype: Any
    values: AnyArray | None = None


def read_pandas(series: Any) -> Column:
    """Learn how a column of a pandas frame is written as numbers."""
    dtype = series.dtype
    if getattr(dtype, "kind", "O") in "mM":
        return Column(ColumnKind.TIME, dtype)
    kind = getattr(dtype, "kind", "O")
    if not hasattr(dtype, "categories") and kind == "f":
        return Column(ColumnKind.NUMBER, dtype)
    if not hasattr(dtype, "categories") and kind in "iu":
        return Column(ColumnKind.WHOLE, dtype)
    return Column(ColumnKind.CATEGORY, dtype, _sorted_values(series.dropna().unique().tolist()))


def encode_pandas(series: Any, column: Column) -> Floats:
    """Return a column as numbers."""
    missing = series.isna().to_numpy()
    if column.kind is ColumnKind.CATEGORY:
        return _positions(series.tolist(), missing, column)
    if column.kind is ColumnKind.TIME:
        numbers = series.to_numpy(dtype=_time_code(column.dtype)).view(np.int64).astype(np.float64)
    else:
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
    return np.where(missing, np.nan, numbers)


def decode_pandas(numbers: Floats, column: Column) -> Any:
    """Return numbers as a column of a pandas frame."""
    import pandas as pd  # installed: the user brought a frame

    missing = np.isnan(numbers)
    if column.kind is ColumnKind.CATEGORY:
        return pd.Series(_chosen(numbers, missing, column, absent=None), dtype=column.dtype)
    if column.kind is ColumnKind.TIME:
        ticks = np.where(missing, np.iinfo(np.int64).min, np.rint(np.nan_to_num(numbers)))
        times = pd.Series(ticks.astype(np.int64).view(_time_code(column.dtype)))
        zone = getattr(column.dtype, "tz", None)
        return times if zone is None else times.dt.tz_localize("UTC").dt.tz_convert(zone)
    return pd.Series(numbers).astype(column.dtype)


def read_polars(series: Any) -> Column:
    """Learn how a column of a polars frame is written as numbers."""
    dtype = series.dtype
    if dtype.is_float():
        return Column(ColumnKind.NUMBER, dtype)
    if dtype.is_integer():
        return Column(ColumnKind.WHOLE, dtype)
    if dtype.is_temporal():
        return Column(ColumnKind.TIME, dtype)
    return Column(
        ColumnKind.CATEGORY, dtype, _sorted_values(series.drop_nulls().unique().to_list())
    )


def encode_polars(series: Any, column: Column) -> Floats:
    """Return a column as numbers."""
    import polars as pl  # installed: the user brought a frame

    if column.kind is ColumnKind.CATEGORY:
        return _positions(series.to_list(), series.is_null().to_numpy(), column)
    if column.kind is ColumnKind.TIME:
        series = series.to_physical()
    return series.cast(pl.Float64).fill_null(np.nan).to_numpy()


def decode_polars(name: str, numbers: Floats, column: Column) -> Any:
    """Return numbers as a column of a polars frame."""
    import polars as pl  # installed: the user brought a frame

    missing = np.isnan(numbers)
    if column.kind is ColumnKind.CATEGORY:
        return pl.Series(
            name, _chosen(numbers, missing, column, absent=None).tolist(), dtype=column.dtype
        )
    series = pl.Series(name, np.where(missing, 0.0, numbers))
    if column.kind in (ColumnKind.TIME, ColumnKind.WHOLE):
        physical = pl.Series([], dtype=column.dtype).to_physical().dtype
        series = series.round().cast(physical)
    series = series.cast(column.dtype)
    if column.kind is ColumnKind.NUMBER:
        return series.to_frame().select(
            pl.when(pl.Series(~missing)).then(pl.col(name)).otherwise(None).alias(name)
        )[name]
    return series.set(pl.Series(missing), None) if missing.any() else series


def read_objects(column: AnyArray) -> Column:
    """Learn how a column of a numpy array of objects is written as numbers."""
    missing = _missing_objects(column)
    try:
        column[~missing].astype(np.float64)
    except (TypeError, ValueError):
        values = _sorted_values(list(dict.fromkeys(column[~missing].tolist())))
        return Column(ColumnKind.CATEGORY, object, values)
    return Column(ColumnKind.NUMBER, object)


def encode_objects(column: AnyArray, how: Column) -> Floats:
    """Return a column as numbers."""
    missing = _missing_objects(column)
    if how.kind is ColumnKind.CATEGORY:
        return _positions(column.tolist(), missing, how)
    numbers = np.full(len(column), np.nan)
    numbers[~missing] = column[~missing].astype(np.float64)
    return numbers


def decode_objects(numbers: Floats, how: Column) -> AnyArray:
    """Return numbers as a column of a numpy array of objects."""
    if how.kind is ColumnKind.CATEGORY:
        return _chosen(numbers, np.isnan(numbers), how, absent=np.nan)
    return numbers.astype(object)


def _missing_objects(column: AnyArray) -> AnyArray:
    return np.array([cell is None or cell != cell for cell in column], dtype=bool)


def _sorted_values(values: list[Any]) -> AnyArray:
    """Return distinct values in an order that does not depend on the rows' order."""
    array = np.empty(len(values), dtype=object)
    try:
        array[:] = sorted(values)
    except TypeError:  # values of types that do not compare
        array[:] = sorted(values, key=lambda value: (type(value).__name__, repr(value)))
    return array


def _positions(cells: list[Any], missing: AnyArray, column: Column) -> Floats:
    assert column.values is not None
    at = {value: float(position) for position, value in enumerate(column.values)}
    return np.array(
        [np.nan if gone else at[cell] for cell, gone in zip(cells, missing, strict=True)]
    )


def _chosen(numbers: Floats, missing: AnyArray, column: Column, absent: Any) -> AnyArray:
    assert column.values is not None
    chosen = np.full(len(numbers), absent, dtype=object)
    chosen[~missing] = column.values[np.rint(numbers[~missing]).astype(np.intp)]
    return chosen


def _time_code(dtype: Any) -> str:
    """Return numpy's code of a pandas time dtype, without its zone."""
    kind = "M8" if dtype.kind == "M" else "m8"
    unit = getattr(dtype, "unit", None) or np.datetime_data(dtype)[0]
    return f"{kind}[{unit}]"
