"""The estimators and functions that users meet."""

from leavezero.search._base import BaseSearchLZO
from leavezero.search._functions import leave_zero_out_score
from leavezero.search._grid import GridSearchLZO

__all__ = ["BaseSearchLZO", "GridSearchLZO", "leave_zero_out_score"]
