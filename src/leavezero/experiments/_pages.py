"""Plain tables of words, and their Markdown."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass


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

    Examples
    --------
    >>> from leavezero.experiments import Page, pages_markdown
    >>> pages_markdown([Page("Empty", (), ())])
    '## Empty\n'
    """
    return "\n\n".join(page.markdown() for page in pages) + "\n"


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"
