"""The cells of one column: missing, numbers, words, times."""

import re
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from leavezero._typing import Bools
from leavezero.tabular._errors import TableError
from leavezero.tabular._marks import plain_numbers
from leavezero.tabular._words import counted

MISSING = frozenset({"", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "?"})
_DATE = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T].*)?")
_LONG = re.compile(r"\s*[-+]?\d{16,}\s*", re.ASCII)
_DAYS = ("ISO8601", "%d/%m/%Y", "%m/%d/%Y", "%d.%m.%Y", "%d-%m-%Y", "%m-%d-%Y", "%Y/%m/%d")
_CLOCKS = ("", " %H:%M", " %H:%M:%S")
FORMATS = tuple(day + clock for day in _DAYS for clock in (_CLOCKS if day != "ISO8601" else ("",)))


def is_words(series: Any) -> bool:
    """Tell whether a column holds words, or Python objects of several kinds."""
    types, dtype = pd.api.types, series.dtype
    if types.is_bool_dtype(dtype):
        return True
    return not (types.is_numeric_dtype(dtype) or types.is_datetime64_any_dtype(dtype))


def stripped(series: Any) -> Any:
    """Return words without blanks around them, as objects; a missing cell is None.

    Examples
    --------
    >>> import pandas as pd
    >>> stripped(pd.Series([" a", "?", 2.0, None])).tolist()
    ['a', None, '2', None]
    """
    words = [_word(cell) for cell in series.astype(object).where(series.notna(), "").tolist()]
    kept = [None if word in MISSING else word for word in words]
    return pd.Series(kept, index=series.index, dtype=object)


def numbers(series: Any, decimal: str = ".", thousands: str = "") -> tuple[Any, Bools]:
    """Return a column as floats, and which cells are neither numbers nor missing.

    Examples
    --------
    >>> import pandas as pd
    >>> found, wrong = numbers(pd.Series(["1,5", " 2", "NA", "x"]), decimal=",")
    >>> found.tolist(), wrong.tolist()
    ([1.5, 2.0, nan, nan], [False, False, False, True])
    """
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return pd.Series(np.nan, index=series.index), series.notna().to_numpy()
    if not is_words(series):
        found = pd.Series(series.to_numpy(dtype=np.float64, na_value=np.nan), index=series.index)
        return found.replace([np.inf, -np.inf], np.nan), np.zeros(len(series), dtype=bool)
    if decimal == "." and not thousands and not pd.api.types.is_bool_dtype(series.dtype):
        found = pd.to_numeric(series, errors="coerce").astype(np.float64)
        if np.isfinite(found).all():  # most columns, and quickly
            return found, np.zeros(len(series), dtype=bool)
    words = stripped(series)
    plain = plain_numbers(words, decimal, thousands)
    found = pd.to_numeric(plain, errors="coerce").astype(np.float64)
    wrong = (found.isna() & words.notna() & ~_are_nan(words)).to_numpy()
    return found.replace([np.inf, -np.inf], np.nan), wrong


def times(series: Any, form: str) -> tuple[Any, Bools]:
    """Return a column as times without a zone, and which cells are neither times nor missing.

    Examples
    --------
    >>> import pandas as pd
    >>> found, wrong = times(pd.Series(["2024-02-29", "", "soon"]), "ISO8601")
    >>> found.dt.year.tolist()[0], wrong.tolist()
    (2024.0, [False, False, True])
    """
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return _without_zone(series), np.zeros(len(series), dtype=bool)
    words = stripped(series)
    days = words.where(words.str.contains(r"\d", na=False), None)  # pandas takes "now" for a time
    found = pd.to_datetime(days, format=form, errors="coerce", utc=True)
    return _without_zone(found), (found.isna() & words.notna()).to_numpy()


def time_formats(words: Any) -> list[str]:
    """Return the formats in which every word is a day or a time."""
    present = words.dropna()
    some = present.iloc[:20]
    if some.empty or not all(_DATE.fullmatch(word) for word in some):
        return []
    likely = [form for form in FORMATS if not times(some, form)[1].any()]
    return [form for form in likely if not times(present, form)[1].any()]


def are_codes(words: Any) -> bool:
    """Tell whether digits are no numbers: a zero before other digits, as in postal codes."""
    return bool(words.dropna().astype(str).str.fullmatch(r"\s*0\d+\s*").any())


def outgrow_floats(series: Any, found: Any) -> bool:
    """Tell whether a column has whole numbers of which floats, here beside it, drop digits.

    Examples
    --------
    >>> import pandas as pd
    >>> ids = pd.Series(["12345678901234567891", "2"])
    >>> outgrow_floats(ids, ids.astype(float))
    True
    """
    large = ~(np.abs(found.to_numpy()) < 2**53)
    if not large.any():  # most columns, and quickly
        return False
    whole = (word for word in map(str, series[large].tolist()) if _LONG.fullmatch(word))
    return any(Decimal(word.strip()) != Decimal(float(word)) for word in whole)


def refuse_wrong(series: Any, wrong: Bools, name: str, what: str) -> None:
    """Raise if a column has cells that are not what it should hold."""
    if not wrong.any():
        return
    first = int(np.flatnonzero(wrong)[0])
    raise TableError(
        f"Column {name!r} should hold {what}, and {counted(int(wrong.sum()), 'cell')} "
        f"do{'es' if wrong.sum() == 1 else ''} not, such as {str(series.iloc[first])!r}. "
        "Mend these cells, or leave them empty."
    )


def _word(cell: Any) -> str:
    """Return a cell as a word; a whole number has no decimal point, whatever its type."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, float) and cell.is_integer():
        return str(int(cell))
    return str(cell)


def _are_nan(words: Any) -> Any:
    return words.str.lower().isin(("nan", "+nan", "-nan"))


def _without_zone(series: Any) -> Any:
    """Return times in UTC without a zone; microseconds, which hold the year 9999 and 1."""
    if series.dt.tz is not None:
        series = series.dt.tz_convert("UTC").dt.tz_localize(None)
    return series.astype("datetime64[us]")
