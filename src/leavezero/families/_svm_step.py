"""One machine's scores without each of its rows, by the span rule and by a smoothed loss."""

from dataclasses import fields
from typing import NamedTuple

import numpy as np

from leavezero._typing import Floats, Ints
from leavezero.families._kink import is_smoothed, smooth_sinks
from leavezero.families._span import (
    Others,
    Span,
    bounded_relief,
    free_of,
    free_relief,
    reachable,
    span_of,
)
from leavezero.families._svm_kernel import Kernel
from leavezero.families._svm_machine import Machine

FEWEST_FREE, FEW_FREE = 3, 20  # from benchmarks/unseen_error.py
MOST_STAKED = 0.15  # of the rows of a machine with few free vectors; from the same benchmark
FULL_KERNELS = ("rbf", "linear")  # no few vectors fill the one, and the other is smoothed
MOST_IDLE = 20  # rows near the margin that may take over from a support vector


class Sinks(NamedTuple):
    """What to subtract from the score of each row when it is left out.

    ``n_staked`` counts the rows that the span rule gives up, where it speaks alone.
    """

    changes: Floats
    n_staked: int


def sinks(machine: Machine, kernel: Kernel) -> Sinks:
    """Return the changes of a machine; the larger of two that both may be too small.

    The span rule sees none where free vectors fill all directions, the smoothed loss none where a
    machine separates its rows.
    """
    smooth = smooth_sinks(machine, kernel)
    if not machine.free.any():
        return Sinks(smooth, 0)
    by_span, n_staked = _span_sinks(machine, kernel)
    changes = np.where(np.abs(smooth) > np.abs(by_span), smooth, by_span)
    return Sinks(changes, 0 if is_smoothed(machine, kernel) else n_staked)


def _span_sinks(machine: Machine, kernel: Kernel) -> Sinks:
    kept = _near(machine)
    near = Machine(*(getattr(machine, field.name)[kept] for field in fields(machine)))
    n_free = int(near.free.sum())
    rows, rest = near.rows[:n_free], near.rows[n_free:]
    free = free_of(kernel.between(rows, rows))
    between = kernel.roughly if free.steady(near.coefs) else kernel.between
    others = Others(kernel.own[rest], near.rise[n_free:], near.fall[n_free:])
    span = span_of(free, between(rest, rows).T, others)
    squares = np.concatenate([free.squares, span.squares])
    highest = 4.0 * float(np.abs(kernel.own[near.rows]).max())  # the diameter bounds every span
    sink = np.abs(near.coefs) * np.minimum(squares, highest)
    staked = (sink > 0.0) & (near.worth <= sink)
    relief = _relief(near, kernel, span, others, np.flatnonzero(staked))
    changes = np.zeros(len(machine.rows))
    changes[kept] = np.sign(near.coefs) * np.maximum(sink - relief, 0.0)
    return Sinks(changes, int(staked.sum()))


def doubt_free(
    kernel: Kernel, machines: list[Machine], staked: list[int], error: float
) -> str | None:
    """Return the doubt about machines that stand on few free vectors.

    Where these do not fill all directions, a few are enough unless most rows are at their bound,
    so that they alone hold the intercept, or the span rule gives up a good part of the rows.

    Parameters
    ----------
    staked : list of int
        The rows of each machine that the span rule gives up.
    error : float
        The standard error of the number of rows that the machines get right.
    """
    n_free = [int(machine.free.sum()) for machine in machines]
    if kernel.model.kernel in FULL_KERNELS:
        few = [
            n
            for one, n, n_staked in zip(machines, n_free, staked, strict=True)
            if (n < FEWEST_FREE and 2 * one.n_held > len(one.rows))
            or (n < FEW_FREE and n_staked > MOST_STAKED * len(one.rows))
        ]
    else:
        few = [n for n in n_free if n < (FEW_FREE if sum(staked) > error else FEWEST_FREE)]
    if not few:
        return None
    return f"the machine stands on {min(few)} free support vectors, too few to tell how it moves"


def _near(machine: Machine) -> Ints:
    """Return which of the machine's rows matter, its free vectors first.

    Rows that support nothing and are far from doing so are left away.
    """
    idle = np.flatnonzero(machine.coefs == 0.0)
    if len(idle) > MOST_IDLE:
        ways = np.minimum(machine.rise[idle], machine.fall[idle])
        idle = idle[np.argpartition(ways, MOST_IDLE)[:MOST_IDLE]]
    held = np.flatnonzero(~machine.free & (machine.coefs != 0.0))
    return np.concatenate([np.flatnonzero(machine.free), held, idle])


def _relief(machine: Machine, kernel: Kernel, span: Span, others: Others, staked: Ints) -> Floats:
    """Return the relief of the rows for which it matters."""
    relief = np.zeros(len(machine.rows))
    n_free = len(span.free.squares)
    free, held = staked[staked < n_free], staked[staked >= n_free]
    if len(free):
        relief[free] = free_relief(span, others, free, machine.coefs[free])
    if len(held):
        coefs, which = machine.coefs[held], held - n_free
        near = (
            reachable(span, others, which, coefs)
            if kernel.positive
            else np.arange(len(span.squares))
        )
        between = kernel.between(machine.rows[n_free + near], machine.rows[held]).T
        relief[held] = bounded_relief(span, others, which, coefs, near, between)
    return relief
