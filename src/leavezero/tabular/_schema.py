"""What a model expects of a table, and any table brought to it."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import pandas as pd

from leavezero.tabular._cells import numbers, refuse_wrong, stripped, times
from leavezero.tabular._errors import TableError
from leavezero.tabular._kinds import Column, Kind
from leavezero.tabular._words import counted, did_you_mean, listed


@dataclass(frozen=True)
class Schema:
    """The columns that a model learned from.

    Parameters
    ----------
    columns : tuple of Column
        All columns of the table but the target, dropped ones too.

    Examples
    --------
    >>> import pandas as pd
    >>> from leavezero.tabular import Column, Schema
    >>> schema = Schema((Column("age", "number", "int64"), Column("sex", "category", "object")))
    >>> schema.frame(pd.DataFrame({"sex": ["f", None], "age": ["30", "41"]})).values.tolist()
    [[30.0, 'f'], [41.0, '']]
    """

    columns: tuple[Column, ...]

    @property
    def used(self) -> tuple[Column, ...]:
        """The columns that the model reads."""
        return tuple(column for column in self.columns if column.kind != "dropped")

    def of_kind(self, *kinds: Kind) -> list[str]:
        """Return the names of the columns of some kinds."""
        return [column.name for column in self.columns if column.kind in kinds]

    def check_names(self, names: Iterable[str]) -> list[str]:
        """Return the columns that the model does not know; raise if one it reads is missing."""
        names = list(names)
        missing = [column.name for column in self.used if column.name not in names]
        if missing:
            raise TableError(
                f"The table lacks {counted(len(missing), 'column')} that the model reads: "
                f"{listed(missing)}. {_hint(missing[0], names)}"
            )
        known = {column.name for column in self.columns}
        return [name for name in names if name not in known]

    def frame(self, table: Any, *, decimal: str = ".", learning: bool = False) -> Any:
        """Return the columns that the model reads, as it reads them.

        Numbers are floats (whole ones stay whole while learning), words are strings and a missing
        one is empty, dates are times.
        """
        made = {
            column.name: _read(table[column.name], column, decimal, learning)
            for column in self.used
        }
        return pd.DataFrame(made)

    def to_list(self) -> list[dict[str, Any]]:
        """Return plain values, for JSON."""
        return [column.to_dict() for column in self.columns]

    @classmethod
    def from_list(cls, columns: list[dict[str, Any]]) -> "Schema":
        """Return what :meth:`to_list` was made of."""
        return cls(tuple(Column(**column) for column in columns))


def _hint(name: str, names: list[str]) -> str:
    if not names:
        return "The table has no columns."
    return did_you_mean(name, names)


def _read(series: Any, column: Column, decimal: str, learning: bool) -> Any:
    if column.kind == "number":
        if learning and series.dtype.kind == "i":
            return series
        found, wrong = numbers(series, decimal, column.thousands)
        refuse_wrong(series, wrong, column.name, "numbers")
        return found
    if column.kind == "date":
        found, wrong = times(series, column.format or "ISO8601")
        refuse_wrong(series, wrong, column.name, _dates(column))
        return found
    return stripped(series).fillna("").astype(object)


def _dates(column: Column) -> str:
    known = column.format not in (None, "ISO8601")
    return f"dates written as {column.format}" if known else "dates such as 2024-02-29"
