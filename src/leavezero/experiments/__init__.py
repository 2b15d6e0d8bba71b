"""The paper's tables and our studies as resumable runs."""

from leavezero.experiments._alarms import Alarm, alarms
from leavezero.experiments._comparison import (
    Comparison,
    compare,
    count_wins,
    signed_rank_p,
)
from leavezero.experiments._confirm import ConfirmStudy, with_confirmed
from leavezero.experiments._demo import LEAVE_ZERO_OUT, DemoRow, demo_grids, run_demo
from leavezero.experiments._families import (
    classifier_families,
    regressor_families,
    text_families,
)
from leavezero.experiments._known import REPRODUCTIONS
from leavezero.experiments._labeled_folds import labeled_fold_accuracy
from leavezero.experiments._pages import Page, pages_markdown
from leavezero.experiments._paper_figures import Printed
from leavezero.experiments._progress import time_left
from leavezero.experiments._regret import RegretStudy
from leavezero.experiments._regret_figure import draw_regret
from leavezero.experiments._regret_table import RegretTable, regret_table
from leavezero.experiments._reproductions import Plan, Reproduction, Runnable, Wish, plan
from leavezero.experiments._runner import read_lines, run_all
from leavezero.experiments._selectors import augmenting_selectors
from leavezero.experiments._small import SmallDraws, SmallStudy
from leavezero.experiments._small_figures import draw_bias, draw_calibration, draw_spread
from leavezero.experiments._small_pages import draws_pages, small_pages
from leavezero.experiments._small_results import SmallResults, small_results
from leavezero.experiments._studies import HELD_BACK, STUDIES, TUNED_ON
from leavezero.experiments._table3 import Table3
from leavezero.experiments._table3_figures import (
    draw_critical_differences,
    draw_differences,
    draw_time_against_accuracy,
)
from leavezero.experiments._table3_pages import paper_pages, table3_pages
from leavezero.experiments._table3_results import Table3Results, table3_results
from leavezero.experiments._table5 import Table5
from leavezero.experiments._table5_pages import table5_pages
from leavezero.experiments._table5_results import Table5Results, table5_results
from leavezero.experiments._trust import TrustStudy
from leavezero.experiments._unseen import UnseenStudy, with_unseen

__all__ = [
    "HELD_BACK",
    "LEAVE_ZERO_OUT",
    "REPRODUCTIONS",
    "STUDIES",
    "TUNED_ON",
    "Alarm",
    "Comparison",
    "ConfirmStudy",
    "DemoRow",
    "Page",
    "Plan",
    "Printed",
    "RegretStudy",
    "RegretTable",
    "Reproduction",
    "Runnable",
    "SmallDraws",
    "SmallResults",
    "SmallStudy",
    "Table3",
    "Table3Results",
    "Table5",
    "Table5Results",
    "TrustStudy",
    "UnseenStudy",
    "Wish",
    "alarms",
    "augmenting_selectors",
    "classifier_families",
    "compare",
    "count_wins",
    "demo_grids",
    "draw_bias",
    "draw_calibration",
    "draw_critical_differences",
    "draw_differences",
    "draw_regret",
    "draw_spread",
    "draw_time_against_accuracy",
    "draws_pages",
    "labeled_fold_accuracy",
    "pages_markdown",
    "paper_pages",
    "plan",
    "read_lines",
    "regressor_families",
    "regret_table",
    "run_all",
    "run_demo",
    "signed_rank_p",
    "small_pages",
    "small_results",
    "table3_pages",
    "table3_results",
    "table5_pages",
    "table5_results",
    "text_families",
    "time_left",
    "with_confirmed",
    "with_unseen",
]
