"""Plain data to figures and one self-contained page; computes nothing, knows no search."""

from leavezero.report._axes import draw_findings, draw_planes, draw_scores, frame_of
from leavezero.report._comparison import draw_comparison
from leavezero.report._notebook import to_fragment
from leavezero.report._page import to_html
from leavezero.report._plain import plain, shown
from leavezero.report._summary import summarize

__all__ = [
    "draw_comparison",
    "draw_findings",
    "draw_planes",
    "draw_scores",
    "frame_of",
    "plain",
    "shown",
    "summarize",
    "to_fragment",
    "to_html",
]
