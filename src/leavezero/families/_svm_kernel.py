"""The kernel of a support vector machine, between its rows and its support vectors."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import pairwise_kernels

from leavezero._typing import Floats, Ints

BLOCK = 64


def kernel_between(model: Any, rows: Any, left: Ints, right: Ints, gamma: float) -> Floats:
    """Return the kernel between some of the rows and others."""
    if model.kernel == "precomputed":
        return np.asarray(_dense(rows[left][:, right]))
    if callable(model.kernel):
        return np.asarray(model.kernel(rows[left], rows[right]))
    if model.kernel == "linear":
        return np.asarray(_dense(rows[left] @ rows[right].T))
    if model.kernel == "rbf" and not sparse.issparse(rows):
        return _gaussian(rows[left], rows[right], gamma)
    more: dict[str, Any] = {"gamma": gamma}
    if model.kernel == "poly":
        more["degree"] = model.degree
    if model.kernel in ("poly", "sigmoid"):
        more["coef0"] = model.coef0
    return np.asarray(pairwise_kernels(rows[left], rows[right], metric=model.kernel, **more))


def kernel_with_self(model: Any, rows: Any, which: Ints, gamma: float) -> Floats:
    """Return the kernel of each of some rows with itself."""
    if model.kernel == "rbf":
        return np.ones(len(which))
    if model.kernel == "precomputed":
        return np.asarray(_dense(rows)[which, which])
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
        spread = float(rows.var())
    else:
        spread = float(rows.multiply(rows).mean() - rows.mean() ** 2)
    return 1.0 / (rows.shape[1] * spread) if spread != 0 else 1.0


def _gaussian(left: Floats, right: Floats, gamma: float) -> Floats:
    """Return exp(-gamma |x - z|^2) with one product and one pass: three times pairwise_kernels."""
    middle = right.mean(axis=0)  # distances do not move, and far from zero they keep their digits
    left, right = left - middle, right - middle
    own_left = -gamma * np.einsum("ij,ij->i", left, left)
    own_right = -gamma * np.einsum("ij,ij->i", right, right)
    ones_left, ones_right = np.ones(len(left)), np.ones(len(right))
    exponents = (
        np.column_stack([2.0 * gamma * left, own_left, ones_left])
        @ np.column_stack([right, ones_right, own_right]).T
    )
    return np.asarray(np.exp(exponents, out=exponents))


def _dense(matrix: Any) -> Any:
    return matrix.toarray() if sparse.issparse(matrix) else matrix
