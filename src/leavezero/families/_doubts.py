"""When one Newton step should not be believed.

The limits come from ``benchmarks/unseen_error.py``: they flag the settings in which the step's
score leaves true leave-one-out's by more than its standard error.
"""

from typing import Any

import numpy as np

from leavezero._typing import Floats
from leavezero.families._fitted_to import other_rows

LEVERAGE_APART = 0.7  # where the model makes no error on its own rows
LEVERAGE = 0.98
UNSOLVED = 0.01  # decrement a coefficient; rows of another draw give about 1
FAR = 10.0  # times the solver's own tolerance


def doubt_leverage(leverages: Floats, separated: bool) -> str | None:
    """Return the doubt about rows that hold the model by themselves."""
    highest = float(np.max(leverages, initial=0.0))
    if separated and highest > LEVERAGE_APART:
        return (
            "the model separates its rows with so little regularization that single rows hold it "
            f"(leverage {highest:.2f})"
        )
    if highest > LEVERAGE:
        return f"a row decides its own fitted value alone (leverage {highest:.2f})"
    return None


def doubt_solution(model: Any, decrement: float, n_coefs: int, excess: float) -> str | None:
    """Return the doubt about a solver that stopped early; refuse rows of another fit.

    Parameters
    ----------
    decrement : float
        What a Newton step on all rows would gain, twice. A converged solver leaves about zero;
        rows of another draw give about one a coefficient (the score statistic is chi squared).
    excess : float
        The gradient in units of what lets the solver stop: where it is large although the solver
        stopped of itself, the rows must be others. Zero if the solver does not look at it.
    """
    if decrement <= UNSOLVED * n_coefs:
        return None
    stopped = int(np.max(getattr(model, "n_iter_", 0))) >= model.max_iter
    if excess > FAR and not stopped:
        raise other_rows(model, "its coefficients do not minimize the loss on them")
    return "the solver has not converged"
