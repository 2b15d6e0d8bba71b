"""The estimators and functions that users meet."""

from leavezero.search._base import BaseSearchLZO
from leavezero.search._functions import leave_zero_out_score
from leavezero.search._grid import GridSearchLZO
from leavezero.search._randomized import RandomizedSearchLZO

__all__ = ["BaseSearchLZO", "GridSearchLZO", "RandomizedSearchLZO", "leave_zero_out_score"]
