"""Points and commas in numbers: which part decimals, and which part thousands."""

import re
from collections.abc import Sequence
from typing import Any

from leavezero._typing import Bools

OTHER = {".": ",", ",": "."}
MARK_NAMES = {".": "point", ",": "comma"}
_DECIMAL = {mark: rf"[-+]?\d+[{mark}]\d+([eE][-+]?\d+)?" for mark in OTHER}
_SINGLE = {mark: rf"[-+]?[1-9]\d{{0,2}}[{mark}]\d{{3}}" for mark in OTHER}  # 1,735 is either
_PARTED = {
    mark: rf"[-+]?[1-9]\d{{0,2}}([{mark}]\d{{3}})+([{other}]\d+)?" for mark, other in OTHER.items()
}


def find_marks(cells: Sequence[str], separator: str) -> tuple[str, str]:
    """Return the mark of decimals, and that of thousands, which is empty where cells do not tell.

    Examples
    --------
    >>> find_marks(["1,5", "85.123"], ";"), find_marks(["683", "1,735"], ";")
    ((',', '.'), ('.', ''))
    """
    votes = {mark: _votes(cells, mark) for mark in OTHER}
    decimal = "," if votes[","] > votes["."] and separator != "," else "."
    certain = votes[decimal] and not votes[OTHER[decimal]]
    return decimal, OTHER[decimal] if certain else ""


def thousands_mark(words: Any, decimal: str, known: str) -> str:
    """Return what parts thousands in a column; empty if nothing does or it could be decimals.

    ``known`` is what parts thousands in the rest of the table.

    Examples
    --------
    >>> import pandas as pd
    >>> words = pd.Series(["1,735", "683"])
    >>> thousands_mark(words, ".", ""), thousands_mark(words, ".", ",")
    ('', ',')
    """
    mark = OTHER[decimal]
    marked = words[words.str.contains(mark, regex=False, na=False)]
    if marked.empty or not marked.str.fullmatch(_PARTED[mark]).all():
        return ""
    told = mark == known or not marked.str.fullmatch(_SINGLE[mark]).all()
    return mark if told else ""


def plain_numbers(words: Any, decimal: str, thousands: str) -> Any:
    """Return words with points for decimals and no thousands; None where marks do not fit.

    Examples
    --------
    >>> import pandas as pd
    >>> plain_numbers(pd.Series(["1.735,5", "1,5"], dtype=object), ",", "").tolist()
    [None, '1.5']
    >>> plain_numbers(pd.Series(["1.735,5", "683"]), ",", ".").tolist()
    ['1735.5', '683']
    """
    mark = OTHER[decimal]
    marked = words.str.contains(mark, regex=False, na=False)
    if thousands == mark and words[marked].str.fullmatch(_PARTED[mark]).all():
        words = words.str.replace(mark, "", regex=False)
    elif thousands == decimal:  # another table's, so that 1,735 is either here
        words = words.where(~words.str.fullmatch(_PARTED[decimal], na=False), None)
    else:
        words = words.where(~marked, None)
    return words.str.replace(decimal, ".", regex=False)


def are_marked(words: Any) -> Bools:
    """Tell which words are numbers with a mark, whatever it parts."""
    patterns = "|".join([*_DECIMAL.values(), *_PARTED.values()])
    found: Bools = words.str.fullmatch(patterns, na=False).to_numpy(dtype=bool)
    return found


def _votes(cells: Sequence[str], mark: str) -> int:
    """Return how many cells can only have this mark before their decimals."""
    either = re.compile(_SINGLE[mark])
    decimal = re.compile(rf"{_DECIMAL[mark]}|{_PARTED[OTHER[mark]]}")
    words = (cell.strip() for cell in cells if mark in cell)
    return sum(bool(decimal.fullmatch(word)) and not either.fullmatch(word) for word in words)
