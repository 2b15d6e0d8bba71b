"""Reasons not to use predictions of one Newton step.

The limits were measured against refits of many data sets: they cover the settings in which the
score of the step differs from that of refits by more than its standard error.
"""

from typing import Any

import numpy as np

from leavezero._typing import Floats
from leavezero.leave_one_out._training_data import mismatch_error

MAX_LEVERAGE = 0.98
MAX_LEVERAGE_SEPARATED = 0.7  # if the model makes no error on its training rows
MAX_DECREMENT = 0.01  # per coefficient; rows of another sample give about 1
MAX_EXCESS = 10.0  # times the solver's own tolerance


def leverage_reason(leverages: Floats, separated: bool) -> str | None:
    """Return why leverages make one step unreliable; None if they do not."""
    highest = float(np.max(leverages, initial=0.0))
    if separated and highest > MAX_LEVERAGE_SEPARATED:
        return (
            "the model separates its training rows with so little regularization that single rows "
            f"determine it (leverage {highest:.2f})"
        )
    if highest > MAX_LEVERAGE:
        return f"a row determines its own fitted value (leverage {highest:.2f})"
    return None


def convergence_reason(model: Any, decrement: float, n_coefs: int, excess: float) -> str | None:
    """Return "the solver has not converged" or None; raise for rows of another fit.

    Parameters
    ----------
    decrement : float
        Newton decrement, twice the gain of one more step on all rows. It is about zero at a
        solution, and about one per coefficient on rows of another sample, because the score
        statistic has a chi-squared distribution.
    excess : float
        Gradient relative to the solver's stopping tolerance; 0 if the solver does not use the
        gradient. If it is large although the solver stopped by itself, the rows are others.
    """
    if decrement <= MAX_DECREMENT * n_coefs:
        return None
    stopped = int(np.max(getattr(model, "n_iter_", 0))) >= model.max_iter
    if excess > MAX_EXCESS and not stopped:
        raise mismatch_error(model, "its coefficients do not minimize the loss on them")
    return "the solver has not converged"
