"""Table 5 as something that can be run again."""

from collections.abc import Mapping
from pathlib import Path

from leavezero.experiments._pages import Page
from leavezero.experiments._reproductions import Reproduction, Wish
from leavezero.experiments._runner import Line
from leavezero.experiments._table5 import BOOK_SPLITS, Table5
from leavezero.experiments._table5_pages import table5_pages
from leavezero.experiments._table5_results import table5_results

SAMPLED, BOOK_10, BOOK_100 = "sampled", "book-10", "book-100"
_REPEATS = 100
_QUICK_REPEATS = 3
_SAMPLES_A_SPLIT = 5  # a split of the book takes four times as long as a sample
_N_LABELS = {SAMPLED: None, BOOK_10: 10, BOOK_100: 100}


def _study(part: str, names: tuple[str, ...], wish: Wish) -> Table5:
    """Return the runs of one part: samples, or one of the book's splits for every five of them."""
    repeats = wish.repeats or (_QUICK_REPEATS if wish.quick else _REPEATS)
    if part != SAMPLED:
        repeats = min(-(-repeats // _SAMPLES_A_SPLIT), BOOK_SPLITS)
    return Table5(names, repeats, _N_LABELS[part], wish.seed)


def _report(
    lines: Mapping[str, list[Line]], missing: Mapping[str, str], folder: Path
) -> list[Page]:
    """Return the tables of every part."""
    pages = []
    for part, found in lines.items():
        pages += table5_pages(table5_results(found), part, missing, printed=part == SAMPLED)
    return pages


TABLE5 = Reproduction(
    "table5",
    "A setting of SMIR by 2-fold CV and by leave-zero-out, 8 semi-supervised data sets",
    data=("g241c", "g241n", "digit1", "usps", "coil", "coil2", "bci", "text"),
    quick_data=("bci", "digit1"),
    parts=(SAMPLED, BOOK_10, BOOK_100),
    study=_study,
    report=_report,
)
