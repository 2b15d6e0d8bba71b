"""Refuse a model that a family cannot answer for, or that was fitted to other rows."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from leavezero._typing import AnyArray, Floats
from leavezero.families._base import Family
from leavezero.families._fitted_to import other_rows

_SINGLE, _DOUBLE = 1e-3, 1e-6  # how far rounding may move a statistic, against its size


def check_answers(family: Family, model: Any) -> None:
    """Raise if the model is not fitted, or of a kind that the family refuses."""
    check_is_fitted(model)
    reason = family.refuses(model)
    if reason is not None:
        raise ValueError(f"unseen of {type(model).__name__} is not available, because {reason}.")


def check_no_weights(model: Any, sample_weight: Floats | None) -> None:
    """Raise if there are weights for a model that is fitted without."""
    if sample_weight is not None:
        raise ValueError(
            f"sample_weight must be None, because {type(model).__name__} is fitted without weights."
        )


def check_same(model: Any, attribute: str, found: Any) -> None:
    """Raise if a statistic of the given rows is not the one that the model learned."""
    if not close(np.asarray(found), np.asarray(getattr(model, attribute))):
        raise other_rows(model, f"its {attribute} would be different")


def close(found: AnyArray, learned: AnyArray, size: float | None = None) -> bool:
    """Tell whether numbers agree up to rounding; ``size`` is how large they may get."""
    if found.shape != learned.shape:
        return False
    slack = _SINGLE if learned.dtype == np.float32 else _DOUBLE
    size = float(np.abs(learned).max(initial=0.0)) if size is None else size
    return bool(np.all(np.abs(found - learned) <= slack * size + 1e-300))
