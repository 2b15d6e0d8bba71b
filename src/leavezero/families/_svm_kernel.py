"""The kernel of a support vector machine, between its rows and its support vectors."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from leavezero._typing import AnyArray, Floats, Ints

BLOCK = 64
SCORED_ROWS = 128  # at once: their kernel stays near the processor
SMALL = 50.0  # exponents up to here lose less than 1e-5 in single precision
LONG = 500.0  # coefficients up to this length make of that less than LIBSVM's tolerance, 1e-3


@dataclass(frozen=True, eq=False)
class Kernel:
    """The kernel of a fitted model's rows with its support vectors, and of each row with itself.

    A Gaussian or linear kernel of dense rows is not held but made where it is needed.
    """

    model: Any
    rows: Any
    gamma: float
    own: Floats
    to_support: Floats | None

    def scores(self, coefs: Floats) -> Floats:
        """Return the sums over the support vectors, weighed by their coefficients."""
        if self.to_support is not None:
            return np.asarray(self.to_support @ coefs)
        if self.model.kernel == "linear":
            return np.asarray(self.rows @ (self.model.support_vectors_.T @ coefs))
        return _gaussian_sums(self.rows, self.model.support_vectors_, self.gamma, coefs)

    def between(self, left: Ints, right: Ints) -> Floats:
        """Return the kernel of some rows with some support vectors, both by their row numbers."""
        if self.to_support is None:
            some, others = self.rows.take(left, axis=0), self.rows.take(right, axis=0)
            return kernel_values(self.model, some, others, self.gamma)
        places = np.searchsorted(self.model.support_, right, sorter=self._order)
        return np.asarray(self.to_support.take(left, axis=0).take(self._order[places], axis=1))

    def roughly(self, left: Ints, right: Ints) -> Floats:
        """Return the same, in single precision if that costs less and the exponents bear it."""
        if self.to_support is not None or self.model.kernel == "linear":
            return self.between(left, right)
        first, second = _rough_factors(
            self.rows.take(left, axis=0), self.rows.take(right, axis=0), self.gamma
        )
        exponents = first @ second.T
        return np.asarray(np.exp(exponents, out=exponents))

    @property
    def positive(self) -> bool:
        """Tell whether the kernel is known to be an inner product."""
        return is_positive(self.model)

    @cached_property
    def _order(self) -> Ints:
        return np.argsort(self.model.support_)


def is_positive(model: Any) -> bool:
    """Tell whether the kernel of a machine is known to be an inner product."""
    return isinstance(model.kernel, str) and model.kernel in ("rbf", "linear")


def kernel_of(model: Any, rows: Any) -> Kernel:
    """Return the kernel of a fitted model."""
    gamma, everything = kernel_gamma(model, rows), np.arange(rows.shape[0])
    held = None
    if model.kernel not in ("rbf", "linear") or sparse.issparse(rows):
        held = kernel_between(model, rows, everything, model.support_, gamma)
    return Kernel(model, rows, gamma, kernel_with_self(model, rows, everything, gamma), held)


def kernel_between(model: Any, rows: Any, left: Ints, right: Ints, gamma: float) -> Floats:
    """Return the kernel between some of the rows and others."""
    if model.kernel == "precomputed":
        return np.asarray(_dense(rows[left][:, right]))
    return kernel_values(model, rows[left], rows[right], gamma)


def kernel_values(model: Any, left: Any, right: Any, gamma: float) -> Floats:
    """Return the kernel between rows and other rows."""
    if callable(model.kernel):
        return np.asarray(model.kernel(left, right))
    if model.kernel == "linear":
        return np.asarray(_dense(left @ right.T))
    if model.kernel == "rbf" and not sparse.issparse(left):
        return _gaussian(left, right, gamma)
    more: dict[str, Any] = {"gamma": gamma}
    if model.kernel == "poly":
        more["degree"] = model.degree
    if model.kernel in ("poly", "sigmoid"):
        more["coef0"] = model.coef0
    return np.asarray(pairwise_kernels(left, right, metric=model.kernel, **more))


def kernel_with_self(model: Any, rows: Any, which: Ints, gamma: float) -> Floats:
    """Return the kernel of each of some rows with itself."""
    if model.kernel == "rbf":
        return np.ones(len(which))
    if model.kernel == "precomputed":
        return np.asarray(_dense(rows)[which, which])
    if model.kernel == "linear" and not sparse.issparse(rows):
        some = rows[which]
        return np.einsum("ij,ij->i", some, some)
    blocks = np.split(which, range(BLOCK, len(which), BLOCK))
    parts = [np.diagonal(kernel_between(model, rows, at, at, gamma)) for at in blocks]
    return np.concatenate(parts)


def kernel_gamma(model: Any, rows: Any) -> float:
    """Return gamma as the fit took it from the rows."""
    if model.gamma == "auto":
        return 1.0 / rows.shape[1]
    if model.gamma != "scale":
        return float(model.gamma)
    if not sparse.issparse(rows):
        centered = rows - rows.mean()
        spread = float(np.vdot(centered, centered)) / rows.size
    else:
        spread = float(rows.multiply(rows).mean() - rows.mean() ** 2)
    return 1.0 / (rows.shape[1] * spread) if spread != 0 else 1.0


def _gaussian(left: Floats, right: Floats, gamma: float) -> Floats:
    """Return exp(-gamma |x - z|^2), a block of rows at a time, which stays near the processor."""
    first, second = _factors(left, right, gamma)
    kernel = np.empty((len(first), len(second)))
    for start in range(0, len(first), SCORED_ROWS):
        part = kernel[start : start + SCORED_ROWS]
        np.matmul(first[start : start + SCORED_ROWS], second.T, out=part)
        np.exp(part, out=part)
    return kernel


def _gaussian_sums(left: Floats, right: Floats, gamma: float, coefs: Floats) -> Floats:
    """Return the Gaussian kernel times the coefficients, in blocks.

    Single precision is enough for a score and a third of the work, if exponents and coefficients
    bear it.
    """
    bears = float(np.linalg.norm(coefs, axis=0).max()) < LONG
    first, second = (_rough_factors if bears else _factors)(left, right, gamma)
    return exponential_sums(first, second, coefs.astype(first.dtype))


def exponential_sums(first: Floats, second: Floats, coefs: Floats) -> Floats:
    """Return exp(first second') coefs, computed as precisely as the factors are, a block a time."""
    sums = np.empty((len(first), *coefs.shape[1:]))
    block = np.empty((min(SCORED_ROWS, len(first)), len(second)), dtype=first.dtype)
    for start in range(0, len(first), SCORED_ROWS):
        rows = first[start : start + SCORED_ROWS]
        part = np.matmul(rows, second.T, out=block[: len(rows)])
        sums[start : start + SCORED_ROWS] = np.exp(part, out=part) @ coefs
    return sums


def _rough_factors(left: Floats, right: Floats, gamma: float) -> tuple[AnyArray, AnyArray]:
    """Return the factors of the exponents, in single precision if they bear it."""
    middle = right.mean(axis=0)
    left, right = left - middle, right - middle
    longest = max(
        float(np.einsum("ij,ij->i", rows, rows).max(initial=0.0)) for rows in (left, right)
    )
    dtype = np.float32 if gamma * longest < SMALL else np.float64
    return left_factor(left, gamma, dtype), right_factor(right, gamma, dtype)


def _factors(left: Floats, right: Floats, gamma: float) -> tuple[AnyArray, AnyArray]:
    """Return two matrices whose product holds the exponents."""
    middle = right.mean(axis=0)  # distances do not move, and far from zero they keep their digits
    return left_factor(left - middle, gamma), right_factor(right - middle, gamma)


def left_factor(rows: Floats, gamma: float, dtype: Any = np.float64) -> Floats:
    """Return the first factor of the exponents -gamma |x - z|^2 = 2 gamma xz - gamma (xx + zz)."""
    factor = np.ones((rows.shape[0], rows.shape[1] + 2), dtype=dtype)
    factor[:, :-2] = rows
    factor[:, :-2] *= 2.0 * gamma
    factor[:, -2] = -gamma * np.einsum("ij,ij->i", rows, rows)
    return factor


def right_factor(rows: Floats, gamma: float, dtype: Any = np.float64) -> Floats:
    """Return the other factor."""
    factor = np.ones((rows.shape[0], rows.shape[1] + 2), dtype=dtype)
    factor[:, :-2] = rows
    factor[:, -1] = -gamma * np.einsum("ij,ij->i", rows, rows)
    return factor


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if sparse.issparse(matrix) else matrix
