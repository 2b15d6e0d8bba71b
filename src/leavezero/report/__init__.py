"""Results of a search as a plain dict, an HTML page and matplotlib figures."""

from leavezero.report._held_out import describe_predictions, round_edges
from leavezero.report._html_page import to_fragment, to_html
from leavezero.report._plots import (
    plot_comparison,
    plot_scores,
    plot_validation_set,
    results_frame,
)
from leavezero.report._summarize import (
    BASELINE,
    format_value,
    highest_score,
    python_code,
    summarize,
)
from leavezero.report._svg_figures import to_svg

__all__ = [
    "BASELINE",
    "describe_predictions",
    "format_value",
    "highest_score",
    "plot_comparison",
    "plot_scores",
    "plot_validation_set",
    "python_code",
    "results_frame",
    "round_edges",
    "summarize",
    "to_fragment",
    "to_html",
    "to_svg",
]
