"""Results of a search as a plain dict, an HTML page and matplotlib figures."""

from leavezero.report._held_out import baseline_score, describe_predictions, round_edges
from leavezero.report._html_page import to_fragment, to_html
from leavezero.report._plots import (
    plot_comparison,
    plot_scores,
    plot_validation_set,
    results_frame,
    save_png,
)
from leavezero.report._summarize import (
    BASELINE,
    format_number,
    format_value,
    python_code,
    summarize,
)

__all__ = [
    "BASELINE",
    "baseline_score",
    "describe_predictions",
    "format_number",
    "format_value",
    "plot_comparison",
    "plot_scores",
    "plot_validation_set",
    "python_code",
    "results_frame",
    "round_edges",
    "save_png",
    "summarize",
    "to_fragment",
    "to_html",
]
