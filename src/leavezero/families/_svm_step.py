"""One machine's scores without each of its rows, by the span rule."""

from dataclasses import dataclass, fields

import numpy as np

from leavezero._typing import Bools, Floats, Ints
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

FEWEST_FREE, FEW_FREE = 3, 20  # from benchmarks/unseen_error.py
MOST_IDLE = 20  # rows near the margin that may take over from a support vector


@dataclass(frozen=True, eq=False)
class Machine:
    """A machine of two classes, or a regression, with what it was fitted to.

    ``rows`` are its rows, ``coefs`` theirs, ``free`` which of these lie between zero and their
    bound; ``rise`` and ``fall`` as in ``Others``; ``worth`` is how far the score of each may sink
    before the row is lost: infinite if it is lost already, zero in a regression, where every change
    counts.
    """

    rows: Ints
    coefs: Floats
    free: Bools
    rise: Floats
    fall: Floats
    worth: Floats


@dataclass(frozen=True, eq=False)
class Sinks:
    """By how much the scores of some rows sink towards zero when each is left out.

    ``rows`` are those that may support the machine, ``changes`` what to subtract from their scores;
    ``n_staked`` counts the rows that the span rule alone gives up.
    """

    rows: Ints
    changes: Floats
    n_staked: int


def sinks(machine: Machine, kernel: Kernel) -> Sinks:
    """Return the changes of a machine that has free vectors."""
    near = _near(machine)
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
    changes = np.sign(near.coefs) * np.maximum(sink - relief, 0.0)
    return Sinks(near.rows, changes, int(staked.sum()))


def doubt_free(machines: list[Machine], n_staked: int, error: float) -> str | None:
    """Return the doubt about machines that stand on few free vectors.

    Parameters
    ----------
    n_staked : int
        The rows that the span rule alone gives up.
    error : float
        The standard error of the number of rows that the machines get right.
    """
    fewest = min(int(machine.free.sum()) for machine in machines)
    if fewest < FEWEST_FREE or (fewest < FEW_FREE and n_staked > error):
        return f"the machine stands on {fewest} free support vectors, too few to tell how it moves"
    return None


def _near(machine: Machine) -> Machine:
    """Return the machine with its free vectors first.

    Rows that support nothing and are far from doing so are left away.
    """
    idle = np.flatnonzero(machine.coefs == 0.0)
    if len(idle) > MOST_IDLE:
        ways = np.minimum(machine.rise[idle], machine.fall[idle])
        idle = idle[np.argpartition(ways, MOST_IDLE)[:MOST_IDLE]]
    held = np.flatnonzero(~machine.free & (machine.coefs != 0.0))
    kept = np.concatenate([np.flatnonzero(machine.free), held, idle])
    return Machine(*(getattr(machine, field.name)[kept] for field in fields(machine)))


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
