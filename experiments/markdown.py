"""Tables as Markdown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isinf, isnan

import pandas as pd

NO_VALUE = "-"
Interval = tuple[float, float, float]  # estimate, lower and upper end


@dataclass(frozen=True, eq=False)
class MarkdownTable:
    """A data frame of strings with a title and notes; the index has the names of the rows."""

    title: str
    frame: pd.DataFrame
    notes: tuple[str, ...] = ()

    @property
    def rows(self) -> list[tuple[str, ...]]:
        """The cells, the name of the row first."""
        return [tuple(map(str, row)) for row in self.frame.itertuples()]

    @property
    def header(self) -> tuple[str, ...]:
        """The names of the columns, that of the index first."""
        return (str(self.frame.index.name), *map(str, self.frame.columns))

    def text(self) -> str:
        """Return the table alone."""
        head, *body = ("| " + " | ".join(cells) + " |" for cells in (self.header, *self.rows))
        return "\n".join([head, "|---" * len(self.header) + "|", *body])

    def markdown(self) -> str:
        """Return the table with its title and notes."""
        return "\n\n".join([f"## {self.title}", self.text(), *self.notes])


def page(tables: Iterable[MarkdownTable]) -> str:
    """Return several tables as one page."""
    return "\n\n".join(table.markdown() for table in tables) + "\n"


def make_frame(
    index: str, columns: Sequence[str], rows: Mapping[str, Sequence[str]]
) -> pd.DataFrame:
    """Return a frame of strings from the cells of each row, by its name."""
    frame = pd.DataFrame.from_dict(dict(rows), orient="index", columns=list(columns))
    return frame.rename_axis(index)


def missing_notes(missing: Mapping[str, str]) -> tuple[str, ...]:
    """Return one note per data set that is not available."""
    return tuple(f"{name}: not available. {reason}" for name, reason in missing.items())


def format_number(value: float, sign: str = "") -> str:
    """Return a number with two decimals, a dash for NaN."""
    return NO_VALUE if isnan(value) else f"{value:{sign}.2f}"


def format_interval(interval: Interval, sign: str = "+") -> str:
    """Return an estimate with its interval in parentheses; without one if it is infinite."""
    estimate, low, high = interval
    if isnan(estimate) or isinf(low):
        return format_number(estimate, sign)
    return f"{estimate:{sign}.2f} ({low:{sign}.2f} to {high:{sign}.2f})"


def format_range(counts: Iterable[int]) -> str:
    """Return "3" for equal counts, else "3 to 9"."""
    found = sorted(set(counts))
    return str(found[0]) if len(found) == 1 else f"{found[0]} to {found[-1]}"
