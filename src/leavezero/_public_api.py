"""The names of the package leavezero, which imports them at the first use of one."""

from leavezero._version import __version__
from leavezero.augment import (
    AugmenterUnion,
    CopulaAugmenter,
    FixedValidationSet,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    PseudoLabeled,
    ValidationSet,
)
from leavezero.diagnostics import DiagnosticReport, risk_bound
from leavezero.evaluation import OneStandardError, Selection
from leavezero.execution import Checkpoint
from leavezero.leave_one_out import leave_one_out_predict
from leavezero.search import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    OptunaSearchLZO,
    PrequentialSearchLZO,
    RandomizedSearchLZO,
    active_query,
    leave_zero_out_curve,
    leave_zero_out_predict,
    leave_zero_out_score,
    leave_zero_out_validate,
)
from leavezero.semi_supervised import SMIRClassifier

__all__ = [
    "AugmenterUnion",
    "CandidateSearchLZO",
    "Checkpoint",
    "CopulaAugmenter",
    "DiagnosticReport",
    "FixedValidationSet",
    "GaussianMixtureAugmenter",
    "GridSearchLZO",
    "HalvingGridSearchLZO",
    "HalvingRandomSearchLZO",
    "LabelInvariantMixup",
    "OneStandardError",
    "OptunaSearchLZO",
    "PrequentialSearchLZO",
    "PseudoLabeled",
    "RandomizedSearchLZO",
    "SMIRClassifier",
    "Selection",
    "ValidationSet",
    "__version__",
    "active_query",
    "leave_one_out_predict",
    "leave_zero_out_curve",
    "leave_zero_out_predict",
    "leave_zero_out_score",
    "leave_zero_out_validate",
    "risk_bound",
]
