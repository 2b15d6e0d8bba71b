"""Choose a machine-learning model without cross validation.

Every candidate is trained once, on all the data, and scored on a validation set that is drawn
from the data by an augmenter. The best model is handed back as it is.
"""

from leavezero._version import __version__
from leavezero.augment import (
    AugmenterUnion,
    BiasCorrected,
    CopulaAugmenter,
    FixedValidationSet,
    GaussianMixtureAugmenter,
    LabelInvariantMixup,
    PseudoLabeled,
    SoftLabeled,
    ValidationSet,
)
from leavezero.engine import Journal, OneStandardError, Selection
from leavezero.search import (
    CandidateSearchLZO,
    GridSearchLZO,
    HalvingGridSearchLZO,
    HalvingRandomSearchLZO,
    OptunaSearchLZO,
    RandomizedSearchLZO,
    leave_zero_out_curve,
    leave_zero_out_predict,
    leave_zero_out_score,
    leave_zero_out_validate,
)
from leavezero.semi_supervised import SMIRClassifier
from leavezero.trust import TrustReport, risk_bound

__all__ = [
    "AugmenterUnion",
    "BiasCorrected",
    "CandidateSearchLZO",
    "CopulaAugmenter",
    "FixedValidationSet",
    "GaussianMixtureAugmenter",
    "GridSearchLZO",
    "HalvingGridSearchLZO",
    "HalvingRandomSearchLZO",
    "Journal",
    "LabelInvariantMixup",
    "OneStandardError",
    "OptunaSearchLZO",
    "PseudoLabeled",
    "RandomizedSearchLZO",
    "SMIRClassifier",
    "Selection",
    "SoftLabeled",
    "TrustReport",
    "ValidationSet",
    "__version__",
    "leave_zero_out_curve",
    "leave_zero_out_predict",
    "leave_zero_out_score",
    "leave_zero_out_validate",
    "risk_bound",
]
