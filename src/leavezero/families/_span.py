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
SLACK = 1e-6  # of a squared length, which single precision may add to a span or take from it
STEADY = 100.0  # the smallest span times this, up to which SLACK moves no score by more than 1e-5
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Others:
    """The rows of a machine that are not free.

    ``own`` is their kernel with themselves; ``rise`` and ``fall`` say how far the score of each can
    go up or down until the row becomes a free vector, infinite if it never does.
    """

    own: Floats
    rise: Floats
    fall: Floats


@dataclass(frozen=True, eq=False)
class Free:
    """What follows from the inverse of the free vectors' kernel K, bordered by ones.

    ``half`` is A with A'A = K^-1, ``lower`` tells whether it is a triangle; ``sums`` is K^-1 1,
    ``total`` 1'K^-1 1, ``squares`` are the squared spans.
    """

    half: Floats
    lower: bool
    sums: Floats
    total: float
    squares: Floats

    def steady(self, coefs: Floats) -> bool:
        """Tell whether the others' kernel in single precision is exact enough for the scores."""
        return self.lower and float(np.abs(coefs).max()) < STEADY * float(self.squares.min())


@dataclass(frozen=True, eq=False)
class Span:
    """The others seen from the free vectors.

    ``turned`` is A times the kernel with the others, ``short`` how much their weights miss sum one,
    ``squares`` are their squared spans; below ``grain`` of a squared length these are rounding.
    """

    free: Free
    turned: Floats
    short: Floats
    squares: Floats
    grain: float


def free_of(kernel: Floats) -> Free:
    """Return what follows from the free vectors' kernel, which is used up.

    It is inverted in its place: fresh memory costs as much as the arithmetic.
    """
    at = np.arange(len(kernel))
    kernel[at, at] += JITTER * max(float(np.abs(np.diagonal(kernel)).mean()), TINY)
    half, lower = half_of_inverse(kernel)
    sums = half.sum(axis=1) @ half
    total = float(sums.sum())
    entries = np.einsum("ij,ij->j", half, half) - sums**2 / total
    squares = 1.0 / np.maximum(entries, JITTER * np.abs(entries).max() + TINY)
    return Free(half, lower, sums, total, squares)


def span_of(free: Free, between: Floats, others: Others) -> Span:
    """Return the span of the free vectors.

    ``between`` is their kernel with the others, a column each, in single precision where that is
    enough; it is used up.
    """
    turned = _turned(free, between)
    short = 1.0 - free.half.sum(axis=1).astype(turned.dtype) @ turned
    explained = np.einsum("ij,ij->j", turned, turned) - short**2 / free.total
    squares = np.maximum(others.own - explained, 0.0)
    return Span(free, turned, short, squares, SLACK if turned.dtype == np.float32 else JITTER)


def free_relief(span: Span, others: Others, which: Ints, coefs: Floats) -> Floats:
    """Return by how much less the scores of some free vectors sink, thanks to another row."""
    free = span.free
    weights = free.half[:, which].T @ span.turned
    weights += np.outer(free.sums[which], span.short) / free.total
    spans = free.squares[which, None]  # without p, whose weight in the others' combinations it was
    rooms = span.squares + weights**2 * spans
    return _relief(-weights * spans, rooms, span.grain, others, coefs)


def reachable(span: Span, others: Others, which: Ints, coefs: Floats) -> Ints:
    """Return the others that may become free as some of them, at their bound, are left out.

    Where the kernel is positive, so is its part outside the span: |k_pq| <= S_p S_q, and the score
    of q moves by no more than this times the coefficient.
    """
    sides = np.sqrt(span.squares + SLACK * np.abs(others.own))
    furthest = float((np.abs(coefs) * sides[which]).max())
    return np.flatnonzero(np.minimum(others.rise, others.fall) < furthest * sides)


def bounded_relief(
    span: Span, others: Others, which: Ints, coefs: Floats, near: Ints, kernel: Floats
) -> Floats:
    """Return the same for some of the others, which support at their bound.

    ``near`` are those that may become free, ``kernel`` is the kernel with them, a row each.
    """
    common = kernel - span.turned[:, which].T @ span.turned[:, near]
    common += np.outer(span.short[which] / span.free.total, span.short[near])
    common[which[:, None] == near] = 0.0
    left = Others(others.own[near], others.rise[near], others.fall[near])
    return _relief(common, span.squares[near], span.grain, left, coefs)


def _relief(common: Floats, rooms: Floats, grain: float, others: Others, coefs: Floats) -> Floats:
    """Return the largest relief that one row gives.

    As the coefficient falls by t, the score of row q moves by t k_pq, k the kernel's part outside
    the span. Once q is free, p's rate is S_p^2 - k_pq^2 / k_qq for the rest of the way, which is
    the coefficient less the limit of q over k_pq.
    """
    limits = np.where((common < 0.0) != (coefs < 0.0)[:, None], others.rise, others.fall)
    rooms = np.where(rooms > grain * np.maximum(others.own, TINY), rooms, np.inf)
    reach = np.abs(common)
    with np.errstate(invalid="ignore"):  # rows that never become free, where nothing moves
        reliefs = (np.abs(coefs)[:, None] * reach - limits) * reach / rooms
    return np.asarray(np.fmax.reduce(reliefs, axis=1, initial=0.0))


def half_of_inverse(kernel: Floats) -> tuple[Floats, bool]:
    """Return A with A'A = K^-1, and whether it is a lower triangle, in the kernel's place."""
    diagonal = np.diagonal(kernel).copy()
    factor, failed = linalg.lapack.dpotrf(kernel.T, lower=True, clean=False, overwrite_a=True)
    if not failed:
        half = linalg.lapack.dtrtri(factor, lower=True, overwrite_c=True)[0]
        np.copyto(half.T, 0.0, where=np.tri(len(half), k=-1, dtype=np.bool_))
        return half, True
    np.fill_diagonal(kernel, diagonal)  # not positive: few columns, or a sigmoid kernel
    values, vectors = np.linalg.eigh(kernel, UPLO="L")  # the other triangle is overwritten
    kept = values > values.max(initial=0.0) * JITTER * len(kernel)
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T), False


def _turned(free: Free, between: Floats) -> Floats:
    """Return A times a matrix, in its place where A is a triangle."""
    half = free.half.astype(between.dtype, copy=False)
    if not free.lower:
        return np.asarray(half @ between)
    multiply = linalg.blas.strmm if between.dtype == np.float32 else linalg.blas.dtrmm
    return np.asarray(multiply(1.0, half, between, lower=True, overwrite_b=True))
