"""A Newton step over more columns than rows, from the products of rows alone.

With Z the rows minus their mean, weighted by the curvatures, R the roots of these over the penalty
p, the Hessian's inverse is (I - Z'R B^-1 RZ) / p, B = I + RZZ'R (Woodbury); the intercept takes the
mean. B = LL', and the diagonal of B^-1 = L^-T L^-1 gives the leverages, 1 - (B^-1)_ii. Their ones
cancel beforehand: 1 / L_ii^2 = 1 - (B_ii - 1 - sum_k L_ik^2) / L_ii^2, k < i, so that a slight
leverage keeps its digits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg, sparse

from leavezero._typing import Floats

FAINT = 1e-12  # of the largest curvature; rows with less are weighed as if they had it
STEADY = 10.0  # entries of B - I up to which single precision moves a leverage by some 1e-5 at most
BLOCK = 64  # rows whose products stay in the processor's cache

Products = Callable[[], Floats]


def steps_by_products(shape: tuple[int, int], penalties: Floats) -> bool:
    """Tell whether rows are wide, and all columns but the intercept have one same penalty."""
    bound = penalties if len(penalties) and penalties[-1] > 0.0 else penalties[:-1]
    return shape[1] > shape[0] and bool(len(bound) and bound[0] > 0.0 and np.ptp(bound) == 0.0)


def products_of(rows: Any) -> Floats:
    """Return the products of all pairs of rows."""
    products = rows @ rows.T
    return np.asarray(products.toarray() if sparse.issparse(products) else products)


def solve_wide(
    products: Floats,
    second: Floats,
    penalties: Floats,
    rows: Any,
    gradient: Floats,
    pull: Floats | None,
) -> tuple[Floats, Floats | None, float]:
    """Return x'H^-1 x for each row x, H^-1 times the pull, and g'H^-1 g."""
    strength, free = float(penalties[0]), penalties[-1] == 0.0
    total = max(float(second.sum()), 1e-300)
    parts = second / total if free else np.zeros(len(second))
    heights = np.maximum(second, FAINT * max(float(second.max()), 1e-200)) / strength
    half, leverages = _half_and_leverages(products, parts, heights)
    own = leverages / (heights * strength)
    if free:
        own += 1.0 / total
    inverse = _Inverse(
        rows, half, np.sqrt(heights), rows.T @ parts, strength, total if free else None
    )
    decrement = float(gradient @ inverse.times(gradient))
    return own, None if pull is None else inverse.times(pull), decrement


@dataclass(frozen=True, eq=False)
class _Inverse:
    """The Hessian's inverse; ``total`` is the curvature of the intercept, None without one."""

    rows: Any
    half: Floats
    roots: Floats
    middle: Floats
    strength: float
    total: float | None

    def times(self, vector: Floats) -> Floats:
        """Return the inverse times a vector, whose last entry is the intercept's."""
        rest = vector if self.total is None else vector - self.middle * vector[-1]
        seen = self.roots * (self.rows @ rest - float(self.middle @ rest))
        turned = self.half @ seen.astype(self.half.dtype)
        pushed = self.roots * (self.half.T @ turned)
        back = self.rows.T @ pushed - self.middle * float(pushed.sum())
        solved = np.asarray((rest - back) / self.strength)
        if self.total is not None:
            solved[-1] = vector[-1] / self.total - float(self.middle[:-1] @ solved[:-1])
        return solved


def _half_and_leverages(products: Floats, parts: Floats, heights: Floats) -> tuple[Floats, Floats]:
    """Return L^-1, and 1 minus the diagonal of B^-1.

    Whatever the rows, rounding moves B by its largest entries' last digits, and B^-1 by no more.
    """
    to_middle = products @ parts
    to_middle -= float(parts @ to_middle) / 2.0
    added = heights * np.maximum(np.diagonal(products) - 2.0 * to_middle, 0.0)
    single = float(added.max()) <= STEADY
    kernel = np.empty(products.shape, dtype=np.float32 if single else np.float64)
    _fill(kernel, products, to_middle, np.sqrt(heights))
    np.fill_diagonal(kernel, 1.0 + added)
    return _factored(kernel, added)


def _fill(kernel: Floats, products: Floats, to_middle: Floats, roots: Floats) -> None:
    """Write RZZ'R into the upper triangle, a few rows at a time: fresh memory is slow."""
    for start in range(0, len(kernel), BLOCK):
        rows, columns = slice(start, start + BLOCK), slice(start, None)
        part = products[rows, columns] - to_middle[rows, None]
        part -= to_middle[columns]
        part *= roots[rows, None]
        np.multiply(part, roots[columns], out=kernel[rows, columns], casting="same_kind")


def _factored(kernel: Floats, added: Floats) -> tuple[Floats, Floats]:
    """Return L^-1 in the kernel's place, of which the upper triangle is read, and the leverages."""
    factor_of, inverse_of = linalg.get_lapack_funcs(("potrf", "trtri"), (kernel,))
    factor, failed = factor_of(kernel.T, lower=True, clean=True, overwrite_a=True)
    if failed:
        raise linalg.LinAlgError(
            "rows are so far from zero that their differences are lost in rounding"
        )
    squares = np.diagonal(factor).astype(np.float64) ** 2
    before = _sums_of_squares("ij,ij->i", factor)
    half = inverse_of(factor, lower=True, overwrite_c=True)[0]
    return half, (added - before) / squares - _sums_of_squares("ij,ij->j", half)


def _sums_of_squares(along: str, triangle: Floats) -> Floats:
    """Return sums over rows or columns without the diagonal, beside which they may be slight."""
    diagonal = np.diagonal(triangle).copy()
    np.fill_diagonal(triangle, 0.0)
    sums = np.einsum(along, triangle, triangle)
    np.fill_diagonal(triangle, diagonal)
    return np.asarray(sums, dtype=np.float64)
