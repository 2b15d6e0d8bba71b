"""What each column is taken for, and why."""

import re
from collections.abc import Collection, Mapping
from dataclasses import asdict, dataclass, replace
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd

from leavezero.tabular._cells import is_words, numbers, outgrow_floats, time_formats
from leavezero.tabular._errors import TableError
from leavezero.tabular._marks import MARK_NAMES, OTHER, are_marked
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
    thousands : str
        What parts the thousands of its numbers; empty where nothing does.

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
    thousands: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        return asdict(self)


def describe_columns(
    frame: Any,
    *,
    keep: Collection[str] = (),
    drop: Collection[str] = (),
    decimal: str = ".",
    thousands: Mapping[str, str] = MappingProxyType({}),
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
    decimal : str, default="."
        What stands before decimals in cells that are words.
    thousands : mapping of str to str, default={}
        What parted thousands, for each column in which something did.

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
    return tuple(
        _numbers_column(column, thousands.get(column.name, ""))
        for column in (
            _column(frame[name], name, name in keep, name in drop, decimal) for name in names
        )
    )


def _column(series: Any, name: str, keep: bool, drop: bool, decimal: str) -> Column:
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
    return _words_column(present, name, n_distinct, len(series), keep, decimal)


def _numbers_column(column: Column, mark: str) -> Column:
    """Return a column with a word on what parts its thousands, if it is used and something does."""
    if not mark or column.kind != "number":
        return column
    return replace(column, why=f"a {MARK_NAMES[mark]} in its cells parts thousands", thousands=mark)


def _words_column(
    present: Any, name: str, n_distinct: int, n_rows: int, keep: bool, decimal: str
) -> Column:
    formats = time_formats(present)
    if formats:
        return Column(name, "date", "object", _date_reason(formats), formats[0])
    n_words = present.str.count(r"\S+").mean()
    if n_words >= _TEXT_WORDS and n_distinct >= _TEXT_DISTINCT * len(present):
        return Column(name, "text", "object", f"its cells hold {n_words:.0f} words on average")
    either = _either(present, decimal)
    if not keep and n_distinct == len(present) and n_rows >= _ID_ROWS:
        why = "every cell differs, as names of rows do" + (either and f"; {either}")
        return Column(name, "dropped", "object", why)
    why = either or _mixed(present, decimal) or _long(present) or _many(n_distinct)
    return Column(name, "category", "object", why)


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


def _either(present: Any, decimal: str) -> str:
    """Return a word on numbers with a mark that could be another; empty if words are among them."""
    wrong = numbers(present, decimal)[1]
    if not wrong.any() or not are_marked(present[wrong]).all():
        return ""
    mark = MARK_NAMES[OTHER[decimal]]
    return (
        f"it holds numbers in which, as in {present[wrong].iloc[0]!r}, the {mark} may part "
        f"thousands or decimals; write decimals with a {MARK_NAMES[decimal]} and thousands without "
        "a mark to have it read as numbers"
    )


def _long(present: Any) -> str:
    found, wrong = numbers(present)
    if wrong.any() or not outgrow_floats(present, found):
        return ""
    return "it holds whole numbers of more digits than a float has"


def _mixed(present: Any, decimal: str) -> str:
    """Return a word on a column of numbers and words; empty if it is not mixed."""
    wrong = numbers(present, decimal)[1] & ~are_marked(present)
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
