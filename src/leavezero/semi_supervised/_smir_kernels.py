"""Kernels of SMIR: kernel matrices, their row sums and products, in blocks of bounded memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances, rbf_kernel
from sklearn.utils import gen_batches

from leavezero._typing import Floats, Ints, Table

KERNELS = ("rbf", "cosine", "precomputed")
MAX_BLOCK_SIZE = 2**22  # entries of a kernel matrix in memory at a time: 32 MB
MAX_MEDIAN_ROWS = 2_000
MAX_DEGREE_ROWS = 10_000  # with more rows, the row sums are estimated from that many
DIAGONAL_ROWS = 256  # small squares, of which only the diagonal is used
ROUNDING = 1e-8  # relative to the largest entry: how exactly a kernel must be symmetric


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel function with its parameter.

    If precomputed, X is a part of the kernel matrix and the support is a set of its columns.
    """

    kind: str | Callable[[Table, Table], Any]
    width: float = 1.0  # w of the Gaussian kernel exp(-d^2 / (2 w^2))

    def between(self, X: Any, support: Any) -> Floats:
        """Return the kernel between rows of X and support rows."""
        if callable(self.kind):
            values = self.kind(X, support)
        elif self.kind == "precomputed":
            values = X[:, support]
        elif self.kind == "cosine":
            values = cosine_similarity(X, support)
        else:
            values = rbf_kernel(X, support, gamma=0.5 / self.width**2)
        values = values.toarray() if sparse.issparse(values) else values
        return np.asarray(values, dtype=np.float64)

    def support(self, X: Any, rows: Ints | None = None) -> Any:
        """Return the support that consists of some rows of X, or of all."""
        if self.kind == "precomputed":
            return slice(None) if rows is None else rows
        return X if rows is None else X[rows]

    def matrix(self, X: Any) -> Floats:
        """Return the checked kernel matrix of X as a new array."""
        self.check_square(X)
        matrix = self.between(X, self.support(X))
        if self.kind == "rbf":
            return matrix
        _check_shape(matrix, (X.shape[0], X.shape[0]))
        asymmetry = float(np.abs(matrix - matrix.T).max(initial=0.0))
        if asymmetry > ROUNDING * float(np.abs(matrix).max(initial=0.0)):
            raise ValueError(
                "kernel of SMIRClassifier must be symmetric, got entries that differ by "
                f"{asymmetry:.3g} from their mirror image."
            )
        return _nonnegative(matrix.copy())

    def blocks(self, X: Any, support: Any, n_support: int) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of X, each with its checked kernel with the support."""
        for batch in _batches(X.shape[0], n_support):
            block = self.between(X[batch], support)
            _check_shape(block, (batch.stop - batch.start, n_support))
            yield batch, _nonnegative(block)

    def product(self, X: Any, support: Any, coef: Floats) -> Floats:
        """Return the kernel between X and the support, times coefficients."""
        values = np.empty((X.shape[0], coef.shape[1]))
        for batch in _batches(X.shape[0], len(coef)):
            values[batch] = self.between(X[batch], support) @ coef
        return values

    def degrees(self, X: Any, rng: np.random.Generator) -> Floats:
        """Return the row sums of the kernel matrix, for many rows estimated from random columns."""
        n = X.shape[0]
        if n <= MAX_DEGREE_ROWS:
            return self._row_sums(X, np.arange(n))
        columns = np.sort(rng.choice(n, MAX_DEGREE_ROWS, replace=False))
        # The diagonal is the largest entry of a row and is added exactly: without it, the sum over
        # a sample of columns may be near zero.
        diagonal = self._diagonal(X)
        off_diagonal = self._row_sums(X, columns)
        off_diagonal[columns] -= diagonal[columns]
        counts = np.full(n, len(columns))
        counts[columns] -= 1
        return np.asarray(diagonal + np.maximum(off_diagonal, 0.0) * (n - 1) / counts)

    def check_square(self, X: Any) -> None:
        """Raise if X is not square but has to be a kernel matrix."""
        if self.kind == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                "X must be a square kernel matrix of all rows, labeled and unlabeled, with "
                f"kernel='precomputed', got shape {X.shape}."
            )

    def _row_sums(self, X: Any, columns: Ints) -> Floats:
        blocks = self.blocks(X, self.support(X, columns), len(columns))
        return np.concatenate([block.sum(axis=1) for _, block in blocks])

    def _diagonal(self, X: Any) -> Floats:
        if self.kind == "precomputed":
            return np.asarray(X.diagonal(), dtype=np.float64)
        parts = [X[batch] for batch in gen_batches(X.shape[0], DIAGONAL_ROWS)]
        return np.concatenate([np.diagonal(self.between(part, part)) for part in parts])


def median_distance(X: Any) -> float:
    """Return the median Euclidean distance between rows; of the positive ones if it is 0, or 1."""
    step = -(-X.shape[0] // MAX_MEDIAN_ROWS)
    sample = X[::step]
    distances = euclidean_distances(sample)[np.triu_indices(sample.shape[0], k=1)]
    positive = distances[distances > 0]
    if len(positive) == 0:
        return 1.0
    return float(np.median(distances)) or float(np.median(positive))


def _batches(n_rows: int, n_columns: int) -> Iterator[slice]:
    """Yield slices of rows whose kernel with so many columns has bounded memory."""
    yield from gen_batches(n_rows, max(1, MAX_BLOCK_SIZE // max(n_columns, 1)))


def _nonnegative(block: Floats) -> Floats:
    """Return a block of the kernel matrix with rounding errors below 0 set to 0."""
    if not np.isfinite(block).all():
        raise ValueError("kernel of SMIRClassifier must be finite, got NaN or infinity.")
    least = float(block.min(initial=0.0))
    if least < -ROUNDING * float(block.max(initial=0.0)):
        # Theorem 1 of Niu et al. (2013), by which the objective is convex, assumes k >= 0.
        raise ValueError(
            f"kernel of SMIRClassifier must not be negative, got {least:.3g}. Use kernel='rbf', or "
            "kernel='cosine' with features that are not negative."
        )
    return np.maximum(block, 0.0, out=block) if least < 0 else block


def _check_shape(block: Floats, shape: tuple[int, int]) -> None:
    if block.shape != shape:
        raise ValueError(
            "A callable kernel of SMIRClassifier must return one row per row of its first argument "
            f"and one column per row of its second, shape {shape}, got {block.shape}."
        )
