"""The paper's tables and our studies as runs."""

from leavezero.experiments._demo import LEAVE_ZERO_OUT, DemoRow, demo_grids, run_demo

__all__ = ["LEAVE_ZERO_OUT", "DemoRow", "demo_grids", "run_demo"]
