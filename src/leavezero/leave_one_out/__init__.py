"""Leave-one-out and out-of-bag predictions from one fitted model."""

from leavezero.leave_one_out._loo_method import (
    LeaveOneOutMethod,
    LOOPredictions,
    find_leave_one_out,
    leave_one_out_predict,
    register_leave_one_out,
)
from leavezero.leave_one_out._loo_methods import METHODS  # here, so that no search imports them

__all__ = [
    "LOOPredictions",
    "LeaveOneOutMethod",
    "find_leave_one_out",
    "leave_one_out_predict",
    "register_leave_one_out",
]
