"""Results of a search as a plain dict, an HTML page and matplotlib figures."""

from leavezero.report._html_page import to_fragment, to_html
from leavezero.report._plots import (
    plot_checks,
    plot_comparison,
    plot_scores,
    plot_validation_set,
    results_frame,
)
from leavezero.report._summarize import format_value, summarize
from leavezero.report._svg_figures import to_svg

__all__ = [
    "format_value",
    "plot_checks",
    "plot_comparison",
    "plot_scores",
    "plot_validation_set",
    "results_frame",
    "summarize",
    "to_fragment",
    "to_html",
    "to_svg",
]
