"""The paper's tables and our studies as resumable runs."""

from leavezero.experiments._confirm import ConfirmStudy, with_confirmed
from leavezero.experiments._demo import LEAVE_ZERO_OUT, DemoRow, demo_grids, run_demo
from leavezero.experiments._families import (
    classifier_families,
    regressor_families,
    text_families,
)
from leavezero.experiments._regret import RegretStudy
from leavezero.experiments._regret_figure import draw_regret
from leavezero.experiments._regret_table import RegretTable, regret_table
from leavezero.experiments._runner import read_lines, run_all
from leavezero.experiments._selectors import augmenting_selectors
from leavezero.experiments._studies import HELD_BACK, STUDIES, TUNED_ON
from leavezero.experiments._unseen import UnseenStudy, with_unseen

__all__ = [
    "HELD_BACK",
    "LEAVE_ZERO_OUT",
    "STUDIES",
    "TUNED_ON",
    "ConfirmStudy",
    "DemoRow",
    "RegretStudy",
    "RegretTable",
    "UnseenStudy",
    "augmenting_selectors",
    "classifier_families",
    "demo_grids",
    "draw_regret",
    "read_lines",
    "regressor_families",
    "regret_table",
    "run_all",
    "run_demo",
    "text_families",
    "with_confirmed",
    "with_unseen",
]
