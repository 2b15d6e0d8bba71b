"""Model selection without cross-validation.

Every candidate is fitted once, on all rows, and scored on a validation set generated from the
training data, corrected by leave-one-out and out-of-bag scores from the same fit. The best fitted
model is returned as it is.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from leavezero._version import __version__

if TYPE_CHECKING:
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

_PACKAGES = (  # in which a name is looked up
    "augment",
    "diagnostics",
    "semi_supervised",
    "leave_one_out",
    "execution",
    "evaluation",
    "search",
    "unsupervised",
    "testing",
    "exceptions",
)


if not TYPE_CHECKING:  # the command line starts without scikit-learn

    def __getattr__(name: str) -> Any:
        """Import a public name, or a subpackage, at its first use."""
        if name in _PACKAGES:
            return import_module(f"leavezero.{name}")
        # others are looked up here too: skops tries names of SciPy in all imported modules
        for package in _PACKAGES if name in __all__ else ():
            module = import_module(f"leavezero.{package}")
            if hasattr(module, name):
                return getattr(module, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__, *_PACKAGES})
