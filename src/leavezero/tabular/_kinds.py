"""What each column is taken for, and why."""

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd

from leavezero.tabular._cells import is_words, numbers, time_formats
from leavezero.tabular._errors import TableError
from leavezero.tabular._words import counted, did_you_mean

Kind = Literal["number", "category", "text", "date", "dropped"]

MANY_CATEGORIES = 1_000
_ID_ROWS = 20  # fewer rows differ in every column anyway
_ID_NAME = re.compile(
    r"(.*[_\W])?(id|uuid|guid|index|key|rownum|row)|unnamed_1|.*[a-z]ID", re.ASCII
)
_TEXT_WORDS = 4  # on average
_TEXT_DISTINCT = 0.3  # of the cells


@dataclass(frozen=True)
class Column:
    """What one column of a table is taken for.

    Parameters
    ----------
    name : str
        Its name.
    kind : "number", "category", "text", "date" or "dropped"
        How it is used.
    dtype : str
        Its type as it was read.
    why : str
        The reason in words; empty where there is nothing to say.
    format : str or None
        How a date is written.

    Examples
    --------
    >>> from leavezero.tabular import Column
    >>> Column("age", "number", "int64").kind
    'number'
    """

    name: str
    kind: Kind
    dtype: str
    why: str = ""
    format: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


def describe_columns(
    frame: Any, *, keep: Collection[str] = (), drop: Collection[str] = ()
) -> tuple[Column, ...]:
    """Say what each column of a frame is taken for.

    Columns without a value, with one value only, and those that look like the name of a row are
    dropped.

    Parameters
    ----------
    frame : pandas.DataFrame
        The features, as :func:`read_table` gives them.
    keep : collection of str, default=()
        Columns that stay though they look like names of rows.
    drop : collection of str, default=()
        Columns that go.

    Returns
    -------
    tuple of Column

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import describe_columns
    >>> frame = pd.DataFrame({"id": range(30), "size": [1.5, 2.5] * 15, "gone": [None] * 30})
    >>> [(column.name, column.kind) for column in describe_columns(frame)]
    [('id', 'dropped'), ('size', 'number'), ('gone', 'dropped')]
    """
    names = list(frame.columns)
    for option, wanted in (("--keep", keep), ("--drop", drop)):
        for name in wanted:
            if name not in names:
                raise TableError(
                    f"{option} names {name!r}, which is no column to learn from. "
                    f"{did_you_mean(name, names)}"
                )
    return tuple(_column(frame[name], name, name in keep, name in drop) for name in names)


def _column(series: Any, name: str, keep: bool, drop: bool) -> Column:
    dtype = str(series.dtype)
    if drop:
        return Column(name, "dropped", dtype, "--drop names it")
    present = series.dropna()
    if present.empty:
        return Column(name, "dropped", dtype, "every cell is missing")
    n_distinct = present.nunique()
    if n_distinct == 1 and len(present) == len(series):
        return Column(name, "dropped", dtype, f"every cell is {str(present.iloc[0])!r}")
    if pd.api.types.is_datetime64_any_dtype(series.dtype):
        return Column(name, "date", dtype)
    if not is_words(series):
        why = None if keep else _names_rows(present, name, n_distinct, len(series))
        return Column(name, "dropped" if why else "number", dtype, why or "")
    return _words_column(present, name, n_distinct, len(series), keep)


def _words_column(present: Any, name: str, n_distinct: int, n_rows: int, keep: bool) -> Column:
    formats = time_formats(present)
    if formats:
        return Column(name, "date", "object", _date_reason(formats), formats[0])
    n_words = present.str.count(r"\S+").mean()
    if n_words >= _TEXT_WORDS and n_distinct >= _TEXT_DISTINCT * len(present):
        return Column(name, "text", "object", f"its cells hold {n_words:.0f} words on average")
    if not keep and n_distinct == len(present) and n_rows >= _ID_ROWS:
        return Column(name, "dropped", "object", "every cell differs, as names of rows do")
    return Column(name, "category", "object", _mixed(present) or _many(n_distinct))


def _names_rows(present: Any, name: str, n_distinct: int, n_rows: int) -> str | None:
    """Return why a column of numbers looks like names of rows; None if it does not."""
    if present.dtype.kind != "i" or n_distinct < n_rows or n_rows < _ID_ROWS:
        return None
    if _ID_NAME.fullmatch(name) or _ID_NAME.fullmatch(name.lower()):
        return "its name says so and every cell differs"
    steps = np.diff(present.to_numpy())
    return "it counts the rows" if (steps == 1).all() else None


def _date_reason(formats: list[str]) -> str:
    both = {form[:5] for form in formats} & {"%d/%m", "%m/%d", "%d-%m", "%m-%d"}
    if len(both) > 1:
        return "day and month could be either; the first is taken for the day"
    return ""


def _mixed(present: Any) -> str:
    """Return a word on a column of numbers and words; empty if it is not mixed."""
    wrong = numbers(present)[1]
    n_numbers = int((~wrong).sum())
    if not n_numbers or n_numbers < len(present) / 10:
        return ""
    example = str(present.iloc[int(np.flatnonzero(wrong)[0])]) if wrong.any() else None
    if example is None:
        return ""
    return (
        f"it holds numbers and words ({counted(int(wrong.sum()), 'cell')} such as {example!r}); "
        "leave these empty to have it read as numbers"
    )


def _many(n_distinct: int) -> str:
    if n_distinct < MANY_CATEGORIES:
        return ""
    return f"it has {n_distinct:,} categories; rare ones are taken together"
