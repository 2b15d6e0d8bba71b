"""Choose a machine-learning model without cross validation.

Every candidate is trained once, on all the data, and scored on a validation set that is drawn
from the data by an augmenter. The best model is handed back as it is.
"""

from leavezero._version import __version__
from leavezero.augment import (
    Calibrated,
    CopulaAugmenter,
    GaussianMixtureAugmenter,
    GivenValidationSet,
    LabelInvariantMixup,
    Portfolio,
    TeacherLabeled,
    ValidationSet,
)
from leavezero.search import GridSearchLZO, RandomizedSearchLZO, leave_zero_out_score

__all__ = [
    "Calibrated",
    "CopulaAugmenter",
    "GaussianMixtureAugmenter",
    "GivenValidationSet",
    "GridSearchLZO",
    "LabelInvariantMixup",
    "Portfolio",
    "RandomizedSearchLZO",
    "TeacherLabeled",
    "ValidationSet",
    "__version__",
    "leave_zero_out_score",
]
