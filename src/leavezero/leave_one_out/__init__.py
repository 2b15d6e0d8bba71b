"""Leave-one-out and out-of-bag predictions from one fitted model."""

from leavezero.leave_one_out._base import LeaveOneOutMethod, LOOPredictions

__all__ = ["LOOPredictions", "LeaveOneOutMethod"]
