"""One column of a frame to numbers, and back."""

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np

from leavezero._typing import AnyArray, Floats

FEW_VALUES = 20
OFTEN = 5  # times that a code comes in the mean
FIRST_CELLS = 1_000  # which show most columns to have more values


class ColumnKind(Enum):
    """What the numbers of an encoded column mean."""

    NUMBER = "number"
    WHOLE = "whole number"
    CATEGORY = "category"
    TIME = "time"


@dataclass(frozen=True)
class Column:
    """How one column is written as numbers; a missing cell is NaN.

    Categories are written as their position in ``values``, which holds what occurs. Of whole
    numbers it holds what occurs if that is little, comes often and has gaps: they are codes then.
    """

    kind: ColumnKind
    dtype: Any
    values: AnyArray | None = None


def read_numbers(numbers: Floats, dtype: Any, whole: bool, whole_floats: bool) -> Column:
    """Learn what numbers a column holds: floats may be whole numbers too."""
    there = numbers[~np.isnan(numbers)]
    if not whole and not (whole_floats and np.array_equal(there, np.rint(there))):
        return Column(ColumnKind.NUMBER, dtype)
    few = min(FEW_VALUES, len(there) // OFTEN)
    many = len(np.unique(there[:FIRST_CELLS])) > few
    values = there[:0] if many else np.unique(there)
    has_gaps = len(values) > 1 and values[-1] - values[0] >= len(values)
    return Column(ColumnKind.WHOLE, dtype, values if has_gaps and len(values) <= few else None)


def rounded(numbers: Floats, column: Column, chances: Floats) -> Floats:
    """Return whole numbers, the upper neighbor as often as the way to it says."""
    if column.values is None:
        return np.floor(numbers + chances)
    above = np.clip(np.searchsorted(column.values, numbers), 1, len(column.values) - 1)
    low, high = column.values[above - 1], column.values[above]
    nearest = np.where(numbers - low > chances * (high - low), high, low)
    return np.where(np.isnan(numbers), np.nan, nearest)


def read_pandas(series: Any, whole_floats: bool) -> Column:
    """Learn how a column of a pandas frame is written as numbers."""
    dtype = series.dtype
    if getattr(dtype, "kind", "O") in "mM":
        return Column(ColumnKind.TIME, dtype)
    kind = getattr(dtype, "kind", "O")
    if not hasattr(dtype, "categories") and kind in "fiu":
        numbers = series.to_numpy(dtype=np.float64, na_value=np.nan)
        return read_numbers(numbers, dtype, kind != "f", whole_floats)
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


def read_polars(series: Any, whole_floats: bool) -> Column:
    """Learn how a column of a polars frame is written as numbers."""
    dtype = series.dtype
    if dtype.is_numeric():
        numbers = _polars_numbers(series)
        return read_numbers(numbers, dtype, not dtype.is_float(), whole_floats)
    if dtype.is_temporal():
        return Column(ColumnKind.TIME, dtype)
    return Column(
        ColumnKind.CATEGORY, dtype, _sorted_values(series.drop_nulls().unique().to_list())
    )


def encode_polars(series: Any, column: Column) -> Floats:
    """Return a column as numbers."""
    if column.kind is ColumnKind.CATEGORY:
        return _positions(series.to_list(), series.is_null().to_numpy(), column)
    return _polars_numbers(series.to_physical() if column.kind is ColumnKind.TIME else series)


def _polars_numbers(series: Any) -> Floats:
    import polars as pl  # installed: the user brought a frame

    return np.asarray(series.cast(pl.Float64).fill_null(np.nan).to_numpy())


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


def read_objects(column: AnyArray, whole_floats: bool) -> Column:
    """Learn how a column of an array of objects is written as numbers."""
    missing = _missing_objects(column)
    try:
        numbers = column[~missing].astype(np.float64)
    except (TypeError, ValueError):
        values = _sorted_values(list(dict.fromkeys(column[~missing].tolist())))
        return Column(ColumnKind.CATEGORY, object, values)
    return read_numbers(numbers, object, False, whole_floats)


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
