"""Kernels between rows, in blocks of bounded memory."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import cosine_similarity, euclidean_distances
from sklearn.utils import gen_batches

from leavezero._typing import Floats, Table

NAMES = ("rbf", "cosine", "precomputed")
BLOCK_CELLS = 2**22  # 32 MB of kernel at a time
MEDIAN_ROWS = 2_000
_ROUNDING = 1e-8  # of the largest entry; kernels that users compute are symmetric up to this


@dataclass(frozen=True, eq=False)
class Kernel:
    """A kernel of rows, with its width where it has one.

    Parameters
    ----------
    kind : "rbf", "cosine", "precomputed" or callable
        With "precomputed" rows are rows of the kernel, and the other side is given by positions.
    scale : float
        w of the Gaussian kernel exp(-d^2 / (2 w^2)).
    """

    kind: str | Callable[[Table, Table], Any]
    scale: float = 1.0

    def between(self, rows: Any, support: Any) -> Floats:
        """Return the kernel of each row with each row of the support."""
        if callable(self.kind):
            values = self.kind(rows, support)
        elif self.kind == "precomputed":
            values = rows[:, support]
        elif self.kind == "cosine":
            values = cosine_similarity(rows, support)
        else:
            values = euclidean_distances(rows, support, squared=True)
            values *= -0.5 / self.scale**2
            np.exp(values, out=values)
        values = values.toarray() if sparse.issparse(values) else values
        return np.asarray(values, dtype=np.float64)


def median_distance(rows: Any) -> float:
    """Return the median distance of pairs of rows; of at most 2,000 rows, evenly spaced.

    If more than half of the distances are 0, it is the median of the others; 1 if there are none.

    Examples
    --------
    >>> median_distance(np.array([[0.0], [1.0], [3.0]]))
    2.0
    """
    step = -(-rows.shape[0] // MEDIAN_ROWS)
    some = rows[::step]
    distances = euclidean_distances(some)[np.triu_indices(some.shape[0], k=1)]
    positive = distances[distances > 0]
    if len(positive) == 0:
        return 1.0
    middle = float(np.median(distances))
    return middle if middle > 0 else float(np.median(positive))


def square(kernel: Kernel, rows: Any) -> Floats:
    """Return the kernel of rows with one another, a matrix of its own, checked."""
    n_rows = rows.shape[0]
    support = slice(None) if kernel.kind == "precomputed" else rows
    check_square(kernel, rows)
    if callable(kernel.kind):  # it may only know whole tables
        matrix = kernel.between(rows, support).copy()
        _check_shape(matrix, (n_rows, n_rows))
    else:
        matrix = np.empty((n_rows, n_rows))
        for batch in blocks(n_rows, n_rows):
            matrix[batch] = kernel.between(rows[batch], support)
    if kernel.kind == "rbf":
        np.fill_diagonal(matrix, 1.0)
        return matrix
    _check_symmetric(matrix)
    return nonnegative(matrix)


def rectangles(kernel: Kernel, rows: Any, support: Any, width: int) -> Iterator[tuple[Any, Floats]]:
    """Yield slices of the rows, with the kernel of each with a support of so many rows, checked."""
    for batch in blocks(rows.shape[0], width):
        block = kernel.between(rows[batch], support)
        _check_shape(block, (batch.stop - batch.start, width))
        yield batch, nonnegative(block)


def blocks(n_rows: int, width: int) -> Iterator[slice]:
    """Yield slices of the rows whose kernel with so many others has bounded memory."""
    yield from gen_batches(n_rows, max(1, BLOCK_CELLS // max(width, 1)))


def nonnegative(block: Floats) -> Floats:
    """Return a part of the kernel, in which rounding below 0 is 0; refuse real negatives."""
    if not np.isfinite(block).all():
        raise ValueError("kernel of SMIRClassifier must give finite numbers, got NaN or infinity.")
    least = float(block.min(initial=0.0))
    if least < -_ROUNDING * float(block.max(initial=0.0)):
        raise ValueError(
            f"kernel of SMIRClassifier must not be negative, got {least:.3g}: the objective is "
            "convex only for kernels of non-negative numbers. Use kernel='rbf', or features "
            "that are not negative with kernel='cosine'."
        )
    return np.maximum(block, 0.0, out=block) if least < 0 else block


def check_square(kernel: Kernel, rows: Any) -> None:
    if kernel.kind == "precomputed" and rows.shape[0] != rows.shape[1]:
        raise ValueError(
            f"X must be a square kernel matrix with kernel='precomputed', got shape {rows.shape}. "
            "Give the kernel of all rows, labelled or not, with one another."
        )


def _check_symmetric(matrix: Floats) -> None:
    largest = float(np.abs(matrix).max(initial=0.0))
    for batch in blocks(len(matrix), len(matrix)):
        off = float(np.abs(matrix[batch] - matrix[:, batch].T).max(initial=0.0))
        if off > _ROUNDING * largest:
            raise ValueError(
                "kernel of SMIRClassifier must be symmetric, got entries that differ by "
                f"{off:.3g} from their mirror image."
            )


def _check_shape(block: Floats, shape: tuple[int, int]) -> None:
    if block.shape != shape:
        raise ValueError(
            "kernel of SMIRClassifier, called with two tables, must return a matrix with a row "
            f"for each row of the first and a column for each row of the second: {shape} was "
            f"expected, got {block.shape}."
        )
