"""Searches and functions with scikit-learn's interface."""

from leavezero.evaluation import SingleRound, Trial
from leavezero.search._active import ActiveQuery, active_query
from leavezero.search._base import BaseSearchLZO
from leavezero.search._displays import SearchDisplay, ValidationSetDisplay
from leavezero.search._functions import (
    leave_zero_out_curve,
    leave_zero_out_predict,
    leave_zero_out_score,
    leave_zero_out_validate,
)
from leavezero.search._grid import CandidateSearchLZO, GridSearchLZO, RandomizedSearchLZO
from leavezero.search._halving import HalvingGridSearchLZO, HalvingRandomSearchLZO
from leavezero.search._optuna import OptunaSearchLZO
from leavezero.search._prequential import PrequentialSearchLZO

__all__ = [
    "ActiveQuery",
    "BaseSearchLZO",
    "CandidateSearchLZO",
    "GridSearchLZO",
    "HalvingGridSearchLZO",
    "HalvingRandomSearchLZO",
    "OptunaSearchLZO",
    "PrequentialSearchLZO",
    "RandomizedSearchLZO",
    "SearchDisplay",
    "SingleRound",
    "Trial",
    "ValidationSetDisplay",
    "active_query",
    "leave_zero_out_curve",
    "leave_zero_out_predict",
    "leave_zero_out_score",
    "leave_zero_out_validate",
]
