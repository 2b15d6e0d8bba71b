"""The span rule: what a support vector machine says about a support vector without it.

As its coefficient falls to zero, the score of support vector p sinks at the rate S_p^2, its
squared distance from the set of combinations of the free vectors with weights of sum one. If the
others stay what they are (free, at their bound, not supporting), it sinks by the coefficient times
S_p^2 (Vapnik and Chapelle 2000, theorem 3; Chapelle et al. 2002, equation 17). Rows that support
nothing change nothing.

On a long way some other row becomes free, and from there on the score sinks more slowly: the rule
alone sees too many errors where C is large. Here the one such row that matters most is let in.
"""

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from leavezero._typing import Floats, Ints

JITTER = 1e-10
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Others:
    """The rows of a machine that are not free.

    ``between`` is the free vectors' kernel with them, a column each, ``own`` theirs with
    themselves; ``rise`` and ``fall`` say how far the score of each can go up or down until the row
    becomes a free vector, infinite if it never does.
    """

    between: Floats
    own: Floats
    rise: Floats
    fall: Floats


@dataclass(frozen=True, eq=False)
class Span:
    """What follows from the inverse of the free vectors' kernel K, bordered by ones.

    ``half`` is A with A'A = K^-1, ``sums`` K^-1 1, ``total`` 1'K^-1 1, ``turned`` A times the
    kernel with the others, ``short`` how much their weights miss sum one; ``free`` and ``rest`` are
    the squared spans of the free vectors and of the others.
    """

    half: Floats
    sums: Floats
    total: float
    turned: Floats
    short: Floats
    free: Floats
    rest: Floats


def span_of(kernel: Floats, others: Others) -> Span:
    """Return the span of the free vectors with this kernel."""
    at = np.arange(len(kernel))
    kernel[at, at] += JITTER * max(float(np.abs(np.diagonal(kernel)).mean()), TINY)
    half = _half(kernel)
    sums = half.T @ half.sum(axis=1)
    total = float(sums.sum())
    turned, short = half @ others.between, 1.0 - sums @ others.between
    entries = np.einsum("ij,ij->j", half, half) - sums**2 / total
    explained = np.einsum("ij,ij->j", turned, turned) - short**2 / total
    return Span(
        half,
        sums,
        total,
        turned,
        short,
        free=1.0 / np.maximum(entries, JITTER * np.abs(entries).max() + TINY),
        rest=np.maximum(others.own - explained, 0.0),
    )


def free_relief(span: Span, others: Others, which: Ints, coefs: Floats) -> Floats:
    """Return by how much less the scores of some free vectors sink, thanks to another row."""
    weights = span.half[:, which].T @ span.turned
    weights += np.outer(span.sums[which], span.short) / span.total
    spans = span.free[which, None]  # without p, whose weight in the others' combinations this was
    return _relief(-weights * spans, span.rest + weights**2 * spans, others, coefs)


def bounded_relief(
    span: Span, others: Others, which: Ints, kernel: Floats, coefs: Floats
) -> Floats:
    """Return the same for some of the others, which support at their bound.

    ``kernel`` is theirs with all others, a row each.
    """
    common = kernel - span.turned[:, which].T @ span.turned
    common += np.outer(span.short[which], span.short) / span.total
    common[np.arange(len(which)), which] = 0.0
    return _relief(common, np.broadcast_to(span.rest, common.shape), others, coefs)


def _relief(common: Floats, rooms: Floats, others: Others, coefs: Floats) -> Floats:
    """Return the largest relief that one row gives.

    As the coefficient falls by t, the score of row q moves by t k_pq, k the kernel's part outside
    the span. Once q is free, p's rate is S_p^2 - k_pq^2 / k_qq for the rest of the way.
    """
    limits = np.where(coefs[:, None] * common < 0.0, others.rise, others.fall)
    sizes = np.abs(coefs)[:, None]
    with np.errstate(divide="ignore", invalid="ignore"):
        left = sizes - limits / np.abs(common)
        reliefs = left * common**2 / rooms
    valid = (left > 0.0) & (rooms > JITTER * np.maximum(others.own, TINY))
    return np.asarray(np.where(valid, reliefs, 0.0).max(axis=1, initial=0.0))


def _half(kernel: Floats) -> Floats:
    """Return A with A'A = K^-1: the inverse of the Cholesky factor, or by eigenvalues."""
    factor, failed = linalg.lapack.dpotrf(kernel, lower=True, clean=True)
    if not failed:
        return np.asarray(linalg.lapack.dtrtri(factor, lower=True)[0])
    values, vectors = np.linalg.eigh(kernel)  # not positive: few columns, or a sigmoid kernel
    kept = values > values.max(initial=0.0) * JITTER * len(kernel)
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T)
