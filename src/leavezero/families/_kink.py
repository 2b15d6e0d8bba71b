"""A linear machine's scores without each of its rows, by one Newton step of a smoothed loss.

The loss of a support vector machine has kinks: its curvature is all in one point, or two. In a few
columns some free vectors at a kink hold the machine, and the span rule takes it for immovable,
while it would only stand on other rows. How far it moves then depends on how many rows are near a
kink (Koo, Lee, Kim and Park 2008: the Hessian is the density of the margins there), so that each
row gets its part of the curvature by a Gaussian kernel, as wide as densities are estimated with.
"""

import numpy as np

from leavezero._typing import Floats
from leavezero.families._fitted_to import step_columns, with_constant
from leavezero.families._newton import leave_out
from leavezero.families._svm_kernel import Kernel
from leavezero.families._svm_machine import Machine

NORMAL_QUARTILES = 1.34  # between them lie so many standard deviations
ROOT = np.sqrt(2.0 * np.pi)


def is_smoothed(machine: Machine, kernel: Kernel) -> bool:
    """Tell whether a machine is linear and has fewer columns than rows.

    No free vectors fill more columns than that, and the span rule knows better.
    """
    return bool(kernel.model.kernel == "linear" and kernel.rows.shape[1] < len(machine.rows))


def smooth_sinks(machine: Machine, kernel: Kernel) -> Floats:
    """Return what to subtract from the score of each row when left out; zeros if not smoothed."""
    n_rows, n_columns = len(machine.rows), kernel.rows.shape[1]
    width = kernel_width(machine.off[:, 0]) if is_smoothed(machine, kernel) else 0.0
    if not width > 0.0:
        return np.zeros(n_rows)
    rows = kernel.rows[machine.rows]
    columns, _ = step_columns(rows, np.zeros((0, n_columns)), penalized=True)
    penalties = np.append(np.ones(n_columns), 0.0)
    heights = np.exp(-0.5 * (machine.off / width) ** 2).sum(axis=1) / (ROOT * width)
    step = leave_out(
        with_constant(columns, 1.0),
        np.zeros(n_rows),
        -machine.coefs,
        machine.bounds * heights,
        penalties,
        np.zeros(n_columns + 1),
    )
    return -step.scores


def kernel_width(values: Floats) -> float:
    """Return how wide a Gaussian kernel estimates the density of values (Silverman 1986, 3.31)."""
    low, high = np.quantile(values, [0.25, 0.75])
    spread = float(np.std(values))
    middle = float(high - low) / NORMAL_QUARTILES
    return 0.9 * (min(spread, middle) if middle > 0.0 else spread) * len(values) ** -0.2
