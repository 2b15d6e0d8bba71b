"""Refuse parameters that SMIR cannot work with."""

from math import isfinite
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

from leavezero.semi_supervised._kernels import NAMES
from leavezero.semi_supervised._solve import Setting

if TYPE_CHECKING:
    from leavezero.semi_supervised._smir import SMIRClassifier


def check_parameters(model: "SMIRClassifier") -> None:
    """Raise for a parameter that is wrong whatever the data are."""
    if not callable(model.kernel) and model.kernel not in NAMES:
        raise ValueError(
            f"kernel of SMIRClassifier must be one of {NAMES} or a callable, got {model.kernel!r}."
        )
    if not _is_number(model.width) or model.width <= 0:
        raise ValueError(
            "width of SMIRClassifier must be a positive factor of the median distance, got "
            f"{model.width!r}. Use 0.2."
        )
    if not _is_number(model.gamma) or model.gamma < 0:
        raise ValueError(
            f"gamma of SMIRClassifier must be a number of at least 0, got {model.gamma!r}. "
            "Use 0 for no regularization by mutual information."
        )
    if not _is_number(model.offset) or model.offset <= 0:
        raise ValueError(
            f"offset of SMIRClassifier must be a number above 0, got {model.offset!r}: with "
            "lambda = gamma * n_classes / n_rows + offset the problem is convex only above "
            "gamma * n_classes / n_rows. Use 1e-6."
        )
    if model.n_components is not None and not _is_count(model.n_components):
        raise ValueError(
            "n_components of SMIRClassifier must be None or a positive int, got "
            f"{model.n_components!r}. Use None for the exact solution of up to 10,000 rows."
        )


def check_convex(setting: Setting, n_classes: int, n_rows: int) -> None:
    """Raise if the offset is lost in rounding beside the limit of convexity."""
    limit = setting.gamma * n_classes / n_rows
    if not limit + setting.offset > limit:
        raise ValueError(
            f"offset={setting.offset!r} of SMIRClassifier is lost in rounding beside "
            f"gamma * n_classes / n_rows = {limit:.6g}, so that the problem is not convex. "
            "Use a larger offset or a smaller gamma."
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool) and isfinite(value)


def _is_count(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= 1
