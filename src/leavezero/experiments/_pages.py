"""Plain tables of words, and their Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isinf


@dataclass(frozen=True)
class Page:
    """A table that is computed and not yet rendered.

    Parameters
    ----------
    title : str
        What stands above.
    header : tuple of str
        The names of the columns; the first holds the names of the rows.
    rows : tuple of tuple of str
        The cells.
    notes : tuple of str, default=()
        What stands below.

    Examples
    --------
    >>> from leavezero.experiments import Page
    >>> print(Page("Ages", ("name", "age"), (("Ada", "36"),), ("In years.",)).markdown())
    ## Ages
    <BLANKLINE>
    | name | age |
    |---|---|
    | Ada | 36 |
    <BLANKLINE>
    In years.
    """

    title: str
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...] = ()

    def markdown(self) -> str:
        """Return the table with its title and notes."""
        lines = [_line(self.header), "|---" * len(self.header) + "|"]
        lines += [_line(row) for row in self.rows]
        parts = [f"## {self.title}", "\n".join(lines)] if self.rows else [f"## {self.title}"]
        return "\n\n".join([*parts, *self.notes])


def pages_markdown(pages: Iterable[Page]) -> str:
    r"""Return several tables as one Markdown page.

    Parameters
    ----------
    pages : iterable of Page
        The tables, in their order.

    Examples
    --------
    >>> from leavezero.experiments import Page, pages_markdown
    >>> pages_markdown([Page("Empty", (), ())])
    '## Empty\n'
    """
    return "\n\n".join(page.markdown() for page in pages) + "\n"


def interval_words(triple: tuple[float, float, float], sign: str = "+") -> str:
    """Return a figure with its interval; without one where it has no end.

    Examples
    --------
    >>> interval_words((1.0, -0.5, 2.5)), interval_words((1.0, 0.5, 1.5), sign="")
    ('+1.00 (-0.50 to +2.50)', '1.00 (0.50 to 1.50)')
    """
    middle, low, high = triple
    if isinf(low):
        return f"{middle:{sign}.2f}"
    return f"{middle:{sign}.2f} ({low:{sign}.2f} to {high:{sign}.2f})"


def span_words(counts: Sequence[int]) -> str:
    """Return the least and the most of sorted counts in words.

    Examples
    --------
    >>> span_words([3]), span_words([3, 5, 9])
    ('3', '3 to 9')
    """
    return str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
